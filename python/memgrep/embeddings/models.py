"""Local models: what is known of them, and where they lie.

A model is a folder with an ONNX graph and a `tokenizer.json`. What else has to be known (pooling, prompts,
window) stands in the files sentence-transformers writes beside them, or in `KNOWN`, or is the usual. Nothing
here touches the network; `download` does, when it is asked to.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgrep.errors import ModelMissing, ProviderUnavailable

PROVIDER = "local"
DEFAULT = "multilingual-e5-small"
"""The only small model here that reads German, Chinese and Japanese as well as English."""

# Better first: a CPU is fastest with 8-bit weights. Graphs for a GPU or in fp16 are taken only by name.
_GRAPHS = (
    "model_quantized.onnx",
    "model_int8.onnx",
    "model_uint8.onnx",
    "model_optimized.onnx",
    "model.onnx",
)
_USUAL_WINDOW = 512


@dataclass(frozen=True, slots=True)
class File:
    """A file of a model: path in its repository, SHA-256 in hex, bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Known:
    """A model we know by name, pinned to a revision.

    `pooling` is mean, cls or output (the graph pools); `window` counts tokens, special ones included.
    `cuts` are the lengths its vectors may be cut to (Matryoshka). `origin` is the repository the model comes
    from, where `repo` only holds its ONNX form.
    """

    name: str
    origin: str
    repo: str
    revision: str
    files: tuple[File, ...]
    licence: str
    dims: int
    window: int
    pooling: str
    query_prompt: str = ""
    document_prompt: str = ""
    cuts: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.files)


_ROWS = (
    Known(
        name="all-MiniLM-L6-v2",
        origin="sentence-transformers/all-MiniLM-L6-v2",
        repo="Xenova/all-MiniLM-L6-v2",
        revision="751bff37182d3f1213fa05d7196b954e230abad9",
        files=(
            File(
                "onnx/model_quantized.onnx",
                "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
                22_972_370,
            ),
            File(
                "tokenizer.json", "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0", 711_661
            ),
        ),
        licence="Apache-2.0",
        dims=384,
        window=256,
        pooling="mean",
    ),
    Known(
        name="bge-small-en-v1.5",
        origin="BAAI/bge-small-en-v1.5",
        repo="Xenova/bge-small-en-v1.5",
        revision="ea104dacec62c0de699686887e3f920caeb4f3e3",
        files=(
            File(
                "onnx/model_quantized.onnx",
                "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
                34_014_426,
            ),
            File(
                "tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66", 711_396
            ),
        ),
        licence="MIT",
        dims=384,
        window=512,
        pooling="cls",
        query_prompt="Represent this sentence for searching relevant passages: ",
    ),
    Known(
        name="multilingual-e5-small",
        origin="intfloat/multilingual-e5-small",
        repo="Xenova/multilingual-e5-small",
        revision="761b726dd34fb83930e26aab4e9ac3899aa1fa78",
        files=(
            File(
                "onnx/model_quantized.onnx",
                "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
                118_308_185,
            ),
            File(
                "tokenizer.json",
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
                17_082_730,
            ),
        ),
        licence="MIT",
        dims=384,
        window=512,
        pooling="mean",
        query_prompt="query: ",
        document_prompt="passage: ",
    ),
    Known(
        name="embeddinggemma-300m",
        origin="google/embeddinggemma-300m",
        repo="onnx-community/embeddinggemma-300m-ONNX",
        revision="5090578d9565bb06545b4552f76e6bc2c93e4a66",
        files=(
            File(
                "onnx/model_quantized.onnx",
                "172efde319fe1542dc41f31be6154910b05b78f7a861c265c4600eec906bd6d8",
                567_874,
            ),
            # The graph names its weights by this very file name.
            File(
                "onnx/model_quantized.onnx_data",
                "705626e28e4c23c82ade34566b4197d97f534c12275fa406dfb71e9937d388c0",
                308_890_624,
            ),
            File(
                "tokenizer.json",
                "4dda02faaf32bc91031dc8c88457ac272b00c1016cc679757d1c441b248b9c47",
                20_323_312,
            ),
        ),
        licence="Gemma Terms of Use",
        dims=768,
        window=2048,
        pooling="output",
        query_prompt="task: search result | query: ",
        document_prompt="title: none | text: ",
        cuts=(512, 256, 128),
    ),
)
KNOWN: Mapping[str, Known] = {row.name: row for row in _ROWS}


@dataclass(frozen=True, slots=True)
class Model:
    """A model on disk, ready to be loaded. `pooling` and `dims` None: the graph decides."""

    name: str
    graph: Path
    tokenizer: Path
    pooling: str | None
    query_prompt: str
    document_prompt: str
    window: int
    dims: int | None
    cuts: tuple[int, ...] = ()

    def digest(self) -> str:
        """What tells this model's files from any other's, wherever they lie.

        Samples of the large files are enough for that, and a start does not wait for 300 MB to be read;
        damage is the business of `verify`.
        """
        digest = hashlib.sha256()
        for path in (self.graph, *_external(self.graph), self.tokenizer):
            size = path.stat().st_size
            digest.update(f"{size}:".encode())
            with path.open("rb") as file:
                for part in range(17):
                    file.seek(max(0, (size - 65_536) * part // 16))
                    digest.update(file.read(65_536))
        return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as the user names it: a path, or a repository with a revision and perhaps one file of it."""

    name: str
    path: Path | None = None
    repo: str = ""
    revision: str | None = None
    file: str = ""
    known: Known | None = None

    @property
    def folder_name(self) -> str:
        """Its folder in our cache. Its own form of ONNX graph, its own folder."""
        mark = f"#{self.file.replace('/', '--')}" if self.file else ""
        return f"{self.repo.replace('/', '--')}@{self.revision or 'main'}{mark}"


def parse(text: str | None) -> Wanted:
    """What the user means: a known name, `hf:org/repo[/file][@revision]`, or a path.

    Raises:
        ModelMissing: it is none of these.
    """
    text = (text or DEFAULT).strip()
    known = by_name(text)
    if known:
        return Wanted(known.name, repo=known.repo, revision=known.revision, known=known)
    if text.startswith("hf:"):
        form = r"hf:([\w.-]+/[\w.-]+)(?:/([\w./-]+?))?(?:@([\w./-]+))?"
        match = re.fullmatch(form, text)
        if not match or ".." in text:
            raise ModelMissing(PROVIDER, f"{text} is no model", "write hf:org/repo[/file][@revision]")
        repo, file, revision = match.groups()
        found = next((row for row in _ROWS if repo == row.repo and not file), None)
        if found and revision in (None, found.revision):
            return Wanted(found.name, repo=repo, revision=found.revision, known=found)
        return Wanted(repo, repo=repo, revision=revision, file=file or "", known=_named_in(repo))
    if os.path.isabs(text) or os.sep in text or os.path.exists(text):
        path = Path(text)
        return Wanted(path.name, path=path, known=_named_in(str(path)))
    names = ", ".join(KNOWN)
    raise ModelMissing(
        PROVIDER, f'"{text}" is no model we know and no path', f"known: {names}; or hf:org/repo"
    )


def by_name(name: str) -> Known | None:
    """The known model of this name or repository."""
    folded = name.casefold()
    return next((row for row in _ROWS if folded in (row.name.casefold(), row.origin.casefold())), None)


def locate(wanted: Wanted, cache: Path, environ: Mapping[str, str] = os.environ) -> Model:
    """Finds a model on disk: the path that was given, else our cache, else Hugging Face's. Never the network.

    Raises:
        ModelMissing: it is not there; the remedy says how to get it.
    """
    if wanted.path is not None:
        if not wanted.path.exists():
            raise ModelMissing(
                PROVIDER, f"{wanted.path} does not exist", "set local.modelPath to a model's folder"
            )
        return read_folder(wanted.path, wanted.known, wanted.name)
    for folder in (cache / wanted.folder_name, *_hub_folders(wanted, environ)):
        if folder.is_dir() and _complete(folder, wanted):
            graph = _first_file(wanted)
            return read_folder(folder / graph if graph else folder, wanted.known, wanted.name)
    size = f" ({wanted.known.size / 1e6:.0f} MB)" if wanted.known else ""
    name = wanted.known.name if wanted.known else f"hf:{wanted.repo}"
    raise ModelMissing(
        PROVIDER, f"model {wanted.name} is not on this machine", f"memgrep models pull {name}{size}"
    )


def read_folder(path: Path, known: Known | None = None, name: str = "") -> Model:
    """Reads what a model's folder (or one graph in it) says about itself."""
    graph = path if path.is_file() else _graph_in(path)
    root = next(
        (folder for folder in (graph.parent, graph.parent.parent) if (folder / "tokenizer.json").is_file()),
        None,
    )
    if root is None:
        raise ModelMissing(
            PROVIDER, f"{graph.parent} has no tokenizer.json", "put it beside the model's graph"
        )
    known = known or _named_in(str(path))
    prompts = read_json(root / "config_sentence_transformers.json").get("prompts") or {}
    own_query = prompts.get("query")
    own_document = next((prompts[key] for key in ("document", "passage") if prompts.get(key)), None)
    return Model(
        name=name or (known.name if known else root.name),
        graph=graph,
        tokenizer=root / "tokenizer.json",
        pooling=_pooling(root) or (known.pooling if known else None),
        query_prompt=own_query or (known.query_prompt if known else ""),
        document_prompt=own_document or (known.document_prompt if known else ""),
        window=_window(root, known),
        dims=known.dims if known else None,
        cuts=known.cuts if known else (),
    )


def _first_file(wanted: Wanted) -> str:
    if wanted.file:
        return wanted.file
    return wanted.known.files[0].path if wanted.known and wanted.repo == wanted.known.repo else ""


def _complete(folder: Path, wanted: Wanted) -> bool:
    if wanted.known and wanted.repo == wanted.known.repo and not wanted.file:
        return all((folder / file.path).is_file() for file in wanted.known.files)
    return not wanted.file or (folder / wanted.file).is_file()


def _hub_folders(wanted: Wanted, environ: Mapping[str, str]) -> list[Path]:
    """Where Hugging Face's own cache would have it. Looked up by hand: its library may ask the network."""
    root = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE")
    if not root:
        home = environ.get("HF_HOME")
        base = environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        root = os.path.join(home or os.path.join(base, "huggingface"), "hub")
    folder = Path(os.path.expanduser(root)) / f"models--{wanted.repo.replace('/', '--')}"
    revision = wanted.revision or "main"
    reference = folder / "refs" / revision
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else revision
    return [folder / "snapshots" / commit]


def graph_names() -> Iterator[str]:
    for name in _GRAPHS:
        yield f"onnx/{name}"
        yield name


def _graph_in(folder: Path) -> Path:
    for name in graph_names():
        if (folder / name).is_file():
            return folder / name
    graphs = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(graphs) == 1:
        return graphs[0]
    what = "several ONNX graphs" if graphs else "no ONNX graph"
    raise ModelMissing(PROVIDER, f"{folder} holds {what}", "set local.modelPath to the .onnx file itself")


def _external(graph: Path) -> list[Path]:
    """Files with a graph's weights, by the names exporters give them."""
    return sorted(path for path in graph.parent.glob(f"{graph.name}*") if path != graph)


def _named_in(path: str) -> Known | None:
    """The known model a path seems to hold: wrong pooling or prompts would hurt in silence."""
    folded = path.casefold()
    fitting = [row for row in _ROWS if row.name.casefold() in folded]
    return max(fitting, key=lambda row: len(row.name), default=None)


def _pooling(root: Path) -> str | None:
    says = read_json(root / "1_Pooling" / "config.json")
    modes = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
        "pooling_mode_lasttoken": "last",
    }
    on = [mode for key, mode in modes.items() if says.get(key)]
    if says.get("pooling_mode") in ("mean", "cls", "lasttoken"):
        on = [says["pooling_mode"].removesuffix("token")]
    other = [
        key for key, value in says.items() if key.startswith("pooling_mode_") and value and key not in modes
    ]
    if other or len(on) > 1:
        raise ProviderUnavailable(PROVIDER, f"{root}: pooling {', '.join(other or on)} is not supported", "")
    return on[0] if on else None


def _window(root: Path, known: Known | None) -> int:
    says = read_json(root / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(says, int):
        return says
    if known:
        return known.window
    says = read_json(root / "tokenizer_config.json").get("model_max_length")
    # transformers writes 10^30 for "no limit known".
    if isinstance(says, int) and says < 1_000_000:
        return says
    config = read_json(root / "config.json")
    says = config.get("max_position_embeddings")
    if isinstance(says, int):
        # RoBERTa and its kin count positions from 2.
        return says - 2 if "roberta" in str(config.get("model_type")) else says
    return _USUAL_WINDOW


def read_json(path: Path) -> dict[str, Any]:
    try:
        says = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelMissing(PROVIDER, f"{path} cannot be read: {error}", "download the model again") from error
    return says if isinstance(says, dict) else {}
