//! The lines of a note: what they cost, how good a chunk begins with them, under which headings they stand.

use std::ops::Range;

use memchr::memchr_iter;

use super::classify;
use crate::note;
use crate::text::token_estimate;

/// How good it is to begin a chunk with a line; higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Border {
    /// A blank line, or what a heading is about: only where nothing else is left.
    Never,
    /// Inside of a code fence or a table.
    Inside,
    /// Inside of a code fence, after a blank line.
    Gap,
    /// Inside of a paragraph or a list entry.
    Line,
    /// A nested list entry, or a later paragraph of an entry.
    Nested,
    /// A list entry.
    Entry,
    /// After a blank line, a fence or a table.
    Paragraph,
    /// A heading that does not directly follow another one.
    Heading,
}

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Blank,
    /// Something, but nothing a search could find: rules, fence marks.
    Marks,
    /// A heading, its underline included.
    Heading,
    /// Words, signs, emoji.
    Words,
}

/// Where a line stands in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In none.
    Text,
    /// It begins a top-level entry.
    EntryStart,
    /// It goes on with one: continuation lines, nested entries, blank lines.
    Entry,
}

/// One line; it ends where the next one starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// First byte in the note.
    pub start: usize,
    /// Estimated tokens, line end included; the same for LF and CRLF.
    pub tokens: u32,
    /// Its first byte that is no blank or tab (a line end if there is none): tells most lines from Markdown marks at a glance.
    pub first: u8,
    pub kind: Kind,
    pub border: Border,
    pub place: Place,
}

/// A heading, or the title of the front matter (level 0).
#[derive(Debug)]
pub(super) struct Heading<'note> {
    pub line: usize,
    pub level: u8,
    /// Its text without marks.
    pub text: &'note str,
    /// The heading it stands under.
    pub parent: Option<usize>,
}

/// Lines that belong together: a fence, or a table with its header first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub first: usize,
    /// Line after the last one.
    pub end: usize,
    pub table: bool,
}

#[derive(Debug)]
pub(super) struct Lines<'note> {
    note: &'note str,
    pub lines: Vec<Line>,
    pub headings: Vec<Heading<'note>>,
    pub blocks: Vec<Block>,
}

/// The level of lines above the first heading: below every heading.
const NO_LEVEL: u8 = 7;

/// Headings and table headers are shortened to so many characters in a context: it stands beside every chunk below.
const CONTEXT_PART_CHARS: usize = 120;

impl<'note> Lines<'note> {
    pub fn of(note: &'note str) -> Self {
        let mut lines = Self { note, lines: split(note), headings: Vec::new(), blocks: Vec::new() };
        classify::classify(&mut lines);
        lines
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Byte after the line, its line end included.
    pub fn end(&self, index: usize) -> usize {
        self.lines.get(index + 1).map_or(self.note.len(), |next| next.start)
    }

    /// The line without its line end.
    pub fn text(&self, index: usize) -> &'note str {
        let line = &self.note[self.lines[index].start..self.end(index)];
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }

    pub fn tokens(&self, lines: Range<usize>) -> usize {
        self.lines[lines].iter().map(|line| line.tokens as usize).sum()
    }

    /// `lines` without those of some kinds at their end.
    pub fn without_end(&self, lines: Range<usize>, kinds: &[Kind]) -> Range<usize> {
        let dropped = self.lines[lines.clone()].iter().rev().take_while(|line| kinds.contains(&line.kind));
        lines.start..lines.end - dropped.count()
    }

    /// The first line with words of `lines`.
    pub fn words(&self, lines: Range<usize>) -> Option<usize> {
        self.lines[lines.clone()].iter().position(|line| line.kind == Kind::Words).map(|at| lines.start + at)
    }

    /// The fence or table that begins before `line` and holds it.
    pub fn block_around(&self, line: usize) -> Option<Block> {
        let before = self.blocks.partition_point(|block| block.first < line);
        self.blocks[..before].last().copied().filter(|block| line < block.end)
    }

    /// The level of the heading `line` stands under, itself included.
    pub fn level(&self, line: usize) -> u8 {
        self.heading_of(line).map(|at| self.headings[at].level).filter(|&level| level > 0).unwrap_or(NO_LEVEL)
    }

    fn heading_of(&self, line: usize) -> Option<usize> {
        self.headings.partition_point(|heading| heading.line <= line).checked_sub(1)
    }

    /// The headings `line` stands under, itself included, from the top, joined by ` > `.
    pub fn path(&self, line: usize) -> String {
        let mut path = Vec::new();
        let mut next = self.heading_of(line);
        while let Some(at) = next {
            path.push(shortened(self.headings[at].text));
            next = self.headings[at].parent;
        }
        path.retain(|part| !part.is_empty());
        path.reverse();
        // The title of the front matter is often repeated as the first heading.
        path.dedup();
        path.join(super::HEADINGS)
    }

    /// The header cells of `table` in one line.
    pub fn header(&self, table: Block) -> String {
        let cells = self.text(table.first).trim().trim_matches('|').split('|').map(str::trim);
        shortened(&cells.collect::<Vec<_>>().join(" | "))
    }
}

fn split(note: &str) -> Vec<Line> {
    let mut lines = Vec::with_capacity(note.len() / 40 + 1);
    let mut start = 0;
    let unfinished = (!note.is_empty() && !note.ends_with('\n')).then_some(note.len());
    for end in memchr_iter(b'\n', note.as_bytes()).map(|at| at + 1).chain(unfinished) {
        let line = &note[start..end];
        // Without the LF of a CRLF, so that both kinds of line end cost one character.
        let counted = line.strip_suffix('\n').filter(|line| line.ends_with('\r')).unwrap_or(line);
        let tokens = u32::try_from(token_estimate(counted)).unwrap_or(u32::MAX);
        let first = line.bytes().find(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(b'\n');
        let (border, place) = (Border::Line, Place::Text);
        lines.push(Line { start, tokens, first, kind: kind(line), border, place });
        start = end;
    }
    lines
}

fn kind(line: &str) -> Kind {
    if has_words(line) {
        return Kind::Words;
    }
    match line.trim_matches(|char: char| char.is_whitespace() || invisible(char)).is_empty() {
        true => Kind::Blank,
        false => Kind::Marks,
    }
}

/// A letter, a digit, or any visible character outside of ASCII: signs and emoji can be searched by meaning.
pub(super) fn has_words(text: &str) -> bool {
    match text.bytes().find(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
        None => false,
        Some(byte) if byte.is_ascii() => true,
        Some(_) => text.chars().any(|char| match char.is_ascii() {
            true => char.is_ascii_alphanumeric(),
            false => !char.is_whitespace() && !invisible(char),
        }),
    }
}

/// Controls (NUL among them), zero-width spaces and joiners, marks of direction and byte order.
fn invisible(char: char) -> bool {
    char.is_control() || matches!(char, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}')
}

/// One line of a context: no annotations, no control characters, not too long.
fn shortened(part: &str) -> String {
    let plain = note::plain(part);
    let mut chars = plain.trim().chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut short: String = chars.by_ref().take(CONTEXT_PART_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}
