//! Character maps: from a font's codes to Unicode, as `ToUnicode` streams write them.

use std::collections::HashMap;

use super::object::{Lexer, Object, Token};

/// More than all of Unicode's first plane.
const ENTRIES_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct Cmap {
    single: HashMap<u32, String>,
    /// First code, last code, and the text of the first; sorted.
    ranges: Vec<(u32, u32, String)>,
    /// Bytes of a code, when every code space agrees.
    pub(super) width: Option<usize>,
}

impl Cmap {
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Operand(object) if operands.len() < 1_000 => operands.push(object),
                Token::Operand(_) => {}
                Token::Operator(word) => {
                    match word.as_str() {
                        "endcodespacerange" => map.code_space(&operands),
                        "endbfchar" => map.singles(&operands),
                        "endbfrange" => map.range_rows(&operands),
                        _ => {}
                    }
                    operands.clear();
                }
            }
            if map.single.len() + map.ranges.len() > ENTRIES_MAX {
                break;
            }
        }
        map.ranges.sort_by_key(|it| it.0);
        map
    }

    fn code_space(&mut self, operands: &[Object]) {
        for operand in operands {
            if let Object::Text(bytes) = operand {
                let same = self.width.is_none_or(|it| it == bytes.len());
                self.width = same.then_some(bytes.len()).filter(|it| (1..=4).contains(it));
            }
        }
    }

    fn singles(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::Text(code), Object::Text(text)] = pair {
                self.single.insert(to_code(code), utf16(text));
            }
        }
    }

    fn range_rows(&mut self, operands: &[Object]) {
        for row in operands.chunks_exact(3) {
            match row {
                [Object::Text(first), Object::Text(last), Object::Text(text)] => {
                    self.ranges.push((to_code(first), to_code(last), utf16(text)));
                }
                [Object::Text(first), Object::Text(_), Object::Array(texts)] => {
                    for (code, text) in (to_code(first)..).zip(texts.iter().take(65_536)) {
                        if let Object::Text(text) = text {
                            self.single.insert(code, utf16(text));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn text(&self, code: u32) -> Option<String> {
        if let Some(text) = self.single.get(&code) {
            return Some(text.clone());
        }
        let at = self.ranges.partition_point(|it| it.0 <= code).checked_sub(1)?;
        let (first, last, text) = &self.ranges[at];
        if code > *last {
            return None;
        }
        let mut chars: Vec<char> = text.chars().collect();
        let tail = chars.pop()?;
        chars.push(char::from_u32(u32::from(tail).checked_add(code - first)?)?);
        Some(chars.into_iter().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.single.is_empty() && self.ranges.is_empty()
    }
}

pub(super) fn to_code(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |sum, it| sum << 8 | u32::from(*it))
}

fn utf16(bytes: &[u8]) -> String {
    if let [one] = bytes {
        return char::from(*one).to_string();
    }
    let units = bytes.chunks_exact(2).map(|it| u16::from_be_bytes([it[0], it[1]]));
    char::decode_utf16(units.take(64)).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_text() {
        let map = Cmap::parse(
            b"1 begincodespacerange <0000> <ffff> endcodespacerange \
              2 beginbfchar <0001> <00660066> <0002> <0414> endbfchar \
              2 beginbfrange <0010> <0019> <0041> <0020> <0021> [<0430> <0431>] endbfrange",
        );
        let texts: Vec<_> = [1, 2, 0x12, 0x1a, 0x21].into_iter().map(|it| map.text(it)).collect();
        let expected = [Some("ff"), Some("Д"), Some("C"), None, Some("б")];
        assert_eq!(texts, expected.map(|it| it.map(str::to_owned)));
        assert_eq!(map.width, Some(2));
    }
}
