//! Notes and chunks, and what a derived index has to do to follow them.

use rusqlite::{OptionalExtension, params};

use super::{Changed, Named, Store};
use crate::chunk::Chunk;
use crate::error::Result;
use crate::scan::{Found, Source, Stat};

/// A note as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownNote {
    /// Row id.
    pub id: i64,
    /// Its stat when it was read.
    pub stat: Stat,
    /// BLAKE3 of its bytes, 16 bytes.
    pub hash: [u8; 16],
    /// As in [`Found::curated`].
    pub curated: bool,
    /// As in [`Found::source`].
    pub source: u8,
    /// Where it is opened.
    pub absolute: String,
}

impl KnownNote {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            stat: Stat {
                size: row.get::<_, i64>(1)? as u64,
                mtime_ns: row.get(2)?,
                ctime_ns: row.get(3)?,
                inode: row.get::<_, i64>(4)? as u64,
            },
            hash: row.get(5)?,
            curated: row.get(6)?,
            source: row.get(7)?,
            absolute: row.get(8)?,
        })
    }
}

/// A note that was read and cut, ready to be written.
#[derive(Debug)]
pub struct PreparedNote {
    /// The file.
    pub found: Found,
    /// BLAKE3 of its bytes.
    pub hash: [u8; 16],
    /// The decoded text.
    pub text: String,
    /// Its chunks and the hash of what is embedded for each.
    pub chunks: Vec<(Chunk, [u8; 16])>,
    /// What the user should know (lenient decoding, unreadable marks).
    pub warning: Option<String>,
    /// The store holds an older state of it, to be removed first.
    pub known: bool,
}

/// A chunk's place and signals, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkFacts {
    /// The note's row.
    pub note: i64,
    /// The note's path.
    pub path: String,
    /// The note's source.
    pub source: u8,
    /// First line.
    pub first_line: usize,
    /// Last line.
    pub last_line: usize,
    /// Importance, if any.
    pub importance: Option<u8>,
}

/// A stored chunk to be indexed lexically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Row id.
    pub id: u64,
    /// Text, as in the file.
    pub text: String,
    /// Heading path and table header.
    pub context: String,
    /// Path of the note.
    pub path: String,
    /// Source of the note.
    pub source: u8,
    /// Importance, if any.
    pub importance: Option<u8>,
    /// First line.
    pub first_line: usize,
}

/// What a derived index has to do to get from one generation to the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// The log does not reach back so far: fill it anew.
    Rebuild,
    /// Remove these chunks, then add those with an id above `after` (and, for vectors, those embedded since).
    Replay {
        /// Highest chunk id that the derived index has seen.
        after: u64,
        /// Chunks it may hold that are gone.
        removed: Vec<u64>,
    },
}

impl Store {
    /// Every note the store knows, by path.
    pub fn notes(&self) -> Result<rustc_hash::FxHashMap<String, KnownNote>> {
        let sql =
            "SELECT id, size, mtime_ns, ctime_ns, inode, hash, curated, source, absolute, path FROM note";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([], |row| Ok((row.get(9)?, KnownNote::read(row)?)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// What is known of one note.
    pub fn note(&self, path: &str) -> Result<Option<KnownNote>> {
        let sql = "SELECT id, size, mtime_ns, ctime_ns, inode, hash, curated, source, absolute FROM note WHERE path = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([path], KnownNote::read).optional())
            .named(&self.path)
    }

    /// `(path, source, chunks)` of every note, by path.
    pub fn note_list(&self) -> Result<Vec<(String, u8, usize)>> {
        let sql = "SELECT path, source, (SELECT count(*) FROM chunk WHERE chunk.note = note.id) FROM note ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? as usize)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// `(path, warning)` of every note that has one.
    pub fn warnings(&self) -> Result<Vec<(String, String)>> {
        let sql = "SELECT path, warning FROM note WHERE warning IS NOT NULL ORDER BY path";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Adds a note that is not in the store and its chunks; within [`Store::write`]. The ids of the chunks, in order.
    pub fn add_note(&self, note: &PreparedNote) -> Result<Vec<u64>> {
        self.mark(Changed::Text);
        let found = &note.found;
        let sql = "INSERT INTO note(path, absolute, source, curated, size, mtime_ns, ctime_ns, inode, hash, stem, warning)
                   VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let id = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.insert(params![
                    found.path,
                    found.absolute.to_string_lossy(),
                    found.source as u8,
                    found.curated,
                    found.stat.size as i64,
                    found.stat.mtime_ns,
                    found.stat.ctime_ns,
                    found.stat.inode as i64,
                    note.hash,
                    stem_key(&found.path),
                    note.warning,
                ])
            })
            .named(&self.path)?;
        note.chunks.iter().map(|(chunk, hash)| self.insert_chunk(id, note, chunk, hash)).collect()
    }

    fn insert_chunk(
        &self,
        note: i64,
        prepared: &PreparedNote,
        chunk: &Chunk,
        hash: &[u8; 16],
    ) -> Result<u64> {
        let content = self.content(hash)?;
        let sql = "INSERT INTO chunk(note, content, first_line, last_line, start, end, importance, triggers, project,
                   context, text) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        let triggers = (!chunk.triggers.is_empty()).then(|| chunk.triggers.join("; "));
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.insert(params![
                    note,
                    content,
                    chunk.first_line as i64,
                    chunk.last_line as i64,
                    chunk.start as i64,
                    chunk.end as i64,
                    chunk.importance,
                    triggers,
                    chunk.project,
                    chunk.context,
                    &prepared.text[chunk.start..chunk.end],
                ])
            })
            .map(|id| id as u64)
            .named(&self.path)
    }

    fn content(&self, hash: &[u8; 16]) -> Result<i64> {
        let made = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO content(hash) VALUES(?1)")
            .and_then(|mut statement| statement.execute([hash]))
            .named(&self.path)?;
        if made == 1 {
            return Ok(self.connection.last_insert_rowid());
        }
        self.connection
            .prepare_cached("SELECT id FROM content WHERE hash = ?1")
            .and_then(|mut statement| statement.query_row([hash], |row| row.get(0)))
            .named(&self.path)
    }

    /// Removes a note and its chunks, whose ids are pushed to `removed`; within [`Store::write`]. False if it is unknown.
    pub fn remove_note(&self, path: &str, generation: u64, removed: &mut Vec<u64>) -> Result<bool> {
        let id: Option<i64> = self
            .connection
            .prepare_cached("DELETE FROM note WHERE path = ?1 RETURNING id")
            .and_then(|mut statement| statement.query_row([path], |row| row.get(0)).optional())
            .named(&self.path)?;
        let Some(id) = id else { return Ok(false) };
        self.mark(Changed::Text);
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM chunk WHERE note = ?1 RETURNING id")
            .named(&self.path)?;
        let ids: Vec<i64> = statement
            .query_map([id], |row| row.get(0))
            .and_then(|rows| rows.collect::<rusqlite::Result<_>>())
            .named(&self.path)?;
        for id in ids {
            self.connection
                .prepare_cached("INSERT INTO tombstone VALUES(?1, ?2)")
                .and_then(|mut statement| statement.execute([id, generation as i64]))
                .named(&self.path)?;
            removed.push(id as u64);
        }
        Ok(true)
    }

    /// The same bytes under another stat (a touched file); within [`Store::write`].
    pub fn restat_note(&self, id: i64, stat: Stat) -> Result<()> {
        let sql = "UPDATE note SET size = ?2, mtime_ns = ?3, ctime_ns = ?4, inode = ?5 WHERE id = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.execute(params![
                    id,
                    stat.size as i64,
                    stat.mtime_ns,
                    stat.ctime_ns,
                    stat.inode as i64
                ])
            })
            .named(&self.path)
            .map(drop)
    }

    /// What a derived index of `generation` has to do to catch up.
    pub fn delta(&self, generation: Option<u64>) -> Result<Delta> {
        let Some(generation) = generation else { return Ok(Delta::Rebuild) };
        let after: Option<i64> = self
            .connection
            .prepare_cached("SELECT last_chunk FROM step WHERE generation = ?1")
            .and_then(|mut statement| statement.query_row([generation as i64], |row| row.get(0)).optional())
            .named(&self.path)?;
        let Some(after) = after else { return Ok(Delta::Rebuild) };
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM tombstone WHERE generation > ?1 AND +id <= ?2")
            .named(&self.path)?;
        let removed = statement
            .query_map([generation as i64, after], |row| row.get::<_, i64>(0))
            .and_then(|rows| rows.map(|id| id.map(|id| id as u64)).collect())
            .named(&self.path)?;
        Ok(Delta::Replay { after: after as u64, removed })
    }

    /// Chunks with an id above `after`.
    pub fn count_after(&self, after: u64) -> Result<usize> {
        self.connection
            .prepare_cached("SELECT count(*) FROM chunk WHERE id > ?1")
            .and_then(|mut statement| statement.query_row([after as i64], |row| row.get::<_, i64>(0)))
            .map(|count| count as usize)
            .named(&self.path)
    }

    /// Up to `limit` chunks with an id above `after`, by id.
    pub fn chunks_after(&self, after: u64, limit: usize) -> Result<Vec<StoredChunk>> {
        let sql = "SELECT c.id, c.text, c.context, n.path, n.source, c.importance, c.first_line FROM chunk c JOIN note n ON n.id = c.note
                   WHERE c.id > ?1 ORDER BY c.id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([after as i64, limit as i64], |row| {
            Ok(StoredChunk {
                id: row.get::<_, i64>(0)? as u64,
                text: row.get(1)?,
                context: row.get(2)?,
                path: row.get(3)?,
                source: row.get(4)?,
                importance: row.get(5)?,
                first_line: row.get::<_, i64>(6)? as usize,
            })
        });
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// Where a chunk stands; `None` when it is gone.
    pub fn facts(&self, id: u64) -> Result<Option<ChunkFacts>> {
        let sql = "SELECT c.note, n.path, n.source, c.first_line, c.last_line, c.importance
                   FROM chunk c JOIN note n ON n.id = c.note WHERE c.id = ?1";
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_row([id as i64], |row| {
                        Ok(ChunkFacts {
                            note: row.get(0)?,
                            path: row.get(1)?,
                            source: row.get(2)?,
                            first_line: row.get::<_, i64>(3)? as usize,
                            last_line: row.get::<_, i64>(4)? as usize,
                            importance: row.get(5)?,
                        })
                    })
                    .optional()
            })
            .named(&self.path)
    }

    /// A chunk's text and context; `None` when it is gone.
    pub fn text(&self, id: u64) -> Result<Option<(String, String)>> {
        self.connection
            .prepare_cached("SELECT text, context FROM chunk WHERE id = ?1")
            .and_then(|mut statement| {
                statement.query_row([id as i64], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .named(&self.path)
    }

    /// Where a note is opened.
    pub fn absolute(&self, note: i64) -> Result<String> {
        self.connection
            .prepare_cached("SELECT absolute FROM note WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([note], |row| row.get(0)))
            .named(&self.path)
    }

    /// Chunk ids of the notes whose folded stem is `stem`, in note order.
    pub fn chunks_of_stem(&self, stem: &str) -> Result<Vec<u64>> {
        let sql =
            "SELECT c.id FROM note n JOIN chunk c ON c.note = n.id WHERE n.stem = ?1 ORDER BY c.id LIMIT 256";
        self.ids(sql, params![stem])
    }

    /// The path of every note.
    pub fn paths(&self) -> Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached("SELECT path FROM note").named(&self.path)?;
        let rows = statement.query_map([], |row| row.get(0));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    /// `(path, mtime_ns)` of every note whose source is in `sources` (bit `1 << source`).
    pub fn times(&self, sources: u8) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT path, mtime_ns FROM note WHERE (1 << source) & ?1 != 0";
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map([sources], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(|rows| rows.collect()).named(&self.path)
    }

    fn ids(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<u64>> {
        let mut statement = self.connection.prepare_cached(sql).named(&self.path)?;
        let rows = statement.query_map(values, |row| row.get::<_, i64>(0));
        rows.and_then(|rows| rows.map(|id| id.map(|id| id as u64)).collect()).named(&self.path)
    }
}

/// The key by which a file is found by name: the folded stem of its last path component.
pub fn stem_key(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem =
        match name.len().checked_sub(3).and_then(|at| name.is_char_boundary(at).then(|| name.split_at(at))) {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") => stem,
            _ => name,
        };
    crate::text::fold(stem)
}

/// The source with a stored number.
pub fn source_of(number: u8) -> Source {
    match number {
        0 => Source::Memory,
        1 => Source::Sessions,
        _ => Source::Extra,
    }
}

/// The name of a source with a stored number.
pub fn source_name(source: u8) -> &'static str {
    match source_of(source) {
        Source::Memory => "memory",
        Source::Sessions => "sessions",
        Source::Extra => "extra",
    }
}
