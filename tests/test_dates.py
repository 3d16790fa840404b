"""A time in the question: notes of that time rise, none is left out, and age counts as the question's tense asks."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from memgrep import tools
from memgrep.search import today
from memgrep.testing import HashEmbedder

WEDNESDAY = 20_635
"""2026-07-01, as in conftest."""


def best(memory, question: str, **options: object) -> str:
    return memory.search(question, **options).hits[0].path


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("what did we decide last Tuesday?", "2026-06-30"),
        ("what happened 3 weeks ago", "2026-06-10"),
        ("was haben wir am 5. März beschlossen", "2026-03-05"),
        ("was war vorgestern", "2026-06-29"),
        ("qu'avons-nous décidé il y a deux jours ?", "2026-06-29"),
        ("¿qué decidimos ayer?", "2026-06-30"),
        ("上个月十号决定了什么", "2026-06-10"),
        ("三月五日做了什么", "2026-03-05"),
        ("先月10日に何を決めましたか", "2026-06-10"),
        ("昨日は何をした", "2026-06-30"),
        ("what is in the note of 2026-03-05", "2026-03-05"),
    ],
)
def test_a_day_is_answered_by_its_note_whatever_its_words(ws, embedder, question, day):
    """The notes share no word with the question, and those of other days repeat the words of the question."""
    for one in ("2026-06-30", "2026-06-29", "2026-06-10", "2026-03-05"):
        ws.write(f"memory/{one}.md", "Omada ER605 behind the washing machine\n")
    ws.write("memory/2026-01-15.md", f"somebody asked: {question}\n")

    with ws.memory(embedder) as memory:
        memory.index()
        answer = memory.search(question)

    assert f"memory/{day}.md" in [hit.path for hit in answer.hits[:2]]
    assert "memory/2026-01-15.md" in [hit.path for hit in answer.hits], "no filter"


def test_a_note_of_the_asked_time_is_found_below_hundreds_that_match_better(ws):
    for number in range(300):
        ws.write(f"memory/2026-04-{number % 30 + 1:02}-{number}.md", "lantern oil lantern oil lantern oil\n")
    words = "\n".join(f"something else entirely number {number}" for number in range(40))
    ws.write("memory/2026-06-30.md", f"{words}\nthe lantern\n")

    with ws.memory(query__hybrid__candidateMultiplier=1, query__minScore=0) as memory:
        memory.index()

        assert best(memory, "lantern oil yesterday") == "memory/2026-06-30.md"
        assert best(memory, "lantern oil") != "memory/2026-06-30.md"


def test_a_better_answer_of_another_day_is_not_buried(ws):
    ws.write("memory/2026-06-30.md", "watered the plants\n")
    ws.write("memory/2026-02-02.md", "the door code of the boathouse is 4471\n")

    with ws.memory() as memory:
        memory.index()

        assert best(memory, "what door code of the boathouse did I write down yesterday") == (
            "memory/2026-02-02.md"
        )


def test_notes_around_the_asked_day_rise_less_and_undated_ones_not_at_all(ws):
    for path in ("memory/2026-06-30.md", "memory/2026-06-28.md", "memory/2026-05-01.md", "MEMORY.md"):
        ws.write(path, "- lantern oil\n")

    with ws.memory() as memory:
        memory.index()
        lifts = {hit.path: hit.explanation.temporal for hit in memory.search("lantern oil last Tuesday")}

    assert lifts["memory/2026-06-30.md"] > lifts["memory/2026-06-28.md"] > 0
    assert lifts["memory/2026-05-01.md"] == lifts["MEMORY.md"] == 0


def test_the_time_can_be_switched_off(ws):
    ws.write("memory/2026-06-30.md", "Omada\n")
    ws.write("memory/2026-05-05.md", "last Tuesday\n")

    with ws.memory(query__temporal=False) as memory:
        memory.index()
        hits = memory.search("last Tuesday").hits

    assert [hit.path for hit in hits] == ["memory/2026-05-05.md"]
    assert hits[0].explanation.temporal == 0


def test_the_seeds_formula_knows_no_time(ws):
    ws.write("memory/2026-06-30.md", "Omada\n")
    ws.write("memory/2026-05-05.md", "last Tuesday\n")

    with ws.memory(query__hybrid__fusion="weighted-rank") as memory:
        memory.index()

        assert [hit.path for hit in memory.search("last Tuesday")] == ["memory/2026-05-05.md"]


def test_a_shorter_list_begins_a_longer_one(ws):
    for day in range(1, 31):
        ws.write(f"memory/2026-06-{day:02}.md", f"lantern {'oil ' * (day % 5)}{'note ' * (day % 3)}\n")

    with ws.memory() as memory:
        memory.index()
        lists = [
            [(hit.path, hit.score) for hit in memory.search("lantern oil last week", max_results=n)]
            for n in (1, 3, 6, 12, 30)
        ]

    assert all(lists[-1][: len(shorter)] == shorter for shorter in lists)
    assert all(0 <= score <= 1 for _, score in lists[-1])


@pytest.mark.parametrize(
    ("question", "fades"),
    [
        ("lantern oil", True),
        ("lantern oil in January", False),
        ("where was the lantern oil before the move", False),
        ("wo stand das lantern oil früher", False),
        ("搬家之前 lantern oil 在哪里", False),
        ("current lantern oil", True),
    ],
)
def test_age_does_not_count_in_a_question_about_the_past(ws, question, fades):
    ws.write("memory/2026-01-15.md", "lantern oil\n")

    def decay(**settings: object) -> float:
        with ws.memory(**settings) as memory:
            memory.index()
            return memory.search(question).hits[0].explanation.decay

    assert (decay() < 1) == fades
    to_the_letter = decay(query__hybrid__temporalDecay__enabled=True)
    assert to_the_letter == pytest.approx(2 ** (-167 / 30), rel=1e-3), "true is the formula to the letter"


@pytest.mark.parametrize(
    "question",
    [
        "what is the wifi password",
        "what is the current wifi password",
        "wie lautet das aktuelle wifi password",
        "wifi password 现在",
        "今の wifi password",
    ],
)
def test_of_two_notes_that_say_the_same_the_newest_comes_first(ws, question):
    """Old enough that a factor of age tells them apart by next to nothing."""
    for day, word in (("2024-01-15", "heron"), ("2024-11-20", "otter"), ("2024-06-10", "bison")):
        ws.write(f"memory/{day}.md", f"# Network\n\n- wifi password: {word}\n")
    ws.write("memory/2026-06-01.md", "# Network\n\n- bought a longer cable\n")

    with ws.memory() as memory:
        memory.index()

        assert best(memory, question) == "memory/2024-11-20.md"


def test_for_the_present_a_newer_note_wins_although_it_says_more_besides(ws):
    ws.write("memory/2026-01-15.md", "the wifi password is heron\n")
    ws.write("memory/2026-03-20.md", "the wifi password is otter\n- watered the plants\n- called Ada\n")

    with ws.memory() as memory:
        memory.index()

        assert best(memory, "what is the wifi password now") == "memory/2026-03-20.md"
        assert best(memory, "what was the wifi password in January") == "memory/2026-01-15.md"


def test_without_decay_recency_decides_nothing(ws):
    others = "and other things that were noted on this quiet day in the mountains"
    ws.write("memory/2024-01-15.md", f"wifi password {others}\n")
    ws.write("memory/2024-11-20.md", f"wifi password {others} too\n")

    def recency(enabled: object) -> set[float]:
        with ws.memory(query__hybrid__temporalDecay__enabled=enabled) as memory:
            memory.index()
            return {hit.explanation.recency for hit in memory.search("wifi password")}

    assert recency(False) == recency(True) == {1.0}
    assert recency("auto") != {1.0}


def test_yesterday_is_counted_where_the_user_is(ws):
    """02:10 in Shanghai is still the day before in UTC."""
    now = datetime(2026, 6, 9, 2, 10, tzinfo=ZoneInfo("Asia/Shanghai")).timestamp()
    for day in ("07", "08"):
        ws.write(f"memory/2026-06-{day}.md", "Omada\n")

    for zone, expected in (("Asia/Shanghai", "08"), ("UTC", "07")):
        with ws.memory(today=today(zone, now)) as memory:
            memory.index()

            assert best(memory, "what happened yesterday") == f"memory/2026-06-{expected}.md"


def test_every_door_shows_what_the_time_did(ws):
    ws.write("memory/2026-06-30.md", "lantern oil\n")
    with ws.memory() as memory:
        memory.index()
        by_tool = tools.memory_search(memory, "lantern oil yesterday", explain=True)["results"][0]
    shown = ws.run("search", "--explain", "lantern oil on 2026-06-30").stdout.decode()
    document = json.loads(ws.run("search", "--json", "--explain", "lantern oil on 2026-06-30").stdout)

    assert by_tool["explanation"]["temporal"] > 0
    assert "lifted by its day" in shown
    assert document["results"][0]["explanation"]["temporal"] > 0
    assert document["results"][0]["explanation"]["recency"] == 1
