//! Marked content: spans whose text the file states, and layers that are switched off.

use super::super::file::PdfFile;
use super::super::layout::{Glyph, Layout};
use super::super::object::{Dict, Object};

/// Deeper spans are read as if they were not marked.
const DEPTH_MAX: usize = 512;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Plain,
    /// Belongs to a layer that is switched off.
    Hidden,
    /// The file states the text of the span.
    Stated,
}

/// A span whose text is stated, with the place of what is drawn in it.
struct StatedText {
    text: String,
    drawn: Option<Glyph>,
}

#[derive(Default)]
pub(super) struct MarkedContent {
    marks: Vec<Mark>,
    /// Spans beyond the depth limit.
    beyond: usize,
    hidden: usize,
    stated: Option<StatedText>,
}

impl MarkedContent {
    /// The operators `BMC` and `BDC`.
    pub(super) fn begin(&mut self, file: &PdfFile<'_>, operands: &[Object], resources: &Dict) {
        if self.marks.len() >= DEPTH_MAX {
            self.beyond += 1;
            return;
        }
        let mut mark = Mark::Plain;
        if let [Object::Name(tag), entry] = operands {
            let listed = match entry {
                Object::Name(name) => file.nested_entry(resources, "Properties", name),
                direct => Some(direct.clone()),
            };
            if tag == "OC" && listed.as_ref().is_some_and(|it| file.is_layer_off(it)) {
                mark = Mark::Hidden;
                self.hidden += 1;
            } else if self.stated.is_none()
                && let Some(properties) = listed.map(|it| file.resolve(&it))
                && let Some(dict) = properties.dict()
                && let Some(Object::Text(bytes)) = file.get(dict, "ActualText").as_deref()
            {
                mark = Mark::Stated;
                self.stated = Some(StatedText { text: text_string(bytes), drawn: None });
            }
        }
        self.marks.push(mark);
    }

    /// The operator `EMC`.
    pub(super) fn end(&mut self, layout: &mut Layout) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        match self.marks.pop() {
            Some(Mark::Hidden) => self.hidden -= 1,
            Some(Mark::Stated) => {
                if let Some(StatedText { text, drawn: Some(glyph) }) = self.stated.take() {
                    layout.add(&Glyph { text: Some(text).filter(|it| !it.is_empty()), ..glyph });
                }
            }
            Some(Mark::Plain) | None => {}
        }
    }

    /// Adds a drawn character to the page, unless a layer or a stated text replaces it.
    pub(super) fn add(&mut self, layout: &mut Layout, glyph: Glyph) {
        if self.hidden > 0 {
            return;
        }
        let Some(stated) = &mut self.stated else {
            layout.add(&glyph);
            return;
        };
        match &mut stated.drawn {
            None => stated.drawn = Some(glyph),
            // The span reaches to the last character that is on the line of the first.
            Some(first) if (first.start.1 - glyph.end.1).abs() < first.size * 0.5 => {
                first.end = glyph.end;
            }
            Some(_) => {}
        }
    }
}

/// A text string of a dictionary: UTF-16, UTF-8 or one byte for a character.
pub(super) fn text_string(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, wide @ ..] => encoding_rs::UTF_16BE.decode_without_bom_handling(wide).0,
        [0xff, 0xfe, wide @ ..] => encoding_rs::UTF_16LE.decode_without_bom_handling(wide).0,
        [0xef, 0xbb, 0xbf, narrow @ ..] => String::from_utf8_lossy(narrow),
        _ => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
    };
    text.into_owned()
}
