"""`memgrep eval`: the command's side, in real processes."""

import json

import pytest


@pytest.fixture
def folder(tmp_path):
    """Two sets: one with a corpus, one about the workspace's own notes."""
    for name in ("boats", "own"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "qrels.tsv").write_text("q1\tmemory/a.md\t1\n", encoding="utf-8")
        (tmp_path / name / "queries.jsonl").write_text(
            '{"id": "q1", "text": "where is the lantern?"}\n', encoding="utf-8"
        )
    row = {"id": "memory/a.md", "text": "the lantern hangs in the shed\n"}
    (tmp_path / "boats" / "corpus.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path


def test_figures_are_one_document(ws, folder):
    ws.write("memory/a.md", "the lantern hangs in the shed\n")

    document = ws.ran("eval", str(folder / "boats"), str(folder / "own"), "--arm=keyword", "--arm=settings")

    assert [(run["set"], run["arm"]) for run in document["runs"]] == [
        ("boats", "keyword"),
        ("boats", "settings"),
        ("own", "keyword"),
        ("own", "settings"),
    ]
    assert document["means"]["keyword"]["nDCG@10"] == 1.0
    assert document["runs"][0]["latency"]["p50"] > 0
    assert [one.get("set") for one in document["differences"]] == ["boats", "own", None]
    assert document["differences"][0]["difference"]["p"] == 1.0


def test_figures_are_a_table(ws, folder):
    done = ws.run("eval", str(folder / "boats"), "--arm=keyword")

    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "boats: 1 questions"
    assert lines[2].split()[:6] == ["arm", "nDCG@10", "Recall@5", "Recall@10", "MRR@10", "hit@1"]
    assert lines[3].split()[:6] == ["keyword", "1.000", "1.000", "1.000", "1.000", "1.000"]
    assert done.stderr == b""


def test_all_arms_are_measured_if_none_is_named(ws, folder):
    document = ws.ran("eval", str(folder / "boats"), provider="static")

    assert [run["arm"] for run in document["runs"]] == ["keyword", "vector", "hybrid", "+decay", "+MMR"]


def test_results_are_written_and_compared(ws, folder, tmp_path):
    for name, text in (("before", "a boat"), ("after", "the lantern")):
        row = {"id": "memory/a.md", "text": text}
        (folder / "boats" / "corpus.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        ws.ran("eval", str(folder / "boats"), "--arm=keyword", "--out", str(tmp_path / name))
    arguments = [str(tmp_path / "before"), str(tmp_path / "after")]

    document = ws.ran("eval compare", *arguments)
    shown = ws.run("eval compare", *arguments).stdout.decode()

    assert document["comparisons"][0]["difference"]["measure"] == "nDCG@10"
    assert document["changed"] == [
        {
            "set": "boats",
            "arm": "keyword",
            "id": "q1",
            "text": "where is the lantern?",
            "measure": "nDCG@10",
            "before": document["comparisons"][0]["difference"]["before"],
            "after": 1.0,
        }
    ]
    assert "boats, keyword: 1 questions" in shown


def test_a_first_set_is_drafted_and_asked(ws, tmp_path):
    ws.write("memory/a.md", "# Lantern repairs\n\noil\n")

    first = ws.run("eval init", str(tmp_path / "draft"))
    again = ws.run("eval init", str(tmp_path / "draft"))
    figures = ws.ran("eval", str(tmp_path / "draft"), "--arm=keyword")

    assert (
        first.stdout.decode() == f"1 questions in {tmp_path}/draft; memgrep eval {tmp_path}/draft asks them\n"
    )
    assert (again.returncode, b"not empty" in again.stderr) == (1, True)
    assert figures["means"]["keyword"]["hit@1"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["eval", "{}/gone"], 1, "{}/gone: no such folder"),
        (["eval", "{}/boats", "--arm=nearest"], 2, "nearest: no such arm"),
        (["eval", "{}/boats", "--measure=accuracy"], 2, "accuracy: no such measure"),
        (["eval", "{}/boats", "--plot={}/x.pdf"], 2, "a plot is a file whose name ends in .png or .svg"),
        (["eval", "{}/boats", "--plot={}/gone/x.png"], 1, "{}/gone: no such folder"),
        (["eval", "{}/boats", "--out={}/gone/x"], 1, "{}/gone: no such folder"),
        (["eval", "{}/boats", "--out={}/ws/memory/a.md"], 2, "results are no note"),
        (["eval", "{}/boats", "--arm=hybrid"], 1, "hybrid needs vectors, and there is no provider"),
        (["eval", "{}/boats", "--seed=-1", "--arm=keyword", "--arm=settings"], 2, "seed must be"),
        (["eval compare", "{}/gone", "{}/gone"], 1, "{}/gone: no such file"),
        (["eval init", "{}/ws/memory/draft"], 2, "is among the notes"),
    ],
)
def test_what_went_wrong_is_said(ws, folder, arguments, code, message):
    name, *rest = (argument.replace("{}", str(folder)) for argument in arguments)

    done = ws.run(name, *rest)

    assert (done.returncode, done.stdout) == (code, b"")
    assert message.replace("{}", str(folder)) in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_labels_that_were_left_out_are_said(ws, folder):
    with (folder / "boats" / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("q9\tmemory/a.md\t1\n")

    done = ws.run("eval", str(folder / "boats"), "--arm=keyword")

    assert done.returncode == 0
    assert "qrels.tsv:2: queries.jsonl has no question q9; left out" in done.stderr.decode()
