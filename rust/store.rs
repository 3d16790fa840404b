//! The truth of the index: one SQLite file with notes, chunks and vectors by content.
//!
//! Chunk ids are never used twice, not by another store of the same name either, so a derived index that is behind can be
//! caught up from three facts: the highest chunk id at a generation (`step`), the ids deleted since (`tombstone`), the
//! vectors that came since (`embedding`).
//! Vectors belong to a *content* (what is embedded, by hash) under a fingerprint; moving or copying text costs nothing.

mod notes;
mod vectors;

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::error::{Error, Result};

pub use notes::{ChunkFacts, Delta, KnownNote, PreparedNote, StoredChunk, source_name, source_of, stem_key};
pub use vectors::{Selected, StoreVectors};

/// `memg`, in the SQLite header: the file is ours.
const APPLICATION_ID: u32 = 0x6d65_6d67;
/// Raised when the tables change.
pub const SCHEMA_VERSION: u32 = 1;
/// Ids and generations begin at a random number below this one and leap by up to as much: what was derived from a store that
/// was lost, or from a state of it that was, fits no other.
const LEAP: i64 = 1 << 40;
/// Generations a derived index may be behind and still be caught up instead of rebuilt.
const KEPT_STEPS: i64 = 4096;

const SCHEMA: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE note(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, absolute TEXT NOT NULL, source INTEGER NOT NULL,
  curated INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, hash BLOB NOT NULL, stem TEXT NOT NULL, warning TEXT) STRICT;
CREATE INDEX note_stem ON note(stem);
CREATE INDEX note_warning ON note(path, warning) WHERE warning IS NOT NULL;
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
CREATE INDEX tombstone_generation ON tombstone(generation);
CREATE TABLE step(generation INTEGER PRIMARY KEY, last_chunk INTEGER NOT NULL) STRICT;
INSERT INTO meta VALUES('generation', 0), ('text_generation', 0);
INSERT INTO step VALUES(0, 0);
";

/// One connection to the store.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// Set if the file is read as one that nobody changes: what it looked like then.
    unchanging: Option<Look>,
    /// What the open write transaction changed so far.
    changed: Cell<Changed>,
}

/// A file's size and modification time.
type Look = (u64, Option<std::time::SystemTime>);

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
            use rusqlite::ErrorCode::{
                CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, ReadOnly,
            };
            let code = error.sqlite_error_code();
            match code {
                Some(ReadOnly) => return Error::ReadOnly { path: path.to_owned() },
                Some(CannotOpen) => {
                    let log = std::io::Error::other("its write-ahead log (-wal, -shm) is not readable");
                    return Error::io("open", path)(log);
                }
                _ => {}
            }
            let help = match code {
                Some(DatabaseCorrupt | NotADatabase) => {
                    "; the file is damaged: `memgrep index` rebuilds it from the notes"
                }
                Some(DiskFull) => "; free some space and run `memgrep index` again, nothing is lost",
                Some(DatabaseBusy | DatabaseLocked) => "; another process is writing, try again",
                _ => "; `memgrep index --force` makes it anew from the notes",
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
        let mut store = Self::connect(path)?;
        if !create && store.lacks_log_index() && !has_log(path) {
            store = Self::connect_unchanging(path)?;
        }
        // Without it SQLite plans a statement anew for every value bound to it, which costs several times its run.
        store.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).named(path)?;
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

    fn connect(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).named(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10)).named(path)?;
        Ok(Self { path: path.to_owned(), connection, unchanging: None, changed: Cell::new(Changed::Nothing) })
    }

    /// Whether the file cannot be read because the index of its write-ahead log is not there and may not be made.
    fn lacks_log_index(&self) -> bool {
        let version = self.connection.query_row("PRAGMA user_version", [], |_| Ok(()));
        let code = version.err().and_then(|error| error.sqlite_error_code());
        matches!(code, Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly))
    }

    /// Reads the file as one that nobody changes: without locks, and without the files beside it.
    fn connect_unchanging(path: &Path) -> Result<Self> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let unchanging = Some(look(path)?);
        let connection = Connection::open_with_flags(immutable_uri(path), flags).named(path)?;
        Ok(Self { path: path.to_owned(), connection, unchanging, changed: Cell::new(Changed::Nothing) })
    }

    /// False if the file was to be one that nobody changes, and somebody did: what was read of it means nothing.
    pub fn is_current(&self) -> bool {
        self.unchanging
            .is_none_or(|before| look(&self.path).is_ok_and(|now| now == before) && !has_log(&self.path))
    }

    fn create_schema(&self) -> Result<()> {
        // Another process may make the tables between two looks, and their version with them: so the version is asked for last.
        if self.one::<u32>("SELECT count(*) FROM sqlite_schema")? > 0
            && self.one::<u32>("PRAGMA user_version")? == 0
        {
            return Err(foreign_file(&self.path));
        }
        // The mark goes into the file itself before the write-ahead log is switched on: whoever looks at the first page
        // sees whose file it is.
        self.batch(&format!(
            "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id={APPLICATION_ID};"
        ))?;
        self.batch("PRAGMA journal_mode=WAL; BEGIN IMMEDIATE")?;
        // Another process may have made the tables between our look and our lock.
        if self.one::<u32>("PRAGMA user_version")? == 0 {
            self.batch(SCHEMA)?;
            self.batch(&format!(
                "INSERT INTO sqlite_sequence VALUES('chunk', abs(random() % {LEAP})); PRAGMA user_version={SCHEMA_VERSION};"
            ))?;
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
            let next = last + if last == 0 { self.leap()? } else { 1 };
            let value = work(self, next)?;
            if self.changed.get() != Changed::Nothing {
                self.close_generation(next)?;
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

    /// A random number of 1 to [`LEAP`].
    fn leap(&self) -> Result<u64> {
        self.one::<i64>(&format!("SELECT abs(random() % {LEAP}) + 1")).map(|leap| leap as u64)
    }

    /// Leaves a gap before the next id and generation, because this store was once further on than it is now: a file was put
    /// back, or the last commits were lost. What was derived from them must not fit what comes.
    pub fn leave_gap(&self) -> Result<()> {
        let leap = self.leap()?;
        self.batch(&format!(
            "BEGIN IMMEDIATE; UPDATE sqlite_sequence SET seq = seq + {leap} WHERE name = 'chunk';
             UPDATE meta SET value = value + {leap} WHERE key = 'generation'; COMMIT"
        ))
    }

    fn mark(&self, changed: Changed) {
        self.changed.set(self.changed.get().max(changed));
    }

    fn close_generation(&self, generation: u64) -> Result<()> {
        let generation = generation as i64;
        let run = |sql: &str, value: i64| {
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute([value]))
                .named(&self.path)
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

fn foreign_file(path: &Path) -> Error {
    Error::Foreign {
        path: path.to_owned(),
        reason: (if path.is_dir() { "it is a folder" } else { "it is not an index of memgrep" }).into(),
    }
}

fn look(path: &Path) -> Result<Look> {
    let metadata = path.metadata().map_err(Error::io("look at", path))?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// Whether there is a write-ahead log that may hold what the file does not.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).metadata().is_ok_and(|metadata| metadata.len() > 0)
}

/// SQLite's address of a file that nobody changes.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

/// True for a SQLite file that is ours or may become ours, false for a missing or empty file.
fn inspect(path: &Path) -> Result<bool> {
    // A pipe would wait for a writer for ever.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(foreign_file(path));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A store with one value, put away as a closed process leaves it.
    fn store(folder: &Path) -> PathBuf {
        let path = folder.join("a ?b#c%41 ü.sqlite");
        let store = Store::open(&path, true).unwrap().unwrap();
        store.set_meta("chunking", "first").unwrap();
        drop(store);
        assert!(!has_log(&path));
        path
    }

    #[test]
    fn a_file_that_nobody_changes_is_read_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = store(folder.path());

        let unchanging = Store::connect_unchanging(&path).unwrap();

        assert_eq!(unchanging.meta("chunking").unwrap().as_deref(), Some("first"));
        assert!(unchanging.is_current());
        assert!(matches!(unchanging.set_meta("chunking", "second"), Err(Error::ReadOnly { .. })));
    }

    #[test]
    fn two_stores_share_no_generation_and_no_id() {
        let folder = tempfile::tempdir().unwrap();
        let first = |name: &str| {
            let store = Store::open(&folder.path().join(name), true).unwrap().unwrap();
            assert_eq!(store.generation().unwrap(), 0, "nothing was written");
            let change = |store: &Store, _| {
                store.mark(Changed::Text);
                Ok(())
            };
            store.write(change).unwrap();
            let last_id: i64 =
                store.one("SELECT last_chunk FROM step ORDER BY generation DESC LIMIT 1").unwrap();
            (store.generation().unwrap(), last_id)
        };
        let (one, other) = (first("one"), first("other"));
        assert!(one.0 != other.0 && one.1 != other.1, "{one:?} {other:?}");
    }

    #[test]
    fn what_was_read_while_the_file_changed_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = store(folder.path());
        let unchanging = Store::connect_unchanging(&path).unwrap();

        let owner = Store::open(&path, true).unwrap().unwrap();
        owner.set_meta("chunking", "second").unwrap();
        assert!(!unchanging.is_current(), "there is a log now");
        owner.checkpoint().unwrap();
        assert!(!has_log(&path));
        assert!(!unchanging.is_current(), "the file is another one now");

        assert!(owner.is_current());
        assert_eq!(
            Store::open(&path, false).unwrap().unwrap().meta("chunking").unwrap().as_deref(),
            Some("second")
        );
    }
}
