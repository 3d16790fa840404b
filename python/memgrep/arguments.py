"""The command's arguments: one table, from which they are read, explained and written into the manual.

A table of our own, because importing `argparse` and filling one of its parsers costs a one-shot search as much
as the search itself.
"""

from memgrep import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["COMMANDS", "Options", "UsageError", "manual", "read", "wants_json"]

ABOUT = "Memory search for AI agents over a folder of Markdown notes."


class UsageError(ValueError):
    """Asked wrongly: `usage` is how it is asked."""

    def __init__(self, usage: str, message: str) -> None:
        super().__init__(message)
        self.usage = usage


class Options:
    """What was asked: `command`, and a value for every argument of it."""

    command: str

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Argument:
    """One argument. Spelled with dashes it is an option, and a flag if it has no `metavar`; else it has a place.

    `many`: a place takes one or more words, an option may come again. `choices`: the only words a place takes.
    """

    __slots__ = ("choices", "default", "help", "many", "metavar", "name", "optional", "read", "spelled")

    def __init__(
        self,
        *spelled: str,
        text: str,
        metavar: str = "",
        name: str = "",
        default: object = None,
        read: "Callable[[str], object]" = str,
        many: bool = False,
        optional: bool = False,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.spelled = spelled
        self.help = text
        self.metavar = metavar
        self.name = name or spelled[-1].lstrip("-").replace("-", "_")
        self.default = default
        self.read = read
        self.many = many
        self.optional = optional
        self.choices = choices

    @property
    def is_option(self) -> bool:
        return self.spelled[0].startswith("-")

    def shown(self) -> str:
        """As manuals spell it."""
        if self.is_option:
            return ", ".join(f"{spelling} {self.metavar}".rstrip() for spelling in self.spelled)
        word = "|".join(self.choices) or self.name.upper()
        word = f"{word}…" if self.many else word
        return f"[{word}]" if self.optional else word


class Command:
    """One command: what it does, and what it takes beside the arguments of all."""

    __slots__ = ("about", "arguments")

    def __init__(self, about: str, *arguments: Argument) -> None:
        self.about = about
        self.arguments = (*_SHARED, *arguments)


def _number(text: str) -> object:
    """A number where it is one; its range is checked where it is used, in the words of the tools (F136)."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


_SEED = Argument(
    "--seed",
    metavar="N",
    read=_number,
    default=0,
    text="another draw of the dice; the same one, the same figures",
)
_MEASURE = Argument(
    "--measure", metavar="NAME", default="nDCG@10", text="what is compared by arm, group and question"
)

_SHARED = (
    Argument("--workspace", metavar="FOLDER", text="the folder with the notes"),
    Argument("--agent", metavar="ID", text="whose memory it is; main if not said"),
    Argument("--set", metavar="KEY=VALUE", many=True, text="a setting for this run, such as provider=none"),
    Argument("--json", default=False, text="one JSON document on standard output"),
)

COMMANDS = {
    "index": Command(
        "Bring the index in line with the notes.",
        Argument(
            "--force",
            default=False,
            text="make everything anew from the notes; vectors of unchanged text are kept",
        ),
        Argument("--verify", default=False, text="read every note again, whatever its time stamp says"),
        Argument(
            "paths", many=True, optional=True, text="only these notes, as in a search result; all if not said"
        ),
    ),
    "search": Command(
        "Find the lines that answer a question.",
        Argument("query", many=True, text="the question, in plain words"),
        Argument(
            "-n", "--max-results", metavar="N", read=_number, text="how many results at most, 1 to 2000"
        ),
        Argument("--min-score", metavar="X", read=_number, text="leave out what scores lower, 0 to 1"),
        Argument("--corpus", metavar="WHAT", text="memory (if not said), sessions or all"),
        Argument("--since", metavar="DAY", text="only notes of this day or later, such as 2026-03-01"),
        Argument("--until", metavar="DAY", text="only notes of this day or earlier"),
        Argument("--path", metavar="PATTERN", text="only this folder, note or glob, such as memory/projects"),
        Argument("--source", metavar="WHAT", text="only memory, extra or sessions"),
        Argument("--explain", default=False, text="show the factors of every score"),
    ),
    "get": Command(
        "Read lines of a note.",
        Argument("path", text="the note, as in a search result: its path, or a citation with its lines"),
        Argument("--from", name="start", metavar="LINE", read=_number, text="first line, counted from 1"),
        Argument("--lines", metavar="N", read=_number, text="how many lines; 120 if not said"),
        Argument(
            "--column",
            metavar="N",
            read=_number,
            text="first character of that line, counted from 1: to read on in a line longer than a page",
        ),
    ),
    "status": Command(
        "Say what is indexed, what is not, and why.",
        Argument("--deep", default=False, text="ask the provider for one vector"),
    ),
    "eval": Command(
        "Ask labelled questions and say how good the answers are.",
        Argument(
            "sets",
            many=True,
            text="folders of labelled questions; one without a corpus is about your own notes",
        ),
        Argument(
            "--arm",
            metavar="ARM",
            many=True,
            text="keyword, vector, hybrid, +decay, +MMR or settings (yours), with settings after it: "
            "hybrid,query.hybrid.mmr.enabled=true; may come again, and all but the last if not said",
        ),
        Argument("--fresh", default=False, text="index your own notes anew, in a place that is thrown away"),
        Argument("--out", metavar="FILE", text="write what came out for every question, as JSON lines"),
        Argument("--plot", metavar="FILE", text="draw a picture, .png or .svg (needs memgrep[plot])"),
        _MEASURE,
        _SEED,
    ),
    "eval init": Command(
        "Draft questions about your notes from their headings.",
        Argument("folder", text="where they are written; new or empty, and not among the notes"),
        Argument("--limit", metavar="N", read=_number, default=200, text="how many questions at most"),
        Argument(
            "--copy",
            default=False,
            text="add a copy of the notes without the headings that are asked for",
        ),
        _SEED,
    ),
    "eval compare": Command(
        "Compare what two runs wrote with --out, question by question.",
        Argument("before", text="results of one run"),
        Argument("after", text="results of another one"),
        _MEASURE,
        _SEED,
    ),
    "models": Command(
        "List, download, check or remove local models.",
        Argument("action", choices=("list", "pull", "verify", "rm"), text="what to do"),
        Argument("model", optional=True, text="a model's name, or hf:org/repo[/file][@revision]"),
    ),
    "config": Command(
        "Show every setting and where it comes from.",
        Argument("action", choices=("show",), default="show", optional=True, text="what to do"),
    ),
}


def read(words: list[str]) -> "Options | str":
    """What was asked, or the text that answers it (`--help`, `--version`).

    Raises `UsageError`.
    """
    if not words:
        raise UsageError(_usage(), f"say what to do: {', '.join(COMMANDS)}")
    first = words[0]
    if first in ("-h", "--help"):
        return help_text()
    if first == "--version":
        return f"memgrep {__version__}"
    if first not in COMMANDS:
        raise UsageError(_usage(), f"{first}: no such command; there are {', '.join(COMMANDS)}")
    # A folder of the name of a command's second word is written ./init.
    both = " ".join(words[:2])
    return _Reader(both).read(words[2:]) if both in COMMANDS else _Reader(first).read(words[1:])


def wants_json(words: list[str]) -> bool:
    """Whether `--json` is among the words, for when they cannot be read as a whole."""
    return "--json" in (words[: words.index("--")] if "--" in words else words)


class _Reader:
    """Reads the words after a command."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.arguments = COMMANDS[command].arguments
        self.by_spelling = {spelling: one for one in self.arguments for spelling in one.spelled}
        self.values: dict[str, Any] = {one.name: [] if one.many else one.default for one in self.arguments}

    def read(self, words: list[str]) -> "Options | str":
        left = list(reversed(words))
        placed: list[str] = []
        while left:
            word = left.pop()
            if word == "--":
                placed += reversed(left)
                break
            if word in ("-h", "--help"):
                return help_text(self.command)
            if len(word) < 2 or word[0] != "-" or isinstance(_number(word), int | float):
                placed.append(word)
            else:
                self.option(word, left)
        self.places(placed)
        return Options(command=self.command, **self.values)

    def option(self, word: str, left: list[str]) -> None:
        """One option and its value, which may be joined to it (`--lines=3`, `-n3`)."""
        spelling, equals, value = word.partition("=")
        if not word.startswith("--") and len(word) > 2:
            spelling, equals, value = word[:2], "=", word[2:].removeprefix("=")
        found = self.by_spelling.get(spelling)
        if found is None or not found.is_option:
            raise self.wrong(f"{spelling}: no such option")
        if not found.metavar:
            if equals:
                raise self.wrong(f"{spelling} takes no value")
            self.values[found.name] = True
            return
        if not equals:
            if not left or left[-1] in self.by_spelling or left[-1] == "--":
                raise self.wrong(f"{spelling}: {found.metavar} is missing")
            value = left.pop()
        if found.many:
            self.values[found.name].append(found.read(value))
        else:
            self.values[found.name] = found.read(value)

    def places(self, words: list[str]) -> None:
        """The words that belong to no option, in order."""
        for one in self.arguments:
            if one.is_option:
                continue
            if not words and not one.optional:
                raise self.wrong(f"{one.shown()} is missing")
            if one.many:
                self.values[one.name], words = words, []
            elif words:
                word, *words = words
                if one.choices and word not in one.choices:
                    raise self.wrong(f"{word}: write {' or '.join(one.choices)}")
                self.values[one.name] = word
        if words:
            raise self.wrong(f"{words[0]}: one argument too many")

    def wrong(self, message: str) -> UsageError:
        return UsageError(_usage(self.command), message)


def _usage(command: str | None = None) -> str:
    if command is None:
        return "memgrep COMMAND …; memgrep --help tells more"
    places = " ".join(one.shown() for one in COMMANDS[command].arguments if not one.is_option)
    return f"memgrep {command} {places}".rstrip() + f"; memgrep {command} --help tells more"


def help_text(command: str | None = None) -> str:
    """What `--help` shows."""
    if command is None:
        rows = [(name, one.about) for name, one in COMMANDS.items()]
        rows.append(("--version", "show the version"))
        return "\n".join([ABOUT, "", "memgrep COMMAND …", "", *_columns(rows)])
    arguments = COMMANDS[command].arguments
    places = " ".join(one.shown() for one in arguments if not one.is_option)
    rows = [(one.shown(), one.help) for one in arguments]
    about = COMMANDS[command].about
    return "\n".join([about, "", f"memgrep {command} {places}".rstrip(), "", *_columns(rows)])


def _columns(rows: "list[tuple[str, str]]") -> list[str]:
    width = max(len(left) for left, _ in rows)
    return [f"  {left:{width}}  {right}" for left, right in rows]


def manual() -> str:
    """docs/cli.md: every command and option, as they are read."""
    lines = [
        "# The command",
        "",
        "Made from the table of arguments, and compared with it by a test:",
        "`python -c 'from memgrep.arguments import manual; print(manual(), end=\"\")' > docs/cli.md`",
        "",
        "Standard output holds the answer: text for people, or with `--json` exactly one JSON document, also for a",
        'failure or a wrong use: `{"ok": false, "error": …}`; `search` says `unavailable` and why, `get` a `code`.',
        "Warnings, progress and errors go to standard error. Colour and progress appear on a terminal only;",
        "`NO_COLOR` is obeyed.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | it worked, also when nothing was found, or when `status` tells what is wrong |",
        "| 1 | it did not: an error, notes or vectors that are missing, memory that is unavailable |",
        "| 2 | it was asked wrongly |",
        "| 130 | interrupted; what was done is kept |",
        "| 141 | whoever read the output closed it |",
    ]
    for name, command in COMMANDS.items():
        places = " ".join(one.shown() for one in command.arguments if not one.is_option)
        lines += ["", f"## memgrep {name}", "", command.about, "", f"`memgrep {name} {places}".rstrip() + "`"]
        lines += ["", "| argument | meaning |", "|---|---|"]
        lines += [f"| `{one.shown()}` | {one.help} |" for one in command.arguments]
    return "\n".join(lines) + "\n"
