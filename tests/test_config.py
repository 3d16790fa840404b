"""Settings from every source: who wins, what adds up, where things are, and what a value's origin is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memgrep import config
from memgrep.config import KEYS, Places, Settings, agent_folder_name, env_name, load
from memgrep.config.keys import snake
from memgrep.errors import ConfigError


class Machine:
    """A home folder, a workspace, an environment: another machine for every test."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.workspace = root / "notes"
        self.cwd = root / "somewhere"
        for folder in (self.home, self.workspace, self.cwd):
            folder.mkdir()
        self.environ = {"HOME": str(self.home)}

    def openclaw(self, text: str) -> Path:
        return self._write(self.home / ".openclaw" / "openclaw.json", text)

    def user(self, text: str) -> Path:
        return self._write(self.home / ".config" / "memgrep" / "memgrep.toml", text)

    def notes(self, text: str) -> Path:
        return self._write(self.workspace / ".memgrep.toml", text)

    def _write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def load(self, arguments: dict[str, object] | None = None, *, agent: str | None = None) -> Settings:
        return load(
            arguments,
            workspace=self.workspace,
            agent=agent,
            environ=self.environ,
            cwd=str(self.cwd),
            platform="linux",
        )

    def chosen_workspace(self) -> str:
        return load(environ=self.environ, cwd=str(self.cwd), platform="linux").workspace


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


# Who wins

SOURCES = {
    "openclaw.json:1": lambda machine, n: machine.openclaw(
        f"{{memory: {{search: {{query: {{maxResults: {n}}}}}}}}}"
    ),
    "memgrep.toml:1": lambda machine, n: machine.user(f"query.maxResults = {n}"),
    ".memgrep.toml:1": lambda machine, n: machine.notes(f"query.max_results = {n}"),
    "MEMGREP_QUERY_MAX_RESULTS": lambda machine, n: machine.environ.update(MEMGREP_QUERY_MAX_RESULTS=str(n)),
    "argument": lambda machine, n: setattr(machine, "given", {"query.maxResults": n}),
}
PAIRS = [(weak, strong) for i, weak in enumerate(SOURCES) for strong in list(SOURCES)[i + 1 :]]


@pytest.mark.parametrize(("weak", "strong"), PAIRS)
def test_the_later_source_wins(machine, weak, strong):
    machine.given = {}
    SOURCES[weak](machine, 11)
    SOURCES[strong](machine, 22)

    settings = machine.load(machine.given)

    assert (settings.query.max_results, settings.origin("query.maxResults")) == (22, strong)


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_beats_the_default(machine, source):
    machine.given = {}
    SOURCES[source](machine, 11)

    settings = machine.load(machine.given)

    assert (settings.query.max_results, settings.origin("query.maxResults")) == (11, source)


def test_nothing_written_means_the_defaults(machine):
    settings = machine.load()

    assert {row.origin for row in settings.listing() if row.key != "agents.defaults.workspace"} == {"default"}
    assert settings.query == config.Query(
        max_results=6,
        min_score=0.35,
        temporal=True,
        hybrid=config.Hybrid(
            enabled=True,
            fusion="absolute",
            vector_weight=None,
            text_weight=None,
            candidate_multiplier=4,
            mmr=config.Mmr(enabled=True, lambda_=0.7),
            temporal_decay=config.Decay(
                enabled="auto", half_life_days=30.0, floor=None, extra_paths="evergreen"
            ),
        ),
    )


PLACES = [
    ("agents.defaults.memorySearch", "{{agents: {{defaults: {{memorySearch: {}}}}}}}"),
    ("memory.search", "{{memory: {{search: {}}}}}"),
    ("agents.list[].memorySearch", "{{agents: {{list: [{{id: 'Main', memorySearch: {}}}]}}}}"),
    ("agents.entries.main.memory.search", "{{agents: {{entries: {{main: {{memory: {{search: {}}}}}}}}}}}"),
]


@pytest.mark.parametrize(("place", "text"), PLACES)
def test_every_place_in_openclaws_file_is_read(machine, place, text):
    machine.openclaw(text.format("{query: {minScore: 0.5}}"))

    assert machine.load().query.min_score == 0.5, place


def test_an_agents_own_value_wins_key_by_key_and_paths_add_up(machine):
    machine.openclaw(
        """{
        memory: {search: {extraPaths: ["/shared"], query: {maxResults: 3, minScore: 0.1}}},
        agents: {
            defaults: {memorySearch: {extraPaths: ["/old"], query: {maxResults: 2}, cache: {maxEntries: 9}}},
            list: [
                {id: "main", memorySearch: {extraPaths: ["/mine"], query: {maxResults: 4}}},
                {id: "other", memorySearch: {extraPaths: ["/theirs"], query: {maxResults: 5}}},
            ],
            entries: {main: {memory: {search: {extraPaths: ["/mine-too", "/shared"]}}}},
        },
        }"""
    )

    settings = machine.load()

    assert settings.query.max_results == 4
    assert settings.query.min_score == 0.1
    assert settings.cache.max_entries == 9
    assert [extra.path for extra in settings.extra_paths] == ["/old", "/shared", "/mine", "/mine-too"]
    assert machine.load(agent="other").query.max_results == 5
    assert machine.load(agent="third").query.max_results == 3


def test_lists_of_all_files_add_up_and_an_argument_starts_anew(machine):
    machine.openclaw("{memory: {search: {extraPaths: ['/a'], ignore: ['*.tmp']}}}")
    machine.user("extra_paths = ['/b', '/a']\nignore = ['!keep.tmp']")
    # Of two patterns the later wins, so those of the notes come first: they bring nothing back.
    machine.notes("ignore = ['!*']\nextraPaths = ['inner']")

    settings = machine.load()
    assert [extra.path for extra in settings.extra_paths] == [str(machine.workspace / "inner"), "/a", "/b"]
    assert settings.ignore == ("!*", "*.tmp", "!keep.tmp")

    machine.environ["MEMGREP_EXTRA_PATHS"] = "/c, /d"
    assert [extra.path for extra in machine.load().extra_paths] == ["/c", "/d"]
    assert machine.load({"extraPaths": []}).extra_paths == ()


def test_headers_are_merged_by_name_whatever_its_case(machine):
    machine.openclaw("{memory: {search: {remote: {headers: {'X-Org': 'one', 'X-Team': 'blue'}}}}}")
    machine.user("[remote.headers]\nx-org = 'two'")

    headers = {name: secret.reveal() for name, secret in machine.load().remote.headers.items()}

    assert headers == {"x-org": "two", "X-Team": "blue"}


def test_a_key_may_be_spelt_both_ways(machine):
    for key in ("query.hybrid.temporalDecay.halfLifeDays", "query.hybrid.temporal_decay.half_life_days"):
        assert machine.load({key: 90}).query.hybrid.temporal_decay.half_life_days == 90.0
    machine.openclaw("{memory: {search: {query: {max_results: 8}}}}")
    assert machine.load().query.max_results == 8


def test_our_own_file_has_the_tables_of_openclaws(machine):
    machine.user(
        """
        provider = "none"
        [memory]
        citations = "off"
        [memory.search.query]
        max_results = 9
        [agents.defaults]
        user_timezone = "Europe/Berlin"
        [[agents.list]]
        id = "main"
        memory_search.query.min_score = 0.9
        [models.providers.lab]
        api = "openai"
        base_url = "http://lab:8080/v1/"
        """
    )

    settings = machine.load()

    assert (settings.provider, settings.citations, settings.time_zone) == ("none", "off", "Europe/Berlin")
    assert (settings.query.max_results, settings.query.min_score) == (9, 0.9)
    assert settings.providers["lab"].base_url == "http://lab:8080/v1"


API_ALLOWED = ', allowed: "openai", "openai-compatible", "gemini", '


def test_a_kind_of_endpoint_that_nobody_knows_is_an_error_with_its_place(machine):
    machine.user("[models.providers.lab]\nbase_url = 'http://lab/v1'\napi = 'opnai'")

    with pytest.raises(ConfigError) as wrong:
        machine.load()
    with pytest.raises(ConfigError) as argument:
        machine.load({"models.providers.lab.api": "anthropic-messages"})

    said = 'memgrep.toml:3: models.providers.lab.api: found "opnai"' + API_ALLOWED
    assert said in str(wrong.value)
    assert f'argument: models.providers.lab.api: found "anthropic-messages"{API_ALLOWED}' in str(
        argument.value
    )


def test_a_chat_endpoint_of_openclaw_is_an_error_only_where_it_is_chosen(machine):
    machine.openclaw(
        """{models: {providers: {
        chat: {api: "anthropic-messages", baseUrl: "http://chat/v1"}}}}"""
    )

    unused, chosen = machine.load(), machine.load({"provider": "chat"})

    assert (unused.provider_problem, unused.warnings) == (None, ())
    assert 'openclaw.json:2: models.providers.chat.api: found "anthropic-messages"' in chosen.provider_problem
    assert API_ALLOWED in chosen.provider_problem
    with pytest.raises(ValueError, match=r"openclaw\.json:2"):
        chosen.endpoint("chat")


def test_in_openclaws_file_what_is_not_ours_is_skipped(machine):
    machine.openclaw(
        """{
        gateway: {port: 1},
        agents: {defaults: {model: "x", compaction: {mode: "safe"}}, list: [{id: "main", name: "M"}]},
        models: {
            mode: "merge",
            providers: {chat: {api: "anthropic-messages", auth: "oauth", models: [{id: "m", cost: {}}]}},
        },
        memory: {search: {rememberAcrossConversations: true, store: {fts: {tokenizer: "trigram"}}}},
        }"""
    )

    assert machine.load().providers["chat"].models == ("m",)


def test_an_endpoint_of_openclaw_that_cannot_be_read_goes_as_a_whole(machine):
    """Its key without its address would be sent to another host."""
    machine.openclaw(
        """{models: {providers: {
        openai: {baseUrl: "https://proxy?x=1", apiKey: "of-the-proxy"},
        chat: {apiKey: {source: "exec", id: "vault"}},
        lab: {api: "openai-completions"},
        }}}"""
    )

    settings = machine.load()

    assert list(settings.providers) == ["lab"]
    assert settings.endpoint("openai").api_key is None
    assert [warning.rpartition("; ")[2] for warning in settings.warnings] == [
        "models.providers.openai is not used",
        "models.providers.chat is not used",
    ]
    machine.user("[models.providers.chat]\nbase_url = 'x'")
    with pytest.raises(ConfigError, match=r"toml:2: models.providers.chat.base_url: found a text"):
        machine.load()


def test_openclaws_old_place_at_the_top_is_pointed_out(machine):
    machine.openclaw("{\n memorySearch: {provider: 'openai'}}")

    settings = machine.load()

    assert settings.provider == "auto"
    assert settings.warnings[0].endswith(
        "openclaw.json:2: memorySearch: not read at the top; move it to memory.search"
    )


# The environment

ENVIRONMENT = [
    ("MEMGREP_PROVIDER", "voyage", lambda s: s.provider, "voyage"),
    ("MEMGREP_ENABLED", "off", lambda s: s.enabled, False),
    ("MEMGREP_SYNC_WATCH", "0", lambda s: s.sync.watch, False),
    ("MEMGREP_QUERY_MIN_SCORE", " 0.5 ", lambda s: s.query.min_score, 0.5),
    ("MEMGREP_STORE_PATH", "/x/{agentId}.sqlite", lambda s: s.store.path, "/x/main.sqlite"),
    ("MEMGREP_IGNORE", "*.tmp, drafts/", lambda s: s.ignore, ("*.tmp", "drafts/")),
    ("MEMGREP_IGNORE", '["a,b"]', lambda s: s.ignore, ("a,b",)),
    (
        "MEMGREP_EXTRA_PATHS",
        '[{"path": "/x", "pattern": "*.md"}]',
        lambda s: s.extra_paths[0].pattern,
        "*.md",
    ),
    ("MEMGREP_REMOTE_HEADERS", '{"X-A": "1"}', lambda s: s.remote.headers["X-A"].reveal(), "1"),
    (
        "MEMGREP_QUERY_HYBRID_TEMPORAL_DECAY_ENABLED",
        "auto",
        lambda s: s.query.hybrid.temporal_decay.mode,
        "auto",
    ),
    (
        "MEMGREP_QUERY_HYBRID_TEMPORAL_DECAY_ENABLED",
        "yes",
        lambda s: s.query.hybrid.temporal_decay.mode,
        "on",
    ),
    (
        "MEMGREP_QUERY_HYBRID_TEMPORAL_DECAY_ENABLED",
        "no",
        lambda s: s.query.hybrid.temporal_decay.mode,
        "off",
    ),
    ("MEMGREP_MEMORY_BACKEND", "qmd", lambda s: s.backend, "qmd"),
    ("MEMGREP_MEMORY_QMD_UPDATE_INTERVAL", "2h", lambda s: s.qmd.update.interval, 7200.0),
    ("MEMGREP_SOURCES", "memory", lambda s: s.sources, ("memory",)),
]


@pytest.mark.parametrize(("variable", "text", "read", "value"), ENVIRONMENT)
def test_a_variable_sets_its_key(machine, variable, text, read, value):
    machine.environ[variable] = text

    assert read(machine.load()) == value


def test_every_variable_stands_for_one_key():
    assert len({env_name(name) for name in KEYS}) == len(KEYS) > 60


def test_an_empty_variable_says_nothing(machine):
    machine.environ["MEMGREP_PROVIDER"] = ""

    assert machine.load().origin("provider") == "default"


def test_a_variable_that_is_nearly_one_is_pointed_out(machine):
    """A foreign variable must not stop us, a slip must not go unseen."""
    machine.environ |= {"MEMGREP_PROVDIER": "x", "MEMGREP_SOMETHING_ELSE": "y"}

    assert machine.load().warnings == ("MEMGREP_PROVDIER: not a setting; did you mean MEMGREP_PROVIDER?",)


# The workspace


def test_the_workspace_is_chosen_in_order(machine):
    own = str(machine.home / ".openclaw" / "workspace")
    assert machine.chosen_workspace() == own

    (machine.cwd / "memory").mkdir()
    assert machine.chosen_workspace() == str(machine.cwd)

    machine.openclaw("{agents: {defaults: {workspace: '~/agent'}}}")
    assert machine.chosen_workspace() == str(machine.home / "agent")

    machine.environ["MEMGREP_WORKSPACE"] = "relative"
    assert machine.chosen_workspace() == str(machine.cwd / "relative")
    assert machine.load().workspace == str(machine.workspace)
    assert machine.load().origin("agents.defaults.workspace") == "argument"


def test_a_folder_with_memory_md_is_a_workspace(machine):
    (machine.cwd / "MEMORY.md").write_text("# Memory\n")

    assert machine.chosen_workspace() == str(machine.cwd)


def test_an_agent_may_have_a_workspace_of_its_own(machine):
    machine.openclaw("{agents: {defaults: {workspace: '/all'}, list: [{id: 'two', workspace: '/two'}]}}")

    found = {
        name: load(agent=name, environ=machine.environ, cwd=str(machine.cwd)).workspace
        for name in ("one", "two")
    }

    assert found == {"one": "/all", "two": "/two"}


# Paths


def test_the_state_folder_is_openclaws_if_it_is_in_use(machine):
    assert machine.load().store.path == str(machine.home / ".local/share/memgrep/memory/main.memgrep.sqlite")

    machine.environ["XDG_DATA_HOME"] = "/data"
    assert machine.load().store.path == "/data/memgrep/memory/main.memgrep.sqlite"

    (machine.home / ".openclaw").mkdir()
    assert machine.load().store.path == str(machine.home / ".openclaw/memory/main.memgrep.sqlite")

    machine.environ["OPENCLAW_STATE_DIR"] = "/state"
    assert machine.load().store.path == "/state/memory/main.memgrep.sqlite"
    assert machine.load().sync.sessions.path == "/state/agents/main/sessions"
    assert machine.load().qmd.home == "/state/agents/main/qmd"


def test_openclaws_file_is_found_by_its_variables(machine, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "openclaw.json").write_text("{memory: {citations: 'on'}}")
    elsewhere = tmp_path / "elsewhere.json5"
    elsewhere.write_text("{memory: {citations: 'off'}}")

    machine.environ["OPENCLAW_STATE_DIR"] = str(state)
    assert machine.load().citations == "on"
    machine.environ["OPENCLAW_CONFIG_PATH"] = str(elsewhere)
    assert machine.load().citations == "off"
    machine.environ["OPENCLAW_CONFIG_PATH"] = os.devnull
    assert machine.load().citations == "auto"


def test_a_file_that_was_asked_for_must_exist(machine):
    machine.environ["OPENCLAW_CONFIG_PATH"] = "/nowhere/openclaw.json"

    with pytest.raises(ConfigError, match=r"^/nowhere/openclaw.json: there is no such file"):
        machine.load()


def test_relative_paths_count_from_where_they_are_written(machine):
    machine.user("store.path = 'index/{agentId}.sqlite'\nextra_paths = ['../team']")

    settings = machine.load()

    assert settings.store.path == str(machine.home / ".config/memgrep/index/main.sqlite")
    assert settings.extra_paths[0].path == str(machine.workspace.parent / "team")
    assert machine.load({"store.path": "here.sqlite"}).store.path == str(machine.cwd / "here.sqlite")


@pytest.mark.parametrize("path", ["C:\\notes\\team docs", "\\\\srv\\share\\notes", "C:/notes", "/notes/x"])
def test_a_path_that_is_absolute_anywhere_is_taken_as_it_is(machine, path):
    """F131."""
    assert machine.load({"extraPaths": [path]}).extra_paths[0].path == path


@pytest.mark.parametrize(
    ("written", "path"),
    [("~/notes", "home/notes"), ("~", "home"), ("sub/../x", "notes/x"), ("~other", "notes/~other")],
)
def test_home_and_relative_paths_are_made_absolute(machine, tmp_path, written, path):
    assert machine.load({"extraPaths": [written]}).extra_paths[0].path == str(tmp_path / path)


def test_an_extra_path_can_be_declared_evergreen(machine):
    """F036: one rule for all, and an exception for each."""
    paths = {"extraPaths": ["/a", {"path": "/b", "evergreen": True}, {"path": "/c", "evergreen": False}]}
    rule = "query.hybrid.temporalDecay.extraPaths"

    assert [extra.evergreen for extra in machine.load(paths).extra_paths] == [True, True, False]
    assert [extra.evergreen for extra in machine.load({**paths, rule: "mtime"}).extra_paths] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("platform", "environ", "settings", "data"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config/memgrep", "/h/.local/share/memgrep"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/memgrep", "/d/memgrep"),
        # The XDG rules: a relative folder is no folder.
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "c"}, "/h/.config/memgrep", "/h/.local/share/memgrep"),
        (
            "darwin",
            {"HOME": "/h"},
            "/h/Library/Application Support/memgrep",
            "/h/Library/Application Support/memgrep",
        ),
        (
            "win32",
            {"USERPROFILE": "/h", "APPDATA": "/h/Roaming", "LOCALAPPDATA": "/h/Local"},
            "/h/Roaming/memgrep",
            "/h/Local/memgrep",
        ),
        ("win32", {"USERPROFILE": "/h"}, "/h/AppData/Roaming/memgrep", "/h/AppData/Local/memgrep"),
    ],
)
def test_folders_follow_the_platform(platform, environ, settings, data):
    places = Places(environ, cwd="/", platform=platform)

    assert (os.path.dirname(places.user_file), places.data) == (settings, data)


# Agents


@pytest.mark.parametrize(
    "agent", ["../../etc/passwd", "a/b", "a\\b", "..", "", "Ägent", "x" * 300, "a\0b", "C:", "a-b/"]
)
def test_an_agents_name_cannot_leave_the_folder(machine, agent):
    """F144."""
    name = agent_folder_name(agent)

    assert name.isascii()
    assert 0 < len(name) <= 64
    assert not set(name) & set("/\\.:\0")
    folder = str(machine.home / ".local/share/memgrep/memory")
    assert os.path.dirname(machine.load(agent=agent or None).store.path) == folder


def test_two_agents_never_share_a_store(machine):
    """F144: what makes a name safe must not make two names equal."""
    names = ["a/b", "a-b", "a\\b", "a b", "a_b", "ä", "ö", "x" * 100, "x" * 101, "main", "."]

    assert len({machine.load(agent=name).store.path for name in names}) == len(names)
    assert machine.load(agent="MAIN").store.path == machine.load().store.path


def test_a_shared_store_path_must_name_the_agent(machine):
    """F144."""
    machine.openclaw("{memory: {search: {store: {path: '/x/index.sqlite'}}}}")

    assert machine.load().store.path == "/x/index.sqlite"
    with pytest.raises(ConfigError, match=r"put \{agentId\} into the path"):
        machine.load(agent="other")
    assert machine.load({"store.path": "/y.sqlite"}, agent="other").store.path == "/y.sqlite"


def test_the_agent_can_come_from_the_environment(machine):
    machine.environ["MEMGREP_AGENT"] = "Ops"

    assert machine.load().agent == "ops"
    assert machine.load(agent="dev").agent == "dev"


# What the settings are


def test_settings_are_frozen(machine):
    settings = machine.load()

    with pytest.raises(AttributeError, match="frozen"):
        settings.provider = "x"
    with pytest.raises(AttributeError, match="frozen"):
        settings.query.hybrid.mmr.lambda_ = 0.1
    with pytest.raises(AttributeError, match="frozen"):
        del settings.query
    changed = settings.query.replace(max_results=9)
    assert (changed.max_results, settings.query.max_results) == (9, 6)
    with pytest.raises(TypeError, match="max_reslts"):
        settings.query.replace(max_reslts=9)


def test_every_key_has_its_place_in_the_settings(machine):
    """Names are those of the keys, so the documentation of one is that of the other."""
    settings = machine.load()
    for name, key in KEYS.items():
        if name == "experimental.sessionMemory":
            continue  # it decides over `sources` and has no place of its own
        found: object = settings
        for part in key.at.split("."):
            found = getattr(found, part)
        assert found == settings.values[name], name
        if not name.startswith(("memory.", "agents.")):
            assert key.at.rstrip("_") == snake(name)


def test_every_class_declares_what_it_holds():
    from memgrep.config import sections, settings

    classes = [
        kind for module in (sections, settings) for kind in vars(module).values() if isinstance(kind, type)
    ]
    records = [
        kind for kind in classes if issubclass(kind, sections.Section) and kind is not sections.Section
    ]

    assert len(records) > 25
    for record in records:
        assert sorted(record.__annotations__) == sorted(record.__slots__), record


def test_the_listing_has_every_key_once_as_plain_data(machine):
    machine.user("[models.providers.lab]\napi = 'openai'\napi_key = 'hidden'")
    rows = machine.load({"extraPaths": ["/x"]}).listing()

    keys = [row.key for row in rows]
    assert keys == [*KEYS, "models.providers.lab.api", "models.providers.lab.apiKey"]
    by_key = {row.key: row for row in rows}
    assert by_key["extraPaths"].value == [{"evergreen": True, "path": "/x", "pattern": None}]
    assert by_key["extraPaths"].origin == "argument"
    assert by_key["models.providers.lab.apiKey"].origin == "memgrep.toml:3"
    assert by_key["memory.qmd.scope"].value == {
        "default": "deny",
        "rules": [{"action": "allow", "match": {"chatType": "direct"}}],
    }
    plain = (str, int, float, bool, list, dict, type(None))
    assert all(isinstance(row.value, plain) for row in rows)


def test_an_unknown_key_has_no_origin(machine):
    with pytest.raises(KeyError):
        machine.load().origin("query.nothing")


def test_without_files_only_environment_and_arguments_count(machine):
    machine.user("provider = 'voyage'")

    settings = load({"query.maxResults": 3}, workspace="/w", environ=machine.environ, files=False)

    assert (settings.provider, settings.query.max_results) == ("auto", 3)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("query.max_results", "7", 7),
        ("memory.search.ignore", "a,b", ["a", "b"]),
        ("extraPaths", '[{"path": "x"}]', [{"path": "x"}]),
        ("no.such.key", "7", "7"),
    ],
)
def test_a_text_becomes_a_value_for_its_key(key, text, value):
    assert config.read_text(key, text) == value


def test_settings_cost_a_cold_start_nothing_but_themselves():
    """What keyword search imports is part of its speed."""
    before = "import os, stat, sys; before = set(sys.modules)"
    code = f"{before}; import memgrep.config; print(*(set(sys.modules) - before))"
    package = Path(config.__file__).parents[2]

    shown = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
    )

    imported = set(shown.stdout.split())
    assert {name for name in imported if not name.startswith("memgrep")} <= {"__future__"}
    assert "memgrep.config.resolve" in imported
    assert "memgrep._core" not in imported
