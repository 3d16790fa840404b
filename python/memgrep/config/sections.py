"""The tables of settings, one class each: complete, checked, frozen.

Names are those of the keys in snake_case (`lambda` is `lambda_`), so that `query.hybrid.mmr.lambda` is
`settings.query.hybrid.mmr.lambda_`. Paths are absolute, `{agentId}` and `~` are replaced, a pair of weights
adds up to 1. Times end in their unit; `qmd.update.interval` and `embed_interval` are seconds.

These are plain classes with slots and not dataclasses, because importing `dataclasses` costs a cold start
more than all of this package.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from memgrep.config.secret import Secret

__all__ = [
    "Batch",
    "Cache",
    "Chunking",
    "Decay",
    "ExtraPath",
    "Flush",
    "Hybrid",
    "Local",
    "Mmr",
    "Multimodal",
    "Qmd",
    "QmdLimits",
    "QmdPath",
    "QmdSessions",
    "QmdUpdate",
    "Query",
    "Remote",
    "Rule",
    "Scope",
    "Section",
    "SessionSync",
    "Store",
    "StoreVector",
    "Sync",
]


class Section:
    """A frozen record: all its fields by name, equal if they are equal."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, **values: object) -> None:
        if values.keys() != set(self.__slots__):
            odd = sorted(values.keys() ^ set(self.__slots__))
            raise TypeError(f"{type(self).__name__}: missing or unknown fields: {', '.join(odd)}")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are frozen; use replace({name}=…)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("settings are frozen")

    def replace(self, **changes: object) -> Self:
        """A copy with other values."""
        return type(self)(**{name: getattr(self, name) for name in self.__slots__} | changes)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), {name: getattr(self, name) for name in self.__slots__})

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


def _rebuilt(section: type[Section], values: dict[str, object]) -> Section:
    return section(**values)


class Batch(Section):
    """`remote.batch`: asynchronous jobs for large back-fills."""

    __slots__ = ("concurrency", "enabled", "poll_interval_ms", "timeout_minutes", "wait")
    concurrency: int
    enabled: bool
    poll_interval_ms: int
    timeout_minutes: int
    wait: bool


class Remote(Section):
    """`remote`, as written. Who calls a provider asks `Settings.endpoint`, which knows whose key is whose."""

    __slots__ = ("api_key", "base_url", "batch", "headers", "non_batch_concurrency")
    api_key: Secret | None
    base_url: str | None
    batch: Batch
    headers: Mapping[str, Secret]
    non_batch_concurrency: int


class Local(Section):
    """`local`: a model on this machine. `model_path` is absolute, starts with `hf:`, or is a model's name."""

    __slots__ = ("context_size", "model_cache_dir", "model_path")
    context_size: int
    model_cache_dir: str | None
    model_path: str | None


class ExtraPath(Section):
    """A file or folder of notes beside the workspace's own; `evergreen`: its undated notes never fade."""

    __slots__ = ("evergreen", "path", "pattern")
    evergreen: bool
    path: str
    pattern: str | None


class Multimodal(Section):
    """`multimodal`: `modalities` holds only `image` and `audio`."""

    __slots__ = ("enabled", "max_file_bytes", "modalities")
    enabled: bool
    max_file_bytes: int
    modalities: tuple[str, ...]


class Chunking(Section):
    """`chunking`: tokens a chunk may have, and repeats of the one before; always 0 ≤ overlap < tokens."""

    __slots__ = ("overlap", "tokens")
    overlap: int
    tokens: int


class StoreVector(Section):
    """`store.vector`: `engine` is exact, vec0, usearch or auto."""

    __slots__ = ("enabled", "engine", "extension_path")
    enabled: bool
    engine: str
    extension_path: str | None


class Store(Section):
    """`store`: the index's SQLite file."""

    __slots__ = ("path", "vector")
    path: str
    vector: StoreVector


class Cache(Section):
    """`cache`: vectors no chunk needs now, kept for later."""

    __slots__ = ("enabled", "max_entries")
    enabled: bool
    max_entries: int


class SessionSync(Section):
    """`sync.sessions`: when a grown transcript is read again, and the folder of transcripts."""

    __slots__ = ("delta_bytes", "delta_messages", "path", "post_compaction_force")
    delta_bytes: int
    delta_messages: int
    path: str
    post_compaction_force: bool


class Sync(Section):
    """`sync`: when the index is brought in line with the files. Interval 0 = never by the clock."""

    __slots__ = (
        "embedding_batch_timeout_seconds",
        "interval_minutes",
        "max_file_bytes",
        "on_search",
        "on_session_start",
        "sessions",
        "watch",
        "watch_debounce_ms",
    )
    embedding_batch_timeout_seconds: int | None
    interval_minutes: int
    max_file_bytes: int
    on_search: bool
    on_session_start: bool
    sessions: SessionSync
    watch: bool
    watch_debounce_ms: int


class Mmr(Section):
    """`query.hybrid.mmr`: 1 = relevance only, 0 = diversity only."""

    __slots__ = ("enabled", "lambda_")
    enabled: bool
    lambda_: float


class Decay(Section):
    """`query.hybrid.temporalDecay`: `floor` None = the measured one."""

    __slots__ = ("enabled", "extra_paths", "floor", "half_life_days")
    enabled: bool | str
    extra_paths: str
    floor: float | None
    half_life_days: float

    @property
    def mode(self) -> str:
        """`on` (the exponential), `off`, or `auto`."""
        if isinstance(self.enabled, str):
            return self.enabled
        return "on" if self.enabled else "off"


class Hybrid(Section):
    """`query.hybrid`: weights are None (measured), or both set and their sum is 1."""

    __slots__ = (
        "candidate_multiplier",
        "enabled",
        "fusion",
        "mmr",
        "temporal_decay",
        "text_weight",
        "vector_weight",
    )
    candidate_multiplier: int
    enabled: bool
    fusion: str
    mmr: Mmr
    temporal_decay: Decay
    text_weight: float | None
    vector_weight: float | None


class Query(Section):
    """`query`: what a search returns; `temporal`: whether the time a question names counts."""

    __slots__ = ("hybrid", "max_results", "min_score", "temporal")
    hybrid: Hybrid
    max_results: int
    min_score: float
    temporal: bool


class QmdPath(Section):
    """A collection of the QMD backend; `name` None = made by us."""

    __slots__ = ("name", "path", "pattern")
    name: str | None
    path: str
    pattern: str


class QmdSessions(Section):
    """`memory.qmd.sessions`."""

    __slots__ = ("enabled", "export_dir", "retention_days")
    enabled: bool
    export_dir: str
    retention_days: int | None


class QmdUpdate(Section):
    """`memory.qmd.update`: intervals in seconds, 0 = off."""

    __slots__ = (
        "command_timeout_ms",
        "debounce_ms",
        "embed_interval",
        "embed_timeout_ms",
        "interval",
        "on_boot",
        "update_timeout_ms",
        "wait_for_boot_sync",
    )
    command_timeout_ms: int
    debounce_ms: int
    embed_interval: float
    embed_timeout_ms: int
    interval: float
    on_boot: bool
    update_timeout_ms: int
    wait_for_boot_sync: bool


class QmdLimits(Section):
    """`memory.qmd.limits`."""

    __slots__ = ("max_injected_chars", "max_results", "max_snippet_chars", "timeout_ms")
    max_injected_chars: int
    max_results: int
    max_snippet_chars: int
    timeout_ms: int


class Rule(Section):
    """A scope rule: `match` holds some of chatType, channel, keyPrefix, rawKeyPrefix, in lower case."""

    __slots__ = ("action", "match")
    action: str
    match: Mapping[str, str]


class Scope(Section):
    """Which sessions may search: the first rule that matches decides, else `default`; allow or deny."""

    __slots__ = ("default", "rules")
    default: str
    rules: tuple[Rule, ...]


class Qmd(Section):
    """`memory.qmd`: the sidecar backend. `home` is its own XDG home below the agent's folder."""

    __slots__ = (
        "command",
        "home",
        "include_default_memory",
        "limits",
        "paths",
        "scope",
        "search_mode",
        "sessions",
        "update",
    )
    command: str
    home: str
    include_default_memory: bool
    limits: QmdLimits
    paths: tuple[QmdPath, ...]
    scope: Scope
    search_mode: str
    sessions: QmdSessions
    update: QmdUpdate


class Flush(Section):
    """`agents.defaults.compaction`: when to ask for memories. Prompts None = the built-in ones."""

    __slots__ = (
        "enabled",
        "force_flush_transcript_bytes",
        "model",
        "prompt",
        "reserve_tokens_floor",
        "soft_threshold_tokens",
        "system_prompt",
    )
    enabled: bool
    force_flush_transcript_bytes: int
    model: str | None
    prompt: str | None
    reserve_tokens_floor: int
    soft_threshold_tokens: int
    system_prompt: str | None
