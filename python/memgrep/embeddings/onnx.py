"""Provider `local`: a transformer in this process, by ONNX Runtime.

One text at a time: batches were measured to be slower on a CPU (texts differ in length and are padded), need
more memory, and 8-bit models scale by the whole batch, so that a text's vector would depend on its
neighbours. Now it depends on the text alone, whenever and with whatever it is indexed.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memgrep.embeddings import vectors
from memgrep.embeddings.embedder import Cancel, Embedded, Progress, fingerprint
from memgrep.embeddings.models import PROVIDER, Model
from memgrep.embeddings.request import Limits, Refused
from memgrep.errors import ProviderBadAnswer, ProviderUnavailable

if TYPE_CHECKING:
    import numpy as np

_MOST_THREADS = 4
_PROGRESS_STEP = 8
_LEFT_BEHIND: list[object] = []


def missing_packages() -> list[str]:
    """What `local` needs and is not installed; found out without importing it."""
    return [name for name in ("numpy", "onnxruntime", "tokenizers") if find_spec(name) is None]


class Onnx:
    """An ONNX model. Nothing is loaded before the first text.

    `dims`: cut vectors to this length, for models made for that. `window`: read fewer tokens than possible.
    """

    provider = PROVIDER
    host: str | None = None

    def __init__(self, model: Model, *, dims: int | None = None, window: int | None = None) -> None:
        missing = missing_packages()
        if missing:
            raise ProviderUnavailable(
                self.provider, f"{', '.join(missing)} not installed", "pip install 'memgrep[local]'"
            )
        if dims is not None and model.dims is not None and dims not in (model.dims, *model.cuts):
            allowed = ", ".join(map(str, (model.dims, *model.cuts)))
            raise ProviderUnavailable(
                self.provider,
                f"{model.name} has no vectors of {dims} dimensions",
                f"outputDimensionality: {allowed}",
            )
        self._model = model
        self.model = model.name
        self._cut = dims
        self._dims = dims or model.dims
        self._window = min(model.window, window or model.window)
        self.limits = Limits(items=_PROGRESS_STEP, tokens=10**9, item_tokens=10**9, bytes=10**9)
        self.fingerprint = fingerprint(
            self.provider,
            self.model,
            files=model.digest(),
            dims=dims,
            pooling=model.pooling,
            query=model.query_prompt or None,
            document=model.document_prompt or None,
            window=self._window,
        )
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def __repr__(self) -> str:
        return f"Onnx({self.model!r}, {str(self._model.graph)!r})"

    @property
    def dims(self) -> int | None:
        """Length of its vectors; None for a model unknown by name that has not been loaded yet."""
        return self._dims

    @property
    def room(self) -> int:
        """Tokens a document may have so that all of it is read."""
        loaded = self._load()
        return self._window - loaded.special - loaded.count(self._model.document_prompt)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer, special tokens and prompt left out; see `room`."""
        return self._load().count(text)

    def embed_query(self, text: str) -> bytes | None:
        """The vector of a question."""
        result = self._embed(self._model.query_prompt + text)
        if isinstance(result, Refused):
            raise ProviderBadAnswer(self.provider, f"{self.model}: {result.reason}", "memgrep models verify")
        return result

    def embed_documents(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in order. What is beyond the model's window is not read."""
        for done, text in enumerate(texts):
            if cancel and cancel():
                return
            if progress and done % _PROGRESS_STEP == 0 and progress("embed", done, len(texts)) is False:
                return
            yield self._embed(self._model.document_prompt + text)
        if progress:
            progress("embed", len(texts), len(texts))

    def close(self) -> None:
        """Lets go of the model's memory."""
        with self._lock:
            self._loaded = None

    def _embed(self, text: str) -> Embedded:
        loaded = self._load()
        try:
            vector = vectors.unit(loaded.vector(text, self._window), self._cut)
        except vectors.BadVector as error:
            return Refused(f"the vector {error}")
        self._dims = len(vector) // 4
        return vector

    def _load(self) -> "_Loaded":
        with self._lock:
            if self._loaded is not None and self._loaded.process != os.getpid():
                # The runtime's threads do not survive a fork, and its end would wait for them.
                _LEFT_BEHIND.append(self._loaded)
                self._loaded = None
            if self._loaded is None:
                self._loaded = _Loaded(self._model)
            return self._loaded


class _Loaded:
    """Session and tokenizer of a model."""

    def __init__(self, model: Model) -> None:
        import numpy
        import onnxruntime
        from tokenizers import Tokenizer

        self.process = os.getpid()
        self._numpy = numpy
        try:
            self._tokenizer = Tokenizer.from_file(str(model.tokenizer))
            self._session = onnxruntime.InferenceSession(
                str(model.graph), _options(onnxruntime), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            said = str(error).strip().splitlines()[0][:200]
            raise ProviderUnavailable(
                PROVIDER,
                f"{model.name} cannot be loaded: {said}",
                "memgrep models verify, or download it again",
            ) from error
        # Files come with the settings of somebody's training; ours count.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special = self._tokenizer.num_special_tokens_to_add(False)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        outputs = {entry.name: entry for entry in self._session.get_outputs()}
        self._output = next(
            (name for name in ("sentence_embedding", "text_embeds") if name in outputs), next(iter(outputs))
        )
        pooled = len(outputs[self._output].shape) == 2
        if not pooled and model.pooling == "output":
            raise ProviderUnavailable(
                PROVIDER, f"{model.name}: the graph does not pool", "use its published graph"
            )
        # A graph with its own pooling also has dense layers behind it, which token vectors lack.
        self._pooling = "output" if pooled else model.pooling or "mean"

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids) if text else 0

    def vector(self, text: str, window: int) -> "np.ndarray[Any, Any]":
        ids = self._ids(text, window)
        shaped = self._numpy.array([ids], dtype=self._numpy.int64)
        feed = {name: self._feed(name, shaped) for name in self._inputs}
        (output,) = self._session.run([self._output], feed)
        vector = self._pooled(output[0])
        return vector.astype(self._numpy.float32, copy=False)

    def _ids(self, text: str, window: int) -> list[int]:
        """Token ids, at most `window`; the special tokens at the end stay."""
        encoded = self._tokenizer.encode(text)
        ids: list[int] = encoded.ids
        if len(ids) <= window:
            return ids
        mask = encoded.special_tokens_mask
        tail = next((count for count, special in enumerate(reversed(mask)) if not special), 0)
        return ids[: window - tail] + ids[len(ids) - tail :]

    def _feed(self, name: str, ids: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        if name == "input_ids":
            return ids
        if name == "attention_mask":
            return self._numpy.ones_like(ids)
        if name == "token_type_ids":
            return self._numpy.zeros_like(ids)
        if name == "position_ids":
            return self._numpy.arange(ids.shape[1], dtype=self._numpy.int64)[None, :]
        raise ProviderUnavailable(PROVIDER, f"the graph wants an input {name}, which is no text model's", "")

    def _pooled(self, output: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Text vector of the one text: output is its vector already, or one vector per token."""
        vector: np.ndarray[Any, Any] = output
        if self._pooling == "mean":
            vector = output.mean(axis=0)
        elif self._pooling in ("cls", "last"):
            vector = output[0 if self._pooling == "cls" else -1]
        return vector


def _options(onnxruntime: Any) -> Any:
    """How the session runs.

    No arena: it never gives memory back (438 MB instead of 203 after batches, measured), and without it a
    query is not slower. No spinning: it takes cores from the search threads.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.inter_op_num_threads = 1
    options.intra_op_num_threads = min(_cores(), _MOST_THREADS)
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return options


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
