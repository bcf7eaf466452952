//! One paper as the archive reads it: the reader, then the drafts in the standard mode.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use archive_drafts::{Category, Draft, DraftMode, DraftOptions};
use archive_extract::{Document, ReadLimits, Tesseract, read_all};
use archive_text::PageText;
use serde_json::Value;

use crate::Outcome;

/// Pages of a file that go to OCR in the standard mode of the server.
const OCR_PAGES: u32 = 50;
const TRUTH: &str = ".truth.json";

/// The facts that were found.
pub(crate) struct PaperFacts {
    pub(crate) name: String,
    pub(crate) drafts: Vec<Draft>,
}

/// Each file with its truth, in the order of their names.
pub(crate) fn labelled_files(folder: &Path) -> Outcome<Vec<(PathBuf, PathBuf)>> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut by_name: BTreeMap<String, (Option<PathBuf>, Option<PathBuf>)> = BTreeMap::new();
    for path in entries?.into_iter().map(|it| it.path()).filter(|it| it.is_file()) {
        let file = path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(name) = file.strip_suffix(TRUTH) {
            by_name.entry(name.to_owned()).or_default().1 = Some(path);
        } else if let Some((name, _)) = file.rsplit_once('.') {
            by_name.entry(name.to_owned()).or_default().0 = Some(path);
        }
    }
    let list: Vec<_> = by_name.into_values().filter_map(|it| it.0.zip(it.1)).collect();
    if list.is_empty() { Err("the folder has no paper with a truth".into()) } else { Ok(list) }
}

impl PaperFacts {
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let limits = ReadLimits { ocr_pages: OCR_PAGES, ..ReadLimits::default() };
        let scratch = testkit::TempFolder::new();
        let ocr = Tesseract::new(scratch.path());
        let document = read_all(&name, &std::fs::read(file)?, &limits, &ocr);
        let mut pages: Vec<(String, String)> = Vec::new();
        add_pages(&document, "", &mut pages);
        let pages: Vec<PageText<'_>> = pages
            .iter()
            .zip(1..)
            .map(|((part, text), number)| PageText { number, part, text })
            .collect();
        let found = archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Standard));
        Ok(Self { name, drafts: found.drafts })
    }

    pub(crate) fn of(&self, category: Category) -> impl Iterator<Item = &Draft> {
        self.drafts.iter().filter(move |it| it.category == category)
    }
}

/// The pages of a file and of what is attached to it, each with the name of its part.
fn add_pages(document: &Document, part: &str, pages: &mut Vec<(String, String)>) {
    pages.extend(document.pages.iter().map(|it| (part.to_owned(), it.page.text.clone())));
    for it in &document.attachments {
        let name = if part.is_empty() { it.name.clone() } else { format!("{part}/{}", it.name) };
        add_pages(&it.document, &name, pages);
    }
}

/// A text of a draft.
pub(crate) fn text_of<'d>(draft: &'d Draft, key: &str) -> &'d str {
    draft.entities.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A list of texts of a draft.
pub(crate) fn list_of(draft: &Draft, key: &str) -> Vec<String> {
    let list = draft.entities.get(key).and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
