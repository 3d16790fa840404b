use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A workspace and a place beside it.
struct World {
    folder: TempDir,
    spec: ScanSpec,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("ws");
        fs::create_dir(&workspace).unwrap();
        let spec = ScanSpec { workspace, extra: Vec::new(), max_file_bytes: 1 << 20, ignore: Vec::new() };
        Self { folder, spec }
    }

    /// Writes `files`, relative to the folder that holds the workspace `ws`.
    fn with(files: &[&str]) -> Self {
        let world = Self::new();
        for file in files {
            world.write(file, file);
        }
        world
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn extra(mut self, path: &str, pattern: Option<&str>) -> Self {
        let path = self.path(path);
        self.spec.extra.push(ExtraPath { path, pattern: pattern.map(str::to_owned) });
        self
    }

    fn scan(&self) -> Scan {
        scan(&self.spec).unwrap()
    }

    /// Names of the files, `OUT` standing for the place beside the workspace.
    fn names(&self) -> Vec<String> {
        self.scan().files.into_iter().map(|file| self.short(&file.path)).collect()
    }

    fn short(&self, path: &str) -> String {
        path.replace(self.folder.path().to_str().unwrap(), "OUT")
    }

    /// `(name, first words of the reason)`.
    fn skipped(&self) -> Vec<(String, String)> {
        let reason = |reason: &str| reason.split([':', ';']).next().unwrap().to_owned();
        self.scan()
            .skipped
            .iter()
            .map(|skipped| (self.short(&skipped.path), reason(&skipped.reason)))
            .collect()
    }
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn root_files_and_everything_below_memory_are_memory() {
    let world = World::with(&[
        "ws/MEMORY.md",
        "ws/USER.md",
        "ws/README.md",
        "ws/memory/2026-02-10.md",
        "ws/memory/deep/er/Note.MD",
        "ws/memory/picture.png",
        "ws/other/note.md",
    ]);
    let scan = world.scan();
    let found: Vec<_> =
        scan.files.iter().map(|file| (file.path.as_str(), file.source, file.curated)).collect();
    assert_eq!(
        found,
        [
            ("MEMORY.md", Source::Memory, true),
            ("USER.md", Source::Memory, true),
            ("memory/2026-02-10.md", Source::Memory, false),
            ("memory/deep/er/Note.MD", Source::Memory, false),
        ]
    );
    assert_eq!(scan.files[3].absolute, world.path("ws/memory/deep/er/Note.MD"));
    assert_eq!(scan.files[3].stat.size, "ws/memory/deep/er/Note.MD".len() as u64);
    assert!(scan.files[3].stat.mtime_ns > 0 && scan.files[3].stat.inode > 0);
    assert_eq!((scan.skipped, scan.ignored, scan.unreachable), (vec![], 0, vec![]));
}

#[test]
fn an_empty_workspace_is_fine_and_a_missing_one_is_an_error_with_a_remedy() {
    let mut world = World::new();
    assert_eq!(world.scan(), Scan::default());
    world.spec.workspace = world.path("nowhere");
    let error = scan(&world.spec).unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("create the folder"), "{error}");
}

#[test]
fn f020_f053_f127_f130_f133_any_name_comes_back_unchanged() {
    let mut names = [
        "memory/°.md",
        "memory/----.md",
        "memory/ .md",
        "memory/ü ß.md",
        "memory/re\u{301}sume\u{301}.md",
        "memory/résumé.md",
        "memory/2026_06_16.md",
        "memory/my plan (v2).md",
        "memory/my_note.md",
        "memory/my-note.md",
        "memory/my note.md",
        "memory/Finance/a.md",
        "memory/finance/a.md",
        "memory/line\nbreak.md",
        "memory/back\\slash.md",
        "memory/[a]*{b}?!.md",
    ];
    let world = World::new();
    for name in names {
        world.write(&format!("ws/{name}"), name);
    }
    names.sort_unstable();
    assert_eq!(world.names(), names);
    for file in world.scan().files {
        assert_eq!(fs::read_to_string(file.absolute).unwrap(), file.path);
    }
}

#[test]
fn f067_folders_of_tools_and_hidden_ones_are_never_entered() {
    let world = World::with(&[
        "extra/a.md",
        "extra/b/c.md",
        "extra/.venv/lib/x.md",
        "extra/venv/x.md",
        "extra/node_modules/p/README.md",
        "extra/.git/x.md",
        "extra/__pycache__/x.md",
        "extra/.tox/x.md",
        "extra/.pnpm-store/x.md",
        "extra/.obsidian/x.md",
        "ws/memory/.dreams/x.md",
        "ws/memory/node_modules/x.md",
    ])
    .extra("extra", None);
    assert_eq!(world.names(), ["OUT/extra/a.md", "OUT/extra/b/c.md"]);
    // Only those that could be meant as notes are counted.
    assert_eq!(world.scan().ignored, 2);
}

#[test]
fn f070_temporary_files_are_passed_over_in_silence() {
    let world =
        World::with(&["ws/memory/x.tmp", "ws/memory/x.md~", "ws/memory/.x.md.swp", "ws/memory/.DS_Store"]);
    fs::rename(world.path("ws/memory/x.tmp"), world.path("ws/memory/x.md")).unwrap();
    symlink("user@host.1", world.path("ws/memory/.#y.md")).unwrap();
    world.write("ws/memory/.#z.md", "lock");
    let scan = world.scan();
    assert_eq!(world.names(), ["memory/x.md"]);
    assert_eq!((scan.skipped, scan.ignored), (vec![], 0));
}

#[test]
fn f128_a_hard_link_counts_once() {
    let world = World::with(&["ws/MEMORY.md", "ws/memory/a.md"]);
    fs::hard_link(world.path("ws/MEMORY.md"), world.path("ws/memory.md")).unwrap();
    fs::hard_link(world.path("ws/memory/a.md"), world.path("ws/memory/b.md")).unwrap();
    assert_eq!(world.names(), ["MEMORY.md", "memory/a.md"]);
    assert_eq!(
        world.skipped(),
        pairs([("memory.md", "same file as MEMORY.md"), ("memory/b.md", "same file as memory/a.md")])
    );
}

#[test]
fn f129_another_spelling_of_memory_is_not_silent() {
    let world = World::with(&["ws/Memory/x.md", "ws/Memory.md", "ws/user.md", "ws/memory.md"]);
    // A case-blind disk finds all of them, and has only one of the two Memory.md.
    if fs::metadata(world.path("ws/MEMORY")).is_ok() {
        assert!(world.names().contains(&"memory/x.md".to_owned()));
        return;
    }
    assert_eq!(world.names(), ["memory.md"]);
    assert_eq!(
        world.skipped(),
        pairs([("Memory", "not read"), ("Memory.md", "not read"), ("user.md", "not read")])
    );
}

#[test]
fn f132_links_are_named_and_not_followed() {
    let world = World::with(&["real/n.md", "ws/memory/a.md"]).extra("vault", None).extra("vault/", None);
    symlink(world.path("real"), world.path("vault")).unwrap();
    symlink(world.path("real"), world.path("ws/memory/folder")).unwrap();
    symlink(world.path("real/n.md"), world.path("ws/memory/n.md")).unwrap();
    symlink(world.path("nothing"), world.path("ws/memory/broken.md")).unwrap();
    symlink(world.path("real/n.md"), world.path("ws/memory/n.txt")).unwrap();
    symlink(world.path("real/n.md"), world.path("ws/USER.md")).unwrap();
    assert_eq!(world.names(), ["memory/a.md"]);
    let links = ["OUT/vault", "USER.md", "memory/broken.md", "memory/folder", "memory/n.md"];
    let skipped = world.skipped();
    assert!(skipped.iter().all(|(_, reason)| reason == walk::LINK));
    let mut names: Vec<&str> = skipped.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, links);
    let scan = world.scan();
    let vault = scan.skipped.iter().find(|skipped| skipped.path.ends_with("vault")).unwrap();
    let target = fs::canonicalize(world.path("real")).unwrap();
    assert!(vault.reason.contains(target.to_str().unwrap()), "{}", vault.reason);
}

#[test]
fn a_linked_notes_folder_is_named_with_its_target() {
    let world = World::with(&["real/n.md"]);
    symlink(world.path("real"), world.path("ws/memory")).unwrap();
    assert_eq!(world.names(), [""; 0]);
    assert!(world.scan().skipped[0].reason.contains("real"));
}

#[test]
fn the_workspace_itself_may_be_a_link() {
    let mut world = World::with(&["ws/MEMORY.md", "ws/docs/a.md"]).extra("ws/docs", None);
    symlink(world.path("ws"), world.path("link")).unwrap();
    world.spec.workspace = world.path("link");
    assert_eq!(world.names(), ["MEMORY.md", "docs/a.md"]);
}

#[test]
fn extra_paths_are_named_from_the_workspace_or_absolutely_and_count_once() {
    let world = World::with(&[
        "ws/MEMORY.md",
        "ws/memory/a.md",
        "ws/docs/b.md",
        "out/c.md",
        "out/deep/d.md",
        "one.md",
    ])
    .extra("ws", None)
    .extra("ws/memory", None)
    .extra("ws/docs/b.md", None)
    .extra("out", None)
    .extra("out/deep", None)
    .extra("ws/../out/./deep", None)
    .extra("one.md", None);
    assert_eq!(
        world.names(),
        ["OUT/one.md", "OUT/out/c.md", "OUT/out/deep/d.md", "MEMORY.md", "docs/b.md", "memory/a.md"]
    );
    let scan = world.scan();
    let source = |path: &str| scan.files.iter().find(|file| file.path == path).unwrap().source;
    assert_eq!((source("memory/a.md"), source("docs/b.md")), (Source::Memory, Source::Extra));
    assert_eq!(scan.skipped, []);
}

#[test]
fn a_pattern_limits_an_extra_path() {
    let files = ["out/a.md", "out/b.md", "out/deep/c.md", "out/deep/d.txt"];
    let names = |pattern| World::with(&files).extra("out", Some(pattern)).names();
    assert_eq!(names("*.md"), ["OUT/out/a.md", "OUT/out/b.md"]);
    assert_eq!(names("**/*.md"), ["OUT/out/a.md", "OUT/out/b.md", "OUT/out/deep/c.md"]);
    assert_eq!(names("deep/**"), ["OUT/out/deep/c.md"]);
    assert_eq!(names("{a,deep/c}.md"), ["OUT/out/a.md", "OUT/out/deep/c.md"]);
    let wrong = World::with(&files).extra("out", Some("{a"));
    assert!(
        matches!(scan(&wrong.spec), Err(crate::error::Error::Argument(message)) if message.contains("{a"))
    );
}

#[test]
fn ignore_files_and_patterns_leave_out_and_are_counted() {
    let mut world = World::with(&[
        "ws/MEMORY.md",
        "ws/memory/a.md",
        "ws/memory/draft-b.md",
        "ws/memory/private/c.md",
        "ws/memory/sub/d.md",
        "ws/memory/sub/keep.md",
        "ws/memory/git.md",
        "out/e.md",
        "out/build/f.md",
        "out/secret.md",
        "out/draft-g.md",
    ])
    .extra("out", None);
    world.write("ws/.memgrepignore", "private/\n");
    world.write("ws/.gitignore", "git.md\n");
    world.write("ws/memory/sub/.memgrepignore", "*\n!keep.md\n");
    world.write("out/.gitignore", "build/\n");
    world.write("out/.memgrepignore", "secret.md\n");
    world.spec.ignore = vec!["draft-*".to_owned()];
    assert_eq!(
        world.names(),
        ["OUT/out/e.md", "MEMORY.md", "memory/a.md", "memory/git.md", "memory/sub/keep.md"]
    );
    // draft-b, private/, d; build/, secret, draft-g
    assert_eq!(world.scan().ignored, 6);
}

#[test]
fn a_wrong_line_in_an_ignore_file_is_said_and_the_others_count() {
    let world = World::with(&["ws/memory/a.md", "ws/memory/b.md"]);
    world.write("ws/.memgrepignore", "{x\na.md\n");
    assert_eq!(world.names(), ["memory/b.md"]);
    assert_eq!(world.skipped(), pairs([(".memgrepignore", "unreadable")]));
}

#[test]
fn what_cannot_be_read_is_said() {
    let mut world = World::with(&["ws/memory/a.md", "ws/memory/large.md", "not.txt"]).extra("not.txt", None);
    world.spec.max_file_bytes = 15;
    let _socket = UnixListener::bind(world.path("ws/memory/socket.md")).unwrap();
    fs::create_dir(world.path("ws/memory/folder.md")).unwrap();
    for name in [&b"ws/memory/\xFF.md"[..], b"ws/memory/\xFF.txt"] {
        fs::write(world.path(OsStr::from_bytes(name)), "x").unwrap();
    }
    fs::create_dir(world.path(OsStr::from_bytes(b"ws/memory/f\xFF"))).unwrap();
    assert_eq!(world.names(), ["memory/a.md"]);
    assert_eq!(
        world.skipped(),
        pairs([
            ("OUT/not.txt", "not read"),
            ("memory/f\u{FFFD}", "name is not UTF-8"),
            ("memory/large.md", "too large"),
            ("memory/socket.md", "not a regular file"),
            ("memory/\u{FFFD}.md", "name is not UTF-8"),
        ])
    );
}

#[test]
fn f131_an_unreachable_extra_path_is_named_as_written_and_the_rest_is_found() {
    let mut world = World::with(&["ws/MEMORY.md", "ws/memory"]);
    for path in ["C:\\notes\\team docs", "\\\\srv\\share\\notes", "C:/notes", "/nowhere/at/../all"] {
        world.spec.extra.push(ExtraPath { path: path.into(), pattern: None });
    }
    let scan = world.scan();
    assert_eq!(world.names(), ["MEMORY.md"]);
    let names: Vec<&str> = scan.unreachable.iter().map(|root| root.path.as_str()).collect();
    assert_eq!(names, ["/nowhere/at/../all", "C:/notes", "C:\\notes\\team docs", "\\\\srv\\share\\notes"]);
    assert!(scan.unreachable.iter().all(|root| root.reason.starts_with("unreachable: ")));
    assert_eq!(world.skipped(), pairs([("memory", "not read")]));
}

#[test]
fn a_folder_that_cannot_be_listed_is_unreachable_not_empty() {
    let world = World::with(&["ws/memory/a.md", "ws/memory/d/b.md"]);
    let mut deep = world.path("ws/memory/d");
    while deep.as_os_str().len() < 3_800 {
        deep.push("d".repeat(250));
    }
    fs::create_dir_all(&deep).unwrap();
    // Now the way down is longer than the system opens.
    let long = "e".repeat(250);
    fs::rename(world.path("ws/memory/d"), world.path("ws/memory").join(&long)).unwrap();
    let scan = world.scan();
    assert_eq!(world.names(), ["memory/a.md".to_owned(), format!("memory/{long}/b.md")]);
    assert_eq!(scan.unreachable.len(), 1);
    assert!(scan.unreachable[0].path.starts_with(&format!("memory/{long}/ddd")));
}

#[test]
fn a_folder_of_many_files_is_found_whole() {
    let world = World::with(&["ws/memory/folder/last.md"]);
    let names: Vec<String> = (0..2_100).map(|n| format!("memory/{n:04}.md")).collect();
    for name in &names {
        fs::write(world.path("ws").join(name), name).unwrap();
    }
    let scan = world.scan();
    assert_eq!(scan.files.len(), names.len() + 1);
    for (file, name) in scan.files.iter().zip(&names) {
        assert_eq!((&file.path, file.stat.size), (name, name.len() as u64));
        assert_eq!(
            file.stat.inode,
            std::os::unix::fs::MetadataExt::ino(&fs::metadata(&file.absolute).unwrap())
        );
    }
}
