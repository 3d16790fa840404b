"""Everything memgrep raises on purpose.

    MemgrepError
    ├── ConfigError               settings that cannot be meant: file, line, key, what is allowed
    ├── WorkspaceUnavailable      the folder of the notes is not there or cannot be read
    ├── IndexUnavailable          the index cannot be opened or read
    │   ├── IndexLocked           another process writes, and went on longer than we wait
    │   └── IndexForeign          the file is not ours, or of a newer memgrep; left as it is
    ├── ProviderError             an embedding provider failed: who, why, what helps
    │   ├── ProviderUnknown       no provider has that name
    │   ├── ProviderUnavailable   not set up, not reachable, or answering 5xx
    │   │   └── ModelMissing      a local model is not on disk
    │   ├── ProviderTimeout       no answer in time
    │   ├── ProviderAuth          no key, or the key was refused (401, 403)
    │   ├── ProviderRateLimited   too many requests (429), or the quota is used up
    │   ├── ProviderRejected      it refused the texts themselves (400, 413, 422)
    │   └── ProviderBadAnswer     zero, non-finite, miscounted or wrong-length vectors, or no JSON
    ├── NoteRefused               memory_get may not read that path: a code and a reason
    ├── LabelsInvalid             a labelled set or a file of results cannot be meant: file, line, why
    ├── PlotUnavailable           a picture cannot be drawn: what is missing, and what helps
    └── BackendUnavailable        the QMD sidecar is missing, dead, late or unreadable

An argument that cannot be meant (`max_results=0`) is a `ValueError`. `ConfigError` is one as well, because
settings can be arguments. No message ever holds a secret: it names the key or the variable that holds it. A
message is one line (settings: one for each problem), whatever is in the path it names.
"""

from memgrep.printable import one_line

__all__ = [
    "BackendUnavailable",
    "ConfigError",
    "IndexForeign",
    "IndexLocked",
    "IndexUnavailable",
    "LabelsInvalid",
    "MemgrepError",
    "ModelMissing",
    "NoteRefused",
    "PlotUnavailable",
    "Problem",
    "ProviderAuth",
    "ProviderBadAnswer",
    "ProviderError",
    "ProviderRateLimited",
    "ProviderRejected",
    "ProviderTimeout",
    "ProviderUnavailable",
    "ProviderUnknown",
    "WorkspaceUnavailable",
]


class MemgrepError(Exception):
    """Root of the tree: catch this to catch everything memgrep raises on purpose."""


class Problem:
    """One thing that is wrong with the settings.

    `source` is a file's path, an environment variable's name, or `argument`; `line` counts from 1 and is
    None where there are no lines; `key` is the dotted key, `""` for the file as a whole.
    """

    __slots__ = ("key", "line", "message", "source")

    def __init__(self, source: str, line: int | None, key: str, message: str) -> None:
        self.source = source
        self.line = line
        self.key = key
        self.message = message

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return one_line(f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}")

    def __repr__(self) -> str:
        return f"Problem({self!s})"


class ConfigError(MemgrepError, ValueError):
    """Settings that cannot be meant; all problems that were found, one line each."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    @property
    def usage(self) -> bool:
        """Whether every problem stands in an argument: a command ends with 2 then, not with 1."""
        return all(problem.source == "argument" for problem in self.problems)


class WorkspaceUnavailable(MemgrepError):
    """The folder of the notes is not there or cannot be read. The index is left as it is."""


class IndexUnavailable(MemgrepError):
    """The index cannot be opened, read or, where that was asked for, written. The notes are not touched."""


class IndexLocked(IndexUnavailable):
    """Another process writes the index and went on longer than we wait."""


class IndexForeign(IndexUnavailable):
    """The file at the store path is not ours, or of a newer memgrep. It is left as it is."""


class ProviderError(MemgrepError):
    """An embedding provider failed.

    `provider` is its id, `cause` what happened, `remedy` what the user can do (may be empty), `status` the
    HTTP status if there was one, `retry_after` the seconds the provider asked us to wait.
    """

    def __init__(
        self,
        provider: str,
        cause: str,
        remedy: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(provider, cause, remedy)
        self.provider = provider
        self.cause = cause
        self.remedy = remedy
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        text = f"{self.provider}: {self.cause}" if self.provider else self.cause
        return one_line(f"{text}; {self.remedy}" if self.remedy else text)


class ProviderUnknown(ProviderError):
    """No provider has that name. Status, reading and keyword search still work."""


class ProviderUnavailable(ProviderError):
    """Not set up, not reachable, or answering with a server error. Worth another try later."""


class ModelMissing(ProviderUnavailable):
    """A local model is not on disk. `remedy` names the command that fetches it."""


class ProviderTimeout(ProviderError):
    """No answer in time. Worth another try later."""


class ProviderAuth(ProviderError):
    """No key where one is needed, or the key was refused. Trying again does not help."""


class ProviderRateLimited(ProviderError):
    """Too many requests, or the quota is used up; `retry_after` if the provider said when."""


class ProviderRejected(ProviderError):
    """The provider refused the texts themselves. Trying the same texts again does not help."""


class ProviderBadAnswer(ProviderError):
    """The answer cannot be used: nothing of it is stored."""


class NoteRefused(MemgrepError):
    """A path that may not be read.

    `code` is stable and for programs (`outside`, `link`, `extension`, `device`, `not-memory`), `reason` is
    for people.
    """

    def __init__(self, path: str, code: str, reason: str) -> None:
        super().__init__(path, code, reason)
        self.path = path
        self.code = code
        self.reason = reason

    def __str__(self) -> str:
        return one_line(f"{self.path}: {self.reason} ({self.code})")


class LabelsInvalid(MemgrepError):
    """A labelled set, or a file of results, that cannot be meant.

    `file` is its path or the set's name, `line` counts from 1 and is None where no line is to blame.
    """

    def __init__(self, file: str, line: int | None, message: str) -> None:
        super().__init__(file, line, message)
        self.file = file
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return one_line(f"{place}: {self.message}")


class PlotUnavailable(MemgrepError):
    """A picture cannot be drawn; the message says what helps."""


class BackendUnavailable(MemgrepError):
    """The QMD sidecar failed; the built-in index answers instead and says so."""

    def __init__(self, backend: str, reason: str) -> None:
        super().__init__(backend, reason)
        self.backend = backend
        self.reason = reason

    def __str__(self) -> str:
        return one_line(f"{self.backend}: {self.reason}")
