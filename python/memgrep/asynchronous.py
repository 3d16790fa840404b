"""`AsyncMemory`: the same memory for programs that must not block."""

import asyncio

from memgrep.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from memgrep.config import Settings
    from memgrep.files import Page
    from memgrep.hits import Answer
    from memgrep.sync import Report

__all__ = ["AsyncMemory"]


class AsyncMemory:
    """`Memory` with the same names, each call on a thread of its own. `sync` is the memory itself."""

    def __init__(self, *args: "Any", **options: "Any") -> None:
        self.sync = Memory(*args, **options)

    @property
    def settings(self) -> "Settings":
        """The settings in use."""
        return self.sync.settings

    async def search(self, query: str, **options: "Any") -> "Answer":
        """See `Memory.search`."""
        return await asyncio.to_thread(self.sync.search, query, **options)

    async def get(self, path: str, **options: "Any") -> "Page":
        """See `Memory.get`."""
        return await asyncio.to_thread(self.sync.get, path, **options)

    async def index(self, **options: "Any") -> "Report":
        """See `Memory.index`."""
        return await asyncio.to_thread(self.sync.index, **options)

    async def notes(self) -> "tuple[str, ...]":
        """See `Memory.notes`."""
        return await asyncio.to_thread(self.sync.notes)

    async def status(self, **options: "Any") -> "dict[str, Any]":
        """See `Memory.status`."""
        return await asyncio.to_thread(self.sync.status, **options)

    async def close(self) -> None:
        """See `Memory.close`."""
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> "Self":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()
