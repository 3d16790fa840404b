"""Is a provider's name one we know?

Asked late, so that a wrong name never stops reading or keyword search (F114).
"""

from __future__ import annotations

from memgrep.config.keys import PROVIDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memgrep.config.settings import CustomProvider

__all__ = ["api_of", "nearest", "problem_with"]

# What OpenClaw calls the wire formats that have an embedding side.
APIS = {
    "openai-completions": "openai-compatible",
    "openai-responses": "openai-compatible",
    "google-generative-ai": "gemini",
    "bedrock-converse-stream": "bedrock",
}


def api_of(provider: str, custom: Mapping[str, CustomProvider]) -> str:
    """The known provider whose wire format a provider speaks; `""` if nobody knows."""
    if provider in PROVIDERS:
        return provider
    api = custom[provider].api if provider in custom else None
    api = APIS.get(api or "", api or "")
    # A custom endpoint is never taken for the provider's own host, which a key of the environment may reach.
    return "openai-compatible" if api == "openai" else api if api in PROVIDERS else ""


def problem_with(provider: str, custom: Mapping[str, CustomProvider]) -> str | None:
    """What is wrong with a provider's name, in words, or None."""
    if provider in ("auto", "none") or api_of(provider, custom):
        return None
    if provider in custom:
        api = custom[provider].api
        found = f'api "{api}" cannot embed' if api else "api is missing"
        return f"models.providers.{provider}: {found}; known: {', '.join(PROVIDERS)}"
    known = list(
        dict.fromkeys(["auto", "none", *PROVIDERS, *(name for name in custom if api_of(name, custom))])
    )
    near = nearest(provider, known)
    hint = f' (did you mean "{near}"?)' if near else ""
    return f'unknown provider "{provider}"{hint}; known: {", ".join(known)}'


def nearest(word: str, known: list[str]) -> str | None:
    """The known word that a wrong one was probably meant to be."""
    import difflib  # only on the way to an error

    folded = {name.lower().replace("_", "").replace("-", ""): name for name in known}
    near = difflib.get_close_matches(word.lower().replace("_", "").replace("-", ""), folded, n=1, cutoff=0.75)
    return folded[near[0]] if near else None
