"""How good one list of hits is: pure functions, each with the source of its formula.

A ranking holds distinct notes, best first. `grades` says how right a note is, by note; one that is missing is
wrong, as is grade 0. Everything is 0..1, and higher is better except for `duplicates`.
"""

from __future__ import annotations

from math import ceil, log2

from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "MEASURES",
    "Shown",
    "Span",
    "duplicates",
    "evidence",
    "hit",
    "mrr",
    "ndcg",
    "percentile",
    "recall",
]

MEASURES = (
    "nDCG@10",
    "Recall@5",
    "Recall@10",
    "MRR@10",
    "hit@1",
    "duplicates@10",
    "evidence@5",
    "evidence@10",
    "snippet@5",
    "snippet@10",
)
"""Names of everything that is measured, in the order it is shown. The last four need lines that were labelled."""

# Texts of which half of the shingles are the same tell a reader the same.
_SAME = 0.5
_SHINGLE = 5


class Span(Record):
    """Lines of a note that answer a question, counted from 1; `lines` are their texts."""

    note: str
    first_line: int
    last_line: int
    lines: tuple[str, ...]


class Shown(Record):
    """Lines of a note that were found. With a `text`, only what stands in it was seen."""

    note: str
    first_line: int
    last_line: int
    text: str | None = None

    def holds(self, note: str, number: int, line: str) -> bool:
        """Whether this line of that note was seen whole."""
        inside = self.note == note and self.first_line <= number <= self.last_line
        return inside and (self.text is None or line.strip() in self.text)


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Discounted gain of the first `k` notes over that of the best possible order.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002, with the
    discount of trec_eval and BEIR: the gain is the grade, divided by log2(rank + 1).
    """
    best = _dcg(sorted(grades.values(), reverse=True)[:k])
    return _dcg(grades.get(note, 0) for note in ranking[:k]) / best if best else 0.0


def _dcg(gains: Iterable[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def recall(ranking: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Share of the right notes that are among the first `k`.

    Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008, section 8.3.
    """
    right = _right(grades)
    return len(right.intersection(ranking[:k])) / len(right) if right else 0.0


def mrr(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """1 / rank of the first right note, 0 if there is none among the first `k`.

    The mean of it is the mean reciprocal rank: Voorhees, The TREC-8 question answering track report, 1999.
    """
    right = _right(grades)
    return next((1 / rank for rank, note in enumerate(ranking[:k], 1) if note in right), 0.0)


def hit(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """1 if the first note is a right one: success at rank 1, which is also precision at 1."""
    return mrr(ranking, grades, 1)


def duplicates(texts: Sequence[str]) -> float:
    """Share of the texts that tell what one before them told: what diversity is to lower.

    Two texts tell the same when half of their shingles, or more, are shared: the resemblance of Broder, On the
    resemblance and containment of documents, SEQUENCES 1997, over five characters in a row, so that scripts
    without spaces count too. Case and white space are left aside.
    """
    seen: list[set[str]] = []
    repeated = 0
    for text in texts:
        own = _shingles(text)
        repeated += any(len(own & other) >= _SAME * len(own | other) for other in seen)
        seen.append(own)
    return repeated / len(texts) if texts else 0.0


def _shingles(text: str) -> set[str]:
    plain = " ".join(text.casefold().split())
    return {plain[start : start + _SHINGLE] for start in range(max(1, len(plain) - _SHINGLE + 1))}


def evidence(spans: Sequence[Span], shown: Sequence[Shown]) -> float:
    """Share of the labelled spans of which every line was seen.

    Over the first k chunks this is the recall of evidence that LoCoMo reports (Maharana et al., ACL 2024); over
    their snippets it also tells whether the right lines of a chunk were chosen.
    """
    seen = [
        all(any(part.holds(span.note, number, line) for part in shown) for number, line in _numbered(span))
        for span in spans
    ]
    return sum(seen) / len(seen) if seen else 0.0


def _numbered(span: Span) -> Iterable[tuple[int, str]]:
    return enumerate(span.lines, span.first_line)


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the least value that `share` (0..1) of all values do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def _right(grades: Mapping[str, int]) -> set[str]:
    return {note for note, grade in grades.items() if grade > 0}
