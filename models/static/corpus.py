"""Training text: pairs of texts that belong together, out of freely licensed Debian packages.

usage: corpus.py UNPACKED_DIR PAIRS_TSV

`UNPACKED_DIR` holds one folder per package (`dpkg-deb -x`); the list is in PROVENANCE.md. A pair is a
sentence and the text around it, a heading and what it heads, a word and its definition, or a text and its
translation. None of it comes from an evaluation set.
"""

from __future__ import annotations

import gzip
import html
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

SEED = 20260101
_TAG = re.compile(r"<[^>]+>")
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|(?<=[。！？])")
_BLOCK = re.compile(r"<(p|h[1-4]|li|td)\b([^>]*)>(.*?)</\1>", re.DOTALL)
_ID = re.compile(r'id="([^"]+)"')
_HELP = {"en": "en-US", "de": "de", "fr": "fr", "ja": "ja", "ko": "ko", "zh": "zh-CN"}
_HANDBOOK = {
    "en": "en-US", "de": "de-DE", "fr": "fr-FR", "ja": "ja-JP", "ko": "ko-KR", "zh": "zh-CN", "es": "es-ES",
    "it": "it-IT", "pt": "pt-BR", "nl": "nl-NL", "pl": "pl-PL", "ru": "ru-RU",
}  # fmt: skip
_GUIDE = {
    "en": "en", "de": "de", "fr": "fr", "ja": "ja", "ko": "ko", "zh": "zh_CN", "es": "es", "it": "it",
    "pt": "pt", "nl": "nl", "ru": "ru", "sv": "sv",
}  # fmt: skip

Pair = tuple[str, str, str]
"""Where it comes from, one text, the other."""


def plain(text: str) -> str:
    """`text` in one line."""
    return _SPACE.sub(" ", text).strip()


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, roughly."""
    return [plain(part) for part in _SENTENCE_END.split(text) if plain(part)]


def width(text: str) -> int:
    """Length of a text in columns: a wide character says more than a narrow one."""
    return sum(3 if "\u2e80" <= char <= "\ud7ff" else 1 for char in text)


def cloze(chance: random.Random, source: str, blocks: Sequence[str]) -> Iterator[Pair]:
    """Sentences of a document against the text around them, with the sentence itself left out (mostly)."""
    parts = [sentence for block in blocks for sentence in sentences(block)]
    at = 0
    while at < len(parts):
        size, window = 0, []
        while at < len(parts) and size < chance.choice((300, 700, 1400)):
            window.append(parts[at])
            size += width(parts[at])
            at += 1
        if len(window) < 2:
            continue
        for _ in range(1 + len(window) // 8):
            chosen = chance.randrange(len(window))
            rest = window[:chosen] + window[chosen + 1 :] if chance.random() < 0.8 else window
            if width(window[chosen]) >= 20:
                yield source, window[chosen], " ".join(rest)[:1600]


def page(path: Path) -> list[tuple[str, str, str]]:
    """The blocks of an HTML page: tag, id, text."""
    text = path.read_text("utf-8", "ignore")
    blocks = []
    for tag, attributes, inner in _BLOCK.findall(text):
        found = _ID.search(attributes)
        content = plain(html.unescape(_TAG.sub("", inner)))
        if content:
            blocks.append((tag, found[1] if found else "", content))
    return blocks


def pages(chance: random.Random, roots: dict[str, Path], source: str) -> Iterator[Pair]:
    """A manual in several languages: headings, clozes, and the translations that share an id."""
    original: dict[str, str] = {}
    for language, root in roots.items():
        for path in sorted(root.rglob("*.html")):
            blocks = page(path)
            name = re.sub(r"\.[a-z]{2}(-[A-Z]{2})?\.html$", ".html", str(path.relative_to(root)))
            for _, ident, text in blocks:
                key = f"{name}#{ident}"
                if language == "en" and ident:
                    original[key] = text
                elif ident and width(text) > 20 and original.get(key, text) != text:
                    yield f"{source}-en-{language}", original[key], text
            texts = [text for _, _, text in blocks]
            yield from cloze(chance, f"{source}-{language}", texts)
            for at, (tag, _, text) in enumerate(blocks):
                if tag[0] == "h" and width(text) >= 8:
                    body = [other for kind, _, other in blocks[at + 1 : at + 6] if kind[0] != "h"]
                    if width(" ".join(body)) >= 40:
                        yield f"{source}-{language}", text, " ".join(body)[:1200]


def wordnet(root: Path) -> Iterator[Pair]:
    """Words against their definition, definitions against an example."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (root / f"usr/share/wordnet/data.{part}").read_text("utf-8").splitlines():
            if line.startswith(" "):
                continue
            head, gloss = line.split(" | ", 1)
            fields = head.split()
            names = ", ".join(fields[4 + 2 * n].replace("_", " ") for n in range(int(fields[3], 16)))
            definition, *examples = (piece.strip().strip('"') for piece in gloss.strip().split("; "))
            yield "wordnet", names, definition
            for example in examples[:1]:
                yield "wordnet", example, f"{names}: {definition}"


def dictionary(path: Path) -> Iterator[Pair]:
    """German against English."""
    notes = re.compile(r"\{[^}]*\}|\[[^\]]*\]")
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#") or " :: " not in line:
            continue
        german, english = (notes.sub("", side).split("|") for side in line.split(" :: ", 1))
        for left, right in list(zip(german, english, strict=False))[:3]:
            if plain(left) and plain(right):
                yield "dictionary", plain(left), plain(right)


def manuals(chance: random.Random, language: str, root: Path) -> Iterator[Pair]:
    """Manual pages: clozes of their paragraphs."""
    for path in sorted(root.rglob("man?/*.gz")):
        try:
            text = gzip.decompress(path.read_bytes()).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "zh_TW" in path.parts:
            continue
        yield from cloze(chance, f"man-{language}", list(roff_paragraphs(text)))


def roff_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a manual page without its markup."""
    escapes = re.compile(r"\\[&/,^|~]|\\f(?:\[.*?\]|\(..|.)|\\s[-+]?\d")
    lines: list[str] = []
    for line in [*text.splitlines(), ".PP"]:
        font = re.match(r"\.(?:B|I|BR|IR|RB|RI|SM|Nm|Xr)\s+(.*)", line)
        if font:
            lines.append(font[1].replace('"', ""))
        elif line.startswith((".", "'")):
            if lines:
                yield escapes.sub("", " ".join(lines)).replace("\\-", "-").replace("\\(aq", "'")
            lines = []
        else:
            lines.append(line)


def sayings(chance: random.Random, language: str, root: Path) -> Iterator[Pair]:
    """Quotations, verses and jokes: one part against the rest."""
    for path in sorted((root / "usr/share/games").rglob("*")):
        if path.is_dir() or path.is_symlink() or path.suffix in (".dat", ".u8"):
            continue
        try:
            text = re.sub(r"\x1b\[[0-9;]*m", "", path.read_text("utf-8"))
        except UnicodeDecodeError:
            continue
        for entry in re.split(r"\n%+\n", text):
            yield from cloze(chance, f"sayings-{language}", [entry])


def pairs(root: Path) -> Iterator[Pair]:
    """All pairs, in a fixed order."""
    chance = random.Random(SEED)
    yield from pages(
        chance,
        {k: root / f"libreoffice-help-{v.lower()}/usr/share/libreoffice/help/{v}" for k, v in _HELP.items()},
        "help",
    )
    handbook = root / "debian-handbook/usr/share/doc/debian-handbook/html"
    yield from pages(chance, {k: handbook / v for k, v in _HANDBOOK.items()}, "handbook")
    guide = root / "installation-guide-amd64/usr/share/doc/installation-guide-amd64"
    yield from pages(chance, {k: guide / v for k, v in _GUIDE.items()}, "guide")
    yield from wordnet(root / "wordnet-base")
    yield from dictionary(root / "trans-de-en/usr/share/trans/de-en")
    for language in ("de", "fr", "es", "ja", "zh"):
        yield from manuals(chance, language, root / f"manpages-{language}")
    for language, name in (
        ("en", "fortunes"),
        ("de", "fortunes-de"),
        ("es", "fortunes-es"),
        ("zh", "fortunes-zh"),
    ):
        yield from sayings(chance, language, root / name)


def main() -> None:
    """Write the pairs and print how many there are of each kind."""
    root, target = map(Path, sys.argv[1:])
    seen: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    with target.open("w", encoding="utf-8") as out:
        for source, left, right in pairs(root):
            if left == right or (left, right) in seen:
                continue
            seen.add((left, right))
            counts[source] += 1
            out.write(f"{source}\t{plain(left)}\t{plain(right)}\n")
    for source, count in sorted(counts.items()):
        print(f"{source}\t{count}")


if __name__ == "__main__":
    main()
