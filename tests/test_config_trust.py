"""A workspace's own file belongs to the notes: what it may say, and that it may say nothing else."""

import os

import pytest
from memgrep.config import KEYS, env_name, load
from memgrep.config.keys import snake
from memgrep.errors import ConfigError

# Ranking, chunking, patterns to leave out, and paths that stay inside.
ALLOWED = {name for name in KEYS if name.startswith(("query.", "chunking."))} | {"ignore", "extraPaths"}

VALUES = {
    "query.hybrid.fusion": "weighted-rank",
    "query.hybrid.temporalDecay.extraPaths": "mtime",
    "query.hybrid.temporalDecay.halfLifeDays": 7.0,
    "extraPaths": ["inner"],
    "ignore": ["drafts/"],
}


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def read(notes, text, **arguments):
    (notes / ".memgrep.toml").write_text(text, encoding="utf-8")
    environ = {"HOME": str(notes.parent / "home")}
    return load(arguments, workspace=notes, environ=environ, cwd="/", platform="linux")


def refusal(notes, text):
    with pytest.raises(ConfigError) as caught:
        read(notes, text)
    return caught.value


def test_what_notes_may_set_is_what_is_written_here():
    assert {name for name, key in KEYS.items() if key.notes} == ALLOWED
    assert len(ALLOWED) == 18


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_notes_may_set_their_ranking(notes, name):
    value = VALUES.get(name, KEYS[name].default)
    value = 0.5 if value is None else value
    text = f"{snake(name)} = {str(value).lower() if isinstance(value, bool) else repr(value)}"

    assert read(notes, text).origin(name) == ".memgrep.toml:1"


@pytest.mark.parametrize("name", sorted(set(KEYS) - ALLOWED))
def test_notes_may_set_nothing_else(notes, name):
    """The value is of no matter: it is refused before it is looked at."""
    error = refusal(notes, f"\n{name} = 'x'")

    (problem,) = error.problems
    assert (problem.source, problem.line, problem.key) == (str(notes / ".memgrep.toml"), 2, name)
    assert "a workspace's own file may not set this (only query, chunking, ignore, and " in problem.message
    user = str(notes.parent / "home/.config/memgrep/memgrep.toml")
    assert problem.message.endswith(f"; set it in {user}, in {env_name(name)} or as an argument")


@pytest.mark.parametrize(
    "text",
    [
        "[memory.search]\nprovider = 'openai'",
        "[memory.search.remote]\nbase_url = 'http://evil'",
        "[agents.defaults.memorySearch]\nprovider = 'openai'",
        "[agents.defaults.memory_search.remote.headers]\nX = 'y'",
        "[[agents.list]]\nid = 'main'\nmemorySearch.remote.apiKey = 'x'",
        "[[agents.list]]\nid = 'main'\nworkspace = '/'",
        "[agents.entries.main.memory.search.local]\nmodel_path = '/x'",
        "[models.providers.openai]\nbaseUrl = 'http://evil'",
        "[models.providers.openai]\n",
        "[models.providers.mine.headers]\nX = 'y'",
        "[memory.qmd]\ncommand = '/tmp/evil'",
        "store.vector.extension_path = './evil.so'",
    ],
)
def test_no_other_place_in_the_file_is_a_way_round(notes, text):
    assert "a workspace's own file may not set this" in str(refusal(notes, text))


@pytest.mark.parametrize(
    "path",
    ["..", "../x", "inner/../../x", "/etc", "~/x", "~", "C:\\notes", "\\\\srv\\share", "//srv/share", "/"],
)
def test_extra_paths_of_notes_stay_inside(notes, path):
    error = refusal(notes, f"\nextra_paths = [\n  'inner',\n  '{path}',\n]")

    (problem,) = error.problems
    assert (problem.line, problem.key) == (4, "extra_paths")
    assert "leads out of the workspace" in problem.message


@pytest.mark.parametrize("path", [".", "inner", "inner/deeper", "./inner", "inner/../other", "not-there-yet"])
def test_extra_paths_inside_are_fine(notes, path):
    settings = read(notes, f"extra_paths = ['{path}']")

    assert settings.extra_paths[0].path == os.path.normpath(notes / path)


def test_an_extra_path_inside_may_be_absolute(notes):
    assert read(notes, f"extra_paths = ['{notes}/inner']").extra_paths[0].path == f"{notes}/inner"


def test_no_link_is_a_way_out(notes, tmp_path):
    (tmp_path / "private").mkdir()
    (notes / "link").symlink_to(tmp_path / "private")
    (notes / "inner").mkdir()
    (notes / "inner" / "up").symlink_to("..")

    for path in ("link", "link/below", "inner/up"):
        assert "leads out of the workspace" in str(refusal(notes, f"extra_paths = ['{path}']"))


def test_a_workspace_behind_a_link_has_an_inside_too(notes, tmp_path):
    (tmp_path / "alias").symlink_to(notes)
    (notes / ".memgrep.toml").write_text("extra_paths = ['inner']")

    settings = load(workspace=tmp_path / "alias", environ={"HOME": "/h"}, cwd="/", platform="linux")

    assert settings.extra_paths[0].path == str(tmp_path / "alias" / "inner")


@pytest.mark.parametrize("pattern", ["../*.md", "a/../../*.md", "/etc/*", "..\\*.md"])
def test_a_pattern_cannot_climb(notes, pattern):
    text = f"extra_paths = [{{ path = 'inner', pattern = '{pattern}' }}]"

    assert "pattern: found" in str(refusal(notes, text))


def test_the_file_itself_must_not_be_a_link(notes, tmp_path):
    """A link could show lines of any file in an error."""
    (tmp_path / "secret").write_text("password = hunter2\n")
    (notes / ".memgrep.toml").symlink_to(tmp_path / "secret")

    with pytest.raises(ConfigError) as caught:
        load(workspace=notes, environ={"HOME": "/h"}, cwd="/", platform="linux")

    assert str(caught.value) == f"{notes}/.memgrep.toml: a link, which is not followed"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in the file system")
def test_a_pipe_is_not_waited_for(notes):
    os.mkfifo(notes / ".memgrep.toml")

    with pytest.raises(ConfigError, match="not a file"):
        load(workspace=notes, environ={"HOME": "/h"}, cwd="/", platform="linux")


def test_a_huge_file_is_not_read(notes):
    with open(notes / ".memgrep.toml", "wb") as file:
        file.truncate(5 * 1024 * 1024)

    with pytest.raises(ConfigError, match="larger than 4 MB, so not a settings file"):
        load(workspace=notes, environ={"HOME": "/h"}, cwd="/", platform="linux")


def test_notes_cannot_bring_back_what_the_user_leaves_out(notes):
    """Of two patterns the later wins, so those of the notes come first."""
    user = notes.parent / "home/.config/memgrep/memgrep.toml"
    user.parent.mkdir(parents=True)
    user.write_text("ignore = ['private/']")

    assert read(notes, "ignore = ['!private/']").ignore == ("!private/", "private/")


def test_what_the_user_says_wins_over_the_notes(notes):
    assert read(notes, "query.max_results = 50", **{"query.maxResults": 3}).query.max_results == 3
