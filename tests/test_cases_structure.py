"""Kind E: how notes are cut, seen from the answers."""

from memgrep.testing import HashEmbedder


class Listening(HashEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed_documents(self, texts, *, progress=None, cancel=None):
        self.texts += texts
        return super().embed_documents(texts, progress=progress, cancel=cancel)


def test_f038_a_long_line_stays_one_line(ws):
    text = '{"key": "value", ' + ", ".join(f'"lantern{n}": {n}' for n in range(2200)) + "}"
    ws.write("memory/a.md", text)

    with ws.memory() as memory:
        memory.index()
        hits = memory.search("lantern77", max_results=50, min_score=0.0).hits

    assert hits
    assert all((hit.start_line, hit.end_line) == (1, 1) for hit in hits)
    assert all(hit.snippet.rstrip("\n") in text for hit in hits)


def test_f039_characters_stay_whole(ws):
    ws.write("memory/a.md", "😀" * 5000 + "\n" + "ß" * 9001 + "\n" + "👩‍👩‍👧" * 800 + "\nlantern\n")

    with ws.memory() as memory:
        report = memory.index()
        found = memory.search("lantern")

    assert report.files == 1
    assert found.hits[0].path == "memory/a.md"


def test_f042_a_comment_in_a_fence_is_no_heading(ws):
    ws.write("memory/a.md", "# Setup\n\n```sh\n# install deps\nmake\n```\nafter\n")
    embedder = Listening()

    with ws.memory(embedder) as memory:
        memory.index()
        (hit,) = memory.search("make").hits

    assert len(embedder.texts) == 1
    assert "install deps" not in hit.context


def test_f043_blank_chunks_are_never_sent(ws):
    ws.write("memory/a.md", "# T\n## U\n\n\n\n\n\ntext\n")
    ws.write("memory/b.md", "# only a heading\n")
    embedder = Listening()

    with ws.memory(embedder) as memory:
        memory.index()

    assert [text for text in embedder.texts if "text" in text] == embedder.texts
    assert len(embedder.texts) == 1


def test_f044_a_table_row_knows_its_columns(ws, door):
    rows = "".join(f"| setting_{n} | seconds | value number {n} with some words |\n" for n in range(1, 100))
    rows += "| flush_timeout | seconds | thirty |\n" + rows.replace("setting_", "option_")
    ws.write("memory/a.md", "| parameter | unit | default |\n|---|---|---|\n" + rows)

    hit = door.search("default of flush_timeout")["results"][0]

    assert hit["startLine"] <= 102 <= hit["endLine"]
    assert "default" in hit["snippet"] + hit.get("context", "")


def test_f045_headings_take_part_in_matching(ws, door):
    ws.write("memory/a.md", "## Payroll\n\n" + "word filler text\n" * 300 + "cut-off is the 23rd\n")
    ws.write("memory/b.md", "## Travel\n\n" + "word filler text\n" * 300 + "cut-off is the 7th\n")

    hit = door.search("payroll cut-off")["results"][0]

    assert hit["path"] == "memory/a.md"
    assert hit["startLine"] <= 303 <= hit["endLine"]


def test_f046_the_snippet_shows_the_match(ws, door):
    ws.write(
        "memory/a.md",
        "".join(f"line {n} of a list\n" for n in range(1, 150)) + "Boat: Juniper\n" + "more\n" * 50,
    )

    hit = door.search("Juniper")["results"][0]

    assert "Juniper" in hit["snippet"]
    assert hit["startLine"] <= 150 <= hit["endLine"]
