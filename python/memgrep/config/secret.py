"""A value that must not be seen: a key, or a header that may hold one.

Written as itself, as `env:NAME`, or with `${NAME}` inside. Variables are read when the secret is used, so a
missing one hurts only whoever needs it, and a rotated key counts at the next request.
"""

from __future__ import annotations

from memgrep.errors import ConfigError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MASK", "Secret"]

MASK = "***"


class Secret:
    """A secret that prints as `***`. Only `reveal()` gives it away."""

    __slots__ = ("_environ", "_key", "_line", "_source", "_written")

    def __init__(
        self, written: str, environ: Mapping[str, str], *, source: str, line: int | None, key: str
    ) -> None:
        self._written = written
        self._environ = environ
        self._source = source
        self._line = line
        self._key = key

    def reveal(self) -> str:
        """The secret itself. `ConfigError` names the variable when it is not set."""
        parts = []
        for text, name in pieces(self._written):
            parts.append(text)
            if name:
                value = self._environ.get(name, "").strip()
                if not value:
                    raise ConfigError(
                        Problem(
                            self._source, self._line, self._key, f"environment variable {name} is not set"
                        )
                    )
                parts.append(value)
        return "".join(parts)

    @property
    def resolves(self) -> bool:
        """Whether every variable it names is set."""
        return all(not name or self._environ.get(name, "").strip() for _, name in pieces(self._written))

    @property
    def shown(self) -> str:
        """What may be shown: `env:NAME` where the secret only names a variable, else `***`."""
        return self._written if self._written.startswith("env:") else MASK

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._written == other._written

    def __hash__(self) -> int:
        return hash(self._written)


def pieces(written: str) -> list[tuple[str, str]]:
    """Text and the variable that follows it (`""`: none), in order.

    `$${` stands for a plain `${`. What is not a variable's name between the braces stays as it is written.
    """
    if written.startswith("env:"):
        return [("", written[4:].strip())]
    found = []
    text = ""
    rest = written
    while rest:
        before, mark, after = rest.partition("${")
        if not mark:
            text += before
            break
        name, closed, tail = after.partition("}")
        if before.endswith("$"):
            text, rest = text + before[:-1] + "${", after
        elif closed and is_name(name):
            found.append((text + before, name))
            text, rest = "", tail
        else:
            text, rest = text + before + "${", after
    if text or not found:
        found.append((text, ""))
    return found


def is_name(text: str) -> bool:
    """Whether a text can be the name of an environment variable."""
    return text.isascii() and text.isidentifier()
