"""The built-in model."""

import struct

import pytest
from memgrep.embeddings import Refused, static
from memgrep.errors import ModelMissing, ProviderBadAnswer


def test_a_missing_model_file_is_said(tmp_path):
    with pytest.raises(ModelMissing, match=r"static\.mgm is not there"):
        static.Static(str(tmp_path / "static.mgm"))


class Table:
    """The core's model as `Static` sees it: knows only texts with an `a` in them."""

    def embed(self, text):
        return struct.pack("<2f", 1.0, 0.0) if "a" in text else None


@pytest.fixture
def small():
    """A `Static` over a table of our own."""
    embedder = object.__new__(static.Static)
    embedder.core_model = Table()
    embedder.dims = 2
    return embedder


def test_a_text_without_known_words_has_no_vector(small):
    assert small.embed_query("🦄") is None
    assert list(small.embed_documents(["a", "🦄"])) == [
        struct.pack("<2f", 1.0, 0.0),
        Refused("no word of it is in the model's table"),
    ]


def test_a_vector_of_the_wrong_length_is_an_error(small):
    small.dims = 3

    with pytest.raises(ProviderBadAnswer, match="8 bytes for 3 numbers"):
        small.embed_query("a")


def test_progress_and_cancel(small):
    told = []
    texts = ["a"] * 600

    assert len(list(small.embed_documents(texts, progress=lambda *what: told.append(what)))) == 600
    assert told == [("embed", 0, 600), ("embed", 256, 600), ("embed", 512, 600), ("embed", 600, 600)]
    assert len(list(small.embed_documents(texts, progress=lambda stage, done, total: done < 256))) == 256
    assert list(small.embed_documents(texts, cancel=lambda: True)) == []


@pytest.mark.skipif(not static.installed(), reason="the package was built without its model")
def test_the_built_in_model_knows_what_belongs_together():
    embedder = static.Static()
    question = struct.unpack(f"<{embedder.dims}f", embedder.embed_query("what is the cat called"))
    cosines = []
    for vector in embedder.embed_documents(["our kitten's name is Miso", "the router uses VLAN 10"]):
        passage = struct.unpack(f"<{embedder.dims}f", vector)
        cosines.append(sum(a * b for a, b in zip(question, passage, strict=True)))

    assert cosines[0] > cosines[1] + 0.05
    assert embedder.fingerprint == f"static/{embedder.model}/{embedder.dims}"
