"""nDCG@10 of the model alone (no keywords) on the labelled sets: the table of PROVENANCE.md.

usage: MEMGREP_SHARED=../shared evaluate.py MODEL.mgm [WORDLLAMA_FOLDER]

Documents are cut into chunks of whole lines, about 400 tokens with 80 overlap (a CJK character counts as
one token, another as a quarter); a document ranks by its best chunk. The second argument is an unpacked
`wordllama` wheel, whose table is measured beside ours; it needs the packages `safetensors` and
`tokenizers`.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from mgm import Model
from tokenise import Tokeniser

SETS = (
    "locomo-dev", "memorybank-en-dev", "memorybank-zh-dev", "til-simonw", "tldr-en-dev",
    "tldr-de-dev", "tldr-ja-dev", "tldr-zh-dev", "xquad-de-dev", "xquad-de2en-dev",
    "gesetze-bgb", "cmrc-zh", "jaquad-dev", "scifact",
)  # fmt: skip

Embed = Callable[[Sequence[str]], np.ndarray]


def chunks(text: str, budget: float = 400, overlap: float = 80) -> list[str]:
    """Whole lines up to `budget` tokens; the last lines up to `overlap` are repeated."""
    lines = text.splitlines(keepends=True)
    costs = [sum(1.0 if ord(char) >= 0x2E80 else 0.25 for char in line) for line in lines]
    cut, start = [], 0
    while start < len(lines):
        end, spent = start, 0.0
        while end < len(lines) and (end == start or spent + costs[end] <= budget):
            spent += costs[end]
            end += 1
        cut.append("".join(lines[start:end]))
        if end == len(lines):
            break
        room, again = min(overlap, max(0.0, budget - costs[end])), end
        while again - 1 > start and costs[again - 1] <= room:
            again -= 1
            room -= costs[again]
        start = again
    return cut or [text]


def documents(folder: Path) -> list[tuple[str, str]]:
    """Names and texts of a set's documents."""
    corpus = folder / "corpus"
    if corpus.is_dir():
        return [
            (str(path.relative_to(corpus)), path.read_text("utf-8")) for path in sorted(corpus.rglob("*.md"))
        ]
    return [
        (line["id"], line["text"])
        for line in map(json.loads, (folder / "corpus.jsonl").open(encoding="utf-8"))
    ]


def ndcg(folder: Path, embed: Embed, depth: int = 10) -> float:
    """Mean nDCG at `depth` over the queries of a set that have a judgement."""
    names, owners, texts = [], [], []
    for number, (name, text) in enumerate(documents(folder)):
        names.append(name)
        for chunk in chunks(text):
            owners.append(number)
            texts.append(chunk)
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines():
        query, document, grade = line.split("\t")
        relevant[query][document] = int(grade)
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    queries = [query for query in queries if query["id"] in relevant]
    cosines = embed([query["text"] for query in queries]) @ embed(texts).T
    total = 0.0
    for query, row in zip(queries, cosines, strict=True):
        best = np.full(len(names), -9.0, np.float32)
        np.maximum.at(best, owners, row)
        best[[not name.startswith(query.get("scope") or "") for name in names]] = -9.0
        grades = relevant[query["id"]]
        ranking = np.argsort(-best, kind="stable")[:depth]
        gain = sum(grades.get(names[at], 0) / math.log2(rank + 2) for rank, at in enumerate(ranking))
        ideal = sorted(grades.values(), reverse=True)[:depth]
        total += gain / sum(grade / math.log2(rank + 2) for rank, grade in enumerate(ideal))
    return total / len(queries)


def pooled(rows: np.ndarray, cut: Callable[[str], Sequence[int]]) -> Embed:
    """Unit vectors of the summed rows."""

    def embed(texts: Sequence[str]) -> np.ndarray:
        sums: np.ndarray = np.stack([rows[np.asarray(cut(text), np.int64)].sum(axis=0) for text in texts])
        lengths: np.ndarray = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.maximum(lengths, 1e-9)

    return embed


def ours(path: Path) -> Embed:
    """The model file by the reference tokeniser."""
    model = Model(path)
    return pooled(model.rows, Tokeniser(model.pieces, model.costs.tolist()).rows)


def wordllama(folder: Path) -> Embed:
    """The table of the published package."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "wordllama/tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (rows,) = load_file(folder / "wordllama/weights/l2_supercat_256.safetensors").values()
    return pooled(rows.astype(np.float32), lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def main() -> None:
    """Print a Markdown table."""
    data = Path(os.environ["MEMGREP_SHARED"]) / "data"
    columns = {Path(sys.argv[1]).name: ours(Path(sys.argv[1]))}
    if len(sys.argv) > 2:
        columns["WordLlama 256"] = wordllama(Path(sys.argv[2]))
    print(f"| set | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
    scores: dict[str, list[float]] = defaultdict(list)
    for name in SETS:
        for column, embed in columns.items():
            scores[column].append(ndcg(data / name, embed))
        print(f"| `{name}` | {' | '.join(f'{row[-1]:.3f}' for row in scores.values())} |", flush=True)
    print(f"| mean | {' | '.join(f'{np.mean(row):.3f}' for row in scores.values())} |")


if __name__ == "__main__":
    main()
