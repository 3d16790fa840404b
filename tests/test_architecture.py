"""The arrows of both languages, compared as equality: ARCHITECTURE.md is true or this fails.

A module or arrow that is not in the table fails, and so does one that is in the table and gone. To add one,
write it down here, and there.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUST = ROOT / "rust"
PYTHON = ROOT / "python" / "memgrep"

RUST_ARROWS = {
    "calendar": "",
    "chunk": "note text",
    "embed": "error",
    "error": "",
    "index": "chunk embed error lexical note rank scan snippet store text vector when",
    "lexical": "error text",
    "note": "",
    "python": "chunk embed error index rank scan store syntax vector",
    "rank": "calendar error vector",
    "scan": "error",
    "snippet": "text",
    "store": "chunk error scan text vector",
    "syntax": "error",
    "text": "",
    "vector": "error",
    "when": "calendar text",
}

# The crates that decide something, and the only modules that name them.
RUST_CRATES = {
    "ignore": "scan",
    "memmap2": "embed lexical vector",
    "pyo3": "python",
    "rusqlite": "index store vector",
    "sqlite_vec": "vector",
    "tantivy": "lexical",
    "thiserror": "error",
    "toml_edit": "syntax",
}
# Plumbing, free for all.
RUST_PLUMBING = {
    "blake3",
    "crc32fast",
    "memchr",
    "rustc_hash",
    "unicode_normalization",
    "unicode_segmentation",
}

PYTHON_ARROWS = {
    "__init__": "asynchronous config errors files hits memory sync tools",
    "__main__": "cli",
    "arguments": "__init__",
    "asynchronous": "config files hits memory sync",
    "cli": "arguments config errors evaluation local_models memory printable show terminal tools",
    "config": "_core errors",
    "embeddings": "_core config errors",
    "errors": "printable",
    "evaluation": "config embeddings errors hits memory printable records search terminal",
    "files": "errors records",
    "hits": "records",
    "local_models": "config embeddings printable terminal",
    "memory": "_core config embeddings errors files hits printable provider search status sync upkeep workspace",
    "printable": "",
    "provider": "config embeddings errors",
    "records": "",
    "search": "_core config embeddings hits records",
    "show": "config hits printable sync terminal",
    "status": "_core config errors printable provider sync workspace",
    "sync": "_core config embeddings errors records workspace",
    "terminal": "printable",
    "testing": "embeddings",
    "tools": "errors files hits memory records search",
    "upkeep": "_core config embeddings errors printable provider sync workspace",
    "workspace": "_core config errors hits printable",
}

# Libraries from outside the standard library, and the only modules that import them.
PYTHON_LIBRARIES = {
    "filelock": "embeddings.download",
    "httpx2": "embeddings.http",
    "huggingface_hub": "embeddings.download",
    "matplotlib": "evaluation.plot",
    "numpy": "embeddings.onnx evaluation.bootstrap evaluation.plot",
    "onnxruntime": "embeddings.onnx",
    "tokenizers": "embeddings.onnx",
}

# What the core must not know: today's date, the environment, the network, the home directory.
WORLD = re.compile(
    r"SystemTime::now|std::env\b|\benv::(?:var|args|current_dir)|std::net\b|home_dir|TcpStream"
)


def arrows(table: dict[str, str]) -> dict[str, set[str]]:
    return {module: set(targets.split()) for module, targets in table.items()}


def code(file: Path) -> str:
    """A Rust file without comments and without its tests, which stand last."""
    text = file.read_text(encoding="utf-8")
    text = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(r"//.*", "", text)


def rust_files() -> Iterator[tuple[str, Path]]:
    """Every Rust file with the module it belongs to: a folder is one module. Files of tests are left out."""
    for file in sorted(RUST.rglob("*.rs")):
        if file != RUST / "lib.rs" and file.stem != "tests":
            yield file.relative_to(RUST).parts[0].removesuffix(".rs"), file


def rust_names(text: str, depth: int) -> set[str]:
    """Modules that `text` reaches by `crate::`, grouped or not, or by going up `depth` times."""
    names = set(re.findall(r"\bcrate::(\w+)", text))
    names |= set(re.findall(rf"\b{'super::' * depth}(\w+)", text))
    for group in re.findall(r"\bcrate::\{(.*?)\};", text, flags=re.DOTALL):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group)))
    return names


def rust_imports() -> dict[str, set[str]]:
    modules = {module for module, _ in rust_files()}
    found: dict[str, set[str]] = {module: set() for module in modules}
    for module, file in rust_files():
        depth = len(file.relative_to(RUST).parts) - (file.name == "mod.rs")
        found[module] |= rust_names(code(file), depth) & modules - {module}
    return found


def python_module(name: str) -> str:
    """`embeddings.http` and `embeddings` are one module, `embeddings`."""
    return name.split(".")[0]


def python_imports() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Arrows between our modules; libraries by the modules that import them."""
    ours: dict[str, set[str]] = {}
    libraries: dict[str, set[str]] = {}
    for file in sorted([*PYTHON.rglob("*.py"), *PYTHON.rglob("*.pyi")]):
        parts = file.relative_to(PYTHON).with_suffix("").parts
        if parts[0] == "_core":
            continue
        module = parts[0]
        ours.setdefault(module, set())
        for name in imported(ast.parse(file.read_text(encoding="utf-8")), ("memgrep", *parts)):
            top, _, rest = name.partition(".")
            if top == "memgrep":
                ours[module] |= {python_module(rest)} - {module} if rest else {"__init__"}
            elif top not in sys.stdlib_module_names:
                libraries.setdefault(top, set()).add(".".join(parts))
    return ours, libraries


def imported(tree: ast.AST, here: tuple[str, ...]) -> Iterator[str]:
    """Full names of everything imported, at the top and inside of functions."""
    submodules = {file.stem for file in PYTHON.iterdir()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: len(here) - node.level]) if node.level else ""
            source = ".".join(filter(None, [base, node.module]))
            if source == "memgrep":
                # `from memgrep import x` is an arrow to module x, or to the package itself.
                yield from (
                    f"memgrep.{alias.name}" if alias.name in submodules else "memgrep" for alias in node.names
                )
            else:
                yield source


def test_the_search_for_imports_saw_something():
    """An empty folder or a pattern that matches nothing would let everything else pass."""
    assert len(list(rust_files())) >= 15
    assert "error" in rust_imports()["scan"]
    ours, _ = python_imports()
    assert len(ours) >= len(PYTHON_ARROWS) > 0


@pytest.mark.parametrize(
    ("text", "depth", "names"),
    [
        ("use crate::error::{Error, Result};", 1, {"error"}),
        ("use crate::{error::{Error, Result}, text};", 1, {"error", "text"}),
        ("use crate::{\n    error::Error,\n    rank::{self, mmr},\n};", 1, {"error", "rank"}),
        ("let x = crate::text::token_set(y);", 1, {"text"}),
        ("use super::error;", 1, {"error"}),
        ("use super::super::text;", 2, {"text"}),
    ],
)
def test_every_way_to_name_a_module_is_seen(text, depth, names):
    assert rust_names(text, depth) == names


def test_rust_arrows():
    assert rust_imports() == arrows(RUST_ARROWS)


def test_python_arrows():
    ours, _ = python_imports()

    assert ours == arrows(PYTHON_ARROWS)


def test_libraries_have_one_door():
    _, libraries = python_imports()

    assert libraries == arrows(PYTHON_LIBRARIES)


def users(crate: str) -> set[str]:
    named = re.compile(rf"(?<![\w:]){crate}(?:::|\b(?=\s*[;{{]))")
    return {module for module, file in rust_files() if named.search(code(file))}


def test_crates_have_one_door():
    """tantivy and SQL stay below `index`; only the binding names PyO3."""
    assert {crate: users(crate) for crate in RUST_CRATES} == arrows(RUST_CRATES)


def test_every_crate_of_the_manifest_is_in_a_table_and_used():
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))

    assert {name.replace("-", "_") for name in manifest["dependencies"]} == RUST_CRATES.keys() | RUST_PLUMBING
    assert [crate for crate in RUST_PLUMBING if not users(crate)] == []


@pytest.mark.parametrize(
    "file", [file for _, file in rust_files()], ids=lambda file: str(file.relative_to(RUST))
)
def test_the_core_knows_nothing_of_the_world(file):
    """Dates, paths and settings are arguments: the ranking is a function."""
    assert WORLD.findall(code(file)) == []


def test_architecture_md_lists_every_module():
    """Each module of both languages has its row in ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([\w/.]+)` \|", text, flags=re.MULTILINE))
    rust = {f"rust/{module}" for module in RUST_ARROWS}
    python = {f"python/{module}" for module in PYTHON_ARROWS}

    assert rows == rust | python
