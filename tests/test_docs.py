"""What the documentation says is true: commands run, outputs are the ones shown, links lead somewhere.

A block marked `console` holds commands after `$ ` and what they print. It is run with a home of its own, so
neither the reader's settings nor keys count. A line `…` stands for any lines. `python tests/test_docs.py`
writes the real outputs into README.md.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "benches" / "README.md",
]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# What differs from run to run or day to day: times, sizes, and scores of notes that fade.
UNSTEADY = re.compile(r"\d+(?:\.\d+)? ?(?:ms|s|kB|MB)\b|\b[01]\.\d{2,3}\b")


def blocks(kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(README.read_text(encoding="utf-8")) if found == kind]


def environment(home: Path) -> dict[str, str]:
    """The commands of .venv, a home below `home`, and nothing of the person who runs this."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "OPENCLAW_STATE_DIR": str(home / "state"),
        "LANG": "C.UTF-8",
        "TZ": "Europe/Berlin",
    }


def run(block: str, home: Path) -> str:
    """The block as a terminal would show it. Commands of one block share a shell."""
    script = ["set -e", f"cd {home}"]
    for command in re.findall(r"^\$ (.*)$", block, flags=re.MULTILINE):
        script.append(f"printf '%s\\n' {shell_quote('$ ' + command)}")
        # What sets up and tests is run by whoever runs this test; here it has to exist.
        if target := re.match(r"make(?: ([a-z-]+))?$", command):
            script.append(f"make -n -C {ROOT} {target[1] or ''} >/dev/null")
        elif command != ". .venv/bin/activate":
            script.append(command)
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)], env=environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def steady(text: str) -> list[str]:
    # A longer number makes its column wider: so many spaces are as good as two.
    return [re.sub(" {2,}", "  ", UNSTEADY.sub("…", line).rstrip()) for line in text.strip().splitlines()]


def matches(shown: list[str], printed: list[str]) -> bool:
    """Equal line by line, where a line `…` stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and matches(shown[1:], printed[1:])


@pytest.fixture
def home(tmp_path):
    """A folder that looks like a checkout to the commands of README.md, with a home inside."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_there_is_something_to_check():
    assert blocks("console")
    assert blocks("python")
    assert len(DOCUMENTS) > 10


@pytest.mark.parametrize("block", blocks("console"))
def test_the_commands_of_readme_print_what_it_shows(block, home):
    assert matches(steady(block), steady(run(block, home))), run(block, home)


@pytest.mark.parametrize("block", blocks("python"))
def test_the_programs_of_readme_run(block, home):
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=home,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    shown = [line.partition("# > ")[2] for line in block.splitlines() if "# > " in line]
    assert steady("\n".join(shown)) == steady(done.stdout)


def test_every_make_target_that_is_named_exists():
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    for document in DOCUMENTS:
        named = set(re.findall(r"`make ([a-z-]+)`", document.read_text(encoding="utf-8")))
        assert named <= targets, f"{document}: {named - targets}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))

    assert listed == sorted(file.name for file in folder.glob("0*.md"))


def rewrite() -> None:
    """Writes what the commands really print into README.md."""

    def real(found: re.Match[str]) -> str:
        if found[1] != "console" or "…" in found[2]:
            return found[0]
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder, "examples"))
            return f"```console\n{run(found[2], Path(folder))}```"

    README.write_text(BLOCK.sub(real, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
