"""The command's arguments: read from one table, wrong ones refused with how it is asked."""

import pytest
from memgrep import __version__
from memgrep.arguments import COMMANDS, Options, UsageError, read


def asked(*words: str) -> Options:
    options = read(list(words))
    assert isinstance(options, Options)
    return options


def test_what_is_not_said_has_its_default():
    options = asked("search", "lantern")

    assert vars(options) == {
        "command": "search",
        "workspace": None,
        "agent": None,
        "set": [],
        "json": False,
        "query": ["lantern"],
        "max_results": None,
        "min_score": None,
        "corpus": None,
        "since": None,
        "until": None,
        "path": None,
        "source": None,
        "explain": False,
    }


@pytest.mark.parametrize(
    "words", [["-n", "3"], ["-n3"], ["-n=3"], ["--max-results", "3"], ["--max-results=3"]]
)
def test_a_value_may_be_joined_or_follow(words):
    assert asked("search", *words, "lantern").max_results == 3
    assert asked("search", "lantern", *words, "oil").query == ["lantern", "oil"]


def test_options_may_come_again_where_they_add_up():
    assert asked("index", "--set", "a=1", "--set=b=2").set == ["a=1", "b=2"]
    assert asked("get", "--lines=1", "--lines=2", "x").lines == 2


def test_everything_after_two_dashes_is_a_word():
    options = asked("search", "--json", "--", "--json", "-n", "--")

    assert (options.json, options.query) == (True, ["--json", "-n", "--"])


def test_a_command_may_have_a_second_word():
    """A folder of that name is written with its path."""
    assert (asked("eval", "init", "x").command, asked("eval", "init", "x").folder) == ("eval init", "x")
    assert (asked("eval", "./init", "x").command, asked("eval", "./init", "x").sets) == (
        "eval",
        ["./init", "x"],
    )


def test_numbers_are_no_options():
    """Also those that are refused later, with their range."""
    assert asked("search", "--min-score", "-0.1", "-40", "degrees").min_score == -0.1
    assert asked("search", "-40", "degrees").query == ["-40", "degrees"]
    assert asked("search", "-", "x").query == ["-", "x"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "say what to do"),
        (["frobnicate"], "frobnicate: no such command"),
        (["--json", "search", "x"], "--json: no such command"),
        (["search"], "QUERY… is missing"),
        (["search", "--frob", "x"], "--frob: no such option"),
        (["search", "--max", "3", "x"], "--max: no such option"),
        (["search", "-q", "x"], "-q: no such option"),
        (["search", "x", "-n"], "-n: N is missing"),
        (["search", "-n", "--json", "x"], "-n: N is missing"),
        (["search", "--corpus", "--", "x"], "--corpus: WHAT is missing"),
        (["search", "--json=1", "x"], "--json takes no value"),
        (["get", "a", "b"], "b: one argument too many"),
        (["models", "burn"], "burn: write list or pull or verify or rm"),
        (["models"], "list|pull|verify|rm is missing"),
        (["status", "now"], "now: one argument too many"),
        (["eval"], "SETS… is missing"),
        (["eval", "init"], "FOLDER is missing"),
        (["eval", "compare", "a"], "AFTER is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, message):
    with pytest.raises(UsageError) as refused:
        read(words)

    assert message in str(refused.value)
    assert refused.value.usage.startswith("memgrep ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_argument(name):
    text = read([*name.split(), "--help"])

    assert isinstance(text, str)
    for argument in COMMANDS[name].arguments:
        assert argument.shown() in text
        assert argument.help in text


def test_help_and_version_of_all():
    text = read(["--help"])

    assert isinstance(text, str)
    assert [name for name in COMMANDS if name not in text] == []
    assert read(["--version"]) == f"memgrep {__version__}"
