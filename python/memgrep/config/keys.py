"""Every key: name, kind, default, who may set it. The one table that everything else follows.

Names without a first `memory.`, `agents.` or `models.` belong to `memory.search`. `docs/configuration.md`
has the same rows with their meaning; a test compares the two.
"""

from __future__ import annotations

from memgrep.config.kinds import (
    Choice,
    Duration,
    Flag,
    Glob,
    Kind,
    Number,
    SecretText,
    Size,
    Text,
    TimeZone,
    Url,
    Whole,
    Wrong,
    node_of,
    value_of,
)
from memgrep.config.shapes import Choices, Headers, Models, Paths, Rules, Texts

__all__ = [
    "APIS",
    "ENTRY",
    "KEYS",
    "OPENCLAW_ONLY",
    "PER_AGENT",
    "PROVIDERS",
    "Key",
    "check",
    "env_name",
    "read_text",
    "snake",
]

# Section 6.1 of the contract; `google` is how OpenClaw's models.providers spells gemini.
PROVIDERS = (
    "openai",
    "openai-compatible",
    "gemini",
    "voyage",
    "mistral",
    "bedrock",
    "deepinfra",
    "github-copilot",
    "ollama",
    "lmstudio",
    "local",
    "static",
)

# What OpenClaw calls the wire formats that have an embedding side.
APIS = {
    "openai-completions": "openai-compatible",
    "openai-responses": "openai-compatible",
    "google-generative-ai": "gemini",
    "bedrock-converse-stream": "bedrock",
}

HUGE = 10**12


class Key:
    """One key. `notes`: a workspace file may set it too. `adds`: lists of all files add up."""

    __slots__ = ("adds", "at", "default", "kind", "name", "notes", "told")

    def __init__(
        self,
        name: str,
        kind: Kind,
        default: object,
        *,
        notes: bool = False,
        adds: bool = False,
        at: str = "",
        told: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.notes = notes
        self.adds = adds
        # Where it is in `Settings`, if not where its name says.
        self.at = at or snake(name)
        # The default in words, where it has to be worked out.
        self.told = told


def check(name: str, value: object) -> object:
    """One value of a key, for tools and commands that take it as an argument of their own.

    `ValueError` says what was found and what is allowed.
    """
    try:
        return KEYS[name].kind.take(node_of(value))
    except Wrong as wrong:
        raise ValueError(f"{name.rpartition('.')[2]}: {wrong.message}") from None


def read_text(name: str, text: str) -> object:
    """A value that was written as one text (`--set KEY=VALUE`), as a value for `load(arguments)`.

    The key may be in either spelling and may start with `memory.search.`; an unknown one leaves the text as
    it is, since the settings know best what it may have meant. `ValueError` if the text cannot be read.
    """
    short = name.strip().removeprefix("memory.search.")
    key = KEYS.get(short) or next((key for known, key in KEYS.items() if snake(known) == short), None)
    try:
        return text if key is None else value_of(key.kind.read(text))
    except Wrong as wrong:
        raise ValueError(f"{name}: {wrong.message}") from None


def snake(name: str) -> str:
    """`query.maxResults` → `query.max_results`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def env_name(name: str) -> str:
    """`query.maxResults` → `MEMGREP_QUERY_MAX_RESULTS`."""
    return "MEMGREP_" + snake(name).replace(".", "_").upper()


def _flag(name: str, default: bool, *, notes: bool = False) -> Key:
    return Key(name, Flag(), default, notes=notes)


def _whole(name: str, default: int | None, low: int, high: int, *, notes: bool = False, at: str = "") -> Key:
    return Key(name, Whole(low, high), default, notes=notes, at=at)


def _text(name: str, default: str | None = None, what: str = "a text", *, at: str = "") -> Key:
    return Key(name, Text(what), default, at=at)


_FLUSH = "agents.defaults.compaction.memoryFlush."

KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        _flag("enabled", True),
        Key("sources", Choices("memory", "sessions"), ("memory",)),
        _text("provider", "auto", "the name of a provider"),
        _text("model"),
        _whole("outputDimensionality", None, 1, 65536),
        _text("inputType"),
        _text("queryInputType"),
        _text("documentInputType"),
        _text("fallback", "none", "the name of a provider"),
        Key("remote.baseUrl", Url(), None),
        Key("remote.apiKey", SecretText(), None),
        Key("remote.headers", Headers(), {}),
        _whole("remote.nonBatchConcurrency", 4, 1, 64),
        _flag("remote.batch.enabled", False),
        _flag("remote.batch.wait", True),
        _whole("remote.batch.concurrency", 2, 1, 64),
        _whole("remote.batch.pollIntervalMs", 2000, 0, 3_600_000),
        _whole("remote.batch.timeoutMinutes", 60, 1, 10_080),
        _text("local.modelPath", None, "a file, a folder or hf:org/repo[/file][@revision]"),
        _text("local.modelCacheDir", None, "a folder"),
        _whole("local.contextSize", 4096, 128, 1_048_576),
        Key("extraPaths", Paths(pattern=Glob(), evergreen=Flag()), (), notes=True, adds=True),
        Key("ignore", Texts("a list of patterns as in .gitignore"), (), notes=True, adds=True),
        _flag("multimodal.enabled", False),
        Key("multimodal.modalities", Choices("image", "audio", "all"), ()),
        _whole("multimodal.maxFileBytes", 10_000_000, 1, HUGE),
        _flag("experimental.sessionMemory", False),
        _whole("chunking.tokens", 400, 1, 32_768, notes=True),
        _whole("chunking.overlap", 80, 0, 32_768, notes=True),
        Key("store.path", Text("a path"), None, told="<state>/memory/{agentId}.memgrep.sqlite"),
        _flag("store.vector.enabled", True),
        Key("store.vector.engine", Choice("auto", "exact", "vec0", "usearch"), "auto"),
        _text("store.vector.extensionPath", None, "a path"),
        _flag("cache.enabled", True),
        _whole("cache.maxEntries", 50_000, 1, HUGE),
        _flag("sync.onSessionStart", True),
        _flag("sync.onSearch", True),
        _flag("sync.watch", True),
        _whole("sync.watchDebounceMs", 1500, 0, 3_600_000),
        _whole("sync.intervalMinutes", 0, 0, 525_600),
        _whole("sync.maxFileBytes", 20_000_000, 1, HUGE),
        _whole("sync.embeddingBatchTimeoutSeconds", None, 1, 86_400),
        _whole("sync.sessions.deltaBytes", 100_000, 0, HUGE),
        _whole("sync.sessions.deltaMessages", 50, 0, HUGE),
        _flag("sync.sessions.postCompactionForce", True),
        Key("sync.sessions.path", Text("a folder"), None, told="<openclaw>/agents/{agentId}/sessions"),
        _whole("query.maxResults", 6, 1, 2000, notes=True),
        Key("query.minScore", Number(0, 1), 0.35, notes=True),
        _flag("query.temporal", True, notes=True),
        _flag("query.hybrid.enabled", True, notes=True),
        Key("query.hybrid.fusion", Choice("absolute", "weighted-rank"), "absolute", notes=True),
        Key("query.hybrid.vectorWeight", Number(0, 1), None, notes=True, told="measured"),
        Key("query.hybrid.textWeight", Number(0, 1), None, notes=True, told="measured"),
        _whole("query.hybrid.candidateMultiplier", 4, 1, 1_000_000, notes=True),
        _flag("query.hybrid.mmr.enabled", True, notes=True),
        Key("query.hybrid.mmr.lambda", Number(0, 1), 0.7, notes=True, at="query.hybrid.mmr.lambda_"),
        Key("query.hybrid.temporalDecay.enabled", Flag("auto"), "auto", notes=True),
        Key("query.hybrid.temporalDecay.halfLifeDays", Number(0, 36_500, above=True), 30.0, notes=True),
        Key("query.hybrid.temporalDecay.floor", Number(0, 1), None, notes=True, told="measured"),
        Key("query.hybrid.temporalDecay.extraPaths", Choice("evergreen", "mtime"), "evergreen", notes=True),
        Key("memory.citations", Choice("auto", "on", "off"), "auto", at="citations"),
        Key("memory.backend", Choice("builtin", "qmd"), "builtin", at="backend"),
        _text("memory.qmd.command", "qmd", "a command", at="qmd.command"),
        Key("memory.qmd.searchMode", Choice("search", "vsearch", "query"), "search", at="qmd.search_mode"),
        Key("memory.qmd.includeDefaultMemory", Flag(), True, at="qmd.include_default_memory"),
        Key("memory.qmd.paths", Paths(name=Text("a name"), pattern=Glob()), (), at="qmd.paths"),
        Key("memory.qmd.sessions.enabled", Flag(), False, at="qmd.sessions.enabled"),
        _text("memory.qmd.sessions.exportDir", None, "a folder", at="qmd.sessions.export_dir"),
        _whole("memory.qmd.sessions.retentionDays", None, 0, 36_500, at="qmd.sessions.retention_days"),
        Key("memory.qmd.update.interval", Duration(), 300.0, at="qmd.update.interval", told="5m"),
        _whole("memory.qmd.update.debounceMs", 15_000, 0, 86_400_000, at="qmd.update.debounce_ms"),
        Key("memory.qmd.update.onBoot", Flag(), True, at="qmd.update.on_boot"),
        Key("memory.qmd.update.waitForBootSync", Flag(), False, at="qmd.update.wait_for_boot_sync"),
        Key(
            "memory.qmd.update.embedInterval", Duration(), 3600.0, at="qmd.update.embed_interval", told="60m"
        ),
        _whole(
            "memory.qmd.update.commandTimeoutMs", 30_000, 0, 86_400_000, at="qmd.update.command_timeout_ms"
        ),
        _whole(
            "memory.qmd.update.updateTimeoutMs", 120_000, 0, 86_400_000, at="qmd.update.update_timeout_ms"
        ),
        _whole("memory.qmd.update.embedTimeoutMs", 120_000, 0, 86_400_000, at="qmd.update.embed_timeout_ms"),
        _whole("memory.qmd.limits.maxResults", 6, 1, 2000, at="qmd.limits.max_results"),
        _whole("memory.qmd.limits.maxSnippetChars", 700, 1, 1_000_000, at="qmd.limits.max_snippet_chars"),
        _whole("memory.qmd.limits.maxInjectedChars", 4000, 1, 10_000_000, at="qmd.limits.max_injected_chars"),
        _whole("memory.qmd.limits.timeoutMs", 4000, 0, 86_400_000, at="qmd.limits.timeout_ms"),
        Key(
            "memory.qmd.scope",
            Rules(),
            ("deny", (("allow", {"chatType": "direct"}),)),
            at="qmd.scope",
            told="direct chats only",
        ),
        Key("agents.defaults.workspace", Text("a folder"), None, at="workspace", told="see Workspace"),
        Key("agents.defaults.userTimezone", TimeZone(), None, at="time_zone", told="the system's"),
        _whole(
            "agents.defaults.compaction.reserveTokensFloor",
            20_000,
            0,
            100_000_000,
            at="flush.reserve_tokens_floor",
        ),
        Key(_FLUSH + "enabled", Flag(), True, at="flush.enabled"),
        _text(_FLUSH + "model", at="flush.model"),
        _whole(_FLUSH + "softThresholdTokens", 4000, 0, 100_000_000, at="flush.soft_threshold_tokens"),
        Key(
            _FLUSH + "forceFlushTranscriptBytes",
            Size(),
            2 * 1024 * 1024,
            at="flush.force_flush_transcript_bytes",
            told="2mb",
        ),
        _text(_FLUSH + "prompt", at="flush.prompt"),
        _text(_FLUSH + "systemPrompt", at="flush.system_prompt"),
    )
}

# `models.providers.<id>.*`.
ENTRY: dict[str, Kind] = {
    "api": Choice(*PROVIDERS, *APIS),
    "baseUrl": Url(),
    "apiKey": SecretText(),
    "headers": Headers(),
    "models": Models(),
}

# What an agent may have of its own beside its `memory.search`.
PER_AGENT = ("agents.defaults.workspace", "agents.defaults.userTimezone")

# Keys of OpenClaw that a file may hold and that memgrep has no use for: checked, then dropped.
OPENCLAW_ONLY: dict[str, Kind] = {
    "rememberAcrossConversations": Flag(),
    "store.driver": Choice("sqlite"),
    "store.fts.tokenizer": Choice("unicode61", "trigram"),
    "memory.qmd.rerank": Flag(),
    "memory.qmd.mcporter.enabled": Flag(),
    "memory.qmd.mcporter.serverName": Text(),
    "memory.qmd.mcporter.startDaemon": Flag(),
    "memory.qmd.update.startup": Text(),
    "memory.qmd.update.startupDelayMs": Whole(0, 86_400_000),
}
