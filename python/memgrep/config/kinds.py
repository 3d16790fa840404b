"""What one value may be: checks, and the words for it in errors and in the documentation.

A kind turns a node (a value that knows its line, see `Node`) into a plain value, or raises `Wrong`. `said`
completes the sentence "allowed: …".
"""

from __future__ import annotations

from memgrep.config.secret import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Choice",
    "Duration",
    "Flag",
    "Glob",
    "Kind",
    "Node",
    "Number",
    "SecretText",
    "Size",
    "Text",
    "TimeZone",
    "Url",
    "Whole",
    "Wrong",
    "kind_of",
    "node_of",
    "shown",
    "value_of",
]

# (line or None, value); a list's value holds nodes, a table's maps a key to (line of the key, node).
Node = tuple[int | None, object]


class Wrong(Exception):
    """A value that cannot be meant: why, and on which line of the file if it is not the key's own."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def node_of(value: object) -> Node:
    """A plain Python value as a node without lines."""
    if isinstance(value, dict):
        return None, {str(key): (None, node_of(item)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return None, [node_of(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return None, value
    fspath = getattr(value, "__fspath__", None)
    return None, fspath() if fspath else value


def value_of(node: Node) -> object:
    """A node as a plain Python value, its lines forgotten."""
    value = node[1]
    if isinstance(value, list):
        return [value_of(item) for item in value]
    if isinstance(value, dict):
        return {key: value_of(item) for key, (_, item) in value.items()}
    return value


def shown(value: object) -> str:
    """A value as an error names it: short, and a list or table only by its kind."""
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else "\ufffd" for c in value)
        return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}…"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else kind_of(value)


def kind_of(value: object) -> str:
    """What a value is, without showing it: it may be a secret in the wrong place."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return {"list": "a list", "dict": "a table"}.get(type(value).__name__, f"a {type(value).__name__}")


class Kind:
    """One kind of value."""

    __slots__ = ()

    @property
    def said(self) -> str:
        """What is allowed, in words."""
        raise NotImplementedError

    def take(self, node: Node) -> object:
        """The plain value, or `Wrong`."""
        raise NotImplementedError

    def read(self, text: str) -> Node:
        """A value written as one text, as in an environment variable."""
        return None, text

    def refuse(self, node: Node, line: int | None = None) -> Wrong:
        """The error for a value that is not of this kind."""
        return Wrong(f"found {shown(node[1])}, allowed: {self.said}", line)


class Flag(Kind):
    """True or false; with `words`, also those."""

    __slots__ = ("words",)

    def __init__(self, *words: str) -> None:
        self.words = words

    @property
    def said(self) -> str:
        return ", ".join(["true", "false", *(f'"{word}"' for word in self.words)])

    def take(self, node: Node) -> object:
        if isinstance(node[1], bool) or node[1] in self.words:
            return node[1]
        raise self.refuse(node)

    def read(self, text: str) -> Node:
        word = text.strip().lower()
        if word in ("true", "1", "yes", "on"):
            return None, True
        return None, False if word in ("false", "0", "no", "off") else word


class Whole(Kind):
    """A whole number from `low` to `high`."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    @property
    def said(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def take(self, node: Node) -> object:
        value = node[1]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return value
        raise self.refuse(node)

    def read(self, text: str) -> Node:
        return None, number_in(text)


class Number(Kind):
    """A finite number from `low` to `high`; with `above`, `low` itself is not allowed."""

    __slots__ = ("above", "high", "low")

    def __init__(self, low: float, high: float, *, above: bool = False) -> None:
        self.low = low
        self.high = high
        self.above = above

    @property
    def said(self) -> str:
        if self.above:
            return f"a number above {self.low:g} and up to {self.high:g}"
        return f"a number from {self.low:g} to {self.high:g}"

    def take(self, node: Node) -> object:
        value = node[1]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(node)
        # NaN fails every comparison, so it is refused as well.
        if not self.low <= value <= self.high or (self.above and value == self.low):
            raise self.refuse(node)
        return float(value)

    def read(self, text: str) -> Node:
        return None, number_in(text)


class Text(Kind):
    """A text that is not empty; spaces around it do not count."""

    __slots__ = ("what",)

    def __init__(self, what: str = "a text") -> None:
        self.what = what

    @property
    def said(self) -> str:
        return self.what

    def take(self, node: Node) -> object:
        if isinstance(node[1], str) and node[1].strip() and "\0" not in node[1]:
            return node[1].strip()
        raise self.refuse(node)


class Glob(Text):
    """A pattern for paths below a folder; it cannot climb out of it."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__('a pattern below the path such as "**/*.md", without ..')

    def take(self, node: Node) -> object:
        value = super().take(node)
        if isinstance(value, str) and (value[0] in "/\\" or ".." in value.replace("\\", "/").split("/")):
            raise self.refuse(node)
        return value


class Url(Text):
    """The address of an endpoint, without a final slash."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("an address that starts with http:// or https://, without user, password, ? and #")

    def take(self, node: Node) -> object:
        text = node[1].strip() if isinstance(node[1], str) else ""
        scheme, _, rest = text.partition("://")
        host = rest.partition("/")[0]
        # A password or a key in the address would end up in logs and in the index's fingerprint.
        if (
            scheme.lower() not in ("http", "https")
            or not host
            or any(c in text for c in "?#\r\n\0 ")
            or "@" in host
        ):
            # Not `refuse`: what was found may hold a secret.
            raise Wrong(f"found {kind_of(node[1])} that is none, allowed: {self.said}")
        return text.rstrip("/")


class TimeZone(Text):
    """A time zone by its IANA name."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__('the name of a time zone, such as "Europe/Berlin"')

    def take(self, node: Node) -> object:
        value = super().take(node)
        import zoneinfo  # only for those who set it

        try:
            zoneinfo.ZoneInfo(str(value))
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            raise self.refuse(node) from None
        return value


class Choice(Kind):
    """One of a few words."""

    __slots__ = ("words",)

    def __init__(self, *words: str) -> None:
        self.words = words

    @property
    def said(self) -> str:
        return ", ".join(f'"{word}"' for word in self.words)

    def take(self, node: Node) -> object:
        if isinstance(node[1], str) and node[1].strip() in self.words:
            return node[1].strip()
        raise self.refuse(node)


class Duration(Kind):
    """A span of time: `5m`, `1h`, `30s`; a bare number means minutes. The value is in seconds."""

    __slots__ = ()

    UNITS = (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0))

    @property
    def said(self) -> str:
        return 'up to 365 days, such as "30s", "5m" or "1h" (a bare number means minutes, 0 = off)'

    def take(self, node: Node) -> object:
        seconds = measured(node[1], self.UNITS, bare=60.0)
        if seconds is None or not 0 <= seconds <= 365 * 86400:
            raise self.refuse(node)
        return seconds


class Size(Kind):
    """A number of bytes: `2097152`, `"2mb"`, `"512kb"` (1 kb = 1024 bytes)."""

    __slots__ = ()

    UNITS = (("kb", 1024.0), ("mb", 1024.0**2), ("gb", 1024.0**3), ("b", 1.0))

    @property
    def said(self) -> str:
        return 'a number of bytes up to 1 TB, or a text such as "512kb" or "2mb"'

    def take(self, node: Node) -> object:
        size = measured(node[1], self.UNITS, bare=1.0)
        if size is None or not 0 <= size <= 1024**4:
            raise self.refuse(node)
        return int(size)


class SecretText(Kind):
    """A secret: the text itself, `env:NAME`, a text with `${NAME}`, or OpenClaw's reference to a variable."""

    __slots__ = ()

    @property
    def said(self) -> str:
        return 'a text, "env:NAME" or {source: "env", id: "NAME"}'

    def take(self, node: Node) -> object:
        value = node[1]
        if isinstance(value, dict):
            told = {key: entry[1][1] for key, entry in value.items()}
            if told.get("source") == "env" and isinstance(told.get("id"), str):
                value = f"env:{told['id']}"
            else:
                raise Wrong(f"found a reference to a secret that memgrep cannot read, allowed: {self.said}")
        if not isinstance(value, str):
            # Not `refuse`: a secret is not shown, whatever it is.
            raise Wrong(f"found {kind_of(value)}, allowed: {self.said}")
        text = value.strip()
        if not text or any(c in text for c in "\r\n\0"):
            raise Wrong(f"found an empty text or one of several lines, allowed: {self.said}")
        if text.startswith("env:") and not is_name(text[4:].strip()):
            raise Wrong("found env: without the name of an environment variable after it")
        return text


def measured(value: object, units: tuple[tuple[str, float], ...], *, bare: float) -> float | None:
    """A number with a unit behind it, or None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text, factor = str(value).strip().lower(), bare
    for unit, worth in units:
        if text.endswith(unit):
            text, factor = text[: -len(unit)].rstrip(), worth
            break
    number = number_in(text)
    return number * factor if isinstance(number, int | float) else None


def number_in(text: str) -> object:
    """The number a text says, or the text. Only digits, a sign, a point and an exponent count."""
    if text.strip().strip("+-0123456789.eE"):
        return text
    for form in NUMBER_FORMS:
        try:
            return form(text)
        except ValueError:
            continue
    return text


NUMBER_FORMS: tuple[Callable[[str], int | float], ...] = (int, float)
