//! From the bytes of a file to the text of a note, and the annotations its entries carry.

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
pub fn decode(_bytes: Vec<u8>) -> Note {
    todo!()
}

/// What an entry's HTML comments say. See `openclaw.md` section 5.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// 1..=10; `None` when absent or unreadable.
    pub importance: Option<u8>,
    /// Trigger phrases in the order written, distinct.
    pub triggers: Vec<String>,
    /// Project keys, joined by `; `.
    pub project: Option<String>,
    /// Importance marks that could not be read, as written (for a warning).
    pub junk: Vec<String>,
}

/// The annotations on the lines of `text`. `curated`: importance and triggers count (root files only).
pub fn annotations(_text: &str, _curated: bool) -> Annotations {
    todo!()
}

/// `text` without its annotation comments, NULs and zero-width marks untouched otherwise; line breaks stay, so line numbers do not shift.
/// Borrows when there is nothing to take out.
pub fn plain(_text: &str) -> std::borrow::Cow<'_, str> {
    todo!()
}
