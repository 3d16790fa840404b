//! From files to chunks: one changed file, ten thousand new ones, or nothing to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::derived::{catch_up_if_far, catch_up_lexical, facts_of};
use super::{Index, KnownNotes, beside, unpoisoned};
use rustc_hash::FxHashSet;

use crate::chunk::{CHUNKER_VERSION, Chunk, Chunking, chunk, embedded_text};
use crate::error::{Error, Result};
use crate::lexical::{Lexical, LexicalChunk};
use crate::note::{Decoding, annotations, decode, plain};
use crate::scan::{Found, Scan, ScanSpec, Skipped, Source, scan, stat_of};
use crate::store::{KnownNote, PreparedNote, Store, source_of};
use crate::vector::exact::Exact;

/// Bytes of notes in one write transaction: what a crash may lose of a long first sync.
const BATCH_BYTES: usize = 8 << 20;
/// Notes waiting between the thread that reads and the one that writes.
const QUEUE: usize = 64;
/// A file changed less than this before it was read may change again without a new time stamp; it is read once more.
const RACY_NS: i64 = 50_000_000;
/// Bytes of headings that are indexed of a note without any other text.
const MOST_HEADINGS: usize = 1600;
/// After so few changed notes what is known of the others is kept.
const FEW: usize = 256;
/// So few changed notes are written to the store alone; the lexical index learns of them afterwards, or not yet.
const VERY_FEW: usize = 32;
/// Threads that read and cut notes; the writing thread and tantivy's own work beside them.
const READERS: usize = 2;

/// Called now and then with (stage, done, total); false stops the work, what is done stays.
pub type Progress<'a> = dyn Fn(&str, usize, usize) -> bool + Sync + 'a;

/// What to bring in line.
pub struct SyncOptions<'a> {
    /// Where the notes are.
    pub spec: ScanSpec,
    /// How they are cut.
    pub chunking: Chunking,
    /// Look at these notes only (paths as in answers): what a caller needs who knows what changed. With a path among them
    /// that is not indexed yet, everything is looked at.
    pub only: Option<Vec<String>>,
    /// Read and hash every file, whatever its time stamp says.
    pub verify: bool,
    /// Cut and index every note anew (vectors of unchanged texts stay).
    pub rebuild: bool,
    /// Only look: no lock, nothing written.
    pub dry_run: bool,
    /// How long to wait for another writer.
    pub wait_ms: u64,
    /// Now, nanoseconds since 1970; tells files that changed a moment ago. `None`: such files are not told apart.
    pub now_ns: Option<i64>,
    /// Told how far it is.
    pub progress: Option<&'a Progress<'a>>,
}

/// What a sync (or a look) found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Memory files on disk.
    pub files: usize,
    /// Paths that were not indexed before.
    pub added: Vec<String>,
    /// Paths whose bytes changed.
    pub changed: Vec<String>,
    /// Paths that are gone.
    pub removed: Vec<String>,
    /// Bytes of the added and changed files.
    pub changed_bytes: u64,
    /// Chunks in the store afterwards.
    pub chunks: usize,
    /// Left out, with the reason.
    pub skipped: Vec<Skipped>,
    /// Left out by ignore patterns.
    pub ignored: usize,
    /// Roots that could not be reached; what is indexed below them stays.
    pub unreachable: Vec<Skipped>,
    /// Paths of [`SyncOptions::only`] that are no note on disk and were none in the index.
    pub unknown: Vec<String>,
    /// What the user should know about notes that were read.
    pub warnings: Vec<(String, String)>,
    /// Generation of the store afterwards.
    pub generation: u64,
    /// The store was damaged and was made anew from the notes.
    pub recovered: bool,
    /// The progress callback said stop.
    interrupted: bool,
}

impl SyncReport {
    /// Takes a file that cannot be read for one that was left out; `new`: nothing of it is indexed.
    fn leave_out(&mut self, skipped: Skipped, new: bool) {
        self.files -= usize::from(new);
        self.skipped.push(skipped);
    }
}

/// The difference between files and store.
struct Plan {
    /// To be read: new, or with another stat than the one stored.
    read: Vec<(Found, Option<KnownNote>)>,
    /// Gone.
    remove: Vec<String>,
    /// Cut every note anew, also those whose bytes are known.
    recut: bool,
}

/// What reading one file came to.
enum Outcome {
    Note(Box<PreparedNote>),
    /// The bytes are the ones we know; only the stat is new.
    Same(i64, crate::scan::Stat),
    /// It went away since it was listed.
    Gone(String),
    /// It could not be read; what is indexed of it stays. Whether it is a new one.
    Unreadable(Skipped, bool),
}

impl Index {
    /// Brings text and keywords in line with the files.
    ///
    /// # Errors
    /// The workspace cannot be reached, another process writes for longer than `wait_ms`, the store cannot be written,
    /// or the progress callback said stop ([`Error::Interrupted`]; what was committed stays).
    pub fn sync(&self, options: &SyncOptions<'_>) -> Result<SyncReport> {
        match self.sync_once(options) {
            Err(Error::Store { damaged: true, .. }) if !options.dry_run => {
                self.set_damaged_aside()?;
                let mut report = self.sync_once(options)?;
                report.recovered = true;
                Ok(report)
            }
            outcome => outcome,
        }
    }

    fn sync_once(&self, options: &SyncOptions<'_>) -> Result<SyncReport> {
        let (listed, only) = match self.look_at_some(options)? {
            Some(files) => (Scan { files, ..Scan::default() }, options.only.as_deref()),
            None => (scan(&options.spec)?, None),
        };
        let mut report = SyncReport {
            files: listed.files.len(),
            skipped: listed.skipped,
            ignored: listed.ignored,
            unreachable: listed.unreachable,
            ..SyncReport::default()
        };
        if options.dry_run {
            let plan = self.read(|store| {
                report.warnings = store.warnings()?;
                report.generation = store.generation()?;
                self.plan(store, listed.files.clone(), only, &report, options)
            })?;
            let mut plan = plan.unwrap_or_else(|| Plan {
                read: listed.files.into_iter().map(|found| (found, None)).collect(),
                remove: Vec::new(),
                recut: false,
            });
            leave_out_unchanged(&mut plan, &mut report);
            report_plan(&plan, &mut report);
            return Ok(report);
        }
        let mut guard = self.write(options.wait_ms)?;
        let (store, lexical) = guard.parts()?;
        let vectors = Exact::generation_of(&beside(&self.path, "vectors"));
        if lexical.generation() > Some(store.text_generation()?) || vectors > Some(store.generation()?) {
            store.leave_gap()?;
        }
        if let (Some(wanted), None) = (&options.only, only) {
            let known = self.known_notes(store)?;
            let listed: FxHashSet<&String> = listed.files.iter().map(|found| &found.path).collect();
            let is_unknown = |path: &&String| !known.contains_key(*path) && !listed.contains(path);
            report.unknown = wanted.iter().filter(is_unknown).cloned().collect();
        }
        let plan = self.plan(store, listed.files, only, &report, options)?;
        let changes = !plan.read.is_empty() || !plan.remove.is_empty();
        if changes {
            let known = unpoisoned(self.known.lock()).take();
            let few: Option<Vec<String>> = (plan.read.len() + plan.remove.len() <= FEW).then(|| {
                plan.read.iter().map(|(found, _)| &found.path).chain(&plan.remove).cloned().collect()
            });
            // Many notes go into the lexical index while they are written.
            let beside =
                if few.as_ref().is_some_and(|few| few.len() <= VERY_FEW) && lexical.generation().is_some() {
                    None
                } else {
                    catch_up_lexical(store, lexical)?;
                    Some(&mut *lexical)
                };
            if let Err(error) = apply(store, beside, plan, options, &mut report) {
                // What the failed transaction had handed on must not be published.
                guard.writer.lexical = None;
                return Err(error);
            }
            if let (Some((_, notes)), Some(paths)) = (known, few) {
                self.renew_known(store, notes, &paths)?;
            }
        }
        catch_up_if_far(store, lexical)?;
        if store.meta("chunking")?.as_deref() != Some(&chunking_key(options.chunking)) {
            store.set_meta("chunking", &chunking_key(options.chunking))?;
        }
        if let Some(now) = options.now_ns.filter(|_| changes) {
            store.set_meta("last_sync_ns", &now.to_string())?;
        }
        report.chunks = store.chunk_count()?;
        report.warnings = store.warnings()?;
        report.generation = store.generation()?;
        if report.interrupted { Err(Error::Interrupted) } else { Ok(report) }
    }

    /// Reads a few notes anew into what is known of all.
    fn renew_known(&self, store: &Store, mut notes: KnownNotes, paths: &[String]) -> Result<()> {
        let map = Arc::make_mut(&mut notes);
        for path in paths {
            match store.note(path)? {
                Some(note) => map.insert(path.clone(), note),
                None => map.remove(path),
            };
        }
        *unpoisoned(self.known.lock()) = Some((store.text_generation()?, notes));
        Ok(())
    }

    /// The files of [`SyncOptions::only`] as they are now; `None` when everything has to be looked at.
    fn look_at_some(&self, options: &SyncOptions<'_>) -> Result<Option<Vec<Found>>> {
        let Some(only) = &options.only else { return Ok(None) };
        let known = self.read(|store| {
            // Notes cut by another rule have to be cut anew, all of them.
            let same = store.meta("chunking")?.is_none_or(|key| key == chunking_key(options.chunking));
            if same && !options.rebuild { self.known_notes(store).map(Some) } else { Ok(None) }
        })?;
        let Some(known) = known.flatten() else { return Ok(None) };
        let mut files = Vec::with_capacity(only.len());
        for path in only {
            let Some(note) = known.get(path) else { return Ok(None) };
            let absolute = std::path::PathBuf::from(&note.absolute);
            // Whatever is no plain file any more (a link, a folder, nothing) is for the walk to judge.
            match stat_of(&absolute) {
                Some(stat) if stat.size <= options.spec.max_file_bytes => files.push(Found {
                    path: path.clone(),
                    absolute,
                    source: source_of(note.source),
                    curated: note.curated,
                    stat,
                }),
                _ => return Ok(None),
            }
        }
        Ok(Some(files))
    }

    /// The notes of the store, read anew only when another generation is there.
    fn known_notes(&self, store: &Store) -> Result<KnownNotes> {
        let generation = store.text_generation()?;
        let mut known = unpoisoned(self.known.lock());
        if let Some((at, notes)) = known.as_ref()
            && *at == generation
        {
            return Ok(Arc::clone(notes));
        }
        let notes = Arc::new(store.notes()?);
        *known = Some((generation, Arc::clone(&notes)));
        Ok(notes)
    }

    /// What differs between files and store.
    fn plan(
        &self,
        store: &Store,
        files: Vec<Found>,
        only: Option<&[String]>,
        report: &SyncReport,
        options: &SyncOptions<'_>,
    ) -> Result<Plan> {
        let known = self.known_notes(store)?;
        let recut = options.rebuild
            || store.meta("chunking")?.is_some_and(|key| key != chunking_key(options.chunking));
        let in_scope = |path: &String| only.is_none_or(|only| only.contains(path));
        let expected = only.map_or(known.len(), <[String]>::len);
        let mut remove = Vec::new();
        if files.iter().filter(|found| known.contains_key(&found.path)).count() < expected {
            let listed: FxHashSet<&String> = files.iter().map(|found| &found.path).collect();
            remove.extend(
                known
                    .iter()
                    .filter(|(path, _)| in_scope(path) && !listed.contains(path))
                    .filter(|(path, note)| !is_kept(path, note, report))
                    .map(|(path, _)| path.clone()),
            );
            remove.sort_unstable();
        }
        let mut read = Vec::new();
        for found in files {
            let before = known.get(&found.path);
            let same = before.is_some_and(|note| {
                note.stat == found.stat && note.curated == found.curated && note.source == found.source as u8
            });
            if !same || options.verify || recut {
                read.push((found, before.cloned()));
            }
        }
        Ok(Plan { read, remove, recut })
    }

    fn set_damaged_aside(&self) -> Result<()> {
        self.close();
        let guard_path = self.lock_path();
        let lock = super::open_lock(&guard_path)?;
        lock.lock().map_err(Error::io("lock", &guard_path))?;
        let damaged = beside(&self.path, "damaged");
        std::fs::rename(&self.path, &damaged).map_err(Error::io("move aside", &self.path))?;
        for ending in ["-wal", "-shm"] {
            let mut side = self.path.as_os_str().to_owned();
            side.push(ending);
            // Without its database a log means nothing, and it may well be missing.
            let _ = std::fs::remove_file(side);
        }
        Ok(())
    }
}

/// Writes the plan: readers cut notes on their own threads, this thread writes store and lexical index.
fn apply(
    store: &Store,
    mut lexical: Option<&mut Lexical>,
    plan: Plan,
    options: &SyncOptions<'_>,
    report: &mut SyncReport,
) -> Result<()> {
    let total = plan.read.len();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<Outcome>(QUEUE);
        for _ in 0..READERS.min(total) {
            let sender = sender.clone();
            let (next, stop, plan) = (&next, &stop, &plan);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some((found, known)) = plan.read.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    if sender.send(prepare(found, known.as_ref(), plan.recut, options)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let written = write_all(store, lexical.as_deref_mut(), &receiver, &plan, options, report);
        stop.store(true, Ordering::Relaxed);
        // Readers blocked on the queue see it closed.
        drop(receiver);
        written
    })?;
    if let Some(lexical) = lexical {
        lexical.commit(store.text_generation()?)?;
    }
    store.give_back_space()
}

fn chunking_key(chunking: Chunking) -> String {
    format!("v{CHUNKER_VERSION} {}/{}", chunking.tokens, chunking.overlap)
}

/// Whether a note that was not listed stays indexed: a transcript, or one that only could not be reached now.
fn is_kept(path: &str, note: &KnownNote, report: &SyncReport) -> bool {
    let below = |root: &Skipped| {
        let root = root.path.trim_end_matches('/');
        path == root
            || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
            || note.absolute.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let unreadable = |skipped: &Skipped| skipped.reason.starts_with("unreadable") && below(skipped);
    note.source == Source::Sessions as u8
        || report.unreachable.iter().any(below)
        || report.skipped.iter().any(unreadable)
}

/// Whether the file changed so shortly before `now` that its next change may carry the same time stamp. Where there is a
/// change time it is asked, as nobody sets it to a date of their own.
fn is_racy(stat: &crate::scan::Stat, now: i64) -> bool {
    let changed = if stat.ctime_ns == 0 { stat.mtime_ns } else { stat.ctime_ns };
    (now - RACY_NS..now + RACY_NS).contains(&changed)
}

/// Leaves out of a plan what a sync would not change: a note that cannot be read, and one that holds what was read before,
/// as another time stamp is not yet another text.
fn leave_out_unchanged(plan: &mut Plan, report: &mut SyncReport) {
    let look_inside = !plan.recut && plan.read.len() <= FEW;
    plan.read.retain(|(found, known)| {
        let differs = match known {
            Some(note) if look_inside => {
                std::fs::read(&found.absolute).map(|bytes| short_hash(&bytes) != note.hash)
            }
            _ => std::fs::File::open(&found.absolute).map(|_| true),
        };
        differs.unwrap_or_else(|error| {
            let gone = error.kind() == std::io::ErrorKind::NotFound;
            if !gone {
                report.leave_out(unreadable(found, &error), known.is_none());
            }
            gone
        })
    });
}

fn unreadable(found: &Found, error: &std::io::Error) -> Skipped {
    Skipped { path: found.path.clone(), reason: format!("unreadable: {error}") }
}

fn report_plan(plan: &Plan, report: &mut SyncReport) {
    for (found, known) in &plan.read {
        report.changed_bytes += found.stat.size;
        if known.is_some() { &mut report.changed } else { &mut report.added }.push(found.path.clone());
    }
    report.removed.clone_from(&plan.remove);
}

/// Reads, decodes and cuts one file.
fn prepare(found: &Found, known: Option<&KnownNote>, recut: bool, options: &SyncOptions<'_>) -> Outcome {
    let bytes = match std::fs::read(&found.absolute) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Outcome::Gone(found.path.clone());
        }
        Err(error) => return Outcome::Unreadable(unreadable(found, &error), known.is_none()),
    };
    let mut found = found.clone();
    if options.now_ns.is_some_and(|now| is_racy(&found.stat, now)) {
        // No file has this time stamp, so the next sync looks into it again. The time of the last change is not touched: notes
        // may be of its day.
        found.stat.ctime_ns = i64::MIN;
    }
    let hash = short_hash(&bytes);
    if let Some(known) = known
        && !recut
        && known.hash == hash
        && known.curated == found.curated
        && known.source == found.source as u8
    {
        return Outcome::Same(known.id, found.stat);
    }
    let known = known.is_some();
    let note = decode(bytes);
    let mut chunks = chunk(&note.text, found.curated, options.chunking);
    if chunks.is_empty() {
        chunks.extend(headings_only(&note.text));
    }
    let chunks = chunks
        .into_iter()
        .map(|chunk| {
            let hash =
                short_hash(embedded_text(&chunk.context, &note.text[chunk.start..chunk.end]).as_bytes());
            (chunk, hash)
        })
        .collect();
    let mut warning = Vec::new();
    if note.decoding == Decoding::Lenient {
        warning.push("not UTF-8: read leniently, some characters may be wrong".to_owned());
    }
    if found.curated {
        warning.extend(
            annotations(&note.text, true)
                .junk
                .iter()
                .map(|mark| format!("importance `{mark}` is not 1..10: ignored")),
        );
    }
    let warning = (!warning.is_empty()).then(|| warning.join("; "));
    Outcome::Note(Box::new(PreparedNote { found, hash, text: note.text, chunks, warning, known }))
}

/// The one chunk of a note that is all headings: its words are a context without a text, so they are found but never
/// embedded.
fn headings_only(text: &str) -> Option<Chunk> {
    let text = text.trim_end();
    let start = text.len() - text.trim_start().len();
    let mut end = text.len().min(start + MOST_HEADINGS);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let lines = |text: &str| text.matches('\n').count();
    (start < end).then(|| Chunk {
        start: end,
        end,
        first_line: 1 + lines(&text[..start]),
        last_line: 1 + lines(&text[..end]),
        context: text[start..end].to_owned(),
        importance: None,
        triggers: Vec::new(),
        project: None,
    })
}

fn short_hash(bytes: &[u8]) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    short
}

/// Takes prepared notes off the queue and writes them, a transaction for every [`BATCH_BYTES`].
fn write_all(
    store: &Store,
    mut lexical: Option<&mut Lexical>,
    receiver: &mpsc::Receiver<Outcome>,
    plan: &Plan,
    options: &SyncOptions<'_>,
    report: &mut SyncReport,
) -> Result<()> {
    let mut done = 0;
    let mut gone = plan.remove.as_slice();
    loop {
        let mut removed = Vec::new();
        let more = store.write(|store, generation| {
            for path in std::mem::take(&mut gone) {
                store.remove_note(path, generation, &mut removed)?;
                report.removed.push(path.clone());
            }
            let mut bytes = 0;
            while bytes < BATCH_BYTES {
                let Ok(outcome) = receiver.recv() else { return Ok(false) };
                done += 1;
                match outcome {
                    Outcome::Same(id, stat) => store.restat_note(id, stat)?,
                    Outcome::Gone(path) => {
                        if store.remove_note(&path, generation, &mut removed)? {
                            report.removed.push(path);
                        }
                    }
                    Outcome::Unreadable(skipped, new) => report.leave_out(skipped, new),
                    Outcome::Note(note) => {
                        bytes += note.text.len();
                        let known =
                            note.known && store.remove_note(&note.found.path, generation, &mut removed)?;
                        let ids = store.add_note(&note)?;
                        // Handed on before this transaction ends, published after: both work at once.
                        if let Some(lexical) = lexical.as_deref_mut() {
                            add_lexically(lexical, &ids, &note)?;
                        }
                        if known { &mut report.changed } else { &mut report.added }
                            .push(note.found.path.clone());
                        report.changed_bytes += note.found.stat.size;
                    }
                }
                if options.progress.is_some_and(|progress| !progress("read", done, plan.read.len())) {
                    // What was read so far is committed before the caller hears of it.
                    report.interrupted = true;
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        if let Some(lexical) = lexical.as_deref_mut() {
            lexical.remove(&removed)?;
        }
        if !more {
            return Ok(());
        }
    }
}

fn add_lexically(lexical: &mut Lexical, ids: &[u64], note: &PreparedNote) -> Result<()> {
    let texts: Vec<_> =
        note.chunks.iter().map(|(chunk, _)| plain(&note.text[chunk.start..chunk.end])).collect();
    let batch: Vec<LexicalChunk<'_>> = ids
        .iter()
        .zip(&note.chunks)
        .zip(&texts)
        .map(|((&id, (chunk, _)), text)| LexicalChunk {
            id,
            text,
            context: &chunk.context,
            path: &note.found.path,
            facts: facts_of(&note.found.path, note.found.source as u8, chunk.importance, chunk.first_line),
        })
        .collect();
    lexical.add(&batch)
}
