//! Composite fonts: strings cut into codes of one to four bytes, codes to CIDs, and CIDs to text by
//! the character collections of Adobe or by the embedded font program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use hayro_cmap::{BfString, CMap, CMapName, WritingMode};

use super::super::cmap::{Cmap, to_code};
use super::super::file::PdfFile;
use super::super::object::{Dict, Object};

/// How codes become CIDs.
enum Codes {
    /// Two bytes each; the code is the CID.
    Identity,
    /// One of the character maps that every reader has.
    Predefined(Rc<CMap>),
    /// A character map within the file, and the one that it extends.
    Own(Cmap, Option<Rc<CMap>>),
}

pub(super) struct Composite {
    codes: Codes,
    vertical: bool,
    /// Whether the codes are UTF-16.
    unicode_codes: bool,
    /// The text of the CIDs of a character collection.
    collection: Option<Rc<CMap>>,
    /// The text of the CIDs by the font program, if nothing else says it.
    embedded: HashMap<u32, String>,
}

impl Composite {
    /// `mapped` says that the file has a map to Unicode, so that the font program is not needed.
    pub(super) fn load(
        file: &PdfFile<'_>,
        dict: &Dict,
        below: &Dict,
        max: usize,
        mapped: bool,
    ) -> Self {
        let mut it = Self {
            codes: Codes::Identity,
            vertical: false,
            unicode_codes: false,
            collection: None,
            embedded: HashMap::new(),
        };
        match file.get(dict, "Encoding").as_deref() {
            Some(Object::Name(name)) => it.named(name),
            Some(Object::Stream(inner, start)) => {
                let own = Cmap::parse(&file.data(inner, *start, max).data);
                let base = file.get(inner, "UseCMap");
                let base = base.as_deref().and_then(Object::name).or(own.base.as_deref());
                let base = base.and_then(predefined);
                it.vertical = own.vertical || file.number(inner, "WMode") == Some(1.0);
                it.codes = Codes::Own(own, base);
            }
            _ => {}
        }
        let system = file.get(below, "CIDSystemInfo");
        let system = system.as_deref().and_then(Object::dict);
        let ordering = system.and_then(|it| file.get(it, "Ordering"));
        let ordering = match ordering.as_deref() {
            Some(Object::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            _ => String::new(),
        };
        if matches!(ordering.as_str(), "Japan1" | "GB1" | "CNS1" | "Korea1" | "KR") {
            it.collection = predefined(&format!("Adobe-{ordering}-UCS2"));
        } else if !mapped {
            it.embedded = embedded(file, below, max);
        }
        it
    }

    fn named(&mut self, name: &str) {
        self.vertical = name.ends_with("-V") || name == "V";
        self.unicode_codes = name.contains("UCS2") || name.contains("UTF16");
        if let Some(map) = predefined(name).filter(|_| !name.starts_with("Identity")) {
            self.vertical |= matches!(map.metadata().writing_mode, Some(WritingMode::Vertical));
            self.codes = Codes::Predefined(map);
        }
    }

    pub(super) fn vertical(&self) -> bool {
        self.vertical
    }

    /// The first code of a string that is not empty, and its length in bytes.
    pub(super) fn next_code(&self, bytes: &[u8]) -> (u32, usize) {
        let length = match &self.codes {
            Codes::Identity => 2,
            // A pair of surrogates is one code.
            Codes::Predefined(_) if self.unicode_codes => match bytes {
                [0xd8..=0xdb, _, 0xdc..=0xdf, _, ..] => 4,
                _ => 2,
            },
            Codes::Predefined(map) => known_length(map, bytes),
            Codes::Own(own, base) => match (own.code_length(bytes), base) {
                (Some(length), _) => length,
                (None, Some(base)) => known_length(base, bytes),
                (None, None) => 2,
            },
        };
        let length = length.clamp(1, bytes.len().max(1));
        (bytes.get(..length).map_or(0, to_code), length)
    }

    pub(super) fn cid(&self, code: u32, length: usize) -> u32 {
        let length = u8::try_from(length).unwrap_or(4);
        match &self.codes {
            Codes::Identity => code,
            Codes::Predefined(map) => map.lookup_cid_code(code, length).unwrap_or(0),
            Codes::Own(own, base) => {
                let below = || base.as_ref()?.lookup_cid_code(code, length);
                own.cid(code).or_else(below).unwrap_or(0)
            }
        }
    }

    pub(super) fn text(&self, code: u32, cid: u32) -> Option<String> {
        let listed = match self.collection.as_ref().and_then(|it| it.lookup_bf_string(cid)) {
            Some(BfString::Char(it)) => Some(it.to_string()),
            Some(BfString::String(it)) => Some(it),
            None => None,
        };
        if listed.is_some() || !self.unicode_codes {
            return listed.or_else(|| self.embedded.get(&cid).cloned());
        }
        let units = [code >> 16, code & 0xffff].map(|it| u16::try_from(it).unwrap_or(0));
        let units = units.into_iter().skip(usize::from(code <= 0xffff));
        char::decode_utf16(units).collect::<Result<_, _>>().ok()
    }
}

/// The length of the first code that the map knows.
fn known_length(map: &CMap, bytes: &[u8]) -> usize {
    let known = |length: &u8| {
        let code = bytes.get(..usize::from(*length)).map(to_code);
        code.is_some_and(|it| map.lookup_cid_code(it, *length).is_some())
    };
    let wide = bytes.first().is_some_and(|it| *it > 0x80);
    (1..=4).find(known).map_or(if wide { 2 } else { 1 }, usize::from)
}

/// The text of each CID by the embedded font program.
fn embedded(file: &PdfFile<'_>, below: &Dict, max: usize) -> HashMap<u32, String> {
    let descriptor = file.get(below, "FontDescriptor");
    let Some(descriptor) = descriptor.as_deref().and_then(Object::dict) else {
        return HashMap::new();
    };
    let glyphs = super::with_program(file, descriptor, max, |it| it.glyphs()).unwrap_or_default();
    if let Some(Object::Stream(inner, start)) = file.get(below, "CIDToGIDMap").as_deref() {
        let data = file.data(inner, *start, 2 << 16).data;
        let rows = (0_u32..).zip(data.chunks_exact(2));
        let glyph = |row: &[u8]| u16::from_be_bytes([row[0], row[1]]);
        return rows
            .filter_map(|(cid, row)| Some((cid, glyphs.get(&glyph(row))?.clone())))
            .collect();
    }
    glyphs.into_iter().map(|(glyph, text)| (glyph.into(), text)).collect()
}

thread_local! {
    /// The predefined character maps that were used; there are about 70.
    static LOADED: RefCell<HashMap<String, Option<Rc<CMap>>>> = RefCell::default();
}

/// A character map that is part of the program. Foreign bytes are parsed by our own reader only.
fn predefined(name: &str) -> Option<Rc<CMap>> {
    let known = CMapName::from_bytes(name.as_bytes());
    if matches!(known, CMapName::Custom(_)) {
        return None;
    }
    LOADED.with_borrow_mut(|loaded| {
        let load = || {
            let data = hayro_cmap::load_embedded(known)?;
            CMap::parse(data, hayro_cmap::load_embedded).map(Rc::new)
        };
        loaded.entry(name.to_owned()).or_insert_with(load).clone()
    })
}
