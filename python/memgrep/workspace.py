"""Whether workspace and store may be used, and whose notes an index holds: a small file beside the store names the
workspace it was made from.

The default store belongs to an agent, not to a workspace: one agent in two folders has one store. Answers come
from the workspace of now only, so an index of another one is made anew before it is asked. The mark is taken
away before that begins and written when it is done: an index that was left halfway has none.
"""

import os

from memgrep.errors import IndexLocked, IndexUnavailable, WorkspaceUnavailable
from memgrep.printable import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgrep._core import Index
    from memgrep.config import Settings
    from memgrep.hits import Hit

__all__ = ["ONLY_READ", "check", "holds", "mark", "must_be_there", "only_read", "unmark"]

ONLY_READ = "the index may only be read here, so changed notes are not taken in"


def must_be_there(workspace: str) -> None:
    """Raises `WorkspaceUnavailable` for a folder of notes that cannot be listed.

    Asked first by everything that needs the notes: a folder that is gone is neither an empty one nor a missing note.
    """
    try:
        os.scandir(workspace).close()
    except OSError as error:
        reasons = {FileNotFoundError: "does not exist", NotADirectoryError: "is not a folder"}
        reason = reasons.get(type(error), f"cannot be read: {error.strerror}")
        raise WorkspaceUnavailable(
            f"the workspace {one_line(workspace)} {reason}; "
            "create that folder, or name another one with --workspace or MEMGREP_WORKSPACE"
        ) from error


def only_read(store: str) -> bool:
    """Whether there is a store that this process may not write: its rights or those of its folder, or its disk."""
    effective = os.access in os.supports_effective_ids
    written = [store, os.path.dirname(store), f"{store}.lock"]
    return os.access(store, os.R_OK, effective_ids=effective) and not all(
        os.access(path, os.W_OK, effective_ids=effective) for path in written if os.path.exists(path)
    )


def holds(index: "Index", settings: "Settings") -> bool:
    """Whether all notes of the index are of this workspace, however it is spelled; an empty index is anyone's."""
    marked = _marked(settings)
    return marked == _name(settings) or (marked is None and not index.status()["files"])


def mark(settings: "Settings") -> None:
    """The index is this workspace's from now on. Written beside and moved: the mark is there whole or not."""
    if _marked(settings) == _name(settings):
        return
    path = _mark(settings)
    beside = f"{path}.{os.getpid()}"
    try:
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(file, _name(settings))
        finally:
            os.close(file)
        os.replace(beside, path)
    except OSError as error:
        raise _unusable(f"cannot write {path}", error) from error


def unmark(settings: "Settings") -> None:
    """The index is about to hold notes of two workspaces."""
    try:
        os.unlink(_mark(settings))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unusable("it holds the notes of another workspace and may not be written", error) from error


def check(hits: "Iterable[Hit]", workspace: str) -> None:
    """Refuses hits of another workspace: its process may have taken the index over since it was looked at."""
    root = os.path.join(workspace, "")
    for hit in hits:
        if hit.source == "memory" and not hit.absolute_path.startswith(root):
            real = os.path.realpath(hit.absolute_path)
            if not real.startswith(os.path.join(os.path.realpath(workspace), "")):
                raise IndexLocked(
                    "index: another process is making it anew for another workspace; "
                    "give each workspace a memory.search.store.path of its own"
                )


def _marked(settings: "Settings") -> bytes | None:
    try:
        with open(_mark(settings), "rb", buffering=0) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(f"cannot read {_mark(settings)}", error) from error


def _unusable(what: str, error: OSError) -> IndexUnavailable:
    return IndexUnavailable(
        one_line(f"index: {what}: {error.strerror}; set memory.search.store.path to another file")
    )


def _mark(settings: "Settings") -> str:
    return f"{settings.store.path}.workspace"


def _name(settings: "Settings") -> bytes:
    return os.fsencode(os.path.realpath(settings.workspace))
