//! Nearest vectors by cosine.
//!
//! Three engines stand behind one trait and give the same answers:
//!
//! - [`exact`]: a scan over int8 codes in contiguous memory, the best rescored with the exact vectors. The default.
//! - [`vec0`]: sqlite-vec's scan inside SQLite, for those who want their vectors in a database other tools can read.
//! - usearch, an approximate graph for stores of several hundred thousand chunks, is to become the third, as `ann.rs`
//!   beside them: its candidates rescored through [`Vectors`] like the others', the [`Spread`] taken from a sample.
//!
//! [`plain_scan`] is what all of them are tested against. Everything here can be rebuilt from the store, which keeps the
//! vectors as packed little-endian `f32`. A distance never leaves this module: out come cosines.

use std::cmp::Ordering;

use crate::error::{Error, Result};

pub mod exact;
pub mod rows;
pub mod vec0;

/// A chunk the vector side proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Chunk id.
    pub id: u64,
    /// Cosine, -1..1.
    pub cosine: f32,
}

impl VectorHit {
    /// Best first, ties by id.
    fn order(&self, other: &Self) -> Ordering {
        other.cosine.total_cmp(&self.cosine).then(self.id.cmp(&other.id))
    }
}

/// How the cosines of all chunks to one query are spread; what a single cosine means depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Mean cosine over all chunks.
    pub mean: f32,
    /// Standard deviation, 0 for fewer than [`FEWEST_FOR_SPREAD`] chunks: too few to tell.
    pub deviation: f32,
}

/// With fewer chunks than these a deviation says nothing.
///
/// Of n values none lies further than √(n − 1) deviations from their mean. The ranking takes five deviations for a
/// perfect match, so below 26 chunks not even the very text asked for could be one.
pub const FEWEST_FOR_SPREAD: usize = 26;

impl Spread {
    /// From the number of cosines, their sum and the sum of their squares.
    fn from_sums(count: usize, sum: f64, squares: f64) -> Self {
        if count == 0 {
            return Self::default();
        }
        let mean = sum / count as f64;
        let variance = squares / count as f64 - mean * mean;
        // Equal cosines leave a variance of rounding errors.
        let told = count >= FEWEST_FOR_SPREAD && variance > 1e-12;
        Self { mean: mean as f32, deviation: if told { variance.sqrt() as f32 } else { 0.0 } }
    }

    fn of(cosines: &[f32]) -> Self {
        // Four sums side by side, so that the additions need not wait for each other.
        let (mut sums, mut squares) = ([0.0f64; 4], [0.0f64; 4]);
        let mut add = |lane: usize, cosine: f32| {
            let cosine = f64::from(cosine);
            sums[lane] += cosine;
            squares[lane] += cosine * cosine;
        };
        let (blocks, rest) = cosines.as_chunks::<4>();
        for block in blocks {
            block.iter().enumerate().for_each(|(lane, &cosine)| add(lane, cosine));
        }
        rest.iter().for_each(|&cosine| add(0, cosine));
        Self::from_sums(cosines.len(), sums.iter().sum(), squares.iter().sum())
    }
}

/// The exact vectors, wherever they are kept (the store).
pub trait Vectors {
    /// Calls `sink(position, packed little-endian f32)` for every id that has a vector, position counted in `ids`.
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()>;
}

/// Any engine: exact scan, `vec0`, one day usearch. All give the same answer up to recall.
pub trait VectorIndex: Send {
    /// The `limit` nearest chunks that `keep` accepts, best first, ties by id, cosines exact; and the spread over all chunks.
    fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
        exact: &dyn Vectors,
    ) -> Result<(Vec<VectorHit>, Spread)>;
    /// Adds or replaces chunks' vectors, one after the other in `vectors`. With an unusable one among them ([`check`])
    /// nothing is added.
    fn add(&mut self, ids: &[u64], vectors: &[f32]) -> Result<()>;
    /// Removes chunks; unknown ids are no error.
    fn remove(&mut self, ids: &[u64]) -> Result<()>;
    /// Vectors held.
    fn len(&self) -> usize;
    /// No vectors.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Length of a vector.
    fn dims(&self) -> usize;
}

/// Whether a vector can be stored or searched with: so many finite numbers, not all of them 0.
///
/// Errors: [`Error::Argument`] with the reason; the caller knows whose vector it is and says so.
///
/// ```
/// use memgrep::vector::check;
///
/// assert!(check(&[0.6, 0.8], 2).is_ok());
/// assert_eq!(check(&[0.0, 0.0], 2).unwrap_err().to_string(), "a vector of zeros has no direction");
/// ```
pub fn check(vector: &[f32], dims: usize) -> Result<()> {
    if vector.len() != dims {
        let found = vector.len();
        return Err(Error::Argument(format!("a vector of {found} numbers where {dims} are expected")));
    }
    if let Some((place, number)) = vector.iter().enumerate().find(|(_, number)| !number.is_finite()) {
        return Err(Error::Argument(format!(
            "a vector with {number} at place {place}; every number must be finite"
        )));
    }
    if vector.iter().all(|&number| number == 0.0) {
        return Err(Error::Argument("a vector of zeros has no direction".to_owned()));
    }
    Ok(())
}

/// [`check`] for many vectors, one after the other.
fn check_all(ids: &[u64], vectors: &[f32], dims: usize) -> Result<()> {
    if vectors.len() != ids.len() * dims {
        let (ids, numbers) = (ids.len(), vectors.len());
        return Err(Error::Argument(format!("{numbers} numbers for {ids} vectors of {dims}")));
    }
    ids.iter().zip(vectors.chunks_exact(dims)).try_for_each(|(id, vector)| {
        check(vector, dims).map_err(|error| Error::Argument(format!("chunk {id}: {error}")))
    })
}

/// Euclidean length. Never overflows: the sum is taken in `f64`.
pub fn norm(vector: &[f32]) -> f64 {
    vector.iter().map(|&number| f64::from(number).powi(2)).sum::<f64>().sqrt()
}

/// Cosine of the angle between two vectors of one length, -1..1; 0 if one of them has no direction.
///
/// ```
/// use memgrep::vector::cosine;
///
/// assert_eq!(cosine(&[1.0, 0.0], &[2.0, 0.0]), 1.0);
/// assert_eq!(cosine(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
/// ```
pub fn cosine(one: &[f32], other: &[f32]) -> f32 {
    debug_assert_eq!(one.len(), other.len());
    cosine_to(one, norm(one), other, |&number| number).unwrap_or(0.0)
}

/// The same for a packed vector; `None` if it is damaged: of another length, not finite or without direction.
fn cosine_packed(query: &[f32], query_norm: f64, packed: &[u8]) -> Option<f32> {
    let (numbers, []) = packed.as_chunks::<4>() else { return None };
    if numbers.len() != query.len() {
        return None;
    }
    cosine_to(query, query_norm, numbers, |&bytes| f32::from_le_bytes(bytes))
}

fn cosine_to<T>(query: &[f32], query_norm: f64, other: &[T], read: impl Fn(&T) -> f32) -> Option<f32> {
    // Eight sums side by side, so that an addition need not wait for the one before it.
    let (mut dots, mut squares) = ([0.0f64; 8], [0.0f64; 8]);
    let mut add = |lane: usize, a: f32, b: &T| {
        let b = f64::from(read(b));
        dots[lane] += f64::from(a) * b;
        squares[lane] += b * b;
    };
    let ((queries, query_rest), (others, other_rest)) = (query.as_chunks::<8>(), other.as_chunks::<8>());
    for (query, other) in queries.iter().zip(others) {
        (0..8).for_each(|lane| add(lane, query[lane], &other[lane]));
    }
    query_rest.iter().zip(other_rest).for_each(|(&a, b)| add(0, a, b));
    let (dot, square): (f64, f64) = (dots.iter().sum(), squares.iter().sum());
    let cosine = dot / (query_norm * square.sqrt());
    cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0) as f32)
}

/// The one form of a vector on disk and between the parts: little-endian `f32`.
pub fn pack(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Reads what [`pack`] wrote; `None` if the bytes are not whole numbers of 4.
///
/// ```
/// use memgrep::vector::{pack, unpack};
///
/// assert_eq!(unpack(&pack(&[0.5, -1.0])), Some(vec![0.5, -1.0]));
/// assert_eq!(unpack(&[0, 0]), None);
/// ```
pub fn unpack(packed: &[u8]) -> Option<Vec<f32>> {
    let (numbers, []) = packed.as_chunks::<4>() else { return None };
    Some(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

/// The rule every engine follows, without any art: all cosines in `f64`, all sorted.
///
/// Also the way out when no engine can be used: it needs nothing but the vectors.
pub fn plain_scan<'a>(
    vectors: impl Iterator<Item = (u64, &'a [f32])>,
    query: &[f32],
    limit: usize,
    keep: &dyn Fn(u64) -> bool,
) -> (Vec<VectorHit>, Spread) {
    let all: Vec<VectorHit> =
        vectors.map(|(id, vector)| VectorHit { id, cosine: cosine(query, vector) }).collect();
    let cosines: Vec<f32> = all.iter().map(|hit| hit.cosine).collect();
    let mut hits: Vec<VectorHit> = all.into_iter().filter(|hit| keep(hit.id)).collect();
    hits.sort_unstable_by(VectorHit::order);
    hits.truncate(limit);
    (hits, Spread::of(&cosines))
}

/// Made vectors and a store of them.
#[cfg(test)]
mod testing {
    use super::*;
    use std::collections::BTreeMap;

    /// The same numbers on every machine: xorshift, -1..1.
    pub(super) struct Random(pub u64);

    impl Random {
        pub fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        pub fn vector(&mut self, dims: usize) -> Vec<f32> {
            (0..dims).map(|_| (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0).collect()
        }
    }

    /// The truth an index is made from.
    #[derive(Default)]
    pub(super) struct Truth(pub BTreeMap<u64, Vec<f32>>);

    impl Truth {
        pub fn nearest(
            &self,
            query: &[f32],
            limit: usize,
            keep: &dyn Fn(u64) -> bool,
        ) -> (Vec<VectorHit>, Spread) {
            plain_scan(self.0.iter().map(|(&id, vector)| (id, vector.as_slice())), query, limit, keep)
        }

        pub fn add(&mut self, index: &mut dyn VectorIndex, ids: &[u64], vectors: &[f32]) {
            index.add(ids, vectors).unwrap();
            for (&id, vector) in ids.iter().zip(vectors.chunks(index.dims())) {
                self.0.insert(id, vector.to_vec());
            }
        }

        pub fn remove(&mut self, index: &mut dyn VectorIndex, ids: &[u64]) {
            index.remove(ids).unwrap();
            ids.iter().for_each(|id| drop(self.0.remove(id)));
        }
    }

    impl Vectors for Truth {
        fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
            for (position, id) in ids.iter().enumerate() {
                if let Some(vector) = self.0.get(id) {
                    sink(position, &pack(vector));
                }
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Random, Truth};
    use super::*;

    const DIMS: usize = 40;

    fn engines() -> Vec<(&'static str, Box<dyn VectorIndex>)> {
        let memory = rusqlite::Connection::open_in_memory().unwrap();
        vec![
            ("exact", Box::new(exact::Exact::new(DIMS).unwrap())),
            ("vec0", Box::new(vec0::Vec0::open(memory, DIMS, "test").unwrap())),
        ]
    }

    fn ids(hits: &[VectorHit]) -> Vec<u64> {
        hits.iter().map(|hit| hit.id).collect()
    }

    fn everything(_: u64) -> bool {
        true
    }

    fn assert_same(
        name: &str,
        index: &dyn VectorIndex,
        truth: &Truth,
        query: &[f32],
        keep: &dyn Fn(u64) -> bool,
    ) {
        for limit in [0, 1, 10, 100] {
            let (expected, expected_spread) = truth.nearest(query, limit, keep);
            let (hits, spread) = index.nearest(query, limit, keep, truth).unwrap();
            assert_eq!(ids(&hits), ids(&expected), "{name}, {limit} nearest");
            for (hit, right) in hits.iter().zip(&expected) {
                assert!((hit.cosine - right.cosine).abs() < 1e-5, "{name}: {hit:?}, {right:?}");
            }
            assert!((spread.mean - expected_spread.mean).abs() < 1e-3, "{name}: {spread:?}");
            assert!((spread.deviation - expected_spread.deviation).abs() < 1e-3, "{name}: {spread:?}");
        }
    }

    #[test]
    fn every_engine_answers_like_the_plain_scan_through_adds_replaces_and_removes() {
        for (name, mut index) in engines() {
            let (mut random, mut truth) = (Random(7), Truth::default());
            assert_same(name, &*index, &truth, &random.vector(DIMS), &everything);
            for round in 0..6u64 {
                // Ids run into each other, so half of a later round replaces.
                let ids: Vec<u64> = (0..300).map(|place| u64::MAX - round * 150 - place).collect();
                truth.add(&mut *index, &ids, &random.vector(DIMS * 300));
                let gone: Vec<u64> = truth.0.keys().copied().filter(|id| id % 7 == round).collect();
                truth.remove(&mut *index, &gone);
                truth.remove(&mut *index, &[1, 2, 3]);
                assert_eq!(index.len(), truth.0.len(), "{name}");
                for _ in 0..5 {
                    assert_same(name, &*index, &truth, &random.vector(DIMS), &everything);
                    assert_same(name, &*index, &truth, &random.vector(DIMS), &|id| id % 5 == 0);
                }
            }
            let all: Vec<u64> = truth.0.keys().copied().collect();
            truth.remove(&mut *index, &all);
            assert!(index.is_empty(), "{name}");
            assert_same(name, &*index, &truth, &random.vector(DIMS), &everything);
        }
    }

    #[test]
    fn equal_vectors_come_by_id_also_where_the_list_ends() {
        for (name, mut index) in engines() {
            let mut truth = Truth::default();
            let copy = Random(3).vector(DIMS);
            let mixed: Vec<u64> = (0..400u64).map(|place| place * 7919 % 400).collect();
            truth.add(&mut *index, &mixed, &copy.repeat(400));
            let (hits, spread) = index.nearest(&copy, 5, &everything, &truth).unwrap();
            assert_eq!(ids(&hits), [0, 1, 2, 3, 4], "{name}");
            assert_eq!(spread.deviation, 0.0, "{name}: equal cosines have no spread");
        }
    }

    #[test]
    fn f093_a_filter_never_empties_an_answer() {
        for (name, mut index) in engines() {
            let mut truth = Truth::default();
            let mut random = Random(11);
            let query = random.vector(DIMS);
            let mut near = random.vector(DIMS * 5000);
            near.iter_mut()
                .zip(query.iter().cycle())
                .for_each(|(number, wanted)| *number = wanted + 0.1 * *number);
            truth.add(&mut *index, &(0..5000).collect::<Vec<u64>>(), &near);
            truth.add(&mut *index, &(5000..5010).collect::<Vec<u64>>(), &random.vector(DIMS * 10));
            let notes = |id: u64| id >= 5000;
            let (hits, _) = index.nearest(&query, 5, &notes, &truth).unwrap();
            assert_eq!(ids(&hits), ids(&truth.nearest(&query, 5, &notes).0), "{name}");
            assert_eq!(hits.len(), 5, "{name}");
        }
    }

    #[test]
    fn f096_every_live_chunk_finds_itself_after_removes_and_updates() {
        for (name, mut index) in engines() {
            let (mut random, mut truth) = (Random(5), Truth::default());
            truth.add(&mut *index, &(0..3000).collect::<Vec<u64>>(), &random.vector(DIMS * 3000));
            truth.remove(&mut *index, &(0..3000).filter(|id| id % 5 < 2).collect::<Vec<u64>>());
            let changed: Vec<u64> = (0..3000).filter(|id| id % 4 == 3).collect();
            truth.add(&mut *index, &changed, &random.vector(DIMS * changed.len()));
            for (&id, vector) in truth.0.iter().step_by(if name == "exact" { 1 } else { 20 }) {
                let (hits, _) = index.nearest(vector, 1, &everything, &truth).unwrap();
                assert_eq!(hits[0].id, id, "{name}");
                assert!((hits[0].cosine - 1.0).abs() < 1e-5, "{name}");
            }
        }
    }

    #[test]
    fn f094_a_long_list_is_as_long_as_asked() {
        for (name, mut index) in engines() {
            let (mut random, mut truth) = (Random(9), Truth::default());
            truth.add(&mut *index, &(0..6000).collect::<Vec<u64>>(), &random.vector(DIMS * 6000));
            let (hits, _) = index.nearest(&random.vector(DIMS), 5000, &everything, &truth).unwrap();
            assert_eq!(hits.len(), 5000, "{name}");
        }
    }

    #[test]
    fn a_vector_that_cannot_be_used_is_refused_and_nothing_is_added() {
        for (name, mut index) in engines() {
            let good = vec![0.5; DIMS];
            for (bad, reason) in [(0.0, "zeros"), (f32::NAN, "NaN at place"), (f32::INFINITY, "inf at place")]
            {
                let both = [good.clone(), vec![bad; DIMS]].concat();
                let error = index.add(&[1, 2], &both).unwrap_err().to_string();
                assert!(error.contains("chunk 2") && error.contains(reason), "{name}: {error}");
                assert!(index.is_empty(), "{name}");
                let error =
                    index.nearest(&both[DIMS..], 3, &everything, &Truth::default()).unwrap_err().to_string();
                assert!(error.contains(reason), "{name}: {error}");
            }
            let error = index.add(&[1, 2], &good).unwrap_err().to_string();
            assert_eq!(error, "40 numbers for 2 vectors of 40", "{name}");
            let error = index.nearest(&[1.0], 3, &everything, &Truth::default()).unwrap_err().to_string();
            assert_eq!(error, "a vector of 1 numbers where 40 are expected", "{name}");
        }
    }

    #[test]
    fn length_does_not_count_only_direction() {
        for (name, mut index) in engines() {
            let mut truth = Truth::default();
            let vector = Random(13).vector(DIMS);
            let scaled = |factor: f32| vector.iter().map(|number| number * factor).collect::<Vec<f32>>();
            truth.add(&mut *index, &[1, 2, 3], &[scaled(1e-3), scaled(1.0), scaled(1e6)].concat());
            let (hits, _) = index.nearest(&scaled(42.0), 3, &everything, &truth).unwrap();
            assert!(hits.iter().all(|hit| (hit.cosine - 1.0).abs() < 1e-5), "{name}: {hits:?}");
        }
    }

    #[test]
    fn very_long_and_very_short_vectors_have_cosines_too() {
        for factor in [1e-38, 1e38] {
            assert_eq!(cosine(&[factor, factor], &[factor, factor]), 1.0);
            assert_eq!(cosine_packed(&[1.0, 0.0], 1.0, &pack(&[factor, 0.0])), Some(1.0));
        }
    }

    #[test]
    fn f098_a_damaged_vector_has_no_cosine() {
        let query = [0.6, 0.8];
        for damaged in
            [&pack(&[1.0])[..], &pack(&[1.0, 2.0])[..7], &pack(&[0.0, 0.0]), &pack(&[0.6, f32::NAN]), &[]]
        {
            assert_eq!(cosine_packed(&query, 1.0, damaged), None);
        }
        assert_eq!(
            cosine_packed(&query, 1.0, &pack(&[-0.8, 0.6])).map(|cosine| cosine.abs() < 1e-7),
            Some(true)
        );
    }

    #[test]
    fn a_spread_needs_enough_chunks() {
        let cosines: Vec<f32> = (0..40).map(|place| if place % 2 == 0 { 0.25 } else { 0.75 }).collect();
        assert_eq!(Spread::of(&cosines), Spread { mean: 0.5, deviation: 0.25 });
        assert_eq!(Spread::of(&cosines[..24]), Spread { mean: 0.5, deviation: 0.0 });
        assert_eq!(Spread::of(&[]), Spread::default());
    }
}
