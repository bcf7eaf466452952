//! DOCX: which parts are read, and how they become pages. The XML itself is `docx/story.rs`.
//!
//! Pages begin at explicit page and section breaks and where Word last began them, which it marks
//! when it saves a file. Comments, list numbers and deleted or hidden text are left out.

mod pictures;
mod story;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{ReadContext, ReadResult};
use crate::ocr::JoinedText;
use crate::zip::{self, ZipEntry};
use crate::{ProblemCode, ReadProblem};
use pictures::PictureReader;
use story::{Notes, Story};

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    let max = context.limits.entries as usize;
    let entries = zip::entries(bytes, max.saturating_add(1)).ok_or_else(|| {
        ReadProblem::new(ProblemCode::Truncated, "the end of the file is missing")
    })?;
    if entries.len() > max {
        return Err(ReadProblem::new(
            ProblemCode::TooManyEntries,
            format!("more than {max} parts"),
        ));
    }
    let package = Package { bytes, entries };
    package.properties(context)?;
    let hidden = match package.part(context, "word/styles.xml")? {
        Some(xml) => story::hidden_styles(context, &xml)?,
        None => BTreeSet::new(),
    };
    let mut notes = Notes::new();
    for (part, mark) in [("word/footnotes.xml", 'f'), ("word/endnotes.xml", 'e')] {
        if let Some(xml) = package.part(context, part)? {
            let side = Story::read(context, &xml, &hidden)?;
            report(context, part, side.damage.as_deref());
            notes.extend(side.notes.into_iter().map(|((_, id), text)| ((mark, id), text)));
        }
    }
    let header = package.margin(context, "word/header", &hidden)?;
    let footer = package.margin(context, "word/footer", &hidden)?;
    let main = package
        .entries
        .iter()
        .find(|it| it.name == "word/document.xml")
        .or_else(|| package.entries.iter().find(|it| it.name.starts_with("word/document")))
        .ok_or_else(|| ReadProblem::malformed("the document part is missing"))?;
    let xml = zip::unpack(context, bytes, main)?;
    let story = Story::read(context, &xml, &hidden)?;
    report(context, "word/document.xml", story.damage.as_deref());
    package.compare_pages(context, story.pages.len())?;
    let relations = match package.part(context, "word/_rels/document.xml.rels")? {
        Some(xml) => story::relations(context, &xml, max)?,
        None => BTreeMap::new(),
    };
    let mut pictures = PictureReader::new(&package, relations);
    pages(context, story, &notes, [&header, &footer], &mut pictures)
}

fn report(context: &mut ReadContext<'_>, part: &str, damage: Option<&str>) {
    if let Some(damage) = damage {
        let message = format!("part {part} is damaged ({damage}); text after it is missing");
        context.problem(ReadProblem::malformed(message));
    }
}

/// Assembles the pages. Headers are at the top of page 1 and footers at its bottom, once, because
/// facts in them would otherwise be found on every page. Notes are at the end of the page that
/// refers to them.
fn pages(
    context: &mut ReadContext<'_>,
    story: Story,
    notes: &BTreeMap<(char, String), String>,
    [header, footer]: [&str; 2],
    pictures: &mut PictureReader<'_>,
) -> ReadResult {
    context.total(u32::try_from(story.pages.len()).unwrap_or(u32::MAX));
    let mut number = 0;
    for (at, page) in story.pages.into_iter().enumerate() {
        let mut text = String::new();
        if at == 0 && !header.is_empty() {
            text.push_str(header);
            text.push('\n');
        }
        text.push_str(&page.text);
        for reference in &page.references {
            number += 1;
            if let Some(note) = notes.get(reference) {
                if !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&format!("[{number}] {}\n", note.trim()));
            }
        }
        if at == 0 && !footer.is_empty() {
            text.push_str(footer);
        }
        let mut joined = JoinedText::new(text.trim_end().to_owned(), Vec::new());
        pictures.read(context, &page, &mut joined)?;
        context.page_from(joined.text, joined.source, joined.problems)?;
    }
    context.note_small_pictures(pictures.skipped);
    Ok(())
}

struct Package<'a> {
    bytes: &'a [u8],
    entries: Vec<ZipEntry>,
}

impl Package<'_> {
    /// The content of an optional part. A damaged part is reported and skipped.
    fn part(&self, context: &mut ReadContext<'_>, name: &str) -> ReadResult<Option<Vec<u8>>> {
        let Some(entry) = self.entries.iter().find(|it| it.name == name) else { return Ok(None) };
        match zip::unpack(context, self.bytes, entry) {
            Ok(xml) => Ok(Some(xml)),
            Err(problem) if problem.ends_everything() => Err(problem),
            Err(problem) => {
                context.problem(problem);
                Ok(None)
            }
        }
    }

    /// The distinct texts of all headers, or of all footers.
    fn margin(
        &self,
        context: &mut ReadContext<'_>,
        start: &str,
        hidden: &BTreeSet<String>,
    ) -> ReadResult<String> {
        let mut texts: Vec<String> = Vec::new();
        let names = self.entries.iter().filter(|it| it.name.starts_with(start)).take(100);
        for name in names.map(|it| it.name.clone()) {
            let Some(xml) = self.part(context, &name)? else { continue };
            let story = Story::read(context, &xml, hidden)?;
            for page in story.pages {
                let text = page.text.trim();
                if !text.is_empty() && !texts.iter().any(|it| it == text) {
                    texts.push(text.to_owned());
                }
            }
        }
        Ok(texts.join("\n"))
    }

    /// Notes that the file states clearly more pages than it marks.
    fn compare_pages(&self, context: &mut ReadContext<'_>, found: usize) -> ReadResult {
        let Some(xml) = self.part(context, "docProps/app.xml")? else { return Ok(()) };
        let leaves = story::leaves(context, &xml, 64)?;
        let stated = leaves.iter().find(|(key, _)| key == "Pages");
        let Some(stated) = stated.and_then(|(_, value)| value.trim().parse::<usize>().ok()) else {
            return Ok(());
        };
        context.metadata("pages_stated", &stated.to_string());
        if stated > found.saturating_add(1) && stated - found > stated / 10 {
            let message = format!(
                "the document states {stated} pages and marks {found}; page numbers are those of \
                 the marks: open and save it in Word, or send it as PDF"
            );
            context.problem(ReadProblem::new(ProblemCode::PagesUnmarked, message));
        }
        Ok(())
    }

    fn properties(&self, context: &mut ReadContext<'_>) -> ReadResult {
        let Some(xml) = self.part(context, "docProps/core.xml")? else { return Ok(()) };
        for (key, value) in story::leaves(context, &xml, 64)? {
            let key = match key.as_str() {
                "title" => "title",
                "creator" => "author",
                "subject" => "subject",
                "created" => "created",
                "modified" => "modified",
                _ => continue,
            };
            context.metadata(key, &value);
        }
        Ok(())
    }
}
