"""Embeddings: a provider sees texts and returns vectors, and `choose` says which one is used.

    request      what a request may hold; a text that got no vector
    vectors      the one form of a vector
    embedder     the protocol every provider fits
    batching     many texts → requests of the right size
    http         the one door to the network
    openai_like  OpenAI's wire format, a row for each service
    static       the built-in model
    models       local models: what is known of them, where they lie
    download     how they get there
    onnx         local models in this process

Importing this package costs nothing: providers, numpy and the HTTP library are imported when one is chosen.
"""

from __future__ import annotations

import os

from memgrep.embeddings.request import Limits, Refused
from memgrep.errors import (
    ConfigError,
    ProviderAuth,
    ProviderError,
    ProviderUnavailable,
    ProviderUnknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memgrep.config import Endpoint, Secret, Settings
    from memgrep.embeddings.embedder import BatchJobs, Cancel, Embedded, Embedder, Progress

__all__ = [
    "AVAILABLE",
    "KEY_NAMES",
    "LATER",
    "BatchJobs",
    "Cancel",
    "Choice",
    "Embedded",
    "Embedder",
    "Limits",
    "Progress",
    "Refused",
    "choose",
    "model_cache",
]

# The usual variables of each provider's key, in the order they count.
KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "voyage": ("VOYAGE_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "lmstudio": ("LMSTUDIO_API_KEY",),
}
AVAILABLE = ("static", "local", "openai", "openai-compatible", "voyage", "mistral", "deepinfra", "lmstudio")
"""Providers of this version."""
LATER = ("gemini", "bedrock", "github-copilot", "ollama")
"""Providers of the settings that this version does not have yet."""

# `auto` tries remote providers in this order.
_AUTO = ("openai", "voyage", "mistral")


def __getattr__(name: str) -> object:
    if name in ("BatchJobs", "Cancel", "Embedded", "Embedder", "Progress"):
        from memgrep.embeddings import embedder

        return getattr(embedder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Choice:
    """Who embeds, and why: `asked` is what the settings say, `embedder` None means by words only."""

    __slots__ = ("asked", "embedder", "reason")

    def __init__(self, asked: str, embedder: Embedder | None, reason: str) -> None:
        self.asked = asked
        self.embedder = embedder
        self.reason = reason

    @property
    def in_use(self) -> str:
        """The provider in use, `none` for words only."""
        return self.embedder.provider if self.embedder is not None else "none"

    def __repr__(self) -> str:
        return f"Choice({self.asked!r} → {self.in_use!r}, {self.reason!r})"


def choose(settings: Settings, name: str | None = None, *, environ: Mapping[str, str] = os.environ) -> Choice:
    """The embedder of the settings, or of another provider's `name` (a fallback, with its own model).

    `auto` takes the first of: a local model on disk, openai, voyage, mistral if a key resolves, the built-in
    model, none. It never raises for a provider that cannot be set up; it goes on, and says so. No provider is
    asked anything here.

    Raises:
        ProviderError: a provider named by the user cannot be set up.
    """
    asked = name or settings.provider
    if asked == "none":
        return Choice(asked, None, "by words only, as configured")
    if asked == "auto":
        return _auto(settings, environ)
    return Choice(asked, _named(settings, asked, environ), "as configured")


def model_cache(settings: Settings) -> Path:
    """The folder local models are kept in."""
    from pathlib import Path

    return Path(settings.local.model_cache_dir or os.path.join(settings.state, "memory", "models"))


def _auto(settings: Settings, environ: Mapping[str, str]) -> Choice:
    passed = []
    if settings.local.model_path is not None or model_cache(settings).is_dir():
        try:
            return Choice("auto", _local(settings, environ, named=False), "a local model is on disk")
        except ProviderError as error:
            passed.append(str(error))
    for name in _AUTO:
        endpoint = settings.endpoint(name)
        if not _has_key(endpoint, environ):
            continue
        try:
            return Choice(
                "auto", _remote(settings, endpoint, environ, own=name == "openai"), f"a key of {name} is set"
            )
        except ProviderError as error:
            passed.append(str(error))
    from memgrep.embeddings import static

    if static.installed():
        try:
            return Choice(
                "auto", static.Static(), "; ".join([*passed, "no local model and no key: the built-in model"])
            )
        except ProviderError as error:
            passed.append(str(error))
    return Choice(
        "auto", None, "; ".join([*passed, "no local model, no key, no built-in model: by words only"])
    )


def _named(settings: Settings, name: str, environ: Mapping[str, str]) -> Embedder:
    own = name == settings.provider
    if name == "static":
        from memgrep.embeddings.static import Static

        return Static()
    if name == "local":
        return _local(settings, environ, named=own)
    try:
        endpoint = settings.endpoint(name)
    except ValueError as error:
        raise ProviderUnknown(name, str(error), f"available: {', '.join(AVAILABLE)}") from error
    if endpoint.api == "static" or endpoint.api == "local":
        raise ProviderUnavailable(
            name, f'api "{endpoint.api}" has no endpoint', f'set provider to "{endpoint.api}"'
        )
    if endpoint.api in LATER:
        raise ProviderUnavailable(
            name, "not part of this version yet", f"available: {', '.join(AVAILABLE)}, none"
        )
    return _remote(settings, endpoint, environ, own=own)


def _local(settings: Settings, environ: Mapping[str, str], *, named: bool) -> Embedder:
    """`named`: the user asked for `local`, so `model` and `outputDimensionality` are meant for it."""
    from memgrep.embeddings import models
    from memgrep.embeddings.onnx import Onnx

    known = models.by_name(settings.model) if settings.model else None
    named = named or known is not None
    wanted = models.parse(settings.local.model_path or (settings.model if named else None))
    if wanted.path is not None and known is not None:
        # A folder and a name: the files of the one with the facts of the other.
        wanted = models.Wanted(known.name, path=wanted.path, known=known)
    return Onnx(
        models.locate(wanted, model_cache(settings), environ),
        dims=settings.output_dimensionality if named else None,
        window=settings.local.context_size,
    )


def _remote(settings: Settings, endpoint: Endpoint, environ: Mapping[str, str], *, own: bool) -> Embedder:
    """`own`: `model`, `outputDimensionality` and input types of the settings are meant for this provider."""
    from dataclasses import replace

    from memgrep.embeddings.http import INDEX, Http
    from memgrep.embeddings.openai_like import SERVICES, OpenAILike

    provider = endpoint.provider
    service = SERVICES[endpoint.api]
    base_url = endpoint.base_url or service.base_url
    if base_url is None:
        raise ProviderUnavailable(provider, "no address is set", f"set {_key_of(endpoint)}baseUrl")
    model = (settings.model if own else None) or (
        endpoint.models[0] if len(endpoint.models) == 1 else service.model
    )
    if model is None:
        raise ProviderUnavailable(provider, "no model is set", "set model")
    headers = {name: _revealed(provider, secret) for name, secret in endpoint.headers.items()}
    key = _key(endpoint, environ)
    signed = any(header.lower() in ("authorization", "api-key", "x-api-key") for header in headers)
    if key is None and not signed and service.needs_key and endpoint.base_url is None:
        raise ProviderAuth(provider, "no key", service.remedy())
    if key is not None and not signed:
        headers["Authorization"] = f"Bearer {key}"
    seconds = settings.sync.embedding_batch_timeout_seconds
    parallel = settings.remote.non_batch_concurrency
    return OpenAILike(
        service,
        Http(provider, base_url, headers=headers, secrets=[key] if key else [], key_remedy=service.remedy()),
        model,
        dims=settings.output_dimensionality if own else None,
        document_type=(settings.document_input_type or settings.input_type) if own else None,
        query_type=(settings.query_input_type or settings.input_type) if own else None,
        headers=headers,
        named=provider,
        # The settings' own default is OpenClaw's; two at a time hide the way there and back.
        concurrency=2 if settings.origin("remote.nonBatchConcurrency") == "default" else parallel,
        index_patience=replace(INDEX, timeout=seconds) if seconds else INDEX,
    )


def _key_of(endpoint: Endpoint) -> str:
    return "remote." if endpoint.provider == endpoint.api else f"models.providers.{endpoint.provider}."


def _has_key(endpoint: Endpoint, environ: Mapping[str, str]) -> bool:
    try:
        return _key(endpoint, environ) is not None
    except ProviderError:
        return False


def _key(endpoint: Endpoint, environ: Mapping[str, str]) -> str | None:
    """The configured key, else the usual variable's if the requests go to the provider's own host."""
    if endpoint.api_key is not None:
        return _revealed(endpoint.provider, endpoint.api_key)
    if not endpoint.environment_key:
        return None
    values = (environ.get(name, "").strip() for name in KEY_NAMES.get(endpoint.api, ()))
    return next((value for value in values if value), None)


def _revealed(provider: str, secret: Secret) -> str:
    try:
        return secret.reveal()
    except ConfigError as error:
        raise ProviderAuth(provider, str(error), "set the variable, or write the key another way") from error
