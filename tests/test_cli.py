"""The command: streams, exit codes, help; kind P of the cases."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from memgrep import tools
from memgrep.arguments import manual
from memgrep.testing import Answer as Scripted

ROOT = Path(__file__).resolve().parent.parent


def test_the_manual_is_current():
    """docs/cli.md says how to make it anew."""
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == manual()


@pytest.mark.parametrize("command", ["search", "status", "index", "get", "config", "models"])
def test_f134_json_is_one_document_and_the_rest_is_elsewhere(ws, command):
    ws.write("memory/a.md", "lantern\n")
    ws.write("memory/bad.md", b"\xa2 lantern\n")
    (ws.folder / "memory/link.md").symlink_to("a.md")
    arguments = {"search": ["lantern"], "get": ["memory/a.md"], "models": ["list"]}.get(command, [])

    done = ws.run(command, "--json", *arguments, env={"MEMGREP_PROVIDERR": "typo"})

    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr.decode().startswith("memgrep: ")


def test_f134_a_failure_is_a_document_too(ws, tmp_path):
    done = ws.run("get", "--json", "AGENTS.md")

    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "not-memory"
    assert b"not-memory" in done.stderr


def test_f135_a_search_ends_with_its_answer(ws, fake, remote):
    """New notes wait for a slow provider; the process does not."""
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index", **remote)
    for n in range(40):
        ws.write(f"memory/n{n}.md", f"kettle {n}\n")
    slow = Scripted(200)
    slow.delay = 30
    fake.decide = lambda texts, body: (
        slow if len(texts) > 1 or ("kettle" in texts[0] and len(texts[0]) > 8) else None
    )
    begun = time.monotonic()

    process = subprocess.Popen(
        ws.command("search", "--json", "lantern", **remote),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ws.environment(),
    )
    answer = process.communicate(timeout=25)[0]

    assert time.monotonic() - begun < 25
    assert json.loads(answer)["stale"] is True


@pytest.mark.parametrize("number", ["0", "-5", "1000000", "many", "1.5"])
def test_f136_a_number_out_of_range_is_refused_in_the_same_words(ws, number):
    done = ws.run("search", f"--max-results={number}", "lantern")
    with ws.memory() as memory, pytest.raises(ValueError, match="1 to 2000") as refused:
        tools.call(memory, "memory_search", {"query": "lantern", "maxResults": number})

    assert done.returncode == 2
    assert done.stderr.decode() == f"memgrep: error: {refused.value}\n"
    assert done.stdout == b""


@pytest.mark.parametrize("score", ["-0.1", "1.1", "high", "nan"])
def test_f136_a_score_is_between_0_and_1(ws, score):
    done = ws.run("search", f"--min-score={score}", "lantern")

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"minScore must be a number from 0 to 1" in done.stderr


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "POSIX"},
    ],
)
def test_f137_streams_are_utf8_whatever_the_locale(ws, locale):
    ws.write("memory/ü ß.md", "Überblick – 概要 🧭\n")

    document = ws.run("search", "--json", "Überblick – 概要", env=locale)
    text = ws.run("search", "Überblick – 概要", env=locale)
    page = ws.run("get", "memory/ü ß.md", env=locale)

    assert json.loads(document.stdout.decode("utf-8"))["results"][0]["path"] == "memory/ü ß.md"
    assert "Überblick – 概要 🧭" in text.stdout.decode("utf-8")
    assert page.stdout.decode("utf-8") == "Überblick – 概要 🧭\n"


def test_a_search_shows_where_how_good_and_what(ws):
    ws.write("memory/a.md", "the lantern\nneeds oil\n")

    shown = ws.run("search", "lantern").stdout.decode()

    place, *lines = shown.rstrip("\n").split("\n")
    assert place.startswith("memory/a.md#L1")
    assert "the lantern" in lines
    assert "\x1b" not in shown


def test_explain_shows_the_factors(ws):
    ws.write("memory/a.md", "the lantern\n")

    shown = ws.run("search", "--explain", "lantern").stdout.decode()
    document = ws.ran("search", "--explain", "lantern")

    assert "merged" in shown
    assert "× decay 1.000 × importance 1.000" in shown
    assert document["results"][0]["explanation"]["bm25"] > 0
    assert "explanation" not in ws.ran("search", "lantern")["results"][0]


def test_finding_nothing_is_no_failure(ws):
    ws.write("memory/a.md", "the lantern\n")

    done = ws.run("search", "kettle")

    assert (done.returncode, done.stdout) == (0, b"")
    assert b"nothing found" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["frobnicate"], 2),
        (["search"], 2),
        (["search", "--corpus=wiki", "x"], 2),
        (["index", "--set=chunking.tokens=many"], 2),
        (["index", "--set=chunkin.tokens=4"], 2),
        (["index", "--set=nothing"], 2),
        (["models", "rm"], 2),
        (["--help"], 0),
        (["search", "--help"], 0),
        (["--version"], 0),
    ],
)
def test_exit_codes(ws, arguments, code):
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "memgrep", *arguments], capture_output=True, cwd=ws.folder, timeout=60
    )

    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert (done.stderr if code else done.stdout) != b""


def test_settings_in_a_file_that_cannot_be_meant_fail_with_the_line(ws):
    ws.write(".memgrep.toml", "[query]\nmaxResults = 0\n")

    done = ws.run("search", "lantern")

    assert done.returncode == 1
    assert b".memgrep.toml:2" in done.stderr


def test_config_show_tells_origins_and_masks_secrets(ws):
    document = ws.ran("config", "show", remote__apiKey="sk-very-secret", query__maxResults=9)
    shown = ws.run("config", "show", remote__apiKey="sk-very-secret")

    assert document["query.maxResults"] == {"value": 9, "origin": "argument"}
    assert document["query.minScore"] == {"value": 0.35, "origin": "default"}
    assert "sk-very-secret" not in json.dumps(document)
    assert b"sk-very-secret" not in shown.stdout + shown.stderr


def test_a_closed_pipe_is_no_error(ws):
    ws.write("memory/a.md", "line\n" * 2000)
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        ws.command("get", "--lines=2000", "memory/a.md"), stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)

    assert (done.returncode, done.stderr.count(b"Traceback"), b"Exception" in done.stderr) == (141, 0, False)


def test_ctrl_c_says_what_is_kept(ws, fake, remote):
    """The first request is answered, the second hangs: what was paid for is in the store."""
    for n in range(300):
        ws.write(f"memory/n{n}.md", f"note number {n}\n")
    slow = Scripted(200)
    slow.delay = 60
    fake.max_items = None
    fake.decide = lambda texts, body: slow if fake.requests > 1 else None
    process = subprocess.Popen(
        ws.command("index", **remote),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ws.environment(),
        # Whoever runs the tests in the background has Ctrl-C switched off, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 30
    while fake.requests < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.3)

    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1].decode()

    assert process.returncode == 130
    assert "interrupted; kept: 300 notes" in said
    assert "Traceback" not in said
    kept = ws.ran("status", **remote)["vectors"]
    assert f"{kept} vectors" in said
    assert kept > 0


def test_models_that_are_not_there_are_said(ws):
    listed = ws.ran("models", "list")

    assert listed["installed"] == []
    assert "multilingual-e5-small" in [model["name"] for model in listed["known"]]
    assert ws.run("models", "rm", "nothing").returncode == 2
    checked = ws.run("models", "verify")
    assert (checked.returncode, b"no model is installed" in checked.stderr) == (0, True)
    assert ws.run("models", "pull", "/no/such/folder").returncode == 1


def test_a_setting_that_cannot_be_read_is_a_usage_error_without_its_text(ws):
    done = ws.run("config", "--set", "remote.headers=5SECRET5")

    assert done.returncode == 2
    assert b"remote.headers" in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"5SECRET5" not in done.stderr + done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_an_answer_that_cannot_be_written_is_a_failure_in_one_line(ws):
    ws.write("memory/a.md", "lantern\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            ws.command("search", "lantern"),
            env=ws.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )

    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_output_is_no_traceback(ws):
    ws.write("memory/a.md", "lantern\n")
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *ws.command("search", "lantern")]

    done = subprocess.run(shell, env=ws.environment(), stderr=subprocess.PIPE, check=False)

    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


def test_what_the_built_in_model_has_no_word_for_does_not_fail_the_run(ws):
    ws.write("memory/a.md", "lantern\n")
    ws.write("memory/b.md", "\U00012000\U00012001\n")

    report = ws.ran("index", provider="static")
    answer = ws.ran("search", "lantern", provider="static")

    assert (report["vectors"], report["failed"], report["pending"]) == (1, 1, 0)
    assert answer["mode"] == "hybrid"
    assert "warning" not in answer


def test_a_note_of_headings_alone_waits_for_no_vector(ws, fake, remote):
    ws.write("memory/a.md", "lantern\n")
    ws.write("memory/b.md", "# Only\n\n## Headings\n")
    ws.ran("index", **remote)

    assert "warning" not in ws.ran("search", "lantern", **remote)
