//! Identifiers: findable whole and by every part.
//!
//! ```text
//! configs/ingest-v2.toml          the whole
//! configs  ingest-v2.toml         what `/ : \ @ #` separate, if it is more than one part
//!          ingest  v2  toml       what `- _ . + '` separate
//! rebuildShadowIndex              a part, and where it changes case or between letters and digits:
//! rebuild  shadow  index
//! ```
//!
//! Hyphens, underscores and apostrophes are left out of wholes, so `retry_index`, `retry-index` and `retryIndex` are one.

use std::ops::Range;

use super::fold::{Class, class, push_letter, push_mark};
use super::{MAX_TERM_BYTES, Mode, Term};

/// A run is cut after so many characters, which bounds the memory for a line without a space.
const MAX_UNITS: usize = 512;

/// A part that changes case or kind more often than this is no identifier but a hash or encoded data.
const MAX_ATOMS: usize = 8;

/// A letter, digit or joiner of a run with the marks that belong to it.
#[derive(Debug, Clone, Copy)]
struct Unit {
    class: Class,
    /// Where its folded form begins.
    folded: usize,
    /// Where it stands in the text.
    start: usize,
    end: usize,
}

/// One run of word characters and joiners, folded; reused from run to run.
#[derive(Debug, Default)]
pub(super) struct Compound {
    folded: String,
    units: Vec<Unit>,
    /// A whole without its hyphens.
    whole: String,
}

impl Compound {
    /// Reads the run that begins with the letter or digit at `start`; returns where it ends.
    pub(super) fn read(&mut self, text: &str, start: usize) -> usize {
        self.folded.clear();
        self.units.clear();
        let mut end = start;
        for (offset, c) in text[start..].char_indices() {
            let at = start + offset;
            end = at + c.len_utf8();
            let class = class(c);
            match class {
                Class::Lower | Class::Upper | Class::Digit if self.units.len() < MAX_UNITS => {
                    let folded = self.folded.len();
                    push_letter(c, &mut self.folded);
                    if self.folded.len() > folded {
                        self.units.push(Unit { class, folded, start: at, end });
                    }
                }
                Class::Joiner(sign) if self.units.len() < MAX_UNITS && self.may_join(sign) => {
                    self.units.push(Unit { class, folded: self.folded.len(), start: at, end });
                    self.folded.push(sign as char);
                }
                Class::Mark => {
                    push_mark(c, &mut self.folded);
                    if let Some(unit) = self.units.last_mut() {
                        unit.end = end;
                    }
                }
                Class::Ignorable => {}
                _ => {
                    end = at;
                    break;
                }
            }
        }
        self.trim();
        // The first character is a letter, so there is always a way on.
        end.max(start + 1)
    }

    /// Whether `sign` goes on with the run: joiners stand alone, but for `://`, `::`, `:\` and `++`.
    fn may_join(&self, sign: u8) -> bool {
        if self.units.last().is_none_or(|unit| joiner(unit.class).is_none()) {
            return true;
        }
        let before = self.units.iter().rev().map_while(|unit| joiner(unit.class));
        let (count, first) = before.fold((0, None), |(count, _), sign| (count + 1, Some(sign)));
        match first {
            None => true,
            Some(b':') => count < 3 && matches!(sign, b'/' | b':' | b'\\'),
            Some(b'+') => count < 2 && sign == b'+',
            Some(_) => false,
        }
    }

    /// Takes joiners off the end, but for those of `C++` and `C#`.
    fn trim(&mut self) {
        let letters =
            self.units.iter().rposition(|unit| joiner(unit.class).is_none()).map_or(0, |last| last + 1);
        let rest = self.units.get(letters).map_or("", |unit| &self.folded[unit.folded..]);
        let named =
            letters > 0 && self.units[letters - 1].class != Class::Digit && matches!(rest, "++" | "#");
        if !named {
            if let Some(unit) = self.units.get(letters) {
                self.folded.truncate(unit.folded);
            }
            self.units.truncate(letters);
        }
    }

    /// Calls `sink` with the terms of the run.
    pub(super) fn emit<S: FnMut(Term<'_>) + ?Sized>(&mut self, mode: Mode, sink: &mut S) {
        let all = 0..self.units.len();
        if all.is_empty() {
            return;
        }
        if !self.joiners(&all) {
            return self.emit_part(all, mode, false, sink);
        }
        let mut whole = std::mem::take(&mut self.whole);
        if mode != Mode::Words {
            self.emit_whole(&all, &mut whole, false, sink);
        }
        let strong = |class| matches!(joiner(class), Some(b'/' | b':' | b'\\' | b'@' | b'#'));
        self.split(all.clone(), strong, |segment| {
            if mode != Mode::Words && segment != all && self.joiners(&segment) {
                self.emit_whole(&segment, &mut whole, self.is_piece(&segment), sink);
            }
            let each = |part: Range<usize>| self.emit_part(part.clone(), mode, self.is_piece(&part), sink);
            self.split(segment, |class| joiner(class).is_some(), each);
        });
        self.whole = whole;
    }

    /// Whether a part is bound to a neighbour by a sign that identifiers are made with.
    fn is_piece(&self, part: &Range<usize>) -> bool {
        let binds = |at: usize| {
            let sign = self.units.get(at).and_then(|unit| joiner(unit.class));
            matches!(sign, Some(b'_' | b'.' | b':' | b'\\' | b'@' | b'#'))
        };
        binds(part.end) || part.start > 0 && binds(part.start - 1)
    }

    fn joiners(&self, range: &Range<usize>) -> bool {
        self.units[range.clone()].iter().any(|unit| joiner(unit.class).is_some())
    }

    /// Calls `each` with the ranges between the units that `cuts`, empty ones left out.
    fn split(&self, range: Range<usize>, cuts: impl Fn(Class) -> bool, mut each: impl FnMut(Range<usize>)) {
        let mut start = range.start;
        for at in range.clone() {
            if cuts(self.units[at].class) {
                if start < at {
                    each(start..at);
                }
                start = at + 1;
            }
        }
        if start < range.end {
            each(start..range.end);
        }
    }

    fn text(&self, range: &Range<usize>) -> &str {
        let end = self.units.get(range.end).map_or(self.folded.len(), |unit| unit.folded);
        &self.folded[self.units[range.start].folded..end]
    }

    fn send<S: FnMut(Term<'_>) + ?Sized>(&self, text: &str, range: &Range<usize>, piece: bool, sink: &mut S) {
        sink(Term { text, start: self.units[range.start].start, end: self.units[range.end - 1].end, piece });
    }

    fn emit_whole<S: FnMut(Term<'_>) + ?Sized>(
        &self,
        range: &Range<usize>,
        whole: &mut String,
        piece: bool,
        sink: &mut S,
    ) {
        whole.clear();
        whole.extend(self.text(range).chars().filter(|c| !matches!(c, '-' | '_' | '\'')));
        if whole.len() <= MAX_TERM_BYTES {
            self.send(whole, range, piece, sink);
        }
    }

    fn emit_part<S: FnMut(Term<'_>) + ?Sized>(
        &self,
        part: Range<usize>,
        mode: Mode,
        piece: bool,
        sink: &mut S,
    ) {
        if self.elided(&part, mode) {
            return;
        }
        let text = self.text(&part);
        self.send(beginning(text), &part, piece, sink);
        if mode != Mode::Words {
            self.emit_atoms(part, sink);
        }
    }

    /// The remains of words around an apostrophe: `'s`, `n't`, `l'`. What comes before it stays where there is no whole.
    fn elided(&self, part: &Range<usize>, mode: Mode) -> bool {
        let apostrophe = |at: usize| self.units.get(at).is_some_and(|unit| joiner(unit.class) == Some(b'\''));
        let tail = part.start > 0 && apostrophe(part.start - 1) && part.len() <= 2;
        let head = mode != Mode::Words
            && apostrophe(part.end)
            && (part.len() == 1
                || self.text(part).ends_with('n')
                    && self.folded[self.units[part.end].folded..].starts_with("'t"));
        tail || head
    }

    /// The pieces of a part that changes case or between letters and digits, as `retryIndex` and `VLAN10` do.
    fn emit_atoms<S: FnMut(Term<'_>) + ?Sized>(&self, part: Range<usize>, sink: &mut S) {
        let class = |at: usize| self.units[at].class;
        let mut starts = [part.start; MAX_ATOMS];
        let mut count = 1;
        for at in part.start + 1..part.end {
            if !border(
                class(at - 1),
                class(at),
                (at + 1 < part.end).then(|| class(at + 1)),
                at + 2 == part.end,
            ) {
                continue;
            }
            if count == MAX_ATOMS {
                return;
            }
            starts[count] = at;
            count += 1;
        }
        if count == 1 {
            return;
        }
        let atoms =
            (0..count).map(|atom| starts[atom]..if atom + 1 < count { starts[atom + 1] } else { part.end });
        let (mut numbers, mut initials) = (0, 0);
        for atom in atoms.clone() {
            match class(atom.start) {
                Class::Digit => numbers += 1,
                _ => initials += usize::from(atom.len() == 1),
            }
        }
        // `a828e60`, `B731`, `v2`: digits among single letters or letters among digits are one name.
        if numbers > 1 || numbers == 1 && initials > 0 {
            return;
        }
        for atom in atoms.filter(|atom| atom.len() > 1 || class(atom.start) == Class::Digit) {
            let text = self.text(&atom);
            self.send(beginning(text), &atom, true, sink);
        }
    }
}

/// Whether a name is cut between two characters: `retry|Index`, `HTML|Parser`, `VLAN|10`, but not `URLs`.
fn border(before: Class, here: Class, after: Option<Class>, last_but_one: bool) -> bool {
    match (before, here) {
        (Class::Digit, Class::Digit) => false,
        (Class::Digit, _) | (_, Class::Digit) | (Class::Lower, Class::Upper) => true,
        (Class::Upper, Class::Upper) => after == Some(Class::Lower) && !last_but_one,
        _ => false,
    }
}

/// As much of a word as a term may hold.
fn beginning(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_TERM_BYTES)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn joiner(class: Class) -> Option<u8> {
    match class {
        Class::Joiner(sign) => Some(sign),
        _ => None,
    }
}
