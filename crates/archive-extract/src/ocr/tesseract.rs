//! Tesseract's command line, and `pdftoppm` that renders pages for it, one page at a time.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::command::run;
use super::{CONFIDENT, INSTALL, Ocr, OcrPage, PixelArea, RENDER_DPI, tsv, turn};
use crate::{ProblemCode, ReadProblem};

/// Tesseract and `pdftoppm` as commands.
#[derive(Debug)]
pub struct Tesseract {
    program: PathBuf,
    renderer: PathBuf,
    /// Tried in order while the confidence is low.
    languages: Vec<String>,
    scratch: PathBuf,
    /// Languages that are installed, asked once.
    installed: OnceLock<Result<Vec<String>, ReadProblem>>,
}

/// Another language or orientation must be better by this, because it also reads letters into noise.
const CLEARLY: f32 = 0.1;
/// Tesseract's data for orientation, listed like a language.
const ORIENTATION_DATA: &str = "osd";

/// How Tesseract takes a page apart; the number is its `--psm`.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// It finds columns and paragraphs.
    Page,
    /// It finds the orientation first and turns the page.
    TurnedPage,
    /// The image is one block of lines.
    Block,
}

impl Layout {
    const fn option(self) -> &'static str {
        match self {
            Self::TurnedPage => "1",
            Self::Page => "3",
            Self::Block => "6",
        }
    }
}

/// One way to read an image.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    language: &'a str,
    dpi: u32,
    layout: Layout,
    /// The only page that is read, counted from 0.
    page: Option<usize>,
    deadline: Instant,
}

impl Tesseract {
    /// The commands on the path, English first and then Russian, with `scratch` for files.
    #[must_use]
    pub fn new(scratch: impl Into<PathBuf>) -> Self {
        Self::with("tesseract", "pdftoppm", ["eng", "rus+eng"].map(str::to_owned).to_vec(), scratch)
    }

    #[must_use]
    pub fn with(
        program: impl Into<PathBuf>,
        renderer: impl Into<PathBuf>,
        languages: Vec<String>,
        scratch: impl Into<PathBuf>,
    ) -> Self {
        Self {
            program: program.into(),
            renderer: renderer.into(),
            languages,
            scratch: scratch.into(),
            installed: OnceLock::new(),
        }
    }

    fn installed(&self) -> Result<&[String], ReadProblem> {
        let asked = self.installed.get_or_init(|| {
            let listed = run(&self.program, &["--list-langs"], &[], Duration::from_secs(10));
            let listed = listed.map_err(|_| ReadProblem::new(ProblemCode::NeedsOcr, INSTALL))?;
            let listed = String::from_utf8_lossy(&listed).into_owned();
            Ok(listed.lines().skip(1).map(|it| it.trim().to_owned()).collect())
        });
        asked.as_deref().map_err(Clone::clone)
    }

    /// The configured languages whose data is installed; `eng+rus` needs both.
    fn usable(&self) -> Result<Vec<&str>, ReadProblem> {
        let installed = self.installed()?;
        let has = |wish: &String| wish.split('+').all(|it| installed.iter().any(|has| has == it));
        let usable: Vec<&str> =
            self.languages.iter().filter(|it| has(it)).map(String::as_str).collect();
        if usable.is_empty() {
            let wanted = self.languages.join(", ");
            return Err(ReadProblem::new(
                ProblemCode::NeedsOcr,
                format!("Tesseract has no data for {wanted}; install tesseract-ocr-eng"),
            ));
        }
        Ok(usable)
    }

    /// Reads an image once.
    fn attempt(&self, image: &[u8], way: Attempt<'_>) -> Result<Vec<OcrPage>, ReadProblem> {
        let (dots, page) = (way.dpi.to_string(), way.page.unwrap_or_default());
        let only = format!("tessedit_page_number={page}");
        let mut arguments = vec!["stdin", "stdout", "-l", way.language];
        arguments.extend(["--psm", way.layout.option()]);
        if way.dpi > 0 {
            arguments.extend(["--dpi", &dots]);
        }
        if way.page.is_some() {
            arguments.extend(["-c", &only]);
        }
        arguments.extend(["-c", "tessedit_create_tsv=1"]);
        let time = way.deadline.saturating_duration_since(Instant::now());
        let rows = run(&self.program, &arguments, image, time)?;
        Ok(tsv::pages(&String::from_utf8_lossy(&rows)))
    }

    /// Reads a page again whose confidence is low: in the other languages, then turned.
    fn improve(
        &self,
        image: &[u8],
        way: Attempt<'_>,
        found: OcrPage,
    ) -> Result<OcrPage, ReadProblem> {
        let languages = self.usable()?;
        let first = found.confidence;
        let mut best = found;
        // A picture of one line is too small for a page with paragraphs. Noise has letters in a
        // block too, so only a confident result counts.
        if best.text.is_empty() {
            let way = Attempt { layout: Layout::Block, ..way };
            let block = self.attempt(image, way)?.into_iter().next().unwrap_or_default();
            best = if block.confidence >= CONFIDENT { block } else { best };
        }
        // Where no letter was found, another language finds none either.
        let others =
            if best.text.is_empty() { &[] } else { languages.get(1..).unwrap_or_default() };
        for &language in others {
            if best.confidence < CONFIDENT {
                best = self.better(best, image, Attempt { language, ..way })?;
            }
        }
        if best.confidence >= CONFIDENT {
            return Ok(best);
        }
        if self.has_orientation_data() {
            for &language in &languages {
                let way = Attempt { language, layout: Layout::TurnedPage, ..way };
                let turned = self.attempt(image, way)?.into_iter().next().unwrap_or_default();
                // The same confidence as before means that the page was not turned.
                let was_turned = (turned.confidence - first).abs() > 1e-6;
                best = choose(best, turned);
                if !was_turned || best.confidence >= CONFIDENT {
                    break;
                }
            }
            return Ok(best);
        }
        // Tesseract reads a page that is turned clockwise without that data. A half turn makes an
        // upside-down page upright, and the other sideways page one that it reads.
        let Some(turned) = turn::half_turn(image) else { return Ok(best) };
        for &language in &languages {
            if best.confidence < CONFIDENT {
                best = self.better(best, &turned, Attempt { language, page: None, ..way })?;
            }
        }
        Ok(best)
    }

    fn better(
        &self,
        best: OcrPage,
        image: &[u8],
        way: Attempt<'_>,
    ) -> Result<OcrPage, ReadProblem> {
        let other = self.attempt(image, way)?.into_iter().next().unwrap_or_default();
        Ok(choose(best, other))
    }

    fn has_orientation_data(&self) -> bool {
        self.installed().is_ok_and(|it| it.iter().any(|it| it == ORIENTATION_DATA))
    }
}

fn choose(best: OcrPage, other: OcrPage) -> OcrPage {
    if other.confidence > best.confidence + CLEARLY { other } else { best }
}

impl Ocr for Tesseract {
    fn ready(&self) -> Result<(), ReadProblem> {
        self.usable().map(drop)
    }

    fn turns_every_image(&self) -> bool {
        self.has_orientation_data()
    }

    fn image(&self, image: &[u8], dpi: u32, time: Duration) -> Result<Vec<OcrPage>, ReadProblem> {
        let languages = self.usable()?;
        let language = languages.first().copied().unwrap_or("eng");
        let deadline = Instant::now() + time;
        let way = Attempt { language, dpi, layout: Layout::Page, page: None, deadline };
        let mut pages = self.attempt(image, way)?;
        if pages.is_empty() {
            return Err(ReadProblem::new(
                ProblemCode::OcrFailed,
                "the picture could not be read; save it as PNG or TIFF and send it again",
            ));
        }
        let many = pages.len() > 1;
        for (index, page) in pages.iter_mut().enumerate() {
            if page.confidence < CONFIDENT {
                let way = Attempt { page: many.then_some(index), ..way };
                *page = self.improve(image, way, std::mem::take(page))?;
            }
        }
        Ok(pages)
    }

    fn pdf_page(
        &self,
        pdf: &Path,
        page: u32,
        area: Option<PixelArea>,
        time: Duration,
    ) -> Result<OcrPage, ReadProblem> {
        let (number, dpi) = (page.to_string(), RENDER_DPI.to_string());
        let path = pdf.to_string_lossy();
        let mut arguments = vec!["-gray", "-r", &dpi, "-f", &number, "-l", &number];
        let sides = area.map(|it| [it.x, it.y, it.width, it.height].map(|it| it.to_string()));
        if let Some([x, y, width, height]) = &sides {
            arguments.extend(["-x", x, "-y", y, "-W", width, "-H", height]);
        }
        arguments.push(&path);
        let image = run(&self.renderer, &arguments, &[], time).map_err(|problem| {
            let missing = "the page must be rendered for OCR; install pdftoppm (Debian: apt-get \
                           install poppler-utils) and process the file again";
            if problem.code == ProblemCode::Unsupported {
                ReadProblem::new(ProblemCode::NeedsOcr, missing)
            } else {
                problem
            }
        })?;
        let pages = self.image(&image, RENDER_DPI, time)?;
        pages
            .into_iter()
            .next()
            .ok_or_else(|| ReadProblem::new(ProblemCode::OcrFailed, "OCR gave no page"))
    }

    fn scratch_file(&self, bytes: &[u8]) -> Result<PathBuf, ReadProblem> {
        let failed = |error: std::io::Error| {
            ReadProblem::new(ProblemCode::OcrFailed, format!("no room for a scratch file: {error}"))
        };
        for attempt in 0..1_000_u32 {
            let path = self.scratch.join(format!("page-{}-{attempt}.pdf", std::process::id()));
            let opened = std::fs::File::options().write(true).create_new(true).open(&path);
            match opened {
                Ok(mut file) => {
                    std::io::Write::write_all(&mut file, bytes).map_err(failed)?;
                    return Ok(path);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(ReadProblem::new(ProblemCode::OcrFailed, "no room for a scratch file"))
    }
}
