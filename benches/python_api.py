"""How long things take for a Python program: the public API and the command, start-up included.

python benches/python_api.py [--notes 10000] [--provider static] [--smoke] [--json FILE]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import corpus
from memgrep import Memory

TODAY = 20_454


def once(work: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1_000


def spread(times: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) * 99 // 100, len(ordered) - 1)]


class Bench:
    """A workspace, an index beside it, and rows of figures."""

    def __init__(self, folder: Path, notes: int, rounds: int) -> None:
        self.folder = folder
        self.rounds = rounds
        self.notes, self.questions = corpus.corpus(notes)
        corpus.write(self.notes, folder / "workspace")
        self.rows: dict[str, tuple[float, float]] = {}

    def memory(self, provider: str, store: str) -> Memory:
        arguments = {"provider": provider, "store.path": str(self.folder / f"{store}.sqlite")}
        return Memory(self.folder / "workspace", arguments=arguments, background=False, clock=lambda: TODAY)

    def row(self, name: str, times: list[float]) -> None:
        self.rows[name] = spread(times)
        p50, p99 = self.rows[name]
        print(f"| {name} | {p50:,.2f} | {p99:,.2f} | {len(times)} |", flush=True)

    def indexing(self, provider: str) -> None:
        """Full index, no change, one changed note until it is found."""
        kind = "by word" if provider == "none" else provider
        with self.memory(provider, provider) as memory:
            self.row(f"full index, {kind}", [once(memory.index)])
            self.row(f"sync without change, {kind}", [once(memory.index) for _ in range(self.rounds)])
            note = self.notes[len(self.notes) // 2]
            file = self.folder / "workspace" / note.path
            times = []
            for number in range(self.rounds):
                file.write_text(f"{note.text}\nrevision{number}x\n", encoding="utf-8")
                times.append(once(memory.index))
                (hit, *_) = memory.search(f"revision{number}x")
                assert hit.path == note.path, "a changed note is found"
            self.row(f"sync of one changed note, {kind}", times)

    def searching(self, provider: str) -> None:
        """Warm questions of three kinds, the embedding of the question included."""
        with self.memory(provider, provider) as memory:
            memory.search("the first question opens the index")
            for kind in ("identifier", "keywords", "natural"):
                asked = [question.text for question in self.questions if question.kind == kind]
                times = [
                    once(lambda text=text: memory.search(text)) for text in asked * max(1, self.rounds // 5)
                ]
                self.row(f"warm query, {kind}, {'by word' if provider == 'none' else provider}", times)

    def command(self, provider: str) -> None:
        """A whole process for one question."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "MEMGREP_WORKSPACE": str(self.folder / "workspace"),
            "MEMGREP_PROVIDER": provider,
            "MEMGREP_STORE_PATH": str(self.folder / f"{provider}.sqlite"),
        }
        command = [sys.executable, "-m", "memgrep", "search", self.questions[0].text]

        def search() -> None:
            subprocess.run(command, env=environment, check=True, capture_output=True)

        search()
        kind = "by word" if provider == "none" else provider
        self.row(f"cold command, {kind}", [once(search) for _ in range(self.rounds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--provider", default="static", help="beside `none`")
    parser.add_argument("--smoke", action="store_true", help="100 notes, two rounds")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    notes, rounds = (100, 2) if options.smoke else (options.notes, 20)

    print(f"{notes} notes, milliseconds\n\n| what | p50 | p99 | runs |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), notes, rounds)
        for provider in ("none", options.provider):
            bench.indexing(provider)
            bench.searching(provider)
            bench.command(provider)
    if options.json:
        options.json.write_text(json.dumps(bench.rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
