//! Decides which parts of a page go to OCR and joins their text with the text layer.
//!
//! A page without text is read as a whole. On a page with text only its pictures are read, at most
//! eight, and lines that the text layer has are left out.

use super::drawn_items::DrawnItems;
use super::picture_group::{self, PictureGroup};
use super::scan::{PageFrame, PictureReader};
use crate::context::{ReadContext, ReadResult};
use crate::ocr::JoinedText;
use crate::{ProblemCode, ReadProblem};

/// At most this many pictures of one page go to OCR: the largest ones.
const PICTURES_PER_PAGE_MAX: usize = 8;

/// A page with its text layer, while OCR adds what the text layer lacks.
pub(super) struct PageOcr<'a> {
    pub(super) frame: PageFrame,
    pub(super) drawn: &'a DrawnItems,
    /// The text layer, joined with what OCR reads.
    pub(super) joined: JoinedText,
    /// Whether the text of more than half of the characters in the text layer is unknown.
    pub(super) unreadable: bool,
    /// How many small pictures were not read.
    pub(super) skipped: usize,
}

impl PageOcr<'_> {
    /// Reads by OCR what is not in the text layer. Fails only when the file must not be read
    /// further.
    pub(super) fn read_missing_text(
        &mut self,
        context: &mut ReadContext<'_>,
        pictures: &mut PictureReader<'_, '_>,
    ) -> ReadResult {
        let groups = picture_group::groups_for_ocr(self.drawn, &self.frame.area);
        if self.unreadable || self.joined.is_textless() {
            return self.read_whole(context, pictures, &groups);
        }
        self.read_parts(context, pictures, groups)
    }

    fn read_whole(
        &mut self,
        context: &mut ReadContext<'_>,
        pictures: &mut PictureReader<'_, '_>,
        groups: &[PictureGroup<'_>],
    ) -> ReadResult {
        let is_drawn = self.drawn.has_drawings || !self.drawn.pictures.is_empty();
        if !self.unreadable && !is_drawn {
            if self.joined.text.is_empty() {
                self.note_blank("the page is blank: it has neither text nor a picture");
            }
            return Ok(());
        }
        let alone = match self.drawn.pictures[..] {
            [ref one] if !self.unreadable && !groups.is_empty() => Some(one),
            _ => None,
        };
        let outcome = context
            .ocr
            .ready()
            .and_then(|()| context.spend_ocr())
            .and_then(|()| pictures.read_page(context, &self.frame, alone));
        match outcome {
            Ok(found) => {
                if self.unreadable {
                    self.joined.problems.retain(|it| it.code != ProblemCode::NoUnicode);
                    self.joined.replace(&found);
                } else {
                    self.joined.extend(&found);
                }
                if self.joined.text.is_empty() {
                    self.note_blank(
                        "the page has a picture or drawings, and OCR found no text in them",
                    );
                }
                Ok(())
            }
            Err(problem) if problem.code == ProblemCode::TimedOut => Err(problem),
            Err(_) if self.unreadable => Ok(()),
            Err(problem) => {
                self.joined.note_unread("the page is a picture", problem);
                Ok(())
            }
        }
    }

    fn read_parts(
        &mut self,
        context: &mut ReadContext<'_>,
        pictures: &mut PictureReader<'_, '_>,
        mut groups: Vec<PictureGroup<'_>>,
    ) -> ReadResult {
        self.keep_largest(&mut groups);
        let mut is_paid = false;
        for group in &groups {
            let outcome = match pictures.cached(group, &self.frame) {
                Some(found) => Ok(found),
                None => context
                    .spend_picture(group.is_small(), &mut is_paid)
                    .and_then(|()| pictures.read_group(context, &self.frame, group)),
            };
            match outcome {
                Ok(found) => self.joined.add_picture(&found, group.is_small()),
                Err(problem) if problem.code == ProblemCode::TimedOut => return Err(problem),
                Err(_) if group.is_small() => self.skipped += 1,
                Err(problem) => {
                    self.joined.note_unread("a picture on the page was not read", problem);
                }
            }
        }
        Ok(())
    }

    /// Keeps the largest groups, in the order of the page.
    fn keep_largest(&mut self, groups: &mut Vec<PictureGroup<'_>>) {
        if groups.len() <= PICTURES_PER_PAGE_MAX {
            return;
        }
        let mut shares: Vec<f64> = groups.iter().map(|it| it.share).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let least = shares.get(PICTURES_PER_PAGE_MAX - 1).copied().unwrap_or_default();
        let (mut kept, mut has_large) = (0, false);
        groups.retain(|it| {
            let is_kept = it.share >= least && kept < PICTURES_PER_PAGE_MAX;
            kept += usize::from(is_kept);
            has_large |= !is_kept && !it.is_small();
            self.skipped += usize::from(!is_kept && it.is_small());
            is_kept
        });
        if has_large {
            let message = format!(
                "only the {PICTURES_PER_PAGE_MAX} largest pictures of a page go to OCR; \
                 the others were not read"
            );
            self.joined.note(ReadProblem::new(ProblemCode::TooManyEntries, message));
        }
    }

    fn note_blank(&mut self, message: &str) {
        self.joined.note(ReadProblem::new(ProblemCode::BlankPage, message));
    }
}
