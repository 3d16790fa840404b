//! JSON5, the form of OpenClaw's own file: JSON with comments, trailing commas and keys without quotes.

use super::{MAX_DEPTH, Node, Value, syntax_error};
use crate::error::{Error, Result};

/// Parses JSON5 (comments, trailing commas, unquoted keys, single quotes, hex, Infinity, line continuation).
///
/// Stricter than JavaScript in two places: a key given twice is an error that names both lines, and half of a
/// surrogate pair is refused, because it is not text. Whole numbers beyond `i64` become floats.
///
/// # Errors
///
/// [`Error::Syntax`] where the text stops being JSON5, or where it is nested deeper than 128.
///
/// ```
/// use memgrep::syntax::{Value, json5};
///
/// let Value::Table(entries) = json5("{\n  // how many hits\n  maxResults: 6,\n}").unwrap().value else { panic!() };
/// assert_eq!((entries[0].0.as_str(), entries[0].1), ("maxResults", 3));
/// ```
pub fn json5(text: &str) -> Result<Node> {
    let mut parser = Json5 { text, at: 0, line: 1 };
    parser.skip_blank()?;
    let node = parser.value(0)?;
    parser.skip_blank()?;
    match parser.peek() {
        None => Ok(node),
        Some(found) => Err(parser.expected("the end of the file", Some(found))),
    }
}

/// Recursive descent over the text; `at` is always on a character boundary.
struct Json5<'text> {
    text: &'text str,
    at: usize,
    line: usize,
}

impl Json5<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Steps over one character and counts the lines.
    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' || next == '\r' && self.peek() != Some('\n') {
            self.line += 1;
        }
        Some(next)
    }

    /// Steps over `token` if it is next.
    fn eat(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn error(&self, message: impl Into<String>) -> Error {
        syntax_error(self.text, self.at, message)
    }

    fn expected(&self, what: &str, found: Option<char>) -> Error {
        self.error(match found {
            None => format!("expected {what}, found the end of the file"),
            Some(found) => format!("expected {what}, found {}", named(found)),
        })
    }

    /// Steps over blanks and comments.
    fn skip_blank(&mut self) -> Result<()> {
        loop {
            if self.eat("//") {
                while self.peek().is_some_and(|next| !ends_line(next)) {
                    self.bump();
                }
            } else if self.text[self.at..].starts_with("/*") {
                let opened = self.at;
                self.at += 2;
                while !self.eat("*/") {
                    if self.bump().is_none() {
                        return Err(syntax_error(self.text, opened, "this comment is never closed with */"));
                    }
                }
            } else if self.peek().is_some_and(|next| next.is_whitespace() || next == '\u{feff}') {
                self.bump();
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node> {
        let line = self.line;
        let value = match self.peek() {
            Some('{') => self.table(depth)?,
            Some('[') => self.list(depth)?,
            Some(quote @ ('"' | '\'')) => Value::String(self.string(quote)?),
            Some('+' | '-' | '.' | '0'..='9') => self.number()?,
            Some(first) if starts_name(first) => self.word()?,
            found => return Err(self.expected("a value", found)),
        };
        Ok(Node { line, value })
    }

    /// Steps over the opening bracket.
    fn open(&mut self, depth: usize) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.bump();
        self.skip_blank()
    }

    /// After an item: whether the bracket closes here.
    fn closes(&mut self, bracket: char) -> Result<bool> {
        self.skip_blank()?;
        let comma = self.eat(",");
        self.skip_blank()?;
        match self.peek() {
            Some(next) if next == bracket => {
                self.bump();
                Ok(true)
            }
            found if !comma => Err(self.expected(&format!("a comma or {bracket}"), found)),
            _ => Ok(false),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value> {
        self.open(depth)?;
        let mut nodes = Vec::new();
        if self.eat("]") {
            return Ok(Value::List(nodes));
        }
        loop {
            nodes.push(self.value(depth + 1)?);
            if self.closes(']')? {
                return Ok(Value::List(nodes));
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Value> {
        self.open(depth)?;
        let mut entries = Vec::new();
        let mut lines = std::collections::HashMap::new();
        if self.eat("}") {
            return Ok(Value::Table(entries));
        }
        loop {
            let (start, line) = (self.at, self.line);
            let key = match self.peek() {
                Some(quote @ ('"' | '\'')) => self.string(quote)?,
                Some(first) if starts_name(first) => self.name()?,
                found => return Err(self.expected("a key or }", found)),
            };
            if let Some(earlier) = lines.insert(key.clone(), line) {
                let message = format!("the key \"{}\" stands on line {earlier} already", key.escape_debug());
                return Err(syntax_error(self.text, start, message));
            }
            self.skip_blank()?;
            if !self.eat(":") {
                return Err(self.expected("a colon after the key", self.peek()));
            }
            self.skip_blank()?;
            let node = self.value(depth + 1)?;
            entries.push((key, line, node));
            if self.closes('}')? {
                return Ok(Value::Table(entries));
            }
        }
    }

    /// A name without quotes, escapes resolved.
    fn name(&mut self) -> Result<String> {
        let mut name = String::new();
        while let Some(next) = self.peek() {
            if next == '\\' {
                let start = self.at;
                self.bump();
                let escaped = if self.eat("u") { self.unicode_escape(start)? } else { '\\' };
                if !(starts_name(escaped) || continues_name(escaped)) || escaped == '\\' {
                    return Err(syntax_error(
                        self.text,
                        start,
                        "this escape cannot be part of a key without quotes",
                    ));
                }
                name.push(escaped);
            } else if continues_name(next) {
                name.push(next);
                self.bump();
            } else {
                break;
            }
        }
        Ok(name)
    }

    fn word(&mut self) -> Result<Value> {
        let start = self.at;
        Ok(match self.name()?.as_str() {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "Infinity" => Value::Float(f64::INFINITY),
            "NaN" => Value::Float(f64::NAN),
            // The word is not shown: it may be a key that somebody forgot to quote.
            _ => return Err(syntax_error(self.text, start, "expected a value; a text needs quotes")),
        })
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let negative = self.peek() == Some('-');
        if negative || self.peek() == Some('+') {
            self.bump();
        }
        let sign = if negative { -1.0 } else { 1.0 };
        if self.peek().is_some_and(starts_name) {
            return match self.name()?.as_str() {
                "Infinity" => Ok(Value::Float(sign * f64::INFINITY)),
                "NaN" => Ok(Value::Float(f64::NAN)),
                _ => Err(syntax_error(self.text, start, "expected a number after the sign")),
            };
        }
        let from = self.at;
        while self.peek().is_some_and(|next| {
            // The sign of an exponent belongs to the number, that of hex does not exist.
            let so_far = &self.text[from..self.at];
            let exponent =
                so_far.ends_with(['e', 'E']) && !so_far.starts_with("0x") && !so_far.starts_with("0X");
            continues_name(next) || next == '.' || exponent && matches!(next, '+' | '-')
        }) {
            self.bump();
        }
        let digits = &self.text[from..self.at];
        let wrong = || syntax_error(self.text, start, "this is not a number");
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            return hex_number(hex, negative).ok_or_else(wrong);
        }
        let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent.trim_start_matches(['+', '-']))),
            None => (digits, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let decimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !decimal(whole)
            || !decimal(fraction)
            || whole.is_empty() && fraction.is_empty()
            || whole.len() > 1 && whole.starts_with('0')
            || exponent.is_some_and(|part| part.is_empty() || !decimal(part))
        {
            return Err(wrong());
        }
        // With its sign, so that the smallest whole number fits as well.
        if let Ok(integer) = self.text[start..self.at].trim_start_matches('+').parse() {
            return Ok(Value::Integer(integer));
        }
        // Rust reads `5.` and `.5` as JSON5 does; too large is infinite in both.
        digits.parse().map(|number: f64| Value::Float(sign * number)).map_err(|_| wrong())
    }

    fn string(&mut self, quote: char) -> Result<String> {
        let opened = self.at;
        let mut text = String::new();
        self.bump();
        loop {
            let start = self.at;
            match self.peek() {
                Some(next) if next == quote => {
                    self.bump();
                    return Ok(text);
                }
                None | Some('\n' | '\r') => {
                    let message = format!("this text is not closed with {quote} on its line");
                    return Err(syntax_error(self.text, opened, message));
                }
                Some('\\') => {
                    self.bump();
                    if let Some(escaped) = self.escape(start)? {
                        text.push(escaped);
                    }
                }
                Some(next) => {
                    text.push(next);
                    self.bump();
                }
            }
        }
    }

    /// What stands after a backslash; nothing if it was the end of a line.
    fn escape(&mut self, start: usize) -> Result<Option<char>> {
        Ok(Some(match self.bump() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('0') if !self.peek().is_some_and(|next| next.is_ascii_digit()) => '\0',
            Some('x') => self.hex_escape(2, start).map(|code| char::from(code as u8))?,
            Some('u') => self.unicode_escape(start)?,
            Some('\r') => {
                if self.eat("\n") {
                    self.line += 1;
                }
                return Ok(None);
            }
            Some('\n' | '\u{2028}' | '\u{2029}') => return Ok(None),
            Some('0'..='9') => {
                return Err(syntax_error(self.text, start, "escapes cannot be digits; write \\xHH"));
            }
            Some(other) => other,
            None => return Err(syntax_error(self.text, start, "expected something after the backslash")),
        }))
    }

    /// The four digits after `\u`, and the other half of a surrogate pair.
    fn unicode_escape(&mut self, start: usize) -> Result<char> {
        let mut code = self.hex_escape(4, start)?;
        if (0xd800..0xdc00).contains(&code) && self.eat("\\u") {
            let low = self.hex_escape(4, start)?.wrapping_sub(0xdc00);
            // Not a low half: back to what cannot be a character.
            code = if low < 0x400 { 0x10000 + ((code - 0xd800) << 10) + low } else { 0xd800 };
        }
        char::from_u32(code)
            .ok_or_else(|| syntax_error(self.text, start, "half of a surrogate pair is not a character"))
    }

    fn hex_escape(&mut self, digits: usize, start: usize) -> Result<u32> {
        let mut code = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(16)) else {
                let message = format!("expected {digits} hexadecimal digits in this escape");
                return Err(syntax_error(self.text, start, message));
            };
            code = code * 16 + digit;
            self.bump();
        }
        Ok(code)
    }
}

/// `ff` → 255; whole numbers beyond `i64` become floats.
fn hex_number(digits: &str, negative: bool) -> Option<Value> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let signed = format!("{}{digits}", if negative { "-" } else { "" });
    Some(i64::from_str_radix(&signed, 16).map(Value::Integer).unwrap_or_else(|_| {
        let size = digits
            .chars()
            .filter_map(|digit| digit.to_digit(16))
            .fold(0.0, |sum, digit| sum * 16.0 + f64::from(digit));
        Value::Float(if negative { -size } else { size })
    }))
}

fn ends_line(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn starts_name(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '$' | '_' | '\\')
}

fn continues_name(character: char) -> bool {
    // Joiners are part of words in several scripts; ES5 allows them too.
    character.is_alphanumeric() || matches!(character, '$' | '_' | '\u{200c}' | '\u{200d}')
}

/// A character as an error names it: visible, whatever it is.
fn named(character: char) -> String {
    if character.is_control()
        || character.is_whitespace()
        || !character.is_ascii() && character.escape_debug().len() > 1
    {
        format!("U+{:04X}", u32::from(character))
    } else {
        character.to_string()
    }
}
