"""What came out: per question, per arm and set, and as differences between arms or runs."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from statistics import fmean

from memgrep.errors import LabelsInvalid
from memgrep.evaluation.bootstrap import Difference, difference
from memgrep.evaluation.labelled import documents
from memgrep.evaluation.measures import MEASURES, percentile
from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    _Pairs = dict[str, list[tuple["Judged", "Judged"]]]

__all__ = [
    "Compared",
    "Comparison",
    "Evaluation",
    "Judged",
    "Latency",
    "Run",
    "check_file",
    "compare",
    "read_results",
    "write_results",
]

# A tag with more values than this numbers the questions; it does not group them.
_MOST_GROUPS = 20


class Judged(Record):
    """One question as one arm answered it.

    `measures` are those of `MEASURES` that could be taken, `ranking` the first ten notes, `milliseconds` the time
    of the search. `tags` are the question's.
    """

    set: str
    arm: str
    id: str
    text: str
    tags: dict[str, str]
    measures: dict[str, float]
    milliseconds: float
    ranking: tuple[str, ...]


class Latency(Record):
    """Milliseconds of a warm search in this process, the embedding of the question included."""

    p50: float
    p99: float


class Run(Record):
    """One arm on one set. `provider` and `model` are what embedded (`none` and None: by words only)."""

    set: str
    arm: str
    provider: str
    model: str | None = None
    questions: tuple[Judged, ...]
    warnings: tuple[str, ...] = ()

    @property
    def means(self) -> dict[str, float]:
        """Every measure that was taken, as the mean over the questions that have it."""
        return _means(self.questions)

    @property
    def groups(self) -> dict[str, dict[str, float]]:
        """The same by tag, such as `kind: title`; a tag that all questions share tells nothing and is left out."""
        return {name: _means(judged) for name, judged in self.members().items()}

    def members(self) -> dict[str, list[Judged]]:
        """The questions of each group."""
        members: dict[str, list[Judged]] = {}
        for tag in sorted({tag for judged in self.questions for tag in judged.tags}):
            values = sorted({judged.tags[tag] for judged in self.questions if tag in judged.tags})
            if len(values) > _MOST_GROUPS or (
                len(values) == 1 and len(self._with(tag)) == len(self.questions)
            ):
                continue
            for value in values:
                members[f"{tag}: {value}"] = [one for one in self._with(tag) if one.tags[tag] == value]
        return members

    def _with(self, tag: str) -> list[Judged]:
        return [judged for judged in self.questions if tag in judged.tags]

    @property
    def latency(self) -> Latency:
        times = [judged.milliseconds for judged in self.questions]
        return Latency(p50=percentile(times, 0.5), p99=percentile(times, 0.99))

    def to_json(self) -> dict[str, Any]:
        """Figures only; the questions are written by `write_results`."""
        members = self.members()
        return {
            "set": self.set,
            "arm": self.arm,
            "provider": self.provider,
            **({"model": self.model} if self.model else {}),
            "questions": len(self.questions),
            "measures": self.means,
            "latency": self.latency.to_json(),
            "groups": {
                name: {"questions": len(members[name]), **means} for name, means in self.groups.items()
            },
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


class Comparison(Record):
    """`after` against `before`: names of arms. `set` is None for the mean over sets."""

    before: str
    after: str
    set: str | None = None
    difference: Difference


class Evaluation(Record):
    """Every arm on every set, in the order they were asked for."""

    runs: tuple[Run, ...]

    @property
    def sets(self) -> list[str]:
        return list(dict.fromkeys(run.set for run in self.runs))

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(run.arm for run in self.runs))

    @property
    def judged(self) -> list[Judged]:
        """All questions of all runs."""
        return [judged for run in self.runs for judged in run.questions]

    def run(self, set: str, arm: str) -> Run:
        """One arm on one set. Raises `KeyError` if there is none."""
        found = [run for run in self.runs if (run.set, run.arm) == (set, arm)]
        if not found:
            raise KeyError((set, arm))
        return found[0]

    def mean(self, arm: str) -> dict[str, float]:
        """The mean over sets of each measure that all sets have: every set counts the same."""
        runs = [run.means for run in self.runs if run.arm == arm]
        return {
            name: fmean(means[name] for means in runs)
            for name in MEASURES
            if all(name in means for means in runs)
        }

    def differences(self, measure: str = "nDCG@10", *, seed: int = 0) -> list[Comparison]:
        """Every other arm against the first: on each set, and over all of them if there are several."""
        first, *others = self.arms
        return [
            one
            for other in others
            for one in _compared(first, other, self._pairs(first, other), (measure,), seed)
        ]

    def _pairs(self, first: str, other: str) -> _Pairs:
        return {
            name: list(zip(self.run(name, first).questions, self.run(name, other).questions, strict=True))
            for name in self.sets
        }


class Compared(Record):
    """Two runs, question by question. `alone` answers have none in the other one to be compared
    with, and were left out.

    `changed` are pairs of which the measure differs, the greatest loss first and the greatest gain last.
    """

    comparisons: tuple[Comparison, ...]
    changed: tuple[tuple[Judged, Judged], ...]
    alone: int


def compare(
    before: Sequence[Judged], after: Sequence[Judged], *, measure: str = "nDCG@10", seed: int = 0
) -> Compared:
    """Two runs by every measure they share. `measure` says which change of a question is a loss.

    An arm is compared with the one of the same name, or else with the one it adds settings to (`hybrid,…` with
    `hybrid`); runs of one arm each are compared whatever their names.

    Raises `ValueError` if they have no question in common.
    """
    answered = {_key(judged): judged for judged in before}
    comparisons: list[Comparison] = []
    changed: list[tuple[Judged, Judged]] = []
    for arm, other in _partners(before, after):
        pairs: _Pairs = {}
        for judged in after:
            earlier = answered.get((arm, judged.set, judged.id))
            if judged.arm == other and earlier is not None:
                pairs.setdefault(judged.set, []).append((earlier, judged))
        comparisons += _compared(arm, other, pairs, MEASURES, seed)
        changed += [pair for both in pairs.values() for pair in both]
    if not changed:
        raise ValueError("the two runs have no question of one arm and set in common")

    def gain(pair: tuple[Judged, Judged]) -> float:
        return _gain(pair, measure)

    paired = {(side, *_key(judged)) for pair in changed for side, judged in enumerate(pair)}
    return Compared(
        comparisons=tuple(comparisons),
        changed=tuple(sorted(filter(gain, changed), key=gain)),
        alone=len(before) + len(after) - len(paired),
    )


def _key(judged: Judged) -> tuple[str, str, str]:
    return judged.arm, judged.set, judged.id


def _partners(before: Sequence[Judged], after: Sequence[Judged]) -> Iterator[tuple[str, str]]:
    """Arms of the first run with the arms of the second one they are compared with."""
    arms = list(dict.fromkeys(judged.arm for judged in before))
    others = list(dict.fromkeys(judged.arm for judged in after))
    if len(arms) == len(others) == 1:
        yield arms[0], others[0]
        return
    for other in others:
        plain = other if other in arms else other.partition(",")[0]
        if plain in arms:
            yield plain, other


def _compared(
    before: str, after: str, pairs: _Pairs, measures: Iterable[str], seed: int
) -> Iterator[Comparison]:
    """By set and, if there are several, over all of them; measures that a set lacks are left out of it."""
    parts: list[tuple[str | None, list[list[tuple[Judged, Judged]]]]] = [
        (name, [both]) for name, both in pairs.items()
    ]
    if len(pairs) > 1:
        parts.append((None, list(pairs.values())))
    for name, strata in parts:
        for measure in measures:
            values = [
                [
                    (one.measures[measure], two.measures[measure])
                    for one, two in both
                    if _have(one, two, measure)
                ]
                for both in strata
            ]
            if all(values):
                found = difference(measure, values, seed=seed)
                yield Comparison(before=before, after=after, set=name, difference=found)


def _have(one: Judged, two: Judged, measure: str) -> bool:
    return measure in one.measures and measure in two.measures


def _gain(pair: tuple[Judged, Judged], measure: str) -> float:
    one, two = pair
    return two.measures[measure] - one.measures[measure] if _have(one, two, measure) else 0.0


def _means(judged: Sequence[Judged]) -> dict[str, float]:
    values = {name: [one.measures[name] for one in judged if name in one.measures] for name in MEASURES}
    return {name: fmean(found) for name, found in values.items() if found}


def check_file(file: str | Path) -> None:
    """Whether results can be written there; asked before anything is measured. An existing file is replaced.

    Raises `ValueError` for a Markdown file, which could be a note, and `FileNotFoundError` for a folder that is not.
    """
    file = Path(file)
    if file.suffix.lower() == ".md":
        raise ValueError(f"{file}: results are no note; name a file such as results.jsonl")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{file.parent}: no such folder")


def write_results(judged: Iterable[Judged], file: str | Path) -> None:
    """One JSON object a line, for `read_results` and for tools of your own. Raises what `check_file` raises."""
    check_file(file)
    lines = [json.dumps(one.to_json(), ensure_ascii=False) for one in judged]
    Path(file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_results(file: str | Path) -> list[Judged]:
    """What `write_results` wrote. Raises `LabelsInvalid`, with the line, for anything else."""
    judged: dict[tuple[str, str, str], Judged] = {}
    for number, row in documents(Path(file)):
        try:
            row["ranking"] = tuple(row["ranking"])
            one = Judged(**row)
            if not all(isfinite(figure) for figure in (*one.measures.values(), one.milliseconds)):
                raise TypeError("a figure is no number")
            twice = _key(one) in judged
        except (AttributeError, KeyError, TypeError) as error:
            raise LabelsInvalid(str(file), number, f"this is no result of memgrep eval: {error}") from None
        if twice:
            raise LabelsInvalid(str(file), number, f"{one.id} of {one.set}, {one.arm} is there twice")
        judged[_key(one)] = one
    return list(judged.values())
