"""Text for people: streams in UTF-8, colour and progress only where someone looks."""

import sys

from memgrep.printable import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

__all__ = ["Progress", "Style", "marked", "size", "speak_utf8", "table"]


def speak_utf8() -> None:
    """Makes both streams UTF-8 whatever the locale says (F137); half a surrogate pair becomes `?`."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")


class Style:
    """Marks text with colour: on a terminal only, and not when NO_COLOR or TERM=dumb says otherwise."""

    def __init__(self, stream: "TextIO | None", environ: "Mapping[str, str]") -> None:
        self.on = (
            stream is not None
            and stream.isatty()
            and not environ.get("NO_COLOR")
            and environ.get("TERM") != "dumb"
        )

    def bold(self, text: str) -> str:
        return self._with("1", text)

    def dim(self, text: str) -> str:
        return self._with("2", text)

    def red(self, text: str) -> str:
        return self._with("31", text)

    def green(self, text: str) -> str:
        return self._with("32", text)

    def match(self, text: str) -> str:
        return self._with("1;33", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text


def marked(text: str, ranges: "Sequence[tuple[int, int]]", style: Style) -> str:
    """A snippet with its matches marked and nothing in it that a terminal would obey."""
    shown = harmless(text)
    parts, end = [], 0
    for start, stop in sorted(ranges):
        start = max(start, end)
        if start < stop:
            parts += [shown[end:start], style.match(shown[start:stop])]
            end = stop
    return "".join([*parts, shown[end:]])


def table(rows: "Sequence[Sequence[str]]", indent: str = "") -> str:
    """Columns of equal width, the last one free."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    return "\n".join(
        (indent + "  ".join([*map(str.ljust, row[:-1], widths), row[-1]])).rstrip() for row in rows
    )


def size(number: int) -> str:
    """Bytes as people say them: `812 B`, `3.4 MB`."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


class Progress:
    """One line that is drawn over itself: what is done, how far, how long it will still take.

    Draws nothing when the stream is no terminal, and nothing for work that ends within `patience` seconds.
    """

    WIDTH = 24

    def __init__(self, stream: "TextIO", patience: float = 0.3) -> None:
        self._stream = stream
        self._on = stream.isatty()
        self._patience = patience
        self._stage = ""
        self._begun = self._drawn = 0.0
        self._first = 0
        self._visible = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not self._on:
            return
        import time

        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._begun, self._first = stage, now, done
        if now - self._begun < self._patience or (now - self._drawn < 0.1 and done != total):
            return
        self._drawn = now
        self._stream.write("\r\x1b[2K" + self._line(now, done, total))
        self._stream.flush()
        self._visible = True

    def _line(self, now: float, done: int, total: int) -> str:
        if total <= 0:
            return f"{self._stage} {done:,}"
        filled = min(self.WIDTH, self.WIDTH * done // total)
        line = f"{self._stage} {'━' * filled}{'─' * (self.WIDTH - filled)} {done:,}/{total:,}"
        progressed = done - self._first
        if progressed > 0 and done < total:
            left = (now - self._begun) / progressed * (total - done)
            line += f", {left / 60:.0f} min left" if left >= 90 else f", {left:.0f} s left"
        return line

    def clear(self) -> None:
        """Takes the line away, before anything else is written."""
        if self._visible:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._visible = False
        self._stage = ""
