//! From a Markdown note to chunks of whole lines.

mod classify;
mod lines;
mod long;

use std::ops::Range;

use memchr::memmem;

use self::lines::{Border, Kind, Lines, Place};
use crate::note::{self, Annotations};

/// Stands between the headings of a context.
const HEADINGS: &str = " > ";

/// Raised whenever notes are cut differently; a store of another version is cut anew.
pub const CHUNKER_VERSION: u32 = 2;

/// How large chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunking {
    /// Tokens a chunk may hold, at least 1.
    pub tokens: usize,
    /// Tokens of the chunk before that are repeated, below `tokens`.
    pub overlap: usize,
}

/// The unit of index and hit: consecutive whole lines of one note (or a part of one line longer than the budget).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// First byte in the note's text.
    pub start: usize,
    /// Byte after the last one: `note[start..end]` is the chunk's text, exactly.
    pub end: usize,
    /// First line, from 1.
    pub first_line: usize,
    /// Last line, itself part of the chunk.
    pub last_line: usize,
    /// What the chunk stands under: the heading path joined by ` > `, then, for the later part of a cut table, a line with
    /// the table's header cells. Indexed and embedded beside the text, never shown as text.
    pub context: String,
    /// 1..=10 from the entry's annotation (curated notes only).
    pub importance: Option<u8>,
    /// Trigger phrases of the entry (curated notes only).
    pub triggers: Vec<String>,
    /// Project keys of the entry.
    pub project: Option<String>,
}

/// Cuts `note` into chunks. `curated` (`MEMORY.md`, `USER.md`): every top-level list entry is a chunk of its own.
/// Chunks without words beyond a heading are left out. In note order; every chunk adds a line (or a part of a line).
///
/// A chunk is filled line by line and ends where the note leaves the section the chunk began in, if it is half full by then;
/// so small sections share a chunk and larger ones do not. Where the budget ends it, the best border in its last two
/// fifths is taken: heading, blank line, list entry, other line. A fence or table is cut only if it is larger than the budget.
/// Headings stay with the text below them. Blank lines at either end belong to no chunk.
///
/// The overlap is whole lines of the same section, at most `chunking.overlap` tokens: a chunk that starts with a heading, and
/// the parts of an overlong line, have none. No chunk costs more than `chunking.tokens`, overlap included and line ends
/// counted as LF, unless it is a single grapheme.
///
/// ```
/// use memgrep::chunk::{Chunking, chunk};
///
/// let note = "# Network\n\nrouter: VLAN 10\n";
/// let chunks = chunk(note, false, Chunking { tokens: 400, overlap: 80 });
/// assert_eq!((chunks[0].first_line, chunks[0].last_line), (1, 3));
/// assert_eq!(chunks[0].context, "Network");
/// ```
pub fn chunk(note: &str, curated: bool, chunking: Chunking) -> Vec<Chunk> {
    let lines = Lines::of(note);
    let mut cutter = Cutter {
        note,
        lines: &lines,
        curated,
        annotated: memmem::find(note.as_bytes(), b"<!--").is_some(),
        budget: chunking.tokens.max(1),
        overlap: chunking.overlap,
        chunks: Vec::new(),
    };
    match curated {
        true => entries(&lines).into_iter().for_each(|span| cutter.cut(span)),
        false => cutter.cut(Span { lines: 0..lines.len(), entry: false }),
    }
    cutter.chunks
}

/// The context without the heading that the text itself begins with: said twice it would weigh twice in the embedding of a
/// short section.
fn without_own_heading<'a>(context: &'a str, text: &str) -> &'a str {
    let line = text.lines().next().unwrap_or_default();
    let title = line.trim_start_matches('#').trim();
    if line.len() == line.trim_start_matches('#').len() || title.is_empty() {
        return context;
    }
    match context.strip_suffix(title) {
        Some("") => "",
        Some(above) => above.strip_suffix(HEADINGS).unwrap_or(context),
        None => context,
    }
}

/// What is embedded for a chunk: context (but for the heading that the text begins with), a line break, the text without
/// annotations, line ends as LF.
/// Equal text under an equal context has an equal embedding, whatever file it stands in.
///
/// A NUL becomes a blank, and blanks at the end are left out.
pub fn embedded_text(context: &str, text: &str) -> String {
    let text = note::plain(text);
    let text = text.trim_end();
    let context = without_own_heading(context, text);
    let mut embedded = String::with_capacity(context.len() + 1 + text.len());
    if !context.is_empty() {
        embedded.push_str(context);
        embedded.push('\n');
    }
    let mut done = 0;
    for at in memchr::memchr2_iter(b'\r', b'\0', text.as_bytes()) {
        let nul = text.as_bytes()[at] == 0;
        if nul || text.as_bytes().get(at + 1) == Some(&b'\n') {
            embedded.push_str(&text[done..at]);
            embedded.push_str(if nul { " " } else { "" });
            done = at + 1;
        }
    }
    embedded.push_str(&text[done..]);
    embedded
}

/// Lines that are cut by themselves: no chunk and no overlap crosses their ends.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    lines: Range<usize>,
    /// A list entry, whose annotations hold for all of its chunks.
    entry: bool,
}

/// The list entries of a curated note and the text between them.
///
/// Headings directly above an entry are left out: they are in its context.
fn entries(lines: &Lines) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (index, line) in lines.lines.iter().enumerate() {
        let entry = line.place != Place::Text;
        match spans.last_mut() {
            Some(span) if span.entry == entry && line.place != Place::EntryStart => {
                span.lines.end = index + 1
            }
            _ => spans.push(Span { lines: index..index + 1, entry }),
        }
    }
    for at in 1..spans.len() {
        if spans[at].entry && !spans[at - 1].entry {
            spans[at - 1].lines =
                lines.without_end(spans[at - 1].lines.clone(), &[Kind::Heading, Kind::Blank]);
        }
    }
    spans
}

struct Cutter<'a> {
    note: &'a str,
    lines: &'a Lines<'a>,
    curated: bool,
    /// Something may be an annotation.
    annotated: bool,
    budget: usize,
    overlap: usize,
    chunks: Vec<Chunk>,
}

impl Cutter<'_> {
    fn cut(&mut self, span: Span) {
        let lines = self.lines;
        let notes = (span.entry && self.annotated).then(|| self.annotations(span.lines.clone()));
        let last_words = lines.lines[span.lines.clone()].iter().rposition(|line| line.kind == Kind::Words);
        let last_words = last_words.map(|at| span.lines.start + at);
        // Where the chunk before begins, for the overlap.
        let mut before: Option<usize> = None;
        let mut next = span.lines.start;
        while next < span.lines.end {
            if lines.lines[next].kind == Kind::Blank {
                next += 1;
                continue;
            }
            if lines.lines[next].tokens as usize > self.budget {
                self.push_parts(next, notes.as_ref());
                (before, next) = (None, next + 1);
                continue;
            }
            if last_words.is_none_or(|last| last < next) {
                self.take_in(before, next..span.lines.end);
                return;
            }
            let begin = before.map_or(next, |before| self.overlap_start(before, next));
            let end = self.fill(begin, next, span.lines.end);
            self.push_lines(begin, next..end, notes.as_ref());
            (before, next) = (Some(begin), end);
        }
    }

    /// The line at which the chunk with the lines from `begin`, of which those from `next` are new, ends.
    fn fill(&self, begin: usize, next: usize, span_end: usize) -> usize {
        let lines = self.lines;
        let mut spent = lines.tokens(begin..next);
        let mut words: Option<(usize, u8)> = None;
        let mut end = next;
        while end < span_end {
            let line = lines.lines[end];
            if line.border == Border::Heading
                && spent * 2 >= self.budget
                && words.is_some_and(|(_, level)| lines.level(end) <= level)
            {
                return end;
            }
            // Blank lines at the end cost nothing: they are not part of the chunk.
            if spent + line.tokens as usize > self.budget && line.kind != Kind::Blank {
                break;
            }
            spent += line.tokens as usize;
            if words.is_none() && line.kind == Kind::Words {
                words = Some((end, lines.level(end)));
            }
            end += 1;
        }
        match words {
            Some((words, _)) if end < span_end && lines.lines[end].tokens as usize <= self.budget => {
                self.best_border(begin, words, end)
            }
            _ => end,
        }
    }

    /// The best line to begin the next chunk with when line `end` is the first one that is too much. Line `words` stays.
    fn best_border(&self, begin: usize, words: usize, end: usize) -> usize {
        let lines = self.lines;
        let (mut best, mut at) = (lines.lines[end].border, end);
        let mut spent = lines.tokens(begin..end);
        for index in (words + 1..end).rev() {
            spent -= lines.lines[index].tokens as usize;
            if spent * 5 < self.budget * 3 {
                break;
            }
            if lines.lines[index].border > best {
                (best, at) = (lines.lines[index].border, index);
            }
        }
        if best <= Border::Gap
            && let Some(block) = lines.block_around(end)
            && lines.tokens(block.first..block.end) <= self.budget
            && let Some(before) =
                (words + 1..=block.first).rev().find(|&index| lines.lines[index].border >= Border::Line)
        {
            return before;
        }
        at
    }

    /// The line at which the overlap of a chunk with the new lines from `next` begins; `before` is where the chunk before does.
    fn overlap_start(&self, before: usize, next: usize) -> usize {
        let lines = self.lines;
        if lines.lines[next].kind == Kind::Heading {
            return next;
        }
        let mut room = self.overlap.min(self.budget - lines.lines[next].tokens as usize);
        let mut start = next;
        while start - 1 > before && lines.lines[start - 1].kind != Kind::Heading {
            match room.checked_sub(lines.lines[start - 1].tokens as usize) {
                Some(left) => room = left,
                None => break,
            }
            start -= 1;
        }
        // Half a fence or table repeated above other text would only confuse.
        if let Some(block) = lines.block_around(start)
            && block.end <= next
        {
            start = block.end;
        }
        let start = (start..next).find(|&index| lines.lines[index].kind != Kind::Blank).unwrap_or(next);
        if lines.words(start..next).is_some() { start } else { next }
    }

    /// Adds headings without words below them to the chunk before, where they fit, so that they are not lost.
    fn take_in(&mut self, before: Option<usize>, rest: Range<usize>) {
        let rest = self.lines.without_end(rest, &[Kind::Blank]);
        let (Some(before), Some(last)) = (before, self.chunks.last_mut()) else {
            return;
        };
        if self.lines.tokens(before..rest.end) <= self.budget && self.lines.lines[before].start == last.start
        {
            last.end = self.lines.end(rest.end - 1);
            last.last_line = rest.end;
        }
    }

    fn push_lines(&mut self, begin: usize, new: Range<usize>, notes: Option<&Annotations>) {
        let lines = self.lines;
        let Some(words) = lines.words(new.clone()) else { return };
        let all = lines.without_end(begin..new.end, &[Kind::Blank]);
        let header = lines.block_around(words).filter(|block| block.table && block.first < begin);
        let range = lines.lines[all.start].start..lines.end(all.end - 1);
        let context = context(lines.path(words), header.map(|table| lines.header(table)));
        self.push(range, all, context, notes);
    }

    /// The parts of an overlong line.
    fn push_parts(&mut self, line: usize, notes: Option<&Annotations>) {
        let lines = self.lines;
        if lines.lines[line].kind == Kind::Marks {
            return;
        }
        let text = lines.text(line);
        let own = (notes.is_none() && self.annotated).then(|| self.annotations(line..line + 1));
        let header = lines.block_around(line).filter(|block| block.table);
        let context = context(lines.path(line), header.map(|table| lines.header(table)));
        let start = lines.lines[line].start;
        for part in long::parts(text, self.budget) {
            if lines::has_words(&text[part.clone()]) {
                let range = start + part.start..start + part.end;
                self.push(range, line..line + 1, context.clone(), notes.or(own.as_ref()));
            }
        }
    }

    fn push(
        &mut self,
        bytes: Range<usize>,
        lines: Range<usize>,
        context: String,
        notes: Option<&Annotations>,
    ) {
        let own = (notes.is_none() && self.annotated).then(|| self.annotations(lines.clone()));
        let Annotations { importance, triggers, project, .. } = notes.cloned().or(own).unwrap_or_default();
        self.chunks.push(Chunk {
            start: bytes.start,
            end: bytes.end,
            first_line: lines.start + 1,
            last_line: lines.end,
            context,
            importance,
            triggers,
            project,
        });
    }

    fn annotations(&self, lines: Range<usize>) -> Annotations {
        let bytes = self.lines.lines[lines.start].start..self.lines.end(lines.end - 1);
        note::annotations(&self.note[bytes], self.curated)
    }
}

fn context(path: String, table_header: Option<String>) -> String {
    match table_header {
        None => path,
        Some(header) if path.is_empty() => header,
        Some(header) => format!("{path}\n{header}"),
    }
}

#[cfg(test)]
mod tests;
