"""Local models: what is known of them, where they lie, how they get there.

A model is a folder with an ONNX graph and a `tokenizer.json`. What else has to be known (pooling, prompts,
window) stands in the files sentence-transformers writes beside them, or in `KNOWN`, or is the usual.

Nothing is downloaded but by `pull`, which the user has to ask for.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgrep.errors import ModelMissing, ProviderError, ProviderUnavailable

PROVIDER = "local"
DEFAULT = "multilingual-e5-small"
"""The only small model here that reads German, Chinese and Japanese as well as English."""

_MANIFEST = "memgrep-model.json"
_PART = ".part"
# Better first: a CPU is fastest with 8-bit weights. Graphs for a GPU or in fp16 are taken only by name.
_GRAPHS = ("model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx", "model_optimized.onnx", "model.onnx")
_SMALL_FILES = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
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
            File("tokenizer.json", "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0", 711_661),
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
            File("tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66", 711_396),
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
            File("tokenizer.json", "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39", 17_082_730),
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
            File("tokenizer.json", "4dda02faaf32bc91031dc8c88457ac272b00c1016cc679757d1c441b248b9c47", 20_323_312),
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
class Installed:
    """A model in our cache; `problems` only after `verify`."""

    name: str
    folder: Path
    revision: str
    size: int
    problems: tuple[str, ...] = ()


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
    """What `local.modelPath` or a model's name means: a known name, `hf:org/repo[/file][@revision]`, or a path.

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
    raise ModelMissing(PROVIDER, f'"{text}" is no model we know and no path', f"known: {names}; or hf:org/repo")


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
            raise ModelMissing(PROVIDER, f"{wanted.path} does not exist", "set local.modelPath to a model's folder")
        return read_folder(wanted.path, wanted.known, wanted.name)
    for folder in (cache / wanted.folder_name, *_hub_folders(wanted, environ)):
        if folder.is_dir() and _complete(folder, wanted):
            graph = _first_file(wanted)
            return read_folder(folder / graph if graph else folder, wanted.known, wanted.name)
    size = f" ({wanted.known.size / 1e6:.0f} MB)" if wanted.known else ""
    name = wanted.known.name if wanted.known else f"hf:{wanted.repo}"
    raise ModelMissing(PROVIDER, f"model {wanted.name} is not on this machine", f"memgrep models pull {name}{size}")


def read_folder(path: Path, known: Known | None = None, name: str = "") -> Model:
    """Reads what a model's folder (or one graph in it) says about itself."""
    graph = path if path.is_file() else _graph_in(path)
    root = next((folder for folder in (graph.parent, graph.parent.parent) if (folder / "tokenizer.json").is_file()), None)
    if root is None:
        raise ModelMissing(PROVIDER, f"{graph.parent} has no tokenizer.json", "put it beside the model's graph")
    known = known or _named_in(str(path))
    prompts = _json(root / "config_sentence_transformers.json").get("prompts") or {}
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


Download = Callable[[str, str, str, Path], None]
"""(repository, file, revision, folder): puts the file below the folder, going on where an earlier try stopped."""


def pull(
    wanted: Wanted,
    cache: Path,
    *,
    environ: Mapping[str, str] = os.environ,
    announce: Callable[[str], None] = lambda text: None,
    download: Download | None = None,
    plan: Callable[[Wanted], tuple[str, list[File]]] | None = None,
) -> Installed:
    """Downloads a model into our cache and checks every byte of it. Does nothing if it is there and whole.

    Raises:
        ProviderUnavailable: offline on purpose, not reachable, no room, or wrong bytes (which are thrown away).
    """
    if wanted.path is not None:
        raise ProviderUnavailable(PROVIDER, f"{wanted.path} is a path", "name a model or hf:org/repo")
    final = cache / wanted.folder_name
    if (final / _MANIFEST).is_file():
        done = verify(final)
        if not done.problems:
            return done
        announce(f"{final.name}: {done.problems[0]}; downloading it again")
        shutil.rmtree(final)
    for switch in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if environ.get(switch, "").strip().lower() in ("1", "true", "yes", "on"):
            raise ProviderUnavailable(PROVIDER, f"{switch} is set", "unset it to download a model")
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(final):
        if (final / _MANIFEST).is_file():
            return verify(final)
        if wanted.known and not wanted.file and wanted.revision == wanted.known.revision:
            revision, files = wanted.known.revision, list(wanted.known.files)
        else:
            revision, files = (plan or hub_plan)(wanted)
        _check_room(cache, files)
        total = sum(file.size for file in files)
        announce(f"{wanted.repo} at {revision[:12]}: {len(files)} files, {total / 1e6:.1f} MB")
        part = final.with_name(final.name + _PART)
        part.mkdir(exist_ok=True, mode=0o700)
        for file in files:
            (download or hub_download)(wanted.repo, file.path, revision, part)
            _check_file(part, file)
        shutil.rmtree(part / ".cache", ignore_errors=True)
        manifest = {
            "name": wanted.name,
            "repo": wanted.repo,
            "revision": revision,
            "files": {
                file.path: {"sha256": file.sha256 or sha256(part / file.path), "size": file.size} for file in files
            },
        }
        (part / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        os.replace(part, final)
    return verify(final)


def installed(cache: Path) -> list[Installed]:
    """The models in our cache, by name; half downloads are not models."""
    if not cache.is_dir():
        return []
    folders = (folder for folder in cache.iterdir() if (folder / _MANIFEST).is_file())
    return sorted((_described(folder) for folder in folders), key=lambda model: (model.name, model.revision))


def verify(folder: Path) -> Installed:
    """Reads every byte of a model in our cache and compares it with what was downloaded."""
    described = _described(folder)
    problems = []
    for path, want in _json(folder / _MANIFEST).get("files", {}).items():
        file = folder / path
        if not file.is_file():
            problems.append(f"{path} is missing")
        elif file.stat().st_size != want.get("size") or sha256(file) != want.get("sha256"):
            problems.append(f"{path} is damaged")
    return Installed(described.name, folder, described.revision, described.size, tuple(problems))


def remove(model: Installed) -> None:
    """Deletes a model from our cache, and nothing else: the folder must hold our manifest."""
    if not (model.folder / _MANIFEST).is_file():
        raise ProviderUnavailable(PROVIDER, f"{model.folder} is no model of ours", "delete it yourself if you want")
    shutil.rmtree(model.folder)


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hub_download(repo: str, file: str, revision: str, folder: Path) -> None:
    """`Download` from the Hugging Face hub."""
    hub = _hub()
    with _explained(hub, f"{repo}/{file}"):
        hub.hf_hub_download(repo, file, revision=revision, local_dir=folder)


def hub_plan(wanted: Wanted) -> tuple[str, list[File]]:
    """Which files of a repository make a model, as the hub describes them now: the commit, and the files."""
    hub = _hub()
    with _explained(hub, wanted.repo):
        info = hub.HfApi().model_info(wanted.repo, revision=wanted.revision, files_metadata=True)
    files = {
        entry.rfilename: File(entry.rfilename, entry.lfs.sha256 if entry.lfs else "", entry.size or 0)
        for entry in info.siblings
    }
    graph = wanted.file or next((name for name in _graph_names() if name in files), "")
    if graph not in files or "tokenizer.json" not in files:
        raise ProviderUnavailable(
            PROVIDER, f"{wanted.repo} holds no ONNX model with a tokenizer.json", "name the graph: hf:org/repo/file"
        )
    data = [name for name in files if name.startswith((f"{graph}_data", f"{graph}.data"))]
    small = [name for name in _SMALL_FILES if name in files]
    return info.sha, [files[name] for name in (graph, *data, "tokenizer.json", *small)]


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise ProviderUnavailable(
            PROVIDER, "huggingface-hub is not installed", "pip install 'memgrep[local]'"
        ) from error
    return huggingface_hub


@contextmanager
def _explained(hub: Any, what: str) -> Iterator[None]:
    """Errors of the hub's library as ours."""
    try:
        yield
    except ProviderError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines()
        said = lines[0] if lines else type(error).__name__
        remedy = "check the name and your network; what was loaded is kept, run it again to go on"
        if "gated" in str(error).lower() or "401" in said:
            remedy = "accept its licence on the hub and log in with: hf auth login"
        raise ProviderUnavailable(PROVIDER, f"{what}: {said[:200]}", remedy) from error


@contextmanager
def _alone(final: Path) -> Iterator[None]:
    """Only one process downloads a model; the others wait, and then find it."""
    try:
        from filelock import FileLock
    except ImportError as error:
        raise ProviderUnavailable(PROVIDER, "filelock is not installed", "pip install 'memgrep[local]'") from error
    with FileLock(final.with_name(final.name + ".lock")):
        yield


def _check_room(cache: Path, files: list[File]) -> None:
    need = int(sum(file.size for file in files) * 1.05)
    free = shutil.disk_usage(cache).free
    if free < need:
        raise ProviderUnavailable(
            PROVIDER,
            f"{need / 1e6:.0f} MB are needed, {free / 1e6:.0f} MB are free at {cache}",
            "make room, or set local.modelCacheDir",
        )


def _check_file(folder: Path, file: File) -> None:
    path = folder / file.path
    size = path.stat().st_size if path.is_file() else -1
    got = sha256(path) if size == file.size else ""
    if size != file.size or (file.sha256 and got != file.sha256):
        path.unlink(missing_ok=True)
        found = f"SHA-256 {got}" if got else f"{size} bytes"
        raise ProviderUnavailable(
            PROVIDER, f"{file.path}: not the file we know ({found}); thrown away", "try again, or another network"
        )


def _described(folder: Path) -> Installed:
    manifest = _json(folder / _MANIFEST)
    size = sum(file.get("size", 0) for file in manifest.get("files", {}).values())
    return Installed(manifest.get("name", folder.name), folder, manifest.get("revision", ""), size)


def _first_file(wanted: Wanted) -> str:
    if wanted.file:
        return wanted.file
    return wanted.known.files[0].path if wanted.known and wanted.repo == wanted.known.repo else ""


def _complete(folder: Path, wanted: Wanted) -> bool:
    if wanted.known and wanted.repo == wanted.known.repo and not wanted.file:
        return all((folder / file.path).is_file() for file in wanted.known.files)
    return not wanted.file or (folder / wanted.file).is_file()


def _hub_folders(wanted: Wanted, environ: Mapping[str, str]) -> list[Path]:
    """Where Hugging Face's own cache would have the model. Looked up by hand: its library may ask the network."""
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


def _graph_names() -> Iterator[str]:
    for name in _GRAPHS:
        yield f"onnx/{name}"
        yield name


def _graph_in(folder: Path) -> Path:
    for name in _graph_names():
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
    """The known model a path seems to hold: pooling and prompts are worth that guess, wrong ones hurt in silence."""
    folded = path.casefold()
    fitting = [row for row in _ROWS if row.name.casefold() in folded]
    return max(fitting, key=lambda row: len(row.name), default=None)


def _pooling(root: Path) -> str | None:
    says = _json(root / "1_Pooling" / "config.json")
    modes = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last"}
    on = [mode for key, mode in modes.items() if says.get(key)]
    if says.get("pooling_mode") in ("mean", "cls", "lasttoken"):
        on = [says["pooling_mode"].removesuffix("token")]
    other = [key for key, value in says.items() if key.startswith("pooling_mode_") and value and key not in modes]
    if other or len(on) > 1:
        raise ProviderUnavailable(PROVIDER, f"{root}: pooling {', '.join(other or on)} is not supported", "")
    return on[0] if on else None


def _window(root: Path, known: Known | None) -> int:
    says = _json(root / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(says, int):
        return says
    if known:
        return known.window
    says = _json(root / "tokenizer_config.json").get("model_max_length")
    # transformers writes 10^30 for "no limit known".
    if isinstance(says, int) and says < 1_000_000:
        return says
    config = _json(root / "config.json")
    says = config.get("max_position_embeddings")
    if isinstance(says, int):
        # RoBERTa and its kin count positions from 2.
        return says - 2 if "roberta" in str(config.get("model_type")) else says
    return _USUAL_WINDOW


def _json(path: Path) -> dict[str, Any]:
    try:
        says = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelMissing(PROVIDER, f"{path} cannot be read: {error}", "download the model again") from error
    return says if isinstance(says, dict) else {}
