//! The default engine: a scan over contiguous int8 codes, the best rescored with the exact vectors.
//!
//! A code is a quarter of a vector, so a scan reads a quarter of the memory, and reading is what a scan spends its time
//! on. The error of a code is far smaller than the differences it has to tell apart, and the exact cosines of twice
//! as many chunks as are asked for decide, so the answer is that of an exact scan.
//!
//! On disk it is one file that is either whole and current or not used at all: see [`Exact::load`].

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::{Spread, VectorHit, VectorIndex, Vectors, check, check_all, cosine_packed, norm};
use crate::error::{Error, Result};

mod dot;

/// At least so many chunks are rescored, and [`RESCORED_PER_HIT`] for each hit that is asked for.
const LEAST_RESCORED: usize = 64;
const RESCORED_PER_HIT: usize = 2;

/// Bounds a sum of products of two codes to an `i32`, and what a damaged header can ask for.
const MOST_DIMS: usize = 65_536;

/// Chunks whose codes are compared before the next ones are read.
const BLOCK: usize = 512;

/// Vectors as int8 codes in slots without gaps.
#[derive(Debug)]
pub struct Exact {
    dims: usize,
    /// `dims` rounded up to whole registers; the rest of a code is 0.
    stride: usize,
    /// Signed bytes, `stride` for each slot.
    codes: Vec<u8>,
    /// What one step of a slot's code is worth.
    scales: Vec<f32>,
    ids: Vec<u64>,
    /// Slot of each id; made when something changes first, as reading needs none.
    slots: Option<FxHashMap<u64, usize>>,
}

impl Exact {
    /// An empty index for vectors of `dims` numbers.
    ///
    /// Errors: [`Error::Argument`] for 0 and for more than 65,536.
    pub fn new(dims: usize) -> Result<Self> {
        if !(1..=MOST_DIMS).contains(&dims) {
            return Err(Error::Argument(format!(
                "vectors of {dims} numbers; between 1 and {MOST_DIMS} are possible"
            )));
        }
        let stride = dims.next_multiple_of(dot::REGISTER);
        Ok(Self {
            dims,
            stride,
            codes: Vec::new(),
            scales: Vec::new(),
            ids: Vec::new(),
            slots: Some(FxHashMap::default()),
        })
    }

    /// Cosines to all slots, as good as the codes are.
    fn approximate(&self, query: &[f32]) -> Vec<f32> {
        let mut code = vec![0; self.stride];
        let query_scale = encode(query, &mut code);
        let mut dots = [0; BLOCK];
        let mut cosines = Vec::with_capacity(self.ids.len());
        let dots_of = dot::Kernel::fastest();
        for (codes, scales) in self.codes.chunks(BLOCK * self.stride).zip(self.scales.chunks(BLOCK)) {
            let dots = &mut dots[..scales.len()];
            dots_of.run(&code, codes, dots);
            cosines.extend(dots.iter().zip(scales).map(|(&dot, scale)| dot as f32 * scale * query_scale));
        }
        cosines
    }
}

impl VectorIndex for Exact {
    fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
        exact: &dyn Vectors,
    ) -> Result<(Vec<VectorHit>, Spread)> {
        check(query, self.dims)?;
        let cosines = self.approximate(query);
        let rescored = limit.saturating_mul(RESCORED_PER_HIT).max(LEAST_RESCORED).min(self.ids.len());
        let mut ids = if limit == 0 { Vec::new() } else { best(&cosines, &self.ids, rescored, keep) };
        // Stores read fastest in their own order.
        ids.sort_unstable();
        let query_norm = norm(query);
        let mut hits = Vec::with_capacity(ids.len());
        exact.vectors(&ids, &mut |position, packed| {
            // A damaged vector is no hit; the store that handed it out is the one to report it.
            if let (Some(&id), Some(cosine)) = (ids.get(position), cosine_packed(query, query_norm, packed)) {
                hits.push(VectorHit { id, cosine });
            }
        })?;
        hits.sort_unstable_by(VectorHit::order);
        hits.truncate(limit);
        Ok((hits, Spread::of(&cosines)))
    }

    fn add(&mut self, ids: &[u64], vectors: &[f32]) -> Result<()> {
        check_all(ids, vectors, self.dims)?;
        let slots = self.slots.get_or_insert_with(|| slots_of(&self.ids));
        for (&id, vector) in ids.iter().zip(vectors.chunks_exact(self.dims)) {
            let slot = *slots.entry(id).or_insert(self.ids.len());
            if slot == self.ids.len() {
                self.ids.push(id);
                self.scales.push(0.0);
                self.codes.resize(self.ids.len() * self.stride, 0);
            }
            self.scales[slot] = encode(vector, &mut self.codes[slot * self.stride..][..self.stride]);
        }
        Ok(())
    }

    /// The last slot moves into the gap.
    fn remove(&mut self, ids: &[u64]) -> Result<()> {
        let slots = self.slots.get_or_insert_with(|| slots_of(&self.ids));
        for id in ids {
            let Some(slot) = slots.remove(id) else { continue };
            self.ids.swap_remove(slot);
            self.scales.swap_remove(slot);
            let last = self.ids.len();
            self.codes.copy_within(last * self.stride.., slot * self.stride);
            self.codes.truncate(last * self.stride);
            if let Some(&moved) = self.ids.get(slot) {
                slots.insert(moved, slot);
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn dims(&self) -> usize {
        self.dims
    }
}

fn slots_of(ids: &[u64]) -> FxHashMap<u64, usize> {
    ids.iter().enumerate().map(|(slot, &id)| (id, slot)).collect()
}

/// Writes the vector, brought to length 1, as steps from -127 to 127 and returns what a step is worth.
fn encode(vector: &[f32], code: &mut [u8]) -> f32 {
    let norm = norm(vector);
    let largest = vector.iter().fold(0.0f64, |largest, &number| largest.max(f64::from(number).abs()));
    let steps = 127.0 / largest;
    for (byte, &number) in code.iter_mut().zip(vector) {
        *byte = (f64::from(number) * steps).round() as i8 as u8;
    }
    (1.0 / (steps * norm)) as f32
}

/// Ids of the `count` highest cosines that `keep` accepts, ties by id, in no order.
///
/// Nothing is sorted: what beats the weakest of the best so far goes to a list of twice the size that is cut back to
/// the best when it is full, and few do once the list has been full. Only those are shown to `keep`.
fn best(cosines: &[f32], ids: &[u64], count: usize, keep: &dyn Fn(u64) -> bool) -> Vec<u64> {
    let order = |one: &VectorHit, other: &VectorHit| one.order(other);
    let mut list: Vec<VectorHit> = Vec::with_capacity(2 * count);
    let mut least = f32::NEG_INFINITY;
    for (cosines, ids) in cosines.chunks(16).zip(ids.chunks(16)) {
        if !cosines.iter().fold(false, |any, &cosine| any | (cosine >= least)) {
            continue;
        }
        for (&cosine, &id) in cosines.iter().zip(ids) {
            if cosine >= least && keep(id) {
                list.push(VectorHit { id, cosine });
                if list.len() == 2 * count {
                    least = list.select_nth_unstable_by(count - 1, order).1.cosine;
                    list.truncate(count);
                }
            }
        }
    }
    if list.len() > count {
        list.select_nth_unstable_by(count - 1, order);
        list.truncate(count);
    }
    list.iter().map(|hit| hit.id).collect()
}

/// First bytes of a file; the last one is the format's version.
const MAGIC: &[u8; 8] = b"mgvect\0\x01";
/// Magic, dims `u32`, length of the fingerprint `u32`, generation `u64`, count `u64`.
const HEADER: usize = 32;
const CHECKSUM: usize = blake3::OUT_LEN;

impl Exact {
    /// Writes everything to one file, stamped with what it was made from.
    ///
    /// The file appears whole or not at all, and survives a power cut once this has returned. Layout, little-endian:
    /// header (magic with version, dims, length of the fingerprint, generation, count), fingerprint, scales `f32`, ids
    /// `u64`, codes in whole registers of 32 bytes, BLAKE3 of all of that.
    pub fn save(&self, path: &Path, fingerprint: &str, generation: u64) -> Result<()> {
        let beside = beside(path);
        let written = self.write(&beside, fingerprint, generation);
        let done = written.and_then(|()| fs::rename(&beside, path)).and_then(|()| sync_folder(path));
        done.map_err(|source| {
            // What is left of the attempt only takes room; that it cannot be removed is not the news.
            let _ = fs::remove_file(&beside);
            Error::io("write", path)(source)
        })
    }

    fn write(&self, path: &Path, fingerprint: &str, generation: u64) -> std::io::Result<()> {
        let mut header = Vec::with_capacity(HEADER + fingerprint.len());
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&(self.dims as u32).to_le_bytes());
        header.extend_from_slice(&(fingerprint.len() as u32).to_le_bytes());
        header.extend_from_slice(&generation.to_le_bytes());
        header.extend_from_slice(&(self.ids.len() as u64).to_le_bytes());
        header.extend_from_slice(fingerprint.as_bytes());
        let scales: Vec<u8> = self.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let ids: Vec<u8> = self.ids.iter().flat_map(|id| id.to_le_bytes()).collect();

        let mut file = private(path)?;
        let mut hasher = blake3::Hasher::new();
        for part in [&header, &scales, &ids, &self.codes] {
            hasher.update(part);
            file.write_all(part)?;
        }
        file.write_all(hasher.finalize().as_bytes())?;
        file.sync_all()
    }

    /// The generation a file says it was made from; `None` for anything that is no such file. Nothing else is checked.
    pub fn generation_of(path: &Path) -> Option<u64> {
        let mut header = [0; HEADER];
        File::open(path).ok()?.read_exact(&mut header).ok()?;
        Header::read(&header).ok().map(|header| header.generation)
    }

    /// Reads a file of [`Exact::save`] and the generation it was made from.
    ///
    /// `Err` holds the reason why it cannot be used: absent, damaged in any way, of another format or fingerprint. None
    /// of these is a failure; the caller makes a new one from the store.
    pub fn load(path: &Path, fingerprint: &str) -> std::result::Result<(Self, u64), String> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: usize| -> std::result::Result<Vec<u8>, String> {
            // Bounded by the length of the file before anything is allocated.
            let mut part = Vec::with_capacity(bytes.min(length as usize));
            let read =
                (&mut file).take(bytes as u64).read_to_end(&mut part).map_err(|error| error.to_string())?;
            hasher.update(&part);
            if read == bytes { Ok(part) } else { Err("the file is cut short".to_owned()) }
        };
        let header = Header::read(&part(HEADER)?)?;
        if header.length() != Some(length) {
            return Err("its length does not fit its header".to_owned());
        }
        if part(header.fingerprint)? != fingerprint.as_bytes() {
            return Err("it was made with another model or other settings".to_owned());
        }
        let scales = part(header.count * 4)?;
        let ids = part(header.count * 8)?;
        let codes = part(header.count * header.stride())?;
        let mut checksum = [0; CHECKSUM];
        file.read_exact(&mut checksum).map_err(|error| error.to_string())?;
        if hasher.finalize() != blake3::Hash::from_bytes(checksum) {
            return Err("its checksum is wrong".to_owned());
        }
        let index = Self {
            dims: header.dims,
            stride: header.stride(),
            codes,
            scales: scales.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            ids: ids.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect(),
            slots: None,
        };
        Ok((index, header.generation))
    }
}

/// What a file says of itself, not believed yet.
struct Header {
    dims: usize,
    fingerprint: usize,
    generation: u64,
    count: usize,
}

impl Header {
    fn read(bytes: &[u8]) -> std::result::Result<Self, String> {
        let number = |place: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[place + byte]));
        let long = |place: usize| u64::from(number(place)) | u64::from(number(place + 4)) << 32;
        if &bytes[..MAGIC.len()] != MAGIC {
            return Err("it is no vector file of this version".to_owned());
        }
        let dims = number(8) as usize;
        if !(1..=MOST_DIMS).contains(&dims) {
            return Err(format!("it says its vectors have {dims} numbers"));
        }
        let count = usize::try_from(long(24)).map_err(|_| "it says it holds more than fits".to_owned())?;
        Ok(Self { dims, fingerprint: number(12) as usize, generation: long(16), count })
    }

    fn stride(&self) -> usize {
        self.dims.next_multiple_of(dot::REGISTER)
    }

    /// Length of the whole file; `None` if no file is that long.
    fn length(&self) -> Option<u64> {
        let rows = self.count.checked_mul(4 + 8 + self.stride())?;
        u64::try_from(rows.checked_add(HEADER + self.fingerprint + CHECKSUM)?).ok()
    }
}

/// Where a file is written before it takes its name. Writers take turns (the store's lock), so one place is enough.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// A new file for the owner's eyes only: vectors tell of the notes.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A new name is safe only when its folder is; other systems than Unix see to that themselves.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, Truth};
    use super::*;
    use proptest::prelude::*;

    const DIMS: usize = 70;

    fn filled(count: u64) -> (Exact, Truth) {
        let (mut index, mut truth) = (Exact::new(DIMS).unwrap(), Truth::default());
        let vectors = Random(17).vector(DIMS * count as usize);
        truth.add(&mut index, &(0..count).collect::<Vec<u64>>(), &vectors);
        (index, truth)
    }

    fn reason(path: &Path, fingerprint: &str) -> String {
        Exact::load(path, fingerprint).map(|(index, _)| index.len()).unwrap_err()
    }

    #[test]
    fn a_code_is_within_half_a_step_of_its_vector() {
        let vector = Random(1).vector(DIMS);
        let mut code = vec![0; 96];
        let scale = encode(&vector, &mut code);
        for (&number, &byte) in vector.iter().zip(&code) {
            let unit = f64::from(number) / norm(&vector);
            assert!((unit - f64::from(byte as i8) * f64::from(scale)).abs() <= f64::from(scale) * 0.500_01);
        }
        assert!(code[DIMS..].iter().all(|&byte| byte == 0));
        assert!(code.iter().any(|&byte| (byte as i8).unsigned_abs() == 127), "the whole range is used");
    }

    #[test]
    fn f097_what_was_saved_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        for count in [0, 1, 1500] {
            let (index, truth) = filled(count);
            index.save(&path, "model a", 42).unwrap();
            let (mut again, generation) = Exact::load(&path, "model a").unwrap();
            assert_eq!((again.len(), again.dims(), generation), (count as usize, DIMS, 42));
            for (&id, vector) in &truth.0 {
                let (hits, _) = again.nearest(vector, 1, &|_| true, &truth).unwrap();
                assert_eq!(hits[0].id, id);
            }
            again.remove(&[0]).unwrap();
            again.add(&[7777], &[0.5; DIMS]).unwrap();
            assert_eq!(again.len(), count.saturating_sub(1) as usize + 1, "a loaded index can be changed");
        }
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["vectors"], "nothing else is left behind");
    }

    #[test]
    fn a_file_of_another_model_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        filled(3).0.save(&path, "model a", 1).unwrap();
        assert!(reason(&path, "model b").contains("another model"));
        assert!(reason(&path, "model").contains("another model"));
        assert!(!reason(&folder.path().join("absent"), "model a").is_empty());
    }

    #[test]
    fn any_damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        filled(4).0.save(&path, "model a", 1).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(!reason(&path, "model a").is_empty(), "cut to {length}");
        }
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (place % 8);
            fs::write(&path, &flipped).unwrap();
            assert!(!reason(&path, "model a").is_empty(), "bit of byte {place}");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert!(reason(&path, "model a").contains("length"));
        fs::write(&path, &whole).unwrap();
        assert!(Exact::load(&path, "model a").is_ok());
    }

    #[test]
    fn an_attempt_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        filled(2).0.save(&path, "model a", 1).unwrap();
        fs::create_dir(beside(&path)).unwrap();
        let error = filled(3).0.save(&path, "model a", 2).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("vectors"), "{error}");
        assert_eq!(Exact::load(&path, "model a").unwrap().1, 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        filled(2).0.save(&path, "model a", 1).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn f098_a_chunk_whose_vector_is_gone_or_damaged_is_no_hit() {
        struct Damaged;
        impl Vectors for Damaged {
            fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
                sink(0, &super::super::pack(&[0.5; DIMS]));
                sink(1, &[1, 2, 3]);
                sink(ids.len() + 5, &super::super::pack(&[0.5; DIMS]));
                Ok(())
            }
        }
        let (hits, _) = filled(4).0.nearest(&[0.5; DIMS], 4, &|_| true, &Damaged).unwrap();
        assert_eq!(hits, [VectorHit { id: 0, cosine: 1.0 }]);
    }

    #[test]
    fn dims_have_limits() {
        assert!(Exact::new(0).is_err());
        assert!(Exact::new(65_537).unwrap_err().to_string().contains("65537"));
    }

    proptest! {
        #[test]
        fn the_best_are_the_best(
            cosines in prop::collection::vec(-4i8..4, 0..300), count in 1usize..40, divisor in 1u64..4,
        ) {
            let cosines: Vec<f32> = cosines.into_iter().map(f32::from).collect();
            let ids: Vec<u64> = (0..cosines.len() as u64).map(|place| place * 37 % 1009).collect();
            let keep = |id: u64| id.is_multiple_of(divisor);
            let mut all: Vec<VectorHit> =
                ids.iter().zip(&cosines).map(|(&id, &cosine)| VectorHit { id, cosine }).filter(|hit| keep(hit.id)).collect();
            all.sort_unstable_by(VectorHit::order);
            let mut expected: Vec<u64> = all.iter().take(count).map(|hit| hit.id).collect();
            let mut found = best(&cosines, &ids, count, &keep);
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
