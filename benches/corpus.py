"""The measuring corpus: the same notes and questions as benches/corpus/mod.rs, byte for byte.

python benches/corpus.py FOLDER [--notes 10000] [--seed N] writes FOLDER/workspace and FOLDER/questions.jsonl.
Whole-number arithmetic only, so that a figure can be reproduced on any machine and from either language.
"""

import argparse
import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

SEED = 20_260_131
WORDS = 9_000
TOPIC_WORDS = 24
TOPICS = 400
COMMON = (
    "the to and of is in for on with was at after from that it we not be before by now this again new all "
    "one until when still first as but more next time every needs works then old"
).split()
ONSETS = "b d f g h k l m n p r s t v w br st tr pl sh".split()
VOWELS = "a e i o u".split()
PEOPLE = "Ada Bram Chandra Elif Farid Greta Hiro Ines Kofi Lena Noor Priya".split()
VERBS = ["moved", "restarted", "measured", "documented", "rolled back", "renamed", "reviewed", "handed over"]
SLUGS = "standup incident reading planning retro errands interview design".split()
MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Note:
    """One Markdown file; `copy` marks a copy of an earlier one with a line added."""

    path: str
    text: str
    topic: int
    identifier: str
    copy: bool = False


@dataclass(frozen=True)
class Question:
    """A question, its kind (identifier, keywords, natural) and the note that answers it."""

    kind: str
    text: str
    path: str


class Dice:
    """SplitMix64 (Steele, Lea and Flood, 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, n: int) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % n

    def skewed(self, n: int) -> int:
        """Small numbers far more often than large ones."""
        return self.below(self.below(self.below(n) + 1) + 1)

    def pick(self, words: list[str]) -> str:
        return words[self.below(len(words))]


@cache
def word(rank: int) -> str:
    if rank < len(COMMON):
        return COMMON[rank]
    rest = rank * 7_919 % 1_000_003
    syllables = []
    for _ in range(3):
        rest, onset = divmod(rest, 20)
        rest, vowel = divmod(rest, 5)
        syllables.append(ONSETS[onset] + VOWELS[vowel])
    return "".join(syllables)


def topic_word(topic: int, place: int) -> str:
    return word(200 + (topic * TOPIC_WORDS + place) * 37 % (WORDS - 200))


def sentence(dice: Dice, topic: int) -> str:
    words = []
    for _ in range(7 + dice.below(9)):
        if dice.below(4) == 0:
            words.append(topic_word(topic, dice.skewed(TOPIC_WORDS)))
        else:
            words.append(word(dice.skewed(WORDS)))
    text = " ".join(words)
    return text[0].upper() + text[1:] + "."


def item(dice: Dice, topic: int) -> str:
    person, verb = dice.pick(PEOPLE), dice.pick(VERBS)
    what = topic_word(topic, dice.below(TOPIC_WORDS))
    match dice.below(3):
        case 0:
            return f"- {person} {verb} the {what} on 10.{dice.below(200)}.{dice.below(200)}.7"
        case 1:
            name = f"{what}_{word(dice.below(900))}"
            return f"- {person} {verb} `{name}` in version {dice.below(9)}.{dice.below(30)}"
        case _:
            return f"- [ ] {person}: {what}, see commit {dice.below(0x0FFFFFFF):07x}"


def text(dice: Dice, topic: int, identifier: str) -> str:
    length = 2048 + dice.below(2000)
    parts = [f"# {topic_word(topic, 0)} {topic_word(topic, 1)}\n\nTicket {identifier}.\n"]
    size = len(parts[0])
    while size < length:
        lines = [f"\n## {topic_word(topic, dice.below(TOPIC_WORDS))} {word(dice.skewed(WORDS))}\n\n"]
        lines += [sentence(dice, topic) + "\n" for _ in range(2 + dice.below(4))]
        lines.append("\n")
        lines += [item(dice, topic) + "\n" for _ in range(1 + dice.below(4))]
        parts += lines
        size += sum(map(len, lines))
    return "".join(parts)


def date(day: int) -> str:
    rest = day % 365
    for month, length in enumerate(MONTHS, 1):
        if rest < length:
            return f"2025-{month:02}-{rest + 1:02}"
        rest -= length
    raise AssertionError("a year has 365 days")


def path(number: int, topic: int) -> str:
    half = number // 2
    if number == 0:
        return "MEMORY.md"
    if number % 2 == 0:
        return f"memory/topics/{topic_word(topic, 0)}-{number}.md"
    if half < 365:
        return f"memory/{date(half)}.md"
    return f"memory/{date(half)}-{SLUGS[half // 365 % 8]}-{number}.md"


def corpus(count: int, seed: int = SEED) -> tuple[list[Note], list[Question]]:
    """`count` notes and about 280 questions."""
    dice = Dice(seed)
    notes: list[Note] = []
    for number in range(count):
        if number > 20 and dice.below(20) == 0:
            original = notes[dice.below(number)]
            added = item(dice, original.topic)
            copied = replace(
                original, path=path(number, original.topic), text=f"{original.text}{added}\n", copy=True
            )
            notes.append(copied)
        else:
            topic = dice.below(TOPICS)
            identifier = f"OPS-{10_000 + number}"
            notes.append(Note(path(number, topic), text(dice, topic, identifier), topic, identifier))
    questions = [question(dice, notes, number) for number in range(300)]
    return notes, [asked for asked in questions if asked]


def question(dice: Dice, notes: list[Note], number: int) -> Question | None:
    """A question about a note that is no copy (its copies are as right, and not counted)."""
    note = notes[dice.below(len(notes))]
    if note.copy:
        return None
    lines = [line for line in note.text.split("\n") if line.endswith(".") and len(line) > 60]
    place = dice.below(max(len(lines), 1))
    if place >= len(lines):
        return None
    words = lines[place].rstrip(".").split(" ")
    match number % 3:
        case 0:
            return Question("identifier", note.identifier, note.path)
        case 1:
            return Question("keywords", " ".join(words[-5:]), note.path)
        case _:
            return Question("natural", f"what do we know about {' '.join(words[1:])}?", note.path)


def write(notes: list[Note], folder: Path) -> None:
    """Writes the notes below `folder`."""
    for note in notes:
        target = folder / note.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(note.text, encoding="utf-8", newline="\n")


def digest(notes: list[Note], questions: list[Question]) -> str:
    """FNV-1a over paths, texts and questions: equal for equal corpora, in both languages."""
    texts = [part for note in notes for part in (note.path, note.text)]
    texts += [part for question in questions for part in (question.text, question.path)]
    hash_ = 0xCBF29CE484222325
    for byte in "".join(texts).encode():
        hash_ = (hash_ ^ byte) * 0x100000001B3 & MASK
    return f"{hash_:016x}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    notes, questions = corpus(arguments.notes, arguments.seed)
    write(notes, arguments.folder / "workspace")
    lines = [json.dumps({"kind": asked.kind, "text": asked.text, "path": asked.path}) for asked in questions]
    (arguments.folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    size = sum(len(note.text) for note in notes)
    print(f"{len(notes)} notes, {size / 1e6:.1f} MB, {len(questions)} questions, seed {arguments.seed}")


if __name__ == "__main__":
    main()
