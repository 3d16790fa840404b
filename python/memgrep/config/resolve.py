"""From what was written to what is used: layers over defaults, then paths, weights, secrets.

Later wins, key by key; lists that add up (`extraPaths`, `ignore`) are collected from all files, and an
environment variable or an argument replaces them. Headers are merged by name.
"""

from __future__ import annotations

import os

from memgrep.config import sections
from memgrep.config.keys import ENTRY, KEYS
from memgrep.config.places import Places, agent_folder_name
from memgrep.config.provider_names import problem_with
from memgrep.config.secret import Secret
from memgrep.config.sections import ExtraPath, QmdPath, Rule, Scope, Section
from memgrep.config.settings import CustomProvider, Settings
from memgrep.config.written import Layer, Origin, Written, from_arguments, from_environment, from_file
from memgrep.errors import ConfigError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["load"]

# Which class a table of keys becomes; the rest are values of the table above them.
SECTIONS: dict[str, type[Section]] = {
    "remote.batch": sections.Batch,
    "remote": sections.Remote,
    "local": sections.Local,
    "multimodal": sections.Multimodal,
    "chunking": sections.Chunking,
    "store.vector": sections.StoreVector,
    "store": sections.Store,
    "cache": sections.Cache,
    "sync.sessions": sections.SessionSync,
    "sync": sections.Sync,
    "query.hybrid.mmr": sections.Mmr,
    "query.hybrid.temporal_decay": sections.Decay,
    "query.hybrid": sections.Hybrid,
    "query": sections.Query,
    "qmd.sessions": sections.QmdSessions,
    "qmd.update": sections.QmdUpdate,
    "qmd.limits": sections.QmdLimits,
    "qmd": sections.Qmd,
    "flush": sections.Flush,
}

# The weights of OpenClaw: what the other one is when only one of them is set.
VECTOR_WEIGHT, TEXT_WEIGHT = 0.7, 0.3
LARGEST_MULTIPLIER = 20


def load(
    arguments: Mapping[str, object] | None = None,
    *,
    workspace: str | os.PathLike[str] | None = None,
    agent: str | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
    platform: str | None = None,
    files: bool = True,
) -> Settings:
    """Reads, checks and merges all settings of one agent in one workspace.

    `arguments` maps dotted keys (`query.maxResults` or `query.max_results`) to values; None says nothing.
    `environ`, `cwd` and `platform` are the process's own unless given. With `files=False`, no settings file
    is read. `ConfigError` holds everything that is wrong, of all sources together.
    """
    places = Places(os.environ if environ is None else environ, cwd=cwd, platform=platform)
    name = agent_folder_name(agent or places.environ.get("MEMGREP_AGENT", "").strip() or "main")
    layers = []
    if files:
        openclaw, asked_for = places.openclaw_file
        layers.append(from_file(openclaw, "json5", name, asked_for=asked_for))
        layers.append(from_file(places.user_file, "toml", name))
    outer = [from_environment(places), from_arguments(arguments or {}, places, name)]
    named = os.fspath(workspace).strip() if workspace is not None else ""
    folder, origin = chosen_workspace(named, [*layers, *outer], places)
    if files:
        path = os.path.join(folder, ".memgrep.toml")
        layers.append(from_file(path, "toml", name, workspace=folder, allowed_at=places.user_file))
    layers += outer
    return _Resolver(layers, places, name, folder, origin).settings()


def chosen_workspace(named: str, layers: list[Layer], places: Places) -> tuple[str, Origin | None]:
    """The workspace and who chose it: argument, `MEMGREP_WORKSPACE`, `agents.defaults.workspace`, the current
    folder if it holds memory, OpenClaw's own."""
    if named:
        return places.expand(named, places.cwd), Origin("argument")
    variable = places.environ.get("MEMGREP_WORKSPACE", "").strip()
    if variable:
        return places.expand(variable, places.cwd), Origin("MEMGREP_WORKSPACE")
    for layer in reversed(layers):
        found = layer.values.get("agents.defaults.workspace")
        if found:
            return places.expand(str(found.value), found.origin.base), found.origin
    return places.workspace_here(), None


class _Resolver:
    """One resolution; its methods fill `values` and `origins` by key."""

    def __init__(
        self, layers: list[Layer], places: Places, agent: str, workspace: str, chosen: Origin | None
    ) -> None:
        self.layers = layers
        self.places = places
        self.agent = agent
        self.workspace = workspace
        self.problems = [problem for layer in layers for problem in layer.problems]
        self.warnings = [warning for layer in layers for warning in layer.warnings]
        self.values: dict[str, object] = {name: key.default for name, key in KEYS.items()}
        self.origins: dict[str, Origin] = {}
        for layer in layers:
            for name, written in layer.values.items():
                self.values[name] = written.value
                self.origins[name] = written.origin
        self.values["agents.defaults.workspace"] = workspace
        self.origins.pop("agents.defaults.workspace", None)
        if chosen:
            self.origins["agents.defaults.workspace"] = chosen

    def settings(self) -> Settings:
        """Everything, or `ConfigError`."""
        # Before anything is worked out from a wrong value.
        self._raise()
        providers = self.providers()
        self.secrets()
        self.paths()
        self.numbers()
        self.sources()
        self.media()
        self._raise()
        tree: dict[str, dict[str, object]] = {"": {}}
        for name, key in KEYS.items():
            table, _, field = key.at.rpartition(".")
            tree.setdefault(table, {})[field] = self.values[name]
        # `experimental.sessionMemory` has done its work in `sources`.
        tree.pop("experimental", None)
        tree["qmd"]["home"] = os.path.join(self.places.openclaw, "agents", self.agent, "qmd")
        # Deepest first, so that a section finds the sections inside it.
        for table, kind in sorted(SECTIONS.items(), key=lambda entry: -entry[0].count(".")):
            above, _, field = table.rpartition(".")
            tree.setdefault(above, {})[field] = kind(**tree[table])
        provider, fallback = str(self.values["provider"]), str(self.values["fallback"])
        return Settings(
            **tree[""],
            agent=self.agent,
            fallback_problem=problem_with(fallback, providers, self.origins),
            origins=self.origins,
            provider_problem=problem_with(provider, providers, self.origins),
            providers=providers,
            state=self.places.state,
            values=self.listed(providers),
            warnings=tuple(self.warnings),
        )

    def _raise(self) -> None:
        if self.problems:
            raise ConfigError(*self.problems)

    def listed(self, providers: Mapping[str, CustomProvider]) -> dict[str, object]:
        """Every key with its value, `models.providers.*` at the end."""
        values = dict(self.values)
        for name, entry in providers.items():
            for part in ENTRY:
                key = f"models.providers.{name}.{part}"
                if key in self.origins:
                    values[key] = getattr(entry, "".join(f"_{c.lower()}" if c.isupper() else c for c in part))
        return values

    def problem(self, key: str, message: str) -> None:
        origin = self.origins.get(key, Origin("default"))
        self.problems.append(Problem(origin.source, origin.line, key, message))

    def warn(self, key: str, message: str) -> None:
        self.warnings.append(f"{self.origins.get(key, 'default')}: {key}: {message}")

    # Secrets and endpoints

    def secret(self, written: str, key: str, origin: Origin) -> Secret:
        return Secret(written, self.places.environ, source=origin.source, line=origin.line, key=key)

    def headers(self, name: str, found: list[Written]) -> dict[str, Secret]:
        """Headers of several sources, merged by name whatever its case; later wins."""
        merged: dict[str, tuple[str, Secret]] = {}
        for written in found:
            if isinstance(written.value, dict):
                for header, value in written.value.items():
                    merged[header.lower()] = (header, self.secret(value, f"{name}.{header}", written.origin))
        return dict(merged.values())

    def secrets(self) -> None:
        key = self.values["remote.apiKey"]
        if key is not None:
            self.values["remote.apiKey"] = self.secret(
                str(key), "remote.apiKey", self.origins["remote.apiKey"]
            )
        found = [layer.values["remote.headers"] for layer in self.layers if "remote.headers" in layer.values]
        self.values["remote.headers"] = self.headers("remote.headers", found)

    def providers(self) -> dict[str, CustomProvider]:
        """`models.providers`, later wins key by key."""
        found: dict[str, CustomProvider] = {}
        for name in dict.fromkeys(name for layer in self.layers for name in layer.entries):
            told: dict[str, object] = {"api": None, "api_key": None, "base_url": None, "models": ()}
            headers = []
            for entry in (layer.entries[name] for layer in self.layers if name in layer.entries):
                for part, written in entry.items():
                    key = f"models.providers.{name}.{part}"
                    self.origins[key] = written.origin
                    if part == "headers":
                        headers.append(written)
                    elif part == "apiKey":
                        told["api_key"] = self.secret(str(written.value), key, written.origin)
                    else:
                        told["base_url" if part == "baseUrl" else part] = written.value
            told["headers"] = self.headers(f"models.providers.{name}.headers", headers)
            found[name] = CustomProvider(**told)
        return found

    # Paths

    def placed(self, key: str, base: str = "") -> str | None:
        """A key's path, absolute, with the agent's name filled in."""
        value = self.values[key]
        if value is None:
            return None
        text = str(value).replace("{agentId}", self.agent)
        origin = self.origins.get(key)
        return self.places.expand(text, base or (origin.base if origin else self.places.cwd))

    def paths(self) -> None:
        store = self.placed("store.path")
        if store is None:
            store = os.path.join(self.places.state, "memory", f"{self.agent}.memgrep.sqlite")
        elif self.agent != "main" and "{agentId}" not in str(self.values["store.path"]):
            origin = self.origins["store.path"]
            # F144: agents that share a file would find each other's notes.
            if origin.shared and origin.source != "argument":
                self.problem(
                    "store.path",
                    f'agents "main" and "{self.agent}" would share {store}; put {{agentId}} into the path',
                )
        self.values["store.path"] = store
        self.values["store.vector.extensionPath"] = self.placed("store.vector.extensionPath")
        self.values["local.modelCacheDir"] = self.placed("local.modelCacheDir")
        model = self.values["local.modelPath"]
        # A name without a slash may be a model known by name; only what looks like a path is made one.
        if (
            isinstance(model, str)
            and not model.startswith("hf:")
            and (model[0] in "~." or "/" in model or "\\" in model)
        ):
            self.values["local.modelPath"] = self.placed("local.modelPath")
        own = os.path.join(self.places.openclaw, "agents", self.agent)
        self.values["sync.sessions.path"] = self.placed("sync.sessions.path") or os.path.join(own, "sessions")
        self.values["memory.qmd.sessions.exportDir"] = self.placed(
            "memory.qmd.sessions.exportDir", self.workspace
        ) or os.path.join(own, "qmd", "sessions")
        command = str(self.values["memory.qmd.command"])
        if command.startswith("~") or "/" in command or "\\" in command:
            self.values["memory.qmd.command"] = self.placed("memory.qmd.command")
        evergreen = self.values["query.hybrid.temporalDecay.extraPaths"] == "evergreen"
        extra: dict[tuple[str, object], ExtraPath] = {}
        for entry in self.collected("extraPaths"):
            path = self.places.expand(entry["path"], self.workspace)
            own_rule = entry["evergreen"]
            extra[path, entry["pattern"]] = ExtraPath(
                path=path, pattern=entry["pattern"], evergreen=evergreen if own_rule is None else own_rule
            )
        self.values["extraPaths"] = tuple(extra.values())
        self.values["ignore"] = tuple(self.collected("ignore"))
        self.values["memory.qmd.paths"] = tuple(
            QmdPath(
                name=entry["name"],
                path=self.places.expand(entry["path"], self.workspace),
                pattern=entry["pattern"] or "**/*.md",
            )
            for entry in _entries(self.values["memory.qmd.paths"])
        )

    def collected(self, key: str) -> list[Any]:
        """The items of a list that adds up. An environment variable or an argument starts it anew."""
        found: list[Any] = []
        # The notes' own file first: of two patterns the later wins, and the user's must.
        for layer in sorted(self.layers, key=lambda layer: not layer.of_notes):
            added = layer.adding.get(key, [])
            if added and not layer.is_file:
                found = []
            for written in added:
                found.extend(_entries(written.value))
        return found

    # Numbers

    def numbers(self) -> None:
        tokens, overlap = self.values["chunking.tokens"], self.values["chunking.overlap"]
        assert isinstance(tokens, int)
        assert isinstance(overlap, int)
        if overlap >= tokens:
            self.values["chunking.overlap"] = tokens - 1
            if "chunking.overlap" in self.origins:
                self.warn("chunking.overlap", f"{overlap} is not below chunking.tokens; {tokens - 1} is used")
        multiplier = self.values["query.hybrid.candidateMultiplier"]
        assert isinstance(multiplier, int)
        if multiplier > LARGEST_MULTIPLIER:
            self.values["query.hybrid.candidateMultiplier"] = LARGEST_MULTIPLIER
            self.warn(
                "query.hybrid.candidateMultiplier",
                f"{multiplier} is more than {LARGEST_MULTIPLIER}, which is used",
            )
        self.weights("query.hybrid.vectorWeight", "query.hybrid.textWeight")
        scope = self.values["memory.qmd.scope"]
        assert isinstance(scope, tuple)
        rules = tuple(Rule(action=action, match=match) for action, match in scope[1])
        self.values["memory.qmd.scope"] = Scope(default=scope[0], rules=rules)

    def weights(self, vector_key: str, text_key: str) -> None:
        """Weights that were set are made to add up to 1; none set, or both 0, means the measured ones."""
        vector, text = self.values[vector_key], self.values[text_key]
        if vector is None and text is None:
            return
        vector = VECTOR_WEIGHT if vector is None else vector
        text = TEXT_WEIGHT if text is None else text
        assert isinstance(vector, float)
        assert isinstance(text, float)
        total = vector + text
        if total == 0:
            self.warn(vector_key, "both weights are 0; the measured ones are used")
            self.values[vector_key] = self.values[text_key] = None
        else:
            self.values[vector_key], self.values[text_key] = vector / total, text / total

    # Rules between keys

    def sources(self) -> None:
        """Transcripts need two yeses; a list that is empty then means memory."""
        wanted = self.values["sources"]
        assert isinstance(wanted, tuple)
        if "sessions" in wanted and not self.values["experimental.sessionMemory"]:
            wanted = tuple(source for source in wanted if source != "sessions")
            self.warn("sources", "sessions are left out, because experimental.sessionMemory is false")
        self.values["sources"] = wanted or ("memory",)

    def media(self) -> None:
        """`all` is both; with media there is no fallback, since no other provider could embed them."""
        modalities = self.values["multimodal.modalities"]
        assert isinstance(modalities, tuple)
        if "all" in modalities:
            self.values["multimodal.modalities"] = ("image", "audio")
        if self.values["multimodal.enabled"] and self.values["fallback"] != "none":
            self.problem(
                "fallback",
                f'found "{self.values["fallback"]}", allowed: "none" while multimodal.enabled is true',
            )


def _entries(value: object) -> list[Any]:
    """The items of a checked list; their types are those its kind promises."""
    assert isinstance(value, tuple)
    return list(value)
