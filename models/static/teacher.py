"""What the teacher says about every piece of its vocabulary.

usage: teacher.py TOKENIZER_JSON MODEL_ONNX TEACHER_NPZ

The teacher is multilingual-e5-small as an ONNX graph (`input_ids`, `attention_mask` to the last hidden
state). A piece is run alone between the start and the end mark; its vector is the mean over the three. Of
the pieces that are the same in lower case the most frequent one speaks for all. Pieces our words cannot
hold (punctuation, mixed kinds) are left out, and so are rare ones of scripts that would crowd out the rest
of a small table.
"""

from __future__ import annotations

import json
import sys
import unicodedata

import numpy as np
import onnxruntime
from tokenise import CJK, OTHER, WORD_START, kind

START, END = 0, 2
BATCH = 256
EVERY, MANY, SOME = 250_002, 60_000, 30_000
"""Up to which rank (by frequency, over a hundred languages) the pieces of a script are taken."""
RANKS = {
    "LATIN": EVERY, "CJK": EVERY, "HANGUL": EVERY, "HIRAGANA": EVERY, "KATAKANA": EVERY, "DIGIT": EVERY,
    "CYRILLIC": MANY, "GREEK": MANY,
}  # fmt: skip


def key(piece: str) -> str:
    """`piece` as our tokeniser would meet it; empty if it never would."""
    small = "".join(char.lower() for char in unicodedata.normalize("NFKC", piece))
    inner = small.lstrip("\u2581")
    kinds = {kind(char) for char in inner}
    if not inner or "\u2581" in inner or len(kinds) != 1 or OTHER in kinds:
        return ""
    return inner if kinds == {CJK} or small == inner else WORD_START + inner


def main() -> None:
    """Run the pieces and store key, cost and vector of each."""
    tokenizer, model, target = sys.argv[1:]
    with open(tokenizer, encoding="utf-8") as file:
        vocabulary = json.load(file)["model"]["vocab"]
    chosen: dict[str, int] = {}
    for rank, (piece, _) in enumerate(vocabulary):
        script = unicodedata.name(piece.lstrip("\u2581")[:1] or " ", "?").split()[0].split("-")[0]
        if rank > 3 and rank < RANKS.get(script, SOME) and key(piece):
            chosen.setdefault(key(piece), rank)
    ranks = np.array(sorted(chosen.values()))
    session = onnxruntime.InferenceSession(model)
    vectors = []
    for at in range(0, len(ranks), BATCH):
        batch = ranks[at : at + BATCH, None]
        ids = np.concatenate([np.full_like(batch, START), batch, np.full_like(batch, END)], axis=1)
        (hidden,) = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        vectors.append(hidden.mean(axis=1).astype(np.float16))
    np.savez(
        target,
        pieces=np.array([key(vocabulary[rank][0]) for rank in ranks]),
        costs=np.array([round(-1000 * vocabulary[rank][1]) for rank in ranks]),
        vectors=np.concatenate(vectors),
    )
    print(f"{len(ranks)} pieces")


if __name__ == "__main__":
    main()
