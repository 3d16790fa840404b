//! sqlite-vec: the scan inside SQLite.
//!
//! For those who want their vectors in a database that other tools can read. Some ten times slower than
//! [`exact`](super::exact): the vectors are four times as large and the extension is compiled without vector
//! instructions. The database is the engine's own, never the store: it can be deleted at any time, and damage to it
//! (upstream a cause of crashes, as blobs are not checked) cannot reach the truth.
//!
//! Facts of version 0.1.9 that shape this file: `INSERT OR REPLACE` fails, so a replace is a delete and an insert; a
//! KNN query gives 4,096 rows at most; a delete only marks a row, so the table is rewritten when most of it is dead.

use std::cell::RefCell;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Spread, VectorHit, VectorIndex, Vectors, check, check_all, cosine, pack, unpack};
use crate::error::{Error, Result};

/// Rows a KNN query gives at most.
const MOST_NEAREST: usize = 4096;

/// The table is rewritten when more rows than these are dead, and more than are alive.
const FEW_DEAD: i64 = 1024;

/// Vectors the spread is taken from: reading all through SQLite takes many times as long as finding the nearest, and
/// of so many the mean is right to 3 % of a deviation.
const SAMPLE: usize = 1000;

/// A `vec0` table in a database of its own.
#[derive(Debug)]
pub struct Vec0 {
    connection: Connection,
    /// For messages.
    path: PathBuf,
    dims: usize,
    live: usize,
    /// Vectors the spread is taken from; read when first needed after a change.
    sample: RefCell<Option<Vec<f32>>>,
}

impl Vec0 {
    /// Opens the engine in `connection`: a file of its own beside the store, or memory.
    ///
    /// What was made with another fingerprint or other dims is emptied; then [`Vec0::generation`] is `None`.
    pub fn open(connection: Connection, dims: usize, fingerprint: &str) -> Result<Self> {
        let path = connection.path().filter(|path| !path.is_empty()).unwrap_or(":memory:").into();
        register(&connection);
        let mut index = Self { connection, path, dims, live: 0, sample: RefCell::new(None) };
        index.live = index.prepare(fingerprint).map_err(|error| index.failed(error))?;
        Ok(index)
    }

    /// Makes or empties the tables if they are not for these vectors; the number of vectors there are.
    fn prepare(&mut self, fingerprint: &str) -> rusqlite::Result<usize> {
        let dims = self.dims;
        let change = self.connection.transaction()?;
        change.execute_batch(
            "CREATE TABLE IF NOT EXISTS stamp (fingerprint TEXT NOT NULL, dims INTEGER NOT NULL, \
             generation INTEGER, dead INTEGER NOT NULL)",
        )?;
        let found: Option<(String, i64)> = change
            .query_row("SELECT fingerprint, dims FROM stamp", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if found.is_none_or(|(found, found_dims)| found != fingerprint || found_dims != dims as i64) {
            change.execute_batch("DROP TABLE IF EXISTS vectors; DELETE FROM stamp;")?;
            create(&change, dims)?;
            change
                .execute("INSERT INTO stamp VALUES (?1, ?2, NULL, 0)", params![fingerprint, dims as i64])?;
        }
        let live: i64 = change.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))?;
        change.commit()?;
        Ok(live as usize)
    }

    /// The store's generation it was last stamped with; `None` when it is new or was emptied.
    ///
    /// Vectors added since are there too: adding them again does no harm.
    pub fn generation(&self) -> Result<Option<u64>> {
        let generation: Option<i64> = self
            .connection
            .query_row("SELECT generation FROM stamp", [], |row| row.get(0))
            .map_err(|error| self.failed(error))?;
        Ok(generation.map(|generation| generation as u64))
    }

    /// Stamps the content as that of the store's `generation`, and gives back the room of what was removed.
    pub fn commit(&mut self, generation: u64) -> Result<()> {
        self.stamp(generation).map_err(|error| self.failed(error))
    }

    fn stamp(&mut self, generation: u64) -> rusqlite::Result<()> {
        let dead: i64 = self.connection.query_row("SELECT dead FROM stamp", [], |row| row.get(0))?;
        let rewrite = dead > FEW_DEAD && dead > self.live as i64;
        if rewrite {
            let change = self.connection.transaction()?;
            change.execute_batch(
                "CREATE TEMP TABLE moving AS SELECT rowid AS id, embedding FROM vectors; DROP TABLE vectors;",
            )?;
            create(&change, self.dims)?;
            change.execute_batch(
                "INSERT INTO vectors (rowid, embedding) SELECT id, embedding FROM moving; DROP TABLE moving; \
                 UPDATE stamp SET dead = 0;",
            )?;
            change.commit()?;
        }
        self.connection.execute("UPDATE stamp SET generation = ?1", [generation as i64])?;
        if rewrite {
            self.connection.execute_batch("VACUUM")?;
        }
        Ok(())
    }

    /// The `count` nearest of all, best first; at most [`MOST_NEAREST`].
    fn knn(&self, query: &[u8], count: usize) -> rusqlite::Result<Vec<VectorHit>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid, distance FROM vectors WHERE embedding MATCH ?1 AND k = ?2 ORDER BY distance",
        )?;
        let rows = statement.query_map(params![query, count as i64], hit)?;
        rows.collect()
    }

    /// All that `keep` accepts.
    fn scan(&self, query: &[u8], keep: &dyn Fn(u64) -> bool) -> rusqlite::Result<Vec<VectorHit>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid, vec_distance_cosine(embedding, ?1) AS distance FROM vectors")?;
        let rows = statement.query_map([query], hit)?;
        rows.filter(|row| row.as_ref().map_or(true, |hit| keep(hit.id))).collect()
    }

    /// At least the `limit` nearest that `keep` accepts, and all that are as near as the last of them.
    fn candidates(
        &self,
        query: &[u8],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
    ) -> rusqlite::Result<Vec<VectorHit>> {
        let mut count = limit.saturating_add(8);
        while limit > 0 && count <= MOST_NEAREST {
            let nearest = self.knn(query, count)?;
            let all = nearest.len() < count;
            let farthest = nearest.last().map_or(1.0, |hit| hit.cosine);
            let kept: Vec<VectorHit> = nearest.into_iter().filter(|hit| keep(hit.id)).collect();
            if all || kept.get(limit - 1).is_some_and(|last| last.cosine > farthest) {
                return Ok(kept);
            }
            count = if count < MOST_NEAREST { (count * 8).min(MOST_NEAREST) } else { usize::MAX };
        }
        if limit == 0 { Ok(Vec::new()) } else { self.scan(query, keep) }
    }

    /// Over every chunk of a small index, over an even sample of a large one.
    fn spread(&self, query: &[f32]) -> rusqlite::Result<Spread> {
        let mut sample = self.sample.borrow_mut();
        let sample = match &mut *sample {
            Some(sample) => sample,
            absent => absent.insert(self.read_sample()?),
        };
        let cosines: Vec<f32> = sample.chunks_exact(self.dims).map(|vector| cosine(query, vector)).collect();
        Ok(Spread::of(&cosines))
    }

    fn read_sample(&self) -> rusqlite::Result<Vec<f32>> {
        let mut statement = self.connection.prepare_cached("SELECT rowid FROM vectors")?;
        let mut ids = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
        // By id, so that the sample does not depend on the order of the additions.
        ids.sort_unstable();
        let mut statement =
            self.connection.prepare_cached("SELECT embedding FROM vectors WHERE rowid = ?1")?;
        let mut sample = Vec::new();
        for id in ids.iter().step_by(ids.len().div_ceil(SAMPLE).max(1)) {
            let packed: Vec<u8> = statement.query_row([id], |row| row.get(0))?;
            sample.extend(unpack(&packed).filter(|vector| vector.len() == self.dims).into_iter().flatten());
        }
        Ok(sample)
    }

    fn change(&mut self, gone: &[u64], new: Option<&[f32]>) -> rusqlite::Result<()> {
        self.sample.take();
        let change = self.connection.transaction()?;
        let (mut removed, mut added) = (0, 0);
        {
            let mut delete = change.prepare_cached("DELETE FROM vectors WHERE rowid = ?1")?;
            let mut insert =
                change.prepare_cached("INSERT INTO vectors (rowid, embedding) VALUES (?1, ?2)")?;
            for (place, &id) in gone.iter().enumerate() {
                removed += delete.execute([id as i64])?;
                if let Some(vectors) = new {
                    let vector = &vectors[place * self.dims..][..self.dims];
                    added += insert.execute(params![id as i64, pack(vector)])?;
                }
            }
            change.prepare_cached("UPDATE stamp SET dead = dead + ?1")?.execute([removed as i64])?;
        }
        change.commit()?;
        self.live = self.live + added - removed;
        Ok(())
    }

    fn failed(&self, error: rusqlite::Error) -> Error {
        Error::Derived { path: self.path.clone(), message: error.to_string() }
    }
}

impl VectorIndex for Vec0 {
    fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
        _exact: &dyn Vectors,
    ) -> Result<(Vec<VectorHit>, Spread)> {
        check(query, self.dims)?;
        let mut hits = self.candidates(&pack(query), limit, keep).map_err(|error| self.failed(error))?;
        hits.sort_unstable_by(VectorHit::order);
        hits.truncate(limit);
        let spread = self.spread(query).map_err(|error| self.failed(error))?;
        Ok((hits, spread))
    }

    fn add(&mut self, ids: &[u64], vectors: &[f32]) -> Result<()> {
        check_all(ids, vectors, self.dims)?;
        self.change(ids, Some(vectors)).map_err(|error| self.failed(error))
    }

    fn remove(&mut self, ids: &[u64]) -> Result<()> {
        self.change(ids, None).map_err(|error| self.failed(error))
    }

    fn len(&self) -> usize {
        self.live
    }

    fn dims(&self) -> usize {
        self.dims
    }
}

fn create(connection: &Connection, dims: usize) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE VIRTUAL TABLE vectors USING vec0(embedding float[{dims}] distance_metric=cosine)"
    ))
}

/// Row ids are the bits of chunk ids: SQLite knows signed numbers only.
fn hit(row: &rusqlite::Row<'_>) -> rusqlite::Result<VectorHit> {
    let (id, distance): (i64, f64) = (row.get(0)?, row.get(1)?);
    Ok(VectorHit { id: id as u64, cosine: (1.0 - distance).clamp(-1.0, 1.0) as f32 })
}

/// Makes `vec0` known to this connection alone; other connections of the process do not change.
fn register(connection: &Connection) {
    use rusqlite::ffi;
    type EntryPoint = unsafe extern "C" fn(
        *mut ffi::sqlite3,
        *mut *mut std::ffi::c_char,
        *const ffi::sqlite3_api_routines,
    ) -> std::ffi::c_int;
    #[allow(
        unsafe_code,
        reason = "the extension is a C function, and its crate declares it without parameters"
    )]
    // SAFETY: `sqlite3_vec_init` is an SQLite entry point and has the parameters of one in C. The handle is open for as
    // long as the connection is borrowed. The crate compiles with SQLITE_CORE, so the routines are linked and the third
    // parameter is not read; a null second one means that no message is wanted. Its only failure is lack of memory,
    // and then creating the table fails with a message of its own.
    unsafe {
        let entry_point: EntryPoint = std::mem::transmute(sqlite_vec::sqlite3_vec_init as *const ());
        entry_point(connection.handle(), std::ptr::null_mut(), std::ptr::null());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, Truth};
    use super::*;

    const DIMS: usize = 24;

    fn open(path: &std::path::Path, fingerprint: &str) -> Vec0 {
        Vec0::open(Connection::open(path).unwrap(), DIMS, fingerprint).unwrap()
    }

    #[test]
    fn f097_what_was_added_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vec0.sqlite");
        let mut truth = Truth::default();
        let mut index = open(&path, "model a");
        assert_eq!(index.generation().unwrap(), None);
        truth.add(&mut index, &(0..1500).collect::<Vec<u64>>(), &Random(1).vector(DIMS * 1500));
        index.commit(u64::MAX).unwrap();
        drop(index);

        let index = open(&path, "model a");

        assert_eq!((index.len(), index.generation().unwrap()), (1500, Some(u64::MAX)));
        for (&id, vector) in truth.0.iter().step_by(50) {
            assert_eq!(index.nearest(vector, 1, &|_| true, &truth).unwrap().0[0].id, id);
        }
    }

    #[test]
    fn another_model_or_other_dims_start_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vec0.sqlite");
        let mut index = open(&path, "model a");
        index.add(&[1], &[0.5; DIMS]).unwrap();
        index.commit(7).unwrap();
        drop(index);

        let index = open(&path, "model b");
        assert_eq!((index.len(), index.generation().unwrap()), (0, None));
        drop(index);

        let mut index = Vec0::open(Connection::open(&path).unwrap(), 3, "model b").unwrap();
        assert_eq!((index.len(), index.dims()), (0, 3));
        index.add(&[1], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(index.len(), 1);
    }

    #[test]
    fn other_connections_of_the_process_do_not_change() {
        let _index = Vec0::open(Connection::open_in_memory().unwrap(), DIMS, "model a").unwrap();
        let other = Connection::open_in_memory().unwrap();
        let known: rusqlite::Result<String> = other.query_row("SELECT vec_version()", [], |row| row.get(0));
        assert!(known.unwrap_err().to_string().contains("no such function"));
    }

    #[test]
    fn f095_size_follows_content() {
        let folder = tempfile::tempdir().unwrap();
        let (used, fresh) = (folder.path().join("used"), folder.path().join("fresh"));
        let ids: Vec<u64> = (0..1000).collect();
        let (mut random, mut truth) = (Random(3), Truth::default());
        let mut index = open(&used, "model a");
        for generation in 0..30 {
            truth.add(&mut index, &ids, &random.vector(DIMS * ids.len()));
            index.commit(generation).unwrap();
        }
        let last: Vec<f32> = truth.0.values().flatten().copied().collect();
        open(&fresh, "model a").add(&ids, &last).unwrap();

        let size = |path| std::fs::metadata(path).unwrap().len();
        assert!(size(&used) <= 3 * size(&fresh), "{} for {}", size(&used), size(&fresh));
        assert_eq!((index.len(), index.generation().unwrap()), (1000, Some(29)));
        for (&id, vector) in truth.0.iter().step_by(100) {
            assert_eq!(index.nearest(vector, 1, &|_| true, &truth).unwrap().0[0].id, id);
        }
    }

    #[test]
    fn a_database_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "not a database, but long enough to be looked at as one\n".repeat(20)).unwrap();
        let error = Vec0::open(Connection::open(&path).unwrap(), DIMS, "model a").unwrap_err();
        assert!(
            matches!(&error, Error::Derived { path: named, .. } if named.ends_with("notes.txt")),
            "{error}"
        );
    }
}
