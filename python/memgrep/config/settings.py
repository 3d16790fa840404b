"""The settings that are used. Only these are passed around."""

from __future__ import annotations

from memgrep.config.provider_names import api_of, problem_with
from memgrep.config.secret import MASK, Secret
from memgrep.config.sections import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memgrep.config.sections import (
        Cache,
        Chunking,
        ExtraPath,
        Flush,
        Local,
        Multimodal,
        Qmd,
        Query,
        Remote,
        Store,
        Sync,
    )
    from memgrep.config.written import Origin

__all__ = ["CustomProvider", "Endpoint", "Row", "Settings"]


class CustomProvider(Section):
    """`models.providers.<id>`, as written."""

    __slots__ = ("api", "api_key", "base_url", "headers", "models")
    api: str | None
    api_key: Secret | None
    base_url: str | None
    headers: Mapping[str, Secret]
    models: tuple[str, ...]


class Endpoint(Section):
    """How to reach one provider, credentials that are not for it already left out.

    `api` is the known provider whose wire format it speaks. `base_url` None = the provider's own.
    `environment_key`: no address was configured, so the requests go to the provider's own host, and the key
    in its usual environment variable may be used.
    """

    __slots__ = ("api", "api_key", "base_url", "environment_key", "headers", "models", "provider")
    api: str
    api_key: Secret | None
    base_url: str | None
    environment_key: bool
    headers: Mapping[str, Secret]
    models: tuple[str, ...]
    provider: str


class Row(Section):
    """One line of `memgrep config show`: a value as plain data, secrets masked, and where it comes from."""

    __slots__ = ("key", "origin", "value")
    key: str
    origin: str
    value: object


# Credentials by their usual names: such a header does not follow a request to another host.
CREDENTIAL_HEADERS = (
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
)


class Settings(Section):
    """All settings of one agent in one workspace."""

    __slots__ = (
        "agent",
        "backend",
        "cache",
        "chunking",
        "citations",
        "document_input_type",
        "enabled",
        "extra_paths",
        "fallback",
        "fallback_problem",
        "flush",
        "ignore",
        "input_type",
        "local",
        "model",
        "multimodal",
        "origins",
        "output_dimensionality",
        "provider",
        "provider_problem",
        "providers",
        "qmd",
        "query",
        "query_input_type",
        "remote",
        "sources",
        "state",
        "store",
        "sync",
        "time_zone",
        "values",
        "warnings",
        "workspace",
    )
    agent: str
    backend: str
    cache: Cache
    chunking: Chunking
    citations: str
    document_input_type: str | None
    enabled: bool
    extra_paths: tuple[ExtraPath, ...]
    fallback: str
    fallback_problem: str | None
    flush: Flush
    ignore: tuple[str, ...]
    input_type: str | None
    local: Local
    model: str | None
    multimodal: Multimodal
    origins: Mapping[str, Origin]
    output_dimensionality: int | None
    provider: str
    provider_problem: str | None
    providers: Mapping[str, CustomProvider]
    qmd: Qmd
    query: Query
    query_input_type: str | None
    remote: Remote
    sources: tuple[str, ...]
    state: str
    store: Store
    sync: Sync
    time_zone: str | None
    values: Mapping[str, object]
    warnings: tuple[str, ...]
    workspace: str

    def origin(self, key: str) -> str:
        """Where a key's value comes from: `memgrep.toml:12`, `MEMGREP_PROVIDER`, `argument` or `default`."""
        if key not in self.values:
            raise KeyError(key)
        return str(self.origins[key]) if key in self.origins else "default"

    def listing(self) -> list[Row]:
        """Every key with its value as plain data (secrets masked) and where it comes from."""
        return [Row(key=key, value=plain(self.values[key]), origin=self.origin(key)) for key in self.values]

    def endpoint(self, provider: str) -> Endpoint:
        """How to reach a provider. `ValueError` if there is none of that name.

        A key goes only to its provider's own host or to the address it was configured with: `remote.*`
        belongs to the provider that is set (openai with `auto`), and a custom `remote.baseUrl` gets no key
        but `remote.apiKey`. Headers are merged, those of `remote` win.
        """
        entry = self.providers.get(provider) or (
            self.providers.get("google") if provider == "gemini" else None
        )
        problem = problem_with(provider, self.providers, self.origins)
        if problem or provider in ("auto", "none"):
            raise ValueError(problem or f'"{provider}" is not an endpoint')
        base_url, api_key = (entry.base_url, entry.api_key) if entry else (None, None)
        headers = dict(entry.headers) if entry else {}
        if provider == ("openai" if self.provider == "auto" else self.provider):
            if self.remote.base_url and self.remote.base_url != base_url:
                base_url, api_key = self.remote.base_url, None
                headers = {
                    name: value for name, value in headers.items() if name.lower() not in CREDENTIAL_HEADERS
                }
            api_key = self.remote.api_key or api_key
            given = {name.lower() for name in self.remote.headers}
            headers = {n: v for n, v in headers.items() if n.lower() not in given} | dict(self.remote.headers)
        return Endpoint(
            api=api_of(provider, self.providers),
            api_key=api_key,
            base_url=base_url,
            environment_key=base_url is None,
            headers=headers,
            models=entry.models if entry else (),
            provider=provider,
        )

    def __repr__(self) -> str:
        return f"Settings(workspace={self.workspace!r}, agent={self.agent!r}, provider={self.provider!r}, …)"


def plain(value: object) -> object:
    """A value as JSON could hold it; secrets as `***` or `env:NAME`."""
    if isinstance(value, Secret):
        return value.shown
    if isinstance(value, Section):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else MASK
