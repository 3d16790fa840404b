"""Labelled sets: read as written, and refused with file and line."""

import datetime
import json
from pathlib import Path

import pytest
from memgrep import errors
from memgrep.evaluation import Evidence, LabelledSet, Question, read, write

QUERIES = '{"id": "q1", "text": "where is the boat?", "kind": "place", "now": "2026-02-10"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of one question."""
    place = tmp_path / "boats"
    (place / "corpus" / "memory").mkdir(parents=True)
    (place / "corpus" / "memory" / "2026-02-01.md").write_text("# Boats\n\nIn the shed.\n", encoding="utf-8")
    (place / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (place / "qrels.tsv").write_text("q1\tmemory/2026-02-01.md\t1\n", encoding="utf-8")
    return place


def test_a_set_is_read(folder):
    (folder / "evidence.tsv").write_text("q1\tmemory/2026-02-01.md\t3\t3\n", encoding="utf-8")

    assert read(folder) == LabelledSet(
        name="boats",
        questions=(
            Question(
                id="q1",
                text="where is the boat?",
                grades={"memory/2026-02-01.md": 1},
                now=datetime.date(2026, 2, 10),
                tags={"kind": "place"},
                evidence=(Evidence(note="memory/2026-02-01.md", first_line=3, last_line=3),),
            ),
        ),
        notes={"memory/2026-02-01.md": "# Boats\n\nIn the shed.\n"},
    )


def test_a_corpus_may_be_one_file(folder):
    row = {"id": "memory/2026-02-01.md", "text": "a\u2028b\x0bc\n"}
    (folder / "corpus.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")

    assert read(folder).notes == {"memory/2026-02-01.md": "a\u2028b\x0bc\n"}


def test_what_is_written_is_read_back(folder, tmp_path):
    """Every byte of a note, also one that is not UTF-8, and every field of a question."""
    (folder / "corpus" / "memory" / "2026-02-01.md").write_bytes(b"in the caf\xe9\r\n\tand\n")
    (folder / "queries.jsonl").write_text(QUERIES.replace("2026-02-10", "2026-02-11"), encoding="utf-8")
    (folder / "evidence.tsv").write_text("q1\tmemory/2026-02-01.md\t1\t2\n", encoding="utf-8")
    first = read(folder)

    write(first, tmp_path / "again" / "boats")

    assert read(tmp_path / "again" / "boats") == first
    assert (tmp_path / "again/boats/corpus/memory/2026-02-01.md").read_bytes() == b"in the caf\xe9\r\n\tand\n"


def test_nothing_is_written_over(folder):
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    with pytest.raises(FileExistsError, match="not empty"):
        write(read(folder), folder)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_an_id_that_would_break_a_table_is_refused(folder, tmp_path):
    asked = read(folder).questions[0].replace(id="q\t1")

    with pytest.raises(ValueError, match="cannot be an id"):
        write(LabelledSet(name="x", questions=(asked,)), tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("file", "content", "place", "message"),
    [
        ("queries.jsonl", None, "queries.jsonl", "no such file"),
        ("queries.jsonl", "\n\n", "queries.jsonl", "holds no question"),
        ("queries.jsonl", QUERIES + "{'id'}\n", "queries.jsonl:2", "this is not JSON"),
        ("queries.jsonl", QUERIES + "[]\n", "queries.jsonl:2", "a JSON object is wanted"),
        ("queries.jsonl", '\n{"text": "where?"}\n', "queries.jsonl:2", "id must be a text, not None"),
        ("queries.jsonl", '{"id": "q1", "text": " "}', "queries.jsonl:1", "text must be a text, not ' '"),
        ("queries.jsonl", QUERIES * 2, "queries.jsonl:2", "the question q1 is there twice"),
        ("queries.jsonl", QUERIES.replace("q1", "q2"), "queries.jsonl:1", "no note answers q2"),
        ("queries.jsonl", QUERIES.replace("02-10", "02-30"), "queries.jsonl:1", "a day as 2026-02-10"),
        ("queries.jsonl", QUERIES.replace("kind", "scope"), "queries.jsonl:1", "is not below place"),
        (
            "queries.jsonl",
            QUERIES.replace('"place"', "7").replace("kind", "scope"),
            "queries.jsonl:1",
            "scope",
        ),
        ("queries.jsonl", b'{"id": "q1", "text": "\xff"}\n', "queries.jsonl:1", "not UTF-8"),
        ("qrels.tsv", None, "qrels.tsv", "no such file"),
        ("qrels.tsv", "q1 memory/2026-02-01.md 1\n", "qrels.tsv:1", "1 fields instead of 3"),
        ("qrels.tsv", "q1\tmemory/2026-02-01.md\tyes\n", "qrels.tsv:1", "whole numbers are wanted, not yes"),
        ("qrels.tsv", "q1\tmemory/2026-02-01.md\t0\n", "queries.jsonl:1", "no grade of 1"),
        ("qrels.tsv", "\nq1\tmemory/gone.md\t1\n", "qrels.tsv:2", "no note memory/gone.md in the corpus"),
        ("evidence.tsv", "q1\tmemory/2026-02-01.md\t3\n", "evidence.tsv:1", "3 fields instead of 4"),
        ("evidence.tsv", "q1\tmemory/2026-02-01.md\t3\t2\n", "evidence.tsv:1", "lines 3 to 2"),
        ("evidence.tsv", "q1\tmemory/2026-02-01.md\t0\t2\n", "evidence.tsv:1", "lines 0 to 2"),
        ("evidence.tsv", "q1\tmemory/2026-02-01.md\t3\t4\n", "evidence.tsv:1", "has 3 lines, not 4"),
        ("corpus.jsonl", '{"id": "../../x.md", "text": ""}\n', "corpus.jsonl:1", "no path below a folder"),
        ("corpus.jsonl", '{"id": "/etc/x.md", "text": ""}\n', "corpus.jsonl:1", "no path below a folder"),
        ("corpus.jsonl", '{"id": "a", "text": ""}\n' * 2, "corpus.jsonl:2", "the note a is there twice"),
    ],
)
def test_what_cannot_be_meant_is_refused_where_it_stands(folder, file, content, place, message):
    target = folder / file
    if content is None:
        target.unlink()
    elif isinstance(content, bytes):
        target.write_bytes(content)
    else:
        target.write_text(content, encoding="utf-8")

    with pytest.raises(errors.LabelsInvalid) as refused:
        read(folder)

    assert str(refused.value).startswith(f"{folder / place}: ")
    assert message in str(refused.value)


def test_labels_of_a_question_that_is_not_asked_are_left_out_and_said(folder):
    """A question was struck out of queries.jsonl: its labels do no harm."""
    with (folder / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("q7\tmemory/gone.md\t1\n")

    found = read(folder)

    assert [question.id for question in found.questions] == ["q1"]
    assert found.warnings == (f"{folder / 'qrels.tsv'}:2: queries.jsonl has no question q7; left out",)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(errors.LabelsInvalid, match="no such folder"):
        read(tmp_path / "gone")


def test_windows_line_ends_and_marks_are_no_part_of_a_label(folder):
    (folder / "queries.jsonl").write_bytes(b"\xef\xbb\xbf" + QUERIES.replace("\n", "\r\n").encode())
    (folder / "qrels.tsv").write_bytes(b"q1\tmemory/2026-02-01.md\t1\r\n")

    assert read(folder).questions[0].grades == {"memory/2026-02-01.md": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [("[" * 100_000, "nested too deep"), (r'{"id": "q2", "text": "a \ud800 b"}', "half a surrogate pair")],
)
def test_a_line_that_python_reads_badly_is_refused_with_its_number(folder, line, reason):
    (folder / "queries.jsonl").write_text(QUERIES + line + "\n", encoding="utf-8")

    with pytest.raises(errors.LabelsInvalid, match=reason) as refused:
        read(folder)
    assert refused.value.line == 2


def test_a_whole_surrogate_pair_is_text(folder):
    (folder / "queries.jsonl").write_text(QUERIES.replace("boat", r"\ud83d\ude00"), encoding="utf-8")

    assert read(folder).questions[0].text == "where is the \U0001f600?"
