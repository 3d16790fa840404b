"""How good the answers are on many labelled sets: one table, in the form docs/evaluation.md shows.

python benches/quality.py [SET ...] [--provider static] [--data FOLDER] [--json FILE] [--smoke]

A driver of `memgrep.evaluation`, which `memgrep eval` runs on one's own sets. The sets are those of a folder of
labelled sets (default: $MEMGREP_SHARED/data, else ../shared/data beside the repository), the made corpus (`made`) and
the questions about the latest state (`latest`); without the folder the bench says so and measures the latter two.
"""

import argparse
import datetime
import json
import os
from pathlib import Path

import corpus
import latest
from memgrep.config import read_text
from memgrep.evaluation import DEFAULT_ARMS, Evaluation, LabelledSet, Question, evaluate, read
from memgrep.evaluation.report import evaluation_document

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10", "hit@1")


def made(notes: int) -> LabelledSet:
    """The measuring corpus: one right note per question."""
    written, asked = corpus.corpus(notes)
    questions = [
        Question(
            id=f"m{number}",
            text=one.text,
            grades={one.path: 1},
            now=datetime.date(2026, 1, 1),
            tags={"kind": one.kind},
        )
        for number, one in enumerate(asked)
    ]
    return LabelledSet(
        name="made", questions=tuple(questions), notes={note.path: note.text for note in written}
    )


def shared_data() -> Path | None:
    folder = Path(os.environ.get("MEMGREP_SHARED") or ROOT.parent / "shared", "data")
    return folder if folder.is_dir() else None


def row(first: str, questions: object, means: list[dict[str, float]]) -> str:
    cells = [" / ".join(f"{one[name]:.3f}" for name in SHOWN) for one in means]
    return f"| {first} | {questions} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", help="names of sets, `made` and `latest` among them; all without")
    parser.add_argument("--arm", action="append", help="as of `memgrep eval`; may come again")
    parser.add_argument("--provider", default="static")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every arm"
    )
    parser.add_argument("--data", type=Path, default=shared_data())
    parser.add_argument("--json", type=Path, help="write all figures here too")
    parser.add_argument("--smoke", action="store_true", help="small made sets only")
    options = parser.parse_args()

    if options.data is None and not options.smoke:
        print("quality: no folder of labelled sets (MEMGREP_SHARED, ../shared); measuring the made sets only")
    found = sorted(folder.name for folder in options.data.iterdir()) if options.data else []
    names = ["made", "latest"] if options.smoke else options.sets or [*found, "made", "latest"]
    own = {"made": lambda: made(100 if options.smoke else 1_000), "latest": latest.labelled}
    written = [f"provider={options.provider}", *options.set]
    arguments = {key: read_text(key, value) for key, _, value in (one.partition("=") for one in written)}
    arms = options.arm or DEFAULT_ARMS

    print(f"provider {options.provider}; {' / '.join(SHOWN)}\n\n| set | questions | {' | '.join(arms)} |")
    print(f"|---|---|{'---|' * len(arms)}")
    runs = []
    for name in names:
        done = evaluate(
            [own[name]() if name in own else read(options.data / name)], arms, arguments=arguments
        )
        runs += done.runs
        print(row(name, len(done.runs[0].questions), [run.means for run in done.runs]), flush=True)
    whole = Evaluation(runs=tuple(runs))
    if len(names) > 1:
        print(row("mean", "", [whole.mean(arm) for arm in arms]))
    if options.json:
        document = evaluation_document(whole, "nDCG@10")
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
