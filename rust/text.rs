//! What a word is and what a token costs: one definition for BM25, MMR, file names and snippets.

/// Raised whenever the terms of any text change; part of the index fingerprint.
pub const ANALYSER_VERSION: u32 = 1;

/// A folded word or part of a word and where it stands in the original text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// The folded form: what is indexed and compared.
    pub text: &'a str,
    /// First byte in the analysed text.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

/// Calls `sink` with every index term of `text`, in text order. Linear in the length of `text`.
pub fn for_each_term(_text: &str, _sink: &mut dyn FnMut(Term<'_>)) {
    todo!()
}

/// The distinct terms a query asks for, in query order, at most [`MAX_QUERY_TERMS`].
///
/// A single CJK character is asked for by itself only where its run is one character long; otherwise by bigrams.
pub fn query_terms(_query: &str) -> Vec<String> {
    todo!()
}

/// A longer query is cut after so many distinct terms.
pub const MAX_QUERY_TERMS: usize = 128;

/// Sorted, distinct hashes of the words of `text`, for Jaccard similarity. Empty for a text without words.
pub fn token_set(_text: &str) -> Vec<u64> {
    todo!()
}

/// Tokens a model is likely to see in `text`: about one for four characters of Latin text, one for a CJK character,
/// never zero for a text that is not empty.
pub fn token_estimate(_text: &str) -> usize {
    todo!()
}
