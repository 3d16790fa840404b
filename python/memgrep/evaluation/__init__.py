"""How good the answers are: labelled questions, asked of an index, judged by what came first.

    labelled    questions and the notes that answer them, read from plain files
    arms        the settings that are compared
    asking      a set and an arm → every question judged, through the public API
    measures    nDCG, recall, MRR, …: a ranking → a number
    bootstrap   the difference between two, and whether it is luck
    results     figures by question, group, set; two runs compared
    report      the same as text and as JSON
    plot        the same as a picture (needs `memgrep[plot]`)
    draft       questions of a first kind from the headings of the user's notes

`evaluate()` is the door; `memgrep eval` is the same as a command, and docs/evaluation.md tells about both.
"""

from __future__ import annotations

from memgrep.evaluation.arms import ARMS, Arm, arm
from memgrep.evaluation.asking import World, ask
from memgrep.evaluation.bootstrap import Difference, check_seed
from memgrep.evaluation.labelled import Evidence, LabelledSet, Question, read, write
from memgrep.evaluation.measures import MEASURES
from memgrep.evaluation.results import (
    Compared,
    Comparison,
    Evaluation,
    Judged,
    Latency,
    Run,
    check_file,
    compare,
    read_results,
    write_results,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from memgrep.embeddings import Embedder

    Progress = Callable[[str, int, int], bool | None]

__all__ = [
    "ARMS",
    "DEFAULT_ARMS",
    "MEASURES",
    "Arm",
    "Compared",
    "Comparison",
    "Difference",
    "Evaluation",
    "Evidence",
    "Judged",
    "LabelledSet",
    "Latency",
    "Question",
    "Run",
    "arm",
    "check_file",
    "check_seed",
    "compare",
    "evaluate",
    "measure",
    "read",
    "read_results",
    "write",
    "write_results",
]

DEFAULT_ARMS = ("keyword", "vector", "hybrid", "+decay", "+MMR")


def measure(name: str) -> str:
    """The measure of that name, however it is written in capitals. Raises `ValueError` if there is none."""
    for known in MEASURES:
        if known.casefold() == name.casefold():
            return known
    raise ValueError(f"{name}: no such measure; there are {', '.join(MEASURES)}")


def evaluate(
    sets: Sequence[LabelledSet | str | os.PathLike[str]],
    arms: Sequence[Arm | str] = DEFAULT_ARMS,
    *,
    workspace: str | os.PathLike[str] | None = None,
    agent: str | None = None,
    arguments: Mapping[str, object] | None = None,
    embedder: Embedder | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
) -> Evaluation:
    """Asks every question of every set by every arm.

    `sets` are labelled sets or folders of them. One with a corpus is indexed in a place that is thrown away. One
    without is about the notes of `workspace`: they are indexed as `Memory.index` does it and asked in the
    index that the settings name, or, if `fresh`, in one that is thrown away. `arms` are those of `ARMS`, by
    name, with settings after them (`hybrid,query.hybrid.mmr.enabled=true`), or your own; the first is what the
    others are compared with. `arguments` and `embedder` are those of `Memory`; an arm's settings win.
    `progress(stage, done, total)` is told how far it is, `notice` before notes go to a provider that was not named.

    Raises `LabelsInvalid` for a set that cannot be meant, `ValueError` for an arm that is not there or given
    twice, and what `Memory` raises; a provider that fails is an error, never a figure.
    """
    chosen = [arm(one) if isinstance(one, str) else one for one in arms]
    labelled = [one if isinstance(one, LabelledSet) else read(str(one)) for one in sets]
    for names in ([one.name for one in chosen], [one.name for one in labelled]):
        twice = [name for name in names if names.count(name) > 1]
        if twice or not names:
            raise ValueError(f"{twice[0]} is there twice" if twice else "name a set and an arm")
    world = World(
        workspace=str(workspace) if workspace is not None else None,
        agent=agent,
        arguments=dict(arguments or {}),
        embedder=embedder,
        fresh=fresh,
        progress=progress,
        notice=notice,
    )
    return Evaluation(runs=tuple(run for one in labelled for run in ask(one, chosen, world)))
