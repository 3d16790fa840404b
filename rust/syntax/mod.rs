//! Settings texts (JSON5, TOML) as a tree that knows its lines.
//!
//! A wrong setting is told with the line it stands on, so every value and every key keeps it. Both forms give the
//! same tree; whoever reads it need not know which file it came from. Lines end at `\n`, `\r\n` or `\r`.

use crate::error::Error;

mod json5;
mod toml;

pub use json5::json5;
pub use toml::toml;

/// Lists and tables inside each other; more is not a settings file but an attack on the stack.
const MAX_DEPTH: usize = 128;

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

/// Byte offsets at which the lines of a text start.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = (0..bytes.len())
            .filter(|&at| bytes[at] == b'\n' || bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        Self(std::iter::once(0).chain(ends.map(|at| at + 1)).collect())
    }

    /// The line of a byte offset, from 1.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|&start| start <= at)
    }

    /// Where a line starts.
    fn start(&self, line: usize) -> usize {
        self.0.get(line.saturating_sub(1)).copied().unwrap_or(0)
    }
}

/// An error at a byte offset of the text.
fn syntax_error(text: &str, at: usize, message: impl Into<String>) -> Error {
    let lines = Lines::of(text);
    let line = lines.line(at);
    let before = text.char_indices().map(|(place, _)| place);
    let column = before.filter(|place| (lines.start(line)..at).contains(place)).count() + 1;
    Error::Syntax { line, column, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use proptest::prelude::*;

    fn value(text: &str) -> Value {
        json5(text).unwrap().value
    }

    fn complaint(result: Result<Node>) -> String {
        result.unwrap_err().to_string()
    }

    /// The tree without its lines, as serde_json would give it.
    fn plain(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::String(text) => text.as_str().into(),
            Value::List(nodes) => nodes.iter().map(plain).collect(),
            Value::Table(entries) => {
                entries.iter().map(|(key, _, node)| (key.clone(), plain(node))).collect()
            }
        }
    }

    /// Key and line of everything in the tree, tables first.
    fn lines(node: &Node) -> Vec<(String, usize, usize)> {
        match &node.value {
            Value::Table(entries) => entries
                .iter()
                .flat_map(|(key, line, node)| {
                    std::iter::once((key.clone(), *line, node.line)).chain(lines(node))
                })
                .collect(),
            Value::List(nodes) => nodes.iter().flat_map(lines).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn json5_knows_what_json_does_not() {
        let text = r#"
        // a comment
        { unquoted: 'single "quoted"', /* here
             too */ $odd_: "it's", "quoted": .5, ключ: 5., \u0061b: +1,
          hex: 0xDEADbeef, negative: -0x10, infinite: -Infinity, exponent: 1.5e+3, list: [1, 2,], }
        "#;
        let expected = serde_json::json!({
            "unquoted": "single \"quoted\"", "$odd_": "it's", "quoted": 0.5, "ключ": 5.0, "ab": 1,
            "hex": 3735928559_i64, "negative": -16, "infinite": null, "exponent": 1500.0, "list": [1, 2],
        });
        assert_eq!(plain(&json5(text).unwrap()), expected);
        assert_eq!(value("-Infinity"), Value::Float(f64::NEG_INFINITY));
        assert!(matches!(value("NaN"), Value::Float(number) if number.is_nan()));
    }

    #[test]
    fn escapes_mean_what_javascript_means() {
        let text = r#""\x41\u0042\uD83D\uDE00\b\f\n\r\t\v\0\'\"\\\/\q""#;
        assert_eq!(value(text), Value::String("AB😀\u{8}\u{c}\n\r\t\u{b}\0'\"\\/q".into()));
    }

    #[test]
    fn a_backslash_continues_a_text_on_the_next_line() {
        for end in ["\n", "\r\n", "\r", "\u{2028}"] {
            assert_eq!(value(&format!("'one \\{end}two'")), Value::String("one two".into()), "{end:?}");
        }
    }

    #[test]
    fn whole_numbers_that_do_not_fit_are_floats() {
        assert_eq!(value("9223372036854775807"), Value::Integer(i64::MAX));
        assert_eq!(value("-9223372036854775808"), Value::Integer(i64::MIN));
        assert_eq!(value("9223372036854775808"), Value::Float(9223372036854775808.0));
        assert_eq!(value("0x10000000000000000"), Value::Float(18446744073709551616.0));
        assert_eq!(value("6.0"), Value::Float(6.0));
    }

    #[test]
    fn keys_and_values_know_their_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["{ a:", "  1,", "/*", "*/ b: { c: 'x\\", "y', d:", "[", "{ e: 2 } ] } }"].join(end);
            let expected = [("a", 1, 2), ("b", 4, 4), ("c", 4, 4), ("d", 5, 6), ("e", 7, 7)];
            let expected = expected.map(|(key, at, value)| (key.to_owned(), at, value));
            assert_eq!(lines(&json5(&text).unwrap()), expected, "{end:?}");
        }
    }

    #[test]
    fn errors_say_where_what_and_what_instead() {
        let cases = [
            ("", "line 1, column 1: expected a value, found the end of the file"),
            ("{\n  a: 1\n  b: 2\n}", "line 3, column 3: expected a comma or }, found b"),
            ("{ a 1 }", "line 1, column 5: expected a colon after the key, found 1"),
            ("{ a: yes }", "line 1, column 6: expected a value; a text needs quotes"),
            ("{ ü: 'open\n}", "line 1, column 6: this text is not closed with ' on its line"),
            ("{} x", "line 1, column 4: expected the end of the file, found x"),
            ("[1, /* never", "line 1, column 5: this comment is never closed with */"),
            ("{ a: 012 }", "line 1, column 6: this is not a number"),
            ("{ a: 1,\n\n  'a': 2 }", "line 3, column 3: the key \"a\" stands on line 1 already"),
            (r#""\uD83D""#, "line 1, column 2: half of a surrogate pair is not a character"),
            (r#""\uD83D\u0041""#, "line 1, column 2: half of a surrogate pair is not a character"),
            (r#""\uDE00""#, "line 1, column 2: half of a surrogate pair is not a character"),
            (r#""\x4""#, "line 1, column 2: expected 2 hexadecimal digits in this escape"),
            (r#""\1""#, "line 1, column 2: escapes cannot be digits; write \\xHH"),
            ("[,]", "line 1, column 2: expected a value, found ,"),
            ("{\u{7}}", "line 1, column 2: expected a key or }, found U+0007"),
        ];
        for (text, expected) in cases {
            assert_eq!(complaint(json5(text)), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        for text in
            ["1_000", "1e", "1e+", ".", "+", "-", "0x", "0xg", "1.2.3", "1px", "00", "0x1.8", "--1", "+'1'"]
        {
            assert!(matches!(json5(text), Err(Error::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn nesting_ends_in_an_error_and_not_in_a_crash() {
        for (open, close) in [("[", "]"), ("{a:", "}")] {
            let nested = |depth: usize| [open.repeat(depth), "1".into(), close.repeat(depth)].concat();
            assert!(json5(&nested(MAX_DEPTH)).is_ok());
            assert!(complaint(json5(&nested(MAX_DEPTH + 1))).ends_with("nested deeper than 128"));
            assert!(complaint(json5(&open.repeat(1_000_000))).ends_with("nested deeper than 128"));
        }
    }

    #[test]
    fn toml_keys_and_values_know_their_lines() {
        let text = "# settings\nprovider = 'none'\n\n[query]\nmax_results = 6\nhybrid.mmr = { lambda = 0.5 }\n                    ignore = [\n  'a',\n  { path = 'b' },\n]\n\n[[agents.list]]\nid = 'main'\n[[agents.list]]\nid = 'x'\n";
        let expected = [
            ("provider", 2, 2),
            ("query", 4, 4),
            ("max_results", 5, 5),
            ("hybrid", 6, 6),
            ("mmr", 6, 6),
            ("lambda", 6, 6),
            ("ignore", 7, 7),
            ("path", 9, 9),
            ("agents", 12, 12),
            ("list", 12, 12),
            ("id", 13, 13),
            ("id", 15, 15),
        ];
        let expected = expected.map(|(key, at, value)| (key.to_owned(), at, value));
        assert_eq!(lines(&toml(text).unwrap()), expected);
    }

    #[test]
    fn toml_gives_the_tree_that_json5_gives() {
        let text = "a = 1\nb = 1.5\nc = true\nd = \"x\"\ne = [1, [2]]\n[f.g]\nh = {}\n";
        let same = "{a: 1, b: 1.5, c: true, d: 'x', e: [1, [2]], f: {g: {h: {}}}}";
        assert_eq!(plain(&toml(text).unwrap()), plain(&json5(same).unwrap()));
    }

    #[test]
    fn a_date_is_a_text() {
        let node = toml("day = 2026-02-10\n").unwrap();
        assert_eq!(plain(&node), serde_json::json!({"day": "2026-02-10"}));
    }

    #[test]
    fn toml_errors_name_the_line() {
        let cases = ["a = 1\nb = \n", "a = 1\n\na = 2\n", "a = 1\nyes\n"];
        let expected = [2, 3, 2];
        for (text, expected) in cases.iter().zip(expected) {
            let Error::Syntax { line, message, .. } = toml(text).unwrap_err() else { panic!("{text}") };
            assert!(line == expected && !message.is_empty(), "{text}: {line} {message}");
        }
    }

    #[test]
    fn toml_that_is_nested_without_end_is_an_error() {
        let keys = vec!["a"; 70].join(".");
        let inline =
            format!("{keys} = ").repeat(1) + &format!("{{ {keys} = ").repeat(70) + "1" + &"}".repeat(70);
        for text in [inline, "a = ".to_owned() + &"[".repeat(100_000), vec!["a"; 100_000].join(".") + " = 1"]
        {
            assert!(matches!(toml(&text), Err(Error::Syntax { .. })));
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(6, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
                prop::collection::hash_map(any::<String>(), inner, 0..8)
                    .prop_map(|entries| entries.into_iter().collect::<serde_json::Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_serde_json_writes_is_read_to_the_bit(json in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&json) } else { serde_json::to_string(&json) }.unwrap();
            // The value itself is the judge: serde_json reads some floats one bit off.
            let ours = plain(&json5(&text).unwrap());
            prop_assert!(alike(&ours, &json), "{text}\n{ours}\n{json}");
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            for result in [json5(&text), toml(&text)] {
                let told = matches!(result, Ok(_) | Err(Error::Syntax { .. }));
                prop_assert!(told);
            }
        }

        #[test]
        fn any_text_of_json_pieces_is_read_or_refused(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ":", ",", "'", "\"", "\\", "\\u", "\\x", "a", "0", "0x", "1", "-", "+", ".", "e",
                    "//", "/*", "*/", "\n", "\r", "\u{2028}", " ", "null", "NaN", "d83d", "dc00", "ü", "=", "[[", "]]", "#",
                ]),
                0..40,
            )
        ) {
            let text = pieces.concat();
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                let ours = json5(&text).map_err(|error| error.to_string());
                // serde_json lets a key that is given twice pass.
                prop_assert!(ours.as_ref().err().is_none_or(|error| error.contains("already")), "{text}: {ours:?}");
            }
            for result in [json5(&text), toml(&text)] {
                match result {
                    Ok(node) => {
                        for (_, key, value) in lines(&node) {
                            prop_assert!(1 <= key && key <= value && value <= text.len() + 1);
                        }
                    }
                    Err(Error::Syntax { line, column, message }) => {
                        prop_assert!(line >= 1 && column >= 1 && line <= text.len() + 1 && !message.is_empty());
                    }
                    Err(other) => prop_assert!(false, "{other}"),
                }
            }
        }
    }

    /// Equal, but for the kind of a number: `-0` and numbers beyond `i64` are floats on one side only.
    fn alike(one: &serde_json::Value, other: &serde_json::Value) -> bool {
        use serde_json::Value::{Array, Number, Object};
        match (one, other) {
            (Number(one), Number(other)) => one.as_f64() == other.as_f64(),
            (Array(one), Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| alike(a, b))
            }
            (Object(one), Object(other)) => {
                one.len() == other.len()
                    && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| alike(a, b)))
            }
            _ => one == other,
        }
    }
}
