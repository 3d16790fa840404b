//! Lines that are longer than a chunk may be.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use crate::text::token_estimate;

/// Cuts `line` into consecutive parts of at most `tokens` each, none of them a small rest: after a sentence, else after a
/// blank, else after a comma or bracket, else between two graphemes. Only a single grapheme may be larger than `tokens`.
pub(super) fn parts(line: &str, tokens: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    // An estimate of what is left is enough to share it out; it is not measured again for every part.
    let (whole, length) = (token_estimate(line), line.len());
    while start < length {
        let left = (whole as u64 * (length - start) as u64 / length as u64) as usize;
        let share = left.div_ceil(left.div_ceil(tokens).max(1));
        let room = tokens.min(share + share / 4 + 1);
        let end = start + cut(&line[start..], room, tokens);
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Where the first part of `line` ends: up to `room` tokens if that is possible, `tokens` if the rest is no longer.
fn cut(line: &str, room: usize, tokens: usize) -> usize {
    let most = fitting(line, tokens);
    if most == line.len() {
        return most;
    }
    let limit = if room < tokens { fitting(line, room) } else { most };
    let limit = grapheme_border(line, limit);
    // Below three fifths a break costs more parts than it is worth.
    let low = char_border(line, limit * 3 / 5);
    let mut best = (0, limit);
    let mut before = ' ';
    for (at, char) in line[low..limit].char_indices() {
        let at = low + at;
        let quality = match (before, char) {
            ('。' | '！' | '？', _) => 3,
            ('.' | '!' | '?' | '…', char) if char.is_whitespace() => 3,
            (before, char) if before.is_whitespace() && !char.is_whitespace() => 2,
            (',' | ';' | '}' | ']' | ')' | '、' | '，' | '；', _) => 1,
            _ => 0,
        };
        before = char;
        // A sentence ends after the blank that follows it.
        let at = if quality == 3 && char.is_whitespace() { at + char.len_utf8() } else { at };
        if quality > 0 && at > low && quality >= best.0 && is_grapheme_border(line, at) {
            best = (quality, at);
        }
    }
    best.1
}

/// The longest prefix of `line` that costs at most `tokens`, in bytes, at a character border.
fn fitting(line: &str, tokens: usize) -> usize {
    let fits = |end: usize| token_estimate(&line[..end]) <= tokens;
    let mut high = line.len().min(tokens.saturating_mul(4).max(4));
    let mut low = 0;
    loop {
        let end = char_border(line, high);
        if !fits(end) {
            break;
        }
        low = end;
        if end == line.len() {
            return end;
        }
        high = high.saturating_mul(2).min(line.len());
    }
    // `low` fits, `high` does not.
    while high - low > 1 {
        let middle = char_border(line, low + (high - low) / 2);
        if middle <= low {
            break;
        }
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// The last character border up to `end`.
fn char_border(line: &str, end: usize) -> usize {
    // Byte 0 is one, so there always is.
    (0..=end).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// The last grapheme border up to `end`; the end of the first grapheme where there is none.
fn grapheme_border(line: &str, end: usize) -> usize {
    if end > 0 && is_grapheme_border(line, end) {
        return end;
    }
    let mut cursor = GraphemeCursor::new(end, line.len(), true);
    match cursor.prev_boundary(line, 0) {
        Ok(Some(border)) if border > 0 => border,
        _ => GraphemeCursor::new(0, line.len(), true)
            .next_boundary(line, 0)
            .ok()
            .flatten()
            .unwrap_or(line.len()),
    }
}

fn is_grapheme_border(line: &str, at: usize) -> bool {
    // The whole line is at hand, so the cursor never asks for more context.
    GraphemeCursor::new(at, line.len(), true).is_boundary(line, 0).unwrap_or(false)
}
