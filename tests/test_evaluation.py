"""`memgrep.evaluation`: real notes, real indexes, questions asked as a program asks them."""

import datetime
import json
from pathlib import Path

import pytest
from memgrep import errors
from memgrep.evaluation import (
    Arm,
    Evidence,
    Judged,
    LabelledSet,
    Question,
    arm,
    compare,
    draft,
    evaluate,
    measure,
    plot,
    read,
    read_results,
    write,
    write_results,
)
from memgrep.evaluation.report import compared
from memgrep.testing import HashEmbedder

WORDS = {"provider": "none"}


def question(
    name: str, text: str, *notes: str, scope: str = "", now: str | None = None, **tags: str
) -> Question:
    return Question(
        id=name,
        text=text,
        grades=dict.fromkeys(notes, 1),
        scope=scope,
        now=datetime.date.fromisoformat(now) if now else None,
        tags=tags,
    )


BOATS = LabelledSet(
    name="boats",
    notes={
        "sails.md": "# Sails\n\nThe mainsail is torn.\n",
        "memory/2026-02-01.md": "Bought varnish for the hull.\n",
        "memory/2026-02-09.md": "The mainsail is at the sailmaker, hull untouched.\n",
        "MEMORY.md": "- the harbour opens at six\n",
    },
    questions=(
        question("q1", "harbour opens", "MEMORY.md", kind="where"),
        question("q2", "varnish for the hull", "memory/2026-02-01.md", kind="what"),
        question("q3", "mainsail torn", "sails.md", "memory/2026-02-09.md", kind="what"),
        question("q4", "anchor", "sails.md", kind="what"),
    ),
)


def test_every_question_is_judged_by_every_arm():
    done = evaluate([BOATS], ["keyword", "hybrid"], embedder=HashEmbedder())

    assert [(run.set, run.arm, len(run.questions)) for run in done.runs] == [
        ("boats", "keyword", 4),
        ("boats", "hybrid", 4),
    ]
    words = done.run("boats", "keyword")
    assert (words.provider, done.run("boats", "hybrid").provider) == ("none", HashEmbedder().provider)
    assert [judged.measures["hit@1"] for judged in words.questions] == [1.0, 1.0, 1.0, 0.0]
    assert words.means["Recall@10"] == 0.75
    assert words.questions[0].ranking == ("MEMORY.md",)
    assert words.groups == {
        "kind: what": pytest.approx(
            {"nDCG@10": 2 / 3, "Recall@5": 2 / 3, "Recall@10": 2 / 3, "MRR@10": 2 / 3, "hit@1": 2 / 3}
            | {"duplicates@10": 0.0}
        ),
        "kind: where": {name: 1.0 for name in words.means if name != "duplicates@10"}
        | {"duplicates@10": 0.0},
    }
    assert 0 < words.latency.p50 <= words.latency.p99


def test_notes_outside_of_the_scope_are_not_there():
    """The same note stands in both; each question is about one of them."""
    notes = {f"{name}/memory/a.md": f"the lantern of {name}\n" for name in ("ada", "bram")}
    asked = [question(name, "lantern", f"{name}/memory/a.md", scope=f"{name}/") for name in ("ada", "bram")]

    done = evaluate(
        [LabelledSet(name="lanterns", questions=tuple(asked), notes=notes)], ["keyword"], arguments=WORDS
    )

    assert [judged.ranking for judged in done.judged] == [("memory/a.md",)] * 2
    assert done.mean("keyword")["hit@1"] == 1.0


def test_ten_notes_are_ranked_however_many_chunks_one_has():
    """Sixty chunks of one note come first; the right note is the second one."""
    long = "".join(f"## Part {number}\n\n{'lantern oil ' * 40}\n\n" for number in range(60))
    notes = {"long.md": long, "short.md": "a lantern, seen once among " + "many other words " * 60}
    asked = question("q1", "lantern oil", "short.md")

    (judged,) = evaluate(
        [LabelledSet(name="lanterns", questions=(asked,), notes=notes)], ["keyword"], arguments=WORDS
    ).judged

    assert judged.ranking == ("memory/long.md", "memory/short.md")
    assert judged.measures["MRR@10"] == 0.5


def test_a_question_is_asked_on_its_day():
    """With the documents' decay the newer note wins by age alone; asked before either, they are as they stand."""
    notes = {
        "memory/2026-01-01.md": "lantern oil is in the shed\n",
        "memory/2026-03-01.md": "lantern oil is in the cellar, I think\n",
    }
    asked = (
        question("then", "lantern oil is in the", "memory/2026-01-01.md", now="2026-01-01"),
        question("now", "lantern oil is in the", "memory/2026-03-01.md", now="2026-03-02"),
        question("ever", "lantern oil is in the", "memory/2026-01-01.md"),
    )

    done = evaluate(
        [LabelledSet(name="oil", questions=asked, notes=notes)],
        ["keyword,query.hybrid.temporalDecay.enabled=true"],
    )

    assert [judged.measures["hit@1"] for judged in done.judged] == [1.0, 1.0, 1.0]


def test_evidence_in_chunks_and_in_snippets():
    """The chunk holds both lines; the snippet, 700 characters around the match, holds the nearer one."""
    filler = "".join(f"word{number} and some more of it\n" for number in range(30))
    text = f"the lantern hangs in the shed\n{filler}the key is under the stone\n"
    near = Evidence(note="a.md", first_line=1, last_line=1)
    far = Evidence(note="a.md", first_line=32, last_line=32)
    asked = question("q1", "where does the lantern hang", "a.md").replace(evidence=(near, far))

    (judged,) = evaluate(
        [LabelledSet(name="lantern", questions=(asked,), notes={"a.md": text})], ["keyword"]
    ).judged

    assert judged.measures["evidence@5"] == 1.0
    assert judged.measures["snippet@5"] == 0.5


def test_the_users_own_notes_are_asked_in_their_index(ws):
    ws.write("memory/a.md", "the lantern hangs in the shed\n")
    ws.write("memory/deep/b.md", "a lantern in the cellar\n")
    own = LabelledSet(
        name="own",
        questions=(
            question("q1", "lantern shed", "memory/a.md"),
            question("q2", "lantern shed", "memory/deep/b.md", scope="memory/deep/"),
        ),
    )

    done = evaluate([own], ["settings"], workspace=ws.folder, arguments=ws.settings)

    assert [judged.ranking for judged in done.judged] == [
        ("memory/a.md", "memory/deep/b.md"),
        ("memory/deep/b.md",),
    ]
    assert ws.store.exists()


def test_fresh_leaves_the_index_that_is_there_alone(ws):
    ws.write("memory/a.md", "the lantern hangs in the shed\n")
    own = LabelledSet(name="own", questions=(question("q1", "lantern", "memory/a.md"),))

    done = evaluate([own], ["keyword"], workspace=ws.folder, arguments=ws.settings, fresh=True)

    assert done.mean("keyword")["hit@1"] == 1.0
    assert not ws.store.exists()


def test_a_corpus_does_not_touch_the_users_notes_and_index(ws):
    """Nor do their extra paths and ignore patterns count."""
    ws.write("elsewhere/a.md", "the harbour opens and opens and opens, harbour\n")
    arguments = {**ws.settings, "extraPaths": [str(ws.folder / "elsewhere")], "ignore": ["sails.md"]}

    done = evaluate([BOATS], ["keyword"], workspace=ws.folder, arguments=arguments)

    assert not ws.store.exists()
    assert {note for judged in done.judged for note in judged.ranking} == {
        "MEMORY.md",
        "memory/sails.md",
        "memory/2026-02-01.md",
        "memory/2026-02-09.md",
    }


def test_a_remote_provider_is_measured_as_any_other(fake):
    arguments = {
        "provider": "openai-compatible",
        "model": "fake",
        "remote.baseUrl": fake.url,
        "remote.apiKey": "k-1",
    }

    done = evaluate([BOATS], ["vector"], arguments=arguments)

    assert (done.runs[0].provider, done.runs[0].model) == ("openai-compatible", "fake")
    assert fake.requests


# --- what cannot be measured is an error, never a figure


def test_a_provider_that_fails_is_an_error():
    embedder = HashEmbedder()
    embedder.error = errors.ProviderTimeout("hash", "no answer in time")

    with pytest.raises(errors.ProviderError, match="hash: no answer in time"):
        evaluate([BOATS], ["keyword", "hybrid"], embedder=embedder)


def test_an_arm_that_needs_vectors_says_so():
    with pytest.raises(errors.ProviderError, match="hybrid needs vectors, and there is no provider"):
        evaluate([BOATS], ["keyword", "hybrid"], arguments=WORDS)


def test_a_labelled_note_that_is_not_there_is_named(ws):
    ws.write("memory/a.md", "the lantern\n")
    own = LabelledSet(name="own", questions=(question("q1", "lantern", "memory/gone.md"),))

    with pytest.raises(
        errors.LabelsInvalid, match=r"own: memory/gone\.md answers q1 and is not in the index"
    ):
        evaluate([own], ["keyword"], workspace=ws.folder, arguments=ws.settings)


def test_a_corpus_is_indexed_whole_or_not_asked():
    notes = {"a.md": "lantern\n", "node_modules/b.md": "lantern\n"}
    spoilt = LabelledSet(name="spoilt", questions=(question("q1", "lantern", "a.md"),), notes=notes)

    with pytest.raises(errors.LabelsInvalid, match="spoilt: 1 notes of the corpus were not indexed"):
        evaluate([spoilt], ["keyword"])


def test_two_notes_that_would_be_one_file_are_refused():
    notes = {"a.md": "lantern\n", "memory/a.md": "oil\n"}
    double = LabelledSet(name="double", questions=(question("q1", "lantern", "a.md"),), notes=notes)

    with pytest.raises(errors.LabelsInvalid, match="would be the same file"):
        evaluate([double], ["keyword"])


@pytest.mark.parametrize(
    ("sets", "arms", "message"),
    [
        ([BOATS], ["nearest"], "nearest: no such arm; there are keyword, vector"),
        ([BOATS], ["keyword", "keyword"], "keyword is there twice"),
        ([BOATS, BOATS], ["keyword"], "boats is there twice"),
        ([], ["keyword"], "name a set"),
        ([BOATS], [], "name a set"),
        ([BOATS], ["keyword,query.hybrid.fusion=magic"], "query.hybrid.fusion"),
    ],
)
def test_what_was_asked_wrongly_is_refused(sets, arms, message):
    with pytest.raises(ValueError, match=message):
        evaluate(sets, arms, arguments=WORDS)


# --- arms


def test_an_arm_may_have_settings_of_its_own():
    written = "hybrid,query.hybrid.mmr.enabled=true,query.hybrid.mmr.lambda=0.5"

    found = arm(written)

    assert found.name == written
    assert found.settings["query.hybrid.mmr.enabled"] is True
    assert found.settings["query.hybrid.mmr.lambda"] == 0.5
    assert found.settings["query.hybrid.temporalDecay.enabled"] is False
    assert isinstance(found, Arm)


def test_measures_are_found_by_name():
    assert measure("ndcg@10") == "nDCG@10"
    with pytest.raises(ValueError, match="there are nDCG@10, Recall@5"):
        measure("accuracy")


# --- results


def judged(name: str, value: float, *, set_: str = "s", arm_: str = "hybrid") -> Judged:
    return Judged(
        set=set_,
        arm=arm_,
        id=name,
        text=f"about {name}?",
        tags={},
        measures={"nDCG@10": value},
        milliseconds=1.0,
        ranking=("memory/a.md",),
    )


def test_results_are_read_back(tmp_path):
    done = evaluate([BOATS], ["keyword"])

    write_results(done.judged, tmp_path / "out.jsonl")

    assert read_results(tmp_path / "out.jsonl") == done.judged


@pytest.mark.parametrize(
    "row", ['{"id": "q1"}', '{"id": "q1", "what": 1}', "1", "good", "NaN", '"1"', "null", "milliseconds"]
)
def test_a_file_that_holds_no_results_is_refused(tmp_path, row):
    good = json.dumps(judged("a", 1.0).to_json())
    if row == "good":  # the same question twice
        row = good
    elif row == "milliseconds":
        row = good.replace('"a"', '"b"').replace('"milliseconds": 1.0', '"milliseconds": NaN')
    elif row in ("NaN", '"1"', "null"):
        row = good.replace('"a"', '"b"').replace('"nDCG@10": 1.0', f'"nDCG@10": {row}')
    (tmp_path / "out.jsonl").write_text(f"{good}\n{row}\n", encoding="utf-8")

    with pytest.raises(errors.LabelsInvalid, match=r"out\.jsonl:2: "):
        read_results(tmp_path / "out.jsonl")


def test_two_runs_are_compared_question_by_question():
    before = [judged("a", 1.0), judged("b", 0.5), judged("c", 0.5), judged("d", 0.0), judged("gone", 1.0)]
    after = [judged("d", 1.0), judged("c", 0.5), judged("b", 0.4), judged("a", 0.0)]

    done = compare(before, after)

    (one,) = done.comparisons
    assert (one.difference.questions, one.difference.rose, one.difference.fell) == (4, 1, 2)
    assert one.difference.difference == pytest.approx((-1 - 0.1 + 0 + 1) / 4)
    assert [two.id for _, two in done.changed] == ["a", "b", "d"]
    assert done.alone == 1


def test_arms_are_compared_with_those_of_their_name():
    before = [judged("a", 0.0, arm_="keyword"), judged("a", 0.5)]
    after = [
        judged("a", 1.0),
        judged("a", 0.7, arm_="hybrid,chunking.tokens=200"),
        judged("a", 0.1, arm_="keyword"),
        judged("a", 0.2, arm_="vector"),
    ]

    done = compare(before, after)

    assert [(one.before, one.after, one.difference.after) for one in done.comparisons] == [
        ("hybrid", "hybrid", 1.0),
        ("hybrid", "hybrid,chunking.tokens=200", 0.7),
        ("keyword", "keyword", 0.1),
    ]
    assert done.alone == 1


def test_an_arm_that_one_run_lacks_is_said_to_be_left_out_although_its_questions_are_in_both():
    done = compare([judged("a", 0.5), judged("a", 0.0, arm_="keyword")], [judged("a", 1.0)])

    assert compared(done, "nDCG@10").endswith("as the other run has nothing to compare with: 1")


def test_one_arm_each_is_compared_whatever_its_name():
    (one,) = compare([judged("a", 0.0, arm_="keyword")], [judged("a", 1.0)]).comparisons

    assert (one.before, one.after) == ("keyword", "hybrid")


def test_sets_are_compared_alone_and_together():
    before = [judged("a", 0.0), judged("b", 0.0, set_="t"), judged("c", 0.0, set_="t")]
    after = [judged("a", 1.0), judged("b", 0.0, set_="t"), judged("c", 0.0, set_="t")]

    done = compare(before, after)

    assert [(one.set, one.difference.difference) for one in done.comparisons] == [
        ("s", 1.0),
        ("t", 0.0),
        (None, 0.5),
    ]


def test_nothing_in_common_is_an_error():
    with pytest.raises(ValueError, match="in common"):
        compare([judged("a", 1.0)], [judged("b", 1.0)])


def test_arms_are_compared_with_the_first():
    done = evaluate([BOATS], ["keyword", "hybrid"], embedder=HashEmbedder())

    (one,) = done.differences("Recall@10")

    assert (one.before, one.after, one.set) == ("keyword", "hybrid", "boats")
    assert one.difference.before == done.mean("keyword")["Recall@10"]
    assert one.difference.after == done.mean("hybrid")["Recall@10"]


def test_a_tag_that_all_questions_share_is_no_group():
    asked = tuple(
        question(f"q{number}", "lantern", "a.md", kind="same", **({"half": "yes"} if number < 2 else {}))
        for number in range(4)
    )

    done = evaluate([LabelledSet(name="s", questions=asked, notes={"a.md": "lantern\n"})], ["keyword"])

    assert list(done.runs[0].groups) == ["half: yes"]


# --- a picture


def test_a_picture_is_drawn(tmp_path):
    done = evaluate([BOATS], ["keyword", "hybrid"], embedder=HashEmbedder())

    for name in ("out.png", "out.svg"):
        plot.plot(done, "nDCG@10", tmp_path / name)

    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "out.svg").read_text(encoding="utf-8")
    for text in ("keyword", "hybrid", "boats", "kind: what", "nDCG@10"):
        assert f">{text}</text>" in drawn


def test_the_same_figures_give_the_same_picture(tmp_path):
    done = evaluate([BOATS], ["keyword"])

    for name in ("a.svg", "b.svg"):
        plot.plot(done, "nDCG@10", tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_picture_has_one_of_two_forms(tmp_path):
    with pytest.raises(ValueError, match=r"\.png or \.svg"):
        plot.check(tmp_path / "out.pdf")


def test_without_the_library_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)

    with pytest.raises(errors.PlotUnavailable, match=r"pip install 'memgrep\[plot\]'"):
        plot.check(tmp_path / "out.png")


# --- drafts


def drafted(ws, **more):
    with ws.memory() as memory:
        memory.index()
        return draft.draft(memory, datetime.date(2026, 7, 1), **more)


def test_questions_are_headings_that_one_note_has(ws):
    ws.write("MEMORY.md", "# Long-term memory\n\n- x\n")
    ws.write("memory/a.md", "# Standup with Jonas\n\n## Lantern repairs\n\n## Things done\n")
    ws.write("memory/b.md", "# STANDUP  with Jonas\n\n## 灯笼的修理\n\n## Things done\n")

    found = drafted(ws)

    assert [(one.text, one.grades) for one in found.questions] == [
        ("Long-term memory", {"MEMORY.md": 1}),
        ("Lantern repairs", {"memory/a.md": 1}),
        ("灯笼的修理", {"memory/b.md": 1}),
    ]
    assert {one.now for one in found.questions} == {datetime.date(2026, 7, 1)}
    assert found.notes is None


@pytest.mark.parametrize(
    "heading",
    [
        "# 2026-02-10",
        "# Tuesday, 10 February 2026",
        "# 2026年2月10日",
        "# Done",
        "# Donnerstag",
        "# To do",
        "# 完成",
        "## 12:30",
        "# <!-- hidden words -->",
    ],
)
def test_dates_and_short_words_ask_nothing(ws, heading):
    ws.write("memory/a.md", f"{heading}\n\nx\n")

    with pytest.raises(errors.LabelsInvalid, match="no note has a heading"):
        drafted(ws)


def test_code_and_front_matter_hold_no_headings():
    note = "---\n# a comment of the front matter\n---\n```sh\n# a comment of the code\n~~~\n```\n# The real heading #\n"

    (found,) = draft.headings("a.md", note)

    assert (found.text, found.line) == ("The real heading", 8)


def test_a_draft_is_a_set_that_can_be_asked(ws, tmp_path):
    ws.write("memory/a.md", "# Lantern repairs\n\noil and a new wick\n")
    ws.write("memory/b.md", "# Harbour opening hours\n\nfrom six\n")

    write(drafted(ws), tmp_path / "draft")

    done = evaluate([tmp_path / "draft"], ["keyword"], workspace=ws.folder, arguments=ws.settings)
    assert done.mean("keyword")["hit@1"] == 1.0


def test_a_copy_lacks_the_headings_that_are_asked_for(ws, tmp_path):
    """Lines keep their numbers, the notes themselves every byte."""
    note = b"# Lantern repairs\r\n\r\noil for the lantern\r\n"
    ws.write("memory/a.md", note)

    write(drafted(ws, copy=True), tmp_path / "draft")

    assert (tmp_path / "draft/corpus/memory/a.md").read_bytes() == b"\n\r\noil for the lantern\r\n"
    assert (ws.folder / "memory/a.md").read_bytes() == note
    assert read(tmp_path / "draft").questions[0].grades == {"memory/a.md": 1}


def test_a_limit_takes_one_heading_of_every_note_before_a_second_one(ws):
    for name in "abcd":
        ws.write(
            f"memory/{name}.md", "".join(f"# Heading {name}{number} of many\n\nx\n\n" for number in range(5))
        )

    found = drafted(ws, limit=4)

    assert sorted(note for one in found.questions for note in one.grades) == [
        f"memory/{name}.md" for name in "abcd"
    ]
    assert found == drafted(ws, limit=4)
    assert found != drafted(ws, limit=4, seed=1)


@pytest.mark.parametrize("limit", [0, -1, "many", True])
def test_a_limit_is_a_whole_number(ws, limit):
    with pytest.raises(ValueError, match="limit must be a whole number"):
        drafted(ws, limit=limit)


def test_nothing_is_written_among_the_notes(ws, tmp_path):
    extra = tmp_path / "extra"
    extra.mkdir()
    with ws.memory(extraPaths=[str(extra)]) as memory:
        for folder in (ws.folder / "memory" / "draft", extra / "draft", Path(ws.folder, "memory/x/../y")):
            with pytest.raises(ValueError, match="among the notes"):
                draft.refuse_among_notes(folder, memory)
        draft.refuse_among_notes(tmp_path / "draft", memory)
