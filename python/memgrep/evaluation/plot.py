"""Figures as a picture: a bar for every arm, with the 95 % interval of its mean."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from memgrep.errors import PlotUnavailable
from memgrep.evaluation.results import check_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memgrep.evaluation.results import Evaluation, Judged

__all__ = ["FORMS", "check", "plot"]

FORMS = (".png", ".svg")

# The 97.5th percentile of the normal distribution.
_NORMAL = 1.96


def check(file: str | Path) -> None:
    """Whether a picture can be drawn there; asked before anything is measured.

    Raises `ValueError` for another form than PNG or SVG, `PlotUnavailable` if the library is missing, and what
    `check_file` raises.
    """
    check_file(file)
    if Path(file).suffix.lower() not in FORMS:
        raise ValueError(f"{file}: a plot is a file whose name ends in {' or '.join(FORMS)}")
    try:
        import matplotlib  # noqa: F401 - only asked whether it is there
    except ImportError as error:
        raise PlotUnavailable("a plot needs matplotlib: pip install 'memgrep[plot]'") from error


def plot(done: Evaluation, measure: str, file: str | Path) -> None:
    """Draws the mean of `measure` by arm for every set, or for every group if there is one set; PNG or SVG by name.

    Raises what `check` raises, and `ValueError` if nothing has that measure.
    """
    check(file)
    import matplotlib as mpl
    from matplotlib.figure import Figure

    bars = {arm: _bars(done, arm, measure) for arm in done.arms}
    places = list(bars[done.arms[0]])
    if not places:
        raise ValueError(f"{measure} was not measured on these sets; there is nothing to draw")
    # Text stays text, and the same figures give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "memgrep"}):
        figure = Figure(figsize=(max(5.0, 1.6 + 0.9 * len(places)), 4.2), layout="constrained")
        axes = figure.add_subplot()
        width = 0.8 / len(bars)
        for number, (arm, values) in enumerate(bars.items()):
            mean, spread = zip(*values.values(), strict=True)
            at = np.arange(len(places)) + (number - (len(bars) - 1) / 2) * width
            axes.bar(at, mean, width, yerr=spread, label=arm, error_kw={"elinewidth": 0.8})
        axes.set_xticks(np.arange(len(places)), places, rotation=30, ha="right")
        axes.set_ylim(0, 1)
        axes.set_ylabel(measure)
        axes.grid(axis="y", linewidth=0.3)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper center", ncols=len(bars), frameon=False)
        kind = Path(file).suffix.lower().removeprefix(".")
        figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None, dpi=150)


def _bars(done: Evaluation, arm: str, measure: str) -> dict[str, tuple[float, float]]:
    """Mean and half the interval's width, by set; by group too if there is only one set."""
    judged: dict[str, Sequence[Judged]] = {name: done.run(name, arm).questions for name in done.sets}
    if len(judged) == 1:
        judged |= done.run(done.sets[0], arm).members()
    values = {
        name: [one.measures[measure] for one in of if measure in one.measures] for name, of in judged.items()
    }
    return {name: (float(np.mean(of)), _half(of)) for name, of in values.items() if of}


def _half(values: Sequence[float]) -> float:
    return _NORMAL * float(np.std(values)) / math.sqrt(len(values))
