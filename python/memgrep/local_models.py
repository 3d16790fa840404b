"""`memgrep models`: what is on this machine, and how it gets there or away."""

from memgrep.embeddings import download as local
from memgrep.embeddings import model_cache
from memgrep.embeddings.models import KNOWN, parse
from memgrep.printable import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from memgrep.config import Settings

    class Door(Protocol):
        """Who speaks to the user."""

        json: bool

        def document(self, document: object) -> None: ...
        def note(self, text: str) -> None: ...
        def warn(self, text: str) -> None: ...


__all__ = ["act"]


def act(action: str, name: str | None, settings: "Settings", door: "Door") -> int:
    """Runs one action; the exit code."""
    cache = model_cache(settings)
    if action == "list":
        return _list(local.installed(cache), door)
    if action == "pull":
        wanted = parse(name or settings.local.model_path or settings.model)
        return _tell([local.pull(wanted, cache, announce=door.note)], "installed", door)
    chosen = [
        model for model in local.installed(cache) if name is None or name in (model.name, model.folder.name)
    ]
    if name is not None and not chosen:
        raise ValueError(f"{name} is not among the installed models; memgrep models list shows them")
    if action == "verify":
        if not chosen:
            door.note("no model is installed; memgrep models pull fetches one")
        return _tell([local.verify(model.folder) for model in chosen], "whole", door)
    if name is None:
        raise ValueError("models rm needs a model's name; memgrep models list shows them")
    for model in chosen:
        local.remove(model)
    return _tell(chosen, "removed", door)


def _list(installed: "list[local.Installed]", door: "Door") -> int:
    """What is installed, and what else is known by name."""
    from memgrep.terminal import size, table

    here = {model.name: model for model in installed}
    rows = [(model.name, size(model.size), "installed", str(model.folder)) for model in installed]
    rows += [(row.name, size(row.size), "-", row.licence) for row in KNOWN.values() if row.name not in here]
    if door.json:
        known = [
            {
                "name": row.name,
                "bytes": row.size,
                "dimensions": row.dims,
                "licence": row.licence,
                "installed": row.name in here,
            }
            for row in KNOWN.values()
        ]
        door.document({"installed": [_plain(model) for model in installed], "known": known})
    else:
        print(table([tuple(map(one_line, row)) for row in rows]))
    return 0


def _tell(models: "list[local.Installed]", done: str, door: "Door") -> int:
    broken = [model for model in models if model.problems]
    if door.json:
        door.document({"ok": not broken, "models": [_plain(model) for model in models]})
    else:
        for model in models:
            print(one_line(f"{model.name}: {'; '.join(model.problems) or done}"))
    return 1 if broken else 0


def _plain(model: "local.Installed") -> "dict[str, Any]":
    return {
        "name": model.name,
        "folder": str(model.folder),
        "revision": model.revision,
        "bytes": model.size,
        "problems": list(model.problems),
    }
