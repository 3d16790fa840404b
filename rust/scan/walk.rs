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

    /// Walks the entries of `folder`; names of files are `prefix` and the way down.
    pub fn folder(&mut self, folder: &Path, prefix: &str, source: Source, entries: Vec<DirEntry>) {
        let depth = self.rules.depth();
        self.ignore_files(&entries, prefix);
        for entry in entries {
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.subfolder(&entry.path(), prefix, source),
                Ok(kind) if kind.is_symlink() => self.link(&entry.path(), prefix),
                Ok(kind) if rules::is_markdown(name.as_encoded_bytes()) => {
                    self.file(folder.join(&name), prefix, kind, Role { source, curated: false }, || {
                        entry.metadata()
                    });
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    self.skip(format!("{prefix}{}", name.to_string_lossy()), format!("unreadable: {error}"))
                }
            }
        }
        self.rules.pop_to(depth);
    }

    /// Takes the ignore files among `entries` into account.
    pub fn ignore_files(&mut self, entries: &[DirEntry], prefix: &str) {
        for entry in entries {
            let name = entry.file_name();
            let counts = name == rules::MEMGREPIGNORE || self.rules.git && name == rules::GITIGNORE;
            if counts && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                if let Some(fault) = self.rules.push(&entry.path()) {
                    self.skip(format!("{prefix}{}", name.to_string_lossy()), format!("unreadable: {fault}"));
                }
            }
        }
    }

    fn subfolder(&mut self, path: &Path, prefix: &str, source: Source) {
        let name = path.file_name().unwrap_or_default();
        if rules::never_entered(name.as_encoded_bytes()) {
            return;
        }
        if rules::is_hidden(name.as_encoded_bytes()) || self.rules.leave_out(path, true) {
            self.scan.ignored += 1;
            return;
        }
        let Some(utf8) = name.to_str() else {
            return self.skip(format!("{prefix}{}", name.to_string_lossy()), NOT_UTF8);
        };
        let name = format!("{prefix}{utf8}");
        match list(path) {
            Ok(entries) => self.folder(path, &format!("{name}/"), source, entries),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => {}
                io::ErrorKind::PermissionDenied => self.skip(name, format!("unreadable: {error}")),
                _ => self.unreachable(name, &error),
            },
        }
    }

    /// A link that could lead to notes is named; any other one is none of our business.
    fn link(&mut self, path: &Path, prefix: &str) {
        let name = path.file_name().unwrap_or_default();
        let bytes = name.as_encoded_bytes();
        let to_folder = || !rules::is_hidden(bytes) && fs::metadata(path).is_ok_and(|target| target.is_dir());
        if rules::never_entered(bytes) || !(rules::is_markdown(bytes) || to_folder()) {
            return;
        }
        match self.rules.leave_out(path, false) {
            true => self.scan.ignored += 1,
            false => self.skip(format!("{prefix}{}", name.to_string_lossy()), LINK),
        }
    }

    /// A Markdown file, or something else of such a name; `kind` and `metadata` are its own, not those of a link's target.
    pub fn file(
        &mut self,
        absolute: PathBuf,
        prefix: &str,
        kind: FileType,
        role: Role,
        metadata: impl FnOnce() -> io::Result<Metadata>,
    ) {
        let name = absolute.file_name().unwrap_or_default();
        if !self.rules.wanted(&absolute) {
            return;
        }
        if self.rules.leave_out(&absolute, false) {
            self.scan.ignored += 1;
            return;
        }
        let Some(utf8) = name.to_str().filter(|_| absolute.to_str().is_some()) else {
            return self.skip(format!("{prefix}{}", name.to_string_lossy()), NOT_UTF8);
        };
        let path = format!("{prefix}{utf8}");
        if kind.is_symlink() {
            return self.skip(path, LINK);
        }
        if !kind.is_file() {
            return self.skip(path, "not a regular file");
        }
        let metadata = match metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.skip(path, format!("unreadable: {error}")),
        };
        let most = self.spec.max_file_bytes;
        if metadata.len() > most {
            return self.skip(path, format!("too large: {} bytes; at most {most} are read", metadata.len()));
        }
        let (stat, device) = stat(&metadata);
        self.files.push((Found { path, absolute, source: role.source, curated: role.curated, stat }, device));
    }

    /// Every file once, everything in the order of its name.
    pub fn finish(self) -> Scan {
        let Self { mut files, mut scan, .. } = self;
        files.sort_by(|(a, _), (b, _)| (a.source, !a.curated, &a.path).cmp(&(b.source, !b.curated, &b.path)));
        let mut paths: HashMap<(u64, u64), String> = HashMap::with_capacity(files.len());
        let mut names = std::collections::HashSet::with_capacity(files.len());
        for (file, device) in files {
            if !names.insert(file.absolute.clone()) {
                continue;
            }
            if file.stat.inode != 0 {
                match paths.entry((device, file.stat.inode)) {
                    std::collections::hash_map::Entry::Vacant(free) => drop(free.insert(file.path.clone())),
                    std::collections::hash_map::Entry::Occupied(first) => {
                        if *first.get() != file.path {
                            let reason = format!("same file as {}", first.get());
                            scan.skipped.push(Skipped { path: file.path, reason });
                        }
                        continue;
                    }
                }
            }
            scan.files.push(file);
        }
        scan.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        for list in [&mut scan.skipped, &mut scan.unreachable] {
            list.sort_unstable_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
            list.dedup();
        }
        scan
    }
}

/// What is in a folder; all of it or an error.
pub(super) fn list(folder: &Path) -> io::Result<Vec<DirEntry>> {
    fs::read_dir(folder)?.collect()
}

/// The file's state and its device.
#[cfg(unix)]
fn stat(metadata: &Metadata) -> (Stat, u64) {
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
fn stat(metadata: &Metadata) -> (Stat, u64) {
    let since_1970 = |time: std::time::SystemTime| match time.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanoseconds| -nanoseconds)
        }
    };
    let mtime_ns = metadata.modified().map_or(0, since_1970);
    (Stat { size: metadata.len(), mtime_ns, ctime_ns: 0, inode: 0 }, 0)
}
