"""Memory search for AI agents.

    from memgrep import Memory

    with Memory("~/notes") as memory:
        memory.index()
        for hit in memory.search("when does the harbour open?"):
            print(hit.path, hit.start_line, hit.snippet)

Names are imported when they are first used, so that importing the package costs next to nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memgrep.asynchronous import AsyncMemory as AsyncMemory
    from memgrep.config import Settings as Settings
    from memgrep.config import load as load
    from memgrep.errors import ConfigError as ConfigError
    from memgrep.errors import IndexUnavailable as IndexUnavailable
    from memgrep.errors import MemgrepError as MemgrepError
    from memgrep.errors import NoteRefused as NoteRefused
    from memgrep.errors import ProviderError as ProviderError
    from memgrep.files import Page as Page
    from memgrep.hits import Answer as Answer
    from memgrep.hits import Explanation as Explanation
    from memgrep.hits import Hit as Hit
    from memgrep.memory import Memory as Memory
    from memgrep.sync import Report as Report
    from memgrep.tools import memory_get as memory_get
    from memgrep.tools import memory_search as memory_search

_HOMES = {
    "Answer": "hits",
    "AsyncMemory": "asynchronous",
    "ConfigError": "errors",
    "Explanation": "hits",
    "Hit": "hits",
    "IndexUnavailable": "errors",
    "MemgrepError": "errors",
    "Memory": "memory",
    "NoteRefused": "errors",
    "Page": "files",
    "ProviderError": "errors",
    "Report": "sync",
    "Settings": "config",
    "load": "config",
    "memory_get": "tools",
    "memory_search": "tools",
}

__all__ = [
    "Answer",
    "AsyncMemory",
    "ConfigError",
    "Explanation",
    "Hit",
    "IndexUnavailable",
    "MemgrepError",
    "Memory",
    "NoteRefused",
    "Page",
    "ProviderError",
    "Report",
    "Settings",
    "load",
    "memory_get",
    "memory_search",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
