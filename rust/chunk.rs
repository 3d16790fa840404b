//! From a Markdown note to chunks of whole lines.

/// How large chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunking {
    /// Tokens a chunk may hold, at least 1.
    pub tokens: usize,
    /// Tokens of the chunk before that are repeated, below `tokens`.
    pub overlap: usize,
}

/// The unit of index and hit: consecutive whole lines of one note (or a part of one line longer than the budget).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// First byte in the note's text.
    pub start: usize,
    /// Byte after the last one: `note[start..end]` is the chunk's text, exactly.
    pub end: usize,
    /// First line, from 1.
    pub first_line: usize,
    /// Last line, itself part of the chunk.
    pub last_line: usize,
    /// What the chunk stands under: the heading path joined by ` > `, then, for the later part of a cut table, a line with
    /// the table's header cells. Indexed and embedded beside the text, never shown as text.
    pub context: String,
    /// 1..=10 from the entry's annotation (curated notes only).
    pub importance: Option<u8>,
    /// Trigger phrases of the entry (curated notes only).
    pub triggers: Vec<String>,
    /// Project keys of the entry.
    pub project: Option<String>,
}

/// Cuts `note` into chunks. `curated` (`MEMORY.md`, `USER.md`): every top-level list entry is a chunk of its own.
/// Chunks without words beyond a heading are left out. In note order; every chunk adds a line (or a part of a line).
pub fn chunk(_note: &str, _curated: bool, _chunking: Chunking) -> Vec<Chunk> {
    todo!()
}

/// What is embedded for a chunk: context, a line break, the text without annotations, line ends as LF.
/// Equal text under an equal context has an equal embedding, whatever file it stands in.
pub fn embedded_text(_context: &str, _text: &str) -> String {
    todo!()
}
