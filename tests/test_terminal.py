"""Colour, marks, tables and the progress line."""

import io

import pytest
from memgrep.terminal import Progress, Style, marked, size, table


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "on"),
    [
        (Screen(), {}, True),
        (Screen(), {"NO_COLOR": "1"}, False),
        (Screen(), {"NO_COLOR": ""}, True),
        (Screen(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals(stream, environ, on):
    assert Style(stream, environ).bold("x") == ("\x1b[1mx\x1b[0m" if on else "x")


def test_matches_are_marked_once_where_they_overlap():
    style = Style(Screen(), {})

    shown = marked("the lantern light", [(4, 11), (6, 11), (12, 17)], style)

    assert shown == "the \x1b[1;33mlantern\x1b[0m \x1b[1;33mlight\x1b[0m"
    assert marked("the lantern", [(4, 11)], Style(io.StringIO(), {})) == "the lantern"


def test_marks_do_not_let_escape_sequences_through():
    shown = marked("a\x1b]0;title\x07b", [(0, 1)], Style(io.StringIO(), {}))

    assert shown == "a␛]0;title␇b"


def test_columns_line_up():
    assert table([("a", "bb", "c"), ("aaa", "b", "")], indent=" ") == " a    bb  c\n aaa  b"


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 B"), (812, "812 B"), (3_400_000, "3.4 MB"), (123_456, "123 kB")]
)
def test_sizes_are_said_as_people_say_them(number, said):
    assert size(number) == said


def test_progress_shows_how_far_and_goes_away():
    screen = Screen()
    progress = Progress(screen, patience=0)

    progress("embedding", 1, 4)
    progress("embedding", 4, 4)
    progress.clear()

    drawn = screen.getvalue().split("\r\x1b[2K")
    assert drawn[1].startswith("embedding ━━━━━━──────────────────  1/4".replace("  1", " 1"))
    assert drawn[-2] == "embedding " + "━" * 24 + " 4/4"
    assert drawn[-1] == ""


def test_progress_is_silent_without_a_terminal_and_for_short_work():
    pipe, screen = io.StringIO(), Screen()

    Progress(pipe, patience=0)("embedding", 1, 4)
    Progress(screen, patience=60)("embedding", 1, 4)

    assert (pipe.getvalue(), screen.getvalue()) == ("", "")
