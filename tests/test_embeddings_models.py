"""What is known of local models, and how they are found."""

import json

import pytest
from memgrep.embeddings.models import DEFAULT, KNOWN, Wanted, locate, parse, read_folder
from memgrep.errors import ModelMissing, ProviderUnavailable


def write(folder, **files):
    """A model's folder with these files; a `/` in a name is a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


def a_model(folder, graph="model.onnx", **files):
    return write(folder, **{graph: "graph", "tokenizer.json": {}} | files)


@pytest.mark.parametrize("known", KNOWN.values(), ids=lambda known: known.name)
def test_known_models_are_pinned(known):
    assert len(known.revision) == 40
    assert int(known.revision, 16) >= 0
    for file in known.files:
        assert len(file.sha256) == 64
        assert int(file.sha256, 16) >= 0
        assert file.size > 0
    assert known.files[0].path.endswith(".onnx")
    assert known.files[-1].path == "tokenizer.json"
    assert known.pooling in ("mean", "cls", "output")


def test_the_default_is_known():
    assert parse(None).known is KNOWN[DEFAULT]


@pytest.mark.parametrize(
    "name", ["BGE-small-en-v1.5", "BAAI/bge-small-en-v1.5", "hf:Xenova/bge-small-en-v1.5"]
)
def test_a_known_model_has_several_names(name):
    wanted = parse(name)

    assert (wanted.name, wanted.known) == ("bge-small-en-v1.5", KNOWN["bge-small-en-v1.5"])
    assert wanted.folder_name == "Xenova--bge-small-en-v1.5@ea104dacec62c0de699686887e3f920caeb4f3e3"


def test_a_repository_may_be_any(tmp_path):
    wanted = parse("hf:org/some-model/onnx/model_q4.onnx@v1.0")

    assert (wanted.repo, wanted.file, wanted.revision) == ("org/some-model", "onnx/model_q4.onnx", "v1.0")
    assert "/" not in wanted.folder_name


def test_another_revision_of_a_known_model_is_another_model():
    pinned = KNOWN["bge-small-en-v1.5"]

    assert parse("hf:Xenova/bge-small-en-v1.5@main").revision == "main"
    assert (
        parse(f"hf:Xenova/bge-small-en-v1.5@{pinned.revision}").folder_name == parse(pinned.name).folder_name
    )


@pytest.mark.parametrize("text", ["no-such-model", "hf:", "hf:org", "hf:org/repo/../../x", "hf:a b/c"])
def test_what_is_no_model_is_said(text):
    with pytest.raises(ModelMissing):
        parse(text)


# Where it lies


def test_a_path_comes_first(tmp_path):
    folder = a_model(tmp_path / "mine")

    assert locate(parse(str(folder)), tmp_path / "cache", {}).graph == folder / "model.onnx"
    assert locate(parse(str(folder / "model.onnx")), tmp_path / "cache", {}).graph == folder / "model.onnx"


def test_our_cache_comes_before_the_hubs(tmp_path):
    wanted = parse("all-MiniLM-L6-v2")
    ours = a_model(tmp_path / "cache" / wanted.folder_name, "onnx/model_quantized.onnx")
    hub = tmp_path / "hub" / "models--Xenova--all-MiniLM-L6-v2" / "snapshots" / wanted.revision
    a_model(hub, "onnx/model_quantized.onnx")

    found = locate(wanted, tmp_path / "cache", {"HF_HUB_CACHE": str(tmp_path / "hub")})
    without = locate(wanted, tmp_path / "empty", {"HF_HUB_CACHE": str(tmp_path / "hub")})

    assert found.graph == ours / "onnx" / "model_quantized.onnx"
    assert without.graph == hub / "onnx" / "model_quantized.onnx"


@pytest.mark.parametrize("variable", ["HF_HOME", "XDG_CACHE_HOME"])
def test_the_hubs_cache_is_where_the_environment_says(tmp_path, variable):
    wanted = parse("hf:org/model")
    root = tmp_path if variable == "HF_HOME" else tmp_path / "huggingface"
    base = root / "hub" / "models--org--model"
    write(base, **{"refs/main": "abc123\n"})
    a_model(base / "snapshots" / "abc123")

    assert locate(wanted, tmp_path / "empty", {variable: str(tmp_path)}).graph.parent.name == "abc123"


def test_a_half_model_is_none(tmp_path):
    wanted = parse("all-MiniLM-L6-v2")
    write(tmp_path / wanted.folder_name, **{"tokenizer.json": {}})

    with pytest.raises(ModelMissing, match=r"memgrep models pull all-MiniLM-L6-v2 \(24 MB\)"):
        locate(wanted, tmp_path, {"HF_HOME": str(tmp_path)})


def test_a_missing_model_of_the_hub_says_how_to_get_it(tmp_path):
    with pytest.raises(ModelMissing, match="memgrep models pull hf:org/model"):
        locate(parse("hf:org/model"), tmp_path, {"HF_HOME": str(tmp_path)})


# What a folder says


def test_the_8_bit_graph_is_preferred(tmp_path):
    folder = a_model(tmp_path, **{"onnx/model_quantized.onnx": "8", "onnx/model_fp16.onnx": "16"})

    assert read_folder(folder).graph == folder / "onnx" / "model_quantized.onnx"


def test_a_single_graph_of_any_name_will_do(tmp_path):
    assert read_folder(a_model(tmp_path, "house.onnx")).graph == tmp_path / "house.onnx"


def test_several_unknown_graphs_are_ambiguous(tmp_path):
    a_model(tmp_path, "a.onnx", **{"b.onnx": "b"})

    with pytest.raises(ModelMissing, match="several ONNX graphs"):
        read_folder(tmp_path)


def test_a_folder_without_graph_or_tokenizer_is_said(tmp_path):
    with pytest.raises(ModelMissing, match="no ONNX graph"):
        read_folder(write(tmp_path / "a", **{"tokenizer.json": {}}))
    with pytest.raises(ModelMissing, match=r"no tokenizer\.json"):
        read_folder(write(tmp_path / "b", **{"model.onnx": ""}))


def test_the_files_of_sentence_transformers_count(tmp_path):
    folder = a_model(
        tmp_path,
        **{
            "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
            "sentence_bert_config.json": {"max_seq_length": 128},
            "config_sentence_transformers.json": {"prompts": {"query": "Q: ", "document": "D: "}},
        },
    )
    model = read_folder(folder)

    assert (model.pooling, model.window) == ("cls", 128)
    assert (model.query_prompt, model.document_prompt) == ("Q: ", "D: ")


def test_a_pooling_we_do_not_have_is_said(tmp_path):
    a_model(tmp_path, **{"1_Pooling/config.json": {"pooling_mode_max_tokens": True}})

    with pytest.raises(ProviderUnavailable, match="pooling_mode_max_tokens is not supported"):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("files", "window"),
    [
        ({"tokenizer_config.json": {"model_max_length": 384}}, 384),
        (
            {
                "tokenizer_config.json": {"model_max_length": 10**30},
                "config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"},
            },
            512,
        ),
        ({"config.json": {"max_position_embeddings": 2048}}, 2048),
        ({}, 512),
    ],
)
def test_the_window_is_the_models(tmp_path, files, window):
    assert read_folder(a_model(tmp_path, **files)).window == window


def test_a_known_name_in_a_path_brings_its_facts(tmp_path):
    """A wrong pooling or a missing prompt hurts in silence."""
    model = read_folder(a_model(tmp_path / "multilingual-e5-small-int8"))

    assert (model.query_prompt, model.document_prompt, model.dims) == ("query: ", "passage: ", 384)


def test_a_folder_can_be_given_a_name(tmp_path):
    known = KNOWN["bge-small-en-v1.5"]
    folder = a_model(tmp_path / "x")

    model = locate(Wanted(known.name, path=folder, known=known), tmp_path / "cache", {})

    assert (model.name, model.pooling, model.query_prompt) == (known.name, "cls", known.query_prompt)


def test_a_broken_file_is_said(tmp_path):
    a_model(tmp_path, **{"config_sentence_transformers.json": "{"})

    with pytest.raises(ModelMissing, match=r"config_sentence_transformers\.json cannot be read"):
        read_folder(tmp_path)


def test_the_digest_is_that_of_the_files_and_not_of_the_place(tmp_path):
    one = read_folder(a_model(tmp_path / "one", **{"model.onnx_data": "w" * 200_000}))
    two = read_folder(a_model(tmp_path / "two", **{"model.onnx_data": "w" * 200_000}))
    other = read_folder(a_model(tmp_path / "other", **{"model.onnx_data": "w" * 199_999 + "x"}))

    assert one.digest() == two.digest() != other.digest()
