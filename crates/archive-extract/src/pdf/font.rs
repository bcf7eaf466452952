//! A font as far as text needs it: which characters its codes mean, and how wide they are.

mod composite;
mod program;
mod standard;

use std::collections::HashMap;

use super::cmap::Cmap;
use super::file::PdfFile;
use super::glyphs;
use super::object::{Dict, Object};
use composite::Composite;
use program::FontProgram;

/// The largest character map or font program that is read.
const PART_MAX: usize = 8 << 20;
/// Charged to the work budget for a font program, because its glyphs are looked up one by one.
const PROGRAM_WORK: usize = 16 << 10;

pub(super) struct Font {
    map: Cmap,
    /// The text of a simple font's 256 codes.
    table: Vec<Option<String>>,
    composite: Option<Composite>,
    widths: HashMap<u32, f64>,
    width_default: Option<f64>,
    face: String,
    /// The unit of the widths: a thousandth of the font size, except in Type 3 fonts.
    scale: f64,
    /// Whether the lines run from top to bottom.
    pub(super) vertical: bool,
    /// How large the letters are against the size that the page states; 1 except in Type 3 fonts.
    pub(super) letter_size: f64,
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
        let max = max.min(PART_MAX);
        let map = match file.get(dict, "ToUnicode").as_deref() {
            Some(Object::Stream(inner, start)) => Cmap::parse(&file.data(inner, *start, max).data),
            Some(Object::Name(name)) if name.starts_with("Identity") => Cmap::identity(),
            _ => Cmap::default(),
        };
        let face = file.get(dict, "BaseFont");
        let face = face.as_deref().and_then(Object::name).unwrap_or_default().to_owned();
        let mut font = Self {
            map,
            table: Vec::new(),
            composite: None,
            widths: HashMap::new(),
            width_default: None,
            face,
            scale: 0.001,
            vertical: false,
            letter_size: 1.0,
        };
        if subtype == "Type0" || dict.contains_key("DescendantFonts") {
            font.load_composite(file, dict, max);
        } else {
            font.load_simple(file, dict, max);
        }
        if subtype == "Type3" {
            let matrix = file.get(dict, "FontMatrix");
            let first = matrix.and_then(|it| it.array().and_then(|it| it.first()?.number()));
            font.scale = first.filter(|it| it.is_finite() && *it != 0.0).unwrap_or(0.001).abs();
            font.letter_size = font.type3_size();
        }
        font
    }

    /// The letters of a Type 3 font have any size. A letter is about half as wide as the font is
    /// large.
    fn type3_size(&self) -> f64 {
        let widths = self.widths.values().map(|it| it.abs()).filter(|it| *it > 0.0);
        let (sum, count) = widths.fold((0.0, 0.0), |(sum, count), it| (sum + it, count + 1.0));
        let size = sum / count * self.scale / 0.5;
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }

    fn load_simple(&mut self, file: &PdfFile<'_>, dict: &Dict, max: usize) {
        let descriptor = file.get(dict, "FontDescriptor");
        let descriptor = descriptor.as_deref().and_then(Object::dict).cloned().unwrap_or_default();
        self.load_table(file, dict, &descriptor, max);
        let first = file.get(dict, "FirstChar").and_then(|it| it.count()).unwrap_or(0);
        if let Some(widths) = file.get(dict, "Widths") {
            for (code, width) in widths.array().unwrap_or_default().iter().take(256).enumerate() {
                if let (Some(width), Ok(code)) =
                    (file.resolve(width).number(), u32::try_from(first.saturating_add(code)))
                {
                    self.widths.insert(code, width);
                }
            }
            self.width_default = Some(file.number(&descriptor, "MissingWidth").unwrap_or(0.0));
        }
    }

    /// Fills the table of a simple font: its encoding, and then the differences from it.
    fn load_table(&mut self, file: &PdfFile<'_>, dict: &Dict, descriptor: &Dict, max: usize) {
        let subtype = file.get(dict, "Subtype");
        let true_type = subtype.as_deref().and_then(Object::name) == Some("TrueType");
        let encoding = file.get(dict, "Encoding");
        let (base, differences) = match encoding.as_deref() {
            Some(Object::Name(name)) => (Some(name.clone()), None),
            Some(Object::Dict(inner)) => {
                let base = file.get(inner, "BaseEncoding");
                (base.and_then(|it| it.name().map(str::to_owned)), file.get(inner, "Differences"))
            }
            _ => (None, None),
        };
        let symbols = glyphs::symbol_encoding(&self.face);
        let named = base.filter(|it| glyphs::is_known_encoding(it));
        // A program that names its own codes counts only if the file names no encoding.
        let embedded = if named.is_none() && (self.map.is_empty() || differences.is_some()) {
            with_program(file, descriptor, max, |it| it.codes())
        } else {
            None
        };
        // If the file names no encoding, embedded TrueType fonts have that of Windows and others
        // the standard.
        let windows = true_type && named.is_none() && descriptor.contains_key("FontFile2");
        let default = windows.then(|| "WinAnsiEncoding".to_owned());
        self.table = match symbols.filter(|_| embedded.is_none()) {
            Some(symbols) => symbols,
            None => glyphs::encoding(named.or(default).as_deref()),
        };
        if let Some(codes) = embedded {
            overlay(&mut self.table, codes);
        }
        let items = differences.as_deref().and_then(Object::array).unwrap_or_default();
        self.differences(file, items);
    }

    fn differences(&mut self, file: &PdfFile<'_>, items: &[Object]) {
        let mut code = 0_usize;
        for item in items {
            match &*file.resolve(item) {
                it @ Object::Number(_) => code = it.count().unwrap_or(0),
                Object::Name(name) => {
                    if let Some(slot) = self.table.get_mut(code) {
                        *slot = glyphs::glyph_text(name).or_else(|| numbered(name, code, slot));
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }

    fn load_composite(&mut self, file: &PdfFile<'_>, dict: &Dict, max: usize) {
        let below = file.get(dict, "DescendantFonts");
        let below = match below.as_deref() {
            Some(Object::Array(fonts)) => fonts.first().map(|it| file.resolve(it)),
            _ => below,
        };
        let none = Dict::new();
        let below = below.as_deref().and_then(Object::dict).unwrap_or(&none);
        let composite = Composite::load(file, dict, below, max, !self.map.is_empty());
        self.vertical = composite.vertical();
        self.composite = Some(composite);
        self.width_default = Some(file.number(below, "DW").unwrap_or(1_000.0));
        if let Some(widths) = file.get(below, "W") {
            self.load_widths(file, widths.array().unwrap_or_default());
        }
    }

    fn load_widths(&mut self, file: &PdfFile<'_>, items: &[Object]) {
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
    pub(super) fn show<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = DrawnChar> + 'a {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            let Some(composite) = &self.composite else {
                rest = &rest[1..];
                let code = u32::from(first);
                let text = self.map.text(code).or_else(|| self.table_text(first));
                return Some(self.drawn(text, code, first == b' '));
            };
            let (code, length) = composite.next_code(rest);
            rest = rest.get(length..).unwrap_or_default();
            let cid = composite.cid(code, length);
            let text = self.map.text(code).or_else(|| composite.text(code, cid));
            let text = text.or_else(|| self.map.identity_text(code));
            Some(self.drawn(text, cid, length == 1 && first == b' '))
        })
    }

    fn drawn(&self, text: Option<String>, code: u32, is_space: bool) -> DrawnChar {
        let width = self.widths.get(&code).copied().or(self.width_default);
        let width = width.unwrap_or_else(|| standard::width(&self.face, code));
        DrawnChar { text, width: width * self.scale, is_space }
    }

    fn table_text(&self, code: u8) -> Option<String> {
        self.table.get(usize::from(code)).cloned().flatten()
    }
}

/// Reads something from the embedded font program. `None` if there is none, or if the work budget
/// is used up.
fn with_program<T>(
    file: &PdfFile<'_>,
    descriptor: &Dict,
    max: usize,
    read: impl FnOnce(&FontProgram<'_>) -> T,
) -> Option<T> {
    let stream =
        ["FontFile2", "FontFile3", "FontFile"].iter().find_map(|it| file.get(descriptor, it));
    let Some(Object::Stream(inner, start)) = stream.as_deref() else { return None };
    if !file.budget.spend_parsed(PROGRAM_WORK) {
        return None;
    }
    let data = file.data(inner, *start, max).data;
    FontProgram::parse(&data).map(|it| read(&it))
}

/// Puts what `codes` knows over the table.
fn overlay(table: &mut [Option<String>], codes: Vec<Option<String>>) {
    for (slot, code) in table.iter_mut().zip(codes) {
        if code.is_some() {
            *slot = code;
        }
    }
}

/// The text of a glyph whose name only repeats its code, such as `a65` or `C41`: the encoding
/// counts.
fn numbered(name: &str, code: usize, slot: &Option<String>) -> Option<String> {
    let repeats =
        |digits: &str| digits.parse() == Ok(code) || usize::from_str_radix(digits, 16) == Ok(code);
    let same = (1..=2).any(|prefix| name.get(prefix..).is_some_and(repeats));
    slot.clone().filter(|_| same)
}
