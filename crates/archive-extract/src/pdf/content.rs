//! Runs the content stream of a page and records the text, the boxes and the pictures that it
//! draws. Nothing is painted.

pub(super) mod form_field;
mod marked_content;

use std::collections::HashMap;
use std::rc::Rc;

use super::drawn_items::DrawnItems;
use super::file::PdfFile;
use super::font::Font;
use super::layout::{Glyph, Layout};
use super::object::{ContentToken, Dict, Lexer, Object};
use super::paint::{ColourSpace, Paint};
use crate::context::{ReadContext, ReadResult};
use marked_content::MarkedContent;

/// Forms may draw forms at most this deep; real files nest a few levels.
const FORMS_MAX: usize = 12;
/// The most operators of one page: enough for the densest drawing, and a bound for forms that draw
/// each other many times.
const OPERATORS_MAX: usize = 4_000_000;

/// Letters with at most this part of the font size between them are one word.
const SPREAD_MAX: f64 = 0.3;

pub(super) type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

#[derive(Clone)]
struct Graphics {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    char_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
    paint: Paint,
}

pub(super) struct PageInterpreter<'a, 'b> {
    file: &'a PdfFile<'b>,
    pub(super) layout: Layout,
    drawn: DrawnItems,
    fonts: HashMap<u32, Rc<Font>>,
    graphics: Graphics,
    saved: Vec<Graphics>,
    text_matrix: Matrix,
    line_matrix: Matrix,
    marked: MarkedContent,
    /// Where the forms that are being drawn start; a form does not draw itself.
    open_forms: Vec<usize>,
    operators: usize,
}

impl<'a, 'b> PageInterpreter<'a, 'b> {
    pub(super) fn new(file: &'a PdfFile<'b>, fonts: HashMap<u32, Rc<Font>>) -> Self {
        let graphics = Graphics {
            matrix: IDENTITY,
            font: None,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            paint: Paint::default(),
        };
        Self {
            file,
            layout: Layout::default(),
            drawn: DrawnItems::default(),
            fonts,
            graphics,
            saved: Vec::new(),
            text_matrix: IDENTITY,
            line_matrix: IDENTITY,
            marked: MarkedContent::default(),
            open_forms: Vec::new(),
            operators: 0,
        }
    }

    /// Leaves out characters outside the page, whose box may come from the nodes above it.
    pub(super) fn set_page_bounds(&mut self, page: &Dict) {
        let found = form_field::inherited(self.file, page, "MediaBox");
        let numbers = |it: Rc<Object>| -> Option<[f64; 4]> {
            let all: Option<Vec<f64>> =
                it.array()?.iter().map(|it| self.file.resolve(it).number()).collect();
            all?.try_into().ok()
        };
        if let Some(bounds) = found.and_then(numbers) {
            self.layout.set_bounds(bounds);
        }
    }

    /// The text, what is drawn, and the fonts loaded so far, which the next page reuses.
    pub(super) fn into_parts(self) -> (Layout, DrawnItems, HashMap<u32, Rc<Font>>) {
        (self.layout, self.drawn, self.fonts)
    }

    /// Runs a content stream, and the forms that it draws.
    pub(super) fn run(
        &mut self,
        context: &mut ReadContext<'_>,
        data: &[u8],
        resources: &Dict,
        depth: usize,
    ) -> ReadResult {
        let mut lexer = Lexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut inline_pictures = true;
        while let Some(token) = lexer.token() {
            match token {
                ContentToken::Operand(object) if operands.len() < 64 => operands.push(object),
                ContentToken::Operand(_) => {}
                ContentToken::Operator(word) => {
                    self.operators += 1;
                    if self.operators.is_multiple_of(1_024) {
                        context.tick()?;
                    }
                    if self.operators > OPERATORS_MAX {
                        return Ok(());
                    }
                    match word.as_str() {
                        "Do" => self.draw(context, &operands, resources, depth)?,
                        "BI" if inline_pictures => {
                            // If no picture data follows, further `BI` operators need no search.
                            inline_pictures = skip_inline_picture(&mut lexer);
                            self.drawn.add_picture(Rc::new(Object::Null), &self.graphics.matrix);
                        }
                        "gs" => self.set_opacity(&operands, resources),
                        "cs" | "CS" => self.set_colour_space(&word, &operands, resources),
                        "Tf" => self.set_font(context, &operands, resources)?,
                        "BMC" | "BDC" => self.marked.begin(self.file, &operands, resources),
                        word => self.operate(word, &operands),
                    }
                    operands.clear();
                }
            }
        }
        Ok(())
    }

    fn operate(&mut self, word: &str, operands: &[Object]) {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or(0.0);
        let matrix = || [number(0), number(1), number(2), number(3), number(4), number(5)];
        match word {
            "q" if self.saved.len() < 512 => self.saved.push(self.graphics.clone()),
            "Q" => {
                if let Some(saved) = self.saved.pop() {
                    self.graphics = saved;
                }
            }
            "cm" => self.graphics.matrix = multiply(&matrix(), &self.graphics.matrix),
            "EMC" => self.marked.end(&mut self.layout),
            "BT" => self.set_text_position(IDENTITY),
            "Tm" => self.set_text_position(matrix()),
            "Td" => self.move_line(number(0), number(1)),
            "TD" => {
                self.graphics.leading = -number(1);
                self.move_line(number(0), number(1));
            }
            "T*" => self.move_line(0.0, -self.graphics.leading),
            "Tc" => self.graphics.char_space = number(0),
            "Tw" => self.graphics.word_space = number(0),
            "Tz" => self.graphics.stretch = number(0) / 100.0,
            "TL" => self.graphics.leading = number(0),
            "Ts" => self.graphics.rise = number(0),
            "Tj" => self.show(operands.first()),
            "'" => {
                self.move_line(0.0, -self.graphics.leading);
                self.show(operands.first());
            }
            "\"" => {
                self.graphics.word_space = number(0);
                self.graphics.char_space = number(1);
                self.move_line(0.0, -self.graphics.leading);
                self.show(operands.get(2));
            }
            "TJ" => {
                for item in operands.first().and_then(Object::array).unwrap_or_default() {
                    match item {
                        Object::Number(shift) => {
                            let vertical =
                                self.graphics.font.as_ref().is_some_and(|it| it.vertical);
                            let stretch = if vertical { 1.0 } else { self.graphics.stretch };
                            self.shift(-shift / 1_000.0 * self.graphics.size * stretch, vertical);
                        }
                        text => self.show(Some(text)),
                    }
                }
            }
            _ => {
                let Graphics { matrix, paint, .. } = &mut self.graphics;
                self.drawn.operate(word, operands, matrix, paint);
            }
        }
    }

    fn set_text_position(&mut self, matrix: Matrix) {
        self.text_matrix = matrix;
        self.line_matrix = matrix;
    }

    fn move_line(&mut self, x: f64, y: f64) {
        let moved = multiply(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line_matrix);
        self.set_text_position(moved);
    }

    fn shift(&mut self, along: f64, vertical: bool) {
        let (x, y) = if vertical { (0.0, -along) } else { (along, 0.0) };
        self.text_matrix = multiply(&[1.0, 0.0, 0.0, 1.0, x, y], &self.text_matrix);
    }

    fn show(&mut self, text: Option<&Object>) {
        let Some(Object::Text(bytes)) = text else { return };
        let Some(font) = self.graphics.font.clone() else { return };
        let (size, stretch) = (self.graphics.size, self.graphics.stretch);
        for shown in font.show(bytes) {
            let full = multiply(&self.text_matrix, &self.graphics.matrix);
            let space = if shown.is_space { self.graphics.word_space } else { 0.0 };
            let spacing = self.graphics.char_space + space;
            // A vertical line goes down by the size of the font for each character.
            let drawn = if font.vertical { size } else { shown.width * size * stretch };
            let step = drawn + if font.vertical { spacing } else { spacing * stretch };
            let at = |along: f64| {
                let (x, y) = if font.vertical { (0.0, -along) } else { (along, 0.0) };
                let y = y + self.graphics.rise;
                (x * full[0] + y * full[2] + full[4], x * full[1] + y * full[3] + full[5])
            };
            let height = (size * full[2]).hypot(size * full[3]) * font.letter_size;
            let letter = shown.text.as_deref().unwrap_or_default();
            self.drawn.add_letter(letter, &full, drawn, size, &self.graphics.paint);
            // Letters that are spread evenly are one word.
            let spread = self.graphics.char_space.max(0.0).min(size.abs() * SPREAD_MAX);
            let (start, end) = (at(0.0), at(drawn + spread));
            self.marked.add(&mut self.layout, Glyph { start, end, size: height, text: shown.text });
            self.shift(step, font.vertical);
        }
    }

    fn set_font(
        &mut self,
        context: &mut ReadContext<'_>,
        operands: &[Object],
        resources: &Dict,
    ) -> ReadResult {
        let [Object::Name(name), size] = operands else { return Ok(()) };
        self.graphics.size = size.number().unwrap_or(1.0);
        let Some(entry) = self.file.nested_entry(resources, "Font", name) else { return Ok(()) };
        if let Object::Reference(number) = &entry
            && let Some(font) = self.fonts.get(number)
        {
            self.graphics.font = Some(font.clone());
            return Ok(());
        }
        context.tick()?;
        let dict = self.file.resolve(&entry);
        let Some(dict) = dict.dict() else { return Ok(()) };
        let font = Rc::new(Font::load(self.file, dict, context.stream_max()));
        if let Object::Reference(number) = &entry {
            if self.fonts.len() >= 256 {
                self.fonts.clear();
            }
            self.fonts.insert(*number, font.clone());
        }
        self.graphics.font = Some(font);
        Ok(())
    }

    fn draw(
        &mut self,
        context: &mut ReadContext<'_>,
        operands: &[Object],
        resources: &Dict,
        depth: usize,
    ) -> ReadResult {
        let [Object::Name(name)] = operands else { return Ok(()) };
        let Some(entry) = self.file.nested_entry(resources, "XObject", name) else { return Ok(()) };
        let object = self.file.resolve(&entry);
        let Object::Stream(dict, start) = &*object else { return Ok(()) };
        if self.file.is_on_layer_off(dict) {
            return Ok(());
        }
        let subtype = self.file.get(dict, "Subtype");
        match subtype.as_deref().and_then(Object::name) {
            Some("Image") => self.drawn.add_picture(object.clone(), &self.graphics.matrix),
            Some("Form") if depth < FORMS_MAX => {
                self.form(context, dict, *start, resources, depth)?
            }
            _ => {}
        }
        Ok(())
    }

    fn form(
        &mut self,
        context: &mut ReadContext<'_>,
        dict: &Dict,
        start: usize,
        resources: &Dict,
        depth: usize,
    ) -> ReadResult {
        if self.open_forms.contains(&start) {
            return Ok(());
        }
        let data = self.file.data(dict, start, context.stream_max()).data;
        context.unpack(data.len())?;
        let inner = self.file.get(dict, "Resources");
        let inner = inner.as_deref().and_then(Object::dict).unwrap_or(resources);
        let outer = (self.graphics.clone(), self.text_matrix, self.line_matrix);
        let saved = std::mem::take(&mut self.saved);
        let own = self.numbers(dict, "Matrix").unwrap_or(IDENTITY);
        self.graphics.matrix = multiply(&own, &self.graphics.matrix);
        self.open_forms.push(start);
        self.run(context, &data, inner, depth + 1)?;
        self.open_forms.pop();
        self.saved = saved;
        (self.graphics, self.text_matrix, self.line_matrix) = outer;
        Ok(())
    }

    fn numbers<const N: usize>(&self, dict: &Dict, key: &str) -> Option<[f64; N]> {
        let object = self.file.get(dict, key)?;
        let values: Option<Vec<f64>> =
            object.array()?.iter().map(|it| self.file.resolve(it).number()).collect();
        values?.try_into().ok()
    }

    /// Reads the annotations of a page that show text: form fields, free text, stamps and drawings.
    /// Links, notes and hidden annotations are skipped.
    pub(super) fn annotations(&mut self, context: &mut ReadContext<'_>, page: &Dict) -> ReadResult {
        self.marked = MarkedContent::default();
        let list = self.file.get(page, "Annots");
        let list = list.as_deref().and_then(Object::array).unwrap_or_default();
        for entry in list.iter().take(5_000) {
            let annotation = self.file.resolve(entry);
            let Some(dict) = annotation.dict() else { continue };
            let subtype = self.file.get(dict, "Subtype");
            let skipped = matches!(
                subtype.as_deref().and_then(Object::name),
                None | Some("Link" | "Popup" | "Text")
            );
            let flags = self.file.get(dict, "F").and_then(|it| it.integer()).unwrap_or(0);
            if flags & 0b10_0010 != 0 || self.file.is_on_layer_off(dict) {
                continue;
            }
            if let Some(area) = super::annotation::hidden_area(self.file, dict) {
                self.drawn.add_box(super::paint::PaintedBox { area, is_dark: true });
            }
            if !skipped {
                self.annotation(context, dict)?;
            }
        }
        Ok(())
    }

    fn annotation(&mut self, context: &mut ReadContext<'_>, dict: &Dict) -> ReadResult {
        let rect: [f64; 4] = self.numbers(dict, "Rect").unwrap_or_default();
        let appearances = self.file.get(dict, "AP");
        let appearances = appearances.as_deref().and_then(Object::dict);
        let appearance = appearances.and_then(|it| self.file.get(it, "N"));
        let outdated = appearance.is_none() || form_field::have_outdated_appearances(self.file);
        if outdated && form_field::add_value(self.file, &mut self.layout, dict, rect) {
            return Ok(());
        }
        let Some(mut appearance) = appearance else { return Ok(()) };
        // A check box has one appearance for each of its states.
        if let Object::Dict(states) = &*appearance {
            let state = self.file.get(dict, "AS");
            let state = state.as_deref().and_then(Object::name).unwrap_or("Off");
            let Some(chosen) = self.file.get(states, state) else { return Ok(()) };
            appearance = chosen;
        }
        let Object::Stream(form, start) = &*appearance else { return Ok(()) };
        let inside: [f64; 4] = self.numbers(form, "BBox").unwrap_or_default();
        let own = self.numbers(form, "Matrix").unwrap_or(IDENTITY);
        self.saved.clear();
        self.graphics.matrix = form_field::placement(&own, inside, rect);
        let none = Dict::new();
        let shared = &form_field::defaults(self.file).resources;
        let shared = shared.as_deref().and_then(Object::dict).unwrap_or(&none);
        self.form(context, form, *start, shared, 0)
    }

    fn set_opacity(&mut self, operands: &[Object], resources: &Dict) {
        let Some(state) = self.resource(operands, resources, "ExtGState") else { return };
        let Some(dict) = state.dict() else { return };
        let number = |key: &str| self.file.number(dict, key);
        self.graphics.paint.set_opacity(number("ca"), number("CA"));
    }

    fn set_colour_space(&mut self, word: &str, operands: &[Object], resources: &Dict) {
        let named = match operands {
            [Object::Name(name)] if name.starts_with("Device") => ColourSpace::ByCount,
            _ => {
                let space = self.resource(operands, resources, "ColorSpace");
                let parts = space.as_deref().and_then(Object::array).unwrap_or_default();
                match parts.first().and_then(Object::name) {
                    Some("ICCBased" | "CalGray" | "CalRGB") => ColourSpace::ByCount,
                    Some("Separation") => match parts.get(1).and_then(Object::name) {
                        Some("Black" | "All") => ColourSpace::BlackInk,
                        _ => ColourSpace::Unknown,
                    },
                    _ => ColourSpace::Unknown,
                }
            }
        };
        self.graphics.paint.set_space(word, named);
    }

    /// The entry of the resources that an operator names.
    fn resource(
        &self,
        operands: &[Object],
        resources: &Dict,
        category: &str,
    ) -> Option<Rc<Object>> {
        let [Object::Name(name)] = operands else { return None };
        self.file.get(self.file.get(resources, category)?.dict()?, name)
    }
}

/// Moves the lexer after the data of an inline picture, whose length is not stated. False if no
/// picture data begins in the rest of the stream.
fn skip_inline_picture(lexer: &mut Lexer<'_>) -> bool {
    let rest = &lexer.bytes[lexer.at..];
    let Some(data) = super::search::find(rest, b"ID") else { return false };
    let mut at = data + 2;
    while let Some(step) = super::search::find(&rest[at..], b"EI") {
        at += step + 2;
        let before = rest[at - 3];
        let after = rest.get(at).copied().unwrap_or(b' ');
        // The data may contain `EI`; it ends the data only between blanks and before printable
        // text.
        let text_follows =
            rest[at..].iter().take(8).all(|it| it.is_ascii_graphic() || it.is_ascii_whitespace());
        if before.is_ascii_whitespace() && after.is_ascii_whitespace() && text_follows {
            break;
        }
    }
    lexer.at += at;
    true
}
