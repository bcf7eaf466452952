//! Decides which parts of a page go to OCR and joins what they say with the text layer.
//!
//! A page without text is read as a whole. On a page with text only its pictures are read, at most
//! eight, and lines that the text layer has are left out.

use super::marks::PageMarks;
use super::picture_group::{self, PictureGroup};
use super::scan::{PageFrame, PictureReader};
use crate::context::{ReadContext, ReadResult};
use crate::{CONFIDENT, OcrPage, ProblemCode, ReadProblem, TextSource};

/// Pictures of one page that go to OCR, the largest ones.
const PICTURES_PER_PAGE_MAX: usize = 8;
/// A small picture with less confidence is a logo, a seal or a signature.
const SMALL_CONFIDENT: f32 = 0.6;

/// A page while its parts are read.
pub(super) struct PageText<'a> {
    pub(super) frame: PageFrame,
    pub(super) marks: &'a PageMarks,
    /// The text layer.
    pub(super) text: String,
    /// Whether most letters of the text layer are not known.
    pub(super) unreadable: bool,
    pub(super) problems: Vec<ReadProblem>,
    pub(super) source: TextSource,
    /// Small pictures that were not read.
    pub(super) skipped: usize,
}

impl PageText<'_> {
    /// Reads what is not in the text layer. Fails only when the file must not be read further.
    pub(super) fn complete(
        &mut self,
        context: &mut ReadContext<'_>,
        pictures: &mut PictureReader<'_, '_>,
    ) -> ReadResult {
        let groups = picture_group::unread(self.marks, &self.frame.area);
        if self.unreadable || count_letters(&self.text) == 0 {
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
        let is_drawn = self.marks.has_drawings || !self.marks.pictures.is_empty();
        if !self.unreadable && !is_drawn {
            if self.text.is_empty() {
                self.blank("the page is blank: it has neither text nor a picture");
            }
            return Ok(());
        }
        let alone = match self.marks.pictures[..] {
            [ref one] if !self.unreadable && !groups.is_empty() => Some(one),
            _ => None,
        };
        let outcome = context
            .ocr
            .ready()
            .and_then(|()| context.spend_ocr())
            .and_then(|()| pictures.page(context, &self.frame, alone));
        match outcome {
            Ok(found) => {
                if self.unreadable {
                    self.problems.retain(|it| it.code != ProblemCode::NoUnicode);
                    self.text.clear();
                }
                if found.text.is_empty() && self.text.is_empty() {
                    self.blank("the page has a picture or drawings, and OCR found no text in them");
                } else {
                    self.note_confidence(found.confidence);
                }
                self.source = TextSource::Ocr { confidence: found.confidence };
                if !self.text.is_empty() {
                    self.text.push_str("\n\n");
                }
                self.text.push_str(&found.text);
                Ok(())
            }
            Err(problem) if problem.code == ProblemCode::TimedOut => Err(problem),
            Err(_) if self.unreadable => Ok(()),
            Err(problem) => {
                self.unread("the page is a picture", problem);
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
        self.choose(&mut groups);
        let letters = count_letters(&self.text);
        let mut read: Vec<OcrPage> = Vec::new();
        let mut is_paid = false;
        for group in &groups {
            let outcome = match pictures.known(group, &self.frame) {
                Some(found) => Ok(found),
                None if group.is_small() => {
                    if context.ocr.ready().is_err() || !context.spend_small_picture() {
                        self.skipped += 1;
                        continue;
                    }
                    pictures.group(context, &self.frame, group)
                }
                None => {
                    let paid = if is_paid { Ok(()) } else { context.spend_ocr() };
                    is_paid |= paid.is_ok();
                    let ready = context.ocr.ready().and(paid);
                    ready.and_then(|()| pictures.group(context, &self.frame, group))
                }
            };
            match outcome {
                Ok(found) if is_text(&found, group) => read.push(found),
                Ok(_) => {}
                Err(problem) if problem.code == ProblemCode::TimedOut => return Err(problem),
                Err(_) if group.is_small() => self.skipped += 1,
                Err(problem) => self.unread("a picture on the page was not read", problem),
            }
        }
        for found in read {
            self.append(&found, letters);
        }
        Ok(())
    }

    /// Keeps the largest groups, in the order of the page.
    fn choose(&mut self, groups: &mut Vec<PictureGroup<'_>>) {
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
            self.problems.push(ReadProblem::new(ProblemCode::TooManyEntries, message));
        }
    }

    /// Adds the lines of a picture that the text layer does not have.
    fn append(&mut self, found: &OcrPage, letters_in_layer: usize) {
        let layer = words(&self.text);
        let is_new = |line: &&str| {
            let line = words(line);
            line.trim().is_empty() || !layer.contains(&line)
        };
        let lines: Vec<&str> = found.text.lines().filter(is_new).collect();
        let added = lines.join("\n");
        let added = added.trim();
        if added.is_empty() {
            return;
        }
        if count_letters(added) > letters_in_layer {
            self.source = TextSource::Ocr { confidence: found.confidence };
        }
        self.text.push_str("\n\n");
        self.text.push_str(added);
        self.note_confidence(found.confidence);
    }

    fn note_confidence(&mut self, confidence: f32) {
        let is_noted = self.problems.iter().any(|it| it.code == ProblemCode::LowConfidence);
        if confidence < CONFIDENT && !is_noted {
            self.problems.push(low_confidence());
        }
    }

    fn blank(&mut self, message: &str) {
        self.problems.push(ReadProblem::new(ProblemCode::BlankPage, message));
    }

    /// Notes once that a picture was not read, and why.
    fn unread(&mut self, what: &str, problem: ReadProblem) {
        if !self.problems.iter().any(|it| it.code == problem.code) {
            let message = format!("{what}; {}", problem.message);
            self.problems.push(ReadProblem { message, ..problem });
        }
    }
}

pub(crate) fn low_confidence() -> ReadProblem {
    let message = format!(
        "OCR is unsure of the words (confidence below {CONFIDENT}); compare them with the picture"
    );
    ReadProblem::new(ProblemCode::LowConfidence, message)
}

/// Whether OCR found words and not the noise of a logo or a photograph.
fn is_text(found: &OcrPage, group: &PictureGroup<'_>) -> bool {
    let has_word =
        found.text.split(|it: char| !it.is_alphanumeric()).any(|it| it.chars().count() >= 3);
    has_word && (!group.is_small() || found.confidence >= SMALL_CONFIDENT)
}

fn count_letters(text: &str) -> usize {
    text.chars().filter(|it| it.is_alphanumeric()).count()
}

/// The words in lower case with one blank around each.
fn words(text: &str) -> String {
    let mut words = String::from(" ");
    for word in text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}
