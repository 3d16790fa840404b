"""Reading a note for an agent: which paths may be read, and one page of one of them.

The path is untrusted: it may come from a model that read it in a note. So it is judged twice, as text (is it
the name of a memory file?) and on disk, folder by folder from the root down, never through a link. What was
judged is what is read: on POSIX every step opens the next name inside the folder that is already open.
"""

import codecs
import os
import stat

from memgrep.errors import NoteRefused
from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

__all__ = ["MAX_CHARS", "PAGE_LINES", "Page", "check_range", "note_path", "read_note"]

PAGE_LINES = 120
"""Lines of a page when the caller does not say."""

MAX_CHARS = 12_000
"""Characters of a page, whatever the caller says."""

ROOT_FILES = ("MEMORY.md", "memory.md", "USER.md")

# Folders the index never enters: a note in one of them is not a memory file.
NEVER = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__"})

_BLOCK = 1 << 16
# No character takes more bytes than this, so a line cut here still holds a full page of characters.
_KEEP = MAX_CHARS * 4 + 4
_BOM = b"\xef\xbb\xbf"


class Page(Record):
    """One page of a note.

    `text` has no final line break, no carriage returns and no byte order mark. `from_` counts from 1, `lines`
    is how many lines `text` has. `truncated` is True when the note goes on after this page, or when a line
    had to be cut; `next_from` is where to go on. `total_lines` is told when `from_` lies behind the end.
    """

    status: str
    text: str
    path: str
    from_: int | None = None
    lines: int | None = None
    truncated: bool = False
    next_from: int | None = None
    total_lines: int | None = None

    def to_json(self) -> "dict[str, Any]":
        """The document of `memory_get`."""
        shown = super().to_json()
        if not self.truncated:
            del shown["truncated"]
        return shown


def read_note(
    path: str,
    *,
    workspace: str,
    extra: "Sequence[tuple[str, str | None]]" = (),
    start: int | None = None,
    lines: int | None = None,
) -> Page:
    """One page of the memory file `path`, from line `start` on.

    `path` is what a hit carries: relative to the workspace with `/`, or absolute below an extra path. A note
    that does not exist is a page with status `not_found`, never an exception.

    Raises `NoteRefused` for anything that is not a memory file, `ValueError` for numbers out of range.
    """
    start, lines = check_range(start, lines)
    workspace = os.path.abspath(workspace)
    root, names, shown = _locate(path, workspace, extra)
    # The workspace itself may be reached by a link, because the user named it; the index never enters a
    # linked root.
    if root != workspace and names and os.path.islink(root):
        raise NoteRefused(
            shown, "link", f"the extra path {root} is a symbolic link; configure the folder it means"
        )
    note = _open(root, names, shown)
    if note is None:
        return Page(status="not_found", text="", path=shown)
    with note:
        return _page(note, shown, start, lines)


def note_path(path: str, *, workspace: str, extra: "Sequence[tuple[str, str | None]]" = ()) -> str:
    """The path of a memory file as hits carry it, however it was spelled; raises as `read_note` does."""
    return _locate(path, os.path.abspath(workspace), extra)[2]


def check_range(start: object, lines: object) -> tuple[int, int]:
    """The two numbers as used, or a `ValueError` that names the range (F124)."""
    checked: list[int] = []
    for name, value, default in (("from", start, 1), ("lines", lines, PAGE_LINES)):
        if value is None:
            value = default
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number ≥ 1, not {value!r}")
        checked.append(value)
    return checked[0], checked[1]


# --- as text ------------------------------------------------------------------------------------------------


def _locate(
    path: str, workspace: str, extra: "Sequence[tuple[str, str | None]]"
) -> tuple[str, list[str], str]:
    """The root that makes `path` a memory file, the names below it, and the path as hits show it."""
    if not isinstance(path, str) or not path.strip():
        raise ValueError("path must name a note, such as MEMORY.md or memory/2026-02-10.md")
    if "\0" in path:
        raise NoteRefused(path.replace("\0", "\\0"), "not-memory", "no file name holds a NUL character")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        shown = path.encode("utf-8", "backslashreplace").decode("utf-8")
        raise NoteRefused(shown, "not-memory", "no file name holds half a surrogate pair") from None
    given = path.replace("\\", "/") if os.sep == "\\" else path
    names = [name for name in given.split("/") if name not in ("", ".")]
    if ".." in names:
        raise NoteRefused(path, "outside", "'..' is not allowed in the path of a note")
    if given.endswith("/") or not names:
        raise NoteRefused(path, "folder", "this names a folder, not a note")
    if not names[-1].lower().endswith(".md"):
        raise NoteRefused(path, "extension", "only Markdown notes (.md) can be read")

    absolute = os.path.abspath(given) if os.path.isabs(given) else os.path.join(workspace, *names)
    inside = _below(absolute, workspace)
    if inside and _is_memory(inside, workspace):
        return workspace, inside, "/".join(inside)
    for folder, pattern in extra:
        root = os.path.abspath(folder)
        below = _below(absolute, root)
        if below is None or NEVER.intersection(below):
            continue
        if pattern and below and not _matches(pattern, "/".join(below)):
            continue
        shown = "/".join(inside) if inside else absolute.replace(os.sep, "/")
        return root, below, shown
    if os.path.isabs(given) and not inside:
        raise NoteRefused(path, "outside", "outside of the workspace and of every configured extra path")
    raise NoteRefused(path, "not-memory", "not MEMORY.md, USER.md, below memory/ or a configured extra path")


def _below(path: str, root: str) -> list[str] | None:
    """The names between `root` and `path`; none if they are the same, None if `path` lies elsewhere."""
    if path == root:
        return []
    prefix = root if root.endswith(os.sep) else root + os.sep
    return path[len(prefix) :].split(os.sep) if path.startswith(prefix) else None


def _is_memory(names: list[str], workspace: str) -> bool:
    if len(names) == 1:
        return names[0] in ROOT_FILES
    if NEVER.intersection(names):
        return False
    return names[0] == "memory" or (names[0].lower() == "memory" and _same(workspace, names[0], "memory"))


def _same(folder: str, one: str, other: str) -> bool:
    """Whether two spellings are one folder, as on a volume that ignores case (F129)."""
    try:
        return os.path.samestat(os.lstat(os.path.join(folder, one)), os.lstat(os.path.join(folder, other)))
    except OSError:
        return False


def _matches(pattern: str, path: str) -> bool:
    """Whether a glob covers a path below its extra folder: `*` and `?` within a name, `**` across folders."""
    import re

    if "/" not in pattern:
        pattern = "**/" + pattern
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|\{[^}]*\}|.", pattern.removeprefix("/"), re.DOTALL)
    translated = "".join(_translate(token) for token in tokens)
    return re.fullmatch(translated, path, re.DOTALL) is not None


def _translate(token: str) -> str:
    import re

    fixed = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in fixed:
        return fixed[token]
    if token[0] == "[" and len(token) > 1:
        inside = token[1:-1].replace("\\", "\\\\")
        return f"[^{inside[1:]}]" if inside[0] == "!" else f"[{inside}]"
    if token[0] == "{" and len(token) > 1:
        return "(?:" + "|".join(re.escape(part) for part in token[1:-1].split(",")) + ")"
    return re.escape(token)


# --- on disk ------------------------------------------------------------------------------------------------


def _open(root: str, names: list[str], shown: str) -> "BinaryIO | None":
    """The file, reached without following a link (F122); None if there is none."""
    if not names:  # the extra path is the file itself
        root, name = os.path.split(root)
        names = [name]
    try:
        if os.open in os.supports_dir_fd:
            return _open_stepwise(root, names, shown)
        return _open_checked(root, names, shown)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NoteRefused(shown, "unreadable", f"cannot be read: {error.strerror}") from error


def _open_stepwise(root: str, names: list[str], shown: str) -> "BinaryIO":
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for position, name in enumerate(names):
            last = position == len(names) - 1
            _refuse_all_but(
                os.stat(name, dir_fd=folder, follow_symlinks=False), shown, names[: position + 1], last
            )
            kind = os.O_NONBLOCK if last else os.O_DIRECTORY
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | kind, dir_fd=folder)
            if last:
                return _checked_file(opened, shown, names)
            os.close(folder)
            folder = opened
    finally:
        os.close(folder)
    raise AssertionError("a path has at least one name")


def _open_checked(root: str, names: list[str], shown: str) -> "BinaryIO":
    """The same where nothing can be opened relative to a folder: every step is looked at first."""
    place = root
    for position, name in enumerate(names):
        place = os.path.join(place, name)
        _refuse_all_but(os.lstat(place), shown, names[: position + 1], position == len(names) - 1)
    return _checked_file(os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0)), shown, names)


def _checked_file(opened: int, shown: str, names: list[str]) -> "BinaryIO":
    """What was opened is what is judged: the name may mean something else by now."""
    try:
        _refuse_all_but(os.fstat(opened), shown, names, last=True)
        return os.fdopen(opened, "rb", buffering=0)
    except BaseException:
        os.close(opened)
        raise


def _refuse_all_but(found: os.stat_result, shown: str, names: list[str], last: bool) -> None:
    """Lets a folder on the way and a regular file at its end pass."""
    mode = found.st_mode
    # A junction is Windows' other link to a folder.
    junction = getattr(found, "st_reparse_tag", 0) == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
    if stat.S_ISLNK(mode) or junction:
        raise NoteRefused(shown, "link", f"{'/'.join(names)} is a symbolic link, and links are not followed")
    if not last:
        if not stat.S_ISDIR(mode):
            raise NotADirectoryError
    elif stat.S_ISDIR(mode):
        raise NoteRefused(shown, "folder", "this is a folder, not a note")
    elif not stat.S_ISREG(mode):
        raise NoteRefused(shown, "device", "not a regular file")


# --- the page -----------------------------------------------------------------------------------------------


def _page(note: "BinaryIO", shown: str, start: int, lines: int) -> Page:
    """Reads block by block and keeps at most one page, so a note of any size costs the same memory (F125)."""
    passed, block = _pass_over(note, start - 1)
    if passed < start - 1:
        return Page(status="ok", text="", path=shown, from_=start, lines=0, total_lines=passed)
    if start == 1:
        block = (block or note.read(_BLOCK)).removeprefix(_BOM)
    kept: list[str] = []
    room = MAX_CHARS
    rest = _split(note, block)
    for raw in rest:
        text = _decode(raw)
        cost = len(text) + bool(kept)
        if len(kept) == lines or (kept and cost > room):
            return _ended(shown, start, kept, next_from=start + len(kept))
        kept.append(text[:MAX_CHARS])
        room -= cost
        if room < 0:  # one line that is longer than a page
            return _ended(shown, start, kept, next_from=start + 1 if next(rest, None) is not None else None)
    if not kept and start > 1:
        return Page(status="ok", text="", path=shown, from_=start, lines=0, total_lines=passed)
    return Page(status="ok", text="\n".join(kept), path=shown, from_=start, lines=len(kept))


def _ended(shown: str, start: int, kept: list[str], next_from: int | None) -> Page:
    """A page that is not the end of its note."""
    text = "\n".join(kept)
    return Page(
        status="ok", text=text, path=shown, from_=start, lines=len(kept), truncated=True, next_from=next_from
    )


def _pass_over(note: "BinaryIO", count: int) -> tuple[int, bytes]:
    """Reads over `count` lines; how many there were, and what was read beyond them."""
    passed, open_line = 0, False
    while passed < count:
        block = note.read(_BLOCK)
        if not block:
            return passed + open_line, b""
        breaks = block.count(b"\n")
        if passed + breaks >= count:
            end = -1
            for _ in range(count - passed):
                end = block.index(b"\n", end + 1)
            return count, block[end + 1 :]
        passed += breaks
        open_line = not block.endswith(b"\n")
    return count, b""


def _split(note: "BinaryIO", block: bytes) -> "Iterator[bytes]":
    """The lines from `block` on, as an editor counts them (F123), none longer than a page can show."""
    line = b""
    while block or (block := note.read(_BLOCK)):
        *whole, open_line = block.split(b"\n")
        for part in whole:
            yield (line + part)[:_KEEP]
            line = b""
        line = (line + open_line)[:_KEEP]
        block = b""
    if line:
        yield line


def _decode(raw: bytes) -> str:
    """One line as text: UTF-8, or Windows-1252 where it cannot be UTF-8; never an error."""
    raw = raw.removesuffix(b"\r")
    try:
        return codecs.utf_8_decode(raw, "strict", len(raw) < _KEEP)[0]
    except UnicodeDecodeError:
        as_utf8 = raw.decode("utf-8", "replace")
        whole = any(ord(sign) > 0x7F and sign != "\ufffd" for sign in as_utf8)
        return as_utf8 if whole else raw.decode("cp1252", "replace")
