//! PDF objects and the lexer that reads them, in a file's body and in content streams alike.

use std::collections::BTreeMap;

/// Deeper than any real file; the lexer calls itself once a level.
const DEPTH_MAX: usize = 64;

pub(super) type Dict = BTreeMap<String, Object>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Number(f64),
    Name(String),
    Text(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// A dictionary, and where in the file its data starts.
    Stream(Dict, usize),
    Reference(u32),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(it) = self { Some(*it) } else { None }
    }

    #[expect(clippy::cast_possible_truncation, reason = "saturates, which every caller checks")]
    pub(super) fn integer(&self) -> Option<i64> {
        self.number().map(|it| it as i64)
    }

    pub(super) fn count(&self) -> Option<usize> {
        usize::try_from(self.integer()?).ok()
    }

    pub(super) fn name(&self) -> Option<&str> {
        if let Self::Name(it) = self { Some(it) } else { None }
    }

    pub(super) fn array(&self) -> Option<&[Object]> {
        if let Self::Array(it) = self { Some(it) } else { None }
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(it) | Self::Stream(it, _) => Some(it),
            _ => None,
        }
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

/// What a content stream is made of.
#[derive(Debug)]
pub(super) enum ContentToken {
    Operand(Object),
    Operator(String),
}

pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                while self.peek().is_some_and(|it| it != b'\n' && it != b'\r') {
                    self.at += 1;
                }
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Takes `word` if it stands here.
    pub(super) fn take(&mut self, word: &[u8]) -> bool {
        let here = self.bytes.get(self.at..).is_some_and(|it| it.starts_with(word));
        if here {
            self.at += word.len();
        }
        here
    }

    /// The next operand or operator of a content stream.
    pub(super) fn token(&mut self) -> Option<ContentToken> {
        loop {
            self.skip_space();
            let byte = self.peek()?;
            let starts_operand = byte.is_ascii_digit() || b"+-.(</[".contains(&byte);
            if starts_operand {
                if let Some(operand) = self.object(0) {
                    return Some(ContentToken::Operand(operand));
                }
                self.at += 1;
                continue;
            }
            if is_delimiter(byte) {
                self.at += 1;
                continue;
            }
            let word = self.word();
            return Some(match word {
                b"true" => ContentToken::Operand(Object::Bool(true)),
                b"false" => ContentToken::Operand(Object::Bool(false)),
                b"null" => ContentToken::Operand(Object::Null),
                _ => ContentToken::Operator(String::from_utf8_lossy(word).into_owned()),
            });
        }
    }

    fn word(&mut self) -> &'a [u8] {
        let from = self.at;
        while self.peek().is_some_and(|it| !is_space(it) && !is_delimiter(it)) {
            self.at += 1;
        }
        &self.bytes[from..self.at]
    }

    /// One object; streams are recognised by the caller, who knows their length.
    pub(super) fn object(&mut self, depth: usize) -> Option<Object> {
        self.skip_space();
        match self.peek()? {
            _ if depth > DEPTH_MAX => None,
            b'/' => {
                self.at += 1;
                Some(Object::Name(self.name()))
            }
            b'(' => Some(Object::Text(self.literal())),
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    self.skip_space();
                    if self.take(b"]") {
                        break;
                    }
                    match self.object(depth + 1) {
                        Some(item) => items.push(item),
                        None if self.at >= self.bytes.len() || depth >= DEPTH_MAX => break,
                        None => self.at += 1,
                    }
                }
                Some(Object::Array(items))
            }
            b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => self.dictionary(depth),
            b'<' => Some(Object::Text(self.hex())),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number_or_reference(),
            byte if is_delimiter(byte) => None,
            _ => match self.word() {
                b"true" => Some(Object::Bool(true)),
                b"false" => Some(Object::Bool(false)),
                b"null" => Some(Object::Null),
                _ => None,
            },
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let mut dict = Dict::new();
        loop {
            self.skip_space();
            if self.take(b">>") || self.at >= self.bytes.len() {
                return Some(Object::Dict(dict));
            }
            if !self.take(b"/") {
                // Damaged: the object ends where the next one would start.
                if self.bytes[self.at..].starts_with(b"endobj") {
                    return Some(Object::Dict(dict));
                }
                self.at += 1;
                continue;
            }
            let key = self.name();
            if let Some(value) = self.object(depth + 1) {
                dict.insert(key, value);
            } else if depth >= DEPTH_MAX {
                return None;
            }
        }
    }

    fn name(&mut self) -> String {
        let raw = self.word();
        if !raw.contains(&b'#') {
            return String::from_utf8_lossy(raw).into_owned();
        }
        let mut name = Vec::with_capacity(raw.len());
        let mut at = 0;
        while let Some(byte) = raw.get(at).copied() {
            let hex = raw.get(at + 1..at + 3).and_then(|it| std::str::from_utf8(it).ok());
            match hex.and_then(|it| u8::from_str_radix(it, 16).ok()) {
                Some(code) if byte == b'#' => {
                    name.push(code);
                    at += 3;
                }
                _ => {
                    name.push(byte);
                    at += 1;
                }
            }
        }
        String::from_utf8_lossy(&name).into_owned()
    }

    fn number_or_reference(&mut self) -> Option<Object> {
        let first = self.number()?;
        let back = self.at;
        if first >= 0.0 && first.fract() == 0.0 && first < f64::from(u32::MAX) {
            self.skip_space();
            if self.peek().is_some_and(|it| it.is_ascii_digit())
                && self.number().is_some_and(|it| it.fract() == 0.0)
            {
                self.skip_space();
                let ends = |it: Option<&u8>| it.is_none_or(|it| is_space(*it) || is_delimiter(*it));
                if self.peek() == Some(b'R') && ends(self.bytes.get(self.at + 1)) {
                    self.at += 1;
                    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
                    #[expect(clippy::cast_sign_loss, reason = "checked above")]
                    return Some(Object::Reference(first as u32));
                }
            }
        }
        self.at = back;
        Some(Object::Number(first))
    }

    /// Numbers as readers accept them: `--5`, `1.2.3` and the like included.
    pub(super) fn number(&mut self) -> Option<f64> {
        let from = self.at;
        let mut negative = false;
        while let Some(byte @ (b'+' | b'-')) = self.peek() {
            negative |= byte == b'-';
            self.at += 1;
        }
        let (mut value, mut scale, mut digits) = (0.0_f64, 0.0_f64, 0);
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' if scale == 0.0 => value = value * 10.0 + f64::from(byte - b'0'),
                b'0'..=b'9' => {
                    value += f64::from(byte - b'0') * scale;
                    scale /= 10.0;
                }
                b'.' if scale == 0.0 => scale = 0.1,
                b'.' | b'-' => {}
                _ => break,
            }
            digits += 1;
            self.at += 1;
        }
        if digits == 0 {
            // A sign alone is zero.
            return (self.at > from).then_some(0.0);
        }
        Some(if negative { -value } else { value })
    }

    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' => {
                self.take(b"\n");
            }
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    if let Some(digit @ b'0'..=b'7') = self.peek() {
                        code = code * 8 + u32::from(digit - b'0');
                        self.at += 1;
                    }
                }
                text.push((code & 0xff) as u8);
            }
            other => text.push(other),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut half: Option<u8> = None;
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = (byte as char).to_digit(16) else { continue };
            let digit = (digit & 0xf) as u8;
            match half.take() {
                Some(high) => text.push(high << 4 | digit),
                None => half = Some(digit),
            }
        }
        text.extend(half.map(|it| it << 4));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &[u8], expected: Object) {
        assert_eq!(Lexer::new(source, 0).object(0), Some(expected));
    }

    #[test]
    fn objects_are_read() {
        check(b" -1.50 ", Object::Number(-1.5));
        check(b"12 0 R", Object::Reference(12));
        check(b"/A#20B", Object::Name("A B".to_owned()));
        check(b"(a\\(b\\)(c)\\101)", Object::Text(b"a(b)(c)A".to_vec()));
        check(b"<48 656>", Object::Text(b"He`".to_vec()));
        let items = vec![Object::Number(1.0), Object::Number(2.0), Object::Name("x".to_owned())];
        check(b"[1 2/x]", Object::Array(items));
        let dict = Dict::from([("K".to_owned(), Object::Bool(true))]);
        check(b"<< /K true >>", Object::Dict(dict));
    }

    #[test]
    fn endless_nesting_ends() {
        let deep = vec![b'['; 100_000];
        Lexer::new(&deep, 0).object(0);
        let deep = b"<</a".repeat(50_000);
        Lexer::new(&deep, 0).object(0);
    }
}
