"""Doubles for tests: an embedder without a model, a clock without time, a real server that can misbehave.

`FakeEmbeddings` speaks OpenAI's wire format on a loopback socket. Everything it can do wrong is a field or a
scripted answer; everything it saw is counted.
"""

import base64
import hashlib
import json
import math
import re
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from memgrep.embeddings import vectors
from memgrep.embeddings.embedder import Cancel, Embedded, Progress
from memgrep.embeddings.request import Limits, Refused

__all__ = ["Answer", "FakeClock", "FakeEmbeddings", "HashEmbedder", "hash_vector"]

_WORD = re.compile(r"\w+")


def hash_vector(text: str, dims: int) -> list[float]:
    """A vector of length 1 that texts with common words are near to. The same on every machine, for ever."""
    sums = [0.0] * dims
    for word in _WORD.findall(text.casefold()) or [text]:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=16).digest()
        for place, sign in ((digest[:4], digest[4]), (digest[8:12], digest[12])):
            sums[int.from_bytes(place, "little") % dims] += 1.0 if sign & 1 else -1.0
    if not any(sums):
        sums[0] = 1.0
    length = math.sqrt(sum(value * value for value in sums))
    return [value / length for value in sums]


class HashEmbedder:
    """An embedder without a model: common words make texts similar.

    `refuse` holds texts that get no vector. `requests` counts calls, `inputs` texts. `error`, when set, is
    raised instead of an answer.
    """

    provider = "hash"
    host: str | None = None

    def __init__(self, dims: int = 64, *, model: str = "hash", refuse: Sequence[str] = ()) -> None:
        self.model = model
        self.dims = dims
        self.limits = Limits(items=64, tokens=100_000, item_tokens=100_000)
        self.fingerprint = f"hash/{model}/{dims}"
        self.refuse = set(refuse)
        self.error: Exception | None = None
        self.requests = 0
        self.inputs = 0

    def embed_query(self, text: str) -> bytes | None:
        """The vector of a question."""
        self._count(1)
        return vectors.unit(hash_vector(text, self.dims))

    def embed_documents(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in order."""
        for first in range(0, len(texts), self.limits.items):
            if (cancel and cancel()) or (progress and progress("embed", first, len(texts)) is False):
                return
            batch = texts[first : first + self.limits.items]
            self._count(len(batch))
            for text in batch:
                if text in self.refuse:
                    yield Refused("refused by the test")
                else:
                    yield vectors.unit(hash_vector(text, self.dims))

    def close(self) -> None:
        """Nothing to close."""

    def _count(self, inputs: int) -> None:
        self.requests += 1
        self.inputs += inputs
        if self.error:
            raise self.error


class FakeClock:
    """Time that passes only when somebody sleeps; threads that sleep at once pass it together."""

    def __init__(self, wall: float = 1_770_000_000.0) -> None:
        self._wall = wall
        self._passed = 0.0
        self._lock = threading.Lock()
        self.slept: list[float] = []

    def wall(self) -> float:
        return self._wall + self._passed

    def monotonic(self) -> float:
        return self._passed

    def sleep(self, seconds: float) -> None:
        with self._lock:
            until = self._passed + seconds
            self.slept.append(seconds)
        time.sleep(0)
        with self._lock:
            self._passed = max(self._passed, until)


class Answer:
    """A scripted answer: status, body (bytes as they are, all else as JSON), headers, seconds to wait."""

    def __init__(
        self,
        status: int = 200,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        *,
        delay: float = 0.0,
        drop: bool = False,
    ) -> None:
        self.status = status
        self.body = body
        self.headers = dict(headers or {})
        self.delay = delay
        self.drop = drop


class FakeEmbeddings:
    """An embeddings server on a loopback socket.

    Fields, to be set before or between requests:

    - `dims`: length of the vectors; `honours_dims`: whether a request's `dimensions` is obeyed
    - `base64`: vectors as base64; `shuffle`: rows in reverse order, indices right
    - `max_items`, `max_tokens`, `max_item_tokens`: what is larger gets `too_large` (default: status 413)
    - `count_tokens`: tokens of a text
    - `rewrite(rows, texts)`: changes the rows before they are sent
    - `decide(texts, body)`: an `Answer` to give instead, or None
    - `script`: answers to give first, one a request
    - `rate`: (requests, seconds, clock): more in a window of that clock get a 429

    Seen: `requests`, `inputs`, `refused`, and `bodies`, `headers`, `paths` of every request.
    """

    def __init__(self, dims: int = 32, **fields: Any) -> None:
        self.dims = dims
        self.honours_dims = True
        self.base64 = False
        self.shuffle = False
        self.max_items: int | None = None
        self.max_tokens: int | None = None
        self.max_item_tokens: int | None = None
        self.too_large = Answer(413, {"error": {"message": "input is too large"}})
        self.count_tokens: Callable[[str], int] = lambda text: math.ceil(len(text) / 4)
        self.rewrite: Callable[[list[dict[str, Any]], list[str]], list[dict[str, Any]]] | None = None
        self.decide: Callable[[list[str], dict[str, Any]], Answer | None] | None = None
        self.script: deque[Answer] = deque()
        self.rate: tuple[int, float, FakeClock] | None = None
        for name, value in fields.items():
            if name not in self.__dict__:
                raise TypeError(f"FakeEmbeddings has no field {name}")
            setattr(self, name, deque(value) if name == "script" else value)
        self.requests = 0
        self.inputs = 0
        self.refused = 0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._window: tuple[float, int] = (-math.inf, 0)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The base URL to configure."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts of all requests, in the order they came."""
        return [text for body in self.bodies for text in body["input"]]

    def answer(self, path: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        """What a request gets."""
        body = json.loads(raw)
        texts: list[str] = body["input"]
        with self._lock:
            self.requests += 1
            self.inputs += len(texts)
            self.paths.append(path)
            self.headers.append({name.lower(): value for name, value in headers.items()})
            self.bodies.append(body)
            answer = (
                (self.script.popleft() if self.script else None)
                or self._limited()
                or (self.decide(texts, body) if self.decide else None)
                or (self.too_large if self._too_large(texts) else None)
            )
            if answer is not None and answer.status != 200:
                self.refused += 1
        if answer is not None and (answer.status != 200 or answer.body is not None or answer.drop):
            return answer
        good = Answer(200, self._rows(texts, body))
        good.delay = answer.delay if answer else 0.0
        return good

    def _limited(self) -> Answer | None:
        if self.rate is None:
            return None
        most, seconds, clock = self.rate
        start, used = self._window
        now = clock.monotonic()
        if now - start >= seconds:
            start, used = now, 0
        if used >= most:
            return Answer(429, {"error": {"message": "rate limit reached"}})
        self._window = (start, used + 1)
        return None

    def _too_large(self, texts: list[str]) -> bool:
        counts = [self.count_tokens(text) for text in texts]
        return (
            (self.max_items is not None and len(texts) > self.max_items)
            or (self.max_tokens is not None and sum(counts) > self.max_tokens)
            or (self.max_item_tokens is not None and max(counts, default=0) > self.max_item_tokens)
        )

    def _rows(self, texts: list[str], body: dict[str, Any]) -> dict[str, Any]:
        asked = body.get("dimensions") or body.get("output_dimension")
        dims = asked if asked and self.honours_dims else self.dims
        rows: list[dict[str, Any]] = []
        for index, text in enumerate(texts):
            packed = struct.pack(f"<{dims}f", *hash_vector(text, dims))
            numbers: object = list(struct.unpack(f"<{dims}f", packed))
            rows.append(
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": base64.b64encode(packed).decode() if self.base64 else numbers,
                }
            )
        if self.rewrite:
            rows = self.rewrite(rows, texts)
        if self.shuffle:
            rows.reverse()
        used = sum(map(self.count_tokens, texts))
        return {"object": "list", "data": rows, "model": body.get("model"), "usage": {"prompt_tokens": used}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeEmbeddings


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; without this the second one waits 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.server.fake.answer(self.path, dict(self.headers), raw)
        if answer.delay:
            time.sleep(answer.delay)
        if answer.drop:
            self.close_connection = True
            return
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        try:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Tests read what the fake counted, not a log."""
