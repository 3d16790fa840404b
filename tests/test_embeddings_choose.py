"""Which provider is used, and what is said about it."""

import subprocess
import sys

import pytest
from memgrep.config import load
from memgrep.embeddings import AVAILABLE, KEY_NAMES, LATER, choose, model_cache, static
from memgrep.embeddings.openai_like import SERVICES
from memgrep.errors import (
    ModelMissing,
    ProviderAuth,
    ProviderError,
    ProviderUnavailable,
    ProviderUnknown,
)
from memgrep.testing import FakeEmbeddings
from real_models import real_model

KEY = "sk-very-secret-0123456789"
WITHOUT = "static" if static.installed() else "none"


@pytest.fixture
def chosen(tmp_path):
    """Chooses on a machine with nothing but these settings and variables."""

    def choosing(arguments=None, *, name=None, **environ):
        environ = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)} | environ
        settings = load(arguments or {}, workspace=tmp_path, environ=environ, cwd=str(tmp_path))
        return choose(settings, name, environ=environ)

    return choosing


def test_none_is_a_choice(chosen):
    """F121."""
    choice = chosen({"provider": "none"})

    assert (choice.asked, choice.in_use, choice.embedder) == ("none", "none", None)
    assert choice.reason == "by words only, as configured"


def test_auto_without_anything_uses_what_came_with_the_package(chosen):
    choice = chosen()

    assert (choice.asked, choice.in_use) == ("auto", WITHOUT)
    assert "no local model" in choice.reason
    assert "no key" in choice.reason


@pytest.mark.parametrize("name", ["openai", "voyage", "mistral"])
def test_auto_takes_a_remote_provider_when_its_key_is_set(chosen, name):
    choice = chosen(**{KEY_NAMES[name][0]: KEY})

    assert choice.in_use == name
    assert choice.reason == f"a key of {name} is set"
    assert choice.embedder.host == SERVICES[name].base_url.split("/")[2]
    assert choice.embedder.model == SERVICES[name].model


def test_auto_takes_the_first_of_several_keys(chosen):
    assert chosen(MISTRAL_API_KEY=KEY, VOYAGE_API_KEY=KEY, OPENAI_API_KEY=KEY).in_use == "openai"
    assert chosen(MISTRAL_API_KEY=KEY, VOYAGE_API_KEY=KEY).in_use == "voyage"


def test_auto_takes_no_provider_it_is_not_meant_to(chosen):
    """DeepInfra is only used by name: its key is mostly there for other models."""
    assert chosen(DEEPINFRA_API_KEY=KEY, GEMINI_API_KEY=KEY).in_use == WITHOUT


def test_a_blank_key_is_none(chosen):
    assert chosen(OPENAI_API_KEY="  ").in_use == WITHOUT


def test_auto_takes_a_local_model_on_disk_first(chosen):
    folder = real_model("all-MiniLM-L6-v2")

    choice = chosen({"local.modelPath": str(folder)}, OPENAI_API_KEY=KEY)

    assert (choice.in_use, choice.embedder.model) == ("local", "all-MiniLM-L6-v2")
    assert choice.embedder.host is None
    assert choice.reason == "a local model is on disk"


def test_auto_goes_on_without_the_local_model_and_says_so(chosen, tmp_path):
    choice = chosen({"local.modelPath": str(tmp_path / "gone")})

    assert choice.in_use == WITHOUT
    assert "gone does not exist" in choice.reason


def test_a_named_local_model_that_is_missing_is_an_error(chosen):
    with pytest.raises(
        ModelMissing, match=r"multilingual-e5-small is not on this machine; memgrep models pull"
    ):
        chosen({"provider": "local"})


@pytest.mark.parametrize("name", LATER)
def test_a_provider_of_a_later_version_is_said(chosen, name):
    with pytest.raises(
        ProviderUnavailable, match=r"not part of this version yet; available: static, local, openai"
    ):
        chosen({"provider": name})


def test_an_unknown_provider_names_the_known_ones(chosen):
    """F114."""
    with pytest.raises(ProviderUnknown, match="voyage"):
        chosen({"provider": "voyagee"})


def test_every_provider_of_the_settings_is_available_or_later():
    from memgrep.config import PROVIDERS

    assert sorted(PROVIDERS) == sorted((*AVAILABLE, *LATER))


def test_every_available_remote_provider_has_a_row():
    assert set(SERVICES) == set(AVAILABLE) - {"static", "local"}
    assert set(KEY_NAMES) <= set(SERVICES)


def test_a_named_provider_without_a_key_says_where_it_comes_from(chosen):
    with pytest.raises(ProviderAuth, match=r"openai: no key; set OPENAI_API_KEY or remote\.apiKey"):
        chosen({"provider": "openai"})


def test_an_endpoint_needs_an_address_and_a_model(chosen):
    with pytest.raises(ProviderUnavailable, match=r"no address is set; set remote\.baseUrl"):
        chosen({"provider": "openai-compatible", "model": "m"})
    with pytest.raises(ProviderUnavailable, match="no model is set"):
        chosen({"provider": "openai-compatible", "remote.baseUrl": "http://127.0.0.1:1/v1"})


def test_an_endpoint_gets_what_was_configured_for_it_and_no_other_key(chosen):
    with FakeEmbeddings() as fake:
        settings = {"provider": "openai-compatible", "model": "m", "remote.baseUrl": fake.url}
        for extra in ({}, {"remote.apiKey": KEY}, {"remote.headers": {"X-Tenant": "one"}}):
            embedder = chosen(settings | extra, OPENAI_API_KEY="sk-other").embedder
            embedder.embed_query("q")
            embedder.close()

    assert [headers.get("authorization") for headers in fake.headers] == [None, f"Bearer {KEY}", None]
    assert fake.headers[2]["x-tenant"] == "one"


def test_a_key_of_the_environment_does_not_go_to_another_host(chosen):
    """Section 6.1: a custom address gets `remote.apiKey` only."""
    with FakeEmbeddings() as fake:
        embedder = chosen({"provider": "openai", "remote.baseUrl": fake.url}, OPENAI_API_KEY=KEY).embedder
        embedder.embed_query("q")
        embedder.close()

    assert "authorization" not in fake.headers[0]


def test_an_own_authorization_header_wins(chosen):
    with FakeEmbeddings() as fake:
        arguments = {
            "provider": "openai-compatible",
            "model": "m",
            "remote.baseUrl": fake.url,
            "remote.apiKey": KEY,
            "remote.headers": {"authorization": "Token abc"},
        }
        embedder = chosen(arguments).embedder
        embedder.embed_query("q")
        embedder.close()

    assert fake.headers[0]["authorization"] == "Token abc"


def test_a_key_that_names_a_missing_variable_is_said(chosen):
    with pytest.raises(ProviderAuth, match="TEAM_KEY"):
        chosen({"provider": "openai", "remote.apiKey": "env:TEAM_KEY"})


def test_settings_reach_the_request(chosen):
    with FakeEmbeddings() as fake:
        arguments = {
            "provider": "openai-compatible",
            "model": "m",
            "remote.baseUrl": fake.url,
            "outputDimensionality": 16,
            "inputType": "passage",
            "queryInputType": "query",
        }
        embedder = chosen(arguments).embedder
        list(embedder.embed_documents(["d"]))
        embedder.embed_query("q")
        embedder.close()

    assert [body["input_type"] for body in fake.bodies] == ["passage", "query"]
    assert {body["dimensions"] for body in fake.bodies} == {16}
    assert embedder.dims == 16


def test_a_fallback_uses_its_own_model(chosen):
    """`model` and `outputDimensionality` are meant for the provider that was set."""
    arguments = {
        "provider": "voyage",
        "model": "voyage-code-3",
        "outputDimensionality": 512,
        "fallback": "openai",
    }

    fallback = chosen(arguments, name="openai", OPENAI_API_KEY=KEY, VOYAGE_API_KEY=KEY)

    assert (fallback.asked, fallback.in_use) == ("openai", "openai")
    assert fallback.embedder.model == "text-embedding-3-small"
    assert fallback.embedder.dims is None


def test_choosing_asks_nobody(chosen):
    with FakeEmbeddings() as fake:
        chosen({"provider": "openai-compatible", "model": "m", "remote.baseUrl": fake.url})

    assert fake.requests == 0


def test_another_key_is_the_same_identity(chosen):
    """F085."""
    prints = {
        chosen({"provider": "openai", "remote.headers": headers}, OPENAI_API_KEY=key).embedder.fingerprint
        for key, headers in ((KEY, {}), ("sk-new", {"X-Api-Key": "new"}))
    }

    assert len(prints) == 1


def test_no_key_is_shown(chosen):
    choice = chosen({"provider": "openai"}, OPENAI_API_KEY=KEY)

    assert KEY not in repr(choice) + repr(choice.embedder) + choice.embedder.fingerprint


def test_every_failure_to_set_up_is_a_provider_error(chosen):
    """Callers catch one class."""
    for arguments in (
        {"provider": "openai"},
        {"provider": "local", "local.modelPath": "hf:no-repo"},
        {"provider": "voyagee"},
    ):
        with pytest.raises(ProviderError):
            chosen(arguments)


def test_models_are_kept_beside_the_index(tmp_path):
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    settings = load({}, workspace=tmp_path, environ=environ, cwd=str(tmp_path))
    elsewhere = load(
        {"local.modelCacheDir": str(tmp_path / "m")}, workspace=tmp_path, environ=environ, cwd="/"
    )

    assert model_cache(settings) == tmp_path / "data" / "memgrep" / "memory" / "models"
    assert model_cache(elsewhere) == tmp_path / "m"


@pytest.mark.parametrize(
    "code", ["import memgrep.embeddings", "from memgrep.embeddings import Refused, choose"]
)
def test_the_package_is_imported_without_heavy_packages(code):
    """A cold start by words or with the built-in model pays for none of them."""
    heavy = "httpx2 numpy onnxruntime tokenizers huggingface_hub dataclasses typing json hashlib".split()
    check = (
        f"import sys; old = set(sys.modules); {code}; print(sorted(set({heavy}) & (set(sys.modules) - old)))"
    )

    out = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout

    assert out.strip() == "[]"
