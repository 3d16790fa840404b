//! `Index`: opens the parts, one way to write, one way to read.

mod derived;
mod embedding;
mod filter;
mod search;
mod status;
mod sync;
mod temporal;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::lexical::Lexical;
use crate::store::{KnownNote, Selected, Store};

use derived::Derived;

pub use derived::Engine;
pub use filter::Filter;
pub use search::{Hit, POOL_UNIT, SearchOptions, SearchResult};
pub use status::Status;
pub use sync::{Progress, SyncOptions, SyncReport};
pub use temporal::TemporalDecay;

/// Pause between two looks at a lock another process holds.
const LOCK_PAUSE_MS: u64 = 5;

/// One store and its derived indexes. May be shared by threads.
pub struct Index {
    path: PathBuf,
    read_only: bool,
    engine: Engine,
    /// Held for the time of a write by this process; the file lock inside keeps other processes out.
    writer: Mutex<Writer>,
    /// Idle reader connections.
    readers: Mutex<Vec<Store>>,
    derived: RwLock<Derived>,
    fingerprint: Mutex<Option<String>>,
    /// The notes of the store at a generation of the text, so that a sync without changes reads them once.
    known: Mutex<Option<(u64, KnownNotes)>>,
    /// The process that opened it: SQLite connections must not cross a fork.
    process: u32,
}

/// What is known of every note, by path.
type KnownNotes = Arc<FxHashMap<String, KnownNote>>;

struct Writer {
    store: Option<Store>,
    lock: Option<File>,
    /// Checked once when it is opened, then kept.
    lexical: Option<Lexical>,
}

/// The right to write, given back when dropped.
struct WriteGuard<'a> {
    writer: MutexGuard<'a, Writer>,
}

impl WriteGuard<'_> {
    fn store(&self) -> &Store {
        self.writer.store.as_ref().expect("a guard is only made with an open store")
    }

    /// The store and the lexical index beside it, as the last writer left it.
    fn parts(&mut self) -> Result<(&Store, &mut Lexical)> {
        let writer = &mut *self.writer;
        let store = writer.store.as_ref().expect("a guard is only made with an open store");
        let lexical = match &mut writer.lexical {
            Some(lexical) => {
                lexical.refresh()?;
                lexical
            }
            none => none.insert(Lexical::open_to_write(&beside(store.path(), "lexical"))?),
        };
        Ok((store, lexical))
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        if let Some(lock) = &self.writer.lock {
            // The kernel lets go of it at the latest when the file is closed.
            let _ = lock.unlock();
        }
    }
}

impl Index {
    /// Opens the index at `path` (the SQLite file), or makes it unless `read_only`.
    ///
    /// # Errors
    /// A file that is not ours, of a newer version or damaged. A missing file is no error with `read_only`.
    pub fn open(path: &Path, read_only: bool, engine: Engine) -> Result<Self> {
        let store = match Store::open(path, !read_only) {
            // A sync sets it aside and makes it anew; until then a search says what is wrong.
            Err(Error::Store { damaged: true, .. }) if !read_only => None,
            opened => opened?,
        };
        Ok(Self {
            path: path.to_owned(),
            read_only,
            engine,
            writer: Mutex::new(Writer { store: None, lock: None, lexical: None }),
            readers: Mutex::new(store.into_iter().collect()),
            derived: RwLock::new(Derived::new(path, engine)),
            fingerprint: Mutex::new(None),
            known: Mutex::new(None),
            process: std::process::id(),
        })
    }

    /// The SQLite file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it was opened for reading only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn check_process(&self) -> Result<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        Err(Error::Argument("this index was opened before a fork; open it again in the child process".into()))
    }

    /// Which vectors count from now on.
    pub fn select_fingerprint(&self, fingerprint: Option<&str>) {
        *unpoisoned(self.fingerprint.lock()) = fingerprint.map(str::to_owned);
    }

    fn selected(&self, store: &Store) -> Result<Option<Selected>> {
        let name = unpoisoned(self.fingerprint.lock()).clone();
        match name {
            Some(name) => store.fingerprint(&name, false),
            None => Ok(None),
        }
    }

    /// Runs `work` on a reader connection, inside one snapshot; `Ok(None)` when there is no store yet.
    fn read<T>(&self, work: impl FnOnce(&Store) -> Result<T>) -> Result<Option<T>> {
        self.check_process()?;
        let idle = unpoisoned(self.readers.lock()).pop().filter(Store::is_current);
        let store = match idle {
            Some(store) => store,
            None => match Store::open(&self.path, false)? {
                Some(store) => store,
                None => return Ok(None),
            },
        };
        store.begin_read()?;
        let outcome = work(&store);
        store.end_read();
        if !store.is_current() {
            return Err(Error::Locked { path: self.path.clone() });
        }
        unpoisoned(self.readers.lock()).push(store);
        outcome.map(Some)
    }

    /// Takes the writer lock, waiting up to `wait_ms`.
    fn write(&self, wait_ms: u64) -> Result<WriteGuard<'_>> {
        self.check_process()?;
        if self.read_only {
            return Err(Error::ReadOnly { path: self.path.clone() });
        }
        let mut writer = unpoisoned(self.writer.lock());
        if writer.lock.is_none() {
            writer.lock = Some(open_lock(&self.lock_path())?);
        }
        let lock = writer.lock.as_ref().expect("set above");
        let mut waited = 0;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if waited < wait_ms => {
                    std::thread::sleep(std::time::Duration::from_millis(LOCK_PAUSE_MS));
                    waited += LOCK_PAUSE_MS;
                }
                Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: self.lock_path() }),
                Err(TryLockError::Error(error)) => return Err(Error::io("lock", &self.lock_path())(error)),
            }
        }
        // From here on the guard lets go of the lock, whatever happens.
        let mut guard = WriteGuard { writer };
        if guard.writer.store.is_none() {
            guard.writer.store = Store::open(&self.path, true)?;
        }
        Ok(guard)
    }

    fn lock_path(&self) -> PathBuf {
        beside(&self.path, "lock")
    }

    /// Closes every connection. Using the index again opens them again.
    pub fn close(&self) {
        unpoisoned(self.readers.lock()).clear();
        let mut writer = unpoisoned(self.writer.lock());
        writer.store = None;
        writer.lock = None;
        writer.lexical = None;
        *unpoisoned(self.known.lock()) = None;
        *unpoisoned(self.derived.write()) = Derived::new(&self.path, self.engine);
    }
}

/// A lock whose holder panicked guards data that is valid at every step here: SQLite rolled the transaction back.
fn unpoisoned<T>(lock: std::sync::LockResult<T>) -> T {
    lock.unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// `<store>.<ending>`, beside the store.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn open_lock(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(Error::io("make folder", folder))?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(Error::io("open", path))
}
