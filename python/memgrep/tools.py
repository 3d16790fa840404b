"""The two tools an agent gets: plain functions over a `Memory`, each defined once.

Arguments come from a model, answers go to one: so arguments are checked here against the same table that the
schemas are made of, numbers may come as text, and what an agent can do something about is an answer, not an
exception. A wrong argument is a `ValueError` whose text names what is allowed.
"""

from memgrep.errors import MemgrepError, NoteRefused
from memgrep.files import MAX_CHARS, PAGE_LINES
from memgrep.memory import Memory
from memgrep.records import Record
from memgrep.search import CORPORA, MAX_RESULTS, SOURCES, unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date
    from typing import Any

    from memgrep.hits import Answer

__all__ = [
    "TOOLS",
    "Tool",
    "answered",
    "anthropic_tools",
    "call",
    "memory_get",
    "memory_search",
    "openai_tools",
    "tools_for",
]


def memory_search(
    memory: Memory,
    query: str,
    *,
    max_results: int | None = None,
    min_score: float | None = None,
    corpus: str | None = None,
    since: "str | date | None" = None,
    until: "str | date | None" = None,
    path: str | None = None,
    source: str | None = None,
    session: str | None = None,
    explain: bool = False,
) -> "dict[str, Any]":
    """The document of a search; a memory that cannot be asked is a document too, with error and action."""
    answer = answered(
        memory,
        query,
        max_results=max_results,
        min_score=min_score,
        corpus=corpus,
        since=since,
        until=until,
        path=path,
        source=source,
        session=session,
    )
    return answer.to_json(explain=explain)


def answered(memory: Memory, query: str, **options: "Any") -> "Answer":
    """The answer of `Memory.search`; a memory that cannot be asked is an answer too, with error and action."""
    try:
        return memory.search(query, **options)
    except ValueError:
        raise
    except MemgrepError as error:
        return unavailable(
            str(error), getattr(error, "remedy", "") or "run memgrep status to see what is wrong"
        )


def memory_get(
    memory: Memory,
    path: str,
    *,
    from_: int | None = None,
    lines: int | None = None,
    column: int | None = None,
) -> "dict[str, Any]":
    """The document of a page; a path that may not be read is a document with code and reason."""
    try:
        return memory.get(path, from_=from_, lines=lines, column=column).to_json()
    except NoteRefused as refused:
        return refusal(refused)


def refusal(refused: NoteRefused) -> "dict[str, Any]":
    """What `memory_get` says about a path that may not be read."""
    return {
        "status": "error",
        "code": refused.code,
        "error": refused.reason,
        "path": refused.path.encode("utf-8", "replace").decode(),
        "text": "",
    }


class Argument(Record):
    """One argument: its name for agents and in Python, its JSON type, and what is allowed."""

    name: str
    python: str
    kind: str
    text: str
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def schema(self) -> "dict[str, Any]":
        shown: dict[str, Any] = {"type": self.kind, "description": self.text}
        if self.minimum is not None:
            shown["minimum"] = self.minimum
        if self.maximum is not None:
            shown["maximum"] = self.maximum
        if self.choices:
            shown["enum"] = list(self.choices)
        return shown

    def read(self, value: object) -> object:
        """Numbers written as text become numbers, 2.0 becomes 2; ranges are checked where they matter."""
        if self.kind in ("integer", "number") and isinstance(value, str):
            try:
                value = float(value) if self.kind == "number" or "." in value else int(value)
            except ValueError:
                return value
        if self.kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value)
        return value


class Tool(Record):
    """A tool as an agent sees it, and the function behind it."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    run: "Callable[..., dict[str, Any]]"

    def schema(self) -> "dict[str, Any]":
        """JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": {argument.name: argument.schema() for argument in self.arguments},
            "required": [argument.name for argument in self.arguments if argument.required],
            "additionalProperties": False,
        }


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="memory_search",
            description=(
                "Search the long-term memory notes (MEMORY.md, USER.md, memory/*.md) before answering "
                "anything about earlier work, decisions, dates, people, preferences or to-dos. Ask in plain "
                "words; names, numbers and identifiers are matched exactly, and a time (last Tuesday, im März, 上周) "
                "puts notes of that time first. Results carry path and lines for "
                "memory_get. If the answer says unavailable, tell the user that memory could not be searched "
                "and why; if it says stale or carries a warning, results may be incomplete."
            ),
            arguments=(
                Argument(
                    name="query",
                    python="query",
                    kind="string",
                    required=True,
                    text="The question, in plain words.",
                ),
                Argument(
                    name="maxResults",
                    python="max_results",
                    kind="integer",
                    minimum=1,
                    maximum=MAX_RESULTS,
                    text="How many results at most; the configured number if left out.",
                ),
                Argument(
                    name="minScore",
                    python="min_score",
                    kind="number",
                    minimum=0,
                    maximum=1,
                    text="Leave out results that score lower; the configured score if left out.",
                ),
                Argument(
                    name="corpus",
                    python="corpus",
                    kind="string",
                    choices=tuple(CORPORA),
                    text="Where to search: notes (memory, the default), past sessions, or all.",
                ),
                Argument(
                    name="since",
                    python="since",
                    kind="string",
                    text=(
                        "Only notes of this day or later, as 2026-03-01; leaves out notes without a date. For a "
                        "rough time just say it in the question."
                    ),
                ),
                Argument(
                    name="until",
                    python="until",
                    kind="string",
                    text="Only notes of this day or earlier, as 2026-03-31; leaves out notes without a date.",
                ),
                Argument(
                    name="path",
                    python="path",
                    kind="string",
                    text="Only notes in this folder, this note, or this glob: memory/projects, memory/**/2026-*.md.",
                ),
                Argument(
                    name="source",
                    python="source",
                    kind="string",
                    choices=SOURCES,
                    text="Only notes from there: memory, extra (configured folders beside it) or sessions.",
                ),
            ),
            run=memory_search,
        ),
        Tool(
            name="memory_get",
            description=(
                "Read lines of a memory note by the path of a memory_search result, or by its citation "
                f"(memory/a.md#L3-L7). Gives at most {PAGE_LINES} lines unless told otherwise, and at most "
                f"{MAX_CHARS:,} characters; nextFrom is the line to go on with. nextColumn means that the line "
                "itself is longer: the same from with column = nextColumn reads on in it. A note that does not "
                "exist is status not_found, not an error."
            ),
            arguments=(
                Argument(
                    name="path",
                    python="path",
                    kind="string",
                    required=True,
                    text="The note's path or citation, as in a result.",
                ),
                Argument(
                    name="from", python="from_", kind="integer", minimum=1, text="First line, counted from 1."
                ),
                Argument(name="lines", python="lines", kind="integer", minimum=1, text="How many lines."),
                Argument(
                    name="column",
                    python="column",
                    kind="integer",
                    minimum=1,
                    text="First character of the first line, counted from 1: to read on in a long line.",
                ),
            ),
            run=memory_get,
        ),
    )
}


def call(
    memory: Memory, name: str, arguments: "Mapping[str, object]", *, session: str | None = None
) -> "dict[str, Any]":
    """Runs a tool with arguments as a model gave them."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ValueError(f"there is no tool {name!r}; there are {', '.join(TOOLS)}")
    known = {argument.name: argument for argument in tool.arguments}
    unknown = [repr(given) for given in arguments if given not in known]
    if unknown:
        raise ValueError(f"{name} has no argument {', '.join(unknown)}; it has {', '.join(known)}")
    values = {
        known[given].python: known[given].read(value)
        for given, value in arguments.items()
        if value is not None
    }
    for argument in tool.arguments:
        if argument.required and not isinstance(values.get(argument.python), str):
            raise ValueError(f"{argument.name} is required and must be a text")
    if name == "memory_search":
        values["session"] = session
    return tool.run(memory, **values)


def tools_for(memory: Memory) -> list[Tool]:
    """The tools of this memory; none while it is switched off."""
    return list(TOOLS.values()) if memory.settings.enabled else []


def openai_tools() -> "list[dict[str, Any]]":
    """The definitions in the form OpenAI's chat endpoints take."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema()},
        }
        for tool in TOOLS.values()
    ]


def anthropic_tools() -> "list[dict[str, Any]]":
    """The definitions in the form Anthropic's messages endpoint takes."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema()}
        for tool in TOOLS.values()
    ]
