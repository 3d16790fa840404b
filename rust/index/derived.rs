//! The derived indexes as a search sees them, and how they catch up with the store.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Index, beside, unpoisoned};
use crate::error::Result;
use crate::lexical::{Facts, Lexical, LexicalChunk, note_key};
use crate::note::plain;
use crate::rank::decay::dated;
use crate::scan::PathPattern;
use crate::store::{Delta, Named, Selected, Store, StoredChunk};
use crate::vector::exact::Exact;
use crate::vector::rows::Rows;
use crate::vector::vec0::Vec0;
use crate::vector::{Spread, VectorHit, VectorIndex, Vectors, unpack};

/// Chunks handed to the lexical index at once when it is filled from the store.
const FILL_BATCH: usize = 2048;
/// A commit of the lexical index is written when it lags by more changes than this; a smaller lag is followed in memory by
/// whoever searches.
const COMMIT_LAG: usize = 128;
/// The most changes that a search follows in memory when nobody has committed them yet.
const MOST_FOLLOWED: usize = 2048;
/// The vector file is written anew when it lags by more changes than this; a smaller lag is replayed at opening.
const FILE_LAG: usize = 512;
/// Word sets kept for MMR; when full, all are dropped.
const WORD_SETS: usize = 4096;

/// Which engine answers for vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// int8 scan in memory, kept in a file beside the store.
    #[default]
    Exact,
    /// sqlite-vec.
    Vec0,
}

/// What a search reads besides the store.
pub struct Derived {
    pub(super) lexical: Option<Lexical>,
    lexical_folder: PathBuf,
    pub(super) vectors: Option<VectorState>,
    vector_file: PathBuf,
    row_file: PathBuf,
    engine: Engine,
    /// Chunks never change and no id is used twice, so what was read once stays true.
    words: Mutex<FxHashMap<u64, Vec<u64>>>,
    /// The notes a pattern was asked for last.
    below: Mutex<Option<Below>>,
}

/// The keys of the notes whose paths a pattern matches, at a generation of the text.
struct Below {
    generation: u64,
    pattern: String,
    notes: Arc<FxHashSet<u64>>,
}

/// The vector index of one fingerprint.
pub(super) struct VectorState {
    fingerprint: String,
    generation: u64,
    /// Generation of the file beside the store, as this process knows it.
    on_disk: Option<u64>,
    pub(super) index: Built,
    /// The exact vectors, mapped; behind the store at times, never wrong.
    pub(super) rows: Option<Rows>,
}

/// An engine with its vectors.
pub(super) enum Built {
    Exact(Box<Exact>),
    /// One connection answers one question at a time.
    Vec0(Box<Mutex<Vec0>>),
}

impl Built {
    fn new(engine: Engine, dims: usize, fingerprint: &str) -> Result<Self> {
        Ok(match engine {
            Engine::Exact => Self::Exact(Box::new(Exact::new(dims)?)),
            Engine::Vec0 => {
                let memory = rusqlite::Connection::open_in_memory().named(Path::new(":memory:"))?;
                Self::Vec0(Box::new(Mutex::new(Vec0::open(memory, dims, fingerprint)?)))
            }
        })
    }

    fn with<T>(&self, work: impl FnOnce(&dyn VectorIndex) -> T) -> T {
        match self {
            Self::Exact(exact) => work(exact.as_ref()),
            Self::Vec0(vec0) => work(&*unpoisoned(vec0.lock())),
        }
    }

    fn as_mut(&mut self) -> &mut dyn VectorIndex {
        match self {
            Self::Exact(exact) => exact.as_mut(),
            Self::Vec0(vec0) => {
                let vec0: &mut Vec0 = unpoisoned(vec0.get_mut());
                vec0
            }
        }
    }

    pub(super) fn nearest(
        &self,
        query: &[f32],
        limit: usize,
        keep: &dyn Fn(u64) -> bool,
        exact: &dyn Vectors,
    ) -> Result<(Vec<VectorHit>, Spread)> {
        self.with(|index| index.nearest(query, limit, keep, exact))
    }

    pub(super) fn len(&self) -> usize {
        self.with(|index| index.len())
    }

    pub(super) fn dims(&self) -> usize {
        self.with(|index| index.dims())
    }
}

impl Derived {
    pub(super) fn new(store: &Path, engine: Engine) -> Self {
        Self {
            lexical: None,
            lexical_folder: beside(store, "lexical"),
            vectors: None,
            vector_file: beside(store, "vectors"),
            row_file: beside(store, "rows"),
            engine,
            words: Mutex::default(),
            below: Mutex::default(),
        }
    }

    /// The folder of the lexical index and the file of the vectors.
    pub fn paths(&self) -> [&Path; 2] {
        [&self.lexical_folder, &self.vector_file]
    }

    /// Whether a search at `generation` under `fingerprint` needs nothing done first.
    pub(super) fn is_current(
        &self,
        generation: u64,
        text_generation: u64,
        fingerprint: Option<&str>,
    ) -> bool {
        let lexical = self.lexical.as_ref().and_then(Lexical::generation) == Some(text_generation);
        let vectors = match (&self.vectors, fingerprint) {
            (_, None) => true,
            (Some(state), Some(name)) => state.fingerprint == name && state.generation == generation,
            (None, Some(_)) => false,
        };
        lexical && vectors
    }

    /// Looks for what other processes published; never writes.
    pub(super) fn look(&mut self) -> Result<()> {
        match &mut self.lexical {
            Some(lexical) => {
                lexical.refresh()?;
            }
            None => self.lexical = Some(Lexical::open(&self.lexical_folder)?),
        }
        Ok(())
    }

    /// As [`follow`], for what searches read.
    pub(super) fn follow(&mut self, store: &Store, text_generation: u64) -> Result<bool> {
        self.lexical.as_mut().map_or(Ok(false), |lexical| follow(store, lexical, text_generation))
    }

    /// Brings the vectors of the fingerprint to `generation` in memory: from the file, by replay, or from the store.
    pub(super) fn load_vectors(
        &mut self,
        store: &Store,
        generation: u64,
        chosen: Option<(&str, Selected)>,
    ) -> Result<()> {
        let Some((name, selected)) = chosen else {
            self.vectors = None;
            return Ok(());
        };
        let Some(dims) = selected.dims else {
            self.vectors = None;
            return Ok(());
        };
        let mut state = match self.vectors.take() {
            Some(state) if state.fingerprint == name && state.index.dims() == dims => state,
            _ => self.open_vectors(name, dims)?,
        };
        match store.delta(Some(state.generation).filter(|&at| at > 0))? {
            _ if state.generation == generation => {}
            Delta::Replay { after, removed } if state.generation < generation => {
                let index = state.index.as_mut();
                index.remove(&removed)?;
                fill_vectors(store, selected, Some((after, state.generation)), index)?;
            }
            Delta::Rebuild | Delta::Replay { .. } => {
                state.index = Built::new(self.engine, dims, name)?;
                state.on_disk = None;
                fill_vectors(store, selected, None, state.index.as_mut())?;
            }
        }
        state.generation = generation;
        self.vectors = Some(state);
        Ok(())
    }

    fn open_vectors(&self, name: &str, dims: usize) -> Result<VectorState> {
        let fingerprint = name.to_owned();
        let rows = Rows::open(&self.row_file, name, dims);
        // A file that is missing, damaged, or of another model is as good as none: the store has the vectors.
        if self.engine == Engine::Exact
            && let Ok((index, generation)) = Exact::load(&self.vector_file, name)
            && index.dims() == dims
        {
            let index = Built::Exact(Box::new(index));
            return Ok(VectorState { fingerprint, generation, on_disk: Some(generation), index, rows });
        }
        let index = Built::new(self.engine, dims, name)?;
        Ok(VectorState { fingerprint, generation: 0, on_disk: None, index, rows })
    }

    /// Writes the vector file when it lags far behind; the caller holds the writer lock.
    fn save_vectors(&mut self, store: &Store, selected: Selected) -> Result<()> {
        let Some(state) = &mut self.vectors else { return Ok(()) };
        let Built::Exact(exact) = &state.index else { return Ok(()) };
        let lag = match store.delta(state.on_disk)? {
            Delta::Rebuild => usize::MAX,
            Delta::Replay { after, removed } => {
                let mut changed = removed.len();
                let since = Some((after, state.on_disk.unwrap_or(0)));
                store.each_vector(selected, since, &mut |_, _| {
                    changed += 1;
                    Ok(())
                })?;
                changed
            }
        };
        if lag > FILE_LAG {
            let mut chunks = Vec::with_capacity(exact.len());
            store.each_vector(selected, None, &mut |id, row| {
                chunks.push((id, row.to_vec()));
                Ok(())
            })?;
            let dims = exact.dims();
            chunks.retain(|(_, row)| row.len() == dims * 4);
            chunks.sort_unstable_by_key(|(id, _)| *id);
            Rows::save(&self.row_file, &state.fingerprint, dims, &chunks)?;
            exact.save(&self.vector_file, &state.fingerprint, state.generation)?;
            state.on_disk = Some(state.generation);
            state.rows = Rows::open(&self.row_file, &state.fingerprint, dims);
        }
        Ok(())
    }

    /// The keys of the notes whose paths `pattern` matches, asked of the store once a generation.
    pub(super) fn notes_below(&self, store: &Store, pattern: &str) -> Result<Arc<FxHashSet<u64>>> {
        let generation = store.text_generation()?;
        let mut kept = unpoisoned(self.below.lock());
        if let Some(known) = kept.as_ref()
            && (known.generation, known.pattern.as_str()) == (generation, pattern)
        {
            return Ok(Arc::clone(&known.notes));
        }
        let wanted = PathPattern::new(pattern)?;
        let paths = store.paths()?;
        let notes = paths.iter().filter(|path| wanted.matches(path)).map(|path| note_key(path)).collect();
        let notes = Arc::new(notes);
        *kept = Some(Below { generation, pattern: pattern.to_owned(), notes: Arc::clone(&notes) });
        Ok(notes)
    }

    /// A chunk's word set for MMR.
    pub(super) fn words(&self, store: &Store, id: u64) -> Result<Vec<u64>> {
        if let Some(words) = unpoisoned(self.words.lock()).get(&id) {
            return Ok(words.clone());
        }
        let text = store.text(id)?.map(|(text, _)| text).unwrap_or_default();
        let words = crate::text::token_set(&plain(&text));
        let mut kept = unpoisoned(self.words.lock());
        if kept.len() >= WORD_SETS {
            kept.clear();
        }
        kept.insert(id, words.clone());
        Ok(words)
    }
}

fn fill_vectors(
    store: &Store,
    selected: Selected,
    since: Option<(u64, u64)>,
    index: &mut dyn VectorIndex,
) -> Result<()> {
    let dims = index.dims();
    let (mut ids, mut vectors, mut known) = (Vec::new(), Vec::new(), FxHashSet::default());
    store.each_vector(selected, since, &mut |id, bytes| {
        // A row of another length is damage: that chunk is found by words until it is embedded again.
        if bytes.len() == dims * 4 && known.insert(id) {
            ids.push(id);
            vectors.extend(unpack(bytes).unwrap_or_default());
        }
        Ok(())
    })?;
    index.add(&ids, &vectors)
}

/// What the lexical index keeps of a chunk for the ranking.
pub(super) fn facts_of(path: &str, source: u8, importance: Option<u8>, first_line: usize) -> Facts {
    Facts { source, importance, day: dated(path).map(|day| day as i32), first_line: first_line as u32 }
}

/// Brings the lexical index in line with the store; the caller holds the writer lock.
pub(super) fn catch_up_lexical(store: &Store, lexical: &mut Lexical) -> Result<()> {
    let generation = store.text_generation()?;
    if lexical.generation() == Some(generation) {
        return Ok(());
    }
    let mut after = match store.delta(lexical.generation())? {
        Delta::Replay { after, removed } => {
            lexical.remove(&removed)?;
            after
        }
        Delta::Rebuild => {
            lexical.clear()?;
            0
        }
    };
    loop {
        let chunks = store.chunks_after(after, FILL_BATCH)?;
        let Some(last) = chunks.last() else { break };
        after = last.id;
        with_lexical(&chunks, |batch| lexical.add(batch))?;
    }
    lexical.commit(generation)
}

/// The same unless the lag is small: then searches follow it in memory, and a commit waits until it is worth its time.
pub(super) fn catch_up_if_far(store: &Store, lexical: &mut Lexical) -> Result<()> {
    match lag(store, lexical, store.text_generation()?)? {
        Some((_, _, lag)) if lag <= COMMIT_LAG => Ok(()),
        _ => catch_up_lexical(store, lexical),
    }
}

/// Follows in memory what changed since `lexical` was committed; false if that is too much.
pub(super) fn follow(store: &Store, lexical: &mut Lexical, text_generation: u64) -> Result<bool> {
    let Some((after, removed, lag)) = lag(store, lexical, text_generation)? else { return Ok(false) };
    if lag > MOST_FOLLOWED {
        return Ok(false);
    }
    let chunks = store.chunks_after(after, lag)?;
    with_lexical(&chunks, |batch| lexical.follow(&removed, batch, text_generation));
    Ok(true)
}

/// What changed since `lexical`: the last chunk it knows, chunks that went, and how many changes that makes; `None` when that
/// cannot be told.
fn lag(store: &Store, lexical: &Lexical, text_generation: u64) -> Result<Option<(u64, Vec<u64>, usize)>> {
    let Some(at) = lexical.generation().filter(|&at| at <= text_generation) else { return Ok(None) };
    match store.delta(Some(at))? {
        Delta::Rebuild => Ok(None),
        Delta::Replay { after, removed } => {
            let lag = removed.len() + store.count_after(after)?;
            Ok(Some((after, removed, lag)))
        }
    }
}

/// Hands stored chunks to `work` as the lexical index takes them.
fn with_lexical<T>(chunks: &[StoredChunk], work: impl FnOnce(&[LexicalChunk<'_>]) -> T) -> T {
    let texts: Vec<_> = chunks.iter().map(|chunk| plain(&chunk.text)).collect();
    let batch: Vec<LexicalChunk<'_>> = chunks
        .iter()
        .zip(&texts)
        .map(|(chunk, text)| LexicalChunk {
            id: chunk.id,
            text,
            context: &chunk.context,
            path: &chunk.path,
            facts: facts_of(&chunk.path, chunk.source, chunk.importance, chunk.first_line),
        })
        .collect();
    work(&batch)
}

impl Index {
    /// Brings the derived indexes in line with the store; the generation they stand at.
    pub fn publish(&self, wait_ms: u64) -> Result<u64> {
        let mut guard = self.write(wait_ms)?;
        let (store, lexical) = guard.parts()?;
        let generation = store.generation()?;
        catch_up_if_far(store, lexical)?;
        self.save_vectors(store, generation)?;
        Ok(generation)
    }

    fn save_vectors(&self, store: &Store, generation: u64) -> Result<()> {
        let Some(name) = unpoisoned(self.fingerprint.lock()).clone() else { return Ok(()) };
        let Some(selected) = store.fingerprint(&name, false)? else { return Ok(()) };
        let mut derived = unpoisoned(self.derived.write());
        derived.load_vectors(store, generation, Some((&name, selected)))?;
        derived.save_vectors(store, selected)
    }
}
