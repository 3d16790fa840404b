"""The first generation's settings resolve as they did there, but for the differences that are listed here."""

import json
import os
from pathlib import Path

import pytest
from memgrep.config import load
from memgrep.errors import ConfigError

SHARED = Path(os.environ.get("MEMGREP_SHARED") or Path(__file__).parents[2] / "shared")
GOLDEN = SHARED / "golden" / "openclaw-2026.3.13-config.json"

pytestmark = pytest.mark.skipif(
    not GOLDEN.is_file(), reason="the golden answers of the original are not at hand"
)

# Where the defaults are ours on purpose.
OURS = {
    # The names of the providers' models are the providers' business.
    "model": None,
    # Its own file: the original's has another schema (D10).
    "store.path": "state/memory/main.memgrep.sqlite",
    # The original's cache grows without end.
    "cache.maxEntries": 50_000,
    # D1, D3: measured.
    "query.hybrid.mmr.enabled": True,
    "query.hybrid.temporalDecay.enabled": "auto",
    "query.hybrid.vectorWeight": None,
    "query.hybrid.textWeight": None,
}

# Kept for OpenClaw's files, without a value here.
GONE = ("store.driver",)

# What the original's own check of the file refuses, before it comes to clamp it: so do we.
REFUSED = {
    "query.minScore": "found 3,",
    "query.hybrid.mmr.lambda": "found 7,",
    "chunking.tokens": "found 0,",
    "cache.maxEntries": "found 0.3,",
}


def cases():
    return json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"] if GOLDEN.is_file() else []


def flat(tree, prefix=""):
    """A tree by dotted keys."""
    found = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def read(written, folder):
    """The settings that these are in OpenClaw's own file."""
    (folder / "state").mkdir(exist_ok=True)
    file = folder / "openclaw.json"
    file.write_text(json.dumps({"agents": {"defaults": {"memorySearch": written}}}), encoding="utf-8")
    environ = {
        "HOME": str(folder),
        "OPENCLAW_STATE_DIR": str(folder / "state"),
        "OPENCLAW_CONFIG_PATH": str(file),
    }
    return load(workspace=folder, environ=environ, cwd=str(folder), platform="linux")


def refused(written):
    """The keys of a case that the original's check of the file would not have let through."""
    return {key for key, words in REFUSED.items() if key in written and words == f"found {written[key]},"}


def expected(case):
    """What the original resolves to, with our defaults in place of its own."""
    written, values = flat(case["memorySearch"]), flat(case["resolved"])
    for key in GONE:
        del values[key]
    for key, value in OURS.items():
        weight = key.endswith("Weight")
        weights = [written.get("query.hybrid.vectorWeight"), written.get("query.hybrid.textWeight")]
        if (weights in ([None, None], [0, 0])) if weight else (key not in written):
            values[key] = value
    return {key: round(value, 9) if isinstance(value, float) else value for key, value in values.items()}


def test_all_seventeen_are_here():
    assert len(cases()) == 17


@pytest.mark.parametrize("case", cases(), ids=lambda case: json.dumps(case["memorySearch"]))
def test_it_resolves_as_in_the_original(case, tmp_path):
    written = case["memorySearch"]
    if case["resolved"] is None:
        assert read(written, tmp_path).enabled is False
    elif wrong := refused(flat(written)):
        with pytest.raises(ConfigError) as caught:
            read(written, tmp_path)
        told = {
            problem.key.removeprefix("agents.defaults.memorySearch."): problem
            for problem in caught.value.problems
        }
        assert set(told) == wrong
        assert all(told[key].message.startswith(REFUSED[key]) for key in wrong)
    else:
        settings = read(written, tmp_path)
        wanted = expected(case)
        ours = {key: settings.values[key] for key in wanted}
        ours = {key: round(value, 9) if isinstance(value, float) else value for key, value in ours.items()}
        ours["sources"] = list(settings.sources)
        ours["store.path"] = os.path.relpath(settings.store.path, tmp_path)
        ours["extraPaths"] = [os.path.relpath(extra.path, tmp_path) for extra in settings.extra_paths]
        assert ours == wanted


def test_every_difference_is_met():
    """A difference that no case shows any more should leave the list."""
    met = set()
    for case in cases():
        met |= refused(flat(case["memorySearch"]))
        if case["resolved"]:
            resolved = flat(case["resolved"])
            met |= {key for key in OURS if resolved.get(key) != OURS[key]}

    assert met == {*REFUSED, *OURS}


def test_what_the_original_clamps_in_a_good_file_we_clamp_too(tmp_path):
    hybrid = {"candidateMultiplier": 99, "temporalDecay": {"halfLifeDays": 0.4}}
    settings = read({"query": {"hybrid": hybrid}, "chunking": {"tokens": 100, "overlap": 300}}, tmp_path)

    assert settings.query.hybrid.candidate_multiplier == 20
    assert settings.chunking.overlap == 99
    # The original makes this a whole day; half a day is a half-life here.
    assert settings.query.hybrid.temporal_decay.half_life_days == 0.4
