//! Embedded font programs: which text their codes and glyphs stand for. Outlines are not read.

use std::collections::HashMap;

use ttf_parser::{GlyphId, PlatformId, RawFace, cff, cmap, post};

use super::super::glyphs;

/// Characters of Unicode that are looked up in a font to learn which glyph each has: the first
/// plane, which has the letters of all living scripts.
const CHARACTERS: u32 = 0x1_0000;
/// Glyphs whose names are looked up; each look-up may go through all names before it.
const NAMES_MAX: u16 = 4_096;
const CFF_GLYPHS_MAX: u16 = 60_000;

/// What a font program says about text.
pub(super) enum FontProgram<'a> {
    TrueType {
        cmap: Option<cmap::Table<'a>>,
        post: Option<post::Table<'a>>,
    },
    Cff(Box<cff::Table<'a>>),
    /// The names of the codes in a Type 1 program.
    Type1(HashMap<u8, String>),
}

impl<'a> FontProgram<'a> {
    pub(super) fn parse(data: &'a [u8]) -> Option<Self> {
        match data {
            // Four bytes of a TrueType or OpenType file.
            [0, 1, 0, 0, ..] | [b't', b'r', b'u', b'e', ..] | [b'O', b'T', b'T', b'O', ..] => {
                let face = RawFace::parse(data, 0).ok()?;
                let table = |tag: &[u8; 4]| face.table(ttf_parser::Tag::from_bytes(tag));
                let cmap = table(b"cmap").and_then(cmap::Table::parse);
                let post = table(b"post").and_then(post::Table::parse);
                let outlines = table(b"CFF ");
                let numbered = outlines.and_then(cff::Table::parse);
                match outlines {
                    // The CIDs of such a program are not the numbers of its glyphs.
                    _ if numbered.is_some_and(|it| it.glyph_cid(GlyphId(0)).is_some()) => None,
                    Some(outlines) if cmap.is_none() => Self::compact(outlines),
                    _ => Some(Self::TrueType { cmap, post }),
                }
            }
            [1, 0, ..] => Self::compact(data),
            _ => type1_names(data).map(Self::Type1),
        }
    }

    fn compact(data: &'a [u8]) -> Option<Self> {
        // The library adds up glyphs in 16 bits.
        let table = cff::Table::parse(data).filter(|it| it.number_of_glyphs() < CFF_GLYPHS_MAX)?;
        Some(Self::Cff(Box::new(table)))
    }

    /// The text of the 256 codes of a simple font, by the encoding within the program.
    pub(super) fn codes(&self) -> Vec<Option<String>> {
        match self {
            Self::TrueType { .. } => {
                let glyphs = self.glyphs();
                let text = |code: u8| glyphs.get(&self.glyph_of(code)?).cloned();
                (0..=255).map(text).collect()
            }
            Self::Cff(table) => (0..=255)
                .map(|code| glyphs::glyph_text(table.glyph_name(table.glyph_index(code)?)?))
                .collect(),
            Self::Type1(names) => {
                (0..=255).map(|code| glyphs::glyph_text(names.get(&code)?)).collect()
            }
        }
    }

    /// The glyph of a code in a symbolic TrueType font; codes of a Microsoft table stand at 0xf000.
    fn glyph_of(&self, code: u8) -> Option<u16> {
        let Self::TrueType { cmap: Some(cmap), .. } = self else { return None };
        let code = u32::from(code);
        let tables = || (0..cmap.subtables.len()).filter_map(|it| cmap.subtables.get(it));
        let symbols = tables()
            .filter(|it| it.platform_id == PlatformId::Windows && it.encoding_id == 0)
            .find_map(|it| it.glyph_index(0xf000 + code).or_else(|| it.glyph_index(code)));
        let roman = || {
            tables()
                .filter(|it| it.platform_id == PlatformId::Macintosh)
                .find_map(|it| it.glyph_index(code))
        };
        symbols.or_else(roman).map(|it| it.0).filter(|it| *it != 0)
    }

    /// The text of each glyph, by the font's Unicode table and by the names of its glyphs.
    pub(super) fn glyphs(&self) -> HashMap<u16, String> {
        let mut texts = HashMap::new();
        match self {
            Self::TrueType { cmap, post } => {
                let names = |glyph| post.as_ref().and_then(|it| it.glyph_name(GlyphId(glyph)));
                texts.extend(named_glyphs(names));
                if let Some(cmap) = cmap {
                    unicode_glyphs(cmap, &mut texts);
                }
            }
            Self::Cff(table) => texts.extend(named_glyphs(|it| table.glyph_name(GlyphId(it)))),
            Self::Type1(_) => {}
        }
        texts
    }
}

/// The text of the glyphs that have names.
fn named_glyphs<'a>(name: impl Fn(u16) -> Option<&'a str>) -> impl Iterator<Item = (u16, String)> {
    (0..NAMES_MAX).filter_map(move |glyph| Some((glyph, glyphs::glyph_text(name(glyph)?)?)))
}

/// Adds the glyphs that the Unicode tables of a font name. The first character of a glyph counts.
fn unicode_glyphs(cmap: &cmap::Table<'_>, texts: &mut HashMap<u16, String>) {
    let mut named: HashMap<u16, char> = HashMap::new();
    for table in (0..cmap.subtables.len().min(8)).filter_map(|it| cmap.subtables.get(it)) {
        if !table.is_unicode() {
            continue;
        }
        for it in (0x20..CHARACTERS).filter_map(char::from_u32) {
            let private = ('\u{e000}'..='\u{f8ff}').contains(&it);
            if let Some(glyph) = table.glyph_index(it.into()).filter(|it| it.0 != 0 && !private) {
                named.entry(glyph.0).or_insert(it);
            }
        }
        break;
    }
    texts.extend(named.into_iter().map(|(glyph, it)| (glyph, it.to_string())));
}

/// The names of the codes in the readable part of a Type 1 program: `dup 65 /A put`. `None` if the
/// program uses the standard encoding.
fn type1_names(data: &[u8]) -> Option<HashMap<u8, String>> {
    let end = super::super::search::find(data, b"eexec").unwrap_or(data.len()).min(1 << 20);
    let start = super::super::search::find(&data[..end], b"/Encoding")?;
    let text = String::from_utf8_lossy(&data[start..end]);
    let mut names = HashMap::new();
    let mut words = text.split_ascii_whitespace().skip(1);
    while let Some(word) = words.next() {
        match word {
            "StandardEncoding" => return None,
            "dup" => {}
            // The encoding ends with these words, and other dictionaries follow.
            "def" | "readonly" if !names.is_empty() => break,
            _ => continue,
        }
        let Some(code) = words.next() else { break };
        // Some writers have no space between the code and the name.
        let (code, name) = match code.split_once('/') {
            Some((code, name)) => (code, name),
            None => (code, words.next().and_then(|it| it.strip_prefix('/')).unwrap_or_default()),
        };
        if let Some(code) = code_number(code).filter(|_| !name.is_empty()) {
            names.insert(code, name.to_owned());
        }
    }
    (!names.is_empty()).then_some(names)
}

/// A number as PostScript writes it: `65` or `8#101`.
fn code_number(text: &str) -> Option<u8> {
    match text.split_once('#') {
        Some((base, digits)) => {
            let base = base.parse().ok().filter(|it| (2..=36).contains(it))?;
            u8::from_str_radix(digits, base).ok()
        }
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type1_programs_name_their_codes() {
        let source = b"%!PS\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
            dup 65 /B put\ndup 8#102/eacute put readonly def /Private 1 def dup 67 /C put eexec";
        let names = type1_names(source).expect("an encoding");
        assert_eq!(names.len(), 2);
        let program = FontProgram::parse(source).expect("a program");
        let codes = program.codes();
        assert_eq!([codes[65].as_deref(), codes[66].as_deref()], [Some("B"), Some("é")]);
        assert!(type1_names(b"/Encoding StandardEncoding def").is_none());
    }

    #[test]
    fn damaged_programs_are_no_programs() {
        for data in [&b""[..], b"\0\x01\0\0", b"OTTO\0\xff\0\0\0\0\0\0", b"\x01\0\x04\x04\xff\xff"]
        {
            let texts = FontProgram::parse(data).map(|it| (it.codes().len(), it.glyphs().len()));
            assert!(texts.is_none_or(|it| it.1 == 0));
        }
    }
}
