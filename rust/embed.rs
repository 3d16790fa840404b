//! The built-in embedding model: token rows summed and scaled, all in memory-mapped int8.

use std::path::Path;

use crate::error::Result;

/// A static token-embedding model.
pub struct StaticModel {}

impl StaticModel {
    /// Maps the model file and checks its header and checksum.
    pub fn open(_path: &Path) -> Result<Self> {
        todo!()
    }
    /// Length of a vector.
    pub fn dims(&self) -> usize {
        todo!()
    }
    /// Name and revision, for the fingerprint.
    pub fn id(&self) -> &str {
        todo!()
    }
    /// Appends the unit vector of `text` to `out`; false (and nothing appended) for a text without a known token.
    pub fn embed(&self, _text: &str, _out: &mut Vec<f32>) -> bool {
        todo!()
    }
}
