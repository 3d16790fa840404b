"""Is one better than the other, or was it luck? The paired bootstrap over questions."""

from __future__ import annotations

import numpy as np

from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["SAMPLES", "Difference", "check_seed", "difference"]

SAMPLES = 10_000
"""Bootstrap samples; the p-value has no finer steps than one in so many."""

# Indices drawn at once, so that a set of any size costs the same memory.
_DRAWN = 2_000_000
# Sums of equal numbers differ by less than this.
_ROUNDING = 1e-12


class Difference(Record):
    """How much `after` is above `before`, over the same questions.

    `low` and `high` bound the difference with 95 % confidence; `p` is how likely so large a difference is, in
    either direction, if there is none. Of the questions, `rose` and `fell` so many.
    """

    measure: str
    questions: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    rose: int
    fell: int


def difference(
    measure: str, pairs: Sequence[Sequence[tuple[float, float]]], *, seed: int = 0, samples: int = SAMPLES
) -> Difference:
    """The mean difference of paired values `(before, after)`, one sequence for each set.

    Questions are drawn within their set, and each set's mean counts the same, as in the mean over sets. The interval
    is the percentile interval of Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; `p` is
    the achieved significance level of the studentised difference: Sakai, Evaluating evaluation metrics based on
    the bootstrap, SIGIR 2006. The same `seed` gives the same figures.

    Raises `ValueError` for a set without questions and for what `check_seed` refuses.
    """
    check_seed(seed)
    if not pairs or not all(pairs):
        raise ValueError("a difference needs questions that both sides were asked")
    values = [np.asarray(one, dtype=np.float64) for one in pairs]
    gains = [one[:, 1] - one[:, 0] for one in values]
    observed = float(np.mean([one.mean() for one in gains]))
    means, errors = (np.concatenate(part) for part in zip(*_drawn(gains, samples, seed), strict=True))
    low, high = np.quantile(means, [0.025, 0.975])
    changes = np.concatenate(gains)
    return Difference(
        measure=measure,
        questions=len(changes),
        before=float(np.mean([one[:, 0].mean() for one in values])),
        after=float(np.mean([one[:, 1].mean() for one in values])),
        difference=observed,
        low=float(low),
        high=float(high),
        p=_significance(gains, observed, means, errors),
        rose=int((changes > 0).sum()),
        fell=int((changes < 0).sum()),
    )


def check_seed(seed: object) -> None:
    """Raises `ValueError` for a seed that is no whole number ≥ 0."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be a whole number ≥ 0, not {seed!r}")


def _drawn(
    gains: Sequence[NDArray[np.float64]], samples: int, seed: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Means of bootstrap samples and their standard errors, some samples at a time."""
    dice = np.random.default_rng(seed)
    at_once = max(1, _DRAWN // max(len(one) for one in gains))
    for begun in range(0, samples, at_once):
        count = min(at_once, samples - begun)
        drawn = [one[dice.integers(len(one), size=(count, len(one)))] for one in gains]
        yield _mean_and_error(drawn)


def _mean_and_error(drawn: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean over sets of each row's mean, and its standard error; sets are independent."""
    mean = np.mean([one.mean(axis=-1) for one in drawn], axis=0)
    variance = np.sum([one.var(axis=-1) / one.shape[-1] for one in drawn], axis=0)
    return mean, np.sqrt(variance) / len(drawn)


def _significance(
    gains: Sequence[NDArray[np.float64]],
    observed: float,
    means: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> float:
    """How often samples of no difference (all gains lowered by the mean) look as different as what was seen."""
    (error,) = _mean_and_error([one[np.newaxis] for one in gains])[1]
    if error < _ROUNDING:
        # Every question changed alike: certain, unless nothing changed at all.
        return 1.0 if abs(observed) < _ROUNDING else 0.0
    # A sample without spread says nothing about its own error: it looks as different as its mean is far.
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = np.abs(np.nan_to_num((means - observed) / errors, posinf=np.inf, neginf=-np.inf))
    return float(np.mean(seen >= abs(observed) / error))
