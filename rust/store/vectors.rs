//! Vectors by content under a fingerprint: the embedding cache and the exact vectors are one thing.

use rusqlite::{OptionalExtension, params};

use super::{Changed, Named, Store};
use crate::error::Result;
use crate::vector::Vectors;

/// Bits of an embedding's key that hold the content; the fingerprint's number stands above them.
const CONTENT_BITS: u32 = 40;

/// The selected fingerprint: its number and the length of its vectors, once known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// Row id.
    pub id: i64,
    /// Length of a vector.
    pub dims: Option<usize>,
}

impl Selected {
    fn base(self) -> i64 {
        self.id << CONTENT_BITS
    }
    fn range(self) -> (i64, i64) {
        (self.base(), self.base() + (1 << CONTENT_BITS))
    }
}

impl Store {
    /// The fingerprint's row, made when `create`.
    pub fn fingerprint(&self, name: &str, create: bool) -> Result<Option<Selected>> {
        if create {
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO fingerprint(name) VALUES(?1)")
                .and_then(|mut statement| statement.execute([name]))
                .named(&self.path)?;
        }
        self.connection
            .prepare_cached("SELECT id, dims FROM fingerprint WHERE name = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([name], |row| {
                        Ok(Selected {
                            id: row.get(0)?,
                            dims: row.get::<_, Option<i64>>(1)?.map(|dims| dims as usize),
                        })
                    })
                    .optional()
            })
            .named(&self.path)
    }

    /// Every fingerprint that has vectors: name, dims, vectors.
    pub fn fingerprints(&self) -> Result<Vec<(String, Option<usize>, usize)>> {
        let sql = "SELECT name, dims, (SELECT count(*) FROM embedding WHERE key >= f.id << ?1 AND key < (f.id + 1) << ?1)
                   FROM fingerprint f ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([CONTENT_BITS], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, Option<i64>>(1)?.map(|dims| dims as usize),
                row.get::<_, i64>(2)? as usize,
            ))
        });
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Sets the length of a fingerprint's vectors; within [`Store::write`].
    pub fn set_dims(&self, selected: Selected, dims: usize) -> Result<()> {
        self.connection
            .execute("UPDATE fingerprint SET dims = ?2 WHERE id = ?1", params![selected.id, dims as i64])
            .named(&self.path)
            .map(drop)
    }

    /// Up to `limit` distinct contents of live chunks above chunk id `after` without a vector or a refusal, in note order:
    /// `(chunk id, content, hash, context, text)`.
    #[allow(clippy::type_complexity, reason = "one row, read at once by its two callers")]
    pub fn pending(
        &self,
        selected: Selected,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, i64, [u8; 16], String, String)>> {
        let sql = "SELECT c.id, c.content, (SELECT hash FROM content WHERE content.id = c.content), c.context, c.text
                   FROM chunk c WHERE c.id > ?1 AND c.start < c.end
                   AND NOT EXISTS(SELECT 1 FROM embedding WHERE key = ?2 + c.content)
                   AND NOT EXISTS(SELECT 1 FROM refusal WHERE key = ?2 + c.content)
                   ORDER BY c.id LIMIT ?3";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement
            .query_map(
                params![after.max(self.embedded_up_to(selected)?) as i64, selected.base(), limit as i64],
                |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
            )
            .named(&self.path)?;
        rows.collect::<rusqlite::Result<Vec<_>>>().named(&self.path)
    }

    /// How many contents of live chunks have neither a vector nor a refusal, and how many a refusal.
    pub fn pending_counts(&self, selected: Selected) -> Result<(usize, usize)> {
        let sql = "SELECT
            (SELECT count(DISTINCT content) FROM chunk c WHERE c.id > ?3 AND c.start < c.end
             AND NOT EXISTS(SELECT 1 FROM embedding WHERE key = ?1 + c.content)
             AND NOT EXISTS(SELECT 1 FROM refusal WHERE key = ?1 + c.content)),
            (SELECT count(*) FROM refusal WHERE key >= ?1 AND key < ?2
             AND EXISTS(SELECT 1 FROM chunk WHERE content = key - ?1))";
        let (first, end) = selected.range();
        let after = self.embedded_up_to(selected)? as i64;
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([first, end, after], |row| {
                    Ok((row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)? as usize))
                })
            })
            .named(&self.path)
    }

    /// A chunk id up to which every live chunk has a vector or a refusal: where a look for missing ones begins.
    fn embedded_up_to(&self, selected: Selected) -> Result<u64> {
        let known = self.meta(&embedded_key(selected))?;
        Ok(known.and_then(|value| value.parse().ok()).unwrap_or(0))
    }

    /// Moves that place on as far as vectors and refusals reach now; within [`Store::write`].
    pub fn note_progress(&self, selected: Selected) -> Result<()> {
        let before = self.embedded_up_to(selected)?;
        let sql = "SELECT coalesce((SELECT c.id - 1 FROM chunk c WHERE c.id > ?2 AND c.start < c.end
                   AND NOT EXISTS(SELECT 1 FROM embedding WHERE key = ?1 + c.content)
                   AND NOT EXISTS(SELECT 1 FROM refusal WHERE key = ?1 + c.content) ORDER BY c.id LIMIT 1),
                   (SELECT max(id) FROM chunk), 0)";
        let now: i64 = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([selected.base(), before as i64], |row| row.get(0)))
            .named(&self.path)?;
        self.set_meta(&embedded_key(selected), &now.to_string())
    }

    /// Why texts were refused, distinct, with counts.
    pub fn refusals(&self, selected: Selected) -> Result<Vec<(String, usize)>> {
        let sql = "SELECT reason, count(*) FROM refusal WHERE key >= ?1 AND key < ?2 GROUP BY reason ORDER BY 2 DESC";
        let (first, end) = selected.range();
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([first, end], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// The content with this hash.
    pub fn content_of(&self, hash: &[u8]) -> Result<Option<i64>> {
        self.connection
            .prepare_cached("SELECT id FROM content WHERE hash = ?1")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)).optional())
            .named(&self.path)
    }

    /// Stores a vector; within [`Store::write`].
    pub fn put_vector(&self, selected: Selected, content: i64, vector: &[u8], generation: u64) -> Result<()> {
        let key = selected.base() + content;
        self.mark(Changed::Vectors);
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO embedding VALUES(?1, ?2, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![key, generation as i64, vector]))
            .named(&self.path)?;
        self.connection
            .prepare_cached("DELETE FROM refusal WHERE key = ?1")
            .and_then(|mut statement| statement.execute([key]))
            .named(&self.path)
            .map(drop)
    }

    /// Remembers that a content was refused; within [`Store::write`].
    pub fn put_refusal(&self, selected: Selected, content: i64, reason: &str) -> Result<()> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO refusal VALUES(?1, ?2)")
            .and_then(|mut statement| statement.execute(params![selected.base() + content, reason]))
            .named(&self.path)
            .map(drop)
    }

    /// Forgets all refusals of a fingerprint; within [`Store::write`].
    pub fn clear_refusals(&self, selected: Selected) -> Result<usize> {
        let (first, end) = selected.range();
        self.set_meta(&embedded_key(selected), "0")?;
        self.connection
            .execute("DELETE FROM refusal WHERE key >= ?1 AND key < ?2", [first, end])
            .named(&self.path)
    }

    /// Calls `sink(chunk id, vector)` for every live chunk with a vector of the fingerprint; only those above chunk id
    /// `after` or embedded after generation `since`, when these are given.
    pub fn each_vector(
        &self,
        selected: Selected,
        delta: Option<(u64, u64)>,
        sink: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (first, end) = selected.range();
        let mut run = |sql: &str, values: &[i64]| -> Result<()> {
            let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
            let mut rows = statement.query(rusqlite::params_from_iter(values)).named(&self.path)?;
            while let Some(row) = rows.next().named(&self.path)? {
                let id: i64 = row.get(0).named(&self.path)?;
                let vector = row
                    .get_ref(1)
                    .named(&self.path)?
                    .as_blob()
                    .map_err(rusqlite::Error::from)
                    .named(&self.path)?;
                sink(id as u64, vector)?;
            }
            Ok(())
        };
        match delta {
            None => run(
                "SELECT c.id, e.vector FROM embedding e JOIN chunk c ON c.content = e.key - ?1
                 WHERE e.key >= ?1 AND e.key < ?2",
                &[first, end],
            ),
            Some((after, since)) => {
                run(
                    "SELECT c.id, e.vector FROM chunk c JOIN embedding e ON e.key = ?1 + c.content WHERE c.id > ?2",
                    &[first, after as i64],
                )?;
                run(
                    // The sign keeps SQLite from walking all keys instead of the few of the last generations.
                    "SELECT c.id, e.vector FROM embedding e JOIN chunk c ON c.content = e.key - ?1
                     WHERE e.generation > ?4 AND +e.key >= ?1 AND +e.key < ?2 AND c.id <= ?3",
                    &[first, end, after as i64, since as i64],
                )
            }
        }
    }

    /// Live chunks with a vector of the fingerprint.
    pub fn vector_count(&self, selected: Selected) -> Result<usize> {
        self.connection
            .prepare_cached("SELECT count(*) FROM chunk c JOIN embedding e ON e.key = ?1 + c.content")
            .and_then(|mut statement| statement.query_row([selected.base()], |row| row.get::<_, i64>(0)))
            .map(|count| count as usize)
            .named(&self.path)
    }

    /// Vectors of any fingerprint, those that no live chunk needs included.
    pub fn cache_count(&self) -> Result<usize> {
        self.one::<i64>("SELECT count(*) FROM embedding").map(|count| count as usize)
    }

    /// Marks the vectors of live chunks as used now; within [`Store::write`].
    pub fn touch_vectors(&self, selected: Selected, generation: u64) -> Result<()> {
        let (first, end) = selected.range();
        self.connection
            .execute(
                "UPDATE embedding SET used = ?3 WHERE key >= ?1 AND key < ?2
                 AND EXISTS(SELECT 1 FROM chunk WHERE content = key - ?1)",
                params![first, end, generation as i64],
            )
            .named(&self.path)
            .map(drop)
    }

    /// Drops vectors that no live chunk needs, least recently used first, until `max_entries` are left (or only live ones
    /// are); within [`Store::write`]. How many.
    pub fn trim_cache(&self, max_entries: usize) -> Result<usize> {
        let surplus = self.cache_count()?.saturating_sub(max_entries);
        if surplus == 0 {
            return Ok(0);
        }
        let mask = (1_i64 << CONTENT_BITS) - 1;
        let dropped = self
            .connection
            .execute(
                "DELETE FROM embedding WHERE key IN (SELECT key FROM embedding
                 WHERE NOT EXISTS(SELECT 1 FROM chunk WHERE content = key & ?1) ORDER BY used, key LIMIT ?2)",
                params![mask, surplus as i64],
            )
            .named(&self.path)?;
        self.connection
            .execute(
                "DELETE FROM content WHERE NOT EXISTS(SELECT 1 FROM chunk WHERE content = content.id)
                 AND NOT EXISTS(SELECT 1 FROM embedding WHERE key & ?1 = content.id)",
                [mask],
            )
            .named(&self.path)?;
        Ok(dropped)
    }
}

fn embedded_key(selected: Selected) -> String {
    format!("embedded {}", selected.id)
}

/// A store's exact vectors under one fingerprint.
pub struct StoreVectors<'a> {
    /// The connection, inside a read snapshot.
    pub store: &'a Store,
    /// The fingerprint.
    pub selected: Selected,
}

impl Vectors for StoreVectors<'_> {
    fn vectors(&self, ids: &[u64], sink: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        let path = &self.store.path;
        let sql = "SELECT e.vector FROM chunk c JOIN embedding e ON e.key = ?2 + c.content WHERE c.id = ?1";
        let mut statement = self.store.connection.prepare_cached(sql).named(path)?;
        for (position, &id) in ids.iter().enumerate() {
            let mut rows = statement.query([id as i64, self.selected.base()]).named(path)?;
            if let Some(row) = rows.next().named(path)? {
                sink(
                    position,
                    row.get_ref(0).named(path)?.as_blob().map_err(rusqlite::Error::from).named(path)?,
                );
            }
        }
        Ok(())
    }
}
