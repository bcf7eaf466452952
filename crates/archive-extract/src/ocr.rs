//! Text from pictures: the port, and Tesseract's command line behind it.
//! It does not render PDF itself; `pdftoppm` does where it is installed.

mod command;
mod tsv;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::{ProblemCode, ReadProblem};
use command::run;

const INSTALL: &str = "install Tesseract (Debian: apt-get install tesseract-ocr tesseract-ocr-rus) \
                       and process the file again";

/// A page that was read from a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrPage {
    pub text: String,
    /// Mean confidence of the words, 0 to 1.
    pub confidence: f32,
}

/// Reads the text of pictures.
pub trait Ocr {
    /// Checks that OCR is available.
    ///
    /// # Errors
    /// If it is not; the message says what to install.
    fn ready(&self) -> Result<(), ReadProblem>;

    /// Reads all pages of an image file. A `dpi` of 0 uses the resolution that the file states.
    ///
    /// # Errors
    /// If the tool fails or takes longer than `time`.
    fn image(&self, image: &[u8], dpi: u32, time: Duration) -> Result<Vec<OcrPage>, ReadProblem>;

    /// Renders one page of a PDF and reads it.
    ///
    /// # Errors
    /// As `image`, and if no renderer is installed.
    fn pdf_page(&self, pdf: &Path, page: u32, time: Duration) -> Result<OcrPage, ReadProblem>;

    /// Writes a PDF to the scratch folder, for `pdf_page`.
    ///
    /// # Errors
    /// If it cannot be written.
    fn scratch_file(&self, bytes: &[u8]) -> Result<PathBuf, ReadProblem>;
}

/// No OCR: a page that is a picture gets a problem that says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOcr;

impl Ocr for NoOcr {
    fn ready(&self) -> Result<(), ReadProblem> {
        Err(ReadProblem::new(ProblemCode::NeedsOcr, format!("the page is a picture; {INSTALL}")))
    }

    fn image(&self, _: &[u8], _: u32, _: Duration) -> Result<Vec<OcrPage>, ReadProblem> {
        self.ready().map(|()| Vec::new())
    }

    fn pdf_page(&self, _: &Path, _: u32, _: Duration) -> Result<OcrPage, ReadProblem> {
        self.ready().map(|()| OcrPage { text: String::new(), confidence: 0.0 })
    }

    fn scratch_file(&self, _: &[u8]) -> Result<PathBuf, ReadProblem> {
        self.ready().map(|()| PathBuf::new())
    }
}

/// Tesseract and `pdftoppm` as commands, each for one page at a time.
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

/// Below this the page is probably in another language.
const CONFIDENT: f32 = 0.7;
const CLEARLY: f32 = 0.1;

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
            let listed = listed.map_err(|_| {
                ReadProblem::new(ProblemCode::NeedsOcr, format!("the page is a picture; {INSTALL}"))
            })?;
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
}

fn mean(pages: &[OcrPage]) -> f32 {
    let sum: f32 = pages.iter().map(|it| it.confidence).sum();
    sum / f32::from(u16::try_from(pages.len().max(1)).unwrap_or(u16::MAX))
}

impl Ocr for Tesseract {
    fn ready(&self) -> Result<(), ReadProblem> {
        self.usable().map(drop)
    }

    fn image(&self, image: &[u8], dpi: u32, time: Duration) -> Result<Vec<OcrPage>, ReadProblem> {
        let mut best: Vec<OcrPage> = Vec::new();
        for language in self.usable()? {
            let dots = dpi.to_string();
            let mut arguments = vec!["stdin", "stdout", "-l", language];
            if dpi > 0 {
                arguments.extend(["--dpi", &dots]);
            }
            arguments.extend(["-c", "tessedit_create_tsv=1"]);
            let rows = run(&self.program, &arguments, image, time)?;
            let pages = tsv::pages(&String::from_utf8_lossy(&rows));
            // A second language must be clearly better, because it also reads letters into noise.
            if best.is_empty() || mean(&pages) > mean(&best) + CLEARLY {
                best = pages;
            }
            if mean(&best) >= CONFIDENT {
                break;
            }
        }
        if best.is_empty() {
            return Err(ReadProblem::new(
                ProblemCode::OcrFailed,
                "the picture could not be read; save it as PNG or TIFF and send it again",
            ));
        }
        Ok(best)
    }

    fn pdf_page(&self, pdf: &Path, page: u32, time: Duration) -> Result<OcrPage, ReadProblem> {
        let number = page.to_string();
        let path = pdf.to_string_lossy();
        let arguments = ["-gray", "-r", "300", "-f", &number, "-l", &number, &path];
        let image = run(&self.renderer, &arguments, &[], time).map_err(|problem| {
            let missing = "the page must be rendered for OCR; install pdftoppm (Debian: apt-get \
                           install poppler-utils) and process the file again";
            if problem.code == ProblemCode::Unsupported {
                ReadProblem::new(ProblemCode::NeedsOcr, missing)
            } else {
                problem
            }
        })?;
        let pages = self.image(&image, 300, time)?;
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
