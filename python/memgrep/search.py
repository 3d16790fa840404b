"""The read side: a question becomes a vector or none, the core ranks, the answer says how it came about."""

from memgrep.hits import Answer, Explanation, Hit, cite
from memgrep.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from memgrep import _core
    from memgrep.config import Settings
    from memgrep.embeddings import Embedder

__all__ = [
    "CORPORA",
    "MAX_RESULTS",
    "SOURCES",
    "Filter",
    "ask",
    "check_question",
    "read_filter",
    "today",
    "unavailable",
]

MAX_RESULTS = 2000
"""The most hits one search gives."""

CORPORA = {"memory": ("memory", "extra"), "sessions": ("sessions",), "all": ("memory", "extra", "sessions")}
"""What `corpus` means in sources."""

SOURCES = CORPORA["all"]
"""Where a note can come from."""


class Filter(Record):
    """Which notes may answer: days since 1970-01-01, both included, and a pattern for paths; None is no filter."""

    since: int | None = None
    until: int | None = None
    path: str | None = None


EVERY_NOTE = Filter()


def check_question(
    query: object, max_results: object, min_score: object, corpus: object, source: object = None
) -> None:
    """A `ValueError` that names the argument and what is allowed (F136); None always means the setting."""
    if not isinstance(query, str):
        raise ValueError(f"query must be a text, not {query!r}")
    whole = isinstance(max_results, int) and not isinstance(max_results, bool)
    if max_results is not None and not (whole and 1 <= max_results <= MAX_RESULTS):  # type: ignore[operator]  # a number, just checked
        raise ValueError(f"maxResults must be a whole number from 1 to {MAX_RESULTS}, not {max_results!r}")
    number = isinstance(min_score, int | float) and not isinstance(min_score, bool)
    if min_score is not None and not (number and 0 <= min_score <= 1):  # type: ignore[operator]  # a number, just checked
        raise ValueError(f"minScore must be a number from 0 to 1, not {min_score!r}")
    if corpus is not None and corpus not in CORPORA:
        raise ValueError(f"corpus must be one of {', '.join(CORPORA)}, not {corpus!r}")
    if source is not None and source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, not {source!r}")
    if corpus is not None and source is not None and source not in CORPORA[str(corpus)]:
        raise ValueError(f"source {source} is not in corpus {corpus}; leave corpus out")


def read_filter(since: "str | date | None", until: "str | date | None", path: str | None) -> Filter:
    """The arguments of a search as a filter; a `ValueError` names the one that cannot be meant."""
    first, last = _day("since", since), _day("until", until)
    if first is not None and last is not None and first > last:
        raise ValueError(f"since {since} is later than until {until}; swap them")
    if path is not None and not (isinstance(path, str) and path.strip()):
        raise ValueError(
            f"path must be a folder, a note or a glob such as memory/projects or memory/**/2026-*.md, not {path!r}"
        )
    # As in a question: half of a surrogate pair is in no path.
    return Filter(since=first, until=last, path=path and path.encode("utf-8", "replace").decode())


def _day(name: str, value: "str | date | None") -> int | None:
    """Days since 1970-01-01."""
    if value is None:
        return None
    from datetime import date

    text = str(value)
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    # The standard library reads 20260301 and 2026-W09-7 too.
    if day is None or day.isoformat() != text:
        raise ValueError(f"{name} must be a day such as 2026-03-01, not {value!r}")
    return day.toordinal() - 719_163


def today(time_zone: str | None, now: float | None = None) -> int:
    """Days since 1970-01-01 where the user is: a note of today is zero days old there (F037).

    `time_zone` is a name such as Asia/Shanghai, None the system's. `now`: seconds since 1970 in UTC.
    """
    import time

    if now is None:
        now = time.time()
    if time_zone is None:
        offset = float(time.localtime(now).tm_gmtoff)
    else:
        from datetime import datetime
        from zoneinfo import ZoneInfo

        shift = datetime.fromtimestamp(now, ZoneInfo(time_zone)).utcoffset()
        offset = shift.total_seconds() if shift is not None else 0.0
    return int((now + offset) // 86_400)


def unavailable(error: str, action: str, settings: "Settings | None" = None) -> Answer:
    """The question could not be asked as configured: nothing is presented as a result."""
    return Answer(
        unavailable=True,
        error=error,
        action=action,
        provider=settings.provider if settings else "none",
        citations=settings.citations if settings else "auto",
    )


def ask(
    index: "_core.Index",
    settings: "Settings",
    query: str,
    *,
    embedder: "Embedder | None",
    today: int,
    sources: "Sequence[str]",
    only: Filter = EVERY_NOTE,
    max_results: int | None = None,
    min_score: float | None = None,
    cited: bool = False,
    catch_up: "Callable[[], bool] | None" = None,
    vectors: "dict[str, bytes | None] | None" = None,
) -> Answer:
    """One question, one crossing into the core. `sources` and `only` say which notes may answer.

    `catch_up` is called when chunks have no vector yet; if it says that it made some, the question is asked
    once more. `vectors` keeps the question's vectors by fingerprint: a question that is asked again is embedded
    once.

    Raises `ProviderError` when the question could not be embedded: what follows from that is not decided
    here.
    """
    # Half of a surrogate pair cannot be in a note either, and must not stop a search.
    query = query.encode("utf-8", "replace").decode()
    hybrid = settings.query.hybrid
    vectors = {} if vectors is None else vectors
    if embedder is not None and embedder.fingerprint not in vectors:
        vectors[embedder.fingerprint] = embedder.embed_query(query)
    vector = vectors[embedder.fingerprint] if embedder is not None else None
    weights = (hybrid.vector_weight, hybrid.text_weight)
    if not hybrid.enabled and vector is not None:
        weights = (1.0, 0.0)

    def searched() -> "_core.SearchResult":
        return index.search(
            query,
            vector,
            today=today,
            max_results=max_results or settings.query.max_results,
            min_score=settings.query.min_score if min_score is None else min_score,
            sources=sources,
            since=only.since,
            until=only.until,
            path=only.path,
            fusion=hybrid.fusion,
            encoder=embedder is None or embedder.provider != "static",
            vector_weight=weights[0],
            text_weight=weights[1],
            temporal=settings.query.temporal,
            decay=hybrid.temporal_decay.mode,
            half_life_days=hybrid.temporal_decay.half_life_days,
            decay_floor=hybrid.temporal_decay.floor,
            extra_fades=hybrid.temporal_decay.extra_paths == "mtime",
            candidate_multiplier=hybrid.candidate_multiplier,
            mmr_lambda=hybrid.mmr.lambda_ if hybrid.mmr.enabled else None,
        )

    found = searched()
    if catch_up is not None and found.pending and catch_up():
        found = searched()
    return Answer(
        hits=tuple(_hit(hit, cited) for hit in found.hits),
        provider=embedder.provider if embedder is not None else "none",
        model=embedder.model if embedder is not None else None,
        mode=("hybrid" if hybrid.enabled else "vector") if found.vectors_used else "keyword",
        citations=settings.citations,
        warning=_missing(found, embedder, index.read_only),
    )


def _missing(found: "_core.SearchResult", embedder: "Embedder | None", read_only: bool) -> str | None:
    """What the answer could not take into account, and what helps if anything does."""
    if found.chunks == 0:
        return "index empty"
    if embedder is None:
        return None
    name = f"{embedder.provider} ({embedder.model})"
    if found.pending:
        advice = "" if read_only else "; run memgrep index"
        if found.vectors == 0:
            return f"found by words only: the index has no vectors of {name} yet{advice}"
        return f"{found.pending} texts have no vector of {name} yet{advice}"
    # What the built-in model knows no word of has no vector and never will.
    if found.refused and embedder.provider != "static":
        return f"{found.refused} texts were refused by {name}; memgrep status tells why"
    return None


def _hit(hit: "_core.Hit", cited: bool) -> Hit:
    why = hit.explanation
    return Hit(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=hit.score,
        vector_score=why.vector_score,
        text_score=why.text_score if why.lexical_rank is not None or why.text_score > 0 else None,
        snippet=hit.snippet,
        source=hit.source,
        citation=cite(hit.path, hit.start_line, hit.end_line) if cited else None,
        importance=hit.importance,
        context=hit.context,
        matches=tuple(hit.matches),
        absolute_path=hit.absolute_path,
        chunk_lines=(hit.chunk_start_line, hit.chunk_end_line),
        explanation=Explanation(**{name: getattr(why, name) for name in Explanation.__annotations__}),
    )
