"""The command: arguments in, text or one JSON document out.

    0  it worked, also when nothing was found
    1  it did not
    2  it was asked wrongly

Standard output holds the answer, standard error everything else. What a command needs is imported when it
runs: a search starts in a few dozen milliseconds.
"""

import os
import sys

from memgrep.printable import harmless, json_line, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from memgrep.arguments import Options
    from memgrep.memory import Memory

__all__ = ["COMMANDS", "main"]

OK, FAILED, USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(arguments: list[str] | None = None) -> "NoReturn":
    """Runs a command and leaves the process."""
    _want_utf8_names()
    from memgrep.terminal import speak_utf8

    speak_utf8()
    try:
        if sys.stdout is None:
            # Closed by whoever started us: what cannot be said is not a failure of what was asked.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the process
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Nothing may be written any more, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    except OSError as error:
        # The answer could not be written (a full disk): said once, and not tried again at exit.
        print(f"memgrep: error: cannot write the answer: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    if arguments is None and sys.argv[1:2] == ["search"]:
        # The answer is out. Taking an index and an interpreter apart is a tenth of a search's time.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Runs a command; its exit code."""
    from memgrep.arguments import Options, UsageError, read, wants_json

    try:
        options = read(arguments)
    except UsageError as wrong:
        print(f"memgrep: error: {one_line(str(wrong))}\nusage: {wrong.usage}", file=sys.stderr)
        if wants_json(arguments):
            print(json_line({"ok": False, "error": str(wrong), "usage": wrong.usage}))
        return USAGE
    if not isinstance(options, Options):
        print(options)
        return OK
    door = _Door(options)
    try:
        return COMMANDS[options.command](door, options)
    except KeyboardInterrupt:
        return door.interrupted()
    except BrokenPipeError:
        raise
    except Exception as error:
        code = door.failed(error)
        if code == 0:
            raise
        return code
    finally:
        door.progress.clear()


class _Door:
    """What every command needs: how to speak, and the memory once it is asked for."""

    def __init__(self, options: "Options") -> None:
        from memgrep.terminal import Progress, Style

        self.json: bool = getattr(options, "json", False)
        self.options = options
        self.style: Style = Style(sys.stdout, os.environ)
        self.progress: Progress = Progress(sys.stderr)
        self._memory: Memory | None = None

    @property
    def memory(self) -> "Memory":
        """The memory the options mean. Nothing of ours runs on after the answer (F135)."""
        if self._memory is None:
            from memgrep.memory import Memory

            self._memory = Memory(
                self.options.workspace,
                agent=self.options.agent,
                arguments=_settings(self.options.set),
                background=False,
            )
            for warning in self._memory.settings.warnings:
                self.warn(warning)
        return self._memory

    def document(self, document: object) -> None:
        """The one JSON document on standard output."""
        print(json_line(document))

    def warn(self, text: str) -> None:
        """A line on standard error that does not stop anything."""
        self._say(f"memgrep: warning: {text}")

    def note(self, text: str) -> None:
        """A line on standard error that is just good to know."""
        self._say(f"memgrep: {text}")

    def failed(self, error: Exception) -> int:
        """Says what is wrong, a line for each problem; 0 for a fault of ours, which deserves its traceback."""
        from memgrep.errors import ConfigError, MemgrepError, NoteRefused

        if not isinstance(error, MemgrepError | ValueError | OSError):
            return 0
        usage = (
            error.usage if isinstance(error, ConfigError) else not isinstance(error, MemgrepError | OSError)
        )
        said = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            said = f"{error.filename}: {error.strerror}"
        for line in map(str, error.problems) if isinstance(error, ConfigError) else [said]:
            self.error(line)
        if self.json:
            from memgrep.tools import refusal

            failure = {"ok": False, "error": said}
            self.document(refusal(error) if isinstance(error, NoteRefused) else failure)
        return USAGE if usage else FAILED

    def interrupted(self) -> int:
        """Ctrl-C: says what is kept."""
        kept = ""
        if self._memory is not None and self.options.command == "index":
            seen = self._memory.status()
            kept = (
                f"; kept: {seen['files']} notes, {seen['vectors']} vectors; memgrep index goes on from there"
            )
        self._say(f"memgrep: interrupted{kept}")
        if self.json:
            self.document({"ok": False, "error": f"interrupted{kept}"})
        return INTERRUPTED

    def error(self, text: str) -> None:
        """A line on standard error that tells of a failure."""
        self._say(f"memgrep: error: {text}")

    def _say(self, text: str) -> None:
        self.progress.clear()
        print(one_line(text), file=sys.stderr)


# --- the commands


def index(door: _Door, options: "Options") -> int:
    """Bring the index in line with the notes."""
    from memgrep import show

    # Called now and then while the core works, which is also when Ctrl-C gets its chance.
    done = door.memory.index(
        paths=[_decoded(path) for path in options.paths] or None,
        force=options.force,
        verify=options.verify,
        progress=door.progress,
        notice=door.note,
    )
    door.progress.clear()
    # Those about the settings are said already.
    for warning in done.warnings[len(door.memory.settings.warnings) :]:
        door.warn(warning)
    for left_out in (*done.skipped, *done.unreachable):
        if left_out not in done.refused:
            door.warn(": ".join(left_out))
    for path, reason in done.refused:
        door.error(f"{path}: {reason}")
    if done.error:
        door.warn(f"{done.error}; {done.action}" if done.action else done.error)
    if door.json:
        door.document({"ok": done.complete, **done.to_json()})
    else:
        print(show.report(done))
    return OK if done.complete else FAILED


def search(door: _Door, options: "Options") -> int:
    """Find the lines that answer a question."""
    from memgrep.tools import answered

    answer = answered(
        door.memory,
        _decoded(" ".join(options.query)),
        max_results=options.max_results,
        min_score=options.min_score,
        corpus=options.corpus,
        since=options.since,
        until=options.until,
        path=_decoded(options.path) if options.path is not None else None,
        source=options.source,
        # A command line is no chat: cited only if the settings say so.
        session="command:group",
    )
    if door.json:
        door.document(answer.to_json(explain=options.explain))
    if answer.unavailable:
        door.error(f"{answer.error}; {answer.action}" if answer.action else str(answer.error))
        return FAILED
    if answer.fallback:
        door.warn(
            f"{answer.fallback.to} answered instead of {answer.fallback.from_}: {answer.fallback.reason}"
        )
    if answer.warning:
        door.warn(answer.warning)
    if not door.json:
        from memgrep import show

        if answer.hits:
            print(show.found(answer, door.style, explain=options.explain))
        else:
            door.note("nothing found")
    return OK


def get(door: _Door, options: "Options") -> int:
    """Read lines of a note."""
    page = door.memory.get(
        _decoded(options.path), from_=options.start, lines=options.lines, column=options.column
    )
    if door.json:
        door.document(page.to_json())
        return OK
    if page.status == "not_found":
        door.note(f"{page.path}: there is no such note")
        return OK
    if page.lines:
        # A pipe gets the note as it is, a terminal what it can be trusted with.
        print(harmless(page.text) if sys.stdout.isatty() else page.text)
    if page.next_column is not None:
        door.note(f"line {page.from_} goes on: --from {page.from_} --column {page.next_column}")
    if page.next_from is not None:
        door.note(f"the note goes on: --from {page.next_from}")
    elif page.total_lines is not None:
        door.note(f"{page.path} has {page.total_lines} lines")
    return OK


def status(door: _Door, options: "Options") -> int:
    """Say what is indexed, what is not, and why."""
    seen = door.memory.status(deep=options.deep)
    if door.json:
        door.document(seen)
    else:
        from memgrep import show

        print(show.status(seen, door.style))
    return OK


def config(door: _Door, options: "Options") -> int:
    """Show every setting and where it comes from."""
    rows = door.memory.settings.listing()
    if door.json:
        door.document({row.key: {"value": row.value, "origin": row.origin} for row in rows})
    else:
        from memgrep import show

        print(show.settings(rows))
    return OK


def models(door: _Door, options: "Options") -> int:
    """List, download, check or remove local models."""
    from memgrep.local_models import act

    return act(options.action, options.model, door.memory.settings, door)


def evaluate(door: _Door, options: "Options") -> int:
    """Ask labelled questions and say how good the answers are."""
    from memgrep import evaluation
    from memgrep.evaluation import plot, report

    measure = evaluation.measure(options.measure)
    evaluation.check_seed(options.seed)
    if options.plot is not None:
        plot.check(options.plot)
    if options.out is not None:
        evaluation.check_file(options.out)
    done = evaluation.evaluate(
        options.sets,
        options.arm or evaluation.DEFAULT_ARMS,
        workspace=options.workspace,
        agent=options.agent,
        arguments=_settings(options.set),
        fresh=options.fresh,
        progress=door.progress,
        notice=door.note,
    )
    door.progress.clear()
    for warning in dict.fromkeys(f"{run.set}: {warning}" for run in done.runs for warning in run.warnings):
        door.warn(warning)
    if options.out is not None:
        evaluation.write_results(done.judged, options.out)
    if options.plot is not None:
        plot.plot(done, measure, options.plot)
    if door.json:
        door.document(report.evaluation_document(done, measure, seed=options.seed))
    else:
        print(report.evaluation(done, measure, seed=options.seed))
    return OK


def eval_init(door: _Door, options: "Options") -> int:
    """Draft questions about your notes from their headings."""
    import datetime

    from memgrep.evaluation import draft, write

    draft.refuse_among_notes(options.folder, door.memory)
    door.memory.index(embed=False, progress=door.progress)
    door.progress.clear()
    drafted = draft.draft(
        door.memory, datetime.date.today(), limit=options.limit, seed=options.seed, copy=options.copy
    )
    write(drafted, options.folder)
    if door.json:
        door.document({"ok": True, "folder": options.folder, "questions": len(drafted.questions)})
    else:
        folder = one_line(options.folder)
        print(f"{len(drafted.questions)} questions in {folder}; memgrep eval {folder} asks them")
    return OK


def eval_compare(door: _Door, options: "Options") -> int:
    """Compare what two runs wrote with --out, question by question."""
    from memgrep import evaluation
    from memgrep.evaluation import report

    measure = evaluation.measure(options.measure)
    before, after = (evaluation.read_results(file) for file in (options.before, options.after))
    done = evaluation.compare(before, after, measure=measure, seed=options.seed)
    if door.json:
        door.document(report.compared_document(done, measure))
    else:
        print(report.compared(done, measure))
    return OK


COMMANDS: "dict[str, Callable[[_Door, Options], int]]" = {
    "index": index,
    "search": search,
    "get": get,
    "status": status,
    "eval": evaluate,
    "eval init": eval_init,
    "eval compare": eval_compare,
    "models": models,
    "config": config,
}


def _settings(written: list[str]) -> "dict[str, Any]":
    """`--set KEY=VALUE` as arguments of the settings."""
    from memgrep.config import read_text

    values: dict[str, Any] = {}
    for one in written:
        name, equals, text = one.partition("=")
        if not equals:
            raise ValueError(f"--set {one}: write KEY=VALUE")
        values[name.strip()] = read_text(name, text)
    return values


def _decoded(text: str) -> str:
    """Bytes of an argument that the locale could not read are UTF-8 all the same (F137)."""
    return os.fsencode(text).decode("utf-8", "replace") if not text.isascii() else text


def _want_utf8_names() -> None:
    """Starts again in UTF-8 mode where the locale would make other file names of ours (F137)."""
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "memgrep", *sys.argv[1:]])
