"""How answers look to a person: search hits, pages, reports, status. JSON is made elsewhere."""

from memgrep.hits import cite
from memgrep.printable import json_line, one_line
from memgrep.terminal import Style, marked, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memgrep.config import Row
    from memgrep.hits import Answer, Explanation
    from memgrep.sync import Report

__all__ = ["found", "report", "settings", "status", "why"]


def found(answer: "Answer", style: Style, *, explain: bool = False) -> str:
    """Hits, one paragraph each: where, how good, the lines with their matches marked."""
    parts = []
    for hit in answer.hits:
        place = one_line(cite(hit.path, hit.start_line, hit.end_line))
        head = f"{style.bold(place)}  {style.dim(f'{hit.score:.3f}')}"
        if hit.context:
            head += f"  {style.dim(one_line(hit.context))}"
        body = marked(hit.snippet.rstrip("\n"), hit.matches, style)
        parts.append(f"{head}\n{body}\n")
        if explain and hit.explanation is not None:
            parts.append(f"{why(hit.explanation)}\n")
    return "\n".join(parts)


def why(factors: "Explanation") -> str:
    """The factors of one score as a small table: two signals, then what they are multiplied by."""
    rows = [
        ("", "raw", "rank", "score", "weight"),
        (
            "words",
            f"{factors.bm25:.3f}",
            _rank(factors.lexical_rank),
            f"{factors.text_score:.3f}",
            f"{factors.text_weight:.2f}",
        ),
        (
            "meaning",
            "-" if factors.cosine is None else f"{factors.cosine:.3f}",
            _rank(factors.vector_rank),
            "-" if factors.vector_score is None else f"{factors.vector_score:.3f}",
            f"{factors.vector_weight:.2f}",
        ),
    ]
    product = f"merged {factors.merged:.3f} × decay {factors.decay:.3f} × importance {factors.importance:.3f}"
    extras = [f"lifted by its day {factors.temporal:.3f}"] if factors.temporal else []
    extras += [f"recency {factors.recency:.3f}"] if factors.recency != 1 else []
    extras += [f"file name: {factors.path_match}"] if factors.path_match != "none" else []
    extras += [f"diversity penalty {factors.mmr_penalty:.3f}"] if factors.mmr_penalty else []
    return "\n".join([table(rows, indent="  "), "  " + "; ".join([product, *extras])])


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def report(done: "Report") -> str:
    """What `index` did, exact in every number (F061)."""
    changes = f"{done.added} added, {done.changed} changed, {done.removed} removed"
    lines = [f"notes: {done.files} in the index ({changes}), {done.chunks} chunks, {done.seconds:.1f} s"]
    if done.provider != "none" or done.pending or done.failed:
        model = one_line(f" by {done.provider}/{done.model}") if done.model else ""
        missing = f", {done.pending} not tried" if done.pending else ""
        lines.append(f"vectors: {done.vectors} done, {done.failed} failed{missing}{model}")
    if done.skipped or done.ignored:
        ignored = f", {done.ignored} ignored" if done.ignored else ""
        lines.append(f"skipped: {len(done.skipped)}{ignored}; memgrep status tells why")
    return "\n".join(lines)


def status(seen: "dict[str, Any]", style: Style) -> str:
    """The status as a table; what needs attention comes last."""
    rows = [(label, one_line(text)) for label, text in _facts(seen)]
    lines = [table(rows)]
    for label, entries in (("skipped", seen["skipped"]), ("unreachable", seen["unreachable"])):
        lines += [one_line(f"{label}: {one['path']}: {one['reason']}") for one in entries]
    lines += [style.red("warning: ") + one_line(text) for text in seen["warnings"]]
    if seen["lastError"]:
        lines.append(style.red("error: ") + one_line(seen["lastError"]))
    return "\n".join(lines)


def _facts(seen: "dict[str, Any]") -> "Iterator[tuple[str, str]]":
    provider, store = seen["provider"], seen["store"]
    yield "workspace", seen["workspace"]
    yield "agent", seen["agent"] + ("" if seen["enabled"] else " (memory search is switched off)")
    yield "backend", seen["backend"]
    eligible = "?" if seen["eligible"] is None else seen["eligible"]
    ignored = f", {seen['ignored']} ignored" if seen["ignored"] else ""
    yield "notes", f"{seen['files']} of {eligible} indexed, {seen['chunks']} chunks{ignored}"
    if seen["dirty"] is not None:
        changes = ", ".join(f"{number} {what}" for what, number in seen["changes"].items() if number)
        advice = "" if store["readOnly"] else "; memgrep index takes them in"
        yield "dirty", f"yes: {changes}{advice}" if seen["dirty"] else "no"
    used = provider["used"] + (f", {provider['model']}" if provider["model"] else "")
    used += f", {provider['dimensions']} dimensions" if provider["dimensions"] else ""
    yield (
        "provider",
        used
        + (f" (asked for: {provider['requested']})" if provider["requested"] != provider["used"] else ""),
    )
    if provider.get("why"):
        yield "because", provider["why"]
    if provider.get("error"):
        yield "provider error", provider["error"]
    if "probe" in provider:
        yield "provider answers", "yes" if provider["probe"]["ok"] else "no"
    failed = f", {seen['failed']} failed" if seen["failed"] else ""
    yield "vectors", f"{seen['vectors']}, {seen['pending']} missing{failed}"
    for failure in seen["failures"]:
        yield "failed", f"{failure['count']}: {failure['reason']}"
    yield "store", store["path"]
    if "bytes" in store:
        yield "sizes", ", ".join(f"{name} {size(number)}" for name, number in store["bytes"].items())
    if seen["lastSync"]:
        yield "last sync", seen["lastSync"]
    if not seen["vectors"] and used != "none":
        for kept in store.get("fingerprints", []):
            if kept["vectors"]:
                dims, name = kept["dimensions"], kept["name"]
                yield (
                    "other vectors",
                    f"{kept['vectors']} of {name}, {dims} dimensions; memgrep index embeds anew",
                )


def settings(rows: "list[Row]") -> str:
    """Every setting: name, value, where it comes from."""
    return table([(one_line(row.key), json_line(row.value), one_line(row.origin)) for row in rows])
