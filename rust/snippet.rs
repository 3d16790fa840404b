//! The lines of a chunk that are shown: the ones around the best match.

/// A part of a chunk, whole lines unless one line is longer than the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The text: a slice of the chunk's text without annotations, without a trailing line break.
    pub text: String,
    /// First shown line, counted from 0 within the chunk.
    pub first_line: usize,
    /// Last shown line, counted from 0 within the chunk.
    pub last_line: usize,
    /// Byte ranges in `text` of the matched words, ascending, disjoint.
    pub matches: Vec<(usize, usize)>,
}

/// Cuts at most `max_chars` characters out of `text` (a chunk without annotations) around the densest match of
/// `terms` (folded query terms); its beginning if nothing matches. Never cuts inside a grapheme.
pub fn snippet(_text: &str, _terms: &[String], _max_chars: usize) -> Snippet {
    todo!()
}
