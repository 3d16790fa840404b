"""Who embeds: chosen once, remembered while it does not answer, and what is used instead.

The choice itself is made in `embeddings`; here stands what a memory does with it.
"""

import threading

from memgrep.errors import (
    ProviderError,
    ProviderRateLimited,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memgrep.config import Settings
    from memgrep.embeddings import Embedder

__all__ = ["Provider"]

# One that did not answer is not asked again by every search: seconds.
_COOL_DOWN = 30.0


class Provider:
    """The embedder of some settings. Shared by threads."""

    def __init__(self, settings: "Settings", given: "Embedder | None" = None) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._given = given
        self._chosen: Embedder | None = given
        self._fallback: Embedder | None = None
        self._asked = given is not None
        self._down: tuple[float, ProviderError] | None = None
        self.why = "given by the caller" if given is not None else ""

    @property
    def requested(self) -> str:
        """What was asked for: a provider's name, `auto` or `none`."""
        return self._given.provider if self._given is not None else self._settings.provider

    @property
    def named(self) -> bool:
        """Whether the user asked for this very provider: then its failure is shown, not worked around."""
        return self.requested not in ("auto", "none")

    def embedder(self) -> "Embedder | None":
        """The embedder, or None for words only.

        Raises `ProviderError` when it cannot be set up, and for a while after it did not answer.
        """
        self._raise_while_down()
        with self._lock:
            if not self._asked:
                self._chosen = self._choose(self._settings.provider, self._settings.provider_problem)
                self._asked = True
            return self._chosen

    def fallback(self) -> "Embedder | None":
        """What is used when the first one fails, as configured; None if nothing is, or that fails as well."""
        name = self._settings.fallback
        if name == "none" or self._given is not None:
            return None
        with self._lock:
            if self._fallback is None:
                try:
                    self._fallback = self._choose(name, self._settings.fallback_problem)
                except ProviderError:
                    return None
            return self._fallback

    def failed(self, error: ProviderError) -> None:
        """Remembers that it did not answer. Not so a refused key: setting it right must help at once."""
        if isinstance(error, ProviderUnavailable | ProviderTimeout | ProviderRateLimited):
            import time

            self._down = (time.monotonic() + _COOL_DOWN, error)

    def close(self) -> None:
        """Lets go of connections and models that were not given from outside."""
        with self._lock:
            for embedder in (self._chosen, self._fallback):
                if embedder is not None and embedder is not self._given:
                    embedder.close()
            self._chosen, self._fallback, self._asked = self._given, None, self._given is not None

    def _choose(self, name: str, problem: str | None) -> "Embedder | None":
        if name == "none" or not self._settings.store.vector.enabled:
            self.why = "words only, as configured"
            return None
        if problem is not None:
            raise ProviderUnknown(name, problem)
        from memgrep.embeddings import choose

        chosen = choose(self._settings, name)
        self.why = chosen.reason
        return chosen.embedder

    def _raise_while_down(self) -> None:
        if self._down is not None:
            import time

            until, error = self._down
            if time.monotonic() < until:
                raise error
            self._down = None
