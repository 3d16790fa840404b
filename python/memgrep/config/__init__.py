"""Settings: read from files, environment and arguments, checked, merged, and frozen.

    places    where the files and folders are on this machine
    kinds     what one value may be, and the words for it
    shapes    the same for lists and tables
    secret    a value that must not be seen
    keys      every key: kind, default, who may set it        (docs/configuration.md has the same rows)
    written   the sources as they were written, with lines
    resolve   layers over defaults → the settings that are used
    sections  a class for each table; settings: all of them together

`load()` is the door. All of it is imported on every start, so nothing here imports more than `os` and `stat`.
"""

from memgrep.config.keys import KEYS, PROVIDERS, Key, check, env_name, read_text
from memgrep.config.places import Places, agent_folder_name
from memgrep.config.resolve import load
from memgrep.config.secret import Secret
from memgrep.config.sections import (
    Batch,
    Cache,
    Chunking,
    Decay,
    ExtraPath,
    Flush,
    Hybrid,
    Local,
    Mmr,
    Multimodal,
    Qmd,
    QmdLimits,
    QmdPath,
    QmdSessions,
    QmdUpdate,
    Query,
    Remote,
    Rule,
    Scope,
    SessionSync,
    Store,
    StoreVector,
    Sync,
)
from memgrep.config.settings import CustomProvider, Endpoint, Row, Settings

__all__ = [
    "KEYS",
    "PROVIDERS",
    "Batch",
    "Cache",
    "Chunking",
    "CustomProvider",
    "Decay",
    "Endpoint",
    "ExtraPath",
    "Flush",
    "Hybrid",
    "Key",
    "Local",
    "Mmr",
    "Multimodal",
    "Places",
    "Qmd",
    "QmdLimits",
    "QmdPath",
    "QmdSessions",
    "QmdUpdate",
    "Query",
    "Remote",
    "Row",
    "Rule",
    "Scope",
    "Secret",
    "SessionSync",
    "Settings",
    "Store",
    "StoreVector",
    "Sync",
    "agent_folder_name",
    "check",
    "env_name",
    "load",
    "read_text",
]
