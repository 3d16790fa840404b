"""docs/configuration.md has every key with its default and what is allowed, as the code has them."""

import re
from pathlib import Path

import pytest
from memgrep.config import KEYS, load
from memgrep.config.keys import ENTRY, OPENCLAW_ONLY
from memgrep.config.kinds import node_of

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"
CELL = re.compile(r"(?<!\\)\|")


def rows(section):
    """The tables of a section: key → the cells after it, and whether the key is marked."""
    text = PAGE.read_text(encoding="utf-8")
    (body,) = re.findall(rf"^##+ {section}\n(.*?)(?=^## |\Z)", text, re.S | re.M)
    found = {}
    for line in body.splitlines():
        if line.startswith("| `"):
            key, *cells = (cell.strip().replace("\\|", "|") for cell in CELL.split(line)[1:-1])
            name, mark = re.fullmatch(r"`(.+)`( ◦)?", key).groups()
            assert name not in found, f"{name} stands there twice"
            found[name] = (bool(mark), *cells)
    return found


def documented(key):
    """A key's default as the page writes it."""
    if key.told:
        return key.told
    if key.default is None:
        return "unset"
    if isinstance(key.default, bool):
        return str(key.default).lower()
    if isinstance(key.default, tuple):
        return "[" + ", ".join(f'"{item}"' for item in key.default) + "]"
    return f"{key.default:g}" if isinstance(key.default, float) else str(key.default)


def test_every_key_is_documented_with_its_default_and_its_range():
    told = {name: row for name, row in rows("Keys").items() if "<id>" not in name}
    page = {name: (mark, default.strip("`"), said) for name, (mark, default, said, _) in told.items()}

    assert page == {name: (key.notes, documented(key), key.kind.said) for name, key in KEYS.items()}
    assert all(len(meaning) > 10 for *_, meaning in told.values())


def test_the_keys_of_an_entry_are_documented():
    told = {name: cells[1] for name, cells in rows("Endpoints of your own").items()}

    assert told == {f"models.providers.<id>.{part}": kind.said for part, kind in ENTRY.items()}


def test_keys_without_effect_are_documented():
    told = {name: cells[1] for name, cells in rows("Keys that only OpenClaw uses").items()}

    assert told == {name: kind.said for name, kind in OPENCLAW_ONLY.items()}


def test_the_example_is_good(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    file = tmp_path / ".config" / "memgrep" / "memgrep.toml"
    file.parent.mkdir(parents=True)
    file.write_text(example, encoding="utf-8")

    settings = load(environ={"HOME": str(tmp_path), "LAB_KEY": "k"}, cwd=str(tmp_path), platform="linux")

    assert (settings.provider, settings.query.max_results, settings.citations) == ("voyage", 8, "on")
    assert settings.endpoint("lab").api_key.reveal() == "k"


# Their defaults are in the form that is used, not in the one that is written.
WORKED_OUT = ("memory.qmd.scope", "memory.qmd.update.interval", "memory.qmd.update.embedInterval")
WRITTEN = [key for name, key in KEYS.items() if key.default is not None and name not in WORKED_OUT]


@pytest.mark.parametrize("key", WRITTEN, ids=lambda key: key.name)
def test_a_default_is_allowed_by_its_own_rule(key):
    assert key.kind.take(node_of(key.default)) == key.default
