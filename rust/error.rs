//! The one error of the core: what failed, on which file or value, and what helps.

use std::path::{Path, PathBuf};

/// What can go wrong below the binding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an action on a file or folder.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as it reads in "cannot … PATH": `open`, `write`, `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The SQLite store refused a statement or is damaged.
    #[error("index store {}: {message}", path.display())]
    Store {
        /// The SQLite file.
        path: PathBuf,
        /// SQLite's reason, in words.
        message: String,
        /// The file itself is damaged (not merely busy, full or read-only).
        damaged: bool,
    },
    /// The file at the store path belongs to somebody else, or to a newer memgrep.
    #[error("{} is not usable as the index: {reason}; it was left as it is", path.display())]
    Foreign {
        /// The file that was refused.
        path: PathBuf,
        /// Why, and what helps.
        reason: String,
    },
    /// The store answers, but may not be written: by its rights, its file system, or because it was opened so.
    #[error("{} may only be read", path.display())]
    ReadOnly {
        /// The SQLite file.
        path: PathBuf,
    },
    /// Another process holds the writer lock.
    #[error("another process is writing the index {}", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A derived index (lexical or vector) failed; it can be rebuilt from the store.
    #[error("derived index {}: {message}", path.display())]
    Derived {
        /// The folder or file of the derived index.
        path: PathBuf,
        /// The reason, in words.
        message: String,
    },
    /// A model file cannot be used.
    #[error("embedding model {}: {message}", path.display())]
    Model {
        /// The model file.
        path: PathBuf,
        /// The reason, in words.
        message: String,
    },
    /// A settings text cannot be parsed.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What was found and what is expected.
        message: String,
    },
    /// A caller passed a value that cannot be meant.
    #[error("{0}")]
    Argument(String),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An [`Error::Io`] for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Result of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;
