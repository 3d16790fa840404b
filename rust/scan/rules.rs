//! Which names are left out: ignore files and patterns in gitignore syntax.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::{Error, Result};

/// Ignore files that count below extra paths and in the workspace.
const MEMGREPIGNORE: &[u8] = b".memgrepignore";
/// Ignore files that count below extra paths only.
const GITIGNORE: &[u8] = b".gitignore";

/// Folders that never hold notes.
const NEVER_ENTERED: [&str; 7] =
    [".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"];

/// The patterns that hold in a folder.
#[derive(Default)]
pub(super) struct Rules {
    /// From the outermost folder to the innermost; the last one that says something decides.
    files: Vec<Gitignore>,
    /// From the settings; they decide before any file.
    settings: Option<Gitignore>,
    /// What an extra path is limited to.
    only: Option<Gitignore>,
    /// `.gitignore` files count.
    git: bool,
}

impl Rules {
    /// `patterns` of the settings, `only` a glob; both as seen from `root`.
    pub fn new(root: &Path, patterns: &[String], only: Option<&str>, git: bool) -> Result<Self> {
        let settings = match patterns.is_empty() {
            true => None,
            false => Some(compile(root, patterns.iter().map(String::as_str))?),
        };
        let only = only.map(|glob| anchored(root, glob)).transpose()?;
        Ok(Self { files: Vec::new(), settings, only, git })
    }

    pub fn leave_out(&self, path: &Path, folder: bool) -> bool {
        if self.settings.is_none() && self.files.is_empty() {
            return false;
        }
        let said =
            self.settings.iter().chain(self.files.iter().rev()).map(|rules| rules.matched(path, folder));
        said.into_iter().find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }

    /// Whether an extra path's own glob has `path` in it.
    pub fn wanted(&self, path: &Path) -> bool {
        self.only.as_ref().is_none_or(|only| only.matched_path_or_any_parents(path, false).is_ignore())
    }

    /// Whether a file of this name holds patterns.
    pub fn read_from(&self, name: &[u8]) -> bool {
        name == MEMGREPIGNORE || self.git && name == GITIGNORE
    }

    /// Adds the ignore file `path`; what is wrong with it. What is right in it counts nevertheless.
    pub fn push(&mut self, path: &Path) -> Option<String> {
        let mut builder = GitignoreBuilder::new(path.parent().unwrap_or(path));
        let fault = builder.add(path).map(|error| error.to_string());
        match builder.build() {
            Ok(rules) if !rules.is_empty() => self.files.push(rules),
            Ok(_) => {}
            Err(error) => return Some(error.to_string()),
        }
        fault
    }

    pub fn depth(&self) -> usize {
        self.files.len()
    }

    pub fn pop_to(&mut self, depth: usize) {
        self.files.truncate(depth);
    }
}

fn compile<'a>(root: &Path, patterns: impl IntoIterator<Item = &'a str>) -> Result<Gitignore> {
    let mut builder = GitignoreBuilder::new(root);
    let wrong =
        |pattern: &str, error| Error::Argument(format!("pattern {pattern:?} cannot be read: {error}"));
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|error| wrong(pattern, error))?;
    }
    builder.build().map_err(|error| Error::Argument(format!("patterns cannot be read: {error}")))
}

/// A glob that starts at `root`.
fn anchored(root: &Path, glob: &str) -> Result<Gitignore> {
    compile(root, [format!("/{}", glob.trim_start_matches('/')).as_str()])
}

/// A pattern for the paths of notes: a folder and everything below it, a note, or a glob, from the workspace on (from the
/// root for notes outside of it). What is the very path of a note or folder is that one, also if a glob would be another.
pub struct PathPattern {
    path: String,
    glob: Gitignore,
}

impl PathPattern {
    /// # Errors
    /// A pattern that is empty or no glob.
    pub fn new(pattern: &str) -> Result<Self> {
        let relative = pattern.trim().trim_start_matches("./").trim_start_matches('/');
        if relative.is_empty() {
            let help = "write a folder, a note or a glob, such as memory/projects or memory/**/2026-*.md";
            return Err(Error::Argument(format!("path {pattern:?} names nothing; {help}")));
        }
        let wrong = |error| Error::Argument(format!("path {pattern:?}: {error}"));
        let glob = anchored(Path::new(""), relative).map_err(wrong)?;
        Ok(Self { path: relative.trim_end_matches('/').to_owned(), glob })
    }

    /// Whether it has the note of this path in it.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        let below = path.strip_prefix(&*self.path);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
            || self.glob.matched_path_or_any_parents(path, false).is_ignore()
    }
}

/// A folder that is not even counted.
pub(super) fn never_entered(name: &[u8]) -> bool {
    NEVER_ENTERED.iter().any(|never| never.as_bytes() == name)
}

pub(super) fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".")
}

/// `.md` in any case. Lock files of editors (`.#note.md`) are none; other temporary names do not end in `.md`.
pub(super) fn is_markdown(name: &[u8]) -> bool {
    let suffix = name.len().checked_sub(3).map(|at| &name[at..]);
    suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b".md")) && !name.starts_with(b".#")
}

#[cfg(test)]
mod tests {
    use super::PathPattern;

    #[test]
    fn the_very_path_of_a_note_or_folder_is_that_one() {
        let matches = |pattern: &str, path: &str| PathPattern::new(pattern).unwrap().matches(path);
        for pattern in ["memory/x[1]/b{c}.md", "/memory/x[1]", "memory/x[1]/", "./memory", "memory/x1/*"] {
            assert_eq!(matches(pattern, "memory/x[1]/b{c}.md"), pattern != "memory/x1/*", "{pattern}");
        }
        assert!(matches("memory/x[1]", "memory/x1/b.md"), "a glob still");
        assert!(!matches("memory/x", "memory/x[1]/b{c}.md"), "half a name is none");
        assert!(matches("/home/notes[2]", "/home/notes[2]/a.md"));
    }
}
