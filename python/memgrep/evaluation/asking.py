"""Every question of a set, asked through `Memory` as a program would ask it, arm by arm.

A set with a corpus gets a workspace and an index that are thrown away afterwards, one for each scope: what is not
below the scope is not there. Without one, the user's own notes are asked, and hits from outside of the scope are
passed over.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from memgrep.errors import LabelsInvalid, ProviderError
from memgrep.evaluation import measures
from memgrep.evaluation.labelled import day
from memgrep.evaluation.measures import Shown, Span
from memgrep.evaluation.results import Judged, Run
from memgrep.memory import Memory
from memgrep.records import Record
from memgrep.search import MAX_RESULTS, today

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from memgrep.embeddings import Embedder
    from memgrep.evaluation.arms import Arm
    from memgrep.evaluation.labelled import Evidence, LabelledSet, Question
    from memgrep.hits import Hit

    Progress = Callable[[str, int, int], bool | None]

__all__ = ["World", "ask"]

# A note's rank is that of its best chunk, so more chunks than notes are asked for, and again until there are ten
# notes. The first n hits of a longer list are those of a list of n, so this changes no figure.
_NOTES, _HITS, _MORE = 10, 20, 4
_ROOTS = ("MEMORY.md", "memory.md", "USER.md")


class World(Record):
    """What every run has in common. `fresh`: own notes are indexed anew, and the index there is stays as it is."""

    workspace: str | None = None
    agent: str | None = None
    arguments: dict[str, object]
    embedder: Embedder | None = None
    fresh: bool = False
    progress: Progress | None = None
    notice: Callable[[str], None] | None = None


def ask(labelled: LabelledSet, arms: Sequence[Arm], world: World) -> list[Run]:
    """A run for every arm.

    Raises `LabelsInvalid` for a note that is labelled and not there, and `ProviderError` for an arm whose vectors
    cannot be had.
    """
    runs: dict[str, _Asking] = {}
    with tempfile.TemporaryDirectory(prefix="memgrep-eval-") as folder:
        for place in _places(labelled, Path(folder), world):
            for arm in arms:
                asking = runs.setdefault(arm.name, _Asking(labelled, arm, world))
                asking.ask(place)
    return [asking.run() for asking in runs.values()]


class _Place(Record):
    """A workspace, what is asked there, and the settings that make it one. `prefix`: what ids begin with here."""

    workspace: str | None
    settings: dict[str, object]
    questions: tuple[Question, ...]
    prefix: str = ""
    notes: dict[str, str] | None = None


def _places(labelled: LabelledSet, folder: Path, world: World) -> Iterator[_Place]:
    store: dict[str, object] = {"store.path": str(folder / "index.sqlite")}
    # The notes do not change while they are asked, and looking whether they did is not what is timed.
    quiet: dict[str, object] = {"sync.onSearch": False}
    if labelled.notes is None:
        settings = {**quiet, **(store if world.fresh else {})}
        yield _Place(workspace=world.workspace, settings=settings, questions=labelled.questions)
        return
    # Of the user's settings, those that bring other notes in or leave some out do not count here.
    alone: dict[str, object] = {"sources": ["memory"], "extraPaths": [], "ignore": []}
    for number, scope in enumerate(dict.fromkeys(one.scope for one in labelled.questions)):
        notes = {name: text for name, text in labelled.notes.items() if name.startswith(scope)}
        workspace = folder / str(number)
        _lay_out(labelled, notes, scope, workspace)
        yield _Place(
            workspace=str(workspace),
            settings={**alone, **quiet, "store.path": str(folder / f"{number}.sqlite")},
            questions=tuple(one for one in labelled.questions if one.scope == scope),
            prefix=scope,
            notes=notes,
        )


def _lay_out(labelled: LabelledSet, notes: dict[str, str], scope: str, workspace: Path) -> None:
    """Writes the notes where a memory has its notes."""
    for name, text in notes.items():
        file = workspace / _path(name, scope)
        if file.exists():
            raise LabelsInvalid(labelled.name, None, f"{name} and another note would be the same file")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))


def _path(name: str, scope: str) -> str:
    """Where a note of a corpus lies in its workspace."""
    below = name.removeprefix(scope)
    below = below if below.endswith(".md") else f"{below}.md"
    return below if below.startswith("memory/") or below in _ROOTS else f"memory/{below}"


class _Here(Record):
    """A question where it is asked: labels by the paths that hits carry. Hits outside of `scope` do not count."""

    asked: Question
    grades: dict[str, int]
    spans: tuple[Span, ...]
    scope: str

    @classmethod
    def of(
        cls, question: Question, place: _Place, memory: Memory, known: set[str], labelled: LabelledSet
    ) -> Self:
        own = place.notes is None

        def path(note: str) -> str:
            found = note if own else _path(note, place.prefix)
            if found not in known:
                raise LabelsInvalid(
                    labelled.name, None, f"{note} answers {question.id} and is not in the index"
                )
            return found

        return cls(
            asked=question,
            grades={path(note): grade for note, grade in question.grades.items()},
            spans=tuple(_span(memory, path(one.note), one) for one in question.evidence),
            scope=question.scope if own else "",
        )


def _span(memory: Memory, path: str, evidence: Evidence) -> Span:
    """The labelled lines with their texts."""
    wanted = evidence.last_line - evidence.first_line + 1
    page = memory.get(path, from_=evidence.first_line, lines=wanted)
    if page.lines != wanted:
        raise LabelsInvalid(
            path, evidence.last_line, "this line is labelled and cannot be read with its span"
        )
    return Span(
        note=path,
        first_line=evidence.first_line,
        last_line=evidence.last_line,
        lines=tuple(page.text.split("\n")),
    )


def _shown(hit: Hit, first: int, last: int, text: str | None = None) -> Shown:
    return Shown(note=hit.path, first_line=first, last_line=last, text=text)


class _Asking:
    """One arm on one set, place after place."""

    def __init__(self, labelled: LabelledSet, arm: Arm, world: World) -> None:
        self.labelled = labelled
        self.arm = arm
        self.world = world
        self.judged: dict[str, Judged] = {}
        self.warnings: dict[str, None] = dict.fromkeys(labelled.warnings)
        self.date = 0
        self.provider = "none"
        self.model: str | None = None

    def run(self) -> Run:
        return Run(
            set=self.labelled.name,
            arm=self.arm.name,
            provider=self.provider,
            model=self.model,
            questions=tuple(self.judged[question.id] for question in self.labelled.questions),
            warnings=tuple(self.warnings),
        )

    def ask(self, place: _Place) -> None:
        with Memory(
            place.workspace,
            agent=self.world.agent,
            arguments={**self.world.arguments, **place.settings, **self.arm.settings},
            embedder=None if self.arm.by_words else self.world.embedder,
            background=False,
            clock=lambda: self.date,
        ) as memory:
            self.prepare(memory, place)
            known = set(memory.notes())
            here = [_Here.of(question, place, memory, known, self.labelled) for question in place.questions]
            # The first search opens the index and loads the model: no question waits for that.
            memory.search(place.questions[0].text)
            for question in here:
                self.date = self.today(question.asked, place, memory)
                self.judged[question.asked.id] = self.judge(memory, question)
                if self.world.progress:
                    stage = f"{self.labelled.name}, {self.arm.name}"
                    self.world.progress(stage, len(self.judged), len(self.labelled.questions))

    def today(self, question: Question, place: _Place, memory: Memory) -> int:
        """The day a question is asked. A corpus without days stays as it is for ever: nothing in it fades."""
        if question.now is not None:
            return day(question.now)
        return 0 if place.notes is not None else today(memory.settings.time_zone)

    def prepare(self, memory: Memory, place: _Place) -> None:
        """Brings the index in line; what cannot be measured then is an error here."""
        self.warnings |= dict.fromkeys(memory.settings.warnings)
        done = memory.index(progress=self.world.progress, notice=self.world.notice)
        if done.error:
            raise ProviderError("", done.error, done.action or "")
        if self.arm.meaning and done.provider == "none":
            raise ProviderError(
                "", f"{self.arm.name} needs vectors, and there is no provider", "set one, or --arm keyword"
            )
        if done.pending:
            raise ProviderError("", f"{done.pending} chunks have no vector yet", "run memgrep index")
        if place.notes is not None and done.files != len(place.notes):
            reasons = [f"{path}: {reason}" for path, reason in (*done.skipped, *done.unreachable)]
            missing = f"{len(place.notes) - done.files} notes of the corpus were not indexed"
            raise LabelsInvalid(self.labelled.name, None, "; ".join([missing, *reasons[:1]]))
        if done.failed and not done.complete:
            self.warnings[f"{self.arm.name}: {done.failed} chunks were refused by the provider"] = None
        self.provider, self.model = done.provider, done.model

    def judge(self, memory: Memory, question: _Here) -> Judged:
        hits, notes, milliseconds = self.found(memory, question)
        shown = [hit for hit in hits if hit.path.startswith(question.scope)]
        chunks = [_shown(hit, *(hit.chunk_lines or (hit.start_line, hit.end_line))) for hit in shown]
        snippets = [_shown(hit, hit.start_line, hit.end_line, hit.snippet) for hit in shown]
        grades, spans = question.grades, question.spans
        taken = {
            "nDCG@10": measures.ndcg(notes, grades),
            "Recall@5": measures.recall(notes, grades, 5),
            "Recall@10": measures.recall(notes, grades, 10),
            "MRR@10": measures.mrr(notes, grades),
            "hit@1": measures.hit(notes, grades),
            "duplicates@10": measures.duplicates([hit.snippet for hit in shown[:10]]),
        }
        if spans:
            taken |= {f"evidence@{k}": measures.evidence(spans, chunks[:k]) for k in (5, 10)}
            taken |= {f"snippet@{k}": measures.evidence(spans, snippets[:k]) for k in (5, 10)}
        return Judged(
            set=self.labelled.name,
            arm=self.arm.name,
            id=question.asked.id,
            text=question.asked.text,
            tags=question.asked.tags,
            measures=taken,
            milliseconds=milliseconds,
            ranking=tuple(notes[:_NOTES]),
        )

    def found(self, memory: Memory, question: _Here) -> tuple[list[Hit], list[str], float]:
        """Hits until ten notes are among them, those notes, and the milliseconds of the first search."""
        wanted, milliseconds = _HITS, 0.0
        while True:
            begun = time.perf_counter()
            answer = memory.search(question.asked.text, max_results=wanted, min_score=0)
            milliseconds = milliseconds or (time.perf_counter() - begun) * 1_000
            if answer.unavailable:
                raise ProviderError("", answer.error or "memory is unavailable", answer.action or "")
            if answer.fallback:
                raise ProviderError("", f"{answer.fallback.to} answered: {answer.fallback.reason}")
            if answer.warning:
                self.warnings[f"{self.arm.name}: {answer.warning}"] = None
            notes = list(dict.fromkeys(hit.path for hit in answer if hit.path.startswith(question.scope)))
            if len(notes) >= _NOTES or len(answer) < wanted or wanted == MAX_RESULTS:
                return list(answer), notes, milliseconds
            wanted = min(wanted * _MORE, MAX_RESULTS)
