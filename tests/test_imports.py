"""Start-up is a feature: a question by words loads the core and little else."""

import json
import os
import subprocess
import sys

import pytest

# CPU milliseconds above a bare interpreter, where they were measured, stand in docs/decisions/0007.
TOO_DEAR = {
    "asyncio",
    "click",
    "dataclasses",
    "email",
    "http",
    "httpx2",
    "huggingface_hub",
    "inspect",
    "logging",
    "multiprocessing",
    "numpy",
    "onnxruntime",
    "pydantic",
    "rich",
    "sqlite3",
    "ssl",
    "tokenizers",
    "typing",
    "unittest",
    "urllib.request",
}

PROBE = """
import json, sys
from memgrep.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as stop:
    status = stop.code
print("\\n" + json.dumps({"status": status or 0, "modules": sorted(sys.modules)}))
"""


def loaded(environment, *arguments):
    """Modules of a fresh interpreter (without site packages' start-up hooks) after a command."""
    command = [sys.executable, "-c", PROBE, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    result = json.loads(run.stdout.splitlines()[-1])
    assert result["status"] == 0, run.stdout + run.stderr
    return set(result["modules"])


@pytest.fixture
def environment(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("- The router is at 192.168.10.1\n", encoding="utf-8")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "OPENCLAW_STATE_DIR": str(tmp_path / "state"),
        "MEMGREP_WORKSPACE": str(notes),
        "MEMGREP_PROVIDER": "none",
    }


def bare(environment):
    run = subprocess.run(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sorted(sys.modules)))"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(run.stdout))


def test_the_probe_sees_modules(environment):
    seen = loaded(environment, "search", "router")

    assert {"memgrep", "memgrep._core", "memgrep.cli"} <= seen


@pytest.mark.parametrize(
    "arguments", [("index",), ("search", "router"), ("search", "router", "--json"), ("status",)]
)
def test_the_keyword_path_loads_nothing_dear(environment, arguments):
    loaded(environment, "index")

    found = loaded(environment, *arguments) - bare(environment)

    assert found & TOO_DEAR == set()


def test_importing_the_package_loads_nothing_dear(environment):
    run = subprocess.run(
        [sys.executable, "-c", "import json, sys, memgrep; print(json.dumps(sorted(sys.modules)))"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert (set(json.loads(run.stdout)) - bare(environment)) & TOO_DEAR == set()
