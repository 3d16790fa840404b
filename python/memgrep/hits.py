"""What a question gives back: hits, how they were found, and how they are cited."""

from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Answer", "Explanation", "Fallback", "Hit", "cite", "cites"]


class Explanation(Record):
    """The factors of one hit's score, in the order they are applied.

    `merged` is made of the two scores and their weights. What is shown of it is its root `r`, lifted to
    `r + temporal · (1 − r)` where its day is near the time the question names, and
    `score = min(1, … · decay · importance · recency)`. `recency` is not 1 where a hit has traded places with an
    equal one that is older or newer. Ranks count from 1; None means that this retriever did not propose the
    chunk.
    """

    bm25: float
    cosine: float | None = None
    lexical_rank: int | None = None
    vector_rank: int | None = None
    text_score: float
    vector_score: float | None = None
    text_weight: float
    vector_weight: float
    merged: float
    temporal: float
    decay: float
    importance: float
    recency: float
    path_match: str
    mmr_penalty: float


class Hit(Record):
    """A ranked chunk, shown as the lines around its best match.

    `snippet` is text of the file, up to 700 characters, whole lines; `start_line` and `end_line` are its
    lines, counted from 1. `path` opens with `get` as it is. `score` is 0..1. `matches` are character ranges
    in the snippet. `context` is what the snippet stands under: headings, a table's header.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    vector_score: float | None = None
    text_score: float | None = None
    snippet: str
    source: str
    citation: str | None = None
    importance: int | None = None
    context: str = ""
    matches: tuple[tuple[int, int], ...] = ()
    absolute_path: str = ""
    chunk_lines: tuple[int, int] | None = None
    explanation: Explanation | None = None

    def to_json(self, *, explain: bool = False) -> "dict[str, Any]":
        """As agents know it; a cited hit ends with its source. `explain` adds the factors of the score."""
        shown = super().to_json()
        for name in ("matches", "absolutePath", "chunkLines", *(() if self.context else ("context",))):
            shown.pop(name, None)
        if not explain:
            shown.pop("explanation", None)
        if self.citation is not None:
            shown["snippet"] = f"{self.snippet.rstrip()}\n\nSource: {self.citation}"
        return shown


class Fallback(Record):
    """What answered instead of what was asked for, and why."""

    from_: str
    to: str
    reason: str


class Answer(Record):
    """Hits, best first, and how they were found.

    `mode` is `hybrid`, `keyword` or `vector`; `provider` and `model` are what embedded the question (`none`
    and None if nothing did). `stale`: notes changed that the index does not know yet. `unavailable`: the
    question could not be asked as configured; there are no hits, `error` says why and `action` what helps.
    """

    hits: tuple[Hit, ...] = ()
    provider: str = "none"
    model: str | None = None
    mode: str = "keyword"
    backend: str = "builtin"
    fallback: Fallback | None = None
    stale: bool = False
    warning: str | None = None
    citations: str = "auto"
    unavailable: bool = False
    error: str | None = None
    action: str | None = None

    def __iter__(self) -> "Iterator[Hit]":
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self.hits)

    def to_json(self, *, explain: bool = False) -> "dict[str, Any]":
        """The document of `memory_search`."""
        if self.unavailable:
            return {
                "results": [],
                "disabled": True,
                "unavailable": True,
                "error": self.error,
                "action": self.action,
            }
        shown = super().to_json()
        for name in ("hits", "unavailable", *(() if self.stale else ("stale",))):
            del shown[name]
        return {"results": [hit.to_json(explain=explain) for hit in self.hits], **shown}


def cite(path: str, start_line: int, end_line: int) -> str:
    """`memory/a.md#L3-L7`, or `memory/a.md#L3` for one line."""
    return f"{path}#L{start_line}" if start_line == end_line else f"{path}#L{start_line}-L{end_line}"


def cites(mode: str, session: str | None) -> bool:
    """Whether hits are cited: `on`, `off`, or `auto`, which means in direct chats only.

    `session` is the key of the chat, such as `agent:main:discord:channel:1`; without one the chat is direct.
    """
    if mode != "auto":
        return mode == "on"
    parts = (session or "").lower().split(":")
    return not {"group", "channel"}.intersection(parts[2:] if parts[0] == "agent" else parts)
