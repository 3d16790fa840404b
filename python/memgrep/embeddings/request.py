"""What one request may hold, and what comes back for a text that gets no vector.

Plain classes without `dataclasses` or `typing`: the built-in model needs them, and imports cost a cold start.
"""

__all__ = ["Limits", "Refused"]


class Refused:
    """No vector for one text, for good: the same text would be refused again. Words still find it."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Refused) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(self.reason)

    def __repr__(self) -> str:
        return f"Refused({self.reason!r})"


class Limits:
    """What one request may hold: texts, tokens of all and of one, UTF-8 bytes of all texts.

    Tokens are estimates (`batching.estimate`), so a limit leaves room.
    """

    __slots__ = ("bytes", "item_tokens", "items", "tokens")

    def __init__(self, items: int, tokens: int, item_tokens: int, bytes: int = 8_000_000) -> None:
        self.items = items
        self.tokens = tokens
        self.item_tokens = item_tokens
        self.bytes = bytes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"Limits({self.items}, {self.tokens}, {self.item_tokens}, {self.bytes})"
