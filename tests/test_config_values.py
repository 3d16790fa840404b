"""What a setting may be, and how a wrong one is told: file, line, key, what was found, what is allowed."""

import math

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from memgrep import config
from memgrep.config import KEYS, load
from memgrep.config.keys import OPENCLAW_ONLY
from memgrep.config.kinds import Choice, Flag, Number, Whole, Wrong, node_of
from memgrep.errors import ConfigError

# A loaded machine is no reason to fail.
patient = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)


def read(arguments, **more):
    """Settings from arguments alone."""
    return load(
        arguments,
        workspace="/notes",
        environ={"HOME": "/home/x", **more},
        cwd="/",
        platform="linux",
        files=False,
    )


def refusal(arguments, **more):
    with pytest.raises(ConfigError) as caught:
        read(arguments, **more)
    return str(caught.value)


def nested(name, value):
    """A key as tables, because None for a key by itself says nothing."""
    for part in reversed((name if "." in name else f"memory.search.{name}").split(".")):
        value = {part: value}
    return value


WHOLE = [(name, key.kind) for name, key in KEYS.items() if isinstance(key.kind, Whole)]
NUMBERS = [(name, key.kind) for name, key in KEYS.items() if isinstance(key.kind, Number)]
WORDS = [(name, key.kind) for name, key in KEYS.items() if isinstance(key.kind, Choice)]


def test_there_are_keys_of_every_kind():
    assert min(len(WHOLE) - 25, len(NUMBERS) - 5, len(WORDS) - 5) >= 0


@pytest.mark.parametrize(("name", "kind"), WHOLE, ids=[name for name, _ in WHOLE])
def test_whole_numbers_have_their_range(name, kind):
    """F136."""
    for value in (kind.low, kind.high, float(kind.low)):
        assert kind.take(node_of(value)) == value
    wrong = (kind.low - 1, kind.high + 1, kind.low + 0.5, str(kind.low), True, None, math.inf, math.nan, [1])
    for value in wrong:
        assert f"{name}: found" in refusal(nested(name, value))


@pytest.mark.parametrize(("name", "kind"), NUMBERS, ids=[name for name, _ in NUMBERS])
def test_numbers_have_their_range(name, kind):
    for value in (kind.low + 0.01, kind.high):
        assert kind.take(node_of(value)) == value
    for value in (kind.low - 0.01, kind.high * 1.01, math.inf, math.nan, "1", False, {}):
        assert f"allowed: {kind.said}" in refusal({name: value})


@pytest.mark.parametrize(("name", "kind"), WORDS, ids=[name for name, _ in WORDS])
def test_words_are_those_that_are_known(name, kind):
    for word in kind.words:
        assert kind.take(node_of(word)) == word
    assert refusal({name: "nothing"}) == f'argument: {name}: found "nothing", allowed: {kind.said}'


@pytest.mark.parametrize("name", [name for name, key in KEYS.items() if isinstance(key.kind, Flag)])
def test_flags_are_true_or_false(name):
    for value in (1, 0, "true", "yes", None, []):
        assert "allowed: true, false" in refusal(nested(name, value))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query.maxResults": 0}, "query.maxResults: found 0, allowed: a whole number from 1 to 2000"),
        ({"query.maxResults": -5}, "query.maxResults: found -5, allowed: a whole number from 1 to 2000"),
        (
            {"query.max_results": 1000000},
            "query.max_results: found 1000000, allowed: a whole number from 1 to 2000",
        ),
        ({"query.maxReslts": 5}, 'query.maxReslts: unknown key; did you mean "maxResults"?'),
        ({"query.zzz": 5}, "query.zzz: unknown key; known here: hybrid, maxResults, minScore"),
        ({"query": 5}, "query: found a number, allowed: a table"),
        ({"sources": ["memory", "web"]}, 'sources: found "web", allowed: "memory", "sessions"'),
        ({"ignore": "*.tmp"}, 'ignore: found "*.tmp", allowed: a list of patterns as in .gitignore'),
        ({"extraPaths": [{"pattern": "*.md"}]}, "found a table without path"),
        ({"extraPaths": [{"path": "x", "glob": "*"}]}, "extraPaths: glob: unknown key"),
        ({"extraPaths": [{"path": "x", "pattern": "../*"}]}, "extraPaths: pattern: found"),
        ({"memory.qmd.update.interval": "soon"}, 'found "soon", allowed: up to 365 days, such as "30s"'),
        ({"memory.qmd.scope": {"rules": [{"match": {}}]}}, "found a rule without action"),
        (
            {"memory.qmd.scope": {"rules": [{"action": "maybe"}]}},
            'found "maybe", allowed: {default: allow|deny',
        ),
        (
            {"memory.qmd.scope": {"rules": [{"action": "deny", "match": {"user": "x"}}]}},
            'found the key "user"',
        ),
        (
            {"agents.defaults.userTimezone": "Mars/Base"},
            'found "Mars/Base", allowed: the name of a time zone',
        ),
        ({"remote.baseUrl": "ftp://x"}, "remote.baseUrl: found a text that is none, allowed: an address"),
        (
            {"multimodal.enabled": True, "fallback": "openai"},
            'fallback: found "openai", allowed: "none" while',
        ),
        ({"provider": ""}, 'provider: found "", allowed: the name of a provider'),
    ],
)
def test_a_refusal_names_key_value_and_what_is_allowed(arguments, message):
    """F136."""
    assert message in refusal(arguments)


def test_a_tools_own_argument_gets_the_same_words():
    """F136."""
    assert config.check("query.maxResults", 7) == 7
    with pytest.raises(ValueError, match=r"^maxResults: found 0, allowed: a whole number from 1 to 2000$"):
        config.check("query.maxResults", 0)


def test_all_problems_are_told_together_with_their_lines(tmp_path):
    user = tmp_path / ".config" / "memgrep" / "memgrep.toml"
    user.parent.mkdir(parents=True)
    user.write_text("provider = 1\n\n[query]\nmax_results = 0\nminScroe = 1\n\n[qury]\n")
    environ = {"HOME": str(tmp_path), "MEMGREP_SYNC_WATCH": "perhaps"}

    with pytest.raises(ConfigError) as caught:
        load({"chunking.tokens": 0}, environ=environ, cwd=str(tmp_path), platform="linux")

    assert [(problem.source, problem.line, problem.key) for problem in caught.value.problems] == [
        (str(user), 1, "provider"),
        (str(user), 4, "query.max_results"),
        (str(user), 5, "query.minScroe"),
        (str(user), 7, "qury"),
        ("MEMGREP_SYNC_WATCH", None, "sync.watch"),
        ("argument", None, "chunking.tokens"),
    ]
    assert (
        str(caught.value).splitlines()[2]
        == f'{user}:5: query.minScroe: unknown key; did you mean "minScore"?'
    )
    assert not caught.value.usage


def test_only_wrong_arguments_are_a_wrong_use_of_the_command():
    with pytest.raises(ConfigError) as caught:
        read({"query.maxResults": 0})

    assert caught.value.usage


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"{ a: 1\n  b: 2 }", "openclaw.json:2: column 3: expected a comma or }, found b"),
        (b"", "openclaw.json:1: column 1: expected a value, found the end of the file"),
        (b"[1]", "openclaw.json:1: found a list, allowed: a table of settings"),
        (b"\xff\xfe", "openclaw.json: not UTF-8 (byte 0)"),
        (b"{a: 1,\na: 2}", 'openclaw.json:2: column 1: the key "a" stands on line 1 already'),
        (b"{memory: []}", "openclaw.json:1: memory: found a list, allowed: a table"),
        (
            b"{agents: {list: {}}}",
            "openclaw.json:1: agents.list: found a table, allowed: a list of tables with id",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, text, place):
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw" / "openclaw.json").write_bytes(text)

    with pytest.raises(ConfigError) as caught:
        load(workspace="/notes", environ={"HOME": str(tmp_path)}, cwd="/", platform="linux")

    assert str(caught.value) == str(tmp_path / ".openclaw") + "/" + place


def test_a_byte_order_mark_is_no_part_of_the_settings(tmp_path):
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw" / "openclaw.json").write_text(
        "\ufeff{memory: {citations: 'on'}}", encoding="utf-8"
    )

    assert load(environ={"HOME": str(tmp_path)}, cwd="/", platform="linux").citations == "on"


def test_a_key_in_both_spellings_is_said_twice(tmp_path):
    user = tmp_path / ".config" / "memgrep" / "memgrep.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[query]\nmaxResults = 1\nmax_results = 2\n")

    with pytest.raises(
        ConfigError, match=r"toml:3: query.max_results: given twice, in both spellings \(line 2\)"
    ):
        load(environ={"HOME": str(tmp_path)}, cwd="/", platform="linux")


def test_keys_that_only_openclaw_uses_are_still_checked():
    for name in OPENCLAW_ONLY:
        with pytest.raises(ConfigError, match="found"):
            read({name: []})


# Values that are worked out


@pytest.mark.parametrize(
    ("vector", "text", "weights"),
    [
        (0.5, 0.5, (0.5, 0.5)),
        (1, 1, (0.5, 0.5)),
        (0.2, None, (0.4, 0.6)),
        (None, 0.7, (0.5, 0.5)),
        (0, 0, (None, None)),
    ],
)
def test_weights_add_up_to_one(vector, text, weights):
    hybrid = read({"query.hybrid.vectorWeight": vector, "query.hybrid.textWeight": text}).query.hybrid

    assert (hybrid.vector_weight, hybrid.text_weight) == pytest.approx(weights)


@patient
@given(st.floats(0, 1), st.floats(0, 1))
def test_any_two_weights_are_shares_of_one(vector, text):
    hybrid = read({"query.hybrid.vectorWeight": vector, "query.hybrid.textWeight": text}).query.hybrid

    if vector == text == 0:
        assert hybrid.vector_weight is hybrid.text_weight is None
    else:
        assert hybrid.vector_weight + hybrid.text_weight == pytest.approx(1)


def test_both_weights_nought_is_worth_a_warning():
    settings = read({"query.hybrid.vectorWeight": 0, "query.hybrid.textWeight": 0})

    assert settings.warnings == (
        "argument: query.hybrid.vectorWeight: both weights are 0; the measured ones are used",
    )


def test_an_overlap_stays_below_the_chunk():
    assert read({"chunking.tokens": 30}).chunking == config.Chunking(tokens=30, overlap=29)
    settings = read({"chunking.tokens": 100, "chunking.overlap": 300})
    assert settings.chunking.overlap == 99
    assert settings.warnings == ("argument: chunking.overlap: 300 is not below chunking.tokens; 99 is used",)


def test_the_candidate_multiplier_has_a_ceiling():
    settings = read({"query.hybrid.candidateMultiplier": 99})

    assert settings.query.hybrid.candidate_multiplier == 20
    assert "99 is more than 20" in settings.warnings[0]


@pytest.mark.parametrize(
    ("arguments", "sources", "warnings"),
    [
        ({"sources": ["sessions", "memory"]}, ("memory",), 1),
        ({"sources": ["sessions"]}, ("memory",), 1),
        ({"sources": []}, ("memory",), 0),
        (
            {"sources": ["memory", "sessions", "memory"], "experimental.sessionMemory": True},
            ("memory", "sessions"),
            0,
        ),
    ],
)
def test_transcripts_need_two_yeses(arguments, sources, warnings):
    settings = read(arguments)

    assert (settings.sources, len(settings.warnings)) == (sources, warnings)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("5m", 300),
        ("1h", 3600),
        ("30s", 30),
        ("250ms", 0.25),
        ("1d", 86400),
        (5, 300),
        ("5", 300),
        (0, 0),
        ("1.5 h", 5400),
    ],
)
def test_spans_of_time_are_seconds(written, seconds):
    assert read({"memory.qmd.update.interval": written}).qmd.update.interval == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["", "m", "-5m", "5x", "1e9d", "nan", "inf", True, None, [5]])
def test_what_is_no_span_of_time_is_refused(written):
    with pytest.raises((ConfigError, Wrong)):
        KEYS["memory.qmd.update.interval"].kind.take(node_of(written))


@pytest.mark.parametrize(
    ("written", "size"), [("2mb", 2097152), ("512 KB", 524288), (1000, 1000), ("10b", 10), (0, 0)]
)
def test_sizes_are_bytes(written, size):
    key = "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes"

    assert read({key: written}).flush.force_flush_transcript_bytes == size


def test_modalities_are_spelt_out():
    assert read({"multimodal.modalities": ["all"]}).multimodal.modalities == ("image", "audio")


def test_scope_rules_are_kept_in_order_and_lower_case():
    rules = [{"action": "deny", "match": {"keyPrefix": "Discord:"}}, {"action": "allow"}]
    scope = read({"memory.qmd.scope": {"default": "allow", "rules": rules}}).qmd.scope

    assert scope.default == "allow"
    assert [(rule.action, dict(rule.match)) for rule in scope.rules] == [
        ("deny", {"keyPrefix": "discord:"}),
        ("allow", {}),
    ]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("hf:org/repo/file.gguf@main", "hf:org/repo/file.gguf@main"),
        ("bge-small-en-v1.5", "bge-small-en-v1.5"),
        ("~/models/x", "/home/x/models/x"),
        ("./x.gguf", "/x.gguf"),
    ],
)
def test_a_model_is_a_path_a_place_on_the_hub_or_a_name(written, path):
    assert read({"local.modelPath": written}).local.model_path == path


# Anything at all

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("path pattern id source action rules x".split()), inner, max_size=3)
    ),
    max_leaves=6,
)
ANY_KEY = st.sampled_from(
    [*KEYS, *OPENCLAW_ONLY, "models.providers.x", "agents.list", "agents.entries", "agents", "x.y"]
)


def outcome(arguments, **more):
    """The settings, or what is wrong with them."""
    try:
        return read(arguments, **more)
    except ConfigError as error:
        return error


@patient
@given(st.dictionaries(ANY_KEY, VALUES, max_size=4))
def test_any_value_is_taken_or_refused(arguments):
    found = outcome(arguments)

    assert str(found) if isinstance(found, ConfigError) else found.chunking.overlap < found.chunking.tokens


@patient
@given(
    st.sampled_from(list(KEYS)), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
)
def test_any_variable_is_taken_or_refused(name, text):
    variable = config.env_name(name)
    found = outcome({}, **{variable: text})

    assert str(found).startswith(variable) if isinstance(found, ConfigError) else name in found.values
