"""The guard: answers do not get worse unseen. Small labelled sets, asked by words and with the built-in model.

`python tests/test_quality.py` measures anew and writes the baseline; docs/evaluation.md says when to do that.
"""

import json
import os
import tempfile
from pathlib import Path

import pytest
from memgrep.evaluation import Evaluation, Judged, Run, evaluate

DATA = Path(__file__).parent / "data" / "quality"
BASELINE = DATA / "baseline.json"
ARMS = ("keyword", "hybrid")
MEASURE = "nDCG@10"
# How far the mean over the sets may fall: other processors round vectors a little differently.
TOLERANCE = 0.005

Figures = dict[str, dict[str, float]]


def sets() -> list[Path]:
    return sorted(folder for folder in DATA.iterdir() if folder.is_dir())


def measured() -> Evaluation:
    return evaluate(sets(), ARMS, arguments={"provider": "static"})


def figures(done: Evaluation) -> Figures:
    """Mean nDCG@10 by arm and set, and over the sets."""
    return {
        arm: {
            **{name: round(done.run(name, arm).means[MEASURE], 4) for name in done.sets},
            "mean": round(done.mean(arm)[MEASURE], 4),
        }
        for arm in done.arms
    }


def fallen(found: Figures, baseline: Figures) -> list[str]:
    """A line for every arm whose mean fell by more than the tolerance, with what every set has to do with it."""
    return [
        f"{arm}: {MEASURE} fell from {was['mean']:.4f} to {found[arm]['mean']:.4f} "
        f"({', '.join(f'{name} {found[arm][name] - was[name]:+.4f}' for name in was if name != 'mean')})"
        for arm, was in baseline.items()
        if found[arm]["mean"] < was["mean"] - TOLERANCE
    ]


def test_answers_are_as_good_as_the_baseline():
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    assert list(baseline) == list(ARMS)
    assert [*baseline["hybrid"]] == [*(folder.name for folder in sets()), "mean"]

    assert fallen(figures(measured()), baseline) == []


@pytest.mark.parametrize(("loss", "noticed"), [(0.0, False), (0.004, False), (0.006, True)])
def test_the_guard_notices_a_fall(loss, noticed):
    """Of the mean, whichever set it comes from."""
    was = {"hybrid": {"a": 0.9, "b": 0.7, "mean": 0.8}}

    found = {"hybrid": {"a": 0.9, "b": 0.7 - 2 * loss, "mean": 0.8 - loss}}

    assert bool(fallen(found, was)) is noticed


def test_figures_are_means_of_questions_and_then_of_sets():
    def run(name: str, *values: float) -> Run:
        judged = tuple(
            Judged(
                set=name,
                arm="hybrid",
                id=str(number),
                text="?",
                tags={},
                measures={MEASURE: value},
                milliseconds=1.0,
                ranking=(),
            )
            for number, value in enumerate(values)
        )
        return Run(set=name, arm="hybrid", provider="static", questions=judged)

    done = Evaluation(runs=(run("a", 1.0, 0.0, 0.5), run("b", 1.0)))

    assert figures(done) == {"hybrid": {"a": 0.5, "b": 1.0, "mean": 0.75}}


def test_the_sets_stay_small_and_say_their_licence():
    size = sum(file.stat().st_size for file in DATA.rglob("*") if file.is_file())
    listed = (DATA / "README.md").read_text(encoding="utf-8")

    assert size < 1_000_000
    assert [folder.name for folder in sets() if f"`{folder.name}`" not in listed] == []


def rewrite() -> None:
    """Writes what is measured now as the baseline and shows what that changes."""
    was = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    for name in [name for name in os.environ if name.startswith(("MEMGREP_", "OPENCLAW_", "XDG_"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as home:
        # Nobody's settings but the defaults.
        os.environ["HOME"] = home
        found = figures(measured())
    BASELINE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    for arm, values in found.items():
        for name, value in values.items():
            print(f"{arm:8} {name:14} {was.get(arm, {}).get(name, 0.0):.4f} → {value:.4f}")


if __name__ == "__main__":
    rewrite()
