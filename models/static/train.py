"""From the teacher's pieces and the training pairs to the model file.

usage: train.py TEACHER_NPZ PAIRS_TSV NAME MODEL_MGM

1. Vocabulary: the pieces that occur most in the pairs (each language counts alike), and every single
   character.
2. First rows: the teacher's vectors by their first principal components, frequent pieces turned down (SIF).
3. Training: both texts of a pair are the sum of their rows, scaled to length 1; each must find the other
   among the pairs of its batch (symmetric cross-entropy over cosines, as sentence encoders are trained).
   Only rows that occur move, so that a piece without training text keeps what the teacher knows.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from pathlib import Path

import mgm
import numpy as np
import scipy.sparse
from tokenise import PREFIX_COST, SKIP_COST, Tokeniser

SEED = 20260101
ROWS, DIMS = 56_000, 256
PER_SOURCE = 10_000
PER_SOURCE_LARGE = {"dictionary": 60_000, "wordnet": 60_000}
LEFT, RIGHT = 64, 128
"""Pieces of a text that are used."""
STEPS, BATCH, RATE, SHARPNESS = 1600, 512, 0.005, 20.0
MIXED = 0.2
"""Share of batches from all sources; the others hold one source, whose pairs are harder to tell apart."""
SIF_FIRST, SIF_LAST = 3e-3, 1e-2
MAIN = ("en", "de", "fr", "es", "ja", "zh", "ko")
GENERAL = ("sayings", "wordnet", "dictionary", "man")
"""Sources closer to notes than a program's help; they are drawn more often."""


def read_pairs(path: Path) -> dict[str, list[tuple[str, str]]]:
    """The pairs by source, a bounded number of each, in a fixed random order."""
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        source, left, right = line.split("\t")
        pairs[source].append((left, right))
    for source in sorted(pairs):
        random.Random(SEED).shuffle(pairs[source])
        del pairs[source][PER_SOURCE_LARGE.get(source, PER_SOURCE) :]
    return dict(sorted(pairs.items()))


def frequencies(tokeniser: Tokeniser, pairs: dict[str, list[tuple[str, str]]], pieces: int) -> np.ndarray:
    """How often each piece occurs, as the largest share over the languages; the smaller ones count half."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(pieces))
    for source, texts in pairs.items():
        languages = {"wordnet": "en-en", "dictionary": "de-en"}.get(source, source.split("-", 1)[-1]).split(
            "-"
        )
        for sides in texts[:3_000]:
            for side, language in zip(sides, (languages[0], languages[-1]), strict=True):
                np.add.at(counts[language], tokeniser.rows(side[:300]), 1)
    shares = [count / count.sum() * (1 if name in MAIN else 0.5) for name, count in sorted(counts.items())]
    return np.max(shares, axis=0)


def vocabulary(pieces: list[str], costs: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Which pieces the model keeps, in the teacher's order."""
    unigram = np.exp(-costs / 1000)
    worth = np.maximum(seen, 0.5 * unigram / unigram.sum())
    single = np.array([len(piece.strip()) == 1 for piece in pieces]) & (costs < 17_000)
    worth[single] = np.maximum(worth[single], 1e-3)
    return np.sort(np.argsort(-worth, kind="stable")[:ROWS])


def components(vectors: np.ndarray) -> np.ndarray:
    """`vectors` around their mean, by their first `DIMS` principal components."""
    vectors = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return vectors @ directions[:, ::-1][:, :DIMS]


def counts(texts: list[list[int]], rows: int) -> scipy.sparse.csr_matrix:
    """How often each text holds each row."""
    ends = np.cumsum([0] + [len(text) for text in texts])
    flat = np.concatenate([np.asarray(text, np.int64) for text in texts])
    return scipy.sparse.csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=(len(texts), rows))


def softmax(scores: np.ndarray, axis: int) -> np.ndarray:
    """Shares along `axis`."""
    shares = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return shares / shares.sum(axis=axis, keepdims=True)


def train(rows: np.ndarray, sources: list[tuple[str, list[list[int]], list[list[int]]]]) -> None:
    """Moves `rows` in place (Adam, only the rows of the batch)."""
    chance = np.random.default_rng(SEED)
    first, second, times = np.zeros_like(rows), np.zeros_like(rows), np.zeros(len(rows), np.int64)
    lefts = [text for _, left, _ in sources for text in left]
    rights = [text for _, _, right in sources for text in right]
    ends = np.cumsum([0] + [len(left) for _, left, _ in sources])
    shares = np.array(
        [len(left) ** 0.7 * (1.7 if name.split("-")[0] in GENERAL else 1) for name, left, _ in sources]
    )
    shares /= shares.sum()
    average = 0.0
    for step in range(STEPS):
        source = chance.choice(len(sources), p=shares)
        low, high = (0, ends[-1]) if chance.random() < MIXED else (ends[source], ends[source + 1])
        chosen = low + chance.choice(high - low, min(BATCH, high - low), replace=False)
        left, right = (counts([side[n] for n in chosen], len(rows)) for side in (lefts, rights))
        sums = [left @ rows, right @ rows]
        lengths = [np.linalg.norm(side, axis=1, keepdims=True) + 1e-6 for side in sums]
        a, b = (side / length for side, length in zip(sums, lengths, strict=True))
        scores = SHARPNESS * (a @ b.T)
        across, down = softmax(scores, 1), softmax(scores, 0)
        average += 0.02 * (-np.log(np.diag(across) + 1e-9).mean() - average)
        slope = ((across + down) / 2 - np.eye(len(chosen), dtype=np.float32)) * (SHARPNESS / len(chosen))
        slopes = []
        for unit, other, length in ((a, slope @ b, lengths[0]), (b, slope.T @ a, lengths[1])):
            slopes.append((other - unit * (unit * other).sum(axis=1, keepdims=True)) / length)
        both = scipy.sparse.vstack([left, right]).tocsc()
        moved = np.flatnonzero(np.diff(both.indptr))
        gradient = (both[:, moved].T @ np.concatenate(slopes)).astype(np.float32)
        times[moved] += 1
        age = times[moved, None].astype(np.float32)
        first[moved] = 0.9 * first[moved] + 0.1 * gradient
        second[moved] = 0.999 * second[moved] + 0.001 * gradient**2
        rate = RATE * min(1, (step + 1) / 50) * (1 - step / STEPS)
        ahead, spread = first[moved] / (1 - 0.9**age), second[moved] / (1 - 0.999**age)
        rows[moved] -= rate * ahead / (np.sqrt(spread) + 1e-8)
        if (step + 1) % 200 == 0:
            print(f"step {step + 1}: loss {average:.3f}", flush=True)


def main() -> None:
    """Choose, start, train, write."""
    teacher, pairs_path, name, target = sys.argv[1:]
    stored = np.load(teacher)
    pieces, costs = [str(piece) for piece in stored["pieces"]], stored["costs"]
    pairs = read_pairs(Path(pairs_path))
    seen = frequencies(Tokeniser(pieces, costs.tolist()), pairs, len(pieces))
    kept = vocabulary(pieces, costs, seen)
    unigram = np.exp(-costs / 1000)
    frequency = np.maximum(seen, unigram / unigram.sum())[kept]
    pieces, costs = [pieces[row] for row in kept], costs[kept]
    print(f"{len(pieces)} pieces kept", flush=True)
    rows = components(stored["vectors"].astype(np.float32)[kept])
    rows *= (SIF_FIRST / (SIF_FIRST + frequency))[:, None]
    rows = np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1).mean(), np.float32)
    tokeniser = Tokeniser(pieces, costs.tolist())
    sources = []
    for source, texts in pairs.items():
        cut = [(tokeniser.rows(a[:300])[:LEFT], tokeniser.rows(b[:600])[:RIGHT]) for a, b in texts]
        cut = [(a, b) for a, b in cut if a and b]
        if len(cut) >= 600:
            sources.append((source, [a for a, _ in cut], [b for _, b in cut]))
    print(f"{sum(len(left) for _, left, _ in sources)} pairs", flush=True)
    train(rows, sources)
    rows *= (SIF_LAST / (SIF_LAST + frequency))[:, None]
    mgm.write(Path(target), name, pieces, costs, rows, skip_cost=SKIP_COST, prefix_cost=PREFIX_COST)


if __name__ == "__main__":
    main()
