//! The truth of the index: one SQLite file with notes, chunks and vectors by content.
//!
//! Chunk ids are never used twice, so a derived index that is behind can be caught up from three facts: the highest
//! chunk id at a generation (`step`), the ids deleted since (`tombstone`), the vectors that came since (`embedding`).
//! Vectors belong to a *content* (what is embedded, by hash) under a fingerprint; moving or copying text costs nothing.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::chunk::Chunk;
use crate::error::{Error, Result};
use crate::scan::{Found, Source, Stat};
use crate::vector::Vectors;

/// `memg`, in the SQLite header: the file is ours.
const APPLICATION_ID: u32 = 0x6d65_6d67;
/// Raised when the tables change.
pub const SCHEMA_VERSION: u32 = 1;
/// Generations a derived index may be behind and still be caught up instead of rebuilt.
const KEPT_STEPS: i64 = 4096;
/// Bits of an embedding's key that hold the content; the fingerprint's number stands above them.
const CONTENT_BITS: u32 = 40;

const SCHEMA: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE note(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, absolute TEXT NOT NULL, source INTEGER NOT NULL,
  curated INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, hash BLOB NOT NULL, stem TEXT NOT NULL, warning TEXT) STRICT;
CREATE INDEX note_stem ON note(stem);
CREATE TABLE content(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE chunk(
  id INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL, content INTEGER NOT NULL, first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, importance INTEGER, triggers TEXT,
  project TEXT, context TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE INDEX chunk_note ON chunk(note);
CREATE INDEX chunk_content ON chunk(content);
CREATE TABLE fingerprint(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dims INTEGER) STRICT;
CREATE TABLE embedding(
  key INTEGER PRIMARY KEY, generation INTEGER NOT NULL, used INTEGER NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX embedding_generation ON embedding(generation);
CREATE TABLE refusal(key INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;
CREATE TABLE tombstone(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL) STRICT;
CREATE TABLE step(generation INTEGER PRIMARY KEY, last_chunk INTEGER NOT NULL) STRICT;
INSERT INTO meta VALUES('generation', 0), ('text_generation', 0);
INSERT INTO step VALUES(0, 0);
";

/// A note as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownNote {
    /// Row id.
    pub id: i64,
    /// Its stat when it was read.
    pub stat: Stat,
    /// BLAKE3 of its bytes, 16 bytes.
    pub hash: [u8; 16],
    /// As in [`Found::curated`].
    pub curated: bool,
    /// As in [`Found::source`].
    pub source: u8,
    /// Where it is opened.
    pub absolute: String,
}

/// A note that was read and cut, ready to be written.
#[derive(Debug)]
pub struct PreparedNote {
    /// The file.
    pub found: Found,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 16],
    /// The decoded text.
    pub text: String,
    /// Its chunks and the hash of what is embedded for each.
    pub chunks: Vec<(Chunk, [u8; 16])>,
    /// What the user should know (lenient decoding, unreadable marks).
    pub warning: Option<String>,
}

/// A chunk's place and signals, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkFacts {
    /// The note's row.
    pub note: i64,
    /// The note's path.
    pub path: String,
    /// The note's source.
    pub source: u8,
    /// First line.
    pub first_line: usize,
    /// Last line.
    pub last_line: usize,
    /// Importance, if any.
    pub importance: Option<u8>,
    /// The note's modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
}

/// A stored chunk to be indexed lexically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Row id.
    pub id: u64,
    /// Text, as in the file.
    pub text: String,
    /// Heading path and table header.
    pub context: String,
    /// Path of the note.
    pub path: String,
    /// Source of the note.
    pub source: u8,
}

/// What a derived index has to do to get from one generation to the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// The log does not reach back so far: fill it anew.
    Rebuild,
    /// Remove these chunks, then add those with an id above `after` (and, for vectors, those embedded since).
    Replay {
        /// Highest chunk id that the derived index has seen.
        after: u64,
        /// Chunks it may hold that are gone.
        removed: Vec<u64>,
    },
}

/// The selected fingerprint: its number and the length of its vectors, once known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// Row id.
    pub id: i64,
    /// Length of a vector.
    pub dims: Option<usize>,
}

impl Selected {
    fn base(self) -> i64 {
        self.id << CONTENT_BITS
    }
    fn range(self) -> (i64, i64) {
        (self.base(), self.base() + (1 << CONTENT_BITS))
    }
}

/// One connection to the store.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// What the open write transaction changed so far.
    changed: Cell<Changed>,
}

/// What a write transaction changed; decides whether it becomes a generation, and for whom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Changed {
    /// Nothing a search could see.
    Nothing,
    /// Vectors.
    Vectors,
    /// Chunks.
    Text,
}

/// SQLite's errors with the file's name and whether the file is damaged.
pub(crate) trait Named<T> {
    fn named(self, path: &Path) -> Result<T>;
}

impl<T> Named<T> for rusqlite::Result<T> {
    fn named(self, path: &Path) -> Result<T> {
        self.map_err(|error| {
            use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, ReadOnly};
            let code = error.sqlite_error_code();
            let help = match code {
                Some(DatabaseCorrupt | NotADatabase) => "; the file is damaged: `memgrep index` rebuilds it from the notes",
                Some(DiskFull) => "; free some space and run `memgrep index` again, nothing is lost",
                Some(DatabaseBusy | DatabaseLocked) => "; another process is writing, try again",
                Some(ReadOnly) => "; the file or its folder cannot be written",
                _ => "",
            };
            Error::Store {
                path: path.to_owned(),
                message: format!("{error}{help}"),
                damaged: matches!(code, Some(DatabaseCorrupt | NotADatabase)),
            }
        })
    }
}

impl Store {
    /// Opens the store, or makes it when `create`; `Ok(None)` when there is none and it may not be made.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a file that is not ours or of a newer version, which is left as it is.
    pub fn open(path: &Path, create: bool) -> Result<Option<Self>> {
        if !inspect(path)? {
            if !create {
                return Ok(None);
            }
            make_private(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).named(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).named(path)?;
        let store = Self { path: path.to_owned(), connection, changed: Cell::new(Changed::Nothing) };
        match store.one::<u32>("PRAGMA user_version")? {
            0 if !create => return Ok(None),
            0 => store.create_schema()?,
            version if version > SCHEMA_VERSION => {
                return Err(Error::Foreign {
                    path: path.to_owned(),
                    reason: format!(
                        "it was made by a newer memgrep (format {version}, this one knows {SCHEMA_VERSION}); update memgrep"
                    ),
                });
            }
            _ => {}
        }
        // NORMAL: a power cut may take the last commits with it, never the order of them; the notes still have the text.
        store.batch(
            "PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA journal_size_limit=67108864;
             PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA query_only=0;",
        )?;
        store.connection.set_prepared_statement_cache_capacity(64);
        Ok(Some(store))
    }

    fn create_schema(&self) -> Result<()> {
        if self.one::<u32>("SELECT count(*) FROM sqlite_schema")? > 0 {
            return Err(foreign_file(&self.path));
        }
        // The mark goes into the file itself before the write-ahead log is switched on: whoever looks at the first page
        // sees whose file it is.
        self.batch(&format!("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id={APPLICATION_ID};"))?;
        self.batch("PRAGMA journal_mode=WAL; BEGIN IMMEDIATE")?;
        // Another process may have made the tables between our look and our lock.
        if self.one::<u32>("PRAGMA user_version")? == 0 {
            self.batch(SCHEMA)?;
            self.batch(&format!("PRAGMA user_version={SCHEMA_VERSION};"))?;
        }
        self.batch("COMMIT")
    }

    fn batch(&self, sql: &str) -> Result<()> {
        self.connection.execute_batch(sql).named(&self.path)
    }

    fn one<T: rusqlite::types::FromSql>(&self, sql: &str) -> Result<T> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .named(&self.path)
    }

    /// The SQLite file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last commit.
    pub fn generation(&self) -> Result<u64> {
        self.one::<i64>("SELECT value FROM meta WHERE key = 'generation'").map(|value| value as u64)
    }

    /// Number of the last commit that changed chunks: where a lexical index has to stand.
    pub fn text_generation(&self) -> Result<u64> {
        self.one::<i64>("SELECT value FROM meta WHERE key = 'text_generation'").map(|value| value as u64)
    }

    /// A value of the meta table.
    pub fn meta(&self, key: &str) -> Result<Option<String>> {
        self.connection
            .prepare_cached("SELECT CAST(value AS TEXT) FROM meta WHERE key = ?1")
            .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
            .named(&self.path)
    }

    /// Sets a value of the meta table.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO meta VALUES(?1, ?2)")
            .and_then(|mut statement| statement.execute(params![key, value]))
            .named(&self.path)
            .map(drop)
    }

    /// Starts reading one snapshot; ends with [`Store::end_read`].
    pub fn begin_read(&self) -> Result<()> {
        self.batch("BEGIN DEFERRED")
    }

    /// Ends the snapshot.
    pub fn end_read(&self) {
        // Nothing was written: an error here can only say that no transaction is open.
        let _ = self.connection.execute_batch("COMMIT");
    }

    /// Runs `work` in one write transaction; nothing is kept when it fails. If it changed chunks or vectors the transaction
    /// becomes the next generation, whose number `work` is told.
    pub fn write<T>(&self, work: impl FnOnce(&Self, u64) -> Result<T>) -> Result<T> {
        self.batch("BEGIN IMMEDIATE")?;
        self.changed.set(Changed::Nothing);
        let outcome = self.generation().and_then(|last| {
            let value = work(self, last + 1)?;
            if self.changed.get() != Changed::Nothing {
                self.close_generation(last + 1)?;
            }
            self.batch("COMMIT")?;
            Ok(value)
        });
        if outcome.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to report; SQLite may have rolled back by itself.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        outcome
    }

    fn mark(&self, changed: Changed) {
        self.changed.set(self.changed.get().max(changed));
    }

    fn close_generation(&self, generation: u64) -> Result<()> {
        let generation = generation as i64;
        let run = |sql: &str, value: i64| {
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([value])).named(&self.path)
        };
        run("UPDATE meta SET value = ?1 WHERE key = 'generation'", generation)?;
        if self.changed.get() == Changed::Text {
            run("UPDATE meta SET value = ?1 WHERE key = 'text_generation'", generation)?;
        }
        run(
            "INSERT INTO step VALUES(?1, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunk'), 0))",
            generation,
        )?;
        run("DELETE FROM step WHERE generation < ?1", generation - KEPT_STEPS)?;
        // Older tombstones have the lower ids, so a bounded look at the front is enough and cheap.
        run(
            "DELETE FROM tombstone WHERE generation < ?1 AND id IN (SELECT id FROM tombstone ORDER BY id LIMIT 4096)",
            generation - KEPT_STEPS,
        )?;
        Ok(())
    }

    /// Every note the store knows, by path.
    pub fn notes(&self) -> Result<rustc_hash::FxHashMap<String, KnownNote>> {
        let sql = "SELECT path, id, size, mtime_ns, ctime_ns, inode, hash, curated, source, absolute FROM note";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                KnownNote {
                    id: row.get(1)?,
                    stat: Stat {
                        size: row.get::<_, i64>(2)? as u64,
                        mtime_ns: row.get(3)?,
                        ctime_ns: row.get(4)?,
                        inode: row.get::<_, i64>(5)? as u64,
                    },
                    hash: row.get(6)?,
                    curated: row.get(7)?,
                    source: row.get(8)?,
                    absolute: row.get(9)?,
                },
            ))
        });
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// `(path, source, chunks)` of every note, by path.
    pub fn note_list(&self) -> Result<Vec<(String, u8, usize)>> {
        let sql = "SELECT path, source, (SELECT count(*) FROM chunk WHERE chunk.note = note.id) FROM note ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? as usize)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// `(path, warning)` of every note that has one.
    pub fn warnings(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT path, warning FROM note WHERE warning IS NOT NULL ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Adds a note that is not in the store and its chunks; within [`Store::write`]. The ids of the chunks, in order.
    pub fn add_note(&self, note: &PreparedNote) -> Result<Vec<u64>> {
        self.mark(Changed::Text);
        let found = &note.found;
        let sql = "INSERT INTO note(path, absolute, source, curated, size, mtime_ns, ctime_ns, inode, hash, stem, warning)
                   VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let id = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.insert(params![
                    found.path,
                    found.absolute.to_string_lossy(),
                    found.source as u8,
                    found.curated,
                    found.stat.size as i64,
                    found.stat.mtime_ns,
                    found.stat.ctime_ns,
                    found.stat.inode as i64,
                    note.hash,
                    stem_key(&found.path),
                    note.warning,
                ])
            })
            .named(&self.path)?;
        note.chunks.iter().map(|(chunk, hash)| self.insert_chunk(id, note, chunk, hash)).collect()
    }

    fn insert_chunk(&self, note: i64, prepared: &PreparedNote, chunk: &Chunk, hash: &[u8; 16]) -> Result<u64> {
        let content = self.content(hash)?;
        let sql = "INSERT INTO chunk(note, content, first_line, last_line, start, end, importance, triggers, project,
                   context, text) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let triggers = (!chunk.triggers.is_empty()).then(|| chunk.triggers.join("; "));
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.insert(params![
                    note,
                    content,
                    chunk.first_line as i64,
                    chunk.last_line as i64,
                    chunk.start as i64,
                    chunk.end as i64,
                    chunk.importance,
                    triggers,
                    chunk.project,
                    chunk.context,
                    &prepared.text[chunk.start..chunk.end],
                ])
            })
            .map(|id| id as u64)
            .named(&self.path)
    }

    fn content(&self, hash: &[u8; 16]) -> Result<i64> {
        let found = self
            .connection
            .prepare_cached("SELECT id FROM content WHERE hash = ?1")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
            .named(&self.path)?;
        match found {
            Some(id) => Ok(id),
            None => self
                .connection
                .prepare_cached("INSERT INTO content(hash) VALUES(?1)")
                .and_then(|mut statement| statement.insert([hash]))
                .named(&self.path),
        }
    }

    /// Removes a note and its chunks, whose ids are pushed to `removed`; within [`Store::write`]. False if it is unknown.
    pub fn remove_note(&self, path: &str, generation: u64, removed: &mut Vec<u64>) -> Result<bool> {
        let id: Option<i64> = self
            .connection
            .prepare_cached("DELETE FROM note WHERE path = ?1 RETURNING id")
            .and_then(|mut statement| statement.query_row([path], |row| row.get(0)).optional())
            .named(&self.path)?;
        let Some(id) = id else { return Ok(false) };
        self.mark(Changed::Text);
        let mut statement =
            self.connection.prepare_cached("DELETE FROM chunk WHERE note = ?1 RETURNING id").named(&self.path)?;
        let ids: Vec<i64> = statement
            .query_map([id], |row| row.get(0))
            .and_then(|rows| rows.collect::<rusqlite::Result<_>>())
            .named(&self.path)?;
        for id in ids {
            self.connection
                .prepare_cached("INSERT INTO tombstone VALUES(?1, ?2)")
                .and_then(|mut statement| statement.execute([id, generation as i64]))
                .named(&self.path)?;
            removed.push(id as u64);
        }
        Ok(true)
    }

    /// The same bytes under another stat (a touched file); within [`Store::write`].
    pub fn restat_note(&self, id: i64, stat: Stat) -> Result<()> {
        let sql = "UPDATE note SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5 WHERE id = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.execute(params![id, stat.size as i64, stat.mtime_ns, stat.ctime_ns, stat.inode as i64])
            })
            .named(&self.path)
            .map(drop)
    }

    /// What a derived index of `generation` has to do to catch up.
    pub fn delta(&self, generation: Option<u64>) -> Result<Delta> {
        let Some(generation) = generation else { return Ok(Delta::Rebuild) };
        let after: Option<i64> = self
            .connection
            .prepare_cached("SELECT last_chunk FROM step WHERE generation = ?1")
            .and_then(|mut statement| statement.query_row([generation as i64], |row| row.get(0)).optional())
            .named(&self.path)?;
        let Some(after) = after else { return Ok(Delta::Rebuild) };
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM tombstone WHERE generation > ?1 AND id <= ?2")
            .named(&self.path)?;
        let removed = statement
            .query_map([generation as i64, after], |row| row.get::<_, i64>(0))
            .and_then(|rows| rows.map(|id| id.map(|id| id as u64)).collect())
            .named(&self.path)?;
        Ok(Delta::Replay { after: after as u64, removed })
    }

    /// Up to `limit` chunks with an id above `after`, by id.
    pub fn chunks_after(&self, after: u64, limit: usize) -> Result<Vec<StoredChunk>> {
        let sql = "SELECT c.id, c.text, c.context, n.path, n.source FROM chunk c JOIN note n ON n.id = c.note
                   WHERE c.id > ?1 ORDER BY c.id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([after as i64, limit as i64], |row| {
            Ok(StoredChunk {
                id: row.get::<_, i64>(0)? as u64,
                text: row.get(1)?,
                context: row.get(2)?,
                path: row.get(3)?,
                source: row.get(4)?,
            })
        });
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Where a chunk stands; `None` when it is gone.
    pub fn facts(&self, id: u64) -> Result<Option<ChunkFacts>> {
        let sql = "SELECT c.note, n.path, n.source, c.first_line, c.last_line, c.importance, n.mtime_ns
                   FROM chunk c JOIN note n ON n.id = c.note WHERE c.id = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_row([id as i64], |row| {
                        Ok(ChunkFacts {
                            note: row.get(0)?,
                            path: row.get(1)?,
                            source: row.get(2)?,
                            first_line: row.get::<_, i64>(3)? as usize,
                            last_line: row.get::<_, i64>(4)? as usize,
                            importance: row.get(5)?,
                            mtime_ns: row.get(6)?,
                        })
                    })
                    .optional()
            })
            .named(&self.path)
    }

    /// A chunk's text and context; `None` when it is gone.
    pub fn text(&self, id: u64) -> Result<Option<(String, String)>> {
        self.connection
            .prepare_cached("SELECT text, context FROM chunk WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([id as i64], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .named(&self.path)
    }

    /// Where a note is opened.
    pub fn absolute(&self, note: i64) -> Result<String> {
        self.connection
            .prepare_cached("SELECT absolute FROM note WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([note], |row| row.get(0)))
            .named(&self.path)
    }

    /// Chunk ids of the notes whose folded stem is `stem`, in note order.
    pub fn chunks_of_stem(&self, stem: &str) -> Result<Vec<u64>> {
        let sql = "SELECT c.id FROM note n JOIN chunk c ON c.note = n.id WHERE n.stem = ?1 ORDER BY c.id LIMIT 256";
        self.ids(sql, params![stem])
    }

    /// Ids of all live chunks whose note has another source than those in `sources` (bit `1 << source`).
    pub fn chunks_outside(&self, sources: u8) -> Result<Vec<u64>> {
        let sql = "SELECT c.id FROM note n JOIN chunk c ON c.note = n.id WHERE (1 << n.source) & ?1 = 0";
        self.ids(sql, params![sources])
    }

    fn ids(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<u64>> {
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map(values, |row| row.get::<_, i64>(0));
        rows.and_then(|rows| rows.map(|id| id.map(|id| id as u64)).collect()).named(&self.path)
    }

    /// The fingerprint's row, made when `create`.
    pub fn fingerprint(&self, name: &str, create: bool) -> Result<Option<Selected>> {
        if create {
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO fingerprint(name) VALUES(?1)")
                .and_then(|mut statement| statement.execute([name]))
                .named(&self.path)?;
        }
        self.connection
            .prepare_cached("SELECT id, dims FROM fingerprint WHERE name = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([name], |row| {
                        Ok(Selected { id: row.get(0)?, dims: row.get::<_, Option<i64>>(1)?.map(|dims| dims as usize) })
                    })
                    .optional()
            })
            .named(&self.path)
    }

    /// Every fingerprint that has vectors: name, dims, vectors.
    pub fn fingerprints(&self) -> Result<Vec<(String, Option<usize>, usize)>> {
        let sql = "SELECT name, dims, (SELECT count(*) FROM embedding WHERE key >= f.id << ?1 AND key < (f.id + 1) << ?1)
                   FROM fingerprint f ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([CONTENT_BITS], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, Option<i64>>(1)?.map(|dims| dims as usize),
                row.get::<_, i64>(2)? as usize,
            ))
        });
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Sets the length of a fingerprint's vectors; within [`Store::write`].
    pub fn set_dims(&self, selected: Selected, dims: usize) -> Result<()> {
        self.connection
            .execute("UPDATE fingerprint SET dims = ?2 WHERE id = ?1", params![selected.id, dims as i64])
            .named(&self.path)
            .map(drop)
    }

    /// Up to `limit` distinct contents of live chunks above chunk id `after` without a vector or a refusal, in note order:
    /// `(chunk id, content, hash, context, text)`.
    #[allow(clippy::type_complexity, reason = "one row, read at once by its two callers")]
    pub fn pending(
        &self,
        selected: Selected,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, i64, [u8; 16], String, String)>> {
        let sql = "SELECT c.id, c.content, (SELECT hash FROM content WHERE content.id = c.content), c.context, c.text
                   FROM chunk c WHERE c.id > ?1
                   AND NOT EXISTS(SELECT 1 FROM embedding WHERE key = ?2 + c.content)
                   AND NOT EXISTS(SELECT 1 FROM refusal WHERE key = ?2 + c.content)
                   ORDER BY c.id LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement
            .query_map(params![after as i64, selected.base(), limit as i64], |row| {
                Ok((row.get::<_, i64>(0)? as u64, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .named(&self.path)?;
        rows.collect::<rusqlite::Result<Vec<_>>>().named(&self.path)
    }

    /// How many contents of live chunks have neither a vector nor a refusal, and how many a refusal.
    pub fn pending_counts(&self, selected: Selected) -> Result<(usize, usize)> {
        let sql = "SELECT
            (SELECT count(DISTINCT content) FROM chunk c WHERE NOT EXISTS(SELECT 1 FROM embedding WHERE key = ?1 + c.content)
             AND NOT EXISTS(SELECT 1 FROM refusal WHERE key = ?1 + c.content)),
            (SELECT count(DISTINCT content) FROM chunk c WHERE EXISTS(SELECT 1 FROM refusal WHERE key = ?1 + c.content))";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([selected.base()], |row| {
                    Ok((row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)? as usize))
                })
            })
            .named(&self.path)
    }

    /// Why texts were refused, distinct, with counts.
    pub fn refusals(&self, selected: Selected) -> Result<Vec<(String, usize)>> {
        let sql = "SELECT reason, count(*) FROM refusal WHERE key >= ?1 AND key < ?2 GROUP BY reason ORDER BY 2 DESC";
        let (first, end) = selected.range();
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([first, end], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// The content with this hash.
    pub fn content_of(&self, hash: &[u8]) -> Result<Option<i64>> {
        self.connection
            .prepare_cached("SELECT id FROM content WHERE hash = ?1")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
            .named(&self.path)
    }

    /// Stores a vector; within [`Store::write`].
    pub fn put_vector(&self, selected: Selected, content: i64, vector: &[u8], generation: u64) -> Result<()> {
        let key = selected.base() + content;
        self.mark(Changed::Vectors);
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO embedding VALUES(?1, ?2, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![key, generation as i64, vector]))
            .named(&self.path)?;
        self.connection
            .prepare_cached("DELETE FROM refusal WHERE key = ?1")
            .and_then(|mut statement| statement.execute([key]))
            .named(&self.path)
            .map(drop)
    }

    /// Remembers that a content was refused; within [`Store::write`].
    pub fn put_refusal(&self, selected: Selected, content: i64, reason: &str) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO refusal VALUES(?1, ?2)")
            .and_then(|mut statement| statement.execute(params![selected.base() + content, reason]))
            .named(&self.path)
            .map(drop)
    }

    /// Forgets all refusals of a fingerprint; within [`Store::write`].
    pub fn clear_refusals(&self, selected: Selected) -> Result<usize> {
        let (first, end) = selected.range();
        self.connection
            .execute("DELETE FROM refusal WHERE key >= ?1 AND key < ?2", [first, end])
            .named(&self.path)
    }

    /// Calls `sink(chunk id, vector)` for every live chunk with a vector of the fingerprint; only those above chunk id
    /// `after` or embedded after generation `since`, when these are given.
    pub fn each_vector(
        &self,
        selected: Selected,
        delta: Option<(u64, u64)>,
        sink: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (first, end) = selected.range();
        let mut run = |sql: &str, values: &[i64]| -> Result<()> {
            let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
            let mut rows = statement.query(rusqlite::params_from_iter(values)).named(&self.path)?;
            while let Some(row) = rows.next().named(&self.path)? {
                let id: i64 = row.get(0).named(&self.path)?;
                let vector = row.get_ref(1).named(&self.path)?.as_blob().map_err(rusqlite::Error::from).named(&self.path)?;
                sink(id as u64, vector)?;
            }
            Ok(())
        };
        match delta {
            None => run(
                "SELECT c.id, e.vector FROM embedding e JOIN chunk c ON c.content = e.key - ?1
                 WHERE e.key >= ?1 AND e.key < ?2",
                &[first, end],
            ),
            Some((after, since)) => {
                run(
                    "SELECT c.id, e.vector FROM chunk c JOIN embedding e ON e.key = ?1 + c.content WHERE c.id > ?2",
                    &[first, after as i64],
                )?;
                run(
                    "SELECT c.id, e.vector FROM embedding e JOIN chunk c ON c.content = e.key - ?1
                     WHERE e.generation > ?4 AND e.key >= ?1 AND e.key < ?2 AND c.id <= ?3",
                    &[first, end, after as i64, since as i64],
                )
            }
        }
    }

    /// Live chunks with a vector of the fingerprint.
    pub fn vector_count(&self, selected: Selected) -> Result<usize> {
        self.connection
            .prepare_cached("SELECT count(*) FROM chunk c JOIN embedding e ON e.key = ?1 + c.content")
            .and_then(|mut statement| statement.query_row([selected.base()], |row| row.get::<_, i64>(0)))
            .map(|count| count as usize)
            .named(&self.path)
    }

    /// Live chunks.
    pub fn chunk_count(&self) -> Result<usize> {
        self.one::<i64>("SELECT count(*) FROM chunk").map(|count| count as usize)
    }

    /// No chunk at all; cheap at every size.
    pub fn has_chunks(&self) -> Result<bool> {
        self.one("SELECT EXISTS(SELECT 1 FROM chunk)")
    }

    /// Notes.
    pub fn note_count(&self) -> Result<usize> {
        self.one::<i64>("SELECT count(*) FROM note").map(|count| count as usize)
    }

    /// Vectors of any fingerprint, those that no live chunk needs included.
    pub fn cache_count(&self) -> Result<usize> {
        self.one::<i64>("SELECT count(*) FROM embedding").map(|count| count as usize)
    }

    /// Marks the vectors of live chunks as used now; within [`Store::write`].
    pub fn touch_vectors(&self, selected: Selected, generation: u64) -> Result<()> {
        let (first, end) = selected.range();
        self.connection
            .execute(
                "UPDATE embedding SET used = ?3 WHERE key >= ?1 AND key < ?2
                 AND EXISTS(SELECT 1 FROM chunk WHERE content = key - ?1)",
                params![first, end, generation as i64],
            )
            .named(&self.path)
            .map(drop)
    }

    /// Drops vectors that no live chunk needs, least recently used first, until `max_entries` are left (or only live ones
    /// are); within [`Store::write`]. How many.
    pub fn trim_cache(&self, max_entries: usize) -> Result<usize> {
        let surplus = self.cache_count()?.saturating_sub(max_entries);
        if surplus == 0 {
            return Ok(0);
        }
        let mask = (1_i64 << CONTENT_BITS) - 1;
        let dropped = self
            .connection
            .execute(
                "DELETE FROM embedding WHERE key IN (SELECT key FROM embedding
                 WHERE NOT EXISTS(SELECT 1 FROM chunk WHERE content = key & ?1) ORDER BY used, key LIMIT ?2)",
                params![mask, surplus as i64],
            )
            .named(&self.path)?;
        self.connection
            .execute(
                "DELETE FROM content WHERE NOT EXISTS(SELECT 1 FROM chunk WHERE content = content.id)
                 AND NOT EXISTS(SELECT 1 FROM embedding WHERE key & ?1 = content.id)",
                [mask],
            )
            .named(&self.path)?;
        Ok(dropped)
    }

    /// Gives free pages back to the file system when they are a quarter of the file, outside a transaction.
    pub fn give_back_space(&self) -> Result<()> {
        let free: i64 = self.one("PRAGMA freelist_count")?;
        let pages: i64 = self.one("PRAGMA page_count")?;
        if free > 256 && free * 4 > pages {
            self.batch("PRAGMA incremental_vacuum")?;
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Moves the write-ahead log into the file, as far as readers allow.
    pub fn checkpoint(&self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).named(&self.path)
    }

    /// What SQLite finds wrong with the file; empty when it is whole.
    pub fn check(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(20)").named(&self.path)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).and_then(|rows| rows.collect());
        let lines: Vec<String> = rows.named(&self.path)?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}

/// A store's exact vectors under one fingerprint.
pub struct StoreVectors<'a> {
    /// The connection, inside a read snapshot.
    pub store: &'a Store,
    /// The fingerprint.
    pub selected: Selected,
}

impl Vectors for StoreVectors<'_> {
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        let path = &self.store.path;
        let sql = "SELECT e.vector FROM chunk c JOIN embedding e ON e.key = ?2 + c.content WHERE c.id = ?1";
        let mut statement = self.store.connection.prepare_cached(sql).named(path)?;
        for (position, &id) in ids.iter().enumerate() {
            let mut rows = statement.query([id as i64, self.selected.base()]).named(path)?;
            if let Some(row) = rows.next().named(path)? {
                sink(position, row.get_ref(0).named(path)?.as_blob().map_err(rusqlite::Error::from).named(path)?);
            }
        }
        Ok(())
    }
}

/// The key by which a file is found by name: the folded stem of its last path component.
pub fn stem_key(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = match name.len().checked_sub(3).and_then(|at| name.is_char_boundary(at).then(|| name.split_at(at))) {
        Some((stem, end)) if end.eq_ignore_ascii_case(".md") => stem,
        _ => name,
    };
    crate::text::fold(stem)
}

/// The number of a source, as it is stored, for its name.
pub fn source_name(source: u8) -> &'static str {
    match source {
        number if number == Source::Memory as u8 => "memory",
        number if number == Source::Sessions as u8 => "sessions",
        _ => "extra",
    }
}

fn foreign_file(path: &Path) -> Error {
    Error::Foreign {
        path: path.to_owned(),
        reason: "it is not an index of memgrep; name another file with store.path, or move it away".into(),
    }
}

/// True for a SQLite file that is ours or may become ours, false for a missing or empty file.
fn inspect(path: &Path) -> Result<bool> {
    let mut header = [0_u8; 100];
    let length = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io("open", path)(error)),
        Ok(file) => file.take(100).read(&mut header).map_err(Error::io("read", path))?,
    };
    if length == 0 {
        return Ok(false);
    }
    let mark = u32::from_be_bytes([header[68], header[69], header[70], header[71]]);
    // Without a mark it may be a creation that was killed early; whether it has tables is asked of SQLite.
    if length == 100 && &header[..16] == b"SQLite format 3\0" && (mark == APPLICATION_ID || mark == 0) {
        return Ok(true);
    }
    Err(foreign_file(path))
}

/// Makes the folder (0700) and the file (0600).
fn make_private(path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(Error::io("make folder", folder))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(Error::io("make", path))
}
