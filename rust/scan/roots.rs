//! Where a walk begins: the workspace with its root files and `memory/`, and the extra paths.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::rules::{self, Rules};
use super::walk::{LINK, NOT_UTF8, Role, Walk, list};
use super::{ExtraPath, Source};
use crate::error::{Error, Result};

/// Files at the root of the workspace that are memory.
const ROOT_FILES: [&str; 3] = ["MEMORY.md", "memory.md", "USER.md"];
/// The folder of notes.
const NOTES: &str = "memory";

pub(super) fn workspace(walk: &mut Walk) -> Result<()> {
    let root = walk.spec.workspace.as_path();
    let entries = list(root).map_err(|error| unreachable_workspace(root, &error))?;
    walk.rules = Rules::new(root, &walk.spec.ignore, None, false)?;
    walk.ignore_files(&entries, "");
    for entry in &entries {
        // Another name cannot be one of ours.
        let Ok(name) = entry.file_name().into_string() else { continue };
        match canonical_name(root, &name, &entries) {
            Some(Ok(NOTES)) => notes(walk, entry),
            Some(Ok(canonical)) => root_file(walk, entry, canonical),
            Some(Err(canonical)) => {
                walk.skip(name, format!("not read: only {canonical} is, in this very spelling; rename it"));
            }
            None => {}
        }
    }
    Ok(())
}

fn unreachable_workspace(root: &Path, error: &io::Error) -> Error {
    let reason = format!("{error}; create the folder or name another workspace");
    Error::io("read the workspace", root)(io::Error::new(error.kind(), reason))
}

/// The name under which a root entry is memory; an error if it differs from that name in case only.
///
/// On a case-blind system there is no such difference: the file opens under the canonical name too.
fn canonical_name(
    root: &Path,
    name: &str,
    entries: &[DirEntry],
) -> Option<Result<&'static str, &'static str>> {
    let names = || ROOT_FILES.into_iter().chain([NOTES]);
    if let Some(exact) = names().find(|&canonical| canonical == name) {
        return Some(Ok(exact));
    }
    let canonical = names().find(|canonical| canonical.eq_ignore_ascii_case(name))?;
    let listed = entries.iter().any(|entry| entry.file_name() == canonical);
    let case_blind = !listed && fs::symlink_metadata(root.join(canonical)).is_ok();
    Some(if case_blind { Ok(canonical) } else { Err(canonical) })
}

fn root_file(walk: &mut Walk, entry: &DirEntry, name: &str) {
    let role = Role { source: Source::Memory, curated: true };
    walk.file(walk.spec.workspace.join(name), "", role, entry.metadata());
}

fn notes(walk: &mut Walk, entry: &DirEntry) {
    let folder = walk.spec.workspace.join(NOTES);
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => linked_root(walk, NOTES, &folder),
        Ok(kind) if kind.is_dir() => match list(&folder) {
            Ok(entries) => walk.folder("memory/", Source::Memory, entries),
            Err(error) => walk.unreachable(NOTES, &error),
        },
        Ok(_) => walk.skip(NOTES, "not read: not a folder"),
        Err(error) => walk.unreachable(NOTES, &error),
    }
}

fn linked_root(walk: &mut Walk, name: &str, path: &Path) {
    let target = fs::canonicalize(path)
        .map_or_else(|_| "the folder itself".into(), |target| target.display().to_string());
    walk.skip(name, format!("{LINK}; links are not followed: configure {target} as an extra path instead"));
}

pub(super) fn extra(walk: &mut Walk, extra: &ExtraPath) -> Result<()> {
    let reached = resolved(&extra.path).and_then(|path| Ok((fs::symlink_metadata(&path)?, path)));
    let (metadata, path) = match reached {
        Ok(reached) => reached,
        Err(error) => {
            walk.unreachable(extra.path.to_string_lossy(), &error);
            return Ok(());
        }
    };
    let name = name(&walk.spec.workspace, &path);
    if metadata.is_symlink() {
        linked_root(walk, &name, &path);
        return Ok(());
    }
    if path.to_str().is_none() {
        walk.skip(name, NOT_UTF8);
        return Ok(());
    }
    if metadata.is_dir() {
        return folder(walk, &path, &name, extra.pattern.as_deref());
    }
    let (file_name, role) =
        (path.file_name().unwrap_or_default(), Role { source: Source::Extra, curated: false });
    if !rules::is_markdown(file_name.as_encoded_bytes()) {
        walk.skip(name, "not read: not a Markdown file");
        return Ok(());
    }
    walk.rules = Rules::default();
    let prefix = name.strip_suffix(&*file_name.to_string_lossy()).unwrap_or_default().to_owned();
    walk.file(path, &prefix, role, Ok(metadata));
    Ok(())
}

fn folder(walk: &mut Walk, path: &Path, name: &str, pattern: Option<&str>) -> Result<()> {
    let entries = match list(path) {
        Ok(entries) => entries,
        Err(error) => {
            walk.unreachable(name, &error);
            return Ok(());
        }
    };
    walk.rules = Rules::new(path, &walk.spec.ignore, pattern, true)?;
    let prefix = match name {
        "" => String::new(),
        name if name.ends_with('/') => name.to_owned(),
        name => format!("{name}/"),
    };
    walk.folder(&prefix, Source::Extra, entries);
    Ok(())
}

/// `path` without a slash at its end (with one, a link would be followed) and without `..`.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return Ok(path.components().collect());
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
        _ => fs::canonicalize(path),
    }
}

/// The name of a root: relative to the workspace if it lies in there, by whatever spelling; absolute as configured otherwise.
fn name(workspace: &Path, path: &Path) -> String {
    let real = |path: &Path| -> Option<PathBuf> {
        Some(fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
    };
    let below = match (fs::canonicalize(workspace), real(path)) {
        (Ok(workspace), Some(path)) => path.strip_prefix(workspace).map(Path::to_path_buf).ok(),
        _ => None,
    };
    match below {
        Some(below) => {
            let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            parts.join("/")
        }
        None => path.to_string_lossy().into_owned(),
    }
}
