"""Figures for people and for programs."""

from __future__ import annotations

from memgrep.evaluation.measures import MEASURES
from memgrep.printable import one_line
from memgrep.terminal import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from memgrep.evaluation.bootstrap import Difference
    from memgrep.evaluation.results import Compared, Comparison, Evaluation, Judged, Latency

__all__ = ["compared", "compared_document", "evaluation", "evaluation_document"]

# Questions that a comparison shows on either side.
_SHOWN = 5


def evaluation(done: Evaluation, measure: str, *, seed: int = 0) -> str:
    """Every set: its arms, how they differ from the first in `measure`, and that measure by group."""
    differences = done.differences(measure, seed=seed)
    parts = []
    for name in done.sets:
        runs = [done.run(name, arm) for arm in done.arms]
        parts.append(one_line(f"{name}: {len(runs[0].questions)} questions"))
        parts.append(_figures([(run.arm, run.means, run.latency) for run in runs]))
        parts += _against([one for one in differences if one.set == name], measure)
        parts += _groups(done, name, measure)
    if len(done.sets) > 1:
        parts.append(f"mean over {len(done.sets)} sets")
        parts.append(_figures([(arm, done.mean(arm), None) for arm in done.arms]))
        parts += _against([one for one in differences if one.set is None], measure)
    return "\n\n".join(parts)


def evaluation_document(done: Evaluation, measure: str, *, seed: int = 0) -> dict[str, Any]:
    """The same with every figure: runs by set and arm, means over sets, differences from the first arm."""
    return {
        "runs": [run.to_json() for run in done.runs],
        "means": {arm: done.mean(arm) for arm in done.arms},
        "differences": [one.to_json() for one in done.differences(measure, seed=seed)],
    }


def compared(done: Compared, measure: str) -> str:
    """Every measure by set, and the questions whose `measure` changed most."""
    parts = []
    for before, after, name in dict.fromkeys((one.before, one.after, one.set) for one in done.comparisons):
        rows = [one for one in done.comparisons if (one.before, one.after, one.set) == (before, after, name)]
        arms = before if before == after else f"{before} → {after}"
        parts.append(one_line(f"{name or 'all sets'}, {arms}: {rows[0].difference.questions} questions"))
        header = ("", *_COLUMNS)
        figures = [(one.difference.measure, *_differing(one.difference)) for one in rows]
        parts.append(table([header, *figures], indent="  "))
    fell = [pair for pair in done.changed if _change(pair, measure) < 0]
    rose = [pair for pair in reversed(done.changed) if _change(pair, measure) > 0]
    for title, pairs in ((f"{measure} fell most", fell), (f"{measure} rose most", rose)):
        if pairs:
            parts.append(
                f"{title}\n\n{table([_changed(pair, measure) for pair in pairs[:_SHOWN]], indent='  ')}"
            )
    if done.alone:
        parts.append(f"left out, as the other run has nothing to compare with: {done.alone}")
    return "\n\n".join(parts)


def compared_document(done: Compared, measure: str) -> dict[str, Any]:
    """The same for programs; `changed` holds every question that changed, the greatest loss first."""
    return {
        "comparisons": [one.to_json() for one in done.comparisons],
        "changed": [
            {
                "set": one.set,
                "arm": two.arm,
                "id": one.id,
                "text": one.text,
                "measure": measure,
                "before": one.measures[measure],
                "after": two.measures[measure],
            }
            for one, two in done.changed
        ],
        "alone": done.alone,
    }


_COLUMNS = ("before", "after", "difference", "95 % interval", "p", "rose", "fell")


def _differing(one: Difference) -> tuple[str, ...]:
    significance = f"{one.p:.4f}" if one.p else "< 0.0001"
    interval = f"[{one.low:+.3f}, {one.high:+.3f}]"
    means = f"{one.before:.3f}", f"{one.after:.3f}"
    return *means, f"{one.difference:+.3f}", interval, significance, str(one.rose), str(one.fell)


def _figures(rows: Sequence[tuple[str, dict[str, float], Latency | None]]) -> str:
    """A row for every arm; measures that no arm has are left out."""
    names = [name for name in MEASURES if any(name in means for _, means, _ in rows)]
    timed = any(latency for _, _, latency in rows)
    lines = [("arm", *names, *(("p50", "p99") if timed else ()))]
    for arm, means, latency in rows:
        figures = [f"{means[name]:.3f}" if name in means else "-" for name in names]
        times = (f"{latency.p50:.1f} ms", f"{latency.p99:.1f} ms") if latency else ()
        lines.append((one_line(arm), *figures, *times))
    return table(lines, indent="  ")


def _against(differences: Sequence[Comparison], measure: str) -> Iterator[str]:
    if differences:
        header = (one_line(f"{measure} against {differences[0].before}"), *_COLUMNS)
        rows = [(one_line(one.after), *_differing(one.difference)) for one in differences]
        yield table([header, *rows], indent="  ")


def _groups(done: Evaluation, name: str, measure: str) -> Iterator[str]:
    runs = [done.run(name, arm) for arm in done.arms]
    groups = runs[0].members()
    if not groups:
        return
    means = [run.groups for run in runs]
    lines = [(f"{measure} by group", "questions", *(one_line(run.arm) for run in runs))]
    for group, judged in groups.items():
        figures = (f"{one[group][measure]:.3f}" if measure in one[group] else "-" for one in means)
        lines.append((one_line(group), str(len(judged)), *figures))
    yield table(lines, indent="  ")


def _change(pair: tuple[Judged, Judged], measure: str) -> float:
    return pair[1].measures[measure] - pair[0].measures[measure]


def _changed(pair: tuple[Judged, Judged], measure: str) -> tuple[str, ...]:
    one, two = pair
    figures = f"{one.measures[measure]:.3f} → {two.measures[measure]:.3f}"
    return one_line(one.set), one_line(one.id), figures, one_line(one.text)
