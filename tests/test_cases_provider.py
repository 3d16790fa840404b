"""Kinds J, L and M end to end: no provider, a broken one, another one; what the answer says about it."""

import pytest
from memgrep import tools
from memgrep.errors import ProviderUnavailable
from memgrep.testing import Answer as Scripted
from memgrep.testing import HashEmbedder

DENIED = Scripted(401, {"error": {"message": "invalid key"}})
SCOPE = Scripted(403, {"error": {"message": "missing scope: model.request"}})


def test_f116_text_is_indexed_without_a_provider(ws, door):
    for n in range(15):
        ws.write(f"memory/n{n}.md", f"{'abcdefghijklmno'[n] * 5}\n")

    report = door.index()

    assert (report["files"], report["provider"]) == (15, "none")
    assert [hit["path"] for hit in door.search("jjjjj")["results"]] == ["memory/n9.md"]


def test_f117_a_named_provider_that_fails_is_unavailable(ws, fake, remote):
    ws.write("memory/a.md", "lantern\n")
    ws.ran("index")
    fake.decide = lambda texts, body: DENIED

    with ws.memory(**remote) as memory:
        answer = memory.search("lantern")
    done = ws.run("search", "lantern", **remote)

    assert (answer.unavailable, answer.hits) == (True, ())
    assert "openai-compatible" in answer.error
    assert "401" in answer.error
    assert answer.action
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"401" in done.stderr


def test_f118_the_cause_names_the_missing_scope(ws, fake, remote, monkeypatch):
    """Under a name: unavailable. Chosen by itself: words, flagged."""
    ws.write("memory/a.md", "lantern\n")
    fake.decide = lambda texts, body: SCOPE

    with ws.memory(**remote) as memory:
        named = memory.search("lantern")
    with ws.memory(**{**remote, "provider": "auto", "model": "text-embedding-3-small"}) as memory:
        chosen = memory.search("lantern")

    assert named.unavailable
    assert "missing scope" in named.error
    assert [hit.path for hit in chosen] == ["memory/a.md"]
    assert (chosen.mode, chosen.provider) == ("keyword", "none")
    assert "missing scope" in chosen.warning


def test_f119_the_message_names_the_layer(ws, fake, remote, tmp_path):
    """Store, lock, provider, configuration: four causes."""
    ws.write("memory/a.md", "lantern\n")
    foreign = tmp_path / "foreign.sqlite"
    foreign.write_bytes(b"something else entirely" * 100)
    fake.decide = lambda texts, body: DENIED

    said = [
        ws.run("search", "lantern", store__path=str(foreign)).stderr.decode(),
        ws.run("search", "lantern", **remote).stderr.decode(),
        ws.run("search", "lantern", query__minScore="high").stderr.decode(),
    ]

    assert "index" in said[0]
    assert str(foreign) in said[0]
    assert "openai-compatible" in said[1]
    assert "minScore" in said[2]
    assert foreign.read_bytes() == b"something else entirely" * 100
    assert not any("Traceback" in text for text in said)


def test_f121_words_only_on_purpose_is_no_warning(ws, door):
    ws.write("memory/a.md", "lantern\n")
    door.index()

    status = door.status()
    answer = door.search("lantern")

    assert (status["provider"]["requested"], status["provider"]["used"], status["warnings"]) == (
        "none",
        "none",
        [],
    )
    assert "error" not in status["provider"]
    assert "warning" not in answer
    assert (answer["mode"], answer["provider"]) == ("keyword", "none")


def test_f114_an_unknown_provider_breaks_only_meaning(ws):
    ws.write("memory/a.md", "lantern\n")
    unknown = {"provider": "voyagee"}

    status = ws.ran("status", **unknown)
    searched = ws.run("search", "lantern", **unknown)

    assert "voyage" in status["provider"]["error"]
    assert ws.ran("get", "memory/a.md", **unknown)["text"] == "lantern"
    assert searched.returncode == 1
    assert b"voyage" in searched.stderr
    indexed = ws.run("index", **unknown)
    assert indexed.returncode == 1
    assert b"notes: 1 in the index" in indexed.stdout, "words are indexed all the same"


def test_a_fallback_answers_and_says_so(ws, fake, remote):
    ws.write("memory/a.md", "lantern oil\n")
    fake.decide = lambda texts, body: DENIED
    good = HashEmbedder()
    with ws.memory(**remote, fallback="static") as memory:
        # The built-in model may not be there: the fallback is an embedder like any other.
        memory._provider._fallback = good
        memory.index()
        answer = memory.search("lantern")

    assert (answer.unavailable, answer.provider, answer.mode) == (False, "hash", "hybrid")
    assert answer.to_json()["fallback"]["from"] == "openai-compatible"
    assert "401" in answer.fallback.reason


def test_a_provider_that_is_down_is_not_asked_by_every_search(ws):
    ws.write("memory/a.md", "lantern\n")
    embedder = HashEmbedder()
    with ws.memory(embedder) as memory:
        memory.index()
        embedder.error = ProviderUnavailable("hash", "503", "try later")
        asked = embedder.requests
        answers = [memory.search("lantern") for _ in range(5)]

    assert all(answer.unavailable and "503" in answer.error for answer in answers)
    assert embedder.requests - asked == 1


def test_f083_other_dimensions_keep_words_and_say_it(ws, fake, remote):
    ws.write("memory/a.md", "lantern oil\n")
    ws.ran("index", **remote, outputDimensionality=16)

    answer = ws.ran("search", "lantern", **remote, outputDimensionality=32)

    assert [hit["path"] for hit in answer["results"]] == ["memory/a.md"]
    assert answer["mode"] == "keyword"
    assert "no vectors of openai-compatible" in answer["warning"]
    assert "memgrep index" in answer["warning"]
    seen = ws.run("status", **remote, outputDimensionality=32).stdout.decode()
    assert "16 dimensions" in seen
    assert "32 dimensions" in seen
    assert "memgrep index embeds anew" in seen


def test_f085_rotating_a_key_changes_nothing(ws, fake, remote):
    for n in range(5):
        ws.write(f"memory/n{n}.md", f"lantern {n}\n")
    ws.ran("index", **remote, remote__headers={"X-Api-Key": "B"})
    asked = fake.inputs

    ws.ran("index", **{**remote, "remote__apiKey": "another"}, remote__headers={"X-Api-Key": "C"})

    assert fake.inputs == asked


def test_f090_a_changed_setting_counts_at_once(ws, fake, remote, machine):
    ws.write("memory/a.md", "lantern oil\n")
    place = machine / ".config/memgrep/memgrep.toml"
    place.parent.mkdir(parents=True)

    def configure(url: str) -> None:
        place.write_text(f'[memory.search]\nremote.baseUrl = "{url}"\n', encoding="utf-8")

    configure("http://127.0.0.1:9/v1")
    from memgrep import Memory

    arguments = {"provider": "openai-compatible", "model": "fake", "store.path": str(ws.store)}
    with Memory(ws.folder, arguments=arguments, background=False) as memory:
        assert memory.search("lantern").unavailable
        configure(fake.url)
        memory.index()
        assert memory.search("lantern").mode == "hybrid"


def test_f092_missing_vectors_are_counted_and_filled_later(ws, fake, remote):
    for n in range(5):
        ws.write(f"memory/n{n}.md", f"lantern {n}\n")
    fake.decide = lambda texts, body: DENIED
    assert ws.run("index", **remote).returncode == 1
    assert ws.ran("status", **remote)["pending"] == 5
    fake.decide = None
    fake.inputs = 0

    report = ws.ran("index", **remote)

    assert (report["pending"], fake.inputs) == (0, 5)
    assert ws.ran("status", **remote)["pending"] == 0


def test_f104_a_bad_vector_costs_its_own_chunk(ws, fake, remote):
    for n in range(10):
        ws.write(f"memory/n{n}.md", f"lantern {'odd' if n == 3 else n}\n")

    def spoil(rows, texts):
        for row, text in zip(rows, texts, strict=True):
            if "odd" in text:
                row["embedding"] = [0.0] * 32
        return rows

    fake.rewrite = spoil

    done = ws.run("index", **remote)
    status = ws.ran("status", **remote)

    assert done.returncode == 1
    assert (status["vectors"], status["failed"]) == (9, 1)
    assert [failure["count"] for failure in status["failures"]] == [1]
    fake.rewrite = None
    assert len(ws.ran("search", "lantern", **remote)["results"]) == 6


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        pytest.param(512, "：│─┼" * 2000, id="f040"),
        pytest.param(300, " ".join(f"word{n}" for n in range(3000)), id="f041"),
    ],
)
def test_f040_f041_a_limit_that_nobody_told_is_learnt(ws, fake, remote, limit, text):
    ws.write("memory/a.md", text)
    ws.write("memory/b.md", "plain lantern\n")
    fake.max_item_tokens = limit
    fake.count_tokens = lambda sent: len(sent) if limit == 512 else len(sent) // 4
    fake.too_large = Scripted(400, {"error": {"message": f"maximum context length is {limit} tokens"}})

    report = ws.ran("index", **remote)

    assert (report["files"], report["failed"], report["pending"]) == (2, 0, 0)
    assert ws.ran("search", "lantern", **remote)["results"][0]["path"] == "memory/b.md"


def test_f142_a_bad_text_is_not_paid_for_again_and_again(ws, fake, remote):
    """Asked for once, once more in the next run, and then only by force."""
    for n in range(100):
        ws.write(f"memory/n{n}.md", f"lantern {'odd' if n % 5 == 0 else 'good'} {n}\n")
    fake.rewrite = lambda rows, texts: [
        {**row, "embedding": [0.0] * 32} if "odd" in text else row
        for row, text in zip(rows, texts, strict=True)
    ]

    codes = [ws.run("index", **remote).returncode for _ in range(5)]

    assert codes == [1] * 5
    assert len([text for text in fake.texts if "odd" in text]) == 40
    warning = ws.ran("search", "lantern", **remote)["warning"]
    assert "20 texts were refused by openai-compatible" in warning
    assert "memgrep index" not in warning
    fake.rewrite = None
    assert ws.run("index", "--force", **remote).returncode == 0


class Elsewhere(HashEmbedder):
    """Sends texts to another machine, if the settings had chosen it by themselves."""

    host = "api.example.com"


def test_auto_tells_before_notes_leave_the_machine(ws):
    """Once for every index, with host, chunks and tokens; nothing is sent without someone to tell."""
    ws.write("memory/a.md", "lantern oil\n")
    told: list[str] = []
    with ws.memory(provider="auto", background=True) as memory:
        embedder = memory._provider._chosen = Elsewhere()
        memory._provider._asked = True

        assert (memory.index().vectors, embedder.inputs) == (0, 0)
        memory.index(notice=told.append)
        memory.index(notice=told.append)

    assert embedder.inputs == 1
    (notice,) = told
    assert "api.example.com" in notice
    assert "1 chunks (about 300 tokens)" in notice


def test_a_switched_off_memory_has_no_tools_and_no_results(ws):
    ws.write("memory/a.md", "lantern\n")

    with ws.memory(enabled=False) as memory:
        assert tools.tools_for(memory) == []
        answer = memory.search("lantern")

    assert answer.unavailable
    assert "enabled" in answer.action


def test_sessions_are_not_searched_unless_enabled(ws):
    with ws.memory() as memory:
        answer = tools.call(memory, "memory_search", {"query": "lantern", "corpus": "sessions"})

    assert answer["unavailable"] is True
    assert "sessions" in answer["error"]


def test_qmd_is_answered_for_and_said_so(ws):
    ws.write("memory/a.md", "lantern\n")

    answer = ws.ran("search", "lantern", memory__backend="qmd")

    assert (answer["backend"], len(answer["results"])) == ("builtin", 1)
    assert "qmd" in answer["warning"]


@pytest.mark.parametrize("deep", [True, False])
def test_status_asks_the_provider_only_when_told_to(ws, fake, remote, deep):
    ws.write("memory/a.md", "lantern\n")

    status = ws.ran("status", *(["--deep"] if deep else []), **remote)

    assert fake.requests == int(deep)
    assert ("probe" in status["provider"]) is deep
    assert not ws.store.exists(), "looking makes nothing"
