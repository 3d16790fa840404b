//! From the bytes of a file to the text of a note, and the annotations its entries carry.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// How the bytes became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// Valid UTF-8 (a byte order mark is skipped).
    Utf8,
    /// Not valid UTF-8: read as Windows-1252 where that gives words, with replacement characters otherwise.
    Lenient,
}

/// The text of one note.
#[derive(Debug, Clone)]
pub struct Note {
    /// The text, without a byte order mark; NUL bytes are kept as they are in the file and never indexed.
    pub text: String,
    /// How it was read.
    pub decoding: Decoding,
}

/// Reads a note leniently: every file has a text, and nothing readable is lost.
///
/// UTF-8 is taken as it is. UTF-16 is read where its byte order mark says so. In any other file the parts that are
/// UTF-8 stay, and the bytes between them are read as Windows-1252.
pub fn decode(mut bytes: Vec<u8>) -> Note {
    match bytes.as_slice() {
        [0xEF, 0xBB, 0xBF, ..] => drop(bytes.drain(..3)),
        [0xFF, 0xFE, rest @ ..] => return lenient(utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => return lenient(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    match String::from_utf8(bytes) {
        Ok(text) => Note { text, decoding: Decoding::Utf8 },
        Err(error) => lenient(patched(error.as_bytes())),
    }
}

fn lenient(text: String) -> Note {
    Note { text, decoding: Decoding::Lenient }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks(2).map(|pair| unit([pair[0], pair.get(1).copied().unwrap_or(0)]));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// What is UTF-8 stays; the rest is read byte by byte.
///
/// Two or three bytes that begin a UTF-8 character are the stump of one where the file has other such characters,
/// and Windows-1252 letters where it has none.
fn patched(bytes: &[u8]) -> String {
    let has_utf8 = bytes.utf8_chunks().any(|part| !part.valid().is_ascii());
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for part in bytes.utf8_chunks() {
        text.push_str(part.valid());
        match part.invalid() {
            [_, _, ..] if has_utf8 => text.push(char::REPLACEMENT_CHARACTER),
            bytes => text.extend(bytes.iter().map(|&byte| windows_1252(byte))),
        }
    }
    text
}

/// Windows-1252 differs from Latin-1 in 0x80..=0x9F only.
fn windows_1252(byte: u8) -> char {
    const C1: [char; 32] = [
        '€', '\u{FFFD}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{FFFD}', 'Ž', '\u{FFFD}',
        '\u{FFFD}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{FFFD}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => C1[usize::from(byte) - 0x80],
        _ => char::from(byte),
    }
}

/// What [`Annotations::project`] holds when a project annotation cannot be read: the entry belongs to some project,
/// nobody knows to which. No readable key looks like this.
pub const UNREADABLE_PROJECT: &str = "<unreadable>";

/// What an entry's HTML comments say. See `openclaw.md` section 5.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// 1..=10; `None` when absent or unreadable.
    pub importance: Option<u8>,
    /// Trigger phrases in the order written, distinct.
    pub triggers: Vec<String>,
    /// Project keys, joined by `; `; [`UNREADABLE_PROJECT`] when one of them cannot be read.
    pub project: Option<String>,
    /// Importance marks that could not be read, as written (for a warning).
    pub junk: Vec<String>,
}

/// The annotations on the lines of `text`. `curated`: importance and triggers count (root files only).
///
/// An annotation counts when nothing but comments follows on its line. Of several importances the largest counts.
/// Code (fences, inline) says nothing.
pub fn annotations(text: &str, curated: bool) -> Annotations {
    let mut found = Annotations::default();
    let mut projects: Vec<String> = Vec::new();
    for_each_line_with_comments(text, &mut |_, line, comments| {
        if !line.trim_end().ends_with("-->") {
            return;
        }
        for comment in comments {
            match comment.kind {
                Kind::Importance if curated => match importance(comment.value) {
                    Some(value) => found.importance = found.importance.max(Some(value)),
                    None => found.junk.push(comment.value.to_owned()),
                },
                Kind::Trigger if curated => {
                    push_distinct(&mut found.triggers, comment.value.split([',', ';']), str::to_owned);
                }
                Kind::Project => push_distinct(&mut projects, comment.value.split(';'), project_key),
                Kind::Importance | Kind::Trigger => {}
            }
        }
    });
    found.project = match projects.iter().any(|key| key == UNREADABLE_PROJECT) {
        true => Some(UNREADABLE_PROJECT.to_owned()),
        false => (!projects.is_empty()).then(|| projects.join("; ")),
    };
    found
}

/// Only whole numbers in digits from 1 to 10 are an importance.
fn importance(value: &str) -> Option<u8> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|number| digits && (1..=10).contains(number))
}

/// A key's host is compared without case; what follows its first slash, and a `path:` key, keep theirs.
fn project_key(key: &str) -> String {
    if key.contains(|char: char| matches!(char, '<' | '>') || char.is_control()) {
        return UNREADABLE_PROJECT.to_owned();
    }
    if key.starts_with("path:") {
        return key.to_owned();
    }
    let (host, path) = key.split_at(key.find('/').unwrap_or(key.len()));
    host.to_lowercase() + path
}

fn push_distinct<'a>(
    list: &mut Vec<String>,
    parts: impl Iterator<Item = &'a str>,
    owned: fn(&str) -> String,
) {
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let part = owned(part);
        if !list.contains(&part) {
            list.push(part);
        }
    }
}

/// `text` without its annotation comments, NULs and zero-width marks untouched otherwise; line breaks stay, so line numbers do not shift.
/// Borrows when there is nothing to take out.
///
/// Blanks before a line's end go with the comment. Code keeps its comments, and so does everything that is no annotation.
pub fn plain(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut done = 0;
    for_each_line_with_comments(text, &mut |start, line, comments| {
        for comment in comments {
            kept.push_str(&text[done..start + comment.range.start]);
            done = start + comment.range.end;
        }
        kept.push_str(&text[done..start + line.len()]);
        kept.truncate(kept.trim_end_matches([' ', '\t']).len());
        done = start + line.len();
    });
    if done == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[done..]);
    Cow::Owned(kept)
}

enum Kind {
    Importance,
    Trigger,
    Project,
}

struct Comment<'a> {
    /// Where it stands in its line, marks included.
    range: Range<usize>,
    kind: Kind,
    /// What follows the colon, trimmed.
    value: &'a str,
}

/// Calls `sink` with every line that has annotations outside of code: its first byte, the line without its line end, those.
fn for_each_line_with_comments<'a>(text: &'a str, sink: &mut dyn FnMut(usize, &'a str, &[Comment<'a>])) {
    if memmem::find(text.as_bytes(), b"<!--").is_none() {
        return;
    }
    let mut fence: Option<Fence> = None;
    let mut comments = Vec::new();
    let mut next = 0;
    for line in text.split('\n') {
        let start = next;
        next += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if Fence::step(&mut fence, line) {
            continue;
        }
        comments.clear();
        comments_of(line, &mut comments);
        if !comments.is_empty() {
            sink(start, line, &comments);
        }
    }
}

fn comments_of<'a>(line: &'a str, comments: &mut Vec<Comment<'a>>) {
    let mut from = 0;
    while let Some(start) = memmem::find(&line.as_bytes()[from..], b"<!--").map(|at| from + at) {
        let Some(end) = line[start + 4..].find("-->").map(|at| start + 4 + at + 3) else {
            return;
        };
        let inline_code = line[..start].ends_with('`') && line[end..].starts_with('`');
        if !inline_code && let Some((kind, value)) = annotation(&line[start + 4..end - 3]) {
            comments.push(Comment { range: start..end, kind, value });
        }
        from = end;
    }
}

fn annotation(inside: &str) -> Option<(Kind, &str)> {
    let (name, value) = inside.split_once(':')?;
    let kind = match name.trim() {
        name if name.eq_ignore_ascii_case("importance") => Kind::Importance,
        name if name.eq_ignore_ascii_case("trigger") => Kind::Trigger,
        name if name.eq_ignore_ascii_case("project") => Kind::Project,
        _ => return None,
    };
    Some((kind, value.trim()))
}

/// An open code fence: three or more backticks or tildes, closed by at least as many of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    /// Follows the fences over one more `line` (its line end may be missing); whether it belongs to a fence, marks included.
    pub(crate) fn step(open: &mut Option<Self>, line: &str) -> bool {
        let line = line.trim_start_matches([' ', '\t']).as_bytes();
        let mark = match line.first() {
            Some(&mark @ (b'`' | b'~')) => mark,
            _ => return open.is_some(),
        };
        let length = line.iter().take_while(|&&byte| byte == mark).count();
        let after = &line[length..];
        match *open {
            Some(fence) => {
                if mark == fence.mark && length >= fence.length && after.trim_ascii().is_empty() {
                    *open = None;
                }
                true
            }
            // Backticks after the opening ones make it inline code.
            None if length >= 3 && (mark == b'~' || !after.contains(&b'`')) => {
                *open = Some(Self { mark, length });
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text_of(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).text
    }

    #[test]
    fn f047_a_byte_order_mark_is_not_part_of_the_text() {
        let note = decode(b"\xEF\xBB\xBF# Alpha\n\nbody".to_vec());
        assert_eq!(note.text, "# Alpha\n\nbody");
        assert_eq!(note.decoding, Decoding::Utf8);
    }

    #[test]
    fn f048_a_stray_byte_costs_nothing_around_it() {
        let note = decode(b"price 5 \xA2 per sheet".to_vec());
        assert_eq!(note.text, "price 5 ¢ per sheet");
        assert_eq!(note.decoding, Decoding::Lenient);
    }

    #[test]
    fn a_latin_1_file_is_read_as_windows_1252() {
        assert_eq!(
            text_of(b"Gr\xFC\xDFe aus K\xF6ln, \x80 20, \xABcaf\xE9\xBB"),
            "Grüße aus Köln, € 20, «café»"
        );
    }

    #[test]
    fn a_cut_character_does_not_spoil_the_utf_8_around_it() {
        let mut bytes = "会议纪要".as_bytes().to_vec();
        bytes.pop();
        assert_eq!(text_of(&bytes), "会议纪\u{FFFD}");
    }

    #[test]
    fn utf_16_is_read_where_its_mark_says_so() {
        let bytes = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{FEFF}naïve 🧭".encode_utf16().flat_map(unit).collect()
        };
        assert_eq!(text_of(&bytes(u16::to_le_bytes)), "naïve 🧭");
        assert_eq!(text_of(&bytes(u16::to_be_bytes)), "naïve 🧭");
    }

    #[test]
    fn f049_nul_and_carriage_returns_stay() {
        assert_eq!(text_of(b"alpha\0beta\r\ngamma"), "alpha\0beta\r\ngamma");
    }

    #[test]
    fn f156_marks_that_are_no_importance_are_neutral_and_reported() {
        for junk in ["high?", "99", "-1", "NaN", "0.8", "0", "+3", ""] {
            let found = annotations(&format!("- fact <!-- importance: {junk} -->"), true);
            assert_eq!((found.importance, found.junk), (None, vec![junk.to_owned()]));
        }
        assert_eq!(annotations("- fact", true), Annotations::default());
    }

    #[test]
    fn code_says_nothing_and_keeps_its_comments() {
        for text in [
            "```html\n<!-- importance: 3 -->\n```\n",
            "~~~~\n```\n<!-- trigger: x -->\n~~~~\n",
            "write `<!-- importance: 3 -->`",
        ] {
            assert_eq!(annotations(text, true), Annotations::default(), "{text}");
            assert!(matches!(plain(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(annotations("```\ncode\n```\nfact <!-- importance: 3 -->", true).importance, Some(3));
    }

    #[test]
    fn only_projects_count_outside_of_the_root_files() {
        let text = "- a <!-- importance: 9 --> <!-- trigger: t --> <!-- project: Example.org/Tool -->";
        let found = annotations(text, false);
        let project = Some("example.org/Tool".to_owned());
        assert_eq!(found, Annotations { project, ..Annotations::default() });
    }

    #[test]
    fn plain_keeps_line_ends_and_ordinary_comments() {
        let text = "a <!-- importance: 3 -->  \r\n<!-- toc -->\r\nb";
        assert_eq!(plain(text), "a\r\n<!-- toc -->\r\nb");
        assert!(matches!(plain("<!-- toc --> trailing  "), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_file_has_a_text(bytes: Vec<u8>) {
            let note = decode(bytes.clone());
            if let Ok(text) = std::str::from_utf8(&bytes) {
                prop_assert_eq!(note.text, text.strip_prefix('\u{FEFF}').unwrap_or(text));
            } else {
                prop_assert_eq!(note.decoding, Decoding::Lenient);
            }
        }

        #[test]
        fn plain_does_not_shift_lines(text in r"([a\n\r ]|```|<!-- importance: 3 -->|<!-- trigger: a|-->|<!--){0,20}") {
            let plain = plain(&text);
            prop_assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
            prop_assert!(plain.len() <= text.len());
        }
    }
}
