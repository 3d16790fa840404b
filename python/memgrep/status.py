"""What is indexed, what is not and why: the answer of `status`, from a look that changes nothing."""

from memgrep.errors import MemgrepError, ProviderError, WorkspaceUnavailable
from memgrep.printable import one_line
from memgrep.sync import changed_files, sync_notes
from memgrep.workspace import ONLY_READ, holds, must_be_there, only_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memgrep._core import Index
    from memgrep.config import Settings
    from memgrep.provider import Provider

__all__ = ["describe"]


def describe(
    settings: "Settings",
    index: "Index | None",
    provider: "Provider",
    *,
    deep: bool = False,
    last_error: str | None = None,
) -> "dict[str, Any]":
    """The status as plain data with camelCase keys. `index` None: it cannot be opened, `last_error` says why.

    Whatever fails is a text in the answer, never an exception: a status that breaks with the thing it
    describes helps nobody (F114).
    """
    chosen = _provider(settings, provider, index, deep)
    counts: dict[str, Any] = dict(index.status()) if index is not None else {}
    files = counts.pop("files", 0)
    status: dict[str, Any] = {
        "workspace": settings.workspace,
        "agent": settings.agent,
        "enabled": settings.enabled,
        "backend": "builtin",
        "sources": list(settings.sources),
        "files": files,
        "eligible": None,
        "dirty": None,
        "changes": None,
        **{key: counts.pop(key, 0) for key in ("chunks", "vectors", "pending", "failed")},
        "provider": chosen,
        "skipped": [],
        "ignored": 0,
        "unreachable": [],
        "warnings": list(settings.warnings),
        "failures": [{"reason": reason, "count": number} for reason, number in counts.get("failures", [])],
        "store": {"path": settings.store.path, "readOnly": only_read(settings.store.path), **_store(counts)},
        "lastSync": _moment(counts.get("last_sync_ns")),
        "lastError": last_error,
    }
    if settings.backend == "qmd":
        status["warnings"].append(
            "the qmd backend is not available in this version; the built-in index answers"
        )
    if status["store"]["readOnly"]:
        status["warnings"].append(ONLY_READ)
    try:
        must_be_there(settings.workspace)
    except WorkspaceUnavailable as gone:
        status["unreachable"].append({"path": settings.workspace, "reason": f"unreachable: {gone.__cause__}"})
        status["lastError"] = last_error or str(gone)
    else:
        if index is not None:
            _look(settings, index, status)
    return status


def _look(settings: "Settings", index: "Index", status: "dict[str, Any]") -> None:
    """Compares files and index (F057, F058)."""
    from memgrep._core import CoreError

    try:
        look = sync_notes(index, settings, dry_run=True)
        ours = holds(index, settings)
    except (CoreError, MemgrepError) as error:
        status["lastError"] = status["lastError"] or str(error)
        return
    status["eligible"] = look.files
    status["dirty"] = bool(changed_files(look))
    status["changes"] = {"added": len(look.added), "changed": len(look.changed), "removed": len(look.removed)}
    status["skipped"] = [{"path": path, "reason": reason} for path, reason in look.skipped]
    status["ignored"] = look.ignored
    status["unreachable"] = [{"path": path, "reason": reason} for path, reason in look.unreachable]
    status["warnings"] += [one_line(f"{path}: {text}") for path, text in look.warnings]
    if not ours:
        status["warnings"].append(
            "the index holds the notes of another workspace; the next search or index makes it anew from this one"
        )


def _provider(
    settings: "Settings", provider: "Provider", index: "Index | None", deep: bool
) -> "dict[str, Any]":
    """Asked for, in use, why; and with `deep` whether it answers."""
    shown: dict[str, Any] = {
        "requested": provider.requested,
        "used": "none",
        "model": None,
        "dimensions": None,
    }
    try:
        embedder = provider.embedder()
        shown["why"] = provider.why
        if embedder is not None:
            shown |= {"used": embedder.provider, "model": embedder.model, "dimensions": embedder.dims}
            shown["host"] = embedder.host
            if index is not None:
                index.select_fingerprint(embedder.fingerprint)
            if deep:
                vector = embedder.embed_query("memory")
                shown["probe"] = {"ok": True, "dimensions": len(vector) // 4 if vector else embedder.dims}
    except ProviderError as error:
        shown |= {"error": str(error), "action": error.remedy}
        if deep:
            shown["probe"] = {"ok": False}
    if settings.fallback != "none":
        shown["fallback"] = settings.fallback
    return shown


def _store(counts: "dict[str, Any]") -> "dict[str, Any]":
    """What is on disk: sizes, engine, and whose vectors are kept (F083: with their dimensions)."""
    if not counts:
        return {}
    names = ("store", "lexical", "vectors")
    return {
        "bytes": dict(zip(names, counts.get("bytes", (0, 0, 0)), strict=True)),
        "generation": counts.get("generation", 0),
        "engine": counts.get("engine"),
        "cached": counts.get("cached", 0),
        "fingerprints": [
            {"name": name, "dimensions": dims, "vectors": vectors}
            for name, dims, vectors in counts.get("fingerprints", [])
        ],
    }


def _moment(nanoseconds: int | None) -> str | None:
    """A moment in UTC as ISO 8601."""
    if nanoseconds is None:
        return None
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(nanoseconds / 1e9))
