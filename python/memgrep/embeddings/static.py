"""The built-in model: a table of token vectors inside the core. No download, no network, very fast.

Imports nothing but the core, so that a search with it starts as fast as one by words.
"""

from __future__ import annotations

import os

from memgrep import _core
from memgrep.embeddings.request import Limits, Refused
from memgrep.errors import ModelMissing, ProviderBadAnswer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memgrep.embeddings.embedder import Cancel, Embedded, Progress

__all__ = ["Static", "installed", "model_file"]

_NO_WORDS = "no word of it is in the model's table"
_STEP = 256


def model_file() -> str:
    """Where the package keeps the built-in model."""
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "static.mgm")


def installed() -> bool:
    """Whether the package brought its model along."""
    return os.path.isfile(model_file())


class Static:
    """Provider `static`.

    `core_model` is for `Index.embed_pending`, which embeds inside the core without a detour through Python.
    """

    provider = "static"
    host = None
    # The core takes any length, and texts one by one.
    limits = Limits(items=_STEP, tokens=10**9, item_tokens=10**9, bytes=10**9)

    def __init__(self, path: str | None = None) -> None:
        path = path or model_file()
        if not os.path.isfile(path):
            raise ModelMissing(
                self.provider, f"{path} is not there", "install memgrep again, or set provider"
            )
        try:
            self.core_model = _core.StaticModel(path)
        except _core.CoreError as error:
            raise ModelMissing(self.provider, f"{path}: {error}", "install memgrep again") from error
        self.model = self.core_model.id
        self.dims = self.core_model.dims
        self.fingerprint = f"static/{self.core_model.id}/{self.dims}"

    def embed_query(self, text: str) -> bytes | None:
        """The vector of a question; None when the table knows none of its words."""
        return self._checked(self.core_model.embed(text))

    def embed_documents(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in order."""
        for done, text in enumerate(texts):
            if done % _STEP == 0 and (
                (progress and progress("embed", done, len(texts)) is False) or (cancel and cancel())
            ):
                return
            yield self._checked(self.core_model.embed(text)) or Refused(_NO_WORDS)
        if progress:
            progress("embed", len(texts), len(texts))

    def close(self) -> None:
        """Nothing to let go of: the table is mapped, not held."""

    def _checked(self, vector: bytes | None) -> bytes | None:
        if vector is not None and len(vector) != 4 * self.dims:
            raise ProviderBadAnswer(
                self.provider, f"the model gave {len(vector)} bytes for {self.dims} numbers"
            )
        return vector
