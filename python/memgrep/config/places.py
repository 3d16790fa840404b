"""Where things are on this machine: home, settings, state, workspace.

Everything asks the environment it is given, never the process's own, so that a test can be another machine.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Places", "agent_folder_name", "inside", "is_absolute"]


class Places:
    """The folders of one user on one machine."""

    __slots__ = ("cwd", "environ", "home", "platform")

    def __init__(
        self, environ: Mapping[str, str], *, cwd: str | None = None, platform: str | None = None
    ) -> None:
        self.environ = environ
        self.platform = platform or sys.platform
        home = environ.get("USERPROFILE" if self.platform == "win32" else "HOME", "")
        self.home = home or os.path.expanduser("~")
        try:
            self.cwd = os.path.abspath(cwd) if cwd is not None else os.getcwd()
        except FileNotFoundError:  # the current folder was deleted under us
            self.cwd = self.home

    def expand(self, path: str, base: str) -> str:
        """An absolute path: `~` is the home folder, a relative path counts from `base`.

        A path that is absolute on any system is taken as it is: a settings file may travel between machines,
        and `C:\\notes` must not become a folder below the workspace on Linux.
        """
        if path == "~" or path.startswith(("~/", "~\\")):
            return os.path.normpath(os.path.join(self.home, path[2:]))
        return path if is_absolute(path) else os.path.normpath(os.path.join(base, path))

    def _folder(self, *names: str) -> str | None:
        """The first of these variables that holds an absolute path (the XDG rules ignore relative ones)."""
        for name in names:
            value = self.environ.get(name, "")
            if is_absolute(value):
                return value
        return None

    @property
    def user_file(self) -> str:
        """`memgrep.toml` in the platform's folder for settings."""
        if self.platform == "win32":
            root = self._folder("XDG_CONFIG_HOME", "APPDATA") or os.path.join(self.home, "AppData", "Roaming")
        elif self.platform == "darwin":
            root = self._folder("XDG_CONFIG_HOME") or os.path.join(
                self.home, "Library", "Application Support"
            )
        else:
            root = self._folder("XDG_CONFIG_HOME") or os.path.join(self.home, ".config")
        return os.path.join(root, "memgrep", "memgrep.toml")

    @property
    def data(self) -> str:
        """The platform's folder for data that memgrep makes."""
        if self.platform == "win32":
            root = self._folder("XDG_DATA_HOME", "LOCALAPPDATA") or os.path.join(
                self.home, "AppData", "Local"
            )
        elif self.platform == "darwin":
            root = self._folder("XDG_DATA_HOME") or os.path.join(self.home, "Library", "Application Support")
        else:
            root = self._folder("XDG_DATA_HOME") or os.path.join(self.home, ".local", "share")
        return os.path.join(root, "memgrep")

    @property
    def openclaw(self) -> str:
        """OpenClaw's state folder, whether it exists or not."""
        chosen = self.environ.get("OPENCLAW_STATE_DIR", "").strip()
        return self.expand(chosen, self.cwd) if chosen else os.path.join(self.home, ".openclaw")

    @property
    def openclaw_file(self) -> tuple[str, bool]:
        """OpenClaw's settings file, and whether the user asked for this very file."""
        chosen = self.environ.get("OPENCLAW_CONFIG_PATH", "").strip()
        if chosen:
            return self.expand(chosen, self.cwd), True
        return os.path.join(self.openclaw, "openclaw.json"), False

    @property
    def state(self) -> str:
        """Where the index lives: OpenClaw's folder if it is in use, else our own."""
        chosen = self.environ.get("OPENCLAW_STATE_DIR", "").strip()
        return self.openclaw if chosen or os.path.isdir(self.openclaw) else self.data

    def workspace_here(self) -> str:
        """The workspace when nobody named one."""
        notes = os.path.join(self.cwd, "MEMORY.md"), os.path.join(self.cwd, "memory")
        if os.path.isfile(notes[0]) or os.path.isdir(notes[1]):
            return self.cwd
        return os.path.join(self.openclaw, "workspace")


def is_absolute(path: str) -> bool:
    """Absolute on this or any other system: `/x`, `C:\\x`, `C:/x`, `\\\\server\\share`."""
    if os.path.isabs(path) or path.startswith(("/", "\\\\")):
        return True
    return len(path) > 2 and path[0].isascii() and path[0].isalpha() and path[1] == ":" and path[2] in "\\/"


def inside(path: str, folder: str) -> bool:
    """Whether a path is `folder` or below it, and no link on the way leads anywhere else."""
    root = os.path.realpath(folder)
    want = os.path.normpath(os.path.join(root, os.path.relpath(path, folder)))
    return os.path.realpath(path) == want and (want == root or want.startswith(root.rstrip(os.sep) + os.sep))


def agent_folder_name(agent: str) -> str:
    """An agent's id as a part of a file name.

    Ids are one whatever their case, as in OpenClaw. What could leave the folder is replaced; a mark made from
    the whole id then keeps two agents apart that would otherwise share a file.
    """
    asked = agent.strip().lower()
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in asked)
    if safe == asked and 0 < len(safe) <= 64:
        return safe
    import hashlib  # only for unusual ids: not worth its import on every start

    mark = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{safe[:50].strip('-') or 'agent'}-{mark}"
