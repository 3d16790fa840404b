//! The exact vectors again, in one memory-mapped file: rescoring a few hundred candidates out of SQLite costs milliseconds,
//! out of mapped memory a tenth of one.
//!
//! A chunk's vector never changes under one fingerprint, so a file that is behind the store is still right for every
//! chunk it knows; the store answers for the others. The list of chunks is checked when the file is opened, a row when
//! it is read: what is damaged is as good as absent.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

use memmap2::Mmap;

use super::Vectors;
use crate::error::{Error, Result};

/// First bytes of a file; the last one is the format's version.
const MAGIC: &[u8; 8] = b"mgrows\0\x01";
/// Magic, dims `u32`, length of the fingerprint `u32`, count `u64`.
const HEADER: usize = 24;
const CHECKSUM: usize = blake3::OUT_LEN;
/// Rows start at a multiple of this.
const ALIGNMENT: usize = 64;

/// The vectors of many chunks under one fingerprint.
pub struct Rows {
    map: Mmap,
    dims: usize,
    count: usize,
    /// Where the ids begin; the digests follow them.
    ids: usize,
    /// Where the rows begin.
    rows: usize,
}

impl Rows {
    /// Writes `chunks` (ascending ids and their packed vectors of `dims` numbers each) to one file that appears whole or not
    /// at all. Layout, little-endian: header, fingerprint, ids `u64`, digests `u32`, BLAKE3 of all that, rows.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn save(path: &Path, fingerprint: &str, dims: usize, chunks: &[(u64, Vec<u8>)]) -> Result<()> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".new");
        let written = write(Path::new(&unfinished), fingerprint, dims, chunks);
        written.and_then(|()| fs::rename(&unfinished, path)).map_err(|source| {
            // What is left of the attempt only takes room; that it cannot be removed is not the news.
            let _ = fs::remove_file(&unfinished);
            Error::io("write", path)(source)
        })
    }

    /// Maps a file of [`Rows::save`]; `None` when it is absent, damaged, or of another fingerprint or length of vectors.
    pub fn open(path: &Path, fingerprint: &str, dims: usize) -> Option<Self> {
        let file = File::open(path).ok()?;
        #[allow(unsafe_code, reason = "memory-mapping is what this file is for")]
        // SAFETY: writers never change a file in place, they rename a new one over it; the mapping keeps the old one alive.
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let header = map.get(..HEADER)?;
        let long = |place: usize| header[place..place + 8].try_into().map(u64::from_le_bytes).ok();
        let sizes = long(8)?;
        let (has_dims, name_length) = (sizes as u32 as usize, (sizes >> 32) as usize);
        let count = usize::try_from(long(16)?).ok()?;
        let ids = HEADER.checked_add(name_length)?;
        let head = ids.checked_add(count.checked_mul(12)?)?;
        let rows = head.checked_add(CHECKSUM)?.checked_next_multiple_of(ALIGNMENT)?;
        let length = rows.checked_add(count.checked_mul(dims * 4)?)?;
        let whole = &header[..8] == MAGIC && has_dims == dims && length == map.len();
        if !whole || map[HEADER..ids] != *fingerprint.as_bytes() {
            return None;
        }
        let checksum: [u8; CHECKSUM] = map[head..head + CHECKSUM].try_into().ok()?;
        if blake3::hash(&map[..head]) != blake3::Hash::from_bytes(checksum) {
            return None;
        }
        Some(Self { map, dims, count, ids, rows })
    }

    /// The packed vector of a chunk; `None` for one it does not know or whose row is damaged.
    pub fn get(&self, id: u64) -> Option<&[u8]> {
        let place = self.place(id)?;
        let size = self.dims * 4;
        let row = &self.map[self.rows + place * size..][..size];
        let digests = self.ids + self.count * 8;
        let expected: [u8; 4] = self.map[digests + place * 4..][..4].try_into().ok()?;
        (digest(row) == expected).then_some(row)
    }

    fn place(&self, id: u64) -> Option<usize> {
        let ids = self.map[self.ids..self.ids + self.count * 8].as_chunks::<8>().0;
        let [first, last] = [ids.first()?, ids.last()?].map(|bytes| u64::from_le_bytes(*bytes));
        // Ids ascend without repeating, so an id is at most as far from either end as its number: where few are missing, which
        // is the usual case, that leaves a place or two.
        let from_first = usize::try_from(id.checked_sub(first)?).ok()?;
        let from_last = usize::try_from(last.checked_sub(id)?).ok()?;
        let low = (ids.len() - 1).saturating_sub(from_last);
        let high = from_first.min(ids.len() - 1);
        let found = ids.get(low..=high)?.binary_search_by_key(&id, |bytes| u64::from_le_bytes(*bytes));
        found.ok().map(|place| low + place)
    }
}

fn write(path: &Path, fingerprint: &str, dims: usize, chunks: &[(u64, Vec<u8>)]) -> std::io::Result<()> {
    let mut head = Vec::with_capacity(HEADER + fingerprint.len() + chunks.len() * 12);
    head.extend_from_slice(MAGIC);
    head.extend_from_slice(&(dims as u32).to_le_bytes());
    head.extend_from_slice(&(fingerprint.len() as u32).to_le_bytes());
    head.extend_from_slice(&(chunks.len() as u64).to_le_bytes());
    head.extend_from_slice(fingerprint.as_bytes());
    chunks.iter().for_each(|(id, _)| head.extend_from_slice(&id.to_le_bytes()));
    chunks.iter().for_each(|(_, row)| head.extend_from_slice(&digest(row)));
    let checksum = blake3::hash(&head);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = BufWriter::with_capacity(1 << 18, options.open(path)?);
    file.write_all(&head)?;
    file.write_all(checksum.as_bytes())?;
    let end = head.len() + CHECKSUM;
    file.write_all(&vec![0; end.next_multiple_of(ALIGNMENT) - end])?;
    for (_, row) in chunks {
        file.write_all(row)?;
    }
    file.flush()
}

/// A CRC sees every flipped bit and costs a tenth of reading the row from SQLite.
fn digest(row: &[u8]) -> [u8; 4] {
    crc32fast::hash(row).to_le_bytes()
}

/// Mapped rows where there are any, the store for the rest.
pub struct RowsOr<'a, Rest> {
    /// The mapped file.
    pub rows: Option<&'a Rows>,
    /// Who has every vector.
    pub rest: Rest,
}

impl<Rest: Vectors> Vectors for RowsOr<'_, Rest> {
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        let Some(rows) = self.rows else { return self.rest.vectors(ids, sink) };
        let (mut missing, mut places) = (Vec::new(), Vec::new());
        for (place, &id) in ids.iter().enumerate() {
            match rows.get(id) {
                Some(row) => sink(place, row),
                None => {
                    missing.push(id);
                    places.push(place);
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.rest.vectors(&missing, &mut |place, row| sink(places[place], row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::pack;

    fn saved() -> (tempfile::TempDir, std::path::PathBuf, Vec<(u64, Vec<u8>)>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        let chunks: Vec<(u64, Vec<u8>)> =
            (0..20u64).map(|id| (id * 3, pack(&[id as f32, 1.0, 2.0]))).collect();
        Rows::save(&path, "model", 3, &chunks).unwrap();
        (folder, path, chunks)
    }

    #[test]
    fn every_row_is_there_again() {
        let (_folder, path, chunks) = saved();
        let rows = Rows::open(&path, "model", 3).unwrap();
        for (id, row) in &chunks {
            assert_eq!(rows.get(*id), Some(&row[..]));
            assert_eq!(rows.get(id + 1), None);
        }
    }

    #[test]
    fn another_model_or_length_is_not_used() {
        let (_folder, path, _) = saved();
        assert!(Rows::open(&path, "other", 3).is_none());
        assert!(Rows::open(&path, "model", 4).is_none());
        assert!(Rows::open(&path.with_extension("absent"), "model", 3).is_none());
    }

    #[test]
    fn damage_never_changes_a_vector() {
        let (_folder, path, chunks) = saved();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(Rows::open(&path, "model", 3).is_none(), "cut to {length}");
        }
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            fs::write(&path, &flipped).unwrap();
            let Some(rows) = Rows::open(&path, "model", 3) else { continue };
            for (id, row) in &chunks {
                assert!(rows.get(*id).is_none_or(|got| got == row), "bit of byte {place}");
            }
        }
    }

    #[test]
    fn the_store_answers_for_what_the_file_does_not_know() {
        struct Store;
        impl Vectors for Store {
            fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
                ids.iter().enumerate().for_each(|(place, &id)| sink(place, &pack(&[id as f32])));
                Ok(())
            }
        }
        let (_folder, path, chunks) = saved();
        let rows = Rows::open(&path, "model", 3).unwrap();
        let both = RowsOr { rows: Some(&rows), rest: Store };
        let mut got = Vec::new();
        both.vectors(&[1000, 3, 2000], &mut |place, row| got.push((place, row.to_vec()))).unwrap();
        got.sort();
        assert_eq!(got, [(0, pack(&[1000.0])), (1, chunks[1].1.clone()), (2, pack(&[2000.0]))]);
    }
}
