//! What the index says about itself; never writes.

use std::path::Path;

use super::derived::follow;
use super::{Engine, Index, beside, unpoisoned};
use crate::error::Result;
use crate::lexical::Lexical;
use crate::store::Store;
use crate::vector::exact::Exact;

/// Counts, sizes and state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Notes in the store.
    pub notes: usize,
    /// Chunks in the store.
    pub chunks: usize,
    /// Chunks with a vector of the selected fingerprint.
    pub vectors: usize,
    /// Texts without one.
    pub pending: usize,
    /// Texts that were refused.
    pub failed: usize,
    /// Why, with counts.
    pub failures: Vec<(String, usize)>,
    /// Number of the last commit.
    pub generation: u64,
    /// Length of the selected fingerprint's vectors.
    pub dims: Option<usize>,
    /// Every fingerprint: name, length, vectors kept.
    pub fingerprints: Vec<(String, Option<usize>, usize)>,
    /// `exact` or `vec0`.
    pub engine: &'static str,
    /// Bytes on disk: store, lexical index, vector file.
    pub bytes: (u64, u64, u64),
    /// Vectors of any fingerprint.
    pub cached: usize,
    /// When the last sync ended, nanoseconds since 1970.
    pub last_sync_ns: Option<i64>,
    /// `(path, warning)` of notes that have one.
    pub warnings: Vec<(String, String)>,
}

impl Index {
    /// Counts, sizes and state; all zero when there is no store yet.
    pub fn status(&self) -> Result<Status> {
        let status = self.read(|store| {
            let selected = self.selected_or_new(store)?;
            let (pending, failed) = selected.map_or(Ok((0, 0)), |selected| store.pending_counts(selected))?;
            Ok(Status {
                notes: store.note_count()?,
                chunks: store.chunk_count()?,
                vectors: selected.map_or(Ok(0), |selected| store.vector_count(selected))?,
                pending,
                failed,
                failures: selected.map_or(Ok(Vec::new()), |selected| store.refusals(selected))?,
                generation: store.generation()?,
                dims: selected.and_then(|selected| selected.dims),
                fingerprints: store.fingerprints()?,
                engine: match self.engine {
                    Engine::Exact => "exact",
                    Engine::Vec0 => "vec0",
                },
                bytes: self.sizes(),
                cached: store.cache_count()?,
                last_sync_ns: store.meta("last_sync_ns")?.and_then(|value| value.parse().ok()),
                warnings: store.warnings()?,
            })
        })?;
        Ok(status.unwrap_or_default())
    }

    /// `(path, source, chunks)` of every indexed note.
    pub fn notes(&self) -> Result<Vec<(String, u8, usize)>> {
        Ok(self.read(Store::note_list)?.unwrap_or_default())
    }

    /// A line for everything that is wrong with the store or a derived index; empty when all is well.
    pub fn verify(&self) -> Result<Vec<String>> {
        let lines = self.read(|store| {
            let mut lines = store.check()?;
            let mut lexical = Lexical::open(&beside(&self.path, "lexical"))?;
            if !follow(store, &mut lexical, store.text_generation()?)? && store.has_chunks()? {
                lines.push(
                    "the keyword index is behind the store or missing; `memgrep index` brings it up".into(),
                );
            } else if lexical.len() != store.chunk_count()? {
                lines.push(format!(
                    "the keyword index has {} chunks, the store {}",
                    lexical.len(),
                    store.chunk_count()?
                ));
            }
            let name = unpoisoned(self.fingerprint.lock()).clone();
            let file = beside(&self.path, "vectors");
            if let Some(name) = name.filter(|_| file.exists())
                && let Err(reason) = Exact::load(&file, &name)
            {
                lines.push(format!("the vector file is not usable ({reason}); it is made anew when needed"));
            }
            Ok(lines)
        })?;
        Ok(lines.unwrap_or_default())
    }

    fn sizes(&self) -> (u64, u64, u64) {
        let file = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        let folder = beside(&self.path, "lexical");
        let lexical = std::fs::read_dir(folder)
            .map(|entries| {
                entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
            })
            .unwrap_or(0);
        (file(&self.path), lexical, file(&beside(&self.path, "vectors")))
    }
}
