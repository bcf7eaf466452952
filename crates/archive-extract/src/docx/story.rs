//! Converts the XML of one `WordprocessingML` part to text. A DTD is skipped, so a document cannot
//! define entities that expand.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::pictures::DocxPicture;
use crate::context::{ReadContext, ReadResult};
use crate::plain;

pub(super) type Notes = BTreeMap<(char, String), String>;

#[derive(Default)]
pub(super) struct DocxPage {
    pub(super) text: String,
    /// Notes referred to, in order: `f` or `e`, and the id.
    pub(super) references: Vec<(char, String)>,
    pub(super) pictures: Vec<DocxPicture>,
}

/// One part's text. A notes part fills `notes` instead of pages.
#[derive(Default)]
pub(super) struct Story {
    pub(super) pages: Vec<DocxPage>,
    pub(super) notes: Notes,
    /// The error that made the parser stop before the end.
    pub(super) damage: Option<String>,
}

/// The unit of drawings in the file.
const EMU_PER_INCH: f64 = 914_400.0;
/// A smaller picture is a logo or a signature: 5 % of a page, in square inches.
const PICTURE_SMALL: f64 = 4.7;
/// Pictures of one page that are kept; a page with more is not a document.
const PICTURES_MAX: usize = 64;

struct StoryParser<'a> {
    story: Story,
    page: DocxPage,
    hidden_styles: &'a BTreeSet<String>,
    /// Depth inside elements whose content is not shown.
    skipped: usize,
    in_text: bool,
    in_run: bool,
    in_run_properties: bool,
    in_paragraph_properties: bool,
    run_hidden: bool,
    section_break: bool,
    section_continues: bool,
    /// A text box is inside a paragraph, and its text is put after it: the paragraph's text so far,
    /// for each open box.
    outside: Vec<String>,
    boxes: String,
    note: Option<(String, usize)>,
    /// The size of the drawing that is open, in square inches.
    drawing_size: f64,
    /// Whether the page began with an explicit break, after which Word writes its own mark too.
    expects_mark: bool,
    /// For each open table row: the marks of its current cell, and the most of any cell so far. A
    /// row over two pages has a mark in every cell.
    rows: Vec<(u32, u32)>,
}

impl Story {
    pub(super) fn read(
        context: &ReadContext<'_>,
        xml: &[u8],
        hidden: &BTreeSet<String>,
    ) -> ReadResult<Self> {
        let text = plain::decode(xml);
        let mut reader = lenient(&text);
        let mut state = StoryParser::new(hidden);
        let mut events = 0_u32;
        loop {
            events = events.wrapping_add(1);
            if events.is_multiple_of(1_024) {
                context.tick()?;
            }
            match reader.read_event() {
                Ok(Event::Start(it)) => state.start(&it),
                Ok(Event::Empty(it)) => {
                    state.start(&it);
                    state.end(it.local_name().as_ref());
                }
                Ok(Event::End(it)) => state.end(it.local_name().as_ref()),
                Ok(Event::Text(it)) => state.text(&it),
                Ok(Event::CData(it)) => state.text(&it),
                Ok(Event::GeneralRef(it)) => state.text(&resolve(&it)),
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(error) => {
                    state.story.damage = Some(error.to_string());
                    break;
                }
            }
        }
        Ok(state.finish())
    }
}

fn lenient(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    reader
}

/// Character references and the five entities of XML itself; anything else is left out.
fn resolve(entity: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(it)) = entity.resolve_char_ref() {
        return it.to_string();
    }
    match &**entity {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
    .to_owned()
}

fn attribute(it: &BytesStart<'_>, name: &str) -> Option<String> {
    it.attributes()
        .with_checks(false)
        .flatten()
        .find(|it| it.key.local_name().as_ref() == name)
        .map(|it| it.value.as_ref().to_owned())
}

/// An on-off property is on unless it says otherwise.
fn is_on(it: &BytesStart<'_>) -> bool {
    !matches!(attribute(it, "val").as_deref(), Some("0" | "false" | "off" | "none"))
}

impl<'a> StoryParser<'a> {
    fn new(hidden_styles: &'a BTreeSet<String>) -> Self {
        Self {
            story: Story::default(),
            page: DocxPage::default(),
            hidden_styles,
            skipped: 0,
            in_text: false,
            in_run: false,
            in_run_properties: false,
            in_paragraph_properties: false,
            run_hidden: false,
            section_break: false,
            section_continues: false,
            outside: Vec::new(),
            boxes: String::new(),
            note: None,
            drawing_size: 0.0,
            expects_mark: false,
            rows: Vec::new(),
        }
    }

    fn start(&mut self, it: &BytesStart<'_>) {
        let name = it.local_name();
        let name = name.as_ref();
        // `Fallback` repeats what `Choice` says, for older programs.
        if self.skipped > 0 || matches!(name, "del" | "moveFrom" | "Fallback" | "instrText") {
            self.skipped += 1;
            return;
        }
        match name {
            "pPr" => self.in_paragraph_properties = true,
            "rPr" => self.in_run_properties = true,
            "vanish" | "webHidden" if self.in_run && self.in_run_properties => {
                self.run_hidden |= is_on(it);
            }
            "rStyle" if self.in_run => {
                let style = attribute(it, "val").unwrap_or_default();
                self.run_hidden |= self.hidden_styles.contains(&style);
            }
            "r" => {
                self.in_run = true;
                self.run_hidden = false;
            }
            "t" => self.in_text = true,
            "pageBreakBefore" if self.in_paragraph_properties && is_on(it) => {
                self.break_explicitly();
            }
            "tr" => self.rows.push((0, 0)),
            "tc" => {
                if let Some((marks, _)) = self.rows.last_mut() {
                    *marks = 0;
                }
            }
            "lastRenderedPageBreak" => self.mark_page(),
            "extent" => {
                let inches = |name: &str| attribute(it, name)?.parse::<f64>().ok();
                let size = inches("cx").zip(inches("cy")).map_or(0.0, |(wide, high)| wide * high);
                self.drawing_size = size / (EMU_PER_INCH * EMU_PER_INCH);
            }
            "blip" => self.picture(attribute(it, "embed"), self.drawing_size < PICTURE_SMALL),
            // An older form of a picture, whose size is in a style.
            "imagedata" => self.picture(attribute(it, "id"), false),
            "sectPr" if self.in_paragraph_properties => {
                self.section_break = true;
                self.section_continues = false;
            }
            "type" if self.section_break => {
                self.section_continues =
                    matches!(attribute(it, "val").as_deref(), Some("continuous" | "nextColumn"));
            }
            "txbxContent" => self.outside.push(std::mem::take(&mut self.page.text)),
            "footnote" | "endnote" => self.open_note(it),
            _ if self.in_run && !self.run_hidden => self.run_content(name, it),
            _ => {}
        }
    }

    fn run_content(&mut self, name: &str, it: &BytesStart<'_>) {
        match name {
            // Tab stops share the name but stand in paragraph properties.
            "tab" if !self.in_paragraph_properties => self.page.text.push('\t'),
            "br" if attribute(it, "type").as_deref() == Some("page") => self.break_explicitly(),
            "br" | "cr" => self.page.text.push('\n'),
            "noBreakHyphen" => self.page.text.push('-'),
            "footnoteReference" | "endnoteReference" => {
                let mark = if name.starts_with('f') { 'f' } else { 'e' };
                if let Some(id) = attribute(it, "id") {
                    self.page.references.push((mark, id));
                }
            }
            _ => {}
        }
    }

    fn picture(&mut self, relation: Option<String>, is_small: bool) {
        if let Some(relation) = relation.filter(|_| self.page.pictures.len() < PICTURES_MAX) {
            self.page.pictures.push(DocxPicture { relation, is_small });
        }
    }

    fn open_note(&mut self, it: &BytesStart<'_>) {
        // Separators are notes too, with a type.
        let kind = attribute(it, "type");
        if kind.as_deref().is_none_or(|it| it == "normal") {
            let id = attribute(it, "id").unwrap_or_default();
            self.note = Some((id, self.page.text.len()));
        }
    }

    fn end(&mut self, name: &str) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        match name {
            "pPr" => self.in_paragraph_properties = false,
            "rPr" => self.in_run_properties = false,
            "r" => self.in_run = false,
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                self.trim_line_end();
                self.page.text.push('\t');
            }
            "tr" => {
                self.rows.pop();
                if self.page.text.ends_with('\t') {
                    self.page.text.pop();
                }
                self.page.text.push('\n');
            }
            "txbxContent" => {
                let inside =
                    self.outside.pop().map(|it| std::mem::replace(&mut self.page.text, it));
                self.boxes.push_str(inside.unwrap_or_default().trim_end());
                self.boxes.push('\n');
                // The run that holds the box goes on after it.
                self.in_run = true;
            }
            "footnote" | "endnote" => {
                if let Some((id, from)) = self.note.take() {
                    let text = self.page.text.get(from..).unwrap_or_default().trim().to_owned();
                    self.story.notes.insert((' ', id), text);
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        self.page.text.push('\n');
        if self.outside.is_empty() && !self.boxes.is_empty() {
            let boxes = std::mem::take(&mut self.boxes);
            self.page.text.push_str(&boxes);
        }
        if std::mem::take(&mut self.section_break) && !self.section_continues {
            self.break_explicitly();
        }
    }

    fn trim_line_end(&mut self) {
        if self.page.text.ends_with('\n') {
            self.page.text.pop();
        }
    }

    fn break_explicitly(&mut self) {
        self.expects_mark |= self.break_page();
    }

    /// A page began here when Word last laid the document out.
    fn mark_page(&mut self) {
        if let Some((marks, most)) = self.rows.last_mut() {
            *marks += 1;
            if *marks <= *most {
                return;
            }
            *most = *marks;
        }
        let is_same_break = self.expects_mark && self.page.text.trim().is_empty();
        self.expects_mark = false;
        if !is_same_break {
            self.break_page();
        }
    }

    /// Ends the page; false where nothing breaks.
    fn break_page(&mut self) -> bool {
        // Nothing breaks inside a box or a note, and a break at the very start makes no page.
        let is_start = self.page.text.is_empty() && self.story.pages.is_empty();
        let breaks = self.outside.is_empty() && self.note.is_none() && !is_start;
        if breaks {
            self.story.pages.push(std::mem::take(&mut self.page));
            self.expects_mark = false;
        }
        breaks
    }

    fn text(&mut self, text: &str) {
        if self.in_text && self.skipped == 0 && !self.run_hidden {
            self.page.text.push_str(text);
        }
    }

    fn finish(mut self) -> Story {
        for outer in self.outside.drain(..).rev() {
            let inner = std::mem::replace(&mut self.page.text, outer);
            self.boxes.insert_str(0, &inner);
        }
        self.page.text.push_str(&self.boxes);
        if !self.page.text.trim().is_empty() || self.story.pages.is_empty() {
            self.story.pages.push(self.page);
        }
        self.story
    }
}

/// The ids of styles that hide their text.
pub(super) fn hidden_styles(context: &ReadContext<'_>, xml: &[u8]) -> ReadResult<BTreeSet<String>> {
    let text = plain::decode(xml);
    let mut reader = lenient(&text);
    let mut hidden = BTreeSet::new();
    let mut style = String::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(it) | Event::Empty(it) => match it.local_name().as_ref() {
                "style" => {
                    context.tick()?;
                    style = attribute(&it, "styleId").unwrap_or_default();
                }
                "vanish" if is_on(&it) && !style.is_empty() => {
                    hidden.insert(style.clone());
                }
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(hidden)
}

/// The parts that the relations of the document name, by their ids; at most `max`.
pub(super) fn relations(
    context: &ReadContext<'_>,
    xml: &[u8],
    max: usize,
) -> ReadResult<BTreeMap<String, String>> {
    context.tick()?;
    let text = plain::decode(xml);
    let mut reader = lenient(&text);
    let mut relations = BTreeMap::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(it) | Event::Empty(it) if it.local_name().as_ref() == "Relationship" => {
                if let Some((id, target)) = attribute(&it, "Id").zip(attribute(&it, "Target")) {
                    // A target is relative to the folder of the document, or begins at the root.
                    let part = match target.strip_prefix('/') {
                        Some(part) => part.to_owned(),
                        None => format!("word/{target}"),
                    };
                    relations.insert(id, part);
                }
            }
            Event::Eof => break,
            _ => {}
        }
        if relations.len() >= max {
            break;
        }
    }
    Ok(relations)
}

/// The texts of elements without children, by local name; at most `max`.
pub(super) fn leaves(
    context: &ReadContext<'_>,
    xml: &[u8],
    max: usize,
) -> ReadResult<Vec<(String, String)>> {
    context.tick()?;
    let text = plain::decode(xml);
    let mut reader = lenient(&text);
    let mut leaves = Vec::new();
    let mut open: Option<(String, String)> = None;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(it) => {
                open = Some((it.local_name().as_ref().to_owned(), String::new()));
            }
            Event::Text(it) => {
                if let Some((_, value)) = &mut open {
                    value.push_str(&it);
                }
            }
            Event::GeneralRef(it) => {
                if let Some((_, value)) = &mut open {
                    value.push_str(&resolve(&it));
                }
            }
            Event::End(_) => leaves.extend(open.take()),
            Event::Eof => break,
            _ => {}
        }
        if leaves.len() >= max {
            break;
        }
    }
    Ok(leaves)
}
