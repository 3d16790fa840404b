//! From a word to the rows of its pieces: the cheapest way to put it together, found in a mapped double-array trie.

use std::ops::Range;

use super::u32_at;
use super::words::WORD_START;

/// How many words the cache remembers; a power of two.
const CACHED: usize = 4096;
/// Longest word (in bytes) and most pieces that are worth remembering.
const CACHED_BYTES: usize = 31;
const CACHED_PIECES: usize = 7;
const NO_PIECE: u32 = u32::MAX;

const ROW: u32 = 1 << 31;
const PIECE_ENDS: u32 = 1 << 8;
const LABEL: u32 = ROW | 0xFF;

/// Where the piece tables lie in the file, and what it costs to leave something out.
pub(super) struct Pieces {
    /// The trie. A unit holds its label (bits 0-7), whether a piece ends here (bit 8), and the offset of its children
    /// (bits 9-30): the child by byte `b` is the unit `offset ^ b` if its label is `b`, the piece that ends here has
    /// the unit `offset`, whose highest bit is set and whose rest is its row.
    pub(super) trie: Range<usize>,
    /// What each piece costs: 1000 times minus the natural logarithm of its probability.
    pub(super) costs: Range<usize>,
    pub(super) rows: usize,
    /// What a character without a piece costs.
    pub(super) skip_cost: u32,
    /// What a word's start costs if no piece holds it.
    pub(super) prefix_cost: u32,
}

/// The buffers of one call, and the words it has seen.
pub(super) struct Scratch {
    pub(super) word: Vec<u8>,
    pub(super) cut: Cut,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            word: Vec::new(),
            cut: Cut { steps: Vec::new(), rows: Vec::new(), seen: vec![Seen::NONE; CACHED] },
        }
    }
}

/// The work of cutting a word into pieces.
pub(super) struct Cut {
    steps: Vec<Step>,
    rows: Vec<u32>,
    seen: Vec<Seen>,
}

/// The best way to a place in the word.
#[derive(Clone, Copy)]
struct Step {
    cost: u32,
    from: u32,
    row: u32,
}

/// A word of the cache and its rows.
#[derive(Clone, Copy)]
struct Seen {
    bytes: [u8; CACHED_BYTES],
    length: u8,
    rows: [u32; CACHED_PIECES],
    count: u32,
}

impl Seen {
    const NONE: Self = Self { bytes: [0; CACHED_BYTES], length: 0, rows: [0; CACHED_PIECES], count: 0 };
}

impl Pieces {
    /// The rows of the pieces of `word`, in order.
    pub(super) fn of_word<'a>(&self, map: &[u8], word: &[u8], cut: &'a mut Cut) -> &'a [u32] {
        let Cut { steps, rows, seen } = cut;
        if word.len() > CACHED_BYTES {
            self.cut(map, word, steps, rows);
            return rows;
        }
        let entry = &mut seen[slot(word)];
        if usize::from(entry.length) != word.len() || &entry.bytes[..word.len()] != word {
            self.cut(map, word, steps, rows);
            if rows.len() > CACHED_PIECES {
                return rows;
            }
            entry.bytes[..word.len()].copy_from_slice(word);
            entry.length = word.len() as u8;
            entry.rows[..rows.len()].copy_from_slice(rows);
            entry.count = rows.len() as u32;
        }
        &entry.rows[..entry.count as usize]
    }

    /// Finds the cheapest pieces by the Viterbi algorithm over the places between characters.
    fn cut(&self, map: &[u8], word: &[u8], steps: &mut Vec<Step>, rows: &mut Vec<u32>) {
        steps.clear();
        steps.resize(word.len() + 1, Step { cost: u32::MAX, from: 0, row: NO_PIECE });
        steps[0].cost = 0;
        for from in 0..word.len() {
            let cost = steps[from].cost;
            if cost == u32::MAX {
                continue; // inside a character
            }
            let mut reach = |to: usize, more: u32, row: u32| {
                let cost = cost.saturating_add(more).min(u32::MAX - 1);
                if cost < steps[to].cost {
                    steps[to] = Step { cost, from: from as u32, row };
                }
            };
            let skip = if word[from] == WORD_START { self.prefix_cost } else { self.skip_cost };
            reach(from + char_length(word[from]).min(word.len() - from), skip, NO_PIECE);
            self.pieces_from(map, &word[from..], |length, row| {
                reach(from + length, u32_at(map, self.costs.start + 4 * row as usize), row);
            });
        }
        rows.clear();
        let mut at = word.len();
        while at > 0 {
            let step = steps[at];
            if step.row != NO_PIECE {
                rows.push(step.row);
            }
            at = step.from as usize;
        }
        rows.reverse();
    }

    /// Calls `found` with the length and the row of every piece that `bytes` starts with.
    fn pieces_from(&self, map: &[u8], bytes: &[u8], mut found: impl FnMut(usize, u32)) {
        let trie = &map[self.trie.clone()];
        let unit = |index: usize| trie.get(4 * index..4 * index + 4).map(|_| u32_at(trie, 4 * index));
        let Some(root) = unit(0) else { return };
        let mut offset = (root >> 9) as usize;
        for (index, &byte) in bytes.iter().enumerate() {
            let Some(child) = unit(offset ^ usize::from(byte)).filter(|unit| unit & LABEL == u32::from(byte))
            else {
                return;
            };
            offset = (child >> 9) as usize;
            if child & PIECE_ENDS != 0
                && let Some(row) = unit(offset).map(|unit| unit & !ROW)
                && (row as usize) < self.rows
            {
                found(index + 1, row);
            }
        }
    }
}

/// Bytes of the UTF-8 character that starts with `first`.
fn char_length(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// The place of a word in the cache: FNV-1a, folded.
fn slot(word: &[u8]) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in word {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 29)) as usize & (CACHED - 1)
}
