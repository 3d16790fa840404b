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
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class Page(Record):
    """One page of a note.

    `text` has no final line break, no carriage returns before line breaks and no byte order mark. `from_` counts
    from 1, `lines` is how many lines `text` has. `truncated` is True when the note goes on after this page, or when
    a line had to be cut; `next_from` is the line to go on with. A line longer than a page is a page of its own:
    `next_column` is the character, counted from 1, at which that line (`from_`) goes on; `column` the one at which
    this page begins, if that is not the first. `total_lines` is told when `from_` lies behind the end.
    """

    status: str
    text: str
    path: str
    from_: int | None = None
    column: int | None = None
    lines: int | None = None
    truncated: bool = False
    next_from: int | None = None
    next_column: int | None = None
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
    column: int | None = None,
) -> Page:
    """One page of the memory file `path`, from line `start` on, and within that line from character `column` on.

    `path` is what a hit carries: relative to the workspace with `/`, or absolute below an extra path; or its
    citation (`memory/a.md#L3-L7`), which means those lines unless others are asked for. A note that does not exist
    is a page with status `not_found`, never an exception.

    Raises `NoteRefused` for anything that is not a memory file, `ValueError` for numbers out of range.
    """
    path, start, lines = _uncited(path, start, lines)
    start, lines, column = check_range(start, lines, column)
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
        return _page(note, shown, start, lines, column)


def note_path(path: str, *, workspace: str, extra: "Sequence[tuple[str, str | None]]" = ()) -> str:
    """The path of a memory file as hits carry it, however it was spelled; raises as `read_note` does."""
    return _locate(path, os.path.abspath(workspace), extra)[2]


def check_range(start: object, lines: object, column: object = None) -> tuple[int, int, int]:
    """The numbers as used, or a `ValueError` that names the range (F124)."""
    checked: list[int] = []
    for name, value, default in (("from", start, 1), ("lines", lines, PAGE_LINES), ("column", column, 1)):
        if value is None:
            value = default
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number ≥ 1, not {value!r}")
        checked.append(value)
    return checked[0], checked[1], checked[2]


# --- as text ------------------------------------------------------------------------------------------------


def _uncited(path: str, start: int | None, lines: int | None) -> tuple[str, int | None, int | None]:
    """A citation as what it stands for; no other path of a note ends like one. Lines that are asked for win."""
    note, mark, cited = path.rpartition("#L") if isinstance(path, str) else ("", "", "")
    first, to, last = cited.partition("-L")
    numbers = [first, last] if to else [first, first]
    if not (mark and note.lower().endswith(".md") and all(map(_is_number, numbers))):
        return path, start, lines
    if start is None:
        start = int(numbers[0])
        if lines is None:
            lines = int(numbers[1]) - start + 1
            if lines < 1:
                raise ValueError(f"{path}: the last line that is cited stands before the first")
    return note, start, lines


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


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


def _page(note: "BinaryIO", shown: str, start: int, lines: int, column: int) -> Page:
    """Reads block by block and keeps at most one page, so a note of any size costs the same memory (F125)."""
    rest = _Lines(note)
    passed = rest.skip(start - 1)
    kept: list[str] = []
    room = MAX_CHARS
    place: dict[str, Any] = {"from_": start} if column == 1 else {"from_": start, "column": column}
    while (line := rest.next(column - 1 if not kept else 0)) is not None:
        text, cut = line
        cost = len(text) + bool(kept)
        if len(kept) == lines or (kept and (cut or cost > room)):
            place |= {"truncated": True, "next_from": start + len(kept)}
            break
        kept.append(text)
        room -= cost
        if cut:  # one line that is longer than a page
            place |= {"truncated": True, "next_column": column + len(text)}
            place["next_from"] = start + 1 if rest.next() is not None else None
            break
    if not kept and start > 1:
        place["total_lines"] = passed
    return Page(status="ok", text="\n".join(kept), path=shown, lines=len(kept), **place)


class _Lines:
    """The lines of a note as an editor counts them (F123): each ends with a line feed, or with the note.

    Carriage returns at the end of a line belong to its break; any other one is a character like others, as it is
    for the index.
    """

    def __init__(self, note: "BinaryIO") -> None:
        self._note: BinaryIO | _Utf16 = note
        self._block = note.read(_BLOCK).removeprefix(_BOM)
        self._at = 0
        # What is not read yet of a line that was cut.
        self._left: Iterator[bytes] = iter(())
        encoding = _UTF16.get(self._block[:2])
        if encoding is not None:
            self._note = _Utf16(note, self._block[2:], encoding)
            self._block = self._note.read(_BLOCK)

    def skip(self, count: int) -> int:
        """Passes over `count` lines; how many there were."""
        passed, open_line = 0, False
        while passed < count and (self._at < len(self._block) or self._fill()):
            breaks = self._block.count(b"\n")
            if passed + breaks >= count:
                for _ in range(count - passed):
                    self._at = self._block.index(b"\n", self._at) + 1
                return count
            passed += breaks
            open_line = not self._block.endswith(b"\n")
            self._at = len(self._block)
        return passed + (open_line and passed < count)

    def next(self, skip: int = 0) -> tuple[str, bool] | None:
        """The next line without its first `skip` characters, and whether it is cut to a page; None at the end."""
        for _ in self._left:
            pass
        end = self._block.find(b"\n", self._at)
        if not skip and 0 <= end - self._at <= MAX_CHARS:  # as nearly every line is
            line, self._at = self._block[self._at : end], end + 1
            return line.decode(_encoding(line), "replace").rstrip("\r"), False
        pieces = self._left = self._pieces()
        head = next(pieces, None)
        if head is None:
            return None
        while len(head) < _KEEP and (piece := next(pieces, None)) is not None:
            head += piece
        decoder = codecs.getincrementaldecoder(_encoding(head[:_KEEP]))("replace")
        text = decoder.decode(head)
        ended = False
        # One more than a page may be the carriage return of the line break.
        while not ended and len(text) <= skip + MAX_CHARS + 1:
            passed = min(skip, len(text))
            text, skip = text[passed:], skip - passed
            piece = next(pieces, None)
            ended = piece is None
            text += decoder.decode(piece or b"", final=ended)
        text = text[skip:]
        if ended:
            text = text.rstrip("\r")
        return text[:MAX_CHARS], len(text) > MAX_CHARS

    def _pieces(self) -> "Iterator[bytes]":
        """The next line without its line feed, as it lies in the blocks; nothing at the end of the note."""
        while self._at < len(self._block) or self._fill():
            end = self._block.find(b"\n", self._at)
            begin, self._at = self._at, len(self._block) if end < 0 else end + 1
            yield self._block[begin : end if end >= 0 else None]
            if end >= 0:
                return

    def _fill(self) -> bool:
        self._block, self._at = self._note.read(_BLOCK), 0
        return bool(self._block)


def _encoding(head: bytes) -> str:
    """How the line that begins with `head` is read: as UTF-8, or as Windows-1252 where it cannot be that."""
    try:
        codecs.utf_8_decode(head, "strict", len(head) < _KEEP)
    except UnicodeDecodeError:
        as_utf8 = head.decode("utf-8", "replace")
        whole = any(ord(sign) > 0x7F and sign != "\ufffd" for sign in as_utf8)
        return "utf-8" if whole else "cp1252"
    return "utf-8"


class _Utf16:
    """A note in UTF-16, read as if it were in UTF-8."""

    def __init__(self, note: "BinaryIO", block: bytes, encoding: str) -> None:
        self._note = note
        self._block = block
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")

    def read(self, size: int) -> bytes:
        """Some bytes; none at the end only."""
        while True:
            block, self._block = self._block or self._note.read(size), b""
            text = self._decoder.decode(block, final=not block)
            if text or not block:
                return text.encode()
