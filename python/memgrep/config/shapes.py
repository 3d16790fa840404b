"""Values made of several: lists and tables, and the words for them."""

from __future__ import annotations

from memgrep.config.kinds import Choice, Kind, Node, SecretText, Wrong, kind_of, node_of, shown, value_of

__all__ = ["Choices", "Headers", "Models", "Paths", "Rules", "Texts"]


class Texts(Kind):
    """A list of texts, as they are; blank ones are dropped."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    @property
    def said(self) -> str:
        return self.what

    def take(self, node: Node) -> object:
        found = []
        for item in items(self, node):
            if not isinstance(item[1], str):
                raise self.refuse(item, item[0])
            if item[1].strip():
                found.append(item[1])
        return tuple(found)

    def read(self, text: str) -> Node:
        return listed(text)


class Choices(Kind):
    """A list of a few words, each once."""

    __slots__ = ("choice",)

    def __init__(self, *words: str) -> None:
        self.choice = Choice(*words)

    @property
    def said(self) -> str:
        return f"a list of {self.choice.said}"

    def take(self, node: Node) -> object:
        found: dict[object, None] = {}
        for item in items(self, node):
            try:
                found[self.choice.take(item)] = None
            except Wrong as wrong:
                raise Wrong(wrong.message, item[0]) from None
        return tuple(found)

    def read(self, text: str) -> Node:
        return listed(text)


class Headers(Kind):
    """HTTP headers; a value may be a secret."""

    __slots__ = ()

    @property
    def said(self) -> str:
        return "a table of header names and texts"

    def take(self, node: Node) -> object:
        found = {}
        for name, (line, value) in table(self, node).items():
            if not name or not name.isascii() or not all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name):
                raise Wrong(f"found {shown(name)}, which is not a header's name", line)
            try:
                found[name] = SecretText().take(value)
            except Wrong as wrong:
                raise Wrong(f"{name}: {wrong.message}", wrong.line or line) from None
        return found

    def read(self, text: str) -> Node:
        return structured(text)


class Paths(Kind):
    """Folders or files, each a text or a table; `optional` are the table's keys beside `path`."""

    __slots__ = ("optional",)

    def __init__(self, **optional: Kind) -> None:
        self.optional = optional

    @property
    def said(self) -> str:
        return f"a list of texts or of tables with path, {', '.join(self.optional)}"

    def take(self, node: Node) -> object:
        found: list[object] = []
        for item in items(self, node):
            entry = {"path": (item[0], item)} if isinstance(item[1], str) else table(self, item)
            told: dict[str, object] = dict.fromkeys(self.optional)
            for name, (line, value) in entry.items():
                kind = self.optional.get(name)
                try:
                    if name == "path" and isinstance(value[1], str) and "\0" not in value[1]:
                        told["path"] = value[1].strip()
                    elif kind:
                        told[name] = kind.take(value)
                    else:
                        raise (
                            self.refuse(value)
                            if name == "path"
                            else Wrong(f"unknown key, allowed: {self.said}")
                        )
                except Wrong as wrong:
                    raise Wrong(f"{name}: {wrong.message}", wrong.line or line) from None
            if "path" not in told:
                raise Wrong(f"found a table without path, allowed: {self.said}", item[0])
            if told["path"]:
                told["line"] = item[0]
                found.append(told)
        return tuple(found)

    def read(self, text: str) -> Node:
        return listed(text)


class Rules(Kind):
    """Who may search: `{default, rules: [{action, match}]}`; the first rule that matches decides."""

    __slots__ = ()

    MATCH = ("chatType", "channel", "keyPrefix", "rawKeyPrefix")
    ACTIONS = ("allow", "deny")

    @property
    def said(self) -> str:
        return "{default: allow|deny, rules: [{action: allow|deny, match: {" + ", ".join(self.MATCH) + "}}]}"

    def take(self, node: Node) -> object:
        top = self._table(node, ("default", "rules"))
        rules: list[tuple[object, dict[str, str]]] = []
        for rule in items(self, top.get("rules", (None, []))):
            told = self._table(rule, ("action", "match"))
            if "action" not in told:
                raise Wrong(f"found a rule without action, allowed: {self.said}", rule[0])
            match = {}
            for name, value in self._table(told.get("match", (None, {})), self.MATCH).items():
                if not isinstance(value[1], str):
                    raise self.refuse(value, value[0])
                match[name] = value[1].strip().lower()
            rules.append((self._action(told["action"]), match))
        return self._action(top.get("default", (None, "deny"))), tuple(rules)

    def _action(self, node: Node) -> object:
        if node[1] not in self.ACTIONS:
            raise self.refuse(node, node[0])
        return node[1]

    def _table(self, node: Node, allowed: tuple[str, ...]) -> dict[str, Node]:
        found = {}
        for name, (line, value) in table(self, node).items():
            if name not in allowed:
                raise Wrong(f"found the key {shown(name)}, allowed: {self.said}", line)
            found[name] = value
        return found

    def read(self, text: str) -> Node:
        return structured(text)


class Models(Kind):
    """The models of an endpoint: texts, or OpenClaw's tables, of which only `id` is read."""

    __slots__ = ()

    @property
    def said(self) -> str:
        return "a list of texts or of tables with id"

    def take(self, node: Node) -> object:
        found = []
        for item in items(self, node):
            name = item[1]
            if isinstance(name, dict) and "id" in name:
                name = name["id"][1][1]
            if not isinstance(name, str) or not name.strip():
                raise self.refuse(item, item[0])
            found.append(name.strip())
        return tuple(found)


def items(kind: Kind, node: Node) -> list[Node]:
    """The nodes of a list."""
    if not isinstance(node[1], list):
        raise kind.refuse(node)
    return node[1]


def table(kind: Kind, node: Node) -> dict[str, tuple[int | None, Node]]:
    """The entries of a table."""
    if not isinstance(node[1], dict):
        raise Wrong(f"found {kind_of(node[1])}, allowed: {kind.said}", node[0])
    return node[1]


def listed(text: str) -> Node:
    """A list in one text: JSON, or texts with commas between them."""
    if text.lstrip().startswith("["):
        return structured(text)
    return None, [(None, part.strip()) for part in text.split(",")]


def structured(text: str) -> Node:
    """A list or table as JSON5 in one text. Its lines mean nothing in an environment variable."""
    from memgrep._core import parse_settings

    try:
        return node_of(value_of(parse_settings(text, "json5")))
    except ValueError as error:
        raise Wrong(f"not JSON: {error}") from None
