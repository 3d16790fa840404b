//! From chunks to vectors: which texts have none, and what became of them.

use rustc_hash::FxHashSet;

use super::{Index, Progress, unpoisoned};
use crate::chunk::embedded_text;
use crate::embed::StaticModel;
use crate::error::{Error, Result};
use crate::store::{Selected, Store};
use crate::vector::check;

/// Texts embedded by the built-in model between two commits.
const EMBED_BATCH: usize = 4096;

impl Index {
    /// Texts of live chunks without a vector of the selected fingerprint: `(hash, text)`, at most `limit`.
    pub fn pending(&self, limit: usize) -> Result<Vec<([u8; 16], String)>> {
        let texts = self.read(|store| {
            let Some(selected) = self.selected_or_new(store)? else { return Ok(Vec::new()) };
            let (mut texts, mut seen, mut after) = (Vec::new(), FxHashSet::default(), 0);
            while texts.len() < limit {
                let rows = store.pending(selected, after, limit - texts.len())?;
                let Some(last) = rows.last() else { break };
                after = last.0;
                for (_, content, hash, context, text) in rows {
                    if seen.insert(content) {
                        texts.push((hash, embedded_text(&context, &text)));
                    }
                }
            }
            Ok(texts)
        })?;
        Ok(texts.unwrap_or_default())
    }

    /// `(without a vector, refused)` of the selected fingerprint.
    pub fn pending_counts(&self) -> Result<(usize, usize)> {
        let counts = self.read(|store| match self.selected_or_new(store)? {
            Some(selected) => store.pending_counts(selected),
            None => Ok((0, 0)),
        })?;
        Ok(counts.unwrap_or_default())
    }

    /// The selected fingerprint, or one that no vector can have when it was never written.
    pub(super) fn selected_or_new(&self, store: &Store) -> Result<Option<Selected>> {
        if unpoisoned(self.fingerprint.lock()).is_none() {
            return Ok(None);
        }
        Ok(Some(self.selected(store)?.unwrap_or(Selected { id: 0, dims: None })))
    }

    /// Stores vectors (row after row) for texts by hash, in one transaction. Unknown hashes are passed over: their text
    /// changed meanwhile.
    pub fn put_vectors(&self, hashes: &[[u8; 16]], vectors: &[f32], dims: usize) -> Result<()> {
        if dims == 0 || vectors.len() != hashes.len() * dims {
            return Err(Error::Argument(format!(
                "{} texts of {dims} dimensions need {} numbers, got {}",
                hashes.len(),
                hashes.len() * dims,
                vectors.len()
            )));
        }
        for vector in vectors.chunks_exact(dims) {
            check(vector, dims)?;
        }
        let guard = self.write(60_000)?;
        let store = guard.store();
        store.write(|store, generation| {
            let selected = self.selected_for_writing(store, dims)?;
            let mut bytes = Vec::with_capacity(dims * 4);
            for (hash, vector) in hashes.iter().zip(vectors.chunks_exact(dims)) {
                let Some(content) = store.content_of(hash)? else { continue };
                bytes.clear();
                bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
                store.put_vector(selected, content, &bytes, generation)?;
            }
            store.note_progress(selected)
        })
    }

    fn selected_for_writing(&self, store: &Store, dims: usize) -> Result<Selected> {
        let name = unpoisoned(self.fingerprint.lock())
            .clone()
            .ok_or_else(|| Error::Argument("no fingerprint is selected".into()))?;
        let selected = store.fingerprint(&name, true)?.expect("made when missing");
        match selected.dims {
            Some(known) if known == dims => {}
            Some(known) => {
                return Err(Error::Argument(format!(
                    "the index holds vectors of {known} dimensions under this model, got {dims}"
                )));
            }
            None => store.set_dims(selected, dims)?,
        }
        Ok(Selected { dims: Some(dims), ..selected })
    }

    /// Remembers that texts were refused: they are not pending again until their text, the fingerprint or the user says so.
    pub fn put_refusals(&self, hashes: &[[u8; 16]], reason: &str) -> Result<()> {
        let name = unpoisoned(self.fingerprint.lock()).clone();
        let Some(name) = name else { return Ok(()) };
        let guard = self.write(60_000)?;
        guard.store().write(|store, _| {
            let selected = store.fingerprint(&name, true)?.expect("made when missing");
            for hash in hashes {
                if let Some(content) = store.content_of(hash)? {
                    store.put_refusal(selected, content, reason)?;
                }
            }
            store.note_progress(selected)
        })
    }

    /// Makes refused texts pending again; how many.
    pub fn retry_refusals(&self) -> Result<usize> {
        let guard = self.write(60_000)?;
        guard.store().write(|store, _| match self.selected(store)? {
            Some(selected) => store.clear_refusals(selected),
            None => Ok(0),
        })
    }

    /// Drops vectors beyond `max_entries` that no live chunk needs, least recently used first; how many.
    pub fn trim_cache(&self, max_entries: usize) -> Result<usize> {
        let surplus = self.read(Store::cache_count)?.unwrap_or(0).saturating_sub(max_entries);
        if surplus == 0 {
            return Ok(0);
        }
        let guard = self.write(60_000)?;
        let dropped = guard.store().write(|store, generation| {
            if let Some(selected) = self.selected(store)? {
                store.touch_vectors(selected, generation)?;
            }
            store.trim_cache(max_entries)
        })?;
        guard.store().give_back_space()?;
        Ok(dropped)
    }

    /// Embeds everything pending with the built-in model; how many vectors that made.
    pub fn embed_pending(&self, model: &StaticModel, progress: Option<&Progress<'_>>) -> Result<usize> {
        let total = self.pending_counts()?.0;
        let (mut done, mut made, dims) = (0, 0, model.dims());
        while done < total {
            let texts = self.pending(EMBED_BATCH)?;
            if texts.is_empty() {
                break;
            }
            let vectors = embed_on_two_threads(model, &texts);
            let (mut hashes, mut rows, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
            for ((hash, _), vector) in texts.iter().zip(vectors) {
                if vector.is_empty() {
                    unknown.push(*hash);
                } else {
                    hashes.push(*hash);
                    rows.extend(vector);
                }
            }
            if !hashes.is_empty() {
                self.put_vectors(&hashes, &rows, dims)?;
                made += hashes.len();
            }
            if !unknown.is_empty() {
                self.put_refusals(&unknown, "no word of it is known to the built-in model")?;
            }
            done += texts.len();
            if progress.is_some_and(|progress| !progress("embed", done, total)) {
                return Err(Error::Interrupted);
            }
        }
        Ok(made)
    }
}

/// One vector per text, empty for a text without a known token.
fn embed_on_two_threads(model: &StaticModel, texts: &[([u8; 16], String)]) -> Vec<Vec<f32>> {
    let one = |(_, text): &([u8; 16], String)| {
        let mut vector = Vec::with_capacity(model.dims());
        if !model.embed(text, &mut vector) {
            vector.clear();
        }
        vector
    };
    let (front, back) = texts.split_at(texts.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| back.iter().map(one).collect::<Vec<_>>());
        let mut vectors: Vec<Vec<f32>> = front.iter().map(one).collect();
        match other.join() {
            Ok(more) => vectors.extend(more),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        vectors
    })
}
