"""Is a provider's name one we know?

Asked late, so that a wrong name never stops reading or keyword search (F114).
"""

from __future__ import annotations

from memgrep.config.keys import APIS, ENTRY, PROVIDERS
from memgrep.config.kinds import shown
from memgrep.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memgrep.config.settings import CustomProvider
    from memgrep.config.written import Origin

__all__ = ["api_of", "nearest", "problem_with"]


def api_of(provider: str, custom: Mapping[str, CustomProvider]) -> str:
    """The known provider whose wire format a provider speaks; `""` if nobody knows."""
    if provider in PROVIDERS:
        return provider
    api = custom[provider].api if provider in custom else None
    api = APIS.get(api or "", api or "")
    # A custom endpoint is never taken for the provider's own host, which a key of the environment may reach.
    return "openai-compatible" if api == "openai" else api if api in PROVIDERS else ""


def problem_with(
    provider: str, custom: Mapping[str, CustomProvider], origins: Mapping[str, Origin]
) -> str | None:
    """What is wrong with a provider's name, in words, or None; `origins` are those of the settings' keys."""
    if provider in ("auto", "none") or api_of(provider, custom):
        return None
    if provider in custom:
        key, api = f"models.providers.{provider}.api", custom[provider].api
        if api is None:
            return f"{key}: is missing, allowed: {ENTRY['api'].said}"
        origin, found = origins[key], f"found {shown(api)}, allowed: {ENTRY['api'].said}"
        return str(Problem(origin.source, origin.line, key, found))
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
