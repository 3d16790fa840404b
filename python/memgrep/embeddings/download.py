"""How local models get here: downloaded when the user asks, pinned, checked byte by byte; listed, deleted.

A download goes into a folder beside its place and is moved there when it is whole, so that a model is either
there or not. An interrupted one goes on where it stopped.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgrep.embeddings.models import PROVIDER, File, Wanted, graph_names, read_json
from memgrep.errors import ProviderError, ProviderUnavailable

_MANIFEST = "memgrep-model.json"
_PART = ".part"
_SMALL_FILES = (
    "config.json",
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
)


@dataclass(frozen=True, slots=True)
class Installed:
    """A model in our cache; `problems` only after `verify`."""

    name: str
    folder: Path
    revision: str
    size: int
    problems: tuple[str, ...] = ()


Download = Callable[[str, str, str, Path], None]
"""(repository, file, revision, folder): puts the file below the folder, going on where a try stopped."""


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
        ProviderUnavailable: offline on purpose, not reachable, no room, or wrong bytes (thrown away).
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
                file.path: {"sha256": file.sha256 or sha256(part / file.path), "size": file.size}
                for file in files
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
    for path, want in read_json(folder / _MANIFEST).get("files", {}).items():
        file = folder / path
        if not file.is_file():
            problems.append(f"{path} is missing")
        elif file.stat().st_size != want.get("size") or sha256(file) != want.get("sha256"):
            problems.append(f"{path} is damaged")
    return Installed(described.name, folder, described.revision, described.size, tuple(problems))


def remove(model: Installed) -> None:
    """Deletes a model from our cache, and nothing else: the folder must hold our manifest."""
    if not (model.folder / _MANIFEST).is_file():
        raise ProviderUnavailable(
            PROVIDER, f"{model.folder} is no model of ours", "delete it yourself if you want"
        )
    shutil.rmtree(model.folder)


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hub_download(repo: str, file: str, revision: str, folder: Path) -> None:
    """`Download` from the Hugging Face hub."""
    hub = _hub()
    with _explained(f"{repo}/{file}"):
        hub.hf_hub_download(repo, file, revision=revision, local_dir=folder, endpoint=_endpoint())


def hub_plan(wanted: Wanted) -> tuple[str, list[File]]:
    """Which files of a repository make a model, as the hub describes them now: the commit, and the files."""
    hub = _hub()
    with _explained(wanted.repo):
        info = hub.HfApi(endpoint=_endpoint()).model_info(
            wanted.repo, revision=wanted.revision, files_metadata=True
        )
    files = {
        entry.rfilename: File(entry.rfilename, entry.lfs.sha256 if entry.lfs else "", entry.size or 0)
        for entry in info.siblings
    }
    graph = wanted.file or next((name for name in graph_names() if name in files), "")
    if graph not in files or "tokenizer.json" not in files:
        raise ProviderUnavailable(
            PROVIDER,
            f"{wanted.repo} holds no ONNX model with a tokenizer.json",
            "name the graph: hf:org/repo/file",
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


def _endpoint() -> str | None:
    """A mirror of the hub. Its library reads the variable too, but only once, when it is imported."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or None


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Errors of the hub's library as ours; and it does not tell the hub which agent we run in."""
    from huggingface_hub import constants

    told = constants.HF_HUB_DISABLE_TELEMETRY
    constants.HF_HUB_DISABLE_TELEMETRY = True
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
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY = told


@contextmanager
def _alone(final: Path) -> Iterator[None]:
    """Only one process downloads a model; the others wait, and then find it."""
    try:
        from filelock import FileLock
    except ImportError as error:
        raise ProviderUnavailable(
            PROVIDER, "filelock is not installed", "pip install 'memgrep[local]'"
        ) from error
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
            PROVIDER,
            f"{file.path}: not the file we know ({found}); thrown away",
            "try again, or another network",
        )


def _described(folder: Path) -> Installed:
    manifest = read_json(folder / _MANIFEST)
    size = sum(file.get("size", 0) for file in manifest.get("files", {}).values())
    return Installed(manifest.get("name", folder.name), folder, manifest.get("revision", ""), size)
