"""The command's arguments, and the manual that is made from them.

Only the parser of the command that was asked for is filled: the others cost a search more than its query.
"""

import argparse

from memgrep import __version__

__all__ = ["COMMANDS", "manual", "parser"]


def _index(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--force",
        action="store_true",
        help="make everything anew from the notes; vectors of unchanged text are kept",
    )
    made.add_argument(
        "--verify", action="store_true", help="read every note again, whatever its time stamp says"
    )


def _search(made: argparse.ArgumentParser) -> None:
    made.add_argument("query", nargs="+", help="the question, in plain words")
    made.add_argument(
        "-n", "--max-results", metavar="N", type=_number, help="how many results at most, 1 to 2000"
    )
    made.add_argument("--min-score", metavar="X", type=_number, help="leave out what scores lower, 0 to 1")
    made.add_argument("--corpus", metavar="WHAT", default="memory", help="memory, sessions or all")
    made.add_argument("--explain", action="store_true", help="show the factors of every score")


def _get(made: argparse.ArgumentParser) -> None:
    made.add_argument("path", help="the note, as in a search result")
    made.add_argument("--from", dest="start", metavar="LINE", type=_number, help="first line, counted from 1")
    made.add_argument("--lines", metavar="N", type=_number, help="how many lines; 120 if not said")


def _status(made: argparse.ArgumentParser) -> None:
    made.add_argument("--deep", action="store_true", help="ask the provider for one vector")


def _models(made: argparse.ArgumentParser) -> None:
    made.add_argument("action", choices=["list", "pull", "verify", "rm"], help="what to do")
    made.add_argument("model", nargs="?", help="a model's name, or hf:org/repo[/file][@revision]")


def _config(made: argparse.ArgumentParser) -> None:
    made.add_argument("action", choices=["show"], nargs="?", default="show", help="what to do")


COMMANDS = {
    "index": (_index, "Bring the index in line with the notes."),
    "search": (_search, "Find the lines that answer a question."),
    "get": (_get, "Read lines of a note."),
    "status": (_status, "Say what is indexed, what is not, and why."),
    "models": (_models, "List, download, check or remove local models."),
    "config": (_config, "Show every setting and where it comes from."),
}


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of one command, or of all."""
    top = argparse.ArgumentParser(
        prog="memgrep",
        description="Memory search for AI agents over a folder of Markdown notes.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"memgrep {__version__}", help="show the version")
    commands = top.add_subparsers(metavar="COMMAND", dest="command", required=True)
    for name, (fill, text) in COMMANDS.items():
        if command in COMMANDS and name != command:
            continue
        made = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.add_argument("--workspace", metavar="FOLDER", help="the folder with the notes")
        made.add_argument("--agent", metavar="ID", help="whose memory it is; main if not said")
        made.add_argument(
            "--set",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            help="a setting for this run, such as provider=none",
        )
        made.add_argument("--json", action="store_true", help="one JSON document on standard output")
        fill(made)
    return top


def manual() -> str:
    """docs/cli.md: every command and option, as the parser knows them."""
    lines = [
        "# The command",
        "",
        "Made from the parser, and compared with it by a test:",
        "`python -c 'from memgrep.arguments import manual; print(manual(), end=\"\")' > docs/cli.md`",
        "",
        "Standard output holds the answer: text for people, or with `--json` exactly one JSON document.",
        "Warnings, progress and errors go to standard error. Colour and progress appear on a terminal only;",
        "`NO_COLOR` is obeyed.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | it worked, also when nothing was found |",
        "| 1 | it did not: an error, notes or vectors that are missing, memory that is unavailable |",
        "| 2 | it was asked wrongly |",
        "| 130 | interrupted; what was done is kept |",
        "| 141 | whoever read the output closed it |",
    ]
    top = parser()
    commands = next(action for action in top._actions if isinstance(action, argparse._SubParsersAction))
    for name, made in commands.choices.items():
        actions = [action for action in made._actions if action.dest != "help"]
        usage = " ".join(_written(action) for action in actions if not action.option_strings)
        lines += [
            "",
            f"## memgrep {name}",
            "",
            f"{made.description}",
            "",
            f"`memgrep {name} {usage}`".replace(" `", "`"),
        ]
        lines += ["", "| argument | meaning |", "|---|---|"]
        for action in actions:
            spelled = ", ".join(
                f"{option} {action.metavar or ''}".strip() for option in action.option_strings
            )
            lines.append(f"| `{spelled or _written(action)}` | {action.help} |")
    return "\n".join(lines) + "\n"


def _written(action: argparse.Action) -> str:
    """A positional argument as usage lines show it."""
    name = "|".join(action.choices) if action.choices else action.dest.upper()
    many = {"+": f"{name}…", "?": f"[{name}]"}
    return many.get(str(action.nargs), name)


def _number(text: str) -> object:
    """A number where it is one; its range is checked where it is used, in the words of the tools (F136)."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
