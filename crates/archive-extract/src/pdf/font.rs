//! A font as far as text needs it: which characters its codes mean, and how wide they are.

use std::collections::HashMap;

use super::cmap::{Cmap, to_code};
use super::file::PdfFile;
use super::glyphs;
use super::object::{Dict, Object};

pub(super) struct Font {
    map: Cmap,
    /// Characters of a simple font's 256 codes.
    table: Vec<Option<String>>,
    composite: bool,
    /// Whether the codes are UTF-16.
    unicode_codes: bool,
    code_bytes: usize,
    widths: HashMap<u32, f64>,
    width_default: Option<f64>,
    face: String,
    /// The unit of the widths: a thousandth of the font size, except in Type 3 fonts.
    scale: f64,
}

/// One drawn character: its text if it is known, and its width.
pub(super) struct DrawnChar {
    pub(super) text: Option<String>,
    pub(super) width: f64,
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn load(file: &PdfFile<'_>, dict: &Dict, max: usize) -> Self {
        let subtype = file.get(dict, "Subtype");
        let subtype = subtype.as_deref().and_then(Object::name).unwrap_or_default();
        let map = match file.get(dict, "ToUnicode").as_deref() {
            Some(Object::Stream(inner, start)) => {
                Cmap::parse(&file.data(inner, *start, max.min(8 << 20)).data)
            }
            _ => Cmap::default(),
        };
        let face = file.get(dict, "BaseFont");
        let face = face.as_deref().and_then(Object::name).unwrap_or_default().to_owned();
        let mut font = Self {
            map,
            table: Vec::new(),
            composite: subtype == "Type0",
            unicode_codes: false,
            code_bytes: 1,
            widths: HashMap::new(),
            width_default: None,
            face,
            scale: 0.001,
        };
        if font.composite {
            font.load_composite(file, dict, max);
        } else {
            font.load_simple(file, dict);
        }
        if subtype == "Type3" {
            let matrix = file.get(dict, "FontMatrix");
            let first = matrix.and_then(|it| it.array().and_then(|it| it.first()?.number()));
            font.scale = first.filter(|it| it.is_finite() && *it != 0.0).unwrap_or(0.001).abs();
        }
        font
    }

    fn load_simple(&mut self, file: &PdfFile<'_>, dict: &Dict) {
        let encoding = file.get(dict, "Encoding");
        let (base, differences) = match encoding.as_deref() {
            Some(Object::Name(name)) => (Some(name.clone()), None),
            Some(Object::Dict(inner)) => {
                let base = file.get(inner, "BaseEncoding");
                (base.and_then(|it| it.name().map(str::to_owned)), file.get(inner, "Differences"))
            }
            _ => (None, None),
        };
        // If the file names no encoding, TrueType fonts have that of Windows and others the
        // standard.
        let subtype = file.get(dict, "Subtype");
        let windows = subtype.as_deref().and_then(Object::name) == Some("TrueType");
        let base = base.or_else(|| windows.then(|| "WinAnsiEncoding".to_owned()));
        self.table = glyphs::encoding(base.as_deref());
        let mut code = 0_usize;
        for item in differences.as_deref().and_then(Object::array).unwrap_or_default() {
            match item {
                Object::Number(_) => code = item.count().unwrap_or(0),
                Object::Name(name) => {
                    if let Some(slot) = self.table.get_mut(code) {
                        *slot = glyphs::named(name);
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        let first = file.get(dict, "FirstChar").and_then(|it| it.count()).unwrap_or(0);
        if let Some(widths) = file.get(dict, "Widths") {
            for (code, width) in widths.array().unwrap_or_default().iter().take(256).enumerate() {
                if let (Some(width), Ok(code)) =
                    (file.resolve(width).number(), u32::try_from(first.saturating_add(code)))
                {
                    self.widths.insert(code, width);
                }
            }
            let missing = file.get(dict, "FontDescriptor");
            let missing = missing.as_deref().and_then(Object::dict).cloned().unwrap_or_default();
            self.width_default = Some(file.number(&missing, "MissingWidth").unwrap_or(0.0));
        }
    }

    fn load_composite(&mut self, file: &PdfFile<'_>, dict: &Dict, max: usize) {
        self.code_bytes = 2;
        match file.get(dict, "Encoding").as_deref() {
            Some(Object::Name(name)) => {
                self.unicode_codes = name.contains("UCS2") || name.contains("UTF16");
            }
            Some(Object::Stream(inner, start)) => {
                let cmap = Cmap::parse(&file.data(inner, *start, max.min(8 << 20)).data);
                self.code_bytes = cmap.width.unwrap_or(2);
            }
            _ => {}
        }
        let below = file.get(dict, "DescendantFonts");
        let below = below.as_deref().and_then(Object::array).and_then(<[Object]>::first);
        let below = below.map(|it| file.resolve(it));
        let Some(below) = below.as_deref().and_then(Object::dict) else { return };
        self.width_default = Some(file.number(below, "DW").unwrap_or(1_000.0));
        let Some(widths) = file.get(below, "W") else { return };
        let items = widths.array().unwrap_or_default();
        let mut at = 0;
        while let Some(first) = items.get(at).map(|it| file.resolve(it)).and_then(|it| it.count()) {
            let Some(second) = items.get(at + 1).map(|it| file.resolve(it)) else { break };
            let Ok(first) = u32::try_from(first) else { break };
            if let Some(list) = second.array() {
                for (code, width) in (first..).zip(list) {
                    self.widths.insert(code, file.resolve(width).number().unwrap_or(0.0));
                }
                at += 2;
            } else {
                let last = second.count().unwrap_or(0).min(65_535);
                let width = items.get(at + 2).map(|it| file.resolve(it)).and_then(|it| it.number());
                for code in first..=u32::try_from(last).unwrap_or(0) {
                    self.widths.insert(code, width.unwrap_or(0.0));
                }
                at += 3;
            }
            // A short range can name many codes, so their number is bounded.
            if self.widths.len() > 70_000 || at > 400_000 {
                break;
            }
        }
    }

    /// The characters of a string drawn in this font.
    pub(super) fn show(&self, bytes: &[u8]) -> impl Iterator<Item = DrawnChar> {
        bytes.chunks(self.code_bytes).map(|it| {
            let code = to_code(it);
            let width = self.widths.get(&code).copied().or(self.width_default);
            let width = width.unwrap_or_else(|| glyphs::standard_width(&self.face, code));
            DrawnChar { text: self.text(code), width: width * self.scale, is_space: it == b" " }
        })
    }

    fn text(&self, code: u32) -> Option<String> {
        if let Some(text) = self.map.text(code).filter(|it| !it.is_empty()) {
            return Some(text);
        }
        if self.unicode_codes {
            return char::from_u32(code).map(|it| it.to_string());
        }
        if self.composite {
            return None;
        }
        // If the font has a character map, the encoding is used only for ASCII, because the map is
        // more reliable.
        self.table
            .get(code as usize)
            .cloned()
            .flatten()
            .filter(|it| self.map.is_empty() || it == " " || it.is_ascii())
    }
}
