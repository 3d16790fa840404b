"""From many texts to requests of the right size, and back to one result per text.

Requests are filled by items, tokens and bytes. What a provider refuses is halved until the text at fault
stands alone; that one is `Refused`, or, if it is too long, cut into parts whose vectors are averaged: the
whole text counts, less sharply than a short one would. Its words are indexed whole in any case. Limits that
turn out to be lower than we thought are remembered for as long as the embedder lives.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from memgrep.embeddings import vectors
from memgrep.embeddings.embedder import Cancel, Embedded, Progress
from memgrep.embeddings.http import Cancelled, TooLarge, Waiting
from memgrep.embeddings.request import Limits, Refused
from memgrep.errors import ProviderBadAnswer, ProviderRejected, ProviderTimeout

Ask: TypeAlias = Callable[[list[str], Cancel, Waiting], list[Embedded]]
"""One request: a result per text, or an error of `memgrep.errors`; `Miscounted` if their number is wrong."""

# A text this short is not cut any further, whatever the provider says.
_SHORTEST = 12
# After a refusal the limit is set this far below what was refused, so that few more refusals follow.
_MARGIN = 0.75
# Any provider can embed this; if it cannot, the texts were not at fault.
_PROBE = "memory"
_POLL_SECONDS = 0.1


class Miscounted(ProviderBadAnswer):
    """The answer has more or fewer vectors than there were texts, or does not say which is whose."""


def estimate(text: str) -> int:
    """Tokens of a text, on the high side: a third of its UTF-8 bytes.

    That is right for code (3 characters a token), high for English (4.5) and about right for Chinese and
    Japanese, whose characters have 3 bytes and cost one token or less.
    """
    return _byte_length(text) // 3 + 1


class Batcher:
    """Asks a provider for many texts."""

    def __init__(self, provider: str, limits: Limits, ask: Ask, *, concurrency: int = 2) -> None:
        self._provider = provider
        self._limits = limits
        self._ask = ask
        self._concurrency = concurrency
        self._lock = threading.Lock()
        self._worked = False

    @property
    def limits(self) -> Limits:
        """The limits as learnt so far."""
        return self._limits

    def one(self, text: str, cancel: Cancel, waiting: Waiting) -> Embedded:
        """The result of one text, cut into parts if it has to be."""
        return _Run(self, cancel, waiting).alone(text)

    def run(
        self, texts: Sequence[str], *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Iterator[Embedded]:
        """One result per text, in order; ends early when stopped.

        The first request goes alone: a wrong key, a used-up quota or a lower limit is then known before more
        is sent. After it a few run at the same time.
        """
        stop = threading.Event()
        waits: queue.SimpleQueue[str] = queue.SimpleQueue()

        def stopped() -> bool:
            return stop.is_set()

        def wait(seconds: float, reason: str) -> None:
            waits.put(f"waiting {seconds:.0f} s: {reason}")

        def tell(stage: str, done: int) -> bool:
            go_on = progress is None or progress(stage, done, len(texts)) is not False
            return go_on and not (cancel is not None and cancel())

        done = 0
        first = 0
        jobs: deque[_Job] = deque()
        try:
            while first < len(texts) or jobs:
                while first < len(texts) and len(jobs) < (self._concurrency if self._worked else 1):
                    batch = self.next_batch(texts, first)
                    first += len(batch)
                    jobs.append(_Job(_Run(self, stopped, wait), batch))
                finished = False
                while not finished:
                    finished = jobs[0].finished.wait(_POLL_SECONDS)
                    while not waits.empty():
                        if not tell(waits.get(), done):
                            return
                    if cancel is not None and cancel():
                        return
                for result in jobs.popleft().results():
                    yield result
                    done += 1
                if not tell("embed", done):
                    return
        except Cancelled:
            return
        finally:
            stop.set()

    def learn(
        self, *, items: int | None = None, tokens: int | None = None, item_tokens: int | None = None
    ) -> None:
        """Lowers limits; never raises them."""
        with self._lock:
            old = self._limits
            self._limits = Limits(
                items=max(1, min(old.items, items or old.items)),
                tokens=max(_SHORTEST, min(old.tokens, tokens or old.tokens)),
                item_tokens=max(_SHORTEST, min(old.item_tokens, item_tokens or old.item_tokens)),
                bytes=old.bytes,
            )

    def next_batch(self, texts: Sequence[str], first: int) -> list[str]:
        """The texts from `first` on that fit into one request. One that is too long goes alone."""
        limits = self._limits
        tokens = size = 0
        batch: list[str] = []
        for text in texts[first : first + limits.items]:
            cost = estimate(text)
            if batch and (
                tokens + cost > limits.tokens
                or size + _byte_length(text) > limits.bytes
                or self.too_long(text)
                or self.too_long(batch[0])
            ):
                break
            batch.append(text)
            tokens += cost
            size += _byte_length(text)
        return batch

    def too_long(self, text: str) -> bool:
        """Whether a text has to be cut for what is known of the limits."""
        cost = estimate(text)
        return (
            cost > self._limits.item_tokens
            or cost > self._limits.tokens
            or _byte_length(text) > self._limits.bytes
        )

    def send(self, texts: list[str], cancel: Cancel, waiting: Waiting) -> list[Embedded]:
        """One request."""
        results = self._ask(texts, cancel, waiting)
        self._worked = True
        return results

    def blame(self, error: ProviderRejected, cancel: Cancel, waiting: Waiting) -> Refused:
        """A text stands alone and is refused: is the text at fault, or all we send? Raises then."""
        if not self._worked:
            try:
                self.send([_PROBE], cancel, waiting)
            except ProviderRejected:
                raise error from None
        return Refused(error.cause)


class _Run:
    """The way of one batch through halving and cutting."""

    def __init__(self, batcher: Batcher, cancel: Cancel, waiting: Waiting) -> None:
        self._batcher = batcher
        self._cancel = cancel
        self._waiting = waiting
        # Requests that were too large, and texts that had to be cut.
        self._troubles = 0

    def settle(self, texts: list[str]) -> list[Embedded]:
        """One result per text, in as many requests as it takes."""
        if len(texts) == 1:
            return [self.alone(texts[0])]
        if any(map(self._batcher.too_long, texts)):
            # Learnt since the batch was put together.
            return self._in_pieces(texts, 1)
        before = self._troubles
        try:
            return self._send(texts)
        except TooLarge:
            results = self._in_pieces(texts, (len(texts) + 1) // 2)
            self._troubles += 1
            if self._troubles == before + 1:
                # No text was too large by itself: it was the request.
                self._batcher.learn(
                    items=int(len(texts) * _MARGIN), tokens=int(sum(map(estimate, texts)) * _MARGIN)
                )
            return results
        except Miscounted:
            # Some servers read only the first of several texts. One at a time there is nothing to mix up.
            self._batcher.learn(items=1)
            return self._in_pieces(texts, 1)
        except ProviderRejected:
            return self._in_pieces(texts, (len(texts) + 1) // 2)
        except ProviderTimeout:
            # A slow server may manage one; a dead one is found out by a single further request.
            results = self.settle(texts[:1])
            self._batcher.learn(items=max(1, len(texts) // 4))
            return results + self._in_pieces(texts[1:], max(1, len(texts) // 4))

    def alone(self, text: str) -> Embedded:
        """The result of a single text."""
        if self._batcher.too_long(text):
            return self._in_parts(text)
        try:
            return self._send([text])[0]
        except TooLarge as error:
            self._troubles += 1
            if estimate(text) <= _SHORTEST:
                return self._batcher.blame(error, self._cancel, self._waiting)
            self._batcher.learn(item_tokens=int(estimate(text) * _MARGIN))
            return self._in_parts(text)
        except ProviderRejected as error:
            return self._batcher.blame(error, self._cancel, self._waiting)

    def _in_pieces(self, texts: list[str], size: int) -> list[Embedded]:
        results: list[Embedded] = []
        while len(results) < len(texts):
            step = min(size, self._batcher.limits.items)
            results += self.settle(texts[len(results) : len(results) + step])
        return results

    def _in_parts(self, text: str) -> Embedded:
        """The average of a text's parts; what a provider refuses of them counts for nothing."""
        self._troubles += 1
        limits = self._batcher.limits
        most = min(limits.item_tokens, limits.tokens, limits.bytes // 3)
        parts = cut(text, most)
        results: list[Embedded] = []
        while len(results) < len(parts):
            batch = self._batcher.next_batch(parts, len(results))
            results += self.settle(batch)
        good = [
            (part, result) for part, result in zip(parts, results, strict=True) if isinstance(result, bytes)
        ]
        if not good:
            return next(result for result in results if isinstance(result, Refused))
        try:
            return vectors.mean(
                [vector for _, vector in good], [float(_byte_length(part)) for part, _ in good]
            )
        except vectors.BadVector as error:
            return Refused(f"the average of its parts {error}")

    def _send(self, texts: list[str]) -> list[Embedded]:
        return self._batcher.send(texts, self._cancel, self._waiting)


class _Job:
    """One batch on its own thread. A daemon: leaving the program does not wait for a slow server."""

    def __init__(self, run: _Run, batch: list[str]) -> None:
        self.finished = threading.Event()
        self._results: list[Embedded] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._work, args=(run, batch), name="memgrep-embed", daemon=True).start()

    def results(self) -> list[Embedded]:
        """The results; raises what the work raised."""
        if self._error is not None:
            raise self._error
        return self._results

    def _work(self, run: _Run, batch: list[str]) -> None:
        try:
            self._results = run.settle(batch)
        except BaseException as error:
            self._error = error
        finally:
            self.finished.set()


def cut(text: str, tokens: int) -> list[str]:
    """A text in as few parts of about equal length as fit `tokens` each; cut at white space if possible."""
    count = -(-estimate(text) // max(tokens, _SHORTEST))
    parts = []
    while count > 1 and len(text) > 1:
        at = max(1, len(text) // count)
        space = max(text.rfind(" ", at - at // 4, at), text.rfind("\n", at - at // 4, at))
        at = space + 1 if space > 0 else at
        parts.append(text[:at])
        text = text[at:]
        count -= 1
    return [*parts, text]


def _byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
