"""Which provider, whose key, whose address; and that no secret is ever seen."""

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from memgrep import config
from memgrep.config import Secret, load
from memgrep.errors import ConfigError

# A loaded machine is no reason to fail.
patient = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)


def read(arguments, **more):
    """Settings from arguments alone."""
    environ = {"HOME": "/home/x", **more}
    return load(arguments, workspace="/notes", environ=environ, cwd="/", platform="linux", files=False)


def refusal(arguments):
    with pytest.raises(ConfigError) as caught:
        read(arguments)
    return str(caught.value)


# Providers


def test_a_wrong_provider_is_carried_and_not_raised():
    """F114: status, reading and keyword search go on."""
    settings = read({"provider": "voyagee"})

    assert settings.provider == "voyagee"
    assert settings.provider_problem.startswith(
        'unknown provider "voyagee" (did you mean "voyage"?); known: auto, none, openai,'
    )
    with pytest.raises(ValueError, match="voyagee"):
        settings.endpoint("voyagee")


@pytest.mark.parametrize("provider", ["auto", "none", *config.PROVIDERS])
def test_known_providers_are_no_problem(provider):
    assert read({"provider": provider}).provider_problem is None


def test_an_entry_of_ones_own_is_a_provider_if_it_can_embed():
    lab = {"models": {"providers": {"lab": {"api": "openai-completions", "baseUrl": "http://lab/v1/"}}}}
    assert read({**lab, "provider": "lab"}).provider_problem is None
    assert read({**lab, "provider": "lab"}).endpoint("lab").api == "openai-compatible"
    bare = {"models": {"providers": {"bare": {"baseUrl": "http://lab/v1/"}}}, "fallback": "bare"}
    assert read(bare).fallback_problem.startswith(
        'models.providers.bare.api: is missing, allowed: "openai", '
    )


ENTRY = {
    "baseUrl": "https://proxy/v1",
    "apiKey": "of-entry",
    "headers": {"X-Org": "1", "Authorization": "secret"},
}


def test_what_remote_says_wins_over_the_entry_and_headers_are_merged():
    endpoint = read(
        {
            "provider": "openai",
            "models.providers.openai": ENTRY,
            "remote.apiKey": "of-remote",
            "remote.headers": {"x-org": "2", "X-New": "3"},
        }
    ).endpoint("openai")

    assert (endpoint.base_url, endpoint.api_key.reveal()) == ("https://proxy/v1", "of-remote")
    assert {name: value.reveal() for name, value in endpoint.headers.items()} == {
        "Authorization": "secret",
        "x-org": "2",
        "X-New": "3",
    }


def test_a_key_goes_only_where_it_was_configured_for():
    """An address in `remote` gets neither the entry's credentials nor a key of the environment."""
    settings = read(
        {"provider": "openai", "models.providers.openai": ENTRY, "remote.baseUrl": "https://elsewhere/v1"}
    )
    endpoint = settings.endpoint("openai")

    assert (endpoint.base_url, endpoint.api_key, endpoint.environment_key) == (
        "https://elsewhere/v1",
        None,
        False,
    )
    assert list(endpoint.headers) == ["X-Org"]


def test_what_remote_says_is_not_for_the_fallback():
    settings = read(
        {
            "provider": "gemini",
            "fallback": "openai",
            "remote.apiKey": "gemini's",
            "remote.headers": {"A": "b"},
        }
    )
    endpoint = settings.endpoint("openai")

    assert (endpoint.api_key, dict(endpoint.headers), endpoint.environment_key) == (None, {}, True)
    assert settings.endpoint("gemini").api_key.reveal() == "gemini's"


def test_with_auto_what_remote_says_is_for_openai():
    settings = read({"remote.apiKey": "k"})

    assert settings.endpoint("openai").api_key.reveal() == "k"
    assert settings.endpoint("voyage").api_key is None


def test_gemini_has_the_entry_that_openclaw_calls_google():
    assert read({"models.providers.google.apiKey": "k"}).endpoint("gemini").api_key.reveal() == "k"


# Secrets

SECRET = "sk-do-not-show-me"


def test_a_secret_is_seen_nowhere():
    settings = read(
        {
            "provider": "openai",
            "remote.apiKey": SECRET,
            "remote.headers": {"X-Key": SECRET},
            "models.providers.openai": {"apiKey": SECRET, "headers": {"X-Key": SECRET}},
        }
    )
    key = settings.remote.api_key

    assert key.reveal() == SECRET
    seen = [
        settings,
        settings.remote,
        settings.providers,
        settings.endpoint("openai"),
        key,
        [key],
        settings.listing(),
    ]
    shown = (
        "".join(f"{one!r} {one!s} {one}" for one in seen)
        + f"{key:>40}"
        + repr(settings.values)
        + repr(dir(key))
    )
    assert SECRET not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        {"remote.apiKey": [SECRET]},
        {"remote.apiKey": {"source": "exec", "id": SECRET}},
        {"remote.apiKey": SECRET + "\nX-Injected: 1"},
        {"remote.apiKey": f"env:{SECRET}"},
        {"remote.headers": SECRET},
        {"remote.headers": {"X": [SECRET]}},
        {"remote.headers": {"X": f"{SECRET}\r\nY: z"}},
        {"remote.baseUrl": f"https://user:{SECRET}@host/v1"},
        {"remote.baseUrl": f"https://host/v1?key={SECRET}"},
        {"models": {"providers": {"openai": SECRET}}},
        {"models": {"providers": SECRET}},
        {"models": SECRET},
        {"remote": SECRET},
    ],
)
def test_an_error_does_not_show_a_secret(arguments):
    message = refusal(arguments)

    assert SECRET not in message
    assert "found" in message


@pytest.mark.parametrize(
    "text", [f"apiKey: {SECRET}", f"apiKey: 0{SECRET}", f"apiKey: '{SECRET}", f"apiKey: '{SECRET}' x"]
)
def test_a_slip_in_the_file_does_not_show_a_secret(tmp_path, text):
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw" / "openclaw.json").write_text("{memory: {search: {remote: {" + text + "}}}}")
    user = tmp_path / ".config" / "memgrep" / "memgrep.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[remote]\n" + text.replace(":", " =", 1))

    with pytest.raises(ConfigError) as caught:
        load(environ={"HOME": str(tmp_path)}, cwd="/", platform="linux")

    assert len(caught.value.problems) == 2
    assert SECRET[3:] not in str(caught.value)


def test_variables_are_read_when_the_secret_is_used():
    environ = {"HOME": "/home/x"}
    settings = load({"remote.apiKey": "env:LAB_KEY"}, environ=environ, cwd="/", files=False)
    key = settings.remote.api_key

    assert not key.resolves
    with pytest.raises(
        ConfigError, match=r"^argument: remote.apiKey: environment variable LAB_KEY is not set$"
    ):
        key.reveal()
    environ["LAB_KEY"] = " v1\n"
    assert key.resolves
    assert key.reveal() == "v1"
    environ["LAB_KEY"] = "v2"
    assert key.reveal() == "v2"
    assert {row.key: row.value for row in settings.listing()}["remote.apiKey"] == "env:LAB_KEY"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("plain", "plain"),
        ("${A}", "1"),
        ("Bearer ${A}-${B}!", "Bearer 1-2!"),
        ("$${A}", "${A}"),
        ("${A", "${A"),
        ("${not a name}", "${not a name}"),
        ("$A", "$A"),
        ({"source": "env", "provider": "default", "id": "B"}, "2"),
        ("env: A ", "1"),
    ],
)
def test_a_secret_may_name_variables(written, value):
    assert read({"remote.apiKey": written}, A="1", B="2").remote.api_key.reveal() == value


@patient
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
        lambda text: "${" not in text and text.strip() and not text.strip().startswith("env:")
    )
)
def test_any_other_text_is_the_secret_itself(text):
    assert Secret(text.strip(), {}, source="", line=None, key="").reveal() == text.strip()
