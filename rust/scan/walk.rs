//! One folder after the other: what is in it, what is taken, what is left out.

use std::collections::HashMap;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::rules::{self, Rules};
use super::{Found, Scan, ScanSpec, Skipped, Source, Stat};

pub(super) const LINK: &str = "symbolic link";
pub(super) const NOT_UTF8: &str = "name is not UTF-8";

/// The state of a walk.
pub(super) struct Walk<'spec> {
    pub spec: &'spec ScanSpec,
    pub rules: Rules,
    /// With the file's device: with the inode number it is the file's identity.
    files: Vec<(Found, u64)>,
    pub scan: Scan,
}

/// What a file is, besides its name.
#[derive(Clone, Copy)]
pub(super) struct Role {
    pub source: Source,
    pub curated: bool,
}

impl<'spec> Walk<'spec> {
    pub fn new(spec: &'spec ScanSpec) -> Self {
        Self { spec, rules: Rules::default(), files: Vec::new(), scan: Scan::default() }
    }

    pub fn skip(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.scan.skipped.push(Skipped { path: path.into(), reason: reason.into() });
    }

    pub fn unreachable(&mut self, path: impl Into<String>, error: &io::Error) {
        self.scan.unreachable.push(Skipped { path: path.into(), reason: format!("unreachable: {error}") });
    }

    /// Walks `entries`, all of one folder; `prefix` and what stands below the folder are the names of files.
    pub fn folder(&mut self, prefix: &str, source: Source, entries: Vec<DirEntry>) {
        let depth = self.rules.depth();
        self.ignore_files(&entries, prefix);
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in entries {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_symlink() => self.link(&path, prefix),
                Ok(kind) if rules::is_markdown(last_part(&path)) => {
                    if let Some(name) = self.named(&path, prefix, kind) {
                        files.push((name, path, entry));
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.skip(shown(&path, prefix), format!("unreadable: {error}")),
            }
        }
        let stats = stats_of(&files);
        // The entries keep the folder open: they go before the walk goes deeper.
        let files: Vec<_> = files.into_iter().map(|(name, path, _)| (name, path)).collect();
        for ((name, path), stat) in files.into_iter().zip(stats) {
            self.take(name, path, Role { source, curated: false }, stat);
        }
        for path in folders {
            self.subfolder(&path, prefix, source);
        }
        self.rules.pop_to(depth);
    }

    /// Takes the ignore files among `entries` into account.
    pub fn ignore_files(&mut self, entries: &[DirEntry], prefix: &str) {
        for entry in entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
            let path = entry.path();
            if self.rules.read_from(last_part(&path))
                && let Some(fault) = self.rules.push(&path)
            {
                self.skip(shown(&path, prefix), format!("unreadable: {fault}"));
            }
        }
    }

    fn subfolder(&mut self, path: &Path, prefix: &str, source: Source) {
        if rules::never_entered(last_part(path)) {
            return;
        }
        if rules::is_hidden(last_part(path)) || self.rules.leave_out(path, true) {
            self.scan.ignored += 1;
            return;
        }
        let name = shown(path, prefix);
        if path.to_str().is_none() {
            return self.skip(name, NOT_UTF8);
        }
        match list(path) {
            Ok(entries) => self.folder(&format!("{name}/"), source, entries),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => {}
                io::ErrorKind::PermissionDenied => self.skip(name, format!("unreadable: {error}")),
                _ => self.unreachable(name, &error),
            },
        }
    }

    /// A link that could lead to notes is named; any other one is none of our business.
    fn link(&mut self, path: &Path, prefix: &str) {
        let name = last_part(path);
        let to_folder = || !rules::is_hidden(name) && fs::metadata(path).is_ok_and(|target| target.is_dir());
        if rules::never_entered(name) || !(rules::is_markdown(name) || to_folder()) {
            return;
        }
        match self.rules.leave_out(path, false) {
            true => self.scan.ignored += 1,
            false => self.skip(shown(path, prefix), LINK),
        }
    }

    /// A file with a memory file's name; `metadata` is its own, not that of a link's target.
    pub fn file(&mut self, path: PathBuf, prefix: &str, role: Role, metadata: io::Result<Metadata>) {
        let kind = match &metadata {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.skip(shown(&path, prefix), format!("unreadable: {error}")),
        };
        if let Some(name) = self.named(&path, prefix, kind) {
            self.take(name, path, role, metadata.map(|metadata| stat(&metadata)));
        }
    }

    /// The name of a file that is to be taken as far as name and kind tell; of any other one, what speaks against it is noted.
    fn named(&mut self, path: &Path, prefix: &str, kind: FileType) -> Option<String> {
        if !self.rules.wanted(path) {
            return None;
        }
        if self.rules.leave_out(path, false) {
            self.scan.ignored += 1;
            return None;
        }
        let name = shown(path, prefix);
        let against = match path.to_str() {
            None => NOT_UTF8,
            Some(_) if kind.is_symlink() => LINK,
            Some(_) if !kind.is_file() => "not a regular file",
            Some(_) => return Some(name),
        };
        self.skip(name, against);
        None
    }

    fn take(&mut self, path: String, absolute: PathBuf, role: Role, stat: io::Result<(Stat, u64)>) {
        let most = self.spec.max_file_bytes;
        match stat {
            Ok((stat, _)) if stat.size > most => {
                self.skip(path, format!("too large: {} bytes; at most {most} are read", stat.size));
            }
            Ok((stat, device)) => {
                let Role { source, curated } = role;
                self.files.push((Found { path, absolute, source, curated, stat }, device));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.skip(path, format!("unreadable: {error}")),
        }
    }

    /// Every file once, everything in the order of its name.
    pub fn finish(self) -> Scan {
        let Self { mut files, mut scan, .. } = self;
        let rank = |file: &Found| (file.source, !file.curated);
        files.sort_unstable_by(|(a, _), (b, _)| (&a.path, rank(a)).cmp(&(&b.path, rank(b))));
        files.dedup_by(|(later, _), (first, _)| later.path == first.path);
        // Of several names of one file the first in rank, then in order, stays.
        let mut names: HashMap<(u64, u64), usize> = HashMap::with_capacity(files.len());
        let mut others = Vec::new();
        for (at, (file, device)) in files.iter().enumerate().filter(|(_, (file, _))| file.stat.inode != 0) {
            let first = names.entry((*device, file.stat.inode)).or_insert(at);
            if *first != at {
                let better = rank(file) < rank(&files[*first].0);
                others.push(if better { std::mem::replace(first, at) } else { at });
            }
        }
        for &other in &others {
            let (file, device) = &files[other];
            let first = &files[names[&(*device, file.stat.inode)]].0.path;
            scan.skipped.push(Skipped { path: file.path.clone(), reason: format!("same file as {first}") });
        }
        others.sort_unstable();
        let mut at = 0..files.len();
        files.retain(|_| at.next().is_some_and(|at| others.binary_search(&at).is_err()));
        scan.files = files.into_iter().map(|(file, _)| file).collect();
        for list in [&mut scan.skipped, &mut scan.unreachable] {
            list.sort_unstable_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
            list.dedup();
        }
        scan
    }
}

/// The bytes of a path's last part.
fn last_part(path: &Path) -> &[u8] {
    path.file_name().unwrap_or_default().as_encoded_bytes()
}

/// The name below `prefix`; readable even where it is not UTF-8.
fn shown(path: &Path, prefix: &str) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut shown = String::with_capacity(prefix.len() + name.len());
    shown.push_str(prefix);
    shown.push_str(&name);
    shown
}

/// From here on a second thread pays.
const MANY: usize = 2_000;

/// The states of files, by two threads if they are many: most of a walk is waiting for the system's answers.
fn stats_of(files: &[(String, PathBuf, DirEntry)]) -> Vec<io::Result<(Stat, u64)>> {
    let ask = |files: &[(String, PathBuf, DirEntry)]| -> Vec<_> {
        files.iter().map(|(_, _, entry)| entry.metadata().map(|metadata| stat(&metadata))).collect()
    };
    if files.len() < MANY {
        return ask(files);
    }
    let (front, back) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let back = scope.spawn(|| ask(back));
        let mut stats = ask(front);
        match back.join() {
            Ok(back) => stats.extend(back),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        stats
    })
}

/// What is in a folder; all of it or an error.
pub(super) fn list(folder: &Path) -> io::Result<Vec<DirEntry>> {
    fs::read_dir(folder)?.collect()
}

/// The file's state and its device.
#[cfg(unix)]
pub(super) fn stat(metadata: &Metadata) -> (Stat, u64) {
    use std::os::unix::fs::MetadataExt;

    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    let stat = Stat {
        size: metadata.len(),
        mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    };
    (stat, metadata.dev())
}

/// The file's state and its device.
#[cfg(not(unix))]
pub(super) fn stat(metadata: &Metadata) -> (Stat, u64) {
    let since_1970 = |time: std::time::SystemTime| match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds)
        }
    };
    let mtime_ns = metadata.modified().map_or(0, since_1970);
    (Stat { size: metadata.len(), mtime_ns, ctime_ns: 0, inode: 0 }, 0)
}
