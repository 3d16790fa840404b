//! Enough of Markdown to know where a note may be cut: headings, lists, fences, tables, front matter.

use memchr::memchr;

use super::lines::{Block, Border, Heading, Kind, Lines, Place};
use crate::note::Fence;

/// Gives every line its kind, border and place, and collects headings and blocks.
pub(super) fn classify(lines: &mut Lines) {
    let mut classifier = Classifier { lines, open: Vec::new(), fence: None, list: None, after: After::Blank };
    let mut index = classifier.front_matter();
    while index < classifier.lines.len() {
        index += classifier.step(index);
    }
}

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// A blank line, the end of a fence or table, the start of the note.
    Blank,
    Heading,
    Text,
}

struct Classifier<'lines, 'note> {
    lines: &'lines mut Lines<'note>,
    /// The headings the next line stands under.
    open: Vec<usize>,
    /// The open fence and the line it began with.
    fence: Option<(Fence, usize)>,
    /// The indent of the top-level entries of the list we are in.
    list: Option<usize>,
    after: After,
}

impl Classifier<'_, '_> {
    /// Classifies what begins at line `index`; how many lines that is.
    fn step(&mut self, index: usize) -> usize {
        if self.fence_line(index) {
            return 1;
        }
        if self.lines.lines[index].kind == Kind::Blank {
            self.set(index, Border::Never);
            // What is below a heading and a blank line is still what the heading is about.
            if self.after == After::Text {
                self.after = After::Blank;
            }
            return 1;
        }
        if let Some((level, length)) = self.heading_at(index) {
            let directly = self.after == After::Heading;
            self.push_heading(index, level, heading_text(self.lines.text(index)));
            self.list = None;
            for line in index..index + length {
                self.lines.lines[line].kind = Kind::Heading;
                self.set(line, Border::Never);
            }
            if !directly {
                self.set(index, Border::Heading);
            }
            self.after = After::Heading;
            return length;
        }
        let border = self.border(index);
        self.set(index, border);
        let rows = self.table_rows(index);
        if rows == 0 {
            self.after = After::Text;
            return 1;
        }
        for row in index + 1..index + rows {
            self.set(row, Border::Inside);
        }
        self.lines.blocks.push(Block { first: index, end: index + rows, table: true });
        self.after = After::Blank;
        rows
    }

    /// Border and, if the line stands in a list, place.
    fn set(&mut self, index: usize, border: Border) {
        let line = &mut self.lines.lines[index];
        line.border = border;
        if self.list.is_some() && line.place == Place::Text {
            line.place = Place::Entry;
        }
    }

    /// Whether the line belongs to a fence, marks included.
    fn fence_line(&mut self, index: usize) -> bool {
        if self.fence.is_none() && !matches!(self.first(index), b'`' | b'~') {
            return false;
        }
        let text = self.lines.text(index);
        let mut open = self.fence.map(|(fence, _)| fence);
        if !Fence::step(&mut open, text) {
            return false;
        }
        let gap = index > 0 && self.lines.lines[index - 1].kind == Kind::Blank;
        let (border, first) = match self.fence {
            Some((_, first)) if gap => (Border::Gap, first),
            Some((_, first)) => (Border::Inside, first),
            None => (self.border(index), index),
        };
        self.set(index, border);
        self.fence = open.map(|fence| (fence, first));
        self.after = After::Text;
        if self.fence.is_none() || index + 1 == self.lines.len() {
            self.lines.blocks.push(Block { first, end: index + 1, table: false });
            self.after = After::Blank;
        }
        true
    }

    /// What line `index` begins with; a line end beyond the last line.
    fn first(&self, index: usize) -> u8 {
        self.lines.lines.get(index).map_or(b'\n', |line| line.first)
    }

    /// The border of a line that is neither blank, heading nor inside of a block; follows the list.
    fn border(&mut self, index: usize) -> Border {
        let content = self.lines.text(index).trim_start_matches([' ', '\t']);
        let border = if is_entry(content) {
            let indent = self.indent(index);
            match self.list {
                Some(base) if indent >= base + 2 => Border::Nested,
                list => {
                    self.list = Some(list.unwrap_or(indent).min(indent));
                    self.lines.lines[index].place = Place::EntryStart;
                    Border::Entry
                }
            }
        } else {
            let below_blank = self.after == After::Blank;
            if below_blank && self.list.is_some_and(|base| self.indent(index) < base + 2) {
                self.list = None;
            }
            match self.list {
                Some(_) if below_blank => Border::Nested,
                None if below_blank => Border::Paragraph,
                _ => Border::Line,
            }
        };
        if self.after == After::Heading { Border::Never } else { border }
    }

    /// In columns: a tab indents like four blanks.
    fn indent(&self, index: usize) -> usize {
        let blanks = self.lines.text(index).bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
    }

    /// Skips front matter (`---` to `---` at the very top): nothing in it is a heading, a list or a fault. Its `title`, if it
    /// is a plain value, stands above all headings. Returns the first line after it.
    fn front_matter(&mut self) -> usize {
        if self.lines.len() == 0 || self.lines.text(0).trim_end() != "---" {
            return 0;
        }
        let ends = |&index: &usize| matches!(self.lines.text(index).trim_end(), "---" | "...");
        let Some(end) = (1..self.lines.len()).find(ends) else {
            return 0;
        };
        for index in 1..=end {
            if self.lines.lines[index].kind == Kind::Blank {
                self.set(index, Border::Never);
            }
            if let Some(value) = self.lines.text(index).strip_prefix("title:").map(str::trim)
                && !value.is_empty()
                && !value.starts_with(['[', '{', '|', '>', '&', '!', '~'])
            {
                self.push_heading(0, 0, value.trim_matches(['"', '\'']));
            }
        }
        end + 1
    }
}

impl<'note> Classifier<'_, 'note> {
    fn push_heading(&mut self, line: usize, level: u8, text: &'note str) {
        let headings = &mut self.lines.headings;
        while self.open.pop_if(|&mut at| headings[at].level >= level).is_some() {}
        self.open.push(headings.len());
        let parent = self.open.iter().rev().nth(1).copied();
        headings.push(Heading { line, level, text, parent });
    }

    /// Level and number of lines of the heading that begins here: `# …`, or one line underlined with `===` or `---`.
    ///
    /// Several lines above a `---` are taken for a paragraph above a rule.
    fn heading_at(&self, index: usize) -> Option<(u8, usize)> {
        if self.first(index) != b'#' && !matches!(self.first(index + 1), b'=' | b'-') {
            return None;
        }
        let text = self.lines.text(index);
        let content = text.trim_start_matches(' ');
        if text.len() - content.len() > 3 {
            return None;
        }
        let marks = content.bytes().take_while(|&byte| byte == b'#').count();
        if marks > 0 {
            let blank_after = content.as_bytes().get(marks).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
            return (marks <= 6 && blank_after).then_some((marks as u8, 1));
        }
        if self.after == After::Text {
            return None;
        }
        let level = match underline(self.lines.text(index + 1))? {
            b'=' => 1,
            _ => 2,
        };
        let plain =
            self.lines.lines[index].kind == Kind::Words && !content.starts_with('>') && !is_entry(content);
        plain.then_some((level, 2))
    }

    /// How many lines the table that begins here has; 0 if none does.
    fn table_rows(&self, index: usize) -> usize {
        if !matches!(self.first(index + 1), b'|' | b'-' | b':') {
            return 0;
        }
        let has_bar = |index: usize| memchr(b'|', self.lines.text(index).as_bytes()).is_some();
        if !is_delimiter_row(self.lines.text(index + 1)) || !has_bar(index) {
            return 0;
        }
        2 + (index + 2..self.lines.len()).take_while(|&index| has_bar(index)).count()
    }
}

/// `- `, `* `, `+ `, `1. ` or `1) `; `content` has no indent.
fn is_entry(content: &str) -> bool {
    let bytes = content.as_bytes();
    let marker = match bytes.first() {
        Some(b'-' | b'*' | b'+') => 1,
        Some(b'0'..=b'9') => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match bytes.get(digits) {
                Some(b'.' | b')') if digits <= 9 => digits + 1,
                _ => return false,
            }
        }
        _ => return false,
    };
    matches!(bytes.get(marker), Some(b' ' | b'\t'))
}

/// The mark of a line that underlines a heading.
fn underline(line: &str) -> Option<u8> {
    let marks = line.trim_start_matches(' ');
    let mark = *marks.as_bytes().first().filter(|mark| matches!(mark, b'=' | b'-'))?;
    let all = marks.trim_end().bytes().all(|byte| byte == mark);
    (all && line.len() - marks.len() <= 3).then_some(mark)
}

/// `|---|:--:|`: nothing but bars, dashes, colons and blanks, with a dash and a bar among them.
fn is_delimiter_row(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.iter().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
        && bytes.contains(&b'-')
        && bytes.contains(&b'|')
}

/// The text of a heading line without its `#` marks.
fn heading_text(line: &str) -> &str {
    let text = line.trim().trim_start_matches('#').trim();
    // Closing marks count only after a blank: `# C#` is about C#.
    let unmarked = text.trim_end_matches('#');
    if unmarked.is_empty() || unmarked.ends_with([' ', '\t']) { unmarked.trim_end() } else { text }
}
