"""What we link and where it comes from: the rules of deny.toml, without a tool to compile first."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RULES = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
ALLOWED = frozenset(RULES["licenses"]["allow"])


@pytest.fixture(scope="module")
def crates():
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--all-features"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["packages"]


def permits(expression: str) -> bool:
    """Whether an SPDX expression can be met with the allowed licences alone."""
    tokens = re.findall(r"[()]|[^()\s]+(?:\s+WITH\s+[^()\s]+)?", expression.replace("/", " OR "))
    words = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    # Only True, False, and, or and brackets are left to evaluate.
    return bool(
        eval(" ".join(words.get(token, str(token in ALLOWED)) for token in tokens), {"__builtins__": {}})
    )


@pytest.mark.parametrize(
    ("expression", "permitted"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Unlicense/MIT", True),
        ("Apache-2.0 WITH LLVM-exception", True),
    ],
)
def test_licence_expressions(expression, permitted):
    assert permits(expression) is permitted


def test_every_crate_has_an_allowed_licence(crates):
    assert len(crates) > 50
    refused = {
        crate["name"]: crate["license"] for crate in crates if not permits(crate["license"] or "unknown")
    }

    assert refused == {}


def test_every_crate_comes_from_the_registry(crates):
    """No git revision and no path but our own."""
    elsewhere = [crate["name"] for crate in crates if not (crate["source"] or "").startswith("registry+")]

    assert elsewhere == ["memgrep"]


def test_the_lock_file_pins_by_hash():
    text = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    packages = re.findall(
        r"^[a-z][\w.-]*==\S+(?: ;[^\\]+)? \\\n    --hash=sha256:[0-9a-f]{64}", text, flags=re.MULTILINE
    )

    assert len(packages) == len(re.findall(r"^[a-z]", text, flags=re.MULTILINE)) > 20
