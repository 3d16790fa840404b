//! The lines of a chunk that are shown: the ones around the best match.

use std::ops::Range;

use rustc_hash::FxHashMap;
use unicode_segmentation::GraphemeCursor;

use crate::text::for_each_term;

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
///
/// The densest place is the one with the most different terms, then with the most matches, then the first.
///
/// ```
/// use memgrep::snippet::snippet;
///
/// let shown = snippet("# Harbour\n\nBoat: Juniper\nBerth: 12\n", &["juniper".into()], 20);
/// assert_eq!((shown.text.as_str(), shown.first_line, shown.last_line), ("Boat: Juniper", 2, 2));
/// assert_eq!(shown.matches, [(6, 13)]);
/// ```
pub fn snippet(text: &str, terms: &[String], max_chars: usize) -> Snippet {
    let found = find(text, terms);
    let lines = lines(text);
    let shown = if lines.is_empty() { 0..0 } else { choose(text, &lines, &found, terms.len(), max_chars) };
    let line_of = |at: usize| lines.partition_point(|line| line.start <= at).saturating_sub(1);
    Snippet {
        text: text[shown.clone()].to_owned(),
        first_line: line_of(shown.start),
        last_line: line_of(shown.end.max(shown.start + 1) - 1),
        matches: ranges(&found, &shown),
    }
}

/// A place where a term stands.
#[derive(Debug, Clone)]
struct Match {
    term: usize,
    place: Range<usize>,
}

/// Every place of a term, in text order.
fn find(text: &str, terms: &[String]) -> Vec<Match> {
    let wanted: FxHashMap<&str, usize> =
        terms.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
    let mut found = Vec::new();
    for_each_term(text, &mut |term| {
        if let Some(&at) = wanted.get(term.text) {
            found.push(Match { term: at, place: term.start..term.end });
        }
    });
    found
}

/// The matched words inside `shown`: a whole instead of its parts, neighbouring bigrams as one.
fn ranges(found: &[Match], shown: &Range<usize>) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for Match { place, .. } in found.iter().filter(|found| inside(&found.place, shown)) {
        let (start, end) = (place.start - shown.start, place.end - shown.start);
        match ranges.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => ranges.push((start, end)),
        }
    }
    ranges
}

fn inside(place: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= place.start && place.end <= outer.end
}

/// The lines without their line breaks; none for a text without characters.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The bytes to show.
fn choose(
    text: &str,
    lines: &[Range<usize>],
    found: &[Match],
    terms: usize,
    max_chars: usize,
) -> Range<usize> {
    let length = |range: Range<usize>| text[range].chars().count();
    // Where the text of each line begins, counted in characters.
    let mut offsets = Vec::with_capacity(lines.len());
    let mut chars = 0;
    for (at, line) in lines.iter().enumerate() {
        offsets.push(chars);
        chars += length(line.start..lines.get(at + 1).map_or(text.len(), |next| next.start));
    }
    let fits =
        |first: usize, last: usize| offsets[last] - offsets[first] + length(lines[last].clone()) <= max_chars;
    let Some((first, last)) = densest_lines(lines, found, terms, &fits) else {
        let wordy = lines.iter().position(|line| !text[line.clone()].trim().is_empty()).unwrap_or(0);
        return whole_lines(text, lines, (wordy, wordy), (wordy, lines.len() - 1), &fits).unwrap_or_else(
            || cut(text, lines[wordy].clone(), lines[wordy].start..lines[wordy].start, max_chars),
        );
    };
    whole_lines(text, lines, (first, last), (0, lines.len() - 1), &fits).unwrap_or_else(|| {
        let line = lines[first].clone();
        let found: Vec<&Match> = found.iter().filter(|found| inside(&found.place, &line)).collect();
        let core = densest_places(&found, terms, |range| length(range) <= max_chars);
        cut(text, line, core, max_chars)
    })
}

/// First and last line with a match of the best window of lines that fits; a line too long by itself is a window too.
fn densest_lines(
    lines: &[Range<usize>],
    found: &[Match],
    terms: usize,
    fits: &dyn Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let mut at = 0;
    let line_of: Vec<usize> = found
        .iter()
        .map(|found| {
            while lines.get(at + 1).is_some_and(|next| next.start <= found.place.start) {
                at += 1;
            }
            at
        })
        .collect();
    let fits =
        |first: usize, last: usize| line_of[first] == line_of[last] || fits(line_of[first], line_of[last]);
    let term_of: Vec<usize> = found.iter().map(|found| found.term).collect();
    densest(&term_of, terms, fits).map(|best| (line_of[best.start], line_of[best.end - 1]))
}

/// From the first to the last place of the best window within one line; the first place if not even that fits.
fn densest_places(found: &[&Match], terms: usize, fits: impl Fn(Range<usize>) -> bool) -> Range<usize> {
    let term_of: Vec<usize> = found.iter().map(|found| found.term).collect();
    let end =
        |last: usize| found[..=last].iter().rev().take(8).map(|found| found.place.end).max().unwrap_or(0);
    let fits = |first: usize, last: usize| first == last || fits(found[first].place.start..end(last));
    match densest(&term_of, terms, fits) {
        Some(best) => found[best.start].place.start..end(best.end - 1),
        None => 0..0,
    }
}

/// The run of matches that fits and has the most different terms, then the most matches, then the first place.
fn densest(term_of: &[usize], terms: usize, fits: impl Fn(usize, usize) -> bool) -> Option<Range<usize>> {
    let mut counts = vec![0_usize; terms];
    let (mut first, mut distinct) = (0, 0);
    let mut best = None;
    for last in 0..term_of.len() {
        distinct += usize::from(counts[term_of[last]] == 0);
        counts[term_of[last]] += 1;
        while first < last && !fits(first, last) {
            counts[term_of[first]] -= 1;
            distinct -= usize::from(counts[term_of[first]] == 0);
            first += 1;
        }
        let value = (distinct, last + 1 - first);
        if best.as_ref().is_none_or(|&(most, _)| value > most) {
            best = Some((value, first..last + 1));
        }
    }
    best.map(|(_, run)| run)
}

/// The lines `core` with as many lines around them, within `bounds`, as fit; `None` if not even `core` fits.
fn whole_lines(
    text: &str,
    lines: &[Range<usize>],
    core: (usize, usize),
    bounds: (usize, usize),
    fits: &dyn Fn(usize, usize) -> bool,
) -> Option<Range<usize>> {
    let (mut first, mut last) = core;
    if !fits(first, last) {
        return None;
    }
    loop {
        let before = first;
        let after = last;
        if last < bounds.1 && fits(first, last + 1) {
            last += 1;
        }
        if first > bounds.0 && fits(first - 1, last) {
            first -= 1;
        }
        if (before, after) == (first, last) {
            break;
        }
    }
    let blank = |line: usize| text[lines[line].clone()].trim().is_empty();
    while first < core.0 && blank(first) {
        first += 1;
    }
    while last > core.1 && blank(last) {
        last -= 1;
    }
    Some(lines[first].start..lines[last].end)
}

/// At most `max_chars` characters of `line` with `core` in the middle, cut at grapheme borders.
fn cut(text: &str, line: Range<usize>, core: Range<usize>, max_chars: usize) -> Range<usize> {
    let inner = text[core.clone()].chars().count().min(max_chars);
    let room = max_chars - inner;
    let after = text[core.end..line.end].chars().count();
    // What the shorter side does not need goes to the other one.
    let before = (room - (room / 2).min(after)).min(text[line.start..core.start].chars().count());
    let start = back(text, core.start, before).max(line.start);
    let end =
        text[start..line.end].char_indices().nth(max_chars).map_or(line.end, |(offset, _)| start + offset);
    let start = border(text, start, line.end, true);
    let end = border(text, end, start, false);
    start..end.max(start)
}

/// The place `chars` characters before `at`.
fn back(text: &str, at: usize, chars: usize) -> usize {
    match chars {
        0 => at,
        _ => text[..at].char_indices().rev().nth(chars - 1).map_or(0, |(offset, _)| offset),
    }
}

/// `at` if it is a grapheme border, else the next one (`forward`) or the one before, not beyond `limit`.
fn border(text: &str, at: usize, limit: usize, forward: bool) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The cursor sees the whole text, so it never asks for more.
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    let moved = if forward { cursor.next_boundary(text, 0) } else { cursor.prev_boundary(text, 0) };
    let border = moved.ok().flatten().unwrap_or(at);
    if forward { border.min(limit) } else { border.max(limit) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn query_terms(query: &str) -> Vec<String> {
        crate::text::query_terms(query).into_iter().map(|term| term.text).collect()
    }

    fn show(text: &str, query: &str, max_chars: usize) -> Snippet {
        snippet(text, &query_terms(query), max_chars)
    }

    fn matched(snippet: &Snippet) -> Vec<&str> {
        snippet.matches.iter().map(|&(start, end)| &snippet.text[start..end]).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        let shown = show("# Host\n\nport 7777\n", "port", 700);
        assert_eq!((shown.text.as_str(), shown.first_line, shown.last_line), ("# Host\n\nport 7777", 0, 2));
        assert_eq!(matched(&shown), ["port"]);
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        let shown = show("\n\nfirst line\nsecond line\nthird line\n", "absent", 22);
        assert_eq!(
            (shown.text.as_str(), shown.first_line, shown.last_line),
            ("first line\nsecond line", 2, 3)
        );
        assert_eq!(
            show("", "absent", 22),
            Snippet { text: String::new(), first_line: 0, last_line: 0, matches: vec![] }
        );
    }

    #[test]
    fn the_window_with_the_most_different_terms_wins() {
        let text = "boat boat boat\nfiller words here\nmore filler words\nboat and berth\nfiller again\n";
        let shown = show(text, "boat berth", 30);
        assert_eq!(matched(&shown), ["boat", "berth"]);
        assert_eq!(shown.first_line, 3);
    }

    #[test]
    fn of_equal_windows_the_first_is_shown() {
        let shown = show("boat one\nfiller words\nboat two\n", "boat", 8);
        assert_eq!((shown.text.as_str(), shown.first_line), ("boat one", 0));
    }

    #[test]
    fn a_whole_is_marked_instead_of_its_parts_and_bigrams_as_one() {
        assert_eq!(
            matched(&show("see configs/ingest.toml now", "configs/ingest.toml", 700)),
            ["configs/ingest.toml"]
        );
        assert_eq!(matched(&show("see configs/ingest.toml now", "ingest", 700)), ["ingest"]);
        assert_eq!(matched(&show("昨日会議録を整理した", "会議録", 700)), ["会議録"]);
    }

    /// F021: what is shown and marked is the text as it stands in the file.
    #[test]
    fn f021_invisible_characters_stay_in_the_text() {
        assert_eq!(matched(&show("see data\u{200b}base now", "database", 700)), ["data\u{200b}base"]);
    }

    #[test]
    fn f023_a_long_line_is_cut_around_the_match_between_characters() {
        let text = "x".repeat(699) + "🧭🧭 end";
        let shown = show(&text, "end", 700);
        assert!(shown.text.chars().count() <= 700 && shown.text.ends_with("🧭🧭 end"));
        assert_eq!(matched(&shown), ["end"]);
        let family = "👩\u{200d}👩\u{200d}👧".repeat(100);
        let shown = show(&format!("{family} end {family}"), "end", 9);
        assert_eq!(shown.text, " end ");
    }

    #[test]
    fn f046_the_matching_line_is_shown_with_lines_around_it() {
        let mut lines: Vec<String> =
            (0..200).map(|number| format!("line {number} of the harbour log")).collect();
        lines[149] = "Boat: Juniper".to_owned();
        let shown = show(&lines.join("\r\n"), "Juniper", 700);
        assert!(shown.first_line < 149 && 149 < shown.last_line, "{shown:?}");
        assert_eq!(shown.text, lines[shown.first_line..=shown.last_line].join("\r\n"));
        assert_eq!(matched(&shown), ["Juniper"]);
    }

    fn chunk() -> impl Strategy<Value = String> {
        let piece = prop_oneof!["[a-c]{1,3} ", "[\n\r]", "\\PC", "[東京会議]", "e\u{301}", "👩\u{200d}👧"];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_snippet_is_a_slice_that_fits_and_knows_its_lines(text in chunk(), max in 0_usize..40) {
            let shown = show(&text, "a bb abc 東京 é", max);
            prop_assert!(shown.text.chars().count() <= max);
            prop_assert!(!shown.text.ends_with('\n'));
            let lines: Vec<&str> = text.split('\n').collect();
            if shown.first_line == shown.last_line {
                prop_assert!(lines[shown.first_line].contains(&shown.text));
            } else {
                prop_assert!(lines[shown.first_line..=shown.last_line].join("\n").trim_end_matches('\r') == shown.text);
            }
        }

        #[test]
        fn a_snippet_ends_between_graphemes(text in chunk(), max in 0_usize..40) {
            let shown = show(&text, "a bb abc 東京 é", max);
            let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            let places: Vec<usize> = text.match_indices(&shown.text).map(|(at, _)| at).collect();
            prop_assert!(shown.text.is_empty() || places.iter().any(|at| borders.contains(at) && (borders.contains(&(at + shown.text.len())))), "{shown:?}");
        }

        #[test]
        fn matches_are_words_of_the_query_ascending_and_disjoint(text in chunk(), max in 0_usize..40) {
            let query = "a bb abc 東京 é";
            let shown = show(&text, query, max);
            prop_assert!(shown.matches.is_sorted_by(|one, next| one.1 <= next.0));
            for word in matched(&shown) {
                let terms = query_terms(word);
                prop_assert!(terms.iter().any(|term| query_terms(query).contains(term)), "{word}");
            }
        }

        #[test]
        fn a_matching_text_shows_a_match_if_it_fits(text in chunk()) {
            let shown = show(&text, "abc bb", 12);
            prop_assert_eq!(shown.matches.is_empty(), find(&text, &query_terms("abc bb")).is_empty());
        }
    }
}
