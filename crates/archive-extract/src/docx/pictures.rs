//! Pictures of a DOCX page, read by OCR. Pictures in headers, footers and notes are left out.

use std::collections::{BTreeMap, HashMap};

use super::Package;
use super::story::DocxPage;
use crate::context::{ReadContext, ReadResult};
use crate::ocr::JoinedText;
use crate::picture;
use crate::zip;
use crate::{Format, OcrPage, ProblemCode, ReadProblem};

/// Pictures of one page that go to OCR.
const PER_PAGE_MAX: usize = 8;
/// Pictures whose text is kept for the next page that shows them.
const KEPT_MAX: usize = 256;

/// A picture on a page.
pub(super) struct DocxPicture {
    /// The relation that names its part.
    pub(super) relation: String,
    /// Whether it is under 5 % of a page: a logo or a signature.
    pub(super) is_small: bool,
}

pub(super) struct PictureReader<'a> {
    package: &'a Package<'a>,
    /// The parts by the ids of their relations.
    parts: BTreeMap<String, String>,
    kept: HashMap<String, OcrPage>,
    /// Small pictures that were not read.
    pub(super) skipped: usize,
}

impl<'a> PictureReader<'a> {
    pub(super) fn new(package: &'a Package<'a>, parts: BTreeMap<String, String>) -> Self {
        Self { package, parts, kept: HashMap::new(), skipped: 0 }
    }

    /// Adds the text of a page's pictures. Fails only when the file must not be read further.
    pub(super) fn read(
        &mut self,
        context: &mut ReadContext<'_>,
        page: &DocxPage,
        joined: &mut JoinedText,
    ) -> ReadResult {
        let mut is_paid = false;
        for (index, picture) in page.pictures.iter().enumerate() {
            let Some(part) = self.parts.get(&picture.relation).cloned() else { continue };
            let outcome = match self.kept.get(&part) {
                Some(found) => Ok(found.clone()),
                None if index >= PER_PAGE_MAX => {
                    let why = format!("only {PER_PAGE_MAX} pictures of a page go to OCR");
                    Err(ReadProblem::new(ProblemCode::TooManyEntries, why))
                }
                None => context
                    .spend_picture(picture.is_small, &mut is_paid)
                    .and_then(|()| self.read_part(context, &part)),
            };
            match outcome {
                Ok(found) => {
                    joined.add_picture(&found, picture.is_small);
                    if self.kept.len() < KEPT_MAX {
                        self.kept.insert(part, found);
                    }
                }
                Err(problem) if problem.ends_everything() => return Err(problem),
                Err(_) if picture.is_small => self.skipped += 1,
                Err(problem) => joined.note_unread("a picture on the page was not read", problem),
            }
        }
        Ok(())
    }

    fn read_part(&self, context: &mut ReadContext<'_>, part: &str) -> ReadResult<OcrPage> {
        let entry = self.package.entries.iter().find(|it| it.name == part);
        let entry = entry.ok_or_else(|| ReadProblem::malformed("the picture is missing"))?;
        let bytes = zip::unpack(context, self.package.bytes, entry)?;
        let format = match &bytes {
            it if picture::is_png(it) => Format::Png,
            it if picture::is_jpeg(it) => Format::Jpeg,
            it if picture::is_tiff(it) => Format::Tiff,
            _ => {
                let why =
                    "only PNG, JPEG and TIFF are read: save the document as PDF and send that";
                return Err(ReadProblem::new(ProblemCode::Unsupported, why));
            }
        };
        // A picture that is too large costs itself, not the document.
        if let Err(problem) = picture::check_size(format, &bytes) {
            return Err(ReadProblem::new(ProblemCode::OcrFailed, problem.message));
        }
        let pages = context.ocr.image(&bytes, 0, context.time_left())?;
        Ok(pages.into_iter().next().unwrap_or_default())
    }
}
