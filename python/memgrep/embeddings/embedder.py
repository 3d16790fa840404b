"""What an embedder is: it sees texts and gives vectors, and knows nothing of notes, chunks or the index.

Every provider fits this one protocol. What only some can do is a protocol of its own (`BatchJobs`), asked for
with `isinstance`. Images and audio will come as another kind of document beside `str`.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from memgrep.embeddings.request import Limits, Refused

Embedded: TypeAlias = bytes | Refused
"""A text's packed vector of length 1, or why it has none."""

Progress: TypeAlias = Callable[[str, int, int], object]
"""Called with (what is going on, texts done, texts in all); returning False stops, as `Cancel` does."""

Cancel: TypeAlias = Callable[[], bool]
"""Asked now and then; True stops the work, what is done stays."""


class Embedder(Protocol):
    """One model of one provider."""

    @property
    def provider(self) -> str:
        """The provider's id, as in the settings."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def dims(self) -> int | None:
        """Length of its vectors; None until the first answer taught it."""

    @property
    def fingerprint(self) -> str:
        """Equal for embedders whose vectors may be compared with each other; free of secrets."""

    @property
    def limits(self) -> Limits:
        """What one request may hold, as far as it is known now."""

    @property
    def host(self) -> str | None:
        """The other machine that texts are sent to; None when they stay on this one."""

    def embed_query(self, text: str) -> bytes | None:
        """The vector of a question; None when nothing in it has one (only words can find it then).

        Raises:
            ProviderError: no vector could be had.
        """

    def embed_documents(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in the order of the texts, as they come in.

        Ends early when stopped by `cancel` or `progress`. Whoever stops reading stops the work as well.

        Raises:
            ProviderError: the provider as a whole failed. What was given out before stands.
        """

    def close(self) -> None:
        """Lets go of connections and models. The embedder may not be used afterwards."""


@runtime_checkable
class BatchJobs(Protocol):
    """An embedder that also takes large jobs to be done later, for less money.

    The caller remembers the job's id, so that a restart collects a job instead of paying for it twice.
    """

    def submit(self, texts: Sequence[str]) -> str:
        """Starts a job and gives its id."""

    def collect(self, job: str) -> list[Embedded] | None:
        """The results in the order of the texts, None while the job runs."""


def fingerprint(provider: str, model: str, **facts: object) -> str:
    """A short name for everything that makes vectors comparable. `facts` may hold no secrets.

    Facts that are None count as absent, so that a fact added later changes no old fingerprint.
    """
    known = {name: fact for name, fact in facts.items() if fact is not None}
    canonical = json.dumps([provider, model, known], sort_keys=True, ensure_ascii=False, default=str)
    return f"{provider}/{model}/{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"
