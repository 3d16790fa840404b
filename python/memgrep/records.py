"""Values that leave the library: frozen, typed, with one way to JSON.

A dataclass in all but its import: `dataclasses` brings `inspect` along, which costs a one-shot command more
than opening the index does. Type checkers see a frozen dataclass whose fields are given by name.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_flags):
        """What a type checker is told; at run time the class stays as it is."""
        return lambda cls: cls


__all__ = ["Record", "camel"]


def camel(name: str) -> str:
    """`start_line` as agents know it: `startLine`. An underscore that only avoids a Python word goes."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    """Base of the frozen values: fields are the annotations of the class, defaults its attributes."""

    def __init__(self, **values: "Any") -> None:
        kind = type(self)
        own = self.__dict__
        for name in kind.__annotations__:
            try:
                own[name] = values.pop(name) if name in values else getattr(kind, name)
            except AttributeError:
                raise TypeError(f"{kind.__name__} needs {name}") from None
        if values:
            raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(values))}")

    def replace(self, **changes: "Any") -> "Self":
        """A copy with other values."""
        return type(self)(**self.__dict__ | changes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items() if value is not None)
        return f"{type(self).__name__}({fields})"

    def to_json(self) -> "dict[str, Any]":
        """Plain dicts, lists, strings and numbers with camelCase keys; what is None is left out."""
        return {camel(name): _plain(value) for name, value in self.__dict__.items() if value is not None}


def _plain(value: "Any") -> "Any":
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
