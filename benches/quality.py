"""How good the answers are: nDCG@10, Recall@5, Recall@10 and MRR@10 on labelled questions.

python benches/quality.py [SET ...] [--provider static] [--data FOLDER] [--json FILE] [--smoke]

Everything goes through `Memory`, the public API: notes on disk, an index, questions, hits. A note's rank is
the rank of its best hit. The sets are those of a folder of labelled questions (default: $MEMGREP_SHARED/data,
else ../shared/data beside the repository); without it the bench says so and measures the made corpus only.
"""

import argparse
import datetime
import json
import math
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import corpus
from memgrep import Memory

ROOT = Path(__file__).resolve().parent.parent
MEASURES = ("nDCG@10", "Recall@5", "Recall@10", "MRR@10")
# Hits are chunks and several may be of one note: more than ten are asked for.
HITS = 60

PLAIN = {
    "query.hybrid.mmr.enabled": False,
    "query.hybrid.temporalDecay.enabled": False,
}
# What each arm switches on; the provider comes from the command line.
ARMS = {
    "keyword": {**PLAIN, "provider": "none"},
    "vector": {**PLAIN, "query.hybrid.vectorWeight": 1, "query.hybrid.textWeight": 0},
    "hybrid": PLAIN,
    "+decay": {**PLAIN, "query.hybrid.temporalDecay.enabled": "auto"},
    "+MMR": {**PLAIN, "query.hybrid.temporalDecay.enabled": "auto", "query.hybrid.mmr.enabled": True},
}


@dataclass
class Question:
    """Grades by note; `today` in days since 1970 where the set names a day."""

    text: str
    grades: dict[str, int]
    today: int | None = None


@dataclass
class Workspace:
    """Notes that are searched together, and what is asked of them."""

    notes: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)


def labelled(folder: Path) -> list[Workspace]:
    """A set as in ../shared/data: one workspace per scope, one in all where questions have none."""
    documents = dict(documents_of(folder))
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        grades[question][document] = int(grade)
    spaces: dict[str, Workspace] = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        scope = row.get("scope", "")
        if scope not in spaces:
            inside = {name: text for name, text in documents.items() if name.startswith(scope)}
            spaces[scope] = Workspace({note_path(name, scope): text for name, text in inside.items()})
        today = datetime.date.fromisoformat(row["now"]).toordinal() - 719_163 if "now" in row else None
        wanted = {note_path(name, scope): grade for name, grade in grades[row["id"]].items()}
        spaces[scope].questions.append(Question(row["text"], wanted, today))
    return list(spaces.values())


def documents_of(folder: Path) -> Iterator[tuple[str, str]]:
    table = folder / "corpus.jsonl"
    if table.exists():
        for line in table.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield row["id"], row["text"]
    else:
        for file in sorted((folder / "corpus").rglob("*.md")):
            yield file.relative_to(folder / "corpus").as_posix(), file.read_text(encoding="utf-8")


def note_path(document: str, scope: str) -> str:
    """Where a document lies in its workspace."""
    name = document.removeprefix(scope)
    name = name if name.endswith(".md") else f"{name}.md"
    return name if name.startswith("memory/") else f"memory/{name}"


def made(notes: int) -> list[Workspace]:
    """The measuring corpus: one right note per question."""
    written, asked = corpus.corpus(notes)
    texts = {note.path: note.text for note in written}
    return [Workspace(texts, [Question(one.text, {one.path: 1}, 20_454) for one in asked])]


def measured(ranking: list[str], grades: dict[str, int]) -> tuple[float, ...]:
    """The four measures of one question; `ranking` holds distinct notes, best first."""
    gains = [grades.get(note, 0) for note in ranking[:10]]
    ideal = sorted(grades.values(), reverse=True)[:10]
    dcg, best = (
        sum(gain / math.log2(place + 2) for place, gain in enumerate(list_)) for list_ in (gains, ideal)
    )
    right = [place for place, gain in enumerate(gains) if gain > 0]
    relevant = sum(grade > 0 for grade in grades.values())
    return (
        dcg / best if best else 0.0,
        sum(place < 5 for place in right) / relevant,
        len(right) / relevant,
        1 / (right[0] + 1) if right else 0.0,
    )


def run(
    spaces: list[Workspace], arms: dict[str, dict[str, object]], provider: str
) -> dict[str, tuple[float, ...]]:
    """Means over all questions, by arm."""
    rows: dict[str, list[tuple[float, ...]]] = {arm: [] for arm in arms}
    for space in spaces:
        with tempfile.TemporaryDirectory() as folder:
            corpus.write(
                [corpus.Note(path, text, 0, "") for path, text in space.notes.items()], Path(folder, "w")
            )
            for arm, settings in arms.items():
                rows[arm] += asked(space, Path(folder), {"provider": provider, **settings})
    return {arm: tuple(map(fmean, zip(*found, strict=True))) for arm, found in rows.items()}


def asked(space: Workspace, folder: Path, settings: dict[str, object]) -> Iterator[tuple[float, ...]]:
    today = 0
    arguments = {"store.path": str(folder / "index.sqlite"), **settings}
    with Memory(folder / "w", arguments=arguments, background=False, clock=lambda: today) as memory:
        report = memory.index()
        if report.error:
            raise SystemExit(f"quality: {report.error}")
        for question in space.questions:
            today = question.today or 0
            answer = memory.search(question.text, max_results=HITS, min_score=0)
            if answer.unavailable or answer.fallback:
                raise SystemExit(f"quality: {answer.error or answer.fallback}")
            ranking = list(dict.fromkeys(hit.path for hit in answer))
            yield measured(
                ranking, {path: grade for path, grade in question.grades.items() if path in space.notes}
            )


def shared_data() -> Path | None:
    folder = Path(os.environ.get("MEMGREP_SHARED") or ROOT.parent / "shared", "data")
    return folder if folder.is_dir() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", help="names of sets, or `made`; all of them without")
    parser.add_argument("--provider", default="static")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting for every arm"
    )
    parser.add_argument("--data", type=Path, default=shared_data())
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--smoke", action="store_true", help="a small made corpus only")
    options = parser.parse_args()

    more = {key: json.loads(value) for key, _, value in (one.partition("=") for one in options.set)}
    arms = {name: {**settings, **more} for name, settings in ARMS.items()}
    if options.data is None and not options.smoke:
        print(
            "quality: no folder of labelled sets (MEMGREP_SHARED, ../shared); measuring the made corpus only"
        )
    names = (
        [folder.name for folder in sorted(options.data.iterdir()) if folder.is_dir()] if options.data else []
    )
    chosen = ["made"] if options.smoke else options.sets or [*names, "made"]

    figures = {}
    print(f"provider {options.provider}; {', '.join(MEASURES)}\n\n| set | questions | {' | '.join(arms)} |")
    print(f"|---|---|{'---|' * len(arms)}")
    for name in chosen:
        spaces = made(100 if options.smoke else 1_000) if name == "made" else labelled(options.data / name)
        figures[name] = run(spaces, arms, options.provider)
        cells = [" / ".join(f"{value:.3f}" for value in means) for means in figures[name].values()]
        print(
            f"| {name} | {sum(len(space.questions) for space in spaces)} | {' | '.join(cells)} |", flush=True
        )
    if len(chosen) > 1:
        means = [fmean(figures[name][arm][0] for name in chosen) for arm in arms]
        print(f"| mean nDCG@10 | | {' | '.join(f'{value:.3f}' for value in means)} |")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
