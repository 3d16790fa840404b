//! The distinct words of an index and what they look like: from a word of a question to the words that may answer it.
//!
//! Grams are a property of a word, not of its occurrences, so they are kept once for each distinct word instead of being
//! indexed with every chunk: a tenth of the room, and indexing stays as fast as without them. A table also says where each
//! of its words stands in the segments it covers, so that no dictionary is asked for the words it finds.

use std::fs::File;
use std::path::Path;

use super::bm25::idf;
use super::folder;
use crate::text::{ANALYSER_VERSION, has_kin, letter_grams};
use memmap2::Mmap;

/// First bytes of a file; the last one is the format's version.
const MAGIC: &[u8; 8] = b"mgwords\x01";
const CHECKSUM: usize = blake3::OUT_LEN;
/// Magic, checksum of everything behind it, then seven numbers.
const HEADER: usize = 8 + CHECKSUM + COUNTS * 4;
const COUNTS: usize = 7;
/// Bytes of a segment's id.
const SEGMENT: usize = 16;

/// Words that share less than this with the word asked for are not its kin: the cosine of their grams, weighted by IDF.
const LEAST_COSINE: f32 = 0.1;
/// The power of the cosine that is kinship: a loose resemblance says less than its share.
const KINSHIP_POWER: f32 = 1.3;
/// The most kin of one word.
const MOST_KIN: usize = 64;
/// Words that are nearer than this are taken for forms of one word,
const FORM: f32 = 0.5;
/// and so are words that begin with the same letters, so many at least and this share of the longer one.
const FORM_LETTERS: usize = 4;
const FORM_SHARE: f32 = 0.6;

/// Where the postings of a word lie: segment (as numbered by the table), kind of field, bytes in that field's postings, and
/// how many chunks they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) segment: u16,
    pub(super) kind: u8,
    /// Below 2^40.
    pub(super) start: u64,
    pub(super) length: u32,
    pub(super) holding: u32,
}

impl Entry {
    fn pack(self) -> [u64; 2] {
        let place = self.start | u64::from(self.kind) << 40 | u64::from(self.segment) << 48;
        [place, u64::from(self.length) | u64::from(self.holding) << 32]
    }

    fn unpack([place, size]: [u64; 2]) -> Self {
        Self {
            segment: (place >> 48) as u16,
            kind: (place >> 40) as u8,
            start: place & ((1 << 40) - 1),
            length: size as u32,
            holding: (size >> 32) as u32,
        }
    }
}

/// A word on its way into a table.
#[derive(Debug, Default, Clone)]
pub(super) struct Word {
    /// Chunks that hold it, in any field.
    pub(super) chunks: u32,
    pub(super) entries: Vec<Entry>,
}

/// Bytes in memory or in a file.
enum Bytes {
    Made(Vec<u8>),
    Mapped(Mmap),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Made(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// Distinct words with their grams. Read only; layout, little-endian, behind the header: ids of the segments; grams
/// `u64` ascending; entries, two `u64` each; starts of each gram's words; IDF of each gram `f32`; words of all
/// grams; starts of each word's letters; weight of each word's grams `f32`; starts of each word's
/// entries; letters.
pub(super) struct Table {
    bytes: Bytes,
    parts: [usize; PARTS + 1],
    words: usize,
}

const PARTS: usize = 10;
const SEGMENTS: usize = 0;
const GRAMS: usize = 1;
const ENTRIES: usize = 2;
const GRAM_STARTS: usize = 3;
const GRAM_IDFS: usize = 4;
const GRAM_WORDS: usize = 5;
const LETTER_STARTS: usize = 6;
const WEIGHTS: usize = 7;
const ENTRY_STARTS: usize = 8;
const LETTERS: usize = 9;

impl Table {
    /// A table of `words` (ascending), in an index of `chunks` chunks, that covers `segments`. The IDF of a gram that `known` has
    /// is the one it has there.
    pub(super) fn new(
        words: &[(&str, &Word)],
        chunks: usize,
        segments: &[[u8; SEGMENT]],
        known: Option<&Self>,
    ) -> Self {
        let (mut pairs, mut keys) = (Vec::new(), Vec::new());
        for (number, (word, _)) in words.iter().enumerate().filter(|(_, (word, _))| has_kin(word)) {
            letter_grams(word, &mut keys);
            pairs.extend(keys.iter().map(|&key| (key, number as u32)));
        }
        pairs.sort_unstable();
        let (mut grams, mut starts, mut idfs) = (Vec::new(), Vec::new(), Vec::new());
        let mut weights = vec![0_f32; words.len()];
        for (run, group) in runs(&pairs) {
            let key = group[0].0;
            let holding: f64 = group.iter().map(|&(_, word)| f64::from(words[word as usize].1.chunks)).sum();
            let idf = known
                .and_then(|table| table.gram(key))
                .map_or_else(|| idf(chunks, holding.min(chunks as f64)), |(_, idf)| idf);
            group.iter().for_each(|&(_, word)| weights[word as usize] += idf);
            grams.push(key);
            starts.push(run as u32);
            idfs.push(idf);
        }
        starts.push(pairs.len() as u32);
        let (mut letters, mut letter_starts, mut entries, mut entry_starts) =
            (Vec::new(), vec![0_u32], Vec::new(), vec![0_u32]);
        for (word, facts) in words {
            letters.extend_from_slice(word.as_bytes());
            letter_starts.push(letters.len() as u32);
            entries.extend(facts.entries.iter().flat_map(|entry| entry.pack()));
            entry_starts.push(entries.len() as u32 / 2);
        }
        let counts: [u32; COUNTS] = [
            ANALYSER_VERSION,
            segments.len() as u32,
            grams.len() as u32,
            entries.len() as u32 / 2,
            pairs.len() as u32,
            words.len() as u32,
            letters.len() as u32,
        ];
        let mut bytes = Vec::with_capacity(HEADER + pairs.len() * 4 + grams.len() * 16 + letters.len() * 2);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[0; CHECKSUM]);
        counts.iter().for_each(|count| bytes.extend_from_slice(&count.to_le_bytes()));
        segments.iter().for_each(|id| bytes.extend_from_slice(id));
        let mut long = |values: &mut dyn Iterator<Item = u64>| {
            values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        };
        long(&mut grams.into_iter());
        long(&mut entries.into_iter());
        let mut short = |values: &mut dyn Iterator<Item = u32>| {
            values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        };
        short(&mut starts.into_iter());
        short(&mut idfs.into_iter().map(f32::to_bits));
        short(&mut pairs.iter().map(|pair| pair.1));
        short(&mut letter_starts.into_iter());
        short(&mut weights.into_iter().map(f32::to_bits));
        short(&mut entry_starts.into_iter());
        bytes.extend_from_slice(&letters);
        Self::of(Bytes::Made(bytes)).expect("a table of this layout")
    }

    /// Reads the header; `None` when the bytes are no table.
    fn of(bytes: Bytes) -> Option<Self> {
        let header = bytes.get(..HEADER)?;
        let counts: Vec<usize> = header[8 + CHECKSUM..]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes) as usize)
            .collect();
        let &[version, segments, grams, entries, pairs, words, letters] = &counts[..] else {
            return None;
        };
        if &header[..8] != MAGIC || version != ANALYSER_VERSION as usize {
            return None;
        }
        let mut parts = [HEADER; PARTS + 1];
        let sizes = [
            segments * SEGMENT,
            grams * 8,
            entries * 16,
            (grams + 1) * 4,
            grams * 4,
            pairs * 4,
            (words + 1) * 4,
            words * 4,
            (words + 1) * 4,
            letters,
        ];
        for (part, size) in sizes.into_iter().enumerate() {
            parts[part + 1] = parts[part].checked_add(size)?;
        }
        (bytes.len() == parts[PARTS]).then_some(Self { bytes, parts, words })
    }

    /// Writes it to a file that appears whole or not at all.
    pub(super) fn save(&self, path: &Path) -> std::io::Result<()> {
        let content = &self.bytes[8 + CHECKSUM..];
        folder::replace(path, &[MAGIC, blake3::hash(content).as_bytes(), content])
    }

    /// Maps a file of [`Table::save`]; `None` when it is absent, damaged or of another version.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        #[allow(unsafe_code, reason = "a table is read a few words at a time")]
        // SAFETY: writers never change a file in place, they rename a new one over it; the mapping keeps the old one alive.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let table = Self::of(Bytes::Mapped(map))?;
        let checksum: [u8; CHECKSUM] = table.bytes[8..8 + CHECKSUM].try_into().ok()?;
        let right = blake3::hash(&table.bytes[8 + CHECKSUM..]) == blake3::Hash::from_bytes(checksum);
        right.then_some(table)
    }

    fn part(&self, part: usize) -> &[u8] {
        &self.bytes[self.parts[part]..self.parts[part + 1]]
    }

    fn long(&self, part: usize, place: usize) -> u64 {
        u64::from_le_bytes(self.part(part).as_chunks::<8>().0[place])
    }

    fn short(&self, part: usize, place: usize) -> u32 {
        u32::from_le_bytes(self.part(part).as_chunks::<4>().0[place])
    }

    fn range(&self, part: usize, place: usize) -> std::ops::Range<usize> {
        self.short(part, place) as usize..self.short(part, place + 1) as usize
    }

    /// The segments it covers, in their numbering.
    pub(super) fn segments(&self) -> &[[u8; SEGMENT]] {
        self.part(SEGMENTS).as_chunks::<SEGMENT>().0
    }

    pub(super) fn len(&self) -> usize {
        self.words
    }

    pub(super) fn word(&self, number: u32) -> &str {
        let range = self.range(LETTER_STARTS, number as usize);
        std::str::from_utf8(&self.part(LETTERS)[range]).unwrap_or_default()
    }

    pub(super) fn entries(&self, number: u32) -> impl Iterator<Item = Entry> {
        let place = |place| [2 * place, 2 * place + 1].map(|place| self.long(ENTRIES, place));
        self.range(ENTRY_STARTS, number as usize).map(move |number| Entry::unpack(place(number)))
    }

    /// The number of a word.
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.words as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.word(middle).cmp(word) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Place and IDF of a gram.
    fn gram(&self, key: u64) -> Option<(usize, f32)> {
        let grams = self.part(GRAMS).as_chunks::<8>().0;
        let place = grams.binary_search_by_key(&key, |bytes| u64::from_le_bytes(*bytes)).ok()?;
        Some((place, f32::from_bits(self.short(GRAM_IDFS, place))))
    }
}

/// A word that may stand for another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kin {
    /// The table it is in, as a place in the list of tables.
    pub(super) table: usize,
    pub(super) word: u32,
    /// Above 0, at most 1.
    pub(super) kinship: f32,
}

/// Memory for one search of kin, reused.
#[derive(Default)]
pub(super) struct Room {
    keys: Vec<u64>,
    shared: Vec<f32>,
    touched: Vec<u32>,
}

/// The kin of `term` in `tables` (the first one knows the IDFs of grams), nearest first, without the term itself, at most
/// [`MOST_KIN`].
///
/// Kinship is `cos^1.3`, `cos` being the cosine of the two words' sets of grams weighted by IDF, from 0.1 on. A gram of `term`
/// that no word has counts with the highest IDF.
pub(super) fn kin(term: &str, tables: &[&Table], chunks: usize, room: &mut Room) -> Vec<Kin> {
    if !has_kin(term) {
        return Vec::new();
    }
    letter_grams(term, &mut room.keys);
    let weigh = |&key: &u64| {
        let known = tables.iter().find_map(|table| table.gram(key));
        known.map_or_else(|| idf(chunks, 0.0), |(_, idf)| idf)
    };
    let weight: f32 = room.keys.iter().map(weigh).sum();
    let mut all = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        room.shared.resize(room.shared.len().max(table.len()), 0.0);
        for &key in &room.keys {
            let Some((place, idf)) = table.gram(key) else { continue };
            let range = table.range(GRAM_STARTS, place);
            for bytes in &table.part(GRAM_WORDS).as_chunks::<4>().0[range] {
                let word = u32::from_le_bytes(*bytes);
                let shared = &mut room.shared[word as usize];
                if *shared == 0.0 {
                    room.touched.push(word);
                }
                *shared += idf;
            }
        }
        for word in room.touched.drain(..) {
            let shared = std::mem::take(&mut room.shared[word as usize]);
            let other = f32::from_bits(table.short(WEIGHTS, word as usize));
            // Squares do while there is something to leave out.
            let square = shared * shared / (weight * other);
            if square >= LEAST_COSINE * LEAST_COSINE {
                all.push(Kin { table: number, word, kinship: square });
            }
        }
    }
    all.retain(|kin| tables[kin.table].word(kin.word) != term);
    let order = |one: &Kin, other: &Kin| {
        let words = || tables[one.table].word(one.word).cmp(tables[other.table].word(other.word));
        other.kinship.total_cmp(&one.kinship).then_with(words)
    };
    if all.len() > MOST_KIN {
        all.select_nth_unstable_by(MOST_KIN - 1, order);
        all.truncate(MOST_KIN);
    }
    all.sort_unstable_by(order);
    all.iter_mut().for_each(|kin| kin.kinship = kin.kinship.min(1.0).powf(KINSHIP_POWER / 2.0));
    all
}

/// Whether `word` is taken for a form of `term`, as `decided` is of `deciding`: what shows it holds the term.
pub(super) fn is_form(term: &str, word: &str, kinship: f32) -> bool {
    let same = term.chars().zip(word.chars()).take_while(|(one, other)| one == other).count();
    let longer = term.chars().count().max(word.chars().count());
    kinship >= FORM || same >= FORM_LETTERS && same as f32 >= FORM_SHARE * longer as f32
}

/// Runs of equal keys: where each begins, and its pairs.
fn runs(pairs: &[(u64, u32)]) -> impl Iterator<Item = (usize, &[(u64, u32)])> {
    let mut at = 0;
    pairs.chunk_by(|one, next| one.0 == next.0).map(move |group| {
        at += group.len();
        (at - group.len(), group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const CHUNKS: usize = 100;

    fn table(words: &BTreeMap<String, u32>) -> Table {
        let made: Vec<Word> = words
            .values()
            .map(|&chunks| {
                let entry = Entry { segment: 1, kind: 2, start: (1 << 40) - 1, length: 7, holding: chunks };
                Word { chunks, entries: vec![entry; chunks as usize % 3] }
            })
            .collect();
        let list: Vec<(&str, &Word)> = words.keys().map(String::as_str).zip(&made).collect();
        Table::new(&list, CHUNKS, &[[1; 16], [2; 16]], None)
    }

    /// The definition, word by word.
    fn expected(term: &str, words: &BTreeMap<String, u32>) -> Vec<(String, f32)> {
        let grams_of = |word: &str| {
            let mut keys = Vec::new();
            letter_grams(word, &mut keys);
            keys
        };
        let idf_of = |gram: &u64| {
            let holding = words.iter().filter(|(word, _)| has_kin(word) && grams_of(word).contains(gram));
            match holding.map(|(_, chunks)| chunks).sum::<u32>() {
                0 => idf(CHUNKS, 0.0),
                holding => idf(CHUNKS, f64::from(holding.min(CHUNKS as u32))),
            }
        };
        let weight = |grams: &[u64]| grams.iter().map(idf_of).sum::<f32>();
        let asked = grams_of(term);
        let mut kin = Vec::new();
        for word in words.keys().filter(|word| has_kin(word) && *word != term) {
            let grams = grams_of(word);
            let shared: Vec<u64> = grams.iter().filter(|gram| asked.contains(gram)).copied().collect();
            let cosine = weight(&shared) / (weight(&grams) * weight(&asked)).sqrt();
            let kinship = if cosine >= LEAST_COSINE { cosine.powf(KINSHIP_POWER) } else { 0.0 };
            if kinship > 0.0 {
                kin.push((word.clone(), kinship));
            }
        }
        kin
    }

    proptest! {
        #[test]
        fn kin_is_what_the_definition_says(
            words in proptest::collection::btree_map("[a-c]{1,6}(ed|s|ung|en)?|[a-c]{2}[0-9]", 1u32..30, 1..40),
            term in "[a-c]{1,6}(ed|s)?"
        ) {
            let table = table(&words);
            let mut room = Room::default();
            for _ in 0..2 {
                let found = kin(&term, &[&table], CHUNKS, &mut room);
                let mut right = if has_kin(&term) { expected(&term, &words) } else { Vec::new() };
                prop_assert!(found.is_sorted_by(|one, next| one.kinship >= next.kinship));
                let mut named: Vec<(String, f32)> =
                    found.iter().map(|kin| (table.word(kin.word).to_owned(), kin.kinship)).collect();
                named.sort_by(|one, other| one.0.cmp(&other.0));
                right.sort_by(|one, other| one.0.cmp(&other.0));
                // At the very threshold rounding decides.
                let clear = |list: &[(String, f32)]| -> Vec<(String, i32)> {
                    let least = LEAST_COSINE.powf(KINSHIP_POWER) + 1e-4;
                    let clear = list.iter().filter(|(_, kinship)| *kinship > least);
                    clear.map(|(word, kinship)| (word.clone(), (kinship * 1000.0).round() as i32)).collect()
                };
                prop_assert_eq!(clear(&named), clear(&right));
            }
        }
    }

    #[test]
    fn forms_begin_alike() {
        for (term, word) in [("deciding", "decided"), ("frist", "fristen"), ("harbour", "harbours")] {
            assert!(is_form(term, word, 0.3), "{term} {word}");
        }
        for (term, word) in
            [("decide", "decimal"), ("winter", "printer"), ("frist", "verjahrungsfrist"), ("so", "sow")]
        {
            assert!(!is_form(term, word, 0.45), "{term} {word}");
        }
        assert!(is_form("gebucht", "buchte", 0.5));
    }

    #[test]
    fn a_table_comes_back_from_its_file_or_not_at_all() {
        let words: BTreeMap<String, u32> = ["fee", "fees", "frist", "fristen", "harbour"]
            .map(|word| (word.to_owned(), word.len() as u32))
            .into();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let made = table(&words);
        made.save(&path).unwrap();
        let again = Table::open(&path).unwrap();
        assert_eq!(again.segments(), [[1; 16], [2; 16]]);
        for (word, number) in words.keys().zip(0..) {
            assert_eq!((again.word(number), again.find(word)), (&word[..], Some(number)));
            assert!(again.entries(number).eq(made.entries(number)));
            assert_eq!(again.entries(number).count(), word.len() % 3);
        }
        assert_eq!(again.find("nowhere"), None);

        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(Table::open(&path).is_none(), "cut to {length}");
        }
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            std::fs::write(&path, &flipped).unwrap();
            assert!(Table::open(&path).is_none(), "bit of byte {place}");
        }
    }
}
