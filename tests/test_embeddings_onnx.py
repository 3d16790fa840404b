"""Transformers in this process, with real models."""

import os
import socket
import threading

import pytest
from memgrep.embeddings import vectors
from memgrep.embeddings.models import read_folder
from memgrep.embeddings.vectors import unpack
from memgrep.errors import ProviderUnavailable
from real_models import real_model

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (memgrep[local])")
from memgrep.embeddings.onnx import Onnx

HAPPY = ["That is a happy dog", "That is a very happy person", "Today is a sunny day"]
LONG = " ".join(
    f"Entry {number}: the router in rack {number} uses VLAN {number * 10}." for number in range(200)
)


@pytest.fixture(scope="module")
def minilm():
    embedder = Onnx(read_folder(real_model("all-MiniLM-L6-v2")))
    yield embedder
    embedder.close()


@pytest.fixture(scope="module")
def bge():
    embedder = Onnx(read_folder(real_model("bge-small-en-v1.5")))
    yield embedder
    embedder.close()


def cosine(one, other):
    return sum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))


def test_similarities_are_those_of_the_model_card(minilm):
    """The card says 0.695, 0.943, 0.257; 8-bit weights are off by a few thousandths."""
    question = minilm.embed_query("That is a happy person")

    cosines = [cosine(question, vector) for vector in minilm.embed_documents(HAPPY)]

    assert cosines == pytest.approx([0.695, 0.943, 0.257], abs=0.01)
    assert minilm.dims == 384


def test_a_question_finds_its_passage_by_meaning(bge):
    """No word in common: CLS pooling and the query's prompt are right."""
    passages = [
        "My feline companion answers to the name of Miso.",
        "The router uses VLAN 10.",
        "Rod works on Tuesdays.",
    ]
    question = bge.embed_query("What is the cat called?")

    cosines = [cosine(question, vector) for vector in bge.embed_documents(passages)]

    assert max(cosines) == cosines[0]
    assert cosines[0] - cosines[1] > 0.1


def test_a_prompt_makes_a_question_another_text(bge, minilm):
    (document,) = bge.embed_documents(["What is the cat called?"])
    assert cosine(bge.embed_query("What is the cat called?"), document) < 0.99

    (document,) = minilm.embed_documents(["What is the cat called?"])
    assert minilm.embed_query("What is the cat called?") == document


def test_vectors_have_length_1(minilm):
    for vector in minilm.embed_documents(["", " ", "a", "日本語のメモ", "🙂" * 50, LONG]):
        assert sum(value * value for value in unpack(vector)) == pytest.approx(1, abs=1e-5)


def test_a_vector_depends_on_its_text_alone(minilm):
    """8-bit models scale by the batch: neighbours would change a vector, and an index with them."""
    alone = [next(iter(minilm.embed_documents([text]))) for text in HAPPY]

    assert list(minilm.embed_documents([*HAPPY, LONG]))[:3] == alone
    assert list(minilm.embed_documents([LONG, *reversed(HAPPY)]))[1:] == alone[::-1]


def test_many_threads_get_the_same_vectors(minilm):
    want = minilm.embed_query(HAPPY[0])
    got = []
    threads = [threading.Thread(target=lambda: got.append(minilm.embed_query(HAPPY[0]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == [want] * 4


def test_a_text_beyond_the_window_is_cut_as_the_tokenizer_would(minilm):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(real_model("all-MiniLM-L6-v2") / "tokenizer.json"))
    tokenizer.enable_truncation(256)

    assert minilm._load()._ids(LONG, 256) == tokenizer.encode(LONG).ids
    assert len(tokenizer.encode(LONG).ids) == 256


def test_what_is_beyond_the_window_is_not_read(minilm):
    (short, long) = minilm.embed_documents([LONG, LONG + " And something about cats."])

    assert short == long


def test_tokens_are_counted_by_the_models_own_tokenizer(minilm):
    assert minilm.count_tokens("hello world") == 2
    assert minilm.count_tokens("retry_index a828e60") == len("re ##try _ index a ##8 ##28 ##e ##60".split())
    assert minilm.count_tokens("") == 0
    assert minilm.room == 254


def test_a_text_of_just_the_room_is_read_whole(minilm):
    words = "cat " * minilm.room
    assert minilm.count_tokens(words) == minilm.room

    (whole, changed) = minilm.embed_documents([words, words[:-4] + "dog"])

    assert whole != changed


def test_a_smaller_window_can_be_set():
    embedder = Onnx(read_folder(real_model("all-MiniLM-L6-v2")), window=16)

    assert embedder.room == 14
    embedder.close()


def test_progress_and_cancel(minilm):
    told = []
    texts = [f"note {number}" for number in range(20)]

    assert len(list(minilm.embed_documents(texts, progress=lambda *what: told.append(what)))) == 20
    assert told == [("embed", 0, 20), ("embed", 8, 20), ("embed", 16, 20), ("embed", 20, 20)]
    assert len(list(minilm.embed_documents(texts, progress=lambda stage, done, total: done < 8))) == 8
    assert list(minilm.embed_documents(texts, cancel=lambda: True)) == []


def test_nothing_is_loaded_before_the_first_text():
    embedder = Onnx(read_folder(real_model("all-MiniLM-L6-v2")))

    assert embedder.fingerprint.startswith("local/all-MiniLM-L6-v2/")
    assert embedder._loaded is None


def test_no_connection_is_tried(monkeypatch):
    """F120: with the model on disk there is no network use; a connect that never answers would hang here."""
    tried = []

    def connect(self, address):
        tried.append(address)
        raise OSError("the network is blocked")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: tried.append(args) or [])
    embedder = Onnx(read_folder(real_model("all-MiniLM-L6-v2")))

    assert isinstance(embedder.embed_query("hello"), bytes)
    assert tried == []


def test_a_forked_child_can_embed(minilm):
    """The runtime's threads do not survive a fork; the child loads its own."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    want = minilm.embed_query(HAPPY[0])
    child = os.fork()
    if child == 0:
        os._exit(0 if minilm.embed_query(HAPPY[0]) == want else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_the_identity_is_that_of_the_files(tmp_path):
    folder = real_model("all-MiniLM-L6-v2")
    copy = tmp_path / "all-MiniLM-L6-v2"
    copy.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (copy / name).write_bytes((folder / name).read_bytes())
    one, same = Onnx(read_folder(folder)), Onnx(read_folder(copy))
    other = Onnx(read_folder(real_model("bge-small-en-v1.5")))
    narrow = Onnx(read_folder(folder), window=16)

    assert one.fingerprint == same.fingerprint
    assert len({one.fingerprint, other.fingerprint, narrow.fingerprint}) == 3


def test_a_length_the_model_was_not_made_for_is_refused():
    with pytest.raises(ProviderUnavailable, match="no vectors of 100 dimensions; outputDimensionality: 384"):
        Onnx(read_folder(real_model("all-MiniLM-L6-v2")), dims=100)


def test_a_broken_graph_is_said(tmp_path):
    folder = real_model("all-MiniLM-L6-v2")
    (tmp_path / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:1_000_000])
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())

    with pytest.raises(ProviderUnavailable, match="cannot be loaded"):
        Onnx(read_folder(tmp_path)).embed_query("hello")


def test_a_model_unknown_by_name_learns_its_length(tmp_path):
    folder = real_model("all-MiniLM-L6-v2")
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(folder / name)
    embedder = Onnx(read_folder(tmp_path))
    before = embedder.dims
    vector = embedder.embed_query("hello")

    assert (before, embedder.dims) == (None, 384)
    assert len(vectors.unpack(vector)) == 384
    embedder.close()
