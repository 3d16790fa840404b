//! Which files are memory: walks the workspace and the extra paths, and says what it left out and why.

mod roots;
mod rules;
mod walk;

use std::path::PathBuf;

pub use self::rules::PathPattern;
use self::walk::Walk;
use crate::error::Result;

/// Where a note comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Source {
    /// `MEMORY.md`, `USER.md`, `memory/**`.
    Memory = 0,
    /// An agent's transcripts.
    Sessions = 1,
    /// Extra paths.
    Extra = 2,
}

/// One configured extra path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraPath {
    /// A file or folder, absolute.
    pub path: PathBuf,
    /// A glob below `path`; every Markdown file without one.
    pub pattern: Option<String>,
}

/// What to walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanSpec {
    /// The workspace folder, absolute.
    pub workspace: PathBuf,
    /// Files and folders beside it.
    pub extra: Vec<ExtraPath>,
    /// Larger files are skipped, and said so.
    pub max_file_bytes: u64,
    /// More patterns to leave out (gitignore syntax), from the settings.
    pub ignore: Vec<String>,
}

/// What the system says about a file; equal values mean that it need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Change time of the inode, nanoseconds since 1970 (0 where the platform has none).
    pub ctime_ns: i64,
    /// Inode number (0 where the platform has none).
    pub inode: u64,
}

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name in answers: relative to the workspace with `/`, or absolute outside of it; byte-exact.
    pub path: String,
    /// Where to open it.
    pub absolute: PathBuf,
    /// Memory or extra.
    pub source: Source,
    /// A root file whose list entries are chunks and whose annotations count.
    pub curated: bool,
    /// For change detection.
    pub stat: Stat,
}

/// A file or folder that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// As in [`Found::path`].
    pub path: String,
    /// `symbolic link`, `unreadable: …`, `too large: … bytes`, `name is not UTF-8`, `not a regular file`,
    /// `same file as …`, `not read: …`, `unreachable: …`; after it, where something helps, what.
    pub reason: String,
}

/// The outcome of a walk, files sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Memory files.
    pub files: Vec<Found>,
    /// What was left out, and why.
    pub skipped: Vec<Skipped>,
    /// How many Markdown files and folders ignore patterns left out, hidden folders among them; a folder counts once.
    pub ignored: usize,
    /// Roots that cannot be reached, with the reason. What is indexed below them stays.
    pub unreachable: Vec<Skipped>,
}

/// The state of a plain file; `None` for anything else, a link to one included.
pub fn stat_of(path: &std::path::Path) -> Option<Stat> {
    let metadata = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(walk::stat(&metadata).0)
}

/// Walks everything of `spec`.
///
/// Links are never followed, except that the workspace itself may be one. `.git`, `node_modules`, virtual environments and
/// other hidden folders are never entered; names of temporary files are passed over in silence. A file that is reached by
/// two names counts once, root files before notes before extra paths.
///
/// A folder that cannot be listed for another reason than its permissions is [`Scan::unreachable`], since nothing says that
/// its notes are gone.
///
/// # Errors
/// When the workspace itself cannot be reached, or a pattern cannot be read.
pub fn scan(spec: &ScanSpec) -> Result<Scan> {
    let mut walk = Walk::new(spec);
    roots::workspace(&mut walk)?;
    for extra in &spec.extra {
        roots::extra(&mut walk, extra)?;
    }
    Ok(walk.finish())
}

#[cfg(test)]
mod tests;
