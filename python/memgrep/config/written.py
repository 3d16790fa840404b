"""The settings as they were written: values by key, each with the place it stands at. Nothing is merged here.

    openclaw.json      memory.*, models.providers.*, agents.*; the rest of it is OpenClaw's and is skipped
    memgrep.toml       the same tables, and the keys of memory.search at the top; the rest is an error
    .memgrep.toml      as memgrep.toml, with only the keys that a workspace may set
    MEMGREP_…          one variable a key
    arguments          dotted keys

A wrong value is noted as a `Problem`, and reading goes on: all of a file's problems are told together.
"""

from __future__ import annotations

import os
import stat

from memgrep.config.keys import ENTRY, KEYS, OPENCLAW_ONLY, PER_AGENT, Key, env_name, snake
from memgrep.config.kinds import Kind, Node, Text, Wrong, kind_of, node_of, shown
from memgrep.config.places import agent_folder_name, inside, is_absolute
from memgrep.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memgrep.config.places import Places

__all__ = ["Layer", "Origin", "Written", "from_arguments", "from_environment", "from_file"]

LARGEST_FILE = 4 * 1024 * 1024
SEARCH = "memory.search"


class Origin:
    """Where a value was written. `shared`: not of one agent alone. `base`: what its paths count from."""

    __slots__ = ("base", "line", "shared", "source")

    def __init__(self, source: str, line: int | None = None, *, base: str = "", shared: bool = True) -> None:
        self.source = source
        self.line = line
        self.base = base
        self.shared = shared

    def __str__(self) -> str:
        return self.source if self.line is None else f"{os.path.basename(self.source)}:{self.line}"


class Written:
    """A checked value and its origin."""

    __slots__ = ("origin", "value")

    def __init__(self, value: object, origin: Origin) -> None:
        self.value = value
        self.origin = origin


class Layer:
    """What one source says, for one agent: its own values have replaced the shared ones already."""

    __slots__ = ("adding", "entries", "is_file", "of_notes", "problems", "values", "warnings")

    def __init__(self, *, is_file: bool) -> None:
        self.is_file = is_file
        # The file of a workspace: it belongs to the notes.
        self.of_notes = False
        self.values: dict[str, Written] = {}
        # Keys whose lists add up: all of them, in order.
        self.adding: dict[str, list[Written]] = {}
        # models.providers: id → key → value.
        self.entries: dict[str, dict[str, Written]] = {}
        self.problems: list[Problem] = []
        self.warnings: list[str] = []


class _Names:
    """The tree of keys below a prefix: what may stand in a table, in both spellings."""

    __slots__ = ("below", "exact", "spelt")

    def __init__(self, prefix: str, names: list[str]) -> None:
        self.exact: set[str] = set()
        self.below: set[str] = set()
        # Both spellings of a part, to the part.
        self.spelt: dict[str, str] = {}
        for name in names:
            part, dot, _ = name[len(prefix) :].partition(".")
            (self.below if dot else self.exact).add(part)
            self.spelt[part] = self.spelt[snake(part)] = part


class _Reader:
    """Reads one source's tree into a layer."""

    def __init__(self, layer: Layer, source: str, base: str, agent: str, *, strict: bool) -> None:
        self.layer = layer
        self.source = source
        self.base = base
        self.agent = agent
        # In OpenClaw's own file, tables that are not ours are skipped.
        self.strict = strict
        self.shared = True
        # Set for the file of a workspace: the folder that holds it.
        self.workspace: str | None = None
        self.allowed_at = ""

    def problem(self, line: int | None, key: str, message: str) -> None:
        self.layer.problems.append(Problem(self.source, line, key, message))

    # The whole file

    def file(self, root: Node) -> None:
        """The tables in the order in which they win."""
        if not isinstance(root[1], dict):
            self.problem(root[0], "", f"found {kind_of(root[1])}, allowed: a table of settings")
            return
        top = dict(root[1])
        tables = {name: top.pop(name) for name in ("agents", "models", "memory") if name in top}
        agents = self.part(tables, "agents", "agents", ("defaults", "list", "entries"))
        defaults = self.part(agents, "defaults", "agents.defaults", None)
        legacy = self.take(defaults, "memorySearch")
        if legacy:
            self.keys(legacy[1], "agents.defaults.memorySearch.", "")
        if "memory" in tables:
            memory = tables["memory"][1]
            if isinstance(memory[1], dict):
                rest = dict(memory[1])
                search = rest.pop("search", None)
                if search:
                    self.keys(search[1], f"{SEARCH}.", "")
                self.keys((memory[0], rest), "memory.", "memory.", extra=("search",))
            else:
                self.problem(memory[0], "memory", f"found {kind_of(memory[1])}, allowed: a table")
        self.models(self.part(tables, "models", "models", ("providers",)))
        self.defaults(defaults)
        if self.strict:
            self.keys((root[0], top), "", "", extra=("memory", "agents", "models"))
        elif "memorySearch" in top:
            line = top["memorySearch"][0]
            self.layer.warnings.append(
                f"{self.source}:{line}: memorySearch: not read at the top; move it to memory.search"
            )
        self.shared = False
        for found, path in self.own(agents):
            self.one_agent(found, path)

    def one_agent(self, found: dict[str, tuple[int | None, Node]], path: str) -> None:
        """What one agent has of its own: its workspace, its zone, its `memory.search`."""
        own = [name.rpartition(".")[2] for name in PER_AGENT]
        if self.strict:
            allowed = ["id", "memory", "memorySearch", *own]
            for written, (line, _) in found.items():
                if written not in allowed and written not in map(snake, allowed):
                    self.unknown(line, f"{path}.{written}", written, allowed)
        legacy = self.take(found, "memorySearch")
        if legacy:
            self.keys(legacy[1], f"{path}.memorySearch.", "")
        search = self.part(found, "memory", f"{path}.memory", ("search",)).get("search")
        if search:
            self.keys(search[1], f"{path}.{SEARCH}.", "")
        for name, short in zip(PER_AGENT, own, strict=True):
            entry = self.take(found, short)
            if entry:
                self.value(KEYS[name], entry[0], entry[1], f"{path}.{short}")

    def part(
        self,
        holder: Mapping[str, tuple[int | None, Node]],
        name: str,
        path: str,
        allowed: tuple[str, ...] | None,
    ) -> dict[str, tuple[int | None, Node]]:
        """A table inside one of ours; with `allowed`, other keys in it are errors in our own files."""
        entry = holder.get(name)
        if entry is None:
            return {}
        value = entry[1][1]
        if not isinstance(value, dict):
            self.problem(entry[0], path, f"found {kind_of(value)}, allowed: a table")
            return {}
        if self.strict and allowed is not None:
            for key, (line, _) in value.items():
                if key not in allowed:
                    self.unknown(line, f"{path}.{key}", key, list(allowed))
        return dict(value)

    def take(self, holder: dict[str, tuple[int | None, Node]], name: str) -> tuple[int | None, Node] | None:
        """An entry in either spelling."""
        return holder.get(name) or holder.get(snake(name))

    def defaults(self, defaults: dict[str, tuple[int | None, Node]]) -> None:
        """`agents.defaults`: the workspace, the time zone, and what compaction says about flushing."""
        rest = {k: v for k, v in defaults.items() if k not in ("memorySearch", "memory_search")}
        if not self.strict:
            known = ("workspace", "userTimezone", "compaction")
            rest = {k: v for k, v in rest.items() if k in known}
            compaction = rest.get("compaction")
            if compaction and isinstance(compaction[1][1], dict):
                line, (at, inner) = compaction
                assert isinstance(inner, dict)
                ours = {k: v for k, v in inner.items() if k in ("memoryFlush", "reserveTokensFloor")}
                rest["compaction"] = (line, (at, ours))
        self.keys((None, rest), "agents.defaults.", "agents.defaults.", extra=("memorySearch",))

    def own(
        self, agents: dict[str, tuple[int | None, Node]]
    ) -> list[tuple[dict[str, tuple[int | None, Node]], str]]:
        """This agent's tables: those of `agents.list` first, then those of `agents.entries`."""
        found = []
        listed = agents.get("list", (None, (None, [])))[1]
        if isinstance(listed[1], list):
            for node in listed[1]:
                if isinstance(node[1], dict):
                    name = node[1].get("id", (None, (None, None)))[1][1]
                    if isinstance(name, str) and agent_folder_name(name) == self.agent:
                        found.append((dict(node[1]), f"agents.list[{name}]"))
        else:
            self.problem(
                listed[0], "agents.list", f"found {kind_of(listed[1])}, allowed: a list of tables with id"
            )
        entries = agents.get("entries", (None, (None, {})))[1]
        if isinstance(entries[1], dict):
            for name, (_, node) in entries[1].items():
                if agent_folder_name(name) == self.agent and isinstance(node[1], dict):
                    found.append((dict(node[1]), f"agents.entries.{name}"))
        else:
            self.problem(entries[0], "agents.entries", f"found {kind_of(entries[1])}, allowed: a table")
        return found

    def models(self, models: dict[str, tuple[int | None, Node]]) -> None:
        """`models.providers`: only what an embedding endpoint needs."""
        for name, (line, node) in self.part(models, "providers", "models.providers", None).items():
            path = f"models.providers.{name}"
            if self.refused(line, path):
                continue
            if not isinstance(node[1], dict):
                self.problem(
                    line, path, f"found {kind_of(node[1])}, allowed: a table with {', '.join(ENTRY)}"
                )
                continue
            before = len(self.layer.problems)
            entry = {}
            for key, (key_line, value) in node[1].items():
                part = next((known for known in ENTRY if key in (known, snake(known))), None)
                if part is not None:
                    # What is none of our kinds in OpenClaw's own file is a chat endpoint: looked at if it is chosen.
                    kind = ENTRY[part] if self.strict or part != "api" else Text()
                    checked = self.checked(kind, key_line, value, f"{path}.{key}")
                    if checked is not None:
                        entry[part] = checked
                elif self.strict:
                    self.unknown(key_line, f"{path}.{key}", key, list(ENTRY))
            wrong = self.layer.problems[before:]
            if wrong and not self.strict:
                # OpenClaw's chat endpoints may hold what we cannot read. The entry goes as a whole: without
                # its address, its key would be sent to another host.
                self.layer.warnings.extend(f"{problem}; {path} is not used" for problem in wrong)
                del self.layer.problems[before:]
            else:
                self.layer.entries[name] = entry

    # Keys of the table

    def keys(self, node: Node, path: str, prefix: str, extra: tuple[str, ...] = ()) -> None:
        """A table of keys: `path` as written, `prefix` as in `KEYS`; `extra` are other names there."""
        if not isinstance(node[1], dict):
            self.problem(node[0], path[:-1], f"found {kind_of(node[1])}, allowed: a table")
            return
        names = _names(prefix)
        seen: dict[str, int | None] = {}
        for written, (line, value) in node[1].items():
            part = names.spelt.get(written)
            if part is None:
                self.unknown(line, path + written, written, [*names.exact, *names.below, *extra])
                continue
            if part in seen:
                other = "" if seen[part] is None else f" (line {seen[part]})"
                self.problem(line, path + written, f"given twice, in both spellings{other}")
                continue
            seen[part] = line
            name = prefix + part
            if part in names.below:
                self.keys(value, f"{path}{written}.", f"{name}.")
            elif name in KEYS:
                self.value(KEYS[name], line, value, path + written)
            else:
                self.checked(OPENCLAW_ONLY[name], line, value, path + written)

    def value(self, key: Key, line: int | None, node: Node, path: str) -> None:
        """One value, if it may be set here and is what it should be."""
        if self.refused(line, path, key):
            return
        found = self.checked(key.kind, line, node, path)
        if found is None:
            return
        if key.name == "extraPaths":
            self.contained(found, path)
        if key.adds:
            self.layer.adding.setdefault(key.name, []).append(found)
        self.layer.values[key.name] = found

    def checked(self, kind: Kind, line: int | None, node: Node, path: str) -> Written | None:
        """The value of a node, or a problem."""
        try:
            return Written(kind.take(node), Origin(self.source, line, base=self.base, shared=self.shared))
        except Wrong as wrong:
            self.problem(wrong.line or line, path, wrong.message)
            return None

    def unknown(self, line: int | None, path: str, written: str, known: list[str]) -> None:
        from memgrep.config.provider_names import nearest

        near = nearest(written, known)
        hint = f'did you mean "{near}"?' if near else f"known here: {', '.join(sorted(known))}"
        self.problem(line, path, f"unknown key; {hint}")

    # What a workspace may say

    def refused(self, line: int | None, path: str, key: Key | None = None) -> bool:
        """Whether the file belongs to the notes and not to the user, and the key is not theirs to set."""
        if self.workspace is None or (key and key.notes):
            return False
        variable = f", in {env_name(key.name)}" if key else ""
        self.problem(
            line,
            path,
            "a workspace's own file may not set this (only query, chunking, ignore, and extraPaths inside "
            f"the workspace); set it in {self.allowed_at}{variable} or as an argument",
        )
        return True

    def contained(self, found: Written, path: str) -> None:
        """A workspace's extra paths stay inside the workspace."""
        if self.workspace is None:
            return
        assert isinstance(found.value, tuple)
        for entry in found.value:
            where = os.path.join(self.workspace, entry["path"])
            foreign = entry["path"].startswith("~") or (
                is_absolute(entry["path"]) and not os.path.isabs(entry["path"])
            )
            if foreign or not inside(where, self.workspace):
                self.problem(
                    entry["line"] or found.origin.line,
                    path,
                    f"{shown(entry['path'])} leads out of the workspace; a workspace's own file may not; "
                    f"set it in {self.allowed_at}, in {env_name('extraPaths')} or as an argument",
                )


_TREES: dict[str, _Names] = {}


def _names(prefix: str) -> _Names:
    """The names below a prefix; those of `memory.search` have none."""
    if prefix not in _TREES:
        roots = ("memory.", "agents.")
        every = [*KEYS, *OPENCLAW_ONLY]
        _TREES[prefix] = _Names(
            prefix,
            [name for name in every if (name.startswith(prefix) if prefix else not name.startswith(roots))],
        )
    return _TREES[prefix]


def from_file(
    path: str,
    form: str,
    agent: str,
    *,
    asked_for: bool = False,
    workspace: str | None = None,
    allowed_at: str = "",
) -> Layer:
    """A settings file. One that is not there says nothing, unless it was asked for by name.

    With `workspace`, the file belongs to the notes: it must be a plain file and may set only what notes may.
    """
    layer = Layer(is_file=True)
    reader = _Reader(layer, path, os.path.dirname(path), agent, strict=form == "toml")
    reader.workspace = workspace
    layer.of_notes = workspace is not None
    reader.allowed_at = allowed_at
    if path == os.devnull:
        return layer
    try:
        facts = os.lstat(path) if workspace is not None else os.stat(path)
        if not stat.S_ISREG(facts.st_mode):
            link = stat.S_ISLNK(facts.st_mode)
            reader.problem(None, "", "a link, which is not followed" if link else "not a file")
            return layer
        if facts.st_size > LARGEST_FILE:
            reader.problem(None, "", f"larger than {LARGEST_FILE // 1024**2} MB, so not a settings file")
            return layer
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        if asked_for:
            reader.problem(None, "", "there is no such file (OPENCLAW_CONFIG_PATH names it)")
        return layer
    except OSError as error:
        reader.problem(None, "", f"cannot be read: {error.strerror or error}")
        return layer
    except UnicodeDecodeError as error:
        reader.problem(None, "", f"not UTF-8 (byte {error.start})")
        return layer
    from memgrep._core import parse_settings

    try:
        root = parse_settings(text, form)
    except ValueError as error:
        line, message = _placed(str(error))
        reader.problem(line, "", message)
        return layer
    reader.file(root)
    return layer


def _placed(message: str) -> tuple[int | None, str]:
    """The line in `line 3, column 5: …`, and the rest."""
    head, comma, rest = message.partition(", ")
    number = head.removeprefix("line ")
    return (int(number), rest) if comma and number.isdigit() else (None, message)


def from_environment(places: Places) -> Layer:
    """The `MEMGREP_…` variables. An empty one says nothing; one that is nearly a key's is worth a warning."""
    layer = Layer(is_file=False)
    known = {env_name(name): key for name, key in KEYS.items()}
    for variable, text in places.environ.items():
        if not variable.startswith("MEMGREP_") or not text.strip():
            continue
        key = known.get(variable)
        if key is None:
            if variable not in ("MEMGREP_WORKSPACE", "MEMGREP_AGENT"):
                from memgrep.config.provider_names import nearest

                near = nearest(variable, list(known))
                if near:
                    layer.warnings.append(f"{variable}: not a setting; did you mean {near}?")
            continue
        reader = _Reader(layer, variable, places.cwd, "", strict=True)
        try:
            node = key.kind.read(text)
        except Wrong as wrong:
            reader.problem(None, key.name, f"{wrong.message}, allowed: {key.kind.said}")
            continue
        reader.value(key, None, node, key.name)
    return layer


def from_arguments(arguments: Mapping[str, object], places: Places, agent: str) -> Layer:
    """Dotted keys, or tables as in `memgrep.toml`. None says nothing."""
    layer = Layer(is_file=False)
    reader = _Reader(layer, "argument", places.cwd, agent, strict=True)
    tree: dict[str, object] = {}
    for name, value in arguments.items():
        if value is None:
            continue
        *parents, last = name.split(".")
        place = tree
        for part in parents:
            below = place.setdefault(part, {})
            if not isinstance(below, dict):
                below = place[part] = {}
            place = below
        already = place.get(last)
        place[last] = {**already, **value} if isinstance(already, dict) and isinstance(value, dict) else value
    reader.file(node_of(tree))
    return layer
