"""The core: text and numbers in, ranked hits out. Every method that works lets go of the GIL."""

from collections.abc import Callable, Sequence
from typing import final

__all__ = [
    "CoreError",
    "Explanation",
    "Hit",
    "Index",
    "SearchResult",
    "StaticModel",
    "SyncReport",
    "parse_settings",
]

_Node = tuple[int, object]

class CoreError(Exception):
    """Something failed below the binding. `kind` is one of io, store, damaged, read-only, foreign, locked,
    derived, model, interrupted."""

    @property
    def kind(self) -> str: ...

def parse_settings(text: str, form: str) -> _Node: ...

@final
class StaticModel:
    def __new__(cls, path: str) -> StaticModel: ...
    @property
    def dims(self) -> int: ...
    @property
    def id(self) -> str: ...
    def embed(self, text: str) -> bytes | None: ...

@final
class SyncReport:
    """What a sync (or, with dry_run, a look) found."""

    @property
    def files(self) -> int: ...  # eligible files on disk
    @property
    def added(self) -> list[str]: ...
    @property
    def changed(self) -> list[str]: ...
    @property
    def removed(self) -> list[str]: ...
    @property
    def changed_bytes(self) -> int: ...  # of added and changed files
    @property
    def chunks(self) -> int: ...  # in the store afterwards
    @property
    def skipped(self) -> list[tuple[str, str]]: ...  # path, reason
    @property
    def ignored(self) -> int: ...
    @property
    def unreachable(self) -> list[tuple[str, str]]: ...
    @property
    def unknown(self) -> list[str]: ...  # of `only`: no notes, neither on disk nor in the index
    @property
    def warnings(self) -> list[tuple[str, str]]: ...  # path, text (lenient decoding, junk importance)
    @property
    def generation(self) -> int: ...
    @property
    def recovered(self) -> bool: ...  # the store was damaged and made anew

@final
class Explanation:
    @property
    def bm25(self) -> float: ...
    @property
    def cosine(self) -> float | None: ...
    @property
    def lexical_rank(self) -> int | None: ...
    @property
    def vector_rank(self) -> int | None: ...
    @property
    def text_score(self) -> float: ...
    @property
    def vector_score(self) -> float | None: ...
    @property
    def text_weight(self) -> float: ...
    @property
    def vector_weight(self) -> float: ...
    @property
    def merged(self) -> float: ...
    @property
    def temporal(self) -> float: ...  # the way to 1 that its day takes the shown score
    @property
    def decay(self) -> float: ...
    @property
    def importance(self) -> float: ...
    @property
    def recency(self) -> float: ...  # 1 unless it traded places with an equal hit
    @property
    def path_match(self) -> str: ...  # none, stem, name, path
    @property
    def mmr_penalty(self) -> float: ...

@final
class Hit:
    @property
    def path(self) -> str: ...
    @property
    def absolute_path(self) -> str: ...
    @property
    def source(self) -> str: ...  # memory, sessions, extra
    @property
    def start_line(self) -> int: ...  # of the snippet
    @property
    def end_line(self) -> int: ...
    @property
    def chunk_start_line(self) -> int: ...
    @property
    def chunk_end_line(self) -> int: ...
    @property
    def score(self) -> float: ...
    @property
    def snippet(self) -> str: ...
    @property
    def matches(self) -> list[tuple[int, int]]: ...  # character ranges in the snippet
    @property
    def context(self) -> str: ...
    @property
    def importance(self) -> int | None: ...
    @property
    def explanation(self) -> Explanation: ...

@final
class SearchResult:
    @property
    def hits(self) -> list[Hit]: ...
    @property
    def chunks(self) -> int: ...  # in the store
    @property
    def vectors(self) -> int: ...  # chunks with a vector of the selected fingerprint
    @property
    def pending(self) -> int: ...  # texts whose vector is still to be made
    @property
    def refused(self) -> int: ...  # texts that were refused
    @property
    def generation(self) -> int: ...
    @property
    def vectors_used(self) -> bool: ...
    @property
    def lagging(self) -> bool: ...  # the keyword index is older than the store

@final
class Index:
    """One store and its derived indexes. May be shared by threads; not across fork."""

    def __new__(cls, path: str, *, read_only: bool = False, engine: str = "exact") -> Index: ...
    @property
    def path(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    def sync(
        self,
        workspace: str,
        extra: Sequence[tuple[str, str | None]],
        *,
        tokens: int,
        overlap: int,
        max_file_bytes: int,
        ignore: Sequence[str],
        only: Sequence[str] | None = None,
        verify: bool = False,
        rebuild: bool = False,
        dry_run: bool = False,
        wait_ms: int = 10_000,
        now_ns: int | None = None,
        progress: Callable[[str, int, int], bool | None] | None = None,
    ) -> SyncReport:
        """Bring text and keywords in line with the files. dry_run: only look (no lock, nothing written).

        progress(stage, done, total) is called now and then; returning False (or raising) interrupts, what is done stays.
        """
    def select_fingerprint(self, fingerprint: str | None) -> None:
        """Which vectors count from now on (None: no vectors). Vectors of other fingerprints stay in the store."""
    def pending(self, limit: int) -> list[tuple[bytes, str]]:
        """Texts (hash, text to embed) of live chunks without a vector of the selected fingerprint, failures that wait left out."""
    def pending_count(self) -> int: ...
    def failed_count(self) -> int: ...
    def put_vectors(self, hashes: Sequence[bytes], vectors: bytes, dims: int) -> None:
        """Stores packed little-endian f32 vectors, len(hashes) * dims * 4 bytes, in one transaction."""
    def put_failures(self, hashes: Sequence[bytes], reason: str) -> None:
        """Remembers texts a provider refused; they are not pending again until their text or the fingerprint changes or retry_failures()."""
    def retry_failures(self) -> int: ...
    def embed_pending(
        self, model: StaticModel, *, progress: Callable[[str, int, int], bool | None] | None = None
    ) -> int:
        """Embeds everything pending with the static model inside the core; how many."""
    def publish(self, *, wait_ms: int = 10_000) -> int:
        """Brings the derived indexes in line with the store (done by sync as well); the generation."""
    def search(
        self,
        query: str,
        vector: bytes | None,
        *,
        today: int,
        max_results: int = 6,
        min_score: float = 0.35,
        sources: Sequence[str] | None = None,
        since: int | None = None,
        until: int | None = None,
        path: str | None = None,
        fusion: str = "absolute",
        encoder: bool = True,
        vector_weight: float | None = None,
        text_weight: float | None = None,
        temporal: bool = True,
        decay: str = "auto",
        half_life_days: float = 30.0,
        decay_floor: float | None = None,
        extra_fades: bool = False,
        mmr_lambda: float | None = ...,
        candidate_multiplier: int = 4,
        snippet_chars: int = 700,
    ) -> SearchResult:
        """today: days since 1970-01-01 in the user's time zone. vector: packed f32 of the query, or None: by words only.

        encoder: the vectors come from a model that reads texts as a whole; false for a table of tokens, which counts less
        where the weights are not set.
        since, until: days, both included; notes without a day are left out. path: a folder, a note or a glob.
        temporal: whether the time a question names counts.
        """
    def status(self) -> dict[str, object]:
        """files, chunks, vectors, pending, failed, generation, fingerprint, engine, dims, sizes in bytes, cache, last_sync."""
    def files(self) -> list[tuple[str, str, int]]:
        """(path, source, chunks) of every indexed note."""
    def trim_cache(self, max_entries: int) -> int:
        """Drops the least recently used vectors that no live chunk needs, beyond max_entries; how many."""
    def verify(self) -> list[str]:
        """Checks the store and the derived indexes; a line for everything wrong."""
    def close(self) -> None: ...
    def __enter__(self) -> Index: ...
    def __exit__(self, *exc: object) -> None: ...
