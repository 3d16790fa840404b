//! The words of a commit: one table in a file for most of its segments, the rest read from their dictionaries.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tantivy::index::SegmentReader;
use tantivy::postings::TermInfo;

use super::fields::{Fields, PIECE_MARK};
use super::words::{Entry, Table, Word};
use crate::text::has_kin;

/// The file of the table, beside tantivy's.
pub(super) const FILE: &str = "words";
/// The table is written anew when segments with more chunks than this are missing in it, and with more than a share of all.
const MOST_MISSING: usize = 512;
const MOST_MISSING_SHARE: usize = 64;

/// The fields a word can stand in, as [`Entry::kind`] counts them.
pub(super) const TEXT: u8 = 0;
pub(super) const PIECE: u8 = 1;
pub(super) const CONTEXT: u8 = 2;
pub(super) const PATH: u8 = 3;

/// Bytes of a segment's id.
type Id = [u8; 16];

/// A word of a vocabulary: its numbers in the table of most segments and in that of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spot {
    base: Option<u32>,
    loose: Option<u32>,
}

/// All words that can have kin, and where they stand.
pub(super) struct Vocabulary {
    base: Option<Arc<Table>>,
    /// The place among this commit's segments of each that the base covers, if it is still there.
    places: Vec<Option<u16>>,
    /// Words of the other segments that the base does not know. Its entries count this commit's segments.
    loose: Table,
    /// Where words of the base stand in the other segments.
    more: FxHashMap<u32, Vec<Entry>>,
}

impl Vocabulary {
    /// The words of `segments` with `chunks` live chunks; the file in `folder` and what `before` has read is used as far as
    /// it goes.
    pub(super) fn new(
        folder: &Path,
        segments: &[&SegmentReader],
        fields: Fields,
        chunks: usize,
        before: Option<&Self>,
    ) -> tantivy::Result<Self> {
        let ids: Vec<Id> = segments.iter().map(|segment| id_of(segment)).collect();
        let covers = |table: &Table| table.segments().iter().filter(|id| ids.contains(id)).count();
        // The table in use stays as long as the file has nothing newer: what was read once is not read again.
        let kept = before.and_then(|before| before.base.clone());
        let base = match kept {
            Some(table) if covers(&table) == table.segments().len() => Some(table),
            _ => Table::open(&folder.join(FILE)).filter(|table| covers(table) > 0).map(Arc::new),
        };
        let covered = base.as_ref().map_or(&[][..], |table| table.segments());
        let places =
            covered.iter().map(|id| ids.iter().position(|one| one == id).map(|place| place as u16)).collect();
        let others = (0_u16..).zip(segments).filter(|(place, _)| !covered.contains(&ids[*place as usize]));
        let (mut fresh, mut more) = (FxHashMap::default(), FxHashMap::<u32, Vec<Entry>>::default());
        for (place, segment) in others {
            each_word(segment, place, fields, &mut |word, entry| match base
                .as_ref()
                .and_then(|table| table.find(word))
            {
                Some(number) => more.entry(number).or_default().push(entry),
                None => note(&mut fresh, word, entry),
            })?;
        }
        let loose = Table::new(&sorted(&fresh), chunks, &[], base.as_deref());
        Ok(Self { base, places, loose, more })
    }

    /// The tables in which kin is looked for.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.base.as_deref().into_iter().chain([&self.loose])
    }

    /// Whether a word is known.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.tables().any(|table| table.find(word).is_some())
    }

    /// Where a word is in the tables.
    pub(super) fn find(&self, word: &str) -> Spot {
        Spot { base: self.base.as_ref().and_then(|base| base.find(word)), loose: self.loose.find(word) }
    }

    /// Every place of the dictionaries of this commit's segments where a word stands.
    pub(super) fn each_place(&self, spot: Spot, sink: &mut dyn FnMut(Entry)) {
        if let (Some(base), Some(word)) = (&self.base, spot.base) {
            for entry in base.entries(word) {
                if let Some(&Some(segment)) = self.places.get(entry.segment as usize) {
                    sink(Entry { segment, ..entry });
                }
            }
            self.more.get(&word).into_iter().flatten().for_each(|&entry| sink(entry));
        }
        if let Some(word) = spot.loose {
            self.loose.entries(word).for_each(sink);
        }
    }
}

/// The segments that the file in `folder` covers.
pub(super) fn covered(folder: &Path) -> Vec<Id> {
    Table::open(&folder.join(FILE)).map(|table| table.segments().to_vec()).unwrap_or_default()
}

/// Writes the table of `segments` if too much of them is missing in `covered`; what is covered then.
pub(super) fn write(
    folder: &Path,
    segments: &[SegmentReader],
    fields: Fields,
    covered: Vec<Id>,
) -> tantivy::Result<Vec<Id>> {
    let chunks = |known: bool| -> usize {
        let counted = segments.iter().filter(|segment| !known || !covered.contains(&id_of(segment)));
        counted.map(|segment| segment.num_docs() as usize).sum()
    };
    let (all, missing) = (chunks(false), chunks(true));
    if missing <= MOST_MISSING.max(all / MOST_MISSING_SHARE) {
        return Ok(covered);
    }
    let mut words = FxHashMap::default();
    for (number, segment) in (0_u16..).zip(segments) {
        each_word(segment, number, fields, &mut |word, entry| note(&mut words, word, entry))?;
    }
    let ids: Vec<Id> = segments.iter().map(id_of).collect();
    Table::new(&sorted(&words), all, &ids, None).save(&folder.join(FILE))?;
    Ok(ids)
}

fn id_of(segment: &SegmentReader) -> Id {
    let mut id = [0; 16];
    let digits = segment.segment_id().uuid_string();
    for (byte, pair) in id.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = std::str::from_utf8(pair)
            .ok()
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .unwrap_or_default();
    }
    id
}

fn note(words: &mut FxHashMap<String, Word>, word: &str, entry: Entry) {
    let known = match words.get_mut(word) {
        Some(known) => known,
        None => words.entry(word.to_owned()).or_default(),
    };
    known.chunks += entry.holding;
    known.entries.push(entry);
}

pub(super) fn sorted(words: &FxHashMap<String, Word>) -> Vec<(&str, &Word)> {
    let mut list: Vec<(&str, &Word)> = words.iter().map(|(word, facts)| (&word[..], facts)).collect();
    list.sort_unstable_by_key(|(word, _)| *word);
    list
}

/// Calls `sink` with the words with kin of a segment, which the entries count as `number`, and where their postings lie.
fn each_word(
    segment: &SegmentReader,
    number: u16,
    fields: Fields,
    sink: &mut dyn FnMut(&str, Entry),
) -> tantivy::Result<()> {
    for (field, whole) in [(fields.text, TEXT), (fields.context, CONTEXT), (fields.path, PATH)] {
        let index = segment.inverted_index(field)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
            let (word, kind) = match term.strip_prefix(PIECE_MARK) {
                Some(piece) => (piece, PIECE),
                None => (term, whole),
            };
            if has_kin(word) {
                let TermInfo { doc_freq: holding, postings_range: range, .. } = terms.value().clone();
                let (start, length) = (range.start as u64, range.len() as u32);
                sink(word, Entry { segment: number, kind, start, length, holding });
            }
        }
    }
    Ok(())
}
