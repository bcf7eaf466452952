//! Text from pictures: the port that readers use, and the reader that has none behind it.

pub(crate) mod command;
mod joined;
mod tesseract;
mod tsv;
mod turn;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{ProblemCode, ReadProblem};
pub(crate) use joined::{JoinedText, low_confidence};
pub use tesseract::Tesseract;

const INSTALL: &str = "install Tesseract (Debian: apt-get install tesseract-ocr tesseract-ocr-rus \
                       tesseract-ocr-osd) and process the file again";

/// A page with a lower mean confidence of its words is read again in another language and another
/// orientation, and says so if that does not help. A clean scan has 0.85 to 0.97, a page that was
/// read upside down 0.3 to 0.5.
pub const CONFIDENT: f32 = 0.7;

/// A page that was read from a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OcrPage {
    pub text: String,
    /// Mean confidence of the words, 0 to 1.
    pub confidence: f32,
}

/// The resolution of rendered pages.
pub const RENDER_DPI: u32 = 300;

/// A part of a rendered page, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelArea {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// Reads the text of pictures.
pub trait Ocr {
    /// Checks that OCR is available.
    ///
    /// # Errors
    /// If it is not; the message says what to install.
    fn ready(&self) -> Result<(), ReadProblem>;

    /// Whether `image` finds the orientation of every kind of image. If not, it turns only images
    /// without compression, as `pdf_page` makes them.
    fn turns_every_image(&self) -> bool {
        true
    }

    /// Reads all pages of an image file, upside down or sideways ones too. A `dpi` of 0 uses the resolution that the file states.
    ///
    /// # Errors
    /// If the tool fails or takes longer than `time`.
    fn image(&self, image: &[u8], dpi: u32, time: Duration) -> Result<Vec<OcrPage>, ReadProblem>;

    /// Renders one page of a PDF, or the area of it, at [`RENDER_DPI`] and reads it.
    ///
    /// # Errors
    /// As `image`, and if no renderer is installed.
    fn pdf_page(
        &self,
        pdf: &Path,
        page: u32,
        area: Option<PixelArea>,
        time: Duration,
    ) -> Result<OcrPage, ReadProblem>;

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
        Err(ReadProblem::new(ProblemCode::NeedsOcr, INSTALL))
    }

    fn image(&self, _: &[u8], _: u32, _: Duration) -> Result<Vec<OcrPage>, ReadProblem> {
        self.ready().map(|()| Vec::new())
    }

    fn pdf_page(
        &self,
        _: &Path,
        _: u32,
        _: Option<PixelArea>,
        _: Duration,
    ) -> Result<OcrPage, ReadProblem> {
        self.ready().map(|()| OcrPage::default())
    }

    fn scratch_file(&self, _: &[u8]) -> Result<PathBuf, ReadProblem> {
        self.ready().map(|()| PathBuf::new())
    }
}
