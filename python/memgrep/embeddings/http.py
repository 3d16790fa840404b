"""The one door to the network: time limits, retries, redirects, and what may be said about them.

Only this file imports the HTTP library, and only when a request is made. A key is sent to the one base URL it
was given with and appears nowhere else: not in messages, not in `repr`, not in logs.

Proxies come from the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`), certificates from
`SSL_CERT_FILE` and `SSL_CERT_DIR`. This machine's own addresses are always reached directly.
"""

import ipaddress
import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from memgrep.embeddings.embedder import Cancel
from memgrep.errors import (
    ProviderAuth,
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
)

if TYPE_CHECKING:
    import httpx2

Waiting = Callable[[float, str], None]
"""Told how many seconds will be waited, and why."""

# 2048 vectors of 3072 numbers with 16 digits are about 130 MB.
_MAX_ANSWER = 256 * 1024 * 1024
_MAX_ERROR_BODY = 64 * 1024
_MAX_REDIRECTS = 3
_SHOWN = 240
_LONGEST_HOLD = 3600.0

_SECRET_NAME = re.compile(
    r"auth|cookie|credential|key|passw|secret|session|signature|^sig$|token", re.IGNORECASE
)
# Headers that describe a request, not whose vectors come back.
_INDIFFERENT = re.compile(
    r"^(accept|baggage|content-|http-referer|referer|trace|user-agent|x-request-id|x-title)", re.IGNORECASE
)
_TOO_LARGE = re.compile(
    r"too (large|long|big|many (tokens|inputs|items|texts))|context.?length|batch size|physical batch"
    r"|(maximum|max).{0,40}(token|length|input|batch|size)|input length|sequence length"
    r"|exceed.{0,60}(token|length|limit|size|maximum|context)",
    re.IGNORECASE | re.DOTALL,
)
_NO_NUMBER = re.compile(r"\bnan\b|not finite|non-finite|unsupported value|infinity", re.IGNORECASE)
_QUOTA = re.compile(
    r"insufficient_quota|billing|exceeded your (current )?quota|payment|out of credits"
    r"|insufficient (balance|credits|funds)",
    re.IGNORECASE,
)


class TooLarge(ProviderRejected):
    """The request, or a text in it, was too large: worth another try in smaller pieces."""


class WrongSetup(ProviderUnavailable):
    """Nothing that waiting would mend: an address, a model's name, a certificate."""


class QuotaUsedUp(ProviderRateLimited):
    """The account is at its end, not the minute: no further request is sent."""


class Cancelled(Exception):
    """The caller asked to stop while we were waiting."""


class Clock(Protocol):
    """Time as a thing one is handed."""

    def wall(self) -> float:
        """Seconds since 1970, for dates in headers."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""

    def sleep(self, seconds: float) -> None:
        """Lets time pass."""


class SystemClock:
    """The machine's own time."""

    def wall(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one request may take and how often it is tried again. All times in seconds."""

    timeout: float
    attempts: int
    rate_attempts: int
    first_wait: float
    first_rate_wait: float
    longest_wait: float
    total_wait: float


QUERY = Patience(
    timeout=60, attempts=3, rate_attempts=3, first_wait=0.5, first_rate_wait=1, longest_wait=8, total_wait=8
)
INDEX = Patience(
    timeout=120,
    attempts=3,
    rate_attempts=12,
    first_wait=0.5,
    first_rate_wait=5,
    longest_wait=120,
    total_wait=900,
)


class Http:
    """Posts JSON below one base URL and gives the answer's JSON.

    All threads share one connection pool and one rate budget: when the provider says "later", all wait.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        key_remedy: str = "check remote.apiKey",
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
        max_answer: int = _MAX_ANSWER,
    ) -> None:
        self._provider = provider
        self._base, credentials = _split_credentials(provider, base_url)
        self._headers = {"User-Agent": "memgrep", **(headers or {})}
        self._basic = credentials
        hidden = [*secrets, *(credentials or ())]
        hidden += [value for name, value in self._headers.items() if is_secret(name)]
        # The scheme in "Bearer abc" is no secret; the token is.
        parts = {part for value in hidden for part in (value, value.split(" ")[-1]) if len(part) >= 4}
        self._secrets = sorted(parts, key=len, reverse=True)
        self._key_remedy = key_remedy
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._max_answer = max_answer
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._client_of = 0
        self._closed = False
        self._not_before = 0.0

    def __repr__(self) -> str:
        return f"Http({self._provider!r}, {self.endpoint!r})"

    @property
    def endpoint(self) -> str:
        """The base URL without credentials; part of the fingerprint."""
        return self._base

    @property
    def host(self) -> str | None:
        """The other machine's name, None when it is this one."""
        name = urlsplit(self._base).hostname or ""
        return None if is_loopback(name) else name

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        patience: Patience,
        cancel: Cancel | None = None,
        waiting: Waiting | None = None,
    ) -> Any:
        """Posts `body` to `path` below the base URL; the JSON that came back.

        Raises:
            TooLarge, ProviderRejected: the texts are the trouble.
            ProviderError: the provider is; retries are used up or make no sense.
            Cancelled: `cancel` said so.
        """
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        url = f"{self._base}/{path}" if path else self._base
        waits = _Waits(self._clock, self._jitter, patience, cancel, waiting)
        failures = limited = 0
        while True:
            waits.until(self._not_before, self._provider)
            try:
                return self._parsed(self._send(url, content, patience.timeout))
            except ProviderRateLimited as error:
                limited += 1
                if error.retry_after is not None:
                    self._hold(min(error.retry_after, _LONGEST_HOLD))
                if isinstance(error, QuotaUsedUp) or limited >= patience.rate_attempts:
                    raise
                self._hold(waits.how_long(patience.first_rate_wait, limited, error))
            except ProviderUnavailable as error:
                failures += 1
                if isinstance(error, WrongSetup) or failures >= patience.attempts:
                    raise
                waits.pause(waits.how_long(patience.first_wait, failures, error), error.cause)

    def close(self) -> None:
        """Closes the connections."""
        with self._lock:
            self._closed = True
            if self._client is not None and self._client_of == os.getpid():
                self._client.close()
            self._client = None

    def clean(self, text: str) -> str:
        """A foreign text fit for a message: one line, short, without control characters or our secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

    def _hold(self, seconds: float) -> None:
        """No request of any thread before this much time has passed."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock.monotonic() + seconds)

    def _send(self, url: str, content: bytes, timeout: float) -> bytes:
        for _ in range(_MAX_REDIRECTS + 1):
            status, headers, body = self._exchange(url, content, timeout)
            if status == 200 or status == 201:
                return body
            if 300 <= status < 400 and "location" in headers:
                url = self._redirected(url, headers["location"])
                continue
            raise self._failure(status, headers, body)
        raise WrongSetup(self._provider, f"{self._where()} redirects in a circle", "check remote.baseUrl")

    def _exchange(self, url: str, content: bytes, timeout: float) -> tuple[int, Mapping[str, str], bytes]:
        import httpx2

        deadline = self._clock.monotonic() + timeout
        limits = httpx2.Timeout(timeout, connect=min(timeout, 10.0))
        try:
            headers = {**self._headers, "Content-Type": "application/json"}
            auth = httpx2.BasicAuth(*self._basic) if self._basic else None
            with (
                self._borrowed() as client,
                client.stream(
                    "POST", url, content=content, headers=headers, timeout=limits, auth=auth
                ) as answer,
            ):
                most = self._max_answer if answer.is_success else _MAX_ERROR_BODY
                body = bytearray()
                for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > most:
                        if not answer.is_success:
                            break
                        raise ProviderBadAnswer(self._provider, f"the answer is larger than {most:,} bytes")
                    if self._clock.monotonic() > deadline:
                        raise ProviderTimeout(self._provider, f"no complete answer within {timeout:g} s")
                return answer.status_code, answer.headers, bytes(body)
        except httpx2.TimeoutException as error:
            raise ProviderTimeout(
                self._provider,
                f"no answer from {self._where()} within {timeout:g} s",
                "check the network, or try again later",
            ) from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise self._transport_failure(error) from error
        except httpx2.InvalidURL as error:
            raise WrongSetup(
                self._provider, f"{self._base} is no usable address", "check remote.baseUrl"
            ) from error

    @contextmanager
    def _borrowed(self) -> "Iterator[httpx2.Client]":
        """The client for one request. One that was given up meanwhile is closed after it: a connection that was
        being made while `close` ran would stay open."""
        client = self._connections()
        try:
            yield client
        finally:
            with self._lock:
                given_up = self._closed or self._client is not client
                if given_up and self._client is client:
                    self._client = None
            if given_up:
                client.close()

    def _connections(self) -> "httpx2.Client":
        import ssl

        import httpx2

        with self._lock:
            # A forked child must not talk over its parent's sockets.
            if self._client is None or self._client_of != os.getpid():
                pool = httpx2.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=30)
                # Plain HTTP needs no certificates, and loading them takes longer than a request.
                plain = self._base.startswith("http:")
                verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
                # A transport of its own means: no proxy from the environment.
                direct = httpx2.HTTPTransport(verify=verify, limits=pool) if self.host is None else None
                self._client = httpx2.Client(transport=direct, verify=verify, limits=pool)
                self._client_of = os.getpid()
            return self._client

    def _redirected(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        if _origin(target) != _origin(url):
            name = self.clean("://".join(str(part) for part in _origin(target)[:2]))
            raise WrongSetup(
                self._provider,
                f"{self._where()} redirects to {name}; refused: texts go to the configured host only",
                "if that is the right address, set remote.baseUrl to it",
            )
        return target

    def _parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            start = self.clean(body[:80].decode("utf-8", "replace"))
            raise ProviderBadAnswer(
                self._provider,
                f"the answer of {self._where()} is no JSON: {start!r}",
                "check remote.baseUrl (it often ends in /v1)",
            ) from error

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
        said, code = _message(body)
        shown = self.clean(said)
        cause = f"{status}: {shown}" if shown else f"status {status}"
        words = f"{code} {said}"
        after = _retry_after(headers.get("retry-after"), self._clock)
        if status == 402 or (_QUOTA.search(words) and status in (400, 403, 429)):
            return QuotaUsedUp(
                self._provider,
                f"quota or billing ({cause})",
                "check the plan and billing of the account",
                status=status,
            )
        if status in (401, 403):
            verb = "key rejected" if status == 401 else "access denied"
            return ProviderAuth(self._provider, f"{verb} ({cause})", self._key_remedy, status=status)
        if status == 413 or ((status in (400, 422) or status >= 500) and _TOO_LARGE.search(words)):
            return TooLarge(self._provider, f"request too large ({cause})", status=status)
        if status == 429:
            if re.search("request too large", words, re.IGNORECASE):
                return TooLarge(self._provider, f"request too large ({cause})", status=status)
            return ProviderRateLimited(
                self._provider, f"rate limit ({cause})", "wait a little", status=status, retry_after=after
            )
        if status in (400, 422) or (status >= 500 and _NO_NUMBER.search(words)):
            return ProviderRejected(self._provider, f"refused ({cause})", status=status)
        if status in (408, 409, 425) or status >= 500:
            return ProviderUnavailable(
                self._provider, f"server error ({cause})", "try again later", status=status, retry_after=after
            )
        remedy = "check remote.baseUrl and model" if status in (404, 405, 410) else "check the settings"
        return WrongSetup(self._provider, f"{self._where()} answered {cause}", remedy, status=status)

    def _transport_failure(self, error: Exception) -> ProviderError:
        said = self.clean(str(error)) or type(error).__name__
        if "CERTIFICATE" in said.upper():
            return WrongSetup(
                self._provider,
                f"{self._where()} is not trusted: {said}",
                "set SSL_CERT_FILE to the certificates of your network",
            )
        return ProviderUnavailable(
            self._provider, f"cannot reach {self._where()}: {said}", "check remote.baseUrl and the network"
        )

    def _where(self) -> str:
        parts = urlsplit(self._base)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


class _Waits:
    """The waiting of one call: full jitter over a doubling ceiling, within a total."""

    def __init__(
        self,
        clock: Clock,
        jitter: Callable[[], float],
        patience: Patience,
        cancel: Cancel | None,
        waiting: Waiting | None,
    ) -> None:
        self._clock, self._jitter, self._patience = clock, jitter, patience
        self._cancel, self._waiting = cancel, waiting
        self._left = patience.total_wait

    def how_long(self, first: float, attempt: int, error: ProviderError) -> float:
        """Seconds to wait after the `attempt`th failure; raises `error` if that is more than we have.

        See the "full jitter" of Brooker, "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015).
        """
        if error.retry_after is not None:
            # A little more than asked, and not all of us at the same moment.
            wait = error.retry_after + self._jitter()
        else:
            ceiling = min(first * 2 ** (attempt - 1), 60.0, self._patience.longest_wait)
            wait = ceiling * self._jitter()
        if wait > self._longest:
            raise error
        return wait

    @property
    def _longest(self) -> float:
        return min(self._left, self._patience.longest_wait + 1)

    def until(self, moment: float, provider: str) -> None:
        """Waits for a moment all threads share; raises at once if that is longer than we have."""
        seconds = moment - self._clock.monotonic()
        if seconds > self._longest:
            asked = f"rate limit (it asked for a pause, {seconds:.0f} s are left)"
            raise ProviderRateLimited(provider, asked, "wait a little", retry_after=seconds)
        self.pause(seconds, "rate limit")

    def pause(self, seconds: float, reason: str) -> None:
        """Waits in short steps, so that a cancel is heard."""
        if seconds > 0:
            self._left -= seconds
            if self._waiting:
                self._waiting(seconds, reason)
        while seconds > 0:
            self._listen()
            step = min(seconds, 0.5)
            self._clock.sleep(step)
            seconds -= step
        self._listen()

    def _listen(self) -> None:
        if self._cancel and self._cancel():
            raise Cancelled


def is_secret(name: str) -> bool:
    """Whether a header or query parameter of this name holds a credential."""
    return bool(_SECRET_NAME.search(name))


def identifying(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that tell one tenant or deployment from another: no credentials, nothing indifferent."""
    return {
        name.lower(): value
        for name, value in sorted(headers.items())
        if not is_secret(name) and not _INDIFFERENT.search(name)
    }


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine by definition (names are not looked up)."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _split_credentials(provider: str, base_url: str) -> tuple[str, tuple[str, str] | None]:
    """The address without user and password, and those apart.

    Credentials in the query are refused: they would be part of every log line that names the address.
    """
    try:
        parts = urlsplit(base_url.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError as error:
        raise WrongSetup(provider, "remote.baseUrl is no address", "check remote.baseUrl") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WrongSetup(
            provider, "remote.baseUrl is no http(s) address", "write it like https://host.example/v1"
        )
    query = parse_qsl(parts.query, keep_blank_values=True)
    if any(is_secret(name) for name, _ in query):
        raise WrongSetup(
            provider, "remote.baseUrl holds a key in its query", "put it into remote.apiKey or remote.headers"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = urlunsplit((parts.scheme, host + port, parts.path.rstrip("/"), urlencode(query), ""))
    return address, (parts.username, parts.password or "") if parts.username else None


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _retry_after(value: str | None, clock: Clock) -> float | None:
    """Seconds of a `Retry-After` header, which may be a number or a date (RFC 9110, 10.2.3)."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - clock.wall()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _message(body: bytes) -> tuple[str, str]:
    """What an error body says, and its code, in the shapes that are about."""
    text = body.decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return re.sub(r"<[^>]*>", " ", text), ""
    if not isinstance(answer, dict):
        return text, ""
    error = answer.get("error")
    inner = error if isinstance(error, dict) else answer
    said = next(
        (inner[name] for name in ("message", "detail", "error", "msg", "error_msg") if inner.get(name)), text
    )
    code = f"{inner.get('code', '')} {inner.get('type', '')} {inner.get('error_type', '')}"
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False), code
