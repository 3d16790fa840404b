"""Providers with OpenAI's wire format. What differs between them is a row in `SERVICES`.

A request is `POST <base>/embeddings {model, input: [...]}`, an answer `{data: [{index, embedding}]}`. Numbers
are never asked for as base64, which some servers refuse, but read if they come that way.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgrep.embeddings import KEY_NAMES, vectors
from memgrep.embeddings.batching import Batcher, Miscounted
from memgrep.embeddings.embedder import Cancel, Embedded, Progress, fingerprint
from memgrep.embeddings.http import INDEX, QUERY, Http, Patience, Waiting, identifying
from memgrep.embeddings.request import Limits, Refused
from memgrep.errors import ProviderBadAnswer, ProviderRejected


@dataclass(frozen=True, slots=True)
class Service:
    """What is known of one service.

    `base_url` and `model` None: the user has to say. `dims_field` None: it cannot be asked for fewer
    dimensions, so vectors are cut here. `input_types`: `input_type` of documents and of queries.
    """

    id: str
    limits: Limits
    base_url: str | None = None
    model: str | None = None
    needs_key: bool = True
    dims_field: str | None = "dimensions"
    input_types: tuple[str | None, str | None] = (None, None)
    prefix: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    def remedy(self) -> str:
        """What helps against a missing or rejected key."""
        names = " or ".join(KEY_NAMES.get(self.id, ()))
        return f"set {names} or remote.apiKey" if names else "set remote.apiKey"


_ROWS = (
    # vLLM, TEI, OpenRouter, a proxy: 32 texts is the smallest default limit among them (TEI's).
    Service("openai-compatible", Limits(items=32, tokens=100_000, item_tokens=8192), needs_key=False),
    # 2048 texts would be allowed; fewer show progress and lose less.
    Service(
        "openai",
        Limits(items=256, tokens=280_000, item_tokens=8000),
        base_url="https://api.openai.com/v1",
        model="text-embedding-3-small",
        prefix="openai/",
    ),
    # The limits of the strictest of its models.
    Service(
        "voyage",
        Limits(items=128, tokens=110_000, item_tokens=15_000),
        base_url="https://api.voyageai.com/v1",
        model="voyage-4-large",
        dims_field="output_dimension",
        input_types=("document", "query"),
        prefix="voyage/",
    ),
    Service(
        "mistral",
        Limits(items=128, tokens=15_000, item_tokens=8000),
        base_url="https://api.mistral.ai/v1",
        model="mistral-embed",
        dims_field="output_dimension",
        prefix="mistral/",
    ),
    Service(
        "deepinfra",
        Limits(items=128, tokens=100_000, item_tokens=8000),
        base_url="https://api.deepinfra.com/v1/openai",
        model="BAAI/bge-m3",
        prefix="deepinfra/",
        extra={"encoding_format": "float"},
    ),
    Service(
        "lmstudio",
        Limits(items=32, tokens=50_000, item_tokens=2048),
        base_url="http://localhost:1234/v1",
        model="text-embedding-nomic-embed-text-v1.5",
        needs_key=False,
        dims_field=None,
        prefix="lmstudio/",
    ),
)
SERVICES: Mapping[str, Service] = {row.id: row for row in _ROWS}


class OpenAILike:
    """One model of one service.

    `dims` is asked for, or cut to, when given; else learnt from the first answer. `document_type` and
    `query_type` replace what the service's row says. `named` is the provider's id where it is not the row's
    (a custom provider).
    """

    def __init__(
        self,
        service: Service,
        http: Http,
        model: str,
        *,
        dims: int | None = None,
        document_type: str | None = None,
        query_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        named: str | None = None,
        concurrency: int = 2,
        query_patience: Patience = QUERY,
        index_patience: Patience = INDEX,
    ) -> None:
        self._service = service
        self._http = http
        self.provider = named or service.id
        self.model = model.removeprefix(service.prefix)
        self._asked_dims = dims
        self._dims = dims
        self._document_type = document_type or service.input_types[0]
        self._query_type = query_type or service.input_types[1]
        self._query_patience = query_patience
        self._index_patience = index_patience
        self._documents = Batcher(self.provider, service.limits, self._ask_documents, concurrency=concurrency)
        self._queries = Batcher(self.provider, service.limits, self._ask_query)
        self.fingerprint = fingerprint(
            self.provider,
            self.model,
            endpoint=http.endpoint,
            dims=dims,
            document_type=self._document_type,
            query_type=self._query_type,
            headers=identifying(headers or {}) or None,
        )

    def __repr__(self) -> str:
        return f"OpenAILike({self.provider!r}, {self.model!r}, {self._http!r})"

    @property
    def dims(self) -> int | None:
        """Length of its vectors: asked for, or learnt."""
        return self._dims

    @property
    def limits(self) -> Limits:
        """The row's limits, or what refusals taught."""
        return self._documents.limits

    @property
    def host(self) -> str | None:
        """The service's host; None for this machine."""
        return self._http.host

    def embed_query(self, text: str) -> bytes | None:
        """The vector of a question."""
        result = self._queries.one(text, _never, _silently)
        if isinstance(result, Refused):
            raise ProviderRejected(self.provider, result.reason, "ask in other words")
        return result

    def embed_documents(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in order."""
        return self._documents.run(texts, progress=progress, cancel=cancel)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _ask_documents(self, texts: list[str], cancel: Cancel, waiting: Waiting) -> list[Embedded]:
        return self._ask(texts, self._document_type, self._index_patience, cancel, waiting)

    def _ask_query(self, texts: list[str], cancel: Cancel, waiting: Waiting) -> list[Embedded]:
        return self._ask(texts, self._query_type, self._query_patience, cancel, waiting)

    def _ask(
        self, texts: list[str], input_type: str | None, patience: Patience, cancel: Cancel, waiting: Waiting
    ) -> list[Embedded]:
        body: dict[str, object] = {"model": self.model, "input": texts, **self._service.extra}
        if input_type:
            body["input_type"] = input_type
        if self._asked_dims and self._service.dims_field:
            body[self._service.dims_field] = self._asked_dims
        answer = self._http.post("embeddings", body, patience=patience, cancel=cancel, waiting=waiting)
        return self._vectors(self._rows(answer, len(texts)))

    def _rows(self, answer: Any, count: int) -> list[Any]:
        """What came for each text, in the order of the texts."""
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            self._raise_hidden_error(answer)
            raise ProviderBadAnswer(
                self.provider, "the answer has no list of vectors", "check remote.baseUrl and model"
            )
        if len(rows) != count:
            raise Miscounted(self.provider, f"sent {count} texts, got {len(rows)} vectors")
        if all(row.get("index") is None for row in rows):
            return [row.get("embedding") for row in rows]
        places = {row.get("index"): row.get("embedding") for row in rows}
        if places.keys() != set(range(count)):
            raise Miscounted(
                self.provider, f"sent {count} texts, got vectors numbered {sorted(map(str, places))}"
            )
        return [places[at] for at in range(count)]

    def _raise_hidden_error(self, answer: Any) -> None:
        """Some proxies answer 200 with an error inside."""
        error = answer.get("error") if isinstance(answer, dict) else None
        if error:
            said = error.get("message", error) if isinstance(error, dict) else error
            raise ProviderBadAnswer(
                self.provider, f"answered 200 with an error: {self._http.clean(str(said))}"
            )

    def _vectors(self, rows: list[Any]) -> list[Embedded]:
        """The rows as vectors of one length; a bad one is refused alone.

        The first answer teaches the length. Later one of another length is a bad vector; if no vector of an
        answer has the right one, the model is another than before, and nothing of it counts.
        """
        cut = self._asked_dims if not self._service.dims_field else None
        results = [self._vector(row, cut) for row in rows]
        lengths = {len(result) // 4 for result in results if isinstance(result, bytes)}
        if not lengths:
            return results
        expected = self._dims or (lengths.pop() if len(lengths) == 1 else None)
        if expected is None or (lengths and expected not in lengths):
            got = " and ".join(map(str, sorted(lengths)))
            asked = (
                f"asked for {self._asked_dims}"
                if self._asked_dims
                else f"had {expected or 'one length'} before"
            )
            raise ProviderBadAnswer(
                self.provider,
                f"{self.model}: vectors of {got} dimensions, {asked}",
                "check model and outputDimensionality",
            )
        self._dims = expected
        return [
            Refused(f"a vector of {len(result) // 4} instead of {expected} dimensions")
            if isinstance(result, bytes) and len(result) != 4 * expected
            else result
            for result in results
        ]

    def _vector(self, row: Any, cut: int | None) -> Embedded:
        try:
            if isinstance(row, str):
                return vectors.unit_from_packed(base64.b64decode(row, validate=True), cut)
            if not isinstance(row, list):
                raise vectors.BadVector("is missing")
            return vectors.unit(row, cut)
        except binascii.Error:
            return Refused("the vector is no base64")
        except vectors.BadVector as error:
            if cut and "dimensions" in str(error):
                raise ProviderBadAnswer(
                    self.provider, f"{self.model}: a vector {error}", "lower outputDimensionality"
                ) from error
            return Refused(f"the vector {error}")


def _never() -> bool:
    return False


def _silently(seconds: float, reason: str) -> None:
    """Nobody is told of waits during a query."""
