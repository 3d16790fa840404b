"""Labelled sets: questions, and which notes answer them. A set is a folder of plain files:

    queries.jsonl    {"id": …, "text": …} a line; `scope` and `now` if they matter, anything else is a tag
    qrels.tsv        question, note, grade: how right a note is, 1 or more; tab-separated, no header
    evidence.tsv     question, note, first line, last line: where the answer stands (may be missing)
    corpus/          the notes, Markdown; or corpus.jsonl, {"id": …, "text": …} a line

A note's id is its path below `corpus/`. Without a corpus the questions are about the user's own notes, and ids are
the paths that hits carry. A question with a `scope` may only be answered from notes whose id begins with it; `now`
is the day it is asked, `2026-02-10`. Results are told apart by tag.
"""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

from memgrep.errors import LabelsInvalid
from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Evidence", "LabelledSet", "Question", "day", "documents", "lines_of", "read", "write"]

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_FIELDS = ("id", "text", "scope", "now")


class Evidence(Record):
    """Lines of a note, counted from 1, that hold an answer or a part of it."""

    note: str
    first_line: int
    last_line: int


class Question(Record):
    """A question, the grades of the notes that answer it (1 or more), and the lines that do, where labelled.

    `now` is the day it is asked, None if that does not matter.
    """

    id: str
    text: str
    grades: dict[str, int]
    scope: str = ""
    now: datetime.date | None = None
    tags: dict[str, str]
    evidence: tuple[Evidence, ...] = ()


class LabelledSet(Record):
    """Questions and what they are asked of: `notes` are texts by id, None for the user's own notes.

    `warnings` tell what was left out.
    """

    name: str
    questions: tuple[Question, ...]
    notes: dict[str, str] | None = None
    warnings: tuple[str, ...] = ()


def day(date: datetime.date) -> int:
    """Days since 1970-01-01."""
    return date.toordinal() - _EPOCH


def lines_of(text: str) -> list[str]:
    """A note's lines as an editor counts them."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read(folder: str | Path) -> LabelledSet:
    """The labelled set in a folder.

    Raises `LabelsInvalid`, which names file and line, for what cannot be meant.
    """
    return _Reader(Path(folder)).read()


class _Reader:
    """Reads one folder; every problem is raised where it stands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings: list[str] = []

    def read(self) -> LabelledSet:
        if not self.folder.is_dir():
            raise LabelsInvalid(str(self.folder), None, "no such folder")
        notes = self.notes()
        rows = self.rows()
        grades = self.grades(set(rows), notes)
        evidence = self.evidence(set(rows), notes)
        questions = [
            self.question(number, row, grades.get(name, {}), tuple(evidence.get(name, ())))
            for name, (number, row) in rows.items()
        ]
        return LabelledSet(
            name=self.folder.resolve().name,
            questions=tuple(questions),
            notes=notes,
            warnings=tuple(self.warnings),
        )

    def notes(self) -> dict[str, str] | None:
        table, folder = self.folder / "corpus.jsonl", self.folder / "corpus"
        if table.exists():
            notes: dict[str, str] = {}
            for number, row in documents(table):
                name, text = _text(table, number, row, "id"), _text(table, number, row, "text", blank=True)
                if name in notes:
                    raise LabelsInvalid(str(table), number, f"the note {name} is there twice")
                if name.startswith("/") or "\0" in name or {"..", "."}.intersection(name.split("/")):
                    raise LabelsInvalid(str(table), number, f"{name!r} is no path below a folder")
                notes[name] = text
            return notes
        if folder.is_dir():
            # As bytes, so that a note is indexed as it is, whatever its encoding.
            return {
                file.relative_to(folder).as_posix(): file.read_bytes().decode("utf-8", "surrogateescape")
                for file in sorted(folder.rglob("*.md"))
            }
        return None

    def rows(self) -> dict[str, tuple[int, dict[str, Any]]]:
        """Questions by id, with the line they stand on."""
        file = self.folder / "queries.jsonl"
        rows: dict[str, tuple[int, dict[str, Any]]] = {}
        for number, row in documents(file):
            name = _text(file, number, row, "id")
            _text(file, number, row, "text")
            if name in rows:
                raise LabelsInvalid(str(file), number, f"the question {name} is there twice")
            rows[name] = number, row
        if not rows:
            raise LabelsInvalid(str(file), None, "it holds no question")
        return rows

    def question(
        self, number: int, row: dict[str, Any], grades: dict[str, int], evidence: tuple[Evidence, ...]
    ) -> Question:
        file = self.folder / "queries.jsonl"
        if not grades:
            raise LabelsInvalid(
                str(file), number, f"no note answers {row['id']}: qrels.tsv has no grade of 1"
            )
        scope, now = row.get("scope", ""), row.get("now")
        if not isinstance(scope, str):
            raise LabelsInvalid(str(file), number, f"scope must be the beginning of a path, not {scope!r}")
        outside = [note for note in grades if not note.startswith(scope)]
        if outside:
            raise LabelsInvalid(str(file), number, f"{outside[0]} answers, but is not below {scope}")
        try:
            asked = datetime.date.fromisoformat(now) if now is not None else None
        except (TypeError, ValueError):
            raise LabelsInvalid(str(file), number, f"now must be a day as 2026-02-10, not {now!r}") from None
        tags = {name: str(value) for name, value in row.items() if name not in _FIELDS}
        return Question(
            id=row["id"],
            text=row["text"],
            grades=grades,
            scope=scope,
            now=asked,
            tags=tags,
            evidence=evidence,
        )

    def grades(self, questions: set[str], notes: dict[str, str] | None) -> dict[str, dict[str, int]]:
        file = self.folder / "qrels.tsv"
        grades: dict[str, dict[str, int]] = {}
        for number, (question, note, written) in self.labels(file, 3, questions, notes):
            (grade,) = _numbers(file, number, written)
            if grade > 0:
                grades.setdefault(question, {})[note] = grade
        return grades

    def evidence(self, questions: set[str], notes: dict[str, str] | None) -> dict[str, list[Evidence]]:
        file = self.folder / "evidence.tsv"
        found: dict[str, list[Evidence]] = {}
        if not file.exists():
            return found
        for number, (question, note, *written) in self.labels(file, 4, questions, notes):
            first, last = _numbers(file, number, *written)
            if not 1 <= first <= last:
                raise LabelsInvalid(str(file), number, f"lines {first} to {last} are no lines of a note")
            if notes is not None and last > (length := len(lines_of(notes[note]))):
                raise LabelsInvalid(str(file), number, f"{note} has {length} lines, not {last}")
            found.setdefault(question, []).append(Evidence(note=note, first_line=first, last_line=last))
        return found

    def labels(
        self, file: Path, width: int, questions: set[str], notes: dict[str, str] | None
    ) -> Iterator[tuple[int, list[str]]]:
        """Rows of a table about a question and a note; those of a question that is not asked are left out."""
        for number, line in _lines(file):
            fields = line.split("\t")
            if len(fields) != width:
                raise LabelsInvalid(
                    str(file), number, f"{len(fields)} fields instead of {width}, separated by tabs"
                )
            if fields[0] not in questions:
                self.warnings.append(f"{file}:{number}: queries.jsonl has no question {fields[0]}; left out")
                continue
            if notes is not None and fields[1] not in notes:
                raise LabelsInvalid(str(file), number, f"there is no note {fields[1]} in the corpus")
            yield number, fields


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, counted from 1. Only a line feed ends one: JSON may hold all other breaks."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise LabelsInvalid(str(file), None, "no such file") from None
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise LabelsInvalid(str(file), number, f"this is not UTF-8: {error.reason}") from None
        if line.strip():
            yield number, line


def documents(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with one a line, and their lines. Raises `LabelsInvalid`."""
    for number, line in _lines(file):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise LabelsInvalid(str(file), number, f"this is not JSON: {error}") from None
        except RecursionError:
            raise LabelsInvalid(str(file), number, "this JSON is nested too deep") from None
        if _HALF_PAIR.search(line) and not _is_text(row):
            raise LabelsInvalid(str(file), number, "half a surrogate pair is no text")
        if not isinstance(row, dict):
            raise LabelsInvalid(str(file), number, "a JSON object is wanted on every line")
        yield number, row


def _is_text(row: object) -> bool:
    """Whether everything in it can be written as UTF-8."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(file: Path, number: int, row: dict[str, Any], name: str, *, blank: bool = False) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not (blank or value.strip()):
        raise LabelsInvalid(str(file), number, f"{name} must be a text, not {value!r}")
    return value


def _numbers(file: Path, number: int, *written: str) -> list[int]:
    try:
        return [int(one) for one in written]
    except ValueError:
        raise LabelsInvalid(
            str(file), number, f"whole numbers are wanted, not {' and '.join(written)}"
        ) from None


def write(labelled: LabelledSet, folder: str | Path) -> None:
    """Writes a set as `read` reads it, into a folder that is new or empty.

    Raises `FileExistsError` for another folder, `ValueError` for an id that a line of a table cannot hold.
    """
    folder = Path(folder)
    ids = [name for one in labelled.questions for name in (one.id, *one.grades)]
    if broken := [name for name in ids if not name.isprintable()]:
        raise ValueError(f"{broken[0]!r} cannot be an id: it holds characters that a table has no place for")
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; name another folder")
    asked = [_row(question) for question in labelled.questions]
    judged = [
        f"{one.id}\t{note}\t{grade}" for one in labelled.questions for note, grade in one.grades.items()
    ]
    spans = [
        f"{one.id}\t{span.note}\t{span.first_line}\t{span.last_line}"
        for one in labelled.questions
        for span in one.evidence
    ]
    files = {"queries.jsonl": asked, "qrels.tsv": judged, **({"evidence.tsv": spans} if spans else {})}
    content = {folder / name: "".join(f"{line}\n" for line in lines) for name, lines in files.items()}
    content |= {folder / "corpus" / name: text for name, text in (labelled.notes or {}).items()}
    for file, text in content.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))


def _row(question: Question) -> str:
    row = {"id": question.id, "text": question.text, **question.tags}
    if question.scope:
        row["scope"] = question.scope
    if question.now is not None:
        row["now"] = question.now.isoformat()
    return json.dumps(row, ensure_ascii=False)
