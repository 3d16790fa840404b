//! The index through its public names: what a sync brings in, what a search sees, what damage does.

use std::fs;
use std::path::{Path, PathBuf};

use memgrep::chunk::Chunking;
use memgrep::error::Error;
use memgrep::index::{Engine, Filter, Index, SearchOptions, SyncOptions, SyncReport, TemporalDecay};
use memgrep::rank::Fusion;
use memgrep::rank::hybrid::Shares;
use memgrep::scan::ScanSpec;

struct Place {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    store: PathBuf,
}

impl Place {
    fn new(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace = folder.path().join("workspace");
        fs::create_dir_all(workspace.join("memory")).expect("folders");
        let place = Self { store: folder.path().join("state/main.sqlite"), workspace, _folder: folder };
        for (path, text) in notes {
            place.note(path, text);
        }
        place
    }

    fn note(&self, path: &str, text: &str) {
        let path = self.workspace.join(path);
        fs::create_dir_all(path.parent().expect("below the workspace")).expect("folders");
        fs::write(path, text).expect("a note");
    }

    fn open(&self) -> Index {
        Index::open(&self.store, false, Engine::Exact).expect("an index")
    }

    fn options(&self) -> SyncOptions<'static> {
        let spec = ScanSpec {
            workspace: self.workspace.clone(),
            extra: Vec::new(),
            max_file_bytes: 1 << 20,
            ignore: Vec::new(),
        };
        SyncOptions {
            spec,
            chunking: Chunking { tokens: 400, overlap: 80 },
            only: None,
            verify: false,
            rebuild: false,
            dry_run: false,
            wait_ms: 1000,
            now_ns: None,
            progress: None,
        }
    }

    fn sync(&self, index: &Index) -> SyncReport {
        index.sync(&self.options()).expect("a sync")
    }

    fn beside(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}.{ending}", self.store.display()))
    }
}

fn asked() -> SearchOptions {
    SearchOptions {
        max_results: 6,
        min_score: 0.35,
        filter: Filter::default(),
        today: 20_000,
        fusion: Fusion::Absolute,
        weights: None,
        shares: Shares::ENCODER,
        temporal: true,
        decay: TemporalDecay::Off,
        extra_fades: false,
        mmr_lambda: Some(0.7),
        candidate_multiplier: 4,
        snippet_chars: 700,
    }
}

fn paths(index: &Index, query: &str) -> Vec<String> {
    let found = index.search(query, None, &asked()).expect("a search");
    found.hits.into_iter().map(|hit| hit.path).collect()
}

const NOTES: [(&str, &str); 3] = [
    ("MEMORY.md", "# Facts\n\n- the router is an Omada ER605\n- backups run at 3 am\n"),
    ("memory/2026-02-10.md", "# Day\n\nmoved the IoT devices to VLAN 10\n"),
    ("memory/topics/dns.md", "AdGuard answers on 192.168.10.2\n"),
];

#[test]
fn f028_what_was_indexed_is_found_by_an_index_that_never_wrote() {
    let place = Place::new(&NOTES);
    let report = place.sync(&place.open());
    assert_eq!((report.files, report.added.len(), report.chunks), (3, 3, 4));

    let reader = Index::open(&place.store, true, Engine::Exact).expect("opened for reading");

    assert_eq!(paths(&reader, "which router do we have"), ["MEMORY.md"]);
    assert_eq!(paths(&reader, "192.168.10.2")[0], "memory/topics/dns.md");
}

#[test]
fn f056_renamed_and_deleted_notes_are_gone_from_the_next_answer() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    assert_eq!(paths(&index, "VLAN"), ["memory/2026-02-10.md"]);

    fs::rename(place.workspace.join("memory/2026-02-10.md"), place.workspace.join("memory/moved.md"))
        .expect("rename");
    fs::remove_file(place.workspace.join("memory/topics/dns.md")).expect("remove");
    let report = place.sync(&index);

    assert_eq!(report.added, ["memory/moved.md"]);
    assert_eq!(report.removed, ["memory/2026-02-10.md", "memory/topics/dns.md"]);
    assert_eq!(paths(&index, "VLAN"), ["memory/moved.md"]);
    assert_eq!(paths(&index, "AdGuard"), Vec::<String>::new());
}

#[test]
fn a_sync_without_changes_writes_nothing() {
    let place = Place::new(&NOTES);
    let index = place.open();
    let first = place.sync(&index);

    let second = place.sync(&index);

    assert_eq!(second.generation, first.generation);
    assert!(second.added.is_empty() && second.changed.is_empty() && second.removed.is_empty(), "{second:?}");
}

#[test]
fn a_look_finds_the_changes_and_writes_nothing() {
    let place = Place::new(&NOTES);
    let index = Index::open(&place.store, true, Engine::Exact).expect("nothing there yet");

    let look = index.sync(&SyncOptions { dry_run: true, ..place.options() }).expect("a look");

    assert_eq!(look.added.len(), 3);
    assert!(!place.store.exists());
}

#[test]
fn equal_size_and_restored_time_do_not_hide_a_change() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    let path = place.workspace.join("memory/topics/dns.md");
    let before = fs::metadata(&path).and_then(|data| data.modified()).expect("a time");

    fs::write(&path, "AdGuard answers on 192.168.10.3\n").expect("a note");
    fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(before))
        .expect("time set back");
    place.sync(&index);

    assert_eq!(paths(&index, "192.168.10.3")[0], "memory/topics/dns.md");
    let shown = index.search("AdGuard", None, &asked()).expect("a search").hits.remove(0).snippet;
    assert_eq!(shown, "AdGuard answers on 192.168.10.3");
}

#[test]
fn a_touched_file_is_not_cut_again() {
    let place = Place::new(&NOTES);
    let index = place.open();
    let first = place.sync(&index);
    let file = fs::File::options().write(true).open(place.workspace.join("MEMORY.md")).expect("a note");
    file.set_modified(std::time::UNIX_EPOCH).expect("another time");

    let second = place.sync(&index);

    assert!(second.changed.is_empty());
    assert_eq!(second.generation, first.generation);
}

#[test]
fn other_chunking_cuts_every_note_again_and_keeps_it_findable() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    let options = SyncOptions { chunking: Chunking { tokens: 8, overlap: 0 }, ..place.options() };

    let report = index.sync(&options).expect("a sync");

    assert_eq!(report.changed.len(), 3);
    assert_eq!(paths(&index, "router"), ["MEMORY.md"]);
}

#[test]
fn an_unreachable_extra_path_keeps_what_is_indexed_below_it() {
    let place = Place::new(&NOTES);
    let index = place.open();
    let vault = place.workspace.parent().expect("a parent").join("vault");
    fs::create_dir(&vault).expect("a folder");
    fs::write(vault.join("x.md"), "the vault code word is KESTREL\n").expect("a note");
    let with_vault = || {
        let mut options = place.options();
        options.spec.extra = vec![memgrep::scan::ExtraPath { path: vault.clone(), pattern: None }];
        options
    };
    index.sync(&with_vault()).expect("a sync");

    fs::rename(&vault, vault.with_extension("away")).expect("unmounted");
    let report = index.sync(&with_vault()).expect("a sync");

    assert_eq!(report.unreachable.len(), 1);
    assert!(report.removed.is_empty());
    assert_eq!(paths(&index, "KESTREL").len(), 1);
}

#[test]
fn vectors_follow_their_text_when_it_moves() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    index.select_fingerprint(Some("test 3"));
    let pending = index.pending(100).expect("texts");
    assert_eq!(pending.len(), 4);
    let rows: Vec<f32> = pending.iter().flat_map(|(_, text)| [text.len() as f32, 1.0, 2.0]).collect();
    let hashes: Vec<[u8; 16]> = pending.iter().map(|(hash, _)| *hash).collect();
    index.put_vectors(&hashes, &rows, 3).expect("stored");

    fs::rename(place.workspace.join("memory/topics/dns.md"), place.workspace.join("memory/other.md"))
        .expect("rename");
    place.sync(&index);

    assert_eq!(index.pending_counts().expect("counts"), (0, 0));
    let status = index.status().expect("a status");
    assert_eq!((status.chunks, status.vectors), (4, 4));
    let found = index.search("nothing of these words", Some(&rows[..3]), &asked()).expect("a search");
    assert!(found.vectors_used);
    assert_eq!(found.vectors, 4);
}

#[test]
fn f090_another_fingerprint_has_no_vectors_and_switching_back_costs_nothing() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    index.select_fingerprint(Some("one"));
    let hashes: Vec<[u8; 16]> = index.pending(100).expect("texts").iter().map(|(hash, _)| *hash).collect();
    index.put_vectors(&hashes, &[1.0, 0.0].repeat(4), 2).expect("stored");

    index.select_fingerprint(Some("two"));
    assert_eq!(index.pending_counts().expect("counts").0, 4);
    index.select_fingerprint(Some("one"));

    assert_eq!(index.pending_counts().expect("counts").0, 0);
}

#[test]
fn f089_vectors_of_another_length_are_refused_and_nothing_is_stored() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    index.select_fingerprint(Some("one"));
    let hashes: Vec<[u8; 16]> = index.pending(100).expect("texts").iter().map(|(hash, _)| *hash).collect();
    index.put_vectors(&hashes[..1], &[1.0, 0.0], 2).expect("stored");

    let wrong = index.put_vectors(&hashes[1..2], &[1.0, 0.0, 0.0], 3).expect_err("another length");
    let zero = index.put_vectors(&hashes[1..2], &[0.0, 0.0], 2).expect_err("no direction");
    let search = index.search("router", Some(&[1.0, 0.0, 0.0]), &asked()).expect_err("another length");

    assert!(wrong.to_string().contains('2') && wrong.to_string().contains('3'), "{wrong}");
    assert!(matches!(zero, Error::Argument(_)));
    assert!(search.to_string().contains("3 dimensions"), "{search}");
    assert_eq!(index.status().expect("a status").vectors, 1);
}

#[test]
fn refused_texts_wait_until_asked_for_again() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    index.select_fingerprint(Some("one"));
    let hash = index.pending(1).expect("texts")[0].0;

    index.put_refusals(&[hash], "too long").expect("noted");

    assert_eq!(index.pending_counts().expect("counts"), (3, 1));
    assert_eq!(index.status().expect("a status").failures, [("too long".to_owned(), 1)]);
    assert_eq!(index.retry_refusals().expect("counted"), 1);
    assert_eq!(index.pending_counts().expect("counts"), (4, 0));
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_left_as_it_is() {
    let place = Place::new(&NOTES);
    fs::create_dir_all(place.store.parent().expect("a folder")).expect("folders");
    fs::write(&place.store, "my diary\n").expect("a file");

    let refused = Index::open(&place.store, false, Engine::Exact).err().expect("not ours");

    assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&place.store).expect("still there"), "my diary\n");
}

#[test]
fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let place = Place::new(&NOTES);
    fs::create_dir_all(place.store.parent().expect("a folder")).expect("folders");
    let theirs = rusqlite::Connection::open(&place.store).expect("a database");
    theirs.execute_batch("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)").expect("filled");
    drop(theirs);
    let before = fs::read(&place.store).expect("bytes");

    let refused = Index::open(&place.store, false, Engine::Exact).err().expect("not ours");

    assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
    assert_eq!(fs::read(&place.store).expect("bytes"), before);
}

#[test]
fn f086_a_newer_format_is_left_alone() {
    let place = Place::new(&NOTES);
    place.sync(&place.open());
    let raise = rusqlite::Connection::open(&place.store).expect("the store");
    raise.execute_batch("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)").expect("raised");
    drop(raise);

    let refused = Index::open(&place.store, false, Engine::Exact).err().expect("newer");

    assert!(refused.to_string().contains("newer memgrep"), "{refused}");
}

/// Every file below the derived indexes, with the store closed.
fn derived_files(place: &Place) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(place.beside("lexical"))
        .expect("the lexical folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file() && !path.ends_with(".tantivy-meta.lock"))
        .collect();
    files.push(place.beside("vectors"));
    files.push(place.beside("rows"));
    files.sort();
    files
}

fn filled_place() -> (Place, Vec<f32>) {
    let mut notes: Vec<(String, String)> = Vec::new();
    for number in 0..600 {
        notes.push((
            format!("memory/n{number}.md"),
            format!("note {number} speaks of topic{} only\n", number % 7),
        ));
    }
    let borrowed: Vec<(&str, &str)> =
        notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let place = Place::new(&borrowed);
    let index = place.open();
    place.sync(&index);
    index.select_fingerprint(Some("one"));
    let pending = index.pending(1000).expect("texts");
    let mut rows = Vec::new();
    for number in 0..pending.len() {
        rows.extend([(number as f32).cos(), (number as f32).sin(), 0.3]);
    }
    let hashes: Vec<[u8; 16]> = pending.iter().map(|(hash, _)| *hash).collect();
    index.put_vectors(&hashes, &rows, 3).expect("stored");
    index.publish(1000).expect("published");
    (place, rows[..3].to_vec())
}

fn answer(place: &Place, vector: &[f32]) -> Vec<(String, f32)> {
    let index = place.open();
    index.select_fingerprint(Some("one"));
    place.sync(&index);
    let found = index.search("topic3 note 10", Some(vector), &asked()).expect("a search");
    assert!(found.vectors_used && !found.lagging);
    found.hits.into_iter().map(|hit| (hit.path, hit.score)).collect()
}

fn damaged(file: &Path, what: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(file).expect("bytes");
    what(&mut bytes);
    fs::write(file, bytes).expect("damaged");
}

#[test]
fn every_derived_file_may_be_cut_short_or_have_a_bit_flipped() {
    let (place, vector) = filled_place();
    let right = answer(&place, &vector);
    assert_eq!(right.len(), 6);
    let names: Vec<PathBuf> = derived_files(&place);
    assert!(names.len() > 3, "{names:?}");
    for round in 0..names.len() * 3 {
        // A rebuilt index has new names, so the file is chosen anew each time.
        let files = derived_files(&place);
        let file = &files[round % files.len()];
        let length = fs::metadata(file).expect("a size").len() as usize;
        match round / names.len() {
            0 => damaged(file, |bytes| bytes.truncate(length / 2)),
            1 => damaged(file, |bytes| {
                if let Some(byte) = bytes.get_mut(length / 3) {
                    *byte ^= 0x10;
                }
            }),
            _ => fs::remove_file(file).expect("removed"),
        }

        assert_eq!(answer(&place, &vector), right, "{} in round {round}", file.display());
        let index = place.open();
        index.select_fingerprint(Some("one"));
        index.publish(1000).expect("published");
    }
}

#[test]
fn a_damaged_store_is_set_aside_and_made_anew_from_the_notes() {
    let (place, _) = filled_place();
    let length = fs::metadata(&place.store).expect("a size").len() as usize;
    damaged(&place.store, |bytes| bytes[8192..length].fill(0xA5));
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", place.store.display()));
    }

    let index = place.open();
    let report = place.sync(&index);

    assert!(report.recovered);
    assert_eq!(report.chunks, 600);
    assert!(place.beside("damaged").exists());
    assert_eq!(index.verify().expect("checked"), Vec::<String>::new());
}

#[test]
fn a_store_that_was_cut_short_is_made_anew() {
    for length in [1000, 8192, 40_000] {
        let (place, _) = filled_place();
        damaged(&place.store, |bytes| bytes.truncate(length));
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", place.store.display()));
        }

        let index = place.open();
        let report = place.sync(&index);

        assert!(report.recovered, "{length}");
        assert_eq!(report.chunks, 600);
    }
}

#[test]
fn a_note_of_headings_only_is_found_by_its_words() {
    let place = Place::new(&[
        ("memory/h.md", "# Only Bamako\n\n## Ouagadougou\n"),
        ("memory/cr.md", "# Bar\rTananarive text\r"),
    ]);
    let index = place.open();
    place.sync(&index);

    assert_eq!(paths(&index, "ouagadougou"), ["memory/h.md"]);
    assert_eq!(paths(&index, "tananarive"), ["memory/cr.md"]);
    assert_eq!(paths(&index, "h.md")[0], "memory/h.md");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_store_and_nobody_waits_for_it() {
    let place = Place::new(&NOTES);
    fs::create_dir_all(place.store.parent().expect("a folder")).expect("folders");
    let made = std::process::Command::new("mkfifo").arg(&place.store).status().expect("mkfifo");
    assert!(made.success());

    let refused = Index::open(&place.store, false, Engine::Exact).err().expect("not a file");

    assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
}

#[test]
fn a_second_writer_is_told_who_is_in_the_way() {
    let place = Place::new(&NOTES);
    let index = place.open();
    place.sync(&index);
    let lock = fs::File::options().write(true).open(place.beside("lock")).expect("the lock file");
    lock.lock().expect("held by somebody else");

    place.note("memory/new.md", "fresh words\n");
    let refused = index.sync(&SyncOptions { wait_ms: 20, ..place.options() }).expect_err("locked");
    assert!(matches!(refused, Error::Locked { .. }), "{refused}");
    assert_eq!(paths(&index, "router"), ["MEMORY.md"]);

    lock.unlock().expect("given back");
    place.sync(&index);
    assert_eq!(paths(&index, "fresh"), ["memory/new.md"]);
}

#[test]
fn stopping_keeps_what_was_read() {
    let place = Place::new(&NOTES);
    let index = place.open();
    let stop = |_: &str, done: usize, _: usize| done < 2;

    let stopped = index.sync(&SyncOptions { progress: Some(&stop), ..place.options() }).expect_err("stopped");

    assert!(matches!(stopped, Error::Interrupted));
    assert_eq!(index.status().expect("a status").notes, 2);
    assert_eq!(place.sync(&index).added.len(), 1);
}

#[test]
fn the_first_hits_of_a_longer_list_are_the_shorter_list() {
    let (place, vector) = filled_place();
    let index = place.open();
    index.select_fingerprint(Some("one"));
    let list = |max_results: usize| -> Vec<String> {
        let options = SearchOptions { max_results, ..asked() };
        let found = index.search("note speaks of topic3", Some(&vector), &options).expect("a search");
        found.hits.into_iter().map(|hit| hit.path).collect()
    };

    let long = list(500);

    assert!(long.len() > 200, "{}", long.len());
    for n in [1, 3, 6, 50, 96, 97, 200] {
        assert_eq!(list(n), long[..n], "{n}");
    }
}

#[test]
fn vec0_and_the_scan_answer_alike() {
    let (place, vector) = filled_place();
    let ask = |engine: Engine| -> Vec<(String, f32)> {
        let index = Index::open(&place.store, false, engine).expect("an index");
        index.select_fingerprint(Some("one"));
        let found = index.search("topic5", Some(&vector), &asked()).expect("a search");
        found.hits.into_iter().map(|hit| (hit.path, hit.score)).collect()
    };
    let (exact, vec0) = (ask(Engine::Exact), ask(Engine::Vec0));

    assert_eq!(exact.len(), 6);
    for ((path, score), (other_path, other_score)) in exact.iter().zip(&vec0) {
        assert_eq!(path, other_path);
        // The spread is that of the codes here and that of a sample there.
        assert!((score - other_score).abs() < 2e-3, "{path}: {score} {other_score}");
    }
}

#[test]
fn paths_that_are_no_notes_are_told_and_those_that_were_are_not() {
    let place = Place::new(&[("memory/a.md", "lantern"), ("memory/b.md", "kettle")]);
    let index = place.open();
    place.sync(&index);
    fs::remove_file(place.workspace.join("memory/b.md")).expect("a note less");
    place.note("memory/c.md", "harbour");

    let only = ["memory/a.md", "memory/b.md", "memory/c.md", "memory/none.md"].map(str::to_owned).to_vec();
    let report = index.sync(&SyncOptions { only: Some(only), ..place.options() }).expect("a sync");

    assert_eq!(report.unknown, ["memory/none.md"]);
    assert_eq!(report.removed, ["memory/b.md"]);
    assert_eq!(paths(&index, "harbour"), ["memory/c.md"]);
}

#[test]
fn an_index_that_is_only_read_refuses_every_write() {
    let place = Place::new(&[("memory/a.md", "lantern")]);
    place.sync(&place.open());

    let index = Index::open(&place.store, true, Engine::Exact).expect("an index");

    assert!(index.is_read_only());
    assert_eq!(paths(&index, "lantern"), ["memory/a.md"]);
    assert!(matches!(index.sync(&place.options()), Err(Error::ReadOnly { path }) if path == place.store));
    assert!(matches!(index.publish(0), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_refused_text_is_not_waited_for() {
    let place =
        Place::new(&[("memory/a.md", "lantern"), ("memory/b.md", "kettle"), ("memory/c.md", "# Only")]);
    let index = place.open();
    index.select_fingerprint(Some("model"));
    place.sync(&index);
    let counts = |query: &str| {
        let found = index.search(query, Some(&[1.0, 0.0]), &asked()).expect("a search");
        (found.chunks, found.vectors, found.pending, found.refused)
    };
    assert_eq!(counts("lantern"), (3, 0, 2, 0), "headings alone wait for nothing");

    let texts = index.pending(10).expect("texts");
    index.put_vectors(&[texts[0].0], &[0.6, 0.8], 2).expect("a vector");
    assert_eq!(counts("lantern"), (3, 1, 1, 0));
    index.put_refusals(&[texts[1].0], "too odd").expect("a refusal");
    assert_eq!(counts("lantern"), (3, 1, 0, 1));
}

/// Removes the store and its log, as one who wants a new index does; what is derived from it stays.
fn lose_store(place: &Place) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", place.store.display()));
    }
}

#[test]
fn what_was_derived_from_a_lost_store_is_not_taken_for_the_new_one() {
    let place = Place::new(&[("memory/a.md", "the zebra sleeps\n")]);
    let index = place.open();
    place.sync(&index);
    drop(index);
    lose_store(&place);
    place.note("memory/a.md", "a giraffe woke\n");

    let index = place.open();
    place.sync(&index);

    assert_eq!(paths(&index, "zebra"), [""; 0]);
    assert_eq!(paths(&index, "giraffe"), ["memory/a.md"]);
}

#[test]
fn what_was_derived_after_a_store_was_saved_is_forgotten_when_it_is_put_back() {
    let place = Place::new(&[("memory/a.md", "the zebra sleeps\n")]);
    let saved = place.store.with_extension("saved");
    let change = |text: &str| {
        place.note("memory/a.md", text);
        let index = place.open();
        // Made anew, so that the keyword index is certain to be as far.
        index.sync(&SyncOptions { rebuild: true, ..place.options() }).expect("a sync");
        index
    };
    drop(change("the zebra sleeps\n"));
    fs::copy(&place.store, &saved).expect("a copy");
    drop(change("a tiger ran\n"));
    lose_store(&place);
    fs::copy(&saved, &place.store).expect("the copy put back");

    place.note("memory/a.md", "a giraffe woke\n");
    let index = place.open();
    place.sync(&index);

    assert_eq!(paths(&index, "tiger"), [""; 0]);
    assert_eq!(paths(&index, "giraffe"), ["memory/a.md"]);
    assert_eq!(index.verify().expect("a look"), [""; 0]);
}

#[test]
fn vectors_made_after_a_store_was_saved_do_not_fit_it_when_it_is_put_back() {
    let place = Place::new(&[("memory/a.md", "the zebra sleeps\n")]);
    let saved = place.store.with_extension("saved");
    let index = place.open();
    place.sync(&index);
    drop(index);
    fs::copy(&place.store, &saved).expect("a copy");

    let index = place.open();
    index.select_fingerprint(Some("model"));
    let hashes: Vec<[u8; 16]> =
        index.pending(9).expect("pending").into_iter().map(|(hash, _)| hash).collect();
    index.put_vectors(&hashes, &[1.0, 0.0], 2).expect("stored");
    let ahead = index.publish(1_000).expect("published");
    drop(index);
    lose_store(&place);
    fs::copy(&saved, &place.store).expect("the copy put back");

    place.note("memory/a.md", "a giraffe woke\n");
    let index = place.open();
    let report = index.sync(&place.options()).expect("a sync");
    assert!(report.generation > ahead, "{} is what the vectors were made from", report.generation);
}

#[test]
fn a_time_without_other_words_fills_the_list_that_was_asked_for() {
    let place = Place::new(&[]);
    for day in 1..=28 {
        for part in ["a", "b"] {
            place.note(&format!("memory/2024-02-{day:02}-{part}.md"), &format!("lantern {day} {part}\n"));
        }
    }
    let index = place.open();
    place.sync(&index);
    let list = |max_results| {
        let options = SearchOptions { max_results, min_score: 0.0, mmr_lambda: None, ..asked() };
        let found = index.search("last February", None, &options).expect("a search");
        found.hits.into_iter().map(|hit| hit.path).collect::<Vec<String>>()
    };

    let all = list(2000);

    assert_eq!(all.len(), 56);
    for count in [6, 24, 25, 40, 56, 96] {
        assert_eq!(list(count), all[..count.min(56)], "{count}");
    }
}
