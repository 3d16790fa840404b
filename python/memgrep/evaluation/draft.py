"""A first set of questions about the user's own notes, from their headings.

A heading that only one note has is a question with a known answer: that note (known-item search: Azzopardi and de
Rijke, Automatic construction of known-item finding test beds, SIGIR 2006). No language is assumed. Questions in
the user's own words are better; these show what is broken, and how a set is written.
"""

from __future__ import annotations

import random
import re
from itertools import zip_longest
from pathlib import Path

from memgrep.errors import LabelsInvalid
from memgrep.evaluation.bootstrap import check_seed
from memgrep.evaluation.labelled import LabelledSet, Question, lines_of
from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator

    from memgrep.memory import Memory

__all__ = ["Heading", "draft", "headings", "refuse_among_notes"]

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?-->")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Letters a heading must have to ask for something: several words, or one word. A character of a script without
# spaces counts for four.
_OF_WORDS, _OF_A_WORD, _WIDE = 8, 16, 4
_FIRST_WIDE = "\u2e80"


class Heading(Record):
    """A heading of a note and the line it stands on, counted from 1."""

    note: str
    line: int
    text: str


def headings(note: str, text: str) -> Iterator[Heading]:
    """The headings of a note, `#` to `######`; not those inside of fenced code or front matter."""
    lines = lines_of(text)
    skipped = _front_matter(lines)
    fence = ""
    for number, line in enumerate(lines[skipped:], skipped + 1):
        if opened := _FENCE.match(line):
            if not fence:
                fence = opened[1]
            elif opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif not fence and (found := _HEADING.fullmatch(_COMMENT.sub("", line))):
            yield Heading(note=note, line=number, text=found[1])


def _front_matter(lines: list[str]) -> int:
    """How many lines the front matter takes, 0 if there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() in ("---", "...")), 0)


def tells(text: str) -> bool:
    """Whether a heading asks for something: words enough, all of them readable, and no date."""
    dated = _YEAR.search(text) and len(re.findall(r"\d+", text)) > 1
    length = sum(_WIDE if sign >= _FIRST_WIDE else 1 for sign in text if sign.isalpha())
    wanted = _OF_WORDS if len(text.split()) > 1 else _OF_A_WORD
    return text.isprintable() and not dated and length >= wanted


def draft(
    memory: Memory, today: datetime.date, *, limit: int = 200, seed: int = 0, copy: bool = False
) -> LabelledSet:
    """Questions from headings that one note has and no other, at most `limit`, one of each note before a second one.

    They are about the notes in the index, asked `today`. With `copy` the set has a corpus of its own, in which
    the headings that are asked for are blank lines: without it, words find them word by word.

    Raises `ValueError` for a limit below 1 and a seed below 0, `LabelsInvalid` if there is no such heading.
    """
    check_seed(seed)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit must be a whole number ≥ 1, not {limit!r}")
    texts = dict(_notes(memory))
    by_note = {note: list(headings(note, text)) for note, text in texts.items()}
    notes: dict[str, set[str]] = {}
    for found in by_note.values():
        for heading in found:
            notes.setdefault(_same(heading), set()).add(heading.note)
    asked = []
    for found in by_note.values():
        fit = {_same(one): one for one in found if tells(one.text) and len(notes[_same(one)]) == 1}
        asked.append(list(fit.values()))
    chosen = _chosen(asked, limit, seed)
    if not chosen:
        raise LabelsInvalid(memory.settings.workspace, None, "no note has a heading that only it has")
    return LabelledSet(
        name="draft",
        questions=tuple(
            Question(
                id=f"h{number:04}",
                text=one.text,
                grades={_name(one.note) if copy else one.note: 1},
                now=today,
                tags={"kind": "heading"},
            )
            for number, one in enumerate(chosen, 1)
        ),
        notes=_blanked(texts, chosen) if copy else None,
    )


def _notes(memory: Memory) -> Iterator[tuple[str, str]]:
    """The notes in the index with their texts; a path that a line of a table could not hold is left out."""
    for path in memory.notes():
        try:
            content = Path(memory.settings.workspace, path).read_bytes()
        except FileNotFoundError:
            continue
        if path.isprintable():
            yield path, content.decode("utf-8", "surrogateescape")


def _same(heading: Heading) -> str:
    """What two headings share that ask the same."""
    return " ".join(heading.text.casefold().split())


def _chosen(asked: list[list[Heading]], limit: int, seed: int) -> list[Heading]:
    """A sample: first one heading of every note, then a second one, …; in the order of the notes."""
    dice = random.Random(seed)
    for of_note in asked:
        dice.shuffle(of_note)
    dice.shuffle(asked)
    in_turn = [one for turn in zip_longest(*asked) for one in turn if one is not None]
    return sorted(in_turn[:limit], key=lambda one: (one.note, one.line))


def _blanked(texts: dict[str, str], chosen: list[Heading]) -> dict[str, str]:
    """The notes without the headings that are asked for; lines keep their numbers."""
    copies = {note: text.split("\n") for note, text in texts.items()}
    for one in chosen:
        copies[one.note][one.line - 1] = ""
    return {_name(note): "\n".join(lines) for note, lines in copies.items()}


def _name(note: str) -> str:
    """A note's id in a corpus: a path below a folder, also for a note of an extra path."""
    return note.lstrip("/")


def refuse_among_notes(folder: str | Path, memory: Memory) -> None:
    """Raises `ValueError` for a folder whose files would be notes: nothing is written among them."""
    settings = memory.settings
    place = Path(folder).resolve()
    for root in (Path(settings.workspace, "memory"), *(Path(one.path) for one in settings.extra_paths)):
        if place.is_relative_to(root.resolve()):
            raise ValueError(f"{folder} is among the notes of {root}; name a folder outside")
