"""Hits, answers and citations."""

import pytest
from memgrep.hits import Answer, Fallback, Hit, cite, cites
from memgrep.records import Record, camel


def hit(**values: object) -> Hit:
    return Hit(
        **{
            "path": "memory/a.md",
            "start_line": 3,
            "end_line": 7,
            "score": 0.5,
            "snippet": "lines\n",
            "source": "memory",
            **values,
        }
    )


def test_a_hit_is_what_agents_know():
    shown = hit(vector_score=0.25, text_score=0.75, importance=9).to_json()

    assert shown == {
        "path": "memory/a.md",
        "startLine": 3,
        "endLine": 7,
        "score": 0.5,
        "vectorScore": 0.25,
        "textScore": 0.75,
        "snippet": "lines\n",
        "source": "memory",
        "importance": 9,
    }


def test_a_cited_hit_ends_with_its_source():
    shown = hit(citation=cite("memory/a.md", 3, 7)).to_json()

    assert shown["citation"] == "memory/a.md#L3-L7"
    assert shown["snippet"] == "lines\n\nSource: memory/a.md#L3-L7"


def test_one_line_is_cited_as_one():
    assert cite("MEMORY.md", 3, 3) == "MEMORY.md#L3"


@pytest.mark.parametrize(
    ("mode", "session", "expected"),
    [
        ("on", "agent:main:discord:channel:1", True),
        ("off", None, False),
        ("auto", None, True),
        ("auto", "agent:main:main", True),
        ("auto", "agent:main:discord:channel:1", False),
        ("auto", "agent:main:telegram:GROUP:7", False),
        ("auto", "agent:group:main", True),
    ],
)
def test_auto_cites_in_direct_chats_only(mode, session, expected):
    assert cites(mode, session) is expected


def test_what_is_not_there_is_left_out_of_an_answer():
    assert Answer(hits=(hit(),)).to_json() == {
        "results": [hit().to_json()],
        "provider": "none",
        "mode": "keyword",
        "backend": "builtin",
        "citations": "auto",
    }


def test_what_happened_is_in_an_answer():
    instead = Fallback(from_="openai", to="static", reason="openai: 401")

    shown = Answer(stale=True, warning="w", fallback=instead, provider="static", model="m").to_json()

    assert shown["fallback"] == {"from": "openai", "to": "static", "reason": "openai: 401"}
    assert (shown["stale"], shown["warning"], shown["results"]) == (True, "w", [])


def test_an_unavailable_answer_presents_nothing_as_a_result():
    shown = Answer(unavailable=True, error="openai: 401", action="set OPENAI_API_KEY").to_json()

    assert shown == {
        "results": [],
        "disabled": True,
        "unavailable": True,
        "error": "openai: 401",
        "action": "set OPENAI_API_KEY",
    }


def test_an_answer_is_its_hits():
    answer = Answer(hits=(hit(), hit(path="memory/b.md")))

    assert [one.path for one in answer] == ["memory/a.md", "memory/b.md"]
    assert (len(answer), bool(answer), bool(Answer())) == (2, True, False)


def test_values_are_frozen_and_equal_by_value():
    one = hit()

    with pytest.raises(AttributeError, match="Hit is frozen"):
        one.score = 1.0
    with pytest.raises(AttributeError, match="Hit is frozen"):
        del one.score
    assert one == hit()
    assert one != hit(score=0.4)
    assert hash(one) == hash(hit())
    assert one.replace(score=0.4) == hit(score=0.4)


def test_a_record_takes_its_own_fields_only():
    class Point(Record):
        x: int
        y: int = 0

    with pytest.raises(TypeError, match="needs x"):
        Point()
    with pytest.raises(TypeError, match="no field z"):
        Point(x=1, z=2)
    assert Point(x=1).to_json() == {"x": 1, "y": 0}


def test_names_in_json_are_camel_case():
    assert [camel(name) for name in ("path", "start_line", "from_", "mmr_penalty")] == [
        "path",
        "startLine",
        "from",
        "mmrPenalty",
    ]
