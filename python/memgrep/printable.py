"""What is safe to print: text of notes and names of files are untrusted, and a terminal obeys control characters.

An escape sequence in a note must not repaint the screen or set the title, a direction mark must not turn a line
around, and a line break in a file's name must not begin a message of its own.
"""

__all__ = ["harmless", "json_line", "one_line"]

_C1 = range(0x80, 0xA0)
# Unicode's property Bidi_Control.
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_BREAKS = (0x2028, 0x2029)

# C0 controls and DEL have pictures, the others have none.
_PICTURES: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_PICTURES |= dict.fromkeys([*_C1, *_DIRECTIONS], "\ufffd")
_IN_LINE = _PICTURES | dict.fromkeys(_BREAKS, "\ufffd")
_IN_TEXT = {code: sign for code, sign in _PICTURES.items() if code not in (0x09, 0x0A)}
_IN_JSON = {code: f"\\u{code:04x}" for code in (0x7F, *_C1, *_DIRECTIONS, *_BREAKS)}


def harmless(text: str) -> str:
    """`text` with everything a terminal would obey made visible; same length, so ranges in it still fit.

    Line breaks and tabs stay.
    """
    return text.translate(_IN_TEXT)


def one_line(text: str) -> str:
    """The same for paths and messages, where line breaks and tabs do not stay either."""
    return text.translate(_IN_LINE)


def json_line(document: object) -> str:
    """A document as one line of JSON, controls escaped: read back, it is the same text."""
    import json

    return json.dumps(document, ensure_ascii=False).translate(_IN_JSON)
