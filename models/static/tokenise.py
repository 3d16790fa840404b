"""From a text to the pieces of the built-in model: the rules of `rust/embed/`, stated a second time.

The distillation needs them to count and to train, and the golden sample (`golden.py`) shows that both say
the same. Slow and plain on purpose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

WORD_START = " "
"""Stands before every word but those of CJK characters."""
LONGEST = 128
"""A longer run of one kind is cut."""
SKIP_COST = 30_000
"""What a character without a piece costs."""
PREFIX_COST = 4_000
"""What `WORD_START` costs where no piece holds it."""

OTHER, LETTER, DIGIT, CJK = range(4)
_BREAK = re.compile(r"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")
_CJK = (
    (0x3005, 0x3007), (0x3041, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x31F0, 0x31FF),
    (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip


def kind(char: str) -> int:
    """Which kind of word `char` belongs to."""
    if any(low <= ord(char) <= high for low, high in _CJK):
        return CJK
    category = unicodedata.category(char)
    if category[0] in "LM" or category == "Nl":
        return LETTER
    return DIGIT if category[0] == "N" else OTHER


def words(text: str) -> Iterator[str]:
    """The words of `text`: NFKC, lower case, with their start marked."""
    for segment in _BREAK.split(text):
        word, now, after_small = "", OTHER, False
        for char in segment if segment.isascii() else unicodedata.normalize("NFKC", segment):
            new = kind(char)
            if unicodedata.category(char)[0] == "M" and now != OTHER:
                new = now
            if new != now or (char.isupper() and after_small) or len(word.lstrip(WORD_START)) >= LONGEST:
                if now != OTHER:
                    yield word
                word, now = WORD_START if new in (LETTER, DIGIT) else "", new
            if new != OTHER:
                word += char.lower()
            after_small = char.islower()
        if now != OTHER:
            yield word


class Tokeniser:
    """Cuts words into the pieces that cost least together."""

    def __init__(self, pieces: Sequence[str], costs: Sequence[int]) -> None:
        self._row = {piece: row for row, piece in enumerate(pieces)}
        self._costs = list(costs)
        self._longest = max(map(len, pieces))
        self._known: dict[str, list[int]] = {}

    def rows(self, text: str) -> list[int]:
        """The rows of the pieces of `text`, in order."""
        return [row for word in words(text) for row in self.word(word)]

    def word(self, word: str) -> list[int]:
        """The rows of the pieces of one word."""
        if word not in self._known:
            self._known[word] = self._cut(word)
        return self._known[word]

    def _cut(self, word: str) -> list[int]:
        cost = [0] + [1 << 62] * len(word)
        step: list[tuple[int, int | None]] = [(0, None)] * (len(word) + 1)
        for start in range(len(word)):
            skip = PREFIX_COST if word[start] == WORD_START else SKIP_COST
            if cost[start] + skip < cost[start + 1]:
                cost[start + 1], step[start + 1] = cost[start] + skip, (start, None)
            for end in range(start + 1, min(len(word), start + self._longest) + 1):
                row = self._row.get(word[start:end])
                if row is not None and cost[start] + self._costs[row] < cost[end]:
                    cost[end], step[end] = cost[start] + self._costs[row], (start, row)
        rows, at = [], len(word)
        while at:
            at, row = step[at]
            if row is not None:
                rows.append(row)
        return rows[::-1]
