//! The built-in embedding model: a text's vector is the weighted sum of one row per piece of its words.
//!
//! No network is run: the model is a table made once from a transformer (`models/static/`). The file is mapped and
//! read in place, so opening it costs its checksum and nothing is parsed. All numbers of the file are little endian:
//!
//! ```text
//! 0    8 bytes  magic "MGMSTAT1"
//! 8    7 x u32  dimensions, rows, trie units, length of the id, skip cost, prefix cost, reserved (0)
//! 36   32 bytes BLAKE3 of the whole file with these 32 bytes left out
//! 68   sections, each padded with zeros to a multiple of 64 bytes from the start of the file:
//!      id (UTF-8); trie (u32); piece costs (u32 per row); row scales (f32 per row); rows (i8, dimensions per row)
//! ```
//!
//! A text becomes words and a word becomes pieces by rules that `models/static/tokenise.py` states a second time;
//! `tests/data/static-pieces.json` holds both to the same answer.

mod pieces;
mod words;

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use self::pieces::{Pieces, Scratch};
use self::words::for_each_word;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"MGMSTAT1";
const HEADER: usize = 68;
const DIGEST: Range<usize> = 36..68;
const ALIGN: usize = 64;
/// More would be a foreign file whose sizes happen to fit.
const MAX_DIMS: usize = 4096;

/// A static token-embedding model.
pub struct StaticModel {
    map: Mmap,
    id: String,
    dims: usize,
    pieces: Pieces,
    scales: Range<usize>,
    rows: Range<usize>,
    /// Buffers of finished calls; each call takes one, so threads never wait for each other's text.
    idle: Mutex<Vec<Box<Scratch>>>,
}

impl StaticModel {
    /// Maps the model file and checks its header and its checksum.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is no model of this format or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        #[allow(unsafe_code, reason = "a mapping is only as constant as its file")]
        // SAFETY: the file is package data or a user's model, mapped read-only and replaced only by renaming.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io("read", path))?;
        Self::from_map(map).map_err(|message| Error::Model { path: path.to_owned(), message })
    }

    fn from_map(map: Mmap) -> Result<Self, String> {
        if map.get(..MAGIC.len()) != Some(MAGIC) {
            return Err("not a static embedding model of this version; install memgrep again".into());
        }
        if map.len() < HEADER {
            return Err("the file is cut off; install memgrep again".into());
        }
        let field = |n: usize| u32_at(&map, 8 + 4 * n);
        let [dims, rows, units, id_length] = [0, 1, 2, 3].map(|n| field(n) as usize);
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(format!("{dims} dimensions are not between 1 and {MAX_DIMS}; install memgrep again"));
        }
        let mut end = HEADER;
        let mut section = |length: Option<usize>| -> Option<Range<usize>> {
            let start = end.checked_next_multiple_of(ALIGN)?;
            end = start.checked_add(length?)?;
            Some(start..end)
        };
        let sections = [
            section(Some(id_length)),
            section(units.checked_mul(4)),
            section(rows.checked_mul(4)),
            section(rows.checked_mul(4)),
            section(rows.checked_mul(dims)),
        ];
        let [Some(id), Some(trie), Some(costs), Some(scales), Some(table)] = sections else {
            return Err("its header states impossible sizes; install memgrep again".into());
        };
        if table.end != map.len() {
            let (is, should) = (map.len(), table.end);
            return Err(format!("{is} bytes long where its header states {should}; install memgrep again"));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&map[..DIGEST.start]).update(&map[DIGEST.end..]);
        if hasher.finalize().as_bytes() != &map[DIGEST] {
            return Err("its checksum does not match, the file is damaged; install memgrep again".into());
        }
        let id = String::from_utf8(map[id].to_vec()).map_err(|_| "its id is not UTF-8".to_owned())?;
        let pieces = Pieces { trie, costs, rows, skip_cost: field(4), prefix_cost: field(5) };
        Ok(Self { map, id, dims, pieces, scales, rows: table, idle: Mutex::default() })
    }

    /// Length of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Name and revision, for the fingerprint.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends the unit vector of `text` to `out`; false (and nothing appended) for a text without a known token.
    ///
    /// The vector is the same to the bit on every call and machine: the rows are added in the order of the text,
    /// and no operation is fused or reordered.
    pub fn embed(&self, text: &str, out: &mut Vec<f32>) -> bool {
        let mut scratch = self.lock_idle().pop().unwrap_or_default();
        let start = out.len();
        out.resize(start + self.dims, 0.0);
        let sum = &mut out[start..];
        for_each_word(text, &mut scratch.word, |word| {
            for &row in self.pieces.of_word(&self.map, word, &mut scratch.cut) {
                self.add_row(row as usize, sum);
            }
        });
        let known = normalise(sum);
        if !known {
            out.truncate(start);
        }
        self.lock_idle().push(scratch);
        known
    }

    /// The rows of the pieces of `text`, in order: what the tokeniser does, for its tests.
    #[cfg(test)]
    fn piece_rows(&self, text: &str) -> Vec<u32> {
        let mut scratch = Scratch::default();
        let mut rows = Vec::new();
        for_each_word(text, &mut scratch.word, |word| {
            rows.extend_from_slice(self.pieces.of_word(&self.map, word, &mut scratch.cut));
        });
        rows
    }

    fn add_row(&self, row: usize, sum: &mut [f32]) {
        let scale = f32::from_bits(u32_at(&self.map, self.scales.start + 4 * row));
        let start = self.rows.start + row * self.dims;
        for (sum, &byte) in sum.iter_mut().zip(&self.map[start..start + self.dims]) {
            *sum += scale * f32::from(byte as i8);
        }
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Box<Scratch>>> {
        // A panic elsewhere cannot leave a half-written list: it is only pushed to and popped from.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scales `sum` to length 1; false if it has no direction.
fn normalise(sum: &mut [f32]) -> bool {
    let squares: f64 = sum.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let factor = squares.sqrt().recip() as f32;
    if !(squares > 0.0 && factor.is_finite()) {
        return false;
    }
    sum.iter_mut().for_each(|x| *x *= factor);
    true
}

/// The little-endian number at `at`, which must lie inside `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}
