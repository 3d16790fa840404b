//! TOML, the form of our own files: toml_edit parses, and its byte offsets become lines.

use super::{Lines, MAX_DEPTH, Node, Value, syntax_error};
use crate::error::Result;

/// Parses TOML. Dates become texts; no setting is one.
///
/// # Errors
///
/// [`crate::error::Error::Syntax`] where the text stops being TOML, or where it is nested deeper than 128.
///
/// ```
/// use memgrep::syntax::{Value, toml};
///
/// let Value::Table(entries) = toml("# how many hits\n[query]\nmax_results = 6\n").unwrap().value else { panic!() };
/// assert_eq!((entries[0].0.as_str(), entries[0].1), ("query", 2));
/// ```
pub fn toml(text: &str) -> Result<Node> {
    let document = toml_edit::Document::parse(text).map_err(|error| {
        let message = error.message().trim().replace('\n', "; ");
        syntax_error(text, error.span().map_or(0, |span| span.start), message)
    })?;
    let tree = Toml { text, lines: Lines::of(text) };
    Ok(Node { line: 1, value: tree.table(document.as_table(), 0)? })
}

/// From toml_edit's tree, which knows byte offsets, to ours, which knows lines.
struct Toml<'text> {
    text: &'text str,
    lines: Lines,
}

impl Toml<'_> {
    fn table(&self, table: &dyn toml_edit::TableLike, depth: usize) -> Result<Value> {
        let mut entries = Vec::new();
        for (name, item) in table.iter() {
            let key = table.key(name).and_then(toml_edit::Key::span);
            let line = self.line(key.or_else(|| item.span()));
            entries.push((name.to_owned(), line, self.item(item, line, depth + 1)?));
        }
        Ok(Value::Table(entries))
    }

    /// `line` is that of the key: a table has no other.
    fn item(&self, item: &toml_edit::Item, line: usize, depth: usize) -> Result<Node> {
        self.check(depth, line)?;
        match item {
            toml_edit::Item::Value(value) => self.value(value, line, depth),
            toml_edit::Item::Table(table) => Ok(Node { line, value: self.table(table, depth)? }),
            toml_edit::Item::ArrayOfTables(tables) => {
                let nodes = tables.iter().map(|table| {
                    Ok(Node { line: self.line(table.span()), value: self.table(table, depth + 1)? })
                });
                Ok(Node { line, value: Value::List(nodes.collect::<Result<_>>()?) })
            }
            toml_edit::Item::None => Ok(Node { line, value: Value::Null }),
        }
    }

    fn value(&self, value: &toml_edit::Value, line: usize, depth: usize) -> Result<Node> {
        self.check(depth, line)?;
        let line = value.span().map_or(line, |span| self.lines.line(span.start));
        let value = match value {
            toml_edit::Value::String(text) => Value::String(text.value().clone()),
            toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
            toml_edit::Value::Float(number) => Value::Float(*number.value()),
            toml_edit::Value::Boolean(flag) => Value::Bool(*flag.value()),
            toml_edit::Value::Datetime(date) => Value::String(date.value().to_string()),
            toml_edit::Value::Array(values) => {
                let nodes = values.iter().map(|value| self.value(value, line, depth + 1));
                Value::List(nodes.collect::<Result<_>>()?)
            }
            toml_edit::Value::InlineTable(table) => self.table(table, depth)?,
        };
        Ok(Node { line, value })
    }

    fn line(&self, span: Option<std::ops::Range<usize>>) -> usize {
        span.map_or(1, |span| self.lines.line(span.start))
    }

    fn check(&self, depth: usize, line: usize) -> Result<()> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(syntax_error(self.text, self.lines.start(line), format!("nested deeper than {MAX_DEPTH}")))
    }
}
