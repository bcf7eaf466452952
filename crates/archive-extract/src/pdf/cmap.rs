//! Character maps: from a font's codes to Unicode, as `ToUnicode` streams write them.

use std::collections::HashMap;

use super::object::{ContentToken, Lexer, Object};

/// More than all of Unicode's first plane.
const ENTRIES_MAX: usize = 100_000;
/// The most operands of one operator.
const OPERANDS_MAX: usize = 3 * ENTRIES_MAX;

#[derive(Default)]
pub(super) struct Cmap {
    single: HashMap<u32, String>,
    /// First code, last code, and the text of the first; sorted.
    ranges: Vec<(u32, u32, String)>,
    /// The first and last code of each code space, of the same number of bytes.
    spaces: Vec<(Vec<u8>, Vec<u8>)>,
    /// First code, last code, and the CID of the first; sorted.
    cids: Vec<(u32, u32, u32)>,
    pub(super) vertical: bool,
    /// The name of the map that this one extends.
    pub(super) base: Option<String>,
    /// Whether codes are Unicode.
    identity: bool,
}

impl Cmap {
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                ContentToken::Operand(object) if operands.len() < OPERANDS_MAX => {
                    operands.push(object)
                }
                ContentToken::Operand(_) => {}
                ContentToken::Operator(word) => {
                    map.operate(&word, &operands);
                    operands.clear();
                }
            }
            if map.single.len() + map.ranges.len() + map.cids.len() > ENTRIES_MAX {
                break;
            }
        }
        map.ranges.sort_by_key(|it| it.0);
        map.cids.sort_by_key(|it| it.0);
        map
    }

    /// The map of a file that says that its codes are Unicode.
    pub(super) fn identity() -> Self {
        Self { identity: true, ..Self::default() }
    }

    fn operate(&mut self, word: &str, operands: &[Object]) {
        match (word, operands) {
            ("endcodespacerange", _) => self.code_spaces(operands),
            ("endbfchar", _) => self.singles(operands),
            ("endbfrange", _) => self.range_rows(operands),
            ("endcidchar", _) => self.cid_rows(operands, 1),
            ("endcidrange", _) => self.cid_rows(operands, 2),
            ("def", [.., Object::Name(key), Object::Number(mode)]) if key == "WMode" => {
                self.vertical = *mode == 1.0;
            }
            ("usecmap", [.., Object::Name(name)]) => self.base = Some(name.clone()),
            _ => {}
        }
    }

    fn code_spaces(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::Text(first), Object::Text(last)] = pair
                && first.len() == last.len()
                && (1..=4).contains(&first.len())
                && self.spaces.len() < 64
            {
                self.spaces.push((first.clone(), last.clone()));
            }
        }
    }

    /// Rows of one or two codes and a CID.
    fn cid_rows(&mut self, operands: &[Object], codes: usize) {
        for row in operands.chunks_exact(codes + 1) {
            if let (Object::Text(first), Object::Text(last), Some(cid)) =
                (&row[0], &row[codes - 1], row[codes].count())
            {
                let cid = u32::try_from(cid).unwrap_or(0);
                self.cids.push((to_code(first), to_code(last), cid));
            }
        }
    }

    /// The number of bytes of the first code in `bytes`; `None` if the map has no code spaces.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        let within = |(first, last): &&(Vec<u8>, Vec<u8>)| {
            bytes.len() >= first.len()
                && bytes
                    .iter()
                    .zip(first)
                    .zip(last)
                    .all(|((it, first), last)| (first..=last).contains(&it))
        };
        let spaces = || self.spaces.iter();
        let found = spaces().filter(within).map(|it| it.0.len()).min();
        found.or_else(|| spaces().map(|it| it.0.len()).min())
    }

    pub(super) fn cid(&self, code: u32) -> Option<u32> {
        let at = self.cids.partition_point(|it| it.0 <= code).checked_sub(1)?;
        let (first, last, cid) = self.cids[at];
        (code <= last).then(|| cid.saturating_add(code - first))
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
            // Some writers map what they do not know to these characters.
            return Some(text.clone()).filter(|it| !matches!(it.as_str(), "" | "\0" | "\u{fffd}"));
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

    /// The code as Unicode, if the file says that codes are.
    pub(super) fn identity_text(&self, code: u32) -> Option<String> {
        let it = char::from_u32(code).filter(|it| self.identity && !it.is_control())?;
        Some(it.to_string())
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
        assert_eq!(map.code_length(&[0, 1, 0]), Some(2));
    }
}
