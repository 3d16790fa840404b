//! The folder tantivy writes into: nothing in it is trusted before it was checked, and nothing waits for the disk.
//!
//! tantivy puts a checksum under every segment file, but none under the small file that says which segments count: here it
//! is sealed with a hash. Because every loss is noticed at [`verify`] and the index is made anew from the store, no write
//! has to be forced to disk, which is most of the time a small commit takes elsewhere. tantivy's list of its own files, which
//! it would write again for each new one, is simply the folder's: what lies there and no segment names is litter.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::{Directory, Index};

use super::vocabulary::FILE as WORDS;

/// Bytes of the hash at the end of a sealed file.
const SEAL: usize = blake3::OUT_LEN;

/// Length and magic number at the end of a segment file; what is shorter has no checksum.
const FOOTER: usize = 8;

/// The file that says which segments count.
pub(super) const META: &str = "meta.json";
/// tantivy's list of its files.
const LIST: &str = ".managed.json";
/// Makes the folder, for its owner only: terms tell of the notes.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// How a file for its owner only is written.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Ending of a file that is renamed when it is whole.
const UNFINISHED: &str = ".unfinished";

/// Writes a file that appears whole or not at all, for its owner only.
pub(super) fn replace(target: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut unfinished = target.as_os_str().to_owned();
    unfinished.push(UNFINISHED);
    let mut file = private().create(true).truncate(true).open(&unfinished)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    drop(file);
    std::fs::rename(&unfinished, target)
}

/// A folder of one index.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
    files: MmapDirectory,
}

impl Folder {
    /// The folder at `path`, which exists.
    pub(super) fn open(path: &Path) -> tantivy::Result<Self> {
        Ok(Self { path: path.to_owned(), files: MmapDirectory::open(path)? })
    }

    /// The segment files that lie in the folder, in the form of tantivy's own list (JSON).
    fn list(&self) -> io::Result<Vec<u8>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            match entry?.file_name().to_str() {
                Some(name) if is_segment_file(name) => names.push(format!("\"{name}\"")),
                _ => {}
            }
        }
        Ok(format!("[{}]", names.join(",")).into_bytes())
    }
}

/// Whether every file that `index` reads is as it was written.
pub(super) fn verify(folder: &Folder, index: &Index) -> tantivy::Result<bool> {
    let directory = index.directory();
    for path in index.load_metas()?.list_segment_files() {
        if !directory.exists(&path)? {
            // Opening a segment does not open all its files: a missing one must not show up in the middle of a search.
            // Deletions (which opening does read) and a store under construction are parts it may lack.
            if path.extension().is_some_and(|part| part == "del" || part == "temp") {
                continue;
            }
            return Ok(false);
        }
        // tantivy reads the footer without a look at the length.
        let length = folder.get_file_handle(&path)?.len();
        if length <= FOOTER || !directory.validate_checksum(&path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Deletes the files of an index, and only those: what else lies in `folder` stays.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(is_index_file) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_index_file(name: &str) -> bool {
    is_segment_file(name) || [META, WORDS].contains(&name.strip_suffix(UNFINISHED).unwrap_or(name))
}

/// `<32 hexadecimal digits>.<part>`.
fn is_segment_file(name: &str) -> bool {
    name.split_once('.').is_some_and(|(id, part)| {
        id.len() == 32
            && id.bytes().all(|byte| byte.is_ascii_hexdigit())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
    })
}

impl Directory for Folder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let open = private().create_new(true).open(self.path.join(path));
        let file = open.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Unsynced(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new(LIST) {
            return self.list().map_err(|error| OpenReadError::wrap_io_error(error, path.to_owned()));
        }
        let mut bytes = self.files.atomic_read(path)?;
        let broken = || {
            let error = io::Error::new(io::ErrorKind::InvalidData, "its seal is broken");
            OpenReadError::wrap_io_error(error, path.to_owned())
        };
        let length = bytes.len().checked_sub(SEAL).ok_or_else(broken)?;
        if blake3::hash(&bytes[..length])
            != *<&[u8; SEAL]>::try_from(&bytes[length..]).map_err(|_| broken())?
        {
            return Err(broken());
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(LIST) {
            return Ok(());
        }
        replace(&self.path.join(path), &[data, blake3::hash(data).as_bytes()])
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // tantivy would make the file with the usual rights; where it cannot be made, the next line says why.
        let _ = private().create(true).truncate(false).open(self.path.join(&lock.filepath));
        match self.files.acquire_lock(lock) {
            // A reader of a folder that nobody may write to needs no lock against writers.
            Err(LockError::IoError(error))
                if lock.is_blocking
                    && matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                    ) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            other => other,
        }
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A file that is not forced to disk when it is whole.
struct Unsynced(File);

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
