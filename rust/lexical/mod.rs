//! BM25 over chunks: tantivy holds the postings, the score is ours.
//!
//! The index is derived from the store and can be lost at any time: it says which generation of the store it shows, and a
//! damaged one is the same as none. A writer lives from the first change to its commit and takes its threads with it, so
//! that nothing runs in the background and another process can write next.

mod bm25;
mod fields;
mod folder;
mod overlay;
mod vocabulary;
mod words;

use std::path::{Path, PathBuf};

use tantivy::directory::META_LOCK;
use tantivy::indexer::{IndexWriter, IndexWriterOptions, LogMergePolicy};
use tantivy::{Directory as _, Index, IndexSettings, SegmentReader, TantivyError};

use crate::error::{Error, Result};
use crate::text::{ANALYSER_VERSION, QueryTerm};
use bm25::Snapshot;
pub use fields::note_key;
use fields::{Fields, SCHEMA_VERSION};
use folder::Folder;
use overlay::Overlay;

/// Chunks from which on a batch is worth a second thread.
const BULK: usize = 64;
/// Memory of an indexing thread for a few notes (tantivy's minimum) and for many, in bytes.
const SMALL_BUDGET: usize = 15_000_000;
const BULK_BUDGET: usize = 30_000_000;

/// Segments of one size that are merged into one.
const MERGE_SEGMENTS: usize = 8;
/// Segments with fewer chunks count as one size.
const SMALL_SEGMENT: u32 = 256;
/// Share of deleted chunks from which on a segment is written anew.
const DELETED: f32 = 0.3;

/// What is indexed of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct LexicalChunk<'a> {
    /// The chunk's id in the store.
    pub id: u64,
    /// Its text without annotations.
    pub text: &'a str,
    /// Heading path and table header.
    pub context: &'a str,
    /// The note's path.
    pub path: &'a str,
    /// What a ranking needs to know of it.
    pub facts: Facts,
}

/// What a ranking needs to know of a chunk besides its scores, kept beside the postings: reading it from the store for every
/// candidate costs as much as the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// [`crate::scan::Source`] as a number, below 4.
    pub source: u8,
    /// 1..=10.
    pub importance: Option<u8>,
    /// The day in the note's name, days since 1970-01-01.
    pub day: Option<i32>,
    /// First line of the chunk, from 1.
    pub first_line: u32,
}

/// A chunk the lexical side proposes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// Chunk id.
    pub id: u64,
    /// BM25, above 0.
    pub bm25: f32,
    /// It holds a word of the query or a form of it, not only words that resemble one.
    pub held: bool,
}

/// The outcome of one lexical pass; can score any chunk exactly, not only the best ones.
pub trait LexicalPass {
    /// The best `limit` chunks that `keep` accepts, best first, ties by id. It is asked with what chunks of one note have in
    /// common ([`note_key`]) and the chunk's facts.
    fn top(&mut self, limit: usize, keep: &dyn Fn(u64, Facts) -> bool) -> Vec<LexicalHit>;
    /// The same of given chunks; BM25 is 0 for a chunk without any query term.
    fn scores(&mut self, ids: &[u64]) -> Result<Vec<LexicalHit>>;
    /// The words that were looked for: the query's, and those that were taken for a form of one.
    fn words(&self) -> &[String];
    /// The sum of the terms' weighted IDFs, a term that occurs nowhere counted with the highest IDF: what a chunk with every
    /// term at saturation reaches before coverage is added. BM25 / this is in 0..1.4.
    fn ceiling(&self) -> f32;
}

/// The index folder, opened for reading and (under the caller's writer lock) writing.
pub struct Lexical {
    folder: PathBuf,
    fields: Fields,
    /// Whether commits are opened for searching.
    searched: bool,
    current: Option<Current>,
    writer: Option<IndexWriter>,
    /// The segments in the table of words, once that was asked for.
    covered: Option<Vec<[u8; 16]>>,
}

/// A commit, and what is known to have changed since.
struct Current {
    /// Open for reading, if anybody searches here.
    snapshot: Option<Snapshot>,
    overlay: Overlay,
    /// Chunks in the commit.
    chunks: usize,
    /// The store's generation that commit and overlay together show.
    generation: u64,
    /// The file that says which segments count, as it was read.
    meta: Vec<u8>,
}

impl Lexical {
    /// Opens the folder, which need not exist. Damage (checksum, truncation, another schema or analyser) makes it as good as
    /// empty: then [`Lexical::generation`] is `None`, and the first change empties it.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_for(true, folder)
    }

    /// The same for one who only writes: commits are not opened, which is a good part of a small change. [`Lexical::pass`] and
    /// [`Lexical::facts`] find nothing here.
    ///
    /// # Errors
    /// As [`Lexical::open`].
    pub fn open_to_write(folder: &Path) -> Result<Self> {
        Self::open_for(false, folder)
    }

    fn open_for(searched: bool, folder: &Path) -> Result<Self> {
        let folder = folder.to_owned();
        let mut lexical =
            Self { folder, fields: Fields::new().0, searched, current: None, writer: None, covered: None };
        lexical.refresh()?;
        Ok(lexical)
    }

    /// The store generation it shows: that of the commit, or of what it has followed since; `None` when empty or damaged.
    pub fn generation(&self) -> Option<u64> {
        self.current.as_ref().map(|current| current.generation)
    }

    /// Adds chunks (ids never seen before). Visible after [`Lexical::commit`].
    ///
    /// # Errors
    /// When the folder cannot be written to or another process is writing.
    pub fn add(&mut self, chunks: &[LexicalChunk<'_>]) -> Result<()> {
        let fields = self.fields;
        self.write(chunks.len(), |writer| {
            for chunk in chunks {
                writer.add_document(fields.document(chunk))?;
            }
            Ok(())
        })
    }

    /// Removes chunks by id; one that is not there is no error. Visible after [`Lexical::commit`].
    ///
    /// # Errors
    /// As [`Lexical::add`].
    pub fn remove(&mut self, ids: &[u64]) -> Result<()> {
        let id_field = self.fields.id;
        self.write(0, |writer| {
            for &id in ids {
                writer.delete_term(tantivy::Term::from_field_u64(id_field, id));
            }
            Ok(())
        })
    }

    /// Lets later passes see the store at `generation` without a commit: without the `removed` chunks, with the `added` ones,
    /// whose ids are above all others. What was followed is forgotten with the next commit that is seen.
    ///
    /// A pass takes longer by what was followed, and memory holds it: for some hundred chunks.
    pub fn follow(&mut self, removed: &[u64], added: &[LexicalChunk<'_>], generation: u64) {
        let Some(current) = &mut self.current else { return };
        let Some(snapshot) = &current.snapshot else { return };
        removed.iter().for_each(|&id| snapshot.remove(id, &mut current.overlay));
        added.iter().for_each(|chunk| current.overlay.add(chunk));
        current.generation = generation;
    }

    /// Publishes everything added and removed, stamped with the store's generation, and waits until the segments are in order.
    ///
    /// # Errors
    /// As [`Lexical::add`]; what was added and removed is lost then, the commit before stays.
    pub fn commit(&mut self, generation: u64) -> Result<()> {
        self.write(0, |_| Ok(()))?;
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let mut publish = || {
            let mut commit = writer.prepare_commit()?;
            commit.set_payload(&stamp(generation));
            commit.commit()
        };
        publish().map_err(self.failed())?;
        writer.wait_merging_threads().map_err(self.failed())?;
        self.write_words().map_err(self.failed())?;
        self.refresh()?;
        if self.generation() != Some(generation) {
            return Err(Error::Derived {
                path: self.folder.clone(),
                message: "a commit did not reach the disk".to_owned(),
            });
        }
        Ok(())
    }

    /// Brings the table of words in line with the segments when they are far apart.
    fn write_words(&mut self) -> tantivy::Result<()> {
        let covered = self.covered.take().unwrap_or_else(|| vocabulary::covered(&self.folder));
        let index = Index::open(Folder::open(&self.folder)?)?;
        let segments = index.searchable_segments()?;
        let readers = segments.iter().map(SegmentReader::open).collect::<tantivy::Result<Vec<_>>>()?;
        self.covered = Some(vocabulary::write(&self.folder, &readers, self.fields, covered)?);
        Ok(())
    }

    /// Empties the index (before a rebuild) and forgets what was not committed. Searches see the old chunks until
    /// [`Lexical::commit`].
    ///
    /// # Errors
    /// As [`Lexical::add`].
    pub fn clear(&mut self) -> Result<()> {
        self.writer = None;
        self.write(BULK, |writer| writer.delete_all_documents().map(drop))
    }

    /// Looks for a commit by another process; true if the snapshot changed.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn refresh(&mut self) -> Result<bool> {
        let next = match Current::load(&self.folder, self.fields, self.current.as_ref(), self.searched) {
            Ok(Some(next)) => Some(next),
            Ok(None) => return Ok(false),
            Err(error) if is_refusal(&error) => return Err(self.failed()(error)),
            Err(_) => None,
        };
        let changed = next.is_some() || self.current.is_some();
        self.current = next;
        Ok(changed)
    }

    /// What chunks of one note have in common and a live chunk's facts; `None` when it is not indexed.
    pub fn facts(&self, id: u64) -> Option<(u64, Facts)> {
        let current = self.current.as_ref()?;
        current.snapshot.as_ref()?.facts(id, &current.overlay)
    }

    /// Chunks a search sees.
    pub fn len(&self) -> usize {
        self.current.as_ref().map_or(0, |current| (current.chunks as i64 + current.overlay.live) as usize)
    }

    /// No chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Up to `limit` chunks that `keep` accepts (as in [`LexicalPass::top`]), the beginnings of notes before what follows.
    pub fn first(&self, limit: usize, keep: &dyn Fn(u64, Facts) -> bool) -> Vec<u64> {
        let snapshot =
            self.current.as_ref().and_then(|current| Some((current.snapshot.as_ref()?, &current.overlay)));
        snapshot.map_or(Vec::new(), |(snapshot, overlay)| snapshot.first(overlay, limit, keep))
    }

    /// Bits (`1 << source`) of the sources of all chunks, of some that are gone too.
    pub fn sources(&self) -> u8 {
        let snapshot =
            self.current.as_ref().and_then(|current| Some((current.snapshot.as_ref()?, &current.overlay)));
        snapshot.map_or(0, |(snapshot, overlay)| snapshot.sources(overlay))
    }

    /// One pass for the distinct `terms`.
    ///
    /// # Errors
    /// When the postings cannot be read.
    pub fn pass(&self, terms: &[QueryTerm]) -> Result<Box<dyn LexicalPass + '_>> {
        let current = self.current.as_ref();
        match current.and_then(|current| Some((current.snapshot.as_ref()?, &current.overlay))) {
            None => Ok(Box::new(bm25::Nothing::new(terms.len()))),
            Some((snapshot, overlay)) => Ok(Box::new(snapshot.pass(overlay, terms).map_err(self.failed())?)),
        }
    }

    /// Does `change` with the writer, made for about `chunks` more chunks if there is none yet.
    fn write(
        &mut self,
        chunks: usize,
        change: impl FnOnce(&IndexWriter) -> tantivy::Result<()>,
    ) -> Result<()> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.make_writer(chunks)?,
        };
        change(&writer).map_err(self.failed())?;
        self.writer = Some(writer);
        Ok(())
    }

    fn make_writer(&mut self, chunks: usize) -> Result<IndexWriter> {
        // Another process may have written since: its segments must be known, or they would be taken for litter.
        self.refresh()?;
        let bulk = self.is_empty() || chunks >= BULK;
        let make = || {
            let index = if self.current.is_some() {
                Index::open(Folder::open(&self.folder)?)?
            } else {
                folder::make(&self.folder)?;
                folder::empty(&self.folder)?;
                Index::create(Folder::open(&self.folder)?, Fields::new().1, IndexSettings::default())?
            };
            fields::register(&index);
            let options = IndexWriterOptions::builder()
                .num_worker_threads(if bulk { 2 } else { 1 })
                .memory_budget_per_thread(if bulk { BULK_BUDGET } else { SMALL_BUDGET })
                .num_merge_threads(1)
                .build();
            let writer: IndexWriter = index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(MERGE_SEGMENTS);
            policy.set_min_layer_size(SMALL_SEGMENT);
            policy.set_del_docs_ratio_before_merge(DELETED);
            writer.set_merge_policy(Box::new(policy));
            Ok(writer)
        };
        make().map_err(self.failed())
    }

    fn failed(&self) -> impl Fn(TantivyError) -> Error + use<> {
        let path = self.folder.clone();
        move |error| Error::Derived { path: path.clone(), message: error.to_string() }
    }
}

impl Current {
    /// The newest commit in `folder`; `None` if `before` shows it already.
    fn load(
        path: &Path,
        fields: Fields,
        before: Option<&Self>,
        searched: bool,
    ) -> tantivy::Result<Option<Self>> {
        let folder = Folder::open(path)?;
        let index = Index::open(folder.clone())?;
        // As long as it is held no writer deletes the segments we are about to open.
        let lock = folder.acquire_lock(&META_LOCK)?;
        let meta = folder.atomic_read(Path::new(folder::META))?;
        if before.is_some_and(|before| before.meta == meta) {
            return Ok(None);
        }
        let damaged = |what: &str| TantivyError::InternalError(what.to_owned());
        let metas = index.load_metas()?;
        let generation = metas.payload.as_deref().and_then(generation);
        let generation = generation.ok_or_else(|| damaged("of another version"))?;
        if index.schema() != Fields::new().1 {
            return Err(damaged("another schema"));
        }
        // What this process has seen whole stays mapped; only a first look can meet damage.
        if before.is_none() && !folder::verify(&folder, &index)? {
            return Err(damaged("a checksum is wrong"));
        }
        let open = || {
            let segments = index.searchable_segments()?;
            let readers = segments.iter().map(SegmentReader::open).collect::<tantivy::Result<Vec<_>>>()?;
            Snapshot::new(path, readers, fields, before.and_then(|before| before.snapshot.as_ref()))
        };
        let snapshot = if searched { Some(open()?) } else { None };
        let chunks = metas.segments.iter().map(|segment| segment.num_docs() as usize).sum();
        if folder.atomic_read(Path::new(folder::META))? != meta {
            // A commit came in between, so that the generation may be older than the segments.
            drop(lock);
            return Self::load(path, fields, before, searched);
        }
        let overlay = snapshot.as_ref().map(Snapshot::overlay).unwrap_or_default();
        Ok(Some(Self { snapshot, overlay, chunks, generation, meta }))
    }
}

/// Whether the system refused to let us read, which is no damage.
fn is_refusal(error: &TantivyError) -> bool {
    use tantivy::directory::error::{OpenDirectoryError, OpenReadError};
    let error = match error {
        TantivyError::IoError(error) => error,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => io_error,
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => io_error,
        _ => return false,
    };
    error.kind() == std::io::ErrorKind::PermissionDenied
}

/// What a commit carries: whose it is, what its terms look like, what it shows.
fn stamp(generation: u64) -> String {
    format!("memgrep {SCHEMA_VERSION} {ANALYSER_VERSION} {generation}")
}

/// The generation in a stamp of this version.
fn generation(payload: &str) -> Option<u64> {
    let generation = payload.rsplit(' ').next()?.parse().ok()?;
    (stamp(generation) == payload).then_some(generation)
}

#[cfg(test)]
mod tests;
