"""The tree of errors: as drawn, readable, and whole after a trip through another process."""

import inspect
import pickle
import re

import pytest
from memgrep import errors
from memgrep.errors import ConfigError, MemgrepError, NoteRefused, Problem, ProviderAuth, ProviderError


def classes():
    found = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind)}
    return {name: kind for name, kind in found.items() if issubclass(kind, Exception)}


def test_the_drawing_is_the_tree():
    """Name and depth of every class in the docstring."""
    lines = [line for line in errors.__doc__.splitlines() if re.search(r"MemgrepError$|──", line)]
    drawn = {re.search(r"\w+", line).group(): (re.search(r"\w", line).start() - 4) // 4 for line in lines}

    def depth(kind):
        return 0 if kind is MemgrepError else 1 + depth(kind.__mro__[1])

    assert drawn == {name: depth(kind) for name, kind in classes().items()}
    assert len(drawn) > 12


def test_everything_is_exported():
    assert set(errors.__all__) == {*classes(), "Problem"}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ProviderAuth("voyage", "key rejected (401)", "set VOYAGE_API_KEY", status=401),
            "voyage: key rejected (401); set VOYAGE_API_KEY",
        ),
        (ProviderError("lab", "no answer"), "lab: no answer"),
        (
            NoteRefused("../x.md", "outside", "is not in the workspace"),
            "../x.md: is not in the workspace (outside)",
        ),
        (errors.LabelsInvalid("/set/qrels.tsv", 3, "two fields"), "/set/qrels.tsv:3: two fields"),
        (errors.LabelsInvalid("set", None, "no question"), "set: no question"),
        (errors.BackendUnavailable("qmd", "not found"), "qmd: not found"),
        (
            ConfigError(Problem("/a.toml", 3, "query.x", "unknown key"), Problem("argument", None, "", "no")),
            "/a.toml:3: query.x: unknown key\nargument: no",
        ),
    ],
)
def test_an_error_says_who_why_and_what_helps(error, text):
    assert str(error) == text
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), text)
    assert {name: str(value) for name, value in vars(again).items()} == {
        name: str(value) for name, value in vars(error).items()
    }


def test_wrong_settings_are_a_wrong_value():
    assert issubclass(ConfigError, ValueError)
