//! The tools that draw a page and find its words: `pdfinfo`, `pdftotext` and `pdftoppm` of
//! poppler-utils, and Tesseract. A picture file becomes a PDF page first, which Tesseract writes.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::align::align;
use super::boxes::{self, OcrWords};
use super::draw::{Pixmap, rectangles};
use super::{MarksFound, PIXELS_MAX, PageRequest, PageUnit, PageWord, WIDTH_MAX, tiff};
use crate::ocr::command::run;
use crate::{Format, ProblemCode, ReadProblem};

/// Dots per inch of a page that goes to OCR, and the most pixels it may have there.
const OCR_DPI: f64 = 300.0;
const OCR_PIXELS_MAX: f64 = 40_000_000.0;
/// How far a mark reaches beyond its words, as a share of their height.
const MARGIN: f64 = 0.1;
/// Below this confidence the page is probably in another language.
const CONFIDENCE_MIN: f64 = 0.7;
/// How much higher the confidence of a later language must be.
const CONFIDENCE_GAIN_MIN: f64 = 0.1;

type Drawn<T> = Result<T, ReadProblem>;

/// The tools with the file that they read.
pub(super) struct PageTools<'a> {
    pub(super) document: &'a Path,
    pub(super) scratch: &'a Path,
    /// Languages for OCR, tried in order; none: no OCR.
    pub(super) languages: &'a [String],
    pub(super) deadline: Instant,
}

pub(super) struct DrawnPage {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) unit: PageUnit,
    pub(super) marks: Option<MarksFound>,
    pub(super) words: Vec<PageWord>,
    pub(super) png: Vec<u8>,
}

/// The size of a page in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PageSize {
    width: f64,
    height: f64,
}

/// A page of a PDF file.
struct PdfPage<'a> {
    path: &'a Path,
    number: String,
    size: PageSize,
}

impl PageTools<'_> {
    pub(super) fn draw(&self, request: &PageRequest) -> Drawn<DrawnPage> {
        let needs_words = request.with_words || !request.spans.is_empty();
        match request.format {
            Format::Pdf => {
                let page = self.pdf_page(self.document, request.page)?;
                let (words, marks) = match needs_words {
                    true => self.words_of_pdf(&page, request)?,
                    false => (Vec::new(), None),
                };
                self.draw_and_mark(request, &page, (page.size, PageUnit::Point), words, marks)
            }
            Format::Png | Format::Jpeg | Format::Tiff => {
                let (path, read) = match request.format {
                    Format::Tiff => self.tiff(request.page, needs_words)?,
                    _ => self.image(needs_words)?,
                };
                let page = self.pdf_page(&path, 1)?;
                let (words, marks) = mark_spans(read.words, request);
                let size = match read.width > 0.0 && read.height > 0.0 {
                    true => PageSize { width: read.width, height: read.height },
                    false => page.size,
                };
                self.draw_and_mark(request, &page, (size, PageUnit::Pixel), words, marks)
            }
            _ => Err(ReadProblem::new(ProblemCode::Unsupported, "the file has no pages to draw")),
        }
    }

    fn draw_and_mark(
        &self,
        request: &PageRequest,
        page: &PdfPage<'_>,
        (size, unit): (PageSize, PageUnit),
        mut words: Vec<PageWord>,
        marks: Option<MarksFound>,
    ) -> Drawn<DrawnPage> {
        let png = match request.width {
            Some(width) => {
                let mut pixmap = self.pixmap(page, width)?;
                let (x, y) = (pixmap.width as f64 / size.width, pixmap.height as f64 / size.height);
                for [left, top, wide, high] in rectangles(&words) {
                    // A little beyond the letters, whose boxes are tight after OCR.
                    let margin = high * MARGIN;
                    pixmap.mark(
                        (left - margin) * x,
                        (top - margin) * y,
                        (wide + 2.0 * margin) * x,
                        (high + 2.0 * margin) * y,
                    );
                }
                let failed = |error: std::io::Error| {
                    ReadProblem::new(ProblemCode::TooLarge, format!("no PNG was made: {error}"))
                };
                pixmap.png().map_err(failed)?
            }
            None => Vec::new(),
        };
        if !request.with_words {
            words.clear();
        }
        let PageSize { width, height } = size;
        Ok(DrawnPage { width, height, unit, marks, words, png })
    }

    /// The words of the source that the text came from, the text layer or OCR; the words of the
    /// other source if no wanted span is among them.
    fn words_of_pdf(
        &self,
        page: &PdfPage<'_>,
        request: &PageRequest,
    ) -> Drawn<(Vec<PageWord>, Option<MarksFound>)> {
        let first = match request.is_ocr {
            true => self.ocr_words(page),
            false => self.text_words(page),
        };
        let (words, marks) = match first {
            Ok(words) => mark_spans(words, request),
            Err(problem) if request.is_ocr => return Err(problem),
            Err(_) => mark_spans(Vec::new(), request),
        };
        let is_enough = match marks {
            Some(found) => found != MarksFound::None,
            None => !words.is_empty(),
        };
        if is_enough || (!request.is_ocr && self.languages.is_empty()) {
            return Ok((words, marks));
        }
        let second = match request.is_ocr {
            true => self.text_words(page),
            false => self.ocr_words(page),
        };
        let (others, other_marks) = mark_spans(second.unwrap_or_default(), request);
        let is_better = match other_marks {
            Some(found) => found != MarksFound::None,
            None => !others.is_empty(),
        };
        Ok(if is_better { (others, other_marks) } else { (words, marks) })
    }

    fn tool(&self, program: &str, arguments: &[&str], input: &[u8]) -> Drawn<Vec<u8>> {
        let time = self.deadline.saturating_duration_since(Instant::now());
        if time < Duration::from_millis(1) {
            return Err(ReadProblem::new(ProblemCode::TimedOut, "drawing took too long"));
        }
        run(Path::new(program), arguments, input, time).map_err(|problem| match problem.code {
            ProblemCode::Unsupported => {
                let package =
                    if program == "tesseract" { "tesseract-ocr" } else { "poppler-utils" };
                let message = format!(
                    "{program} is needed to draw a page; install it (Debian: apt-get install \
                     {package})"
                );
                ReadProblem::new(ProblemCode::Unsupported, message)
            }
            ProblemCode::TimedOut => problem,
            _ => ReadProblem::new(
                ProblemCode::Malformed,
                format!("{program} cannot draw the page: the file is damaged or has a password"),
            ),
        })
    }

    fn pdf_page<'p>(&self, path: &'p Path, number: u32) -> Drawn<PdfPage<'p>> {
        let number = number.to_string();
        let shown = path.to_string_lossy();
        let printed = self.tool("pdfinfo", &["-f", &number, "-l", &number, &shown], &[])?;
        let size = page_size(&String::from_utf8_lossy(&printed)).ok_or_else(|| {
            ReadProblem::new(ProblemCode::Malformed, "the page has no size and cannot be drawn")
        })?;
        Ok(PdfPage { path, number, size })
    }

    fn text_words(&self, page: &PdfPage<'_>) -> Drawn<Vec<PageWord>> {
        let shown = page.path.to_string_lossy();
        let pages = ["-f", &page.number, "-l", &page.number];
        let arguments = [&pages[..], &["-cropbox", "-bbox", &shown, "-"]].concat();
        let printed = self.tool("pdftotext", &arguments, &[])?;
        Ok(boxes::from_pdftotext(&String::from_utf8_lossy(&printed)))
    }

    /// The words that OCR reads on the drawn page, in points.
    fn ocr_words(&self, page: &PdfPage<'_>) -> Drawn<Vec<PageWord>> {
        let area = page.size.width * page.size.height / 72.0 / 72.0;
        let dpi = OCR_DPI.min((OCR_PIXELS_MAX / area.max(0.01)).sqrt()).floor().max(10.0);
        let dpi = dpi.to_string();
        let shown = page.path.to_string_lossy();
        let pages = ["-gray", "-r", &dpi, "-f", &page.number, "-l", &page.number];
        let drawn = self.tool("pdftoppm", &[&pages[..], &["-cropbox", &shown]].concat(), &[])?;
        let arguments = ["stdin", "stdout", "--dpi", &dpi, "-c", "tessedit_create_tsv=1"];
        let read = self.best_language(|language| {
            let table = self.tool("tesseract", &with_language(&arguments, language), &drawn)?;
            Ok(boxes::from_tesseract_table(&String::from_utf8_lossy(&table)))
        })?;
        let (x, y) = (page.size.width / read.width, page.size.height / read.height);
        let scaled = read.words.into_iter().map(|it| PageWord {
            x: it.x * x,
            y: it.y * y,
            w: it.w * x,
            h: it.h * y,
            ..it
        });
        Ok(scaled.collect())
    }

    /// Reads with each language until one reaches [`CONFIDENCE_MIN`]; returns the words of the
    /// best.
    fn best_language(&self, read: impl Fn(&str) -> Drawn<OcrWords>) -> Drawn<OcrWords> {
        let mut best: Option<OcrWords> = None;
        let mut failed = None;
        for language in self.languages {
            match read(language) {
                Ok(words) => {
                    let before =
                        best.as_ref().map_or(-1.0, |it| it.confidence + CONFIDENCE_GAIN_MIN);
                    if words.confidence > before {
                        best = Some(words);
                    }
                }
                // The data of a language may not be installed.
                Err(problem) => failed = Some(problem),
            }
            if best.as_ref().is_some_and(|it| it.confidence >= CONFIDENCE_MIN) {
                break;
            }
        }
        let none = || ReadProblem::new(ProblemCode::NeedsOcr, "no language for OCR is set");
        best.ok_or_else(|| failed.unwrap_or_else(none))
    }

    /// A page of a picture file as a PDF file in the scratch folder and, if wanted, its words.
    fn image(&self, needs_words: bool) -> Drawn<(PathBuf, OcrWords)> {
        let file = self.document.to_string_lossy();
        let base = self.scratch.join("page");
        let out = base.to_string_lossy();
        let mut arguments = vec![&*file, &*out, "-c", "tessedit_create_pdf=1"];
        if !needs_words {
            // Reads the page as one line, which takes a tenth of the time.
            arguments.extend(["--psm", "7"]);
            let language = self.languages.first().map_or("eng", String::as_str);
            self.tool("tesseract", &with_language(&arguments, language), &[])?;
            return Ok((base.with_extension("pdf"), OcrWords::default()));
        }
        arguments.extend(["-c", "tessedit_create_tsv=1"]);
        let read = self.best_language(|language| {
            self.tool("tesseract", &with_language(&arguments, language), &[])?;
            let table = std::fs::read(base.with_extension("tsv")).unwrap_or_default();
            Ok(boxes::from_tesseract_table(&String::from_utf8_lossy(&table)))
        })?;
        Ok((base.with_extension("pdf"), read))
    }

    /// A page of a TIFF file as a PDF file in the scratch folder and, if wanted, its words.
    /// Tesseract does not write this PDF, because it needs `/tmp`, which the child may not use.
    fn tiff(&self, page: u32, needs_words: bool) -> Drawn<(PathBuf, OcrWords)> {
        let index = page.saturating_sub(1);
        let unusual = || {
            let message = "this kind of TIFF cannot be drawn; save the file as PDF or PNG";
            ReadProblem::new(ProblemCode::Unsupported, message)
        };
        let bytes = std::fs::read(self.document).map_err(|_| unusual())?;
        let pdf = tiff::page_as_pdf(&bytes, index as usize).ok_or_else(unusual)?;
        let path = self.scratch.join("page.pdf");
        std::fs::write(&path, pdf).map_err(|_| unusual())?;
        if !needs_words {
            return Ok((path, OcrWords::default()));
        }
        let (file, number) =
            (self.document.to_string_lossy(), format!("tessedit_page_number={index}"));
        let arguments = [&*file, "stdout", "-c", &number, "-c", "tessedit_create_tsv=1"];
        let read = self.best_language(|language| {
            let table = self.tool("tesseract", &with_language(&arguments, language), &[])?;
            Ok(boxes::from_tesseract_table(&String::from_utf8_lossy(&table)))
        })?;
        Ok((path, read))
    }

    fn pixmap(&self, page: &PdfPage<'_>, width: u32) -> Drawn<Pixmap> {
        // The size is set by the resolution, because the tool counts a width in pixels before it
        // rotates the page. The tool rounds up.
        let (width, _) = pixels_of(page.size, width);
        let dpi = ((f64::from(width) - 0.01) * 72.0 / page.size.width).to_string();
        let shown = page.path.to_string_lossy();
        let pages = ["-f", &page.number, "-l", &page.number, "-cropbox"];
        let size = ["-r", &dpi, &shown];
        let drawn = self.tool("pdftoppm", &[&pages[..], &size].concat(), &[])?;
        Pixmap::read(&drawn).ok_or_else(|| {
            ReadProblem::new(ProblemCode::Malformed, "the page could not be drawn; it is damaged")
        })
    }
}

fn with_language<'a>(arguments: &[&'a str], language: &'a str) -> Vec<&'a str> {
    [arguments, &["-l", language]].concat()
}

/// Width and height in pixels: the wanted width, or less if the picture had more than 8 million.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn pixels_of(size: PageSize, width: u32) -> (u32, u32) {
    let ratio = size.height / size.width;
    let width = f64::from(width.clamp(1, WIDTH_MAX)).min((PIXELS_MAX / ratio).sqrt());
    let pixels = |it: f64| it.floor().clamp(1.0, PIXELS_MAX) as u32;
    (pixels(width), pixels(width * ratio))
}

/// Reads `Page    1 size:  612 x 792 pts` and `Page    1 rot:   90`; the size is that before the
/// rotation.
fn page_size(printed: &str) -> Option<PageSize> {
    let field = |name: &str| {
        let line = printed.lines().find(|it| it.starts_with("Page ") && it.contains(name))?;
        line.split_once(name).map(|it| it.1.trim())
    };
    let (width, rest) = field(" size:")?.split_once(" x ")?;
    let height = rest.split_whitespace().next()?;
    let (width, height): (f64, f64) = (width.trim().parse().ok()?, height.parse().ok()?);
    let is_size = |it: f64| it.is_finite() && it > 0.0;
    if !is_size(width) || !is_size(height) {
        return None;
    }
    let rotation: i32 = field(" rot:").and_then(|it| it.parse().ok()).unwrap_or(0);
    Some(match rotation.rem_euclid(180) {
        90 => PageSize { width: height, height: width },
        _ => PageSize { width, height },
    })
}

/// Marks the words of all spans, and says how much of them was found.
fn mark_spans(
    mut words: Vec<PageWord>,
    request: &PageRequest,
) -> (Vec<PageWord>, Option<MarksFound>) {
    if request.spans.is_empty() {
        return (words, None);
    }
    let mut shares = Vec::with_capacity(request.spans.len());
    let mut found: Vec<usize> = Vec::new();
    {
        let texts: Vec<&str> = words.iter().map(|it| it.text.as_str()).collect();
        let mut spans: Vec<&Range<u32>> = request.spans.iter().collect();
        spans.dedup();
        for span in spans {
            let aligned = align(&request.text, span, &texts);
            shares.push(aligned.share);
            found.extend(aligned.words);
        }
    }
    for at in found {
        if let Some(word) = words.get_mut(at) {
            word.marked = true;
        }
    }
    let marks = if shares.iter().all(|it| *it >= 1.0) {
        MarksFound::All
    } else if shares.iter().any(|it| *it > 0.0) {
        MarksFound::Part
    } else {
        MarksFound::None
    };
    (words, Some(marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_page_as_it_is_shown() {
        let printed = |rotation: &str| {
            format!(
                "Pages:  3\nPage    2 size:  612.5 x 792 pts (letter)\nPage    2 rot:   {rotation}\n"
            )
        };
        let size = |text: &str| page_size(text).map(|it| (it.width, it.height));
        assert_eq!(size(&printed("0")), Some((612.5, 792.0)));
        assert_eq!(size(&printed("180")), Some((612.5, 792.0)));
        assert_eq!(size(&printed("270")), Some((792.0, 612.5)));
        assert_eq!(size(&printed("-90")), Some((792.0, 612.5)));
        assert_eq!(size("Page    2 size:  0 x 792 pts"), None);
        assert_eq!(size("nothing"), None);
    }

    #[test]
    fn long_pages_are_drawn_smaller() {
        let size = |width, height| PageSize { width, height };
        assert_eq!(pixels_of(size(612.0, 792.0), 1_000), (1_000, 1_294));
        assert_eq!(pixels_of(size(612.0, 792.0), 9_999), (2_000, 2_588));
        let (width, height) = pixels_of(size(100.0, 14_400.0), 2_000);
        assert!(width * height <= 8_000_000 && width > 200, "{width} {height}");
        assert_eq!(pixels_of(size(14_400.0, 0.1), 1_000), (1_000, 1));
    }
}
