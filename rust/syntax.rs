//! Settings texts (JSON5, TOML) as a tree that knows its lines.

use crate::error::Result;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Line of the value's first character, from 1 (for a table: of its key or opening brace).
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// What a settings file can say.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number that fits.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// An object or table, in file order; the number is the key's line.
    Table(Vec<(String, usize, Node)>),
}

/// Parses JSON5 (comments, trailing commas, unquoted keys, single quotes, hex, Infinity, line continuation).
pub fn json5(_text: &str) -> Result<Node> {
    todo!()
}

/// Parses TOML 1.0.
pub fn toml(_text: &str) -> Result<Node> {
    todo!()
}
