"""Arms: the settings that are compared."""

from __future__ import annotations

import re

from memgrep.config import read_text
from memgrep.records import Record

__all__ = ["ARMS", "Arm", "arm"]

_PLAIN: dict[str, object] = {
    "query.hybrid.enabled": True,
    "query.hybrid.mmr.enabled": False,
    "query.hybrid.temporalDecay.enabled": False,
}
_DECAY = {**_PLAIN, "query.hybrid.temporalDecay.enabled": "auto"}


class Arm(Record):
    """One way to search: settings by key, which win over all others. `meaning`: it cannot do without vectors."""

    name: str
    settings: dict[str, object]
    meaning: bool = True

    @property
    def by_words(self) -> bool:
        return self.settings.get("provider") == "none"


_KNOWN = (
    Arm(name="keyword", settings={**_PLAIN, "provider": "none"}, meaning=False),
    Arm(name="vector", settings={**_PLAIN, "query.hybrid.enabled": False}),
    Arm(name="hybrid", settings=_PLAIN),
    Arm(name="+decay", settings=_DECAY),
    Arm(name="+MMR", settings={**_DECAY, "query.hybrid.mmr.enabled": True}),
    Arm(name="settings", settings={}, meaning=False),
)

ARMS: dict[str, Arm] = {one.name: one for one in _KNOWN}
"""The arms that have a name. `+decay` adds to `hybrid` and `+MMR` to `+decay`; `settings` is as the user has it."""


def arm(written: str) -> Arm:
    """An arm by its name, which settings may follow: `hybrid,query.hybrid.mmr.enabled=true`.

    Raises `ValueError` for a name that there is not, `ConfigError` for a value that cannot be read.
    """
    name, *more = re.split(r",(?=[\w.]+=)", written)
    if name not in ARMS:
        raise ValueError(f"{name}: no such arm; there are {', '.join(ARMS)}")
    settings = {}
    for one in more:
        key, _, value = one.partition("=")
        settings[key] = read_text(key, value)
    return ARMS[name].replace(name=written, settings={**ARMS[name].settings, **settings})
