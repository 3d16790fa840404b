"""Questions about the latest state: facts that were stated, repeated and changed on several days.

python benches/latest.py FOLDER [--seed N] writes a labelled set for `memgrep eval`.

Every fact has two to four values over the months of one and a half years; the last one is stated once, in the note
that answers. Tag `ask` tells the questions apart: `plain` (present tense only), `present` (with a word such as
now, aktuell, 目前) and `past` (a month in which one other note stated the fact). hit@1 of the first two is the share
of questions with the newest note first. Words for the present stand in old notes too, facts of one kind share their
words, and later notes speak of the same thing without stating its value. Each language is a scope of its own.
"""

import argparse
import datetime
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import SEED, Dice
from memgrep.evaluation import Evidence, LabelledSet, Question, write

NOW = datetime.date(2026, 1, 5)
PHRASES = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Statement:
    """One sentence about a fact on one day."""

    day: datetime.date
    text: str


@dataclass(frozen=True)
class Fact:
    """What is said about one subject, the oldest first; the last statement holds the value of today."""

    phrases: dict[str, list[str]]
    subject: str
    statements: list[Statement]

    def filled(self, phrase: str, **more: str) -> str:
        """A phrase about this subject, with a capital where a sentence begins with the subject."""
        text = phrase.format(s=self.subject, **more)
        return text[0].upper() + text[1:]


def languages() -> dict[str, Any]:
    """The words of every language."""
    return tomllib.loads(PHRASES.read_text(encoding="utf-8"))


def fact(dice: Dice, phrases: dict[str, list[str]], subject: str) -> Fact:
    """Values without repetition; all but the last may be stated twice. Days go back from the last one."""
    values = list(phrases["values"])
    chosen = [values.pop(dice.below(len(values))) for _ in range(2 + dice.below(3))]
    stated = [value for value in chosen[:-1] for _ in range(1 + dice.below(2))] + chosen[-1:]
    day = NOW - datetime.timedelta(days=10 + dice.below(140))
    made = Fact(phrases, subject, [])
    for value in reversed(stated):
        made.statements.insert(0, Statement(day, made.filled(dice.pick(phrases["statements"]), v=value)))
        day -= datetime.timedelta(days=12 + dice.below(50))
    return made


def notes(dice: Dice, words: dict[str, Any], facts: list[Fact]) -> dict[datetime.date, list[str]]:
    """The lines of every day's note: a heading, then what was stated among remarks, in any order."""
    days: dict[datetime.date, list[str]] = defaultdict(list)
    for one in facts:
        for statement in one.statements:
            days[statement.day].append(statement.text)
        # Something later about the same thing that changes nothing.
        left = (NOW - one.statements[-1].day).days - 1
        days[NOW - datetime.timedelta(days=1 + dice.below(left))].append(
            one.filled(dice.pick(one.phrases["about"]))
        )
    for lines in days.values():
        lines += {dice.pick(words["remarks"]): None for _ in range(2 + dice.below(3))}
        for place in range(len(lines) - 1, 0, -1):
            other = dice.below(place + 1)
            lines[place], lines[other] = lines[other], lines[place]
    return {
        day: [f"# {shown(words, day)}", "", *(f"- {line}" for line in lines)]
        for day, lines in sorted(days.items())
    }


def shown(words: dict[str, Any], day: datetime.date) -> str:
    """A day as people write it."""
    return words["date"].format(day=day.day, month=words["months"][day.month - 1], year=day.year)


def asked(dice: Dice, words: dict[str, Any], one: Fact) -> list[tuple[str, str, Statement]]:
    """What is asked about a fact: how, in which words, and the statement that answers."""
    newest = one.statements[-1]
    present = list(one.phrases["present"])
    found = [("plain", one.filled(dice.pick(one.phrases["plain"])), newest)]
    for _ in range(2):
        found.append(("present", one.filled(present.pop(dice.below(len(present)))), newest))
    months = [statement.day.month for statement in one.statements]
    once = [statement for statement in one.statements[:-1] if months.count(statement.day.month) == 1]
    if once:
        then = once[dice.below(len(once))]
        month = words["months"][then.day.month - 1]
        found.append(("past", one.filled(dice.pick(one.phrases["past"]), m=month), then))
    return found


def labelled(seed: int = SEED) -> LabelledSet:
    """The whole set."""
    dice = Dice(seed)
    texts: dict[str, str] = {}
    questions: list[Question] = []
    for language, words in languages().items():
        facts = [fact(dice, kind, subject) for kind in words["facts"] for subject in kind["subjects"]]
        lines = notes(dice, words, facts)
        texts |= {path(language, day): "\n".join([*of_day, ""]) for day, of_day in lines.items()}
        for ask, text, answer in (one for about in facts for one in asked(dice, words, about)):
            note, line = path(language, answer.day), lines[answer.day].index(f"- {answer.text}") + 1
            questions.append(
                Question(
                    id=f"{language}-{len(questions):03}",
                    text=text,
                    grades={note: 1},
                    scope=f"{language}/",
                    now=NOW,
                    tags={"ask": ask, "language": language},
                    evidence=(Evidence(note=note, first_line=line, last_line=line),),
                )
            )
    return LabelledSet(name="latest", questions=tuple(questions), notes=texts)


def path(language: str, day: datetime.date) -> str:
    return f"{language}/memory/{day.isoformat()}.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    made = labelled(arguments.seed)
    write(made, arguments.folder)
    print(f"{len(made.notes or ())} notes, {len(made.questions)} questions, seed {arguments.seed}")


if __name__ == "__main__":
    main()
