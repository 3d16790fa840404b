"""Settings: read from files, environment and arguments, checked, merged, and frozen.

    places    where the files and folders are on this machine
    kinds     what a value may be, and the words for it
    keys      every key: kind, default, who may set it        (docs/configuration.md has the same rows)
    written   the sources as they were written, with lines
    resolve   layers over defaults → the settings that are used
    settings  their types

`load()` is the door. All of it is imported on every start, so nothing here imports more than `os` and `stat`.
"""

from memgrep.config.keys import KEYS, PROVIDERS, Key, env_name
from memgrep.config.places import Places, agent_folder_name
from memgrep.config.resolve import load
from memgrep.config.secret import Secret
from memgrep.config.settings import (
    Batch,
    Cache,
    Chunking,
    CustomProvider,
    Decay,
    Endpoint,
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
    Row,
    Rule,
    Scope,
    SessionSync,
    Settings,
    Store,
    StoreVector,
    Sync,
)

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
    "env_name",
    "load",
]
