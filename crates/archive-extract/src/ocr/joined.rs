//! The text of a page that has a text layer and pictures: joins what OCR reads with the layer and
//! notes what was not read, or not well.

use super::{CONFIDENT, OcrPage};
use crate::{ProblemCode, ReadProblem, TextSource};

/// A small picture with less confidence is a logo, a seal or a signature.
const SMALL_CONFIDENT: f32 = 0.6;

pub(crate) struct JoinedText {
    pub(crate) text: String,
    pub(crate) problems: Vec<ReadProblem>,
    pub(crate) source: TextSource,
    /// Letters and digits of the text layer.
    letters: usize,
}

impl JoinedText {
    /// With the text layer alone.
    pub(crate) fn new(layer: String, problems: Vec<ReadProblem>) -> Self {
        let letters = count_letters(&layer);
        Self { text: layer, problems, source: TextSource::TextLayer, letters }
    }

    /// Whether the text layer has no letter and no digit.
    pub(crate) fn is_textless(&self) -> bool {
        self.letters == 0
    }

    /// Replaces the text layer with what OCR read of the whole page.
    pub(crate) fn replace(&mut self, found: &OcrPage) {
        self.text.clear();
        self.extend(found);
    }

    /// Adds what OCR read of the whole page.
    pub(crate) fn extend(&mut self, found: &OcrPage) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&found.text);
        self.source = TextSource::Ocr { confidence: found.confidence };
        if !found.text.is_empty() {
            self.note_confidence(found.confidence);
        }
    }

    /// Adds the lines of a picture that the page does not have yet, unless they are noise.
    pub(crate) fn add_picture(&mut self, found: &OcrPage, is_small: bool) {
        if !is_text(found, is_small) {
            return;
        }
        let page = words(&self.text);
        let is_new = |line: &&str| {
            let line = words(line);
            line.trim().is_empty() || !page.contains(&line)
        };
        let lines: Vec<&str> = found.text.lines().filter(is_new).collect();
        let added = lines.join("\n");
        let added = added.trim();
        if added.is_empty() {
            return;
        }
        if count_letters(added) > self.letters {
            self.source = TextSource::Ocr { confidence: found.confidence };
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(added);
        self.note_confidence(found.confidence);
    }

    fn note_confidence(&mut self, confidence: f32) {
        if confidence < CONFIDENT {
            self.note(low_confidence());
        }
    }

    /// Notes a problem once.
    pub(crate) fn note(&mut self, problem: ReadProblem) {
        if !self.problems.iter().any(|it| it.code == problem.code) {
            self.problems.push(problem);
        }
    }

    /// Notes what was not read, and why.
    pub(crate) fn note_unread(&mut self, what: &str, why: ReadProblem) {
        let message = format!("{what}; {}", why.message);
        self.note(ReadProblem { message, ..why });
    }
}

pub(crate) fn low_confidence() -> ReadProblem {
    let message = format!(
        "OCR is unsure of the words (confidence below {CONFIDENT}); compare them with the picture"
    );
    ReadProblem::new(ProblemCode::LowConfidence, message)
}

/// Whether OCR found words and not the noise of a logo or a photograph.
fn is_text(found: &OcrPage, is_small: bool) -> bool {
    let mut words = found.text.split(|it: char| !it.is_alphanumeric());
    words.any(|it| it.chars().count() >= 3) && (!is_small || found.confidence >= SMALL_CONFIDENT)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(layer: &str, found: &str, confidence: f32, is_small: bool, text: &str) {
        let mut joined = JoinedText::new(layer.to_owned(), Vec::new());
        joined.add_picture(&OcrPage { text: found.to_owned(), confidence }, is_small);
        assert_eq!(joined.text, text);
    }

    #[test]
    fn new_lines_are_added_and_noise_is_not() {
        check("Heading", "scanned words", 0.9, false, "Heading\n\nscanned words");
        check("The Heading is", "heading\nmore words", 0.9, false, "The Heading is\n\nmore words");
        check("Repaid", "paid out\nPaid", 0.9, false, "Repaid\n\npaid out\nPaid");
        check("Heading", "a |.", 0.9, false, "Heading");
        check("Heading", "logo words", 0.5, true, "Heading");
        check("Heading", "faint words", 0.5, false, "Heading\n\nfaint words");
        check("", "words alone", 0.9, false, "words alone");
    }

    #[test]
    fn the_larger_part_is_the_source() {
        let found = OcrPage { text: "many scanned words".to_owned(), confidence: 0.5 };
        let mut joined = JoinedText::new("Heading".to_owned(), Vec::new());
        joined.add_picture(&found, false);
        joined.add_picture(&OcrPage { text: "others".to_owned(), confidence: 0.4 }, false);
        assert_eq!(joined.source, TextSource::Ocr { confidence: 0.5 });
        assert_eq!(joined.problems, [low_confidence()]);
    }
}
