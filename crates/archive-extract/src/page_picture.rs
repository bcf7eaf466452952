//! Draws one page as PNG with the words of wanted spans marked, and lists the words of the page
//! with their boxes. A child process draws the page with `pdftoppm`, within limits; nothing is
//! kept.
//!
//! Only PDF files and pictures have pages that can be drawn.

mod align;
mod boxes;
mod draw;
mod letters;
mod similar;
mod tiff;
mod tools;

use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use sandbox::{ChildCommand, ChildEnd, ChildLimits};
use serde::{Deserialize, Serialize};

pub use boxes::PageWord;

use crate::wire::WorkerRequest;
use crate::{Format, ProblemCode, ReadProblem, ReaderProcess, tool_files};
use tools::{DrawnPage, PageTools};

/// The widest picture of a page, in pixels.
pub const WIDTH_MAX: u32 = 2_000;
/// A picture that would have more pixels is made smaller.
const PIXELS_MAX: f64 = 8_000_000.0;
/// The largest PNG that is sent.
const PNG_BYTES_MAX: usize = 12 << 20;
/// One message has at most this many bytes of the PNG, or this many words.
const PIECE_BYTES: usize = 3 << 20;
const WORDS_AT_ONCE: usize = 2_000;
/// A page with more bytes of text is not drawn with marks.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// What each tool may write to the scratch folder.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Which page is drawn, and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRequest {
    pub format: Format,
    /// From 1 on.
    pub page: u32,
    /// The width of the picture in pixels; `None` for no picture.
    pub width: Option<u32>,
    /// Whether the words of the page are sent beside the picture.
    pub with_words: bool,
    /// The text of the page as it was read.
    pub text: String,
    /// Characters of the text whose words are marked.
    pub spans: Vec<Range<u32>>,
    /// Whether the text was read by OCR.
    pub is_ocr: bool,
    /// Wall-clock seconds, and processor seconds of each tool.
    pub seconds: u32,
    /// Address space of the child and of each tool.
    pub memory_bytes: u64,
}

/// The unit of a page's size and of its boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageUnit {
    /// 1/72 inch, the unit of PDF pages.
    Point,
    /// The unit of picture files.
    Pixel,
}

/// How much of the wanted spans was found among the words of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarksFound {
    All,
    /// Some words were read differently, or some spans are not there.
    Part,
    None,
}

/// A page that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PagePicture {
    pub width: f64,
    pub height: f64,
    pub unit: PageUnit,
    /// `None` if no span was wanted.
    pub marks: Option<MarksFound>,
    /// Empty unless wanted.
    pub words: Vec<PageWord>,
    /// Empty unless wanted.
    pub png: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PictureRequest {
    path: PathBuf,
    scratch: PathBuf,
    languages: Vec<String>,
    page: PageRequest,
}

#[derive(Debug, Serialize, Deserialize)]
enum PictureMessage {
    Page {
        width: f64,
        height: f64,
        unit: PageUnit,
        marks: Option<MarksFound>,
    },
    Words(Vec<PageWord>),
    /// A piece of the PNG in base64.
    Png(String),
    Failed(ReadProblem),
    Done,
}

/// Whether the pages of this format can be drawn.
#[must_use]
pub fn has_pictures(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Png | Format::Jpeg | Format::Tiff)
}

/// Draws a page in a child process, which is stopped within 200 ms after `is_needed` turns false.
/// Blocks.
///
/// # Errors
/// If the page cannot be drawn within the limits, or a tool is not installed.
pub fn draw(
    child: &ReaderProcess,
    path: &Path,
    page: &PageRequest,
    is_needed: &dyn Fn() -> bool,
) -> Result<PagePicture, ReadProblem> {
    if page.text.len() > TEXT_BYTES_MAX {
        let message = "the page has too much text to be drawn with marks";
        return Err(ReadProblem::new(ProblemCode::TooLarge, message));
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let request = WorkerRequest::Picture(PictureRequest {
        path: absolute(path),
        scratch: absolute(&child.scratch),
        languages: child.languages.clone().unwrap_or_default(),
        page: page.clone(),
    });
    let command = ChildCommand {
        program: child.program.clone(),
        arguments: child.arguments.clone(),
        folder: child.scratch.clone(),
    };
    let input = move |to: &mut dyn Write| sandbox::send(to, &request);
    let mut received = Received::default();
    let mut on_message = |message| received.apply(message);
    match sandbox::run(&command, page.seconds, input, is_needed, &mut on_message) {
        ChildEnd::Done => received.finish(),
        ChildEnd::TimedOut | ChildEnd::CpuExceeded => Err(ReadProblem::new(
            ProblemCode::TimedOut,
            format!("drawing the page took more than {} s", page.seconds),
        )),
        ChildEnd::OutOfMemory => Err(ReadProblem::new(
            ProblemCode::TooLarge,
            format!("drawing the page needs more than {} MB of memory", page.memory_bytes >> 20),
        )),
        ChildEnd::Crashed(how) => {
            let message = format!("the page made the drawing process fail ({how})");
            Err(ReadProblem::new(ProblemCode::Crashed, message))
        }
    }
}

/// What the parent has received so far.
#[derive(Default)]
struct Received {
    page: Option<PagePicture>,
    problem: Option<ReadProblem>,
}

impl Received {
    fn apply(&mut self, message: PictureMessage) -> ControlFlow<()> {
        match (message, &mut self.page) {
            (PictureMessage::Page { width, height, unit, marks }, _) => {
                let (words, png) = (Vec::new(), Vec::new());
                self.page = Some(PagePicture { width, height, unit, marks, words, png });
            }
            (PictureMessage::Words(words), Some(page)) => {
                let long = words.iter().any(|it| it.text.len() > boxes::WORD_BYTES_MAX);
                if long || page.words.len() + words.len() > boxes::WORDS_MAX {
                    return self.stop_child();
                }
                page.words.extend(words);
            }
            (PictureMessage::Png(piece), Some(page)) => {
                let decoded = BASE64.decode(piece).unwrap_or_default();
                if page.png.len() + decoded.len() > PNG_BYTES_MAX {
                    return self.stop_child();
                }
                page.png.extend(decoded);
            }
            (PictureMessage::Failed(problem), _) => self.problem = Some(problem),
            (PictureMessage::Done, _) => return ControlFlow::Break(()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Stops a child that sends more than it is allowed to.
    fn stop_child(&mut self) -> ControlFlow<()> {
        let message = "the page made the drawing process send too much";
        self.problem = Some(ReadProblem::new(ProblemCode::Crashed, message));
        ControlFlow::Break(())
    }

    fn finish(self) -> Result<PagePicture, ReadProblem> {
        let stopped = || ReadProblem::new(ProblemCode::TimedOut, "drawing the page was stopped");
        match self.problem {
            Some(problem) => Err(problem),
            None => self.page.ok_or_else(stopped),
        }
    }
}

/// The child's side of [`draw`]: confines this process, draws the page and sends it.
pub(crate) fn draw_in_child(request: &PictureRequest, stdout: impl Write) -> io::Result<()> {
    let limits = ChildLimits {
        cpu_seconds: request.page.seconds,
        tool_cpu_seconds: request.page.seconds,
        memory_bytes: request.page.memory_bytes,
        file_bytes: FILE_BYTES_MAX,
    };
    sandbox::confine(&limits, &tool_files::access(&request.path, &request.scratch, true))?;
    let mut to = io::BufWriter::new(stdout);
    let tools = PageTools {
        document: &request.path,
        scratch: &request.scratch,
        languages: &request.languages,
        deadline: Instant::now() + Duration::from_secs(request.page.seconds.into()),
    };
    match tools.draw(&request.page) {
        Ok(page) => send_page(&mut to, page)?,
        Err(problem) => sandbox::send(&mut to, &PictureMessage::Failed(problem))?,
    }
    sandbox::send(&mut to, &PictureMessage::Done)?;
    to.flush()
}

fn send_page(to: &mut impl Write, page: DrawnPage) -> io::Result<()> {
    let DrawnPage { width, height, unit, marks, words, png } = page;
    if png.len() > PNG_BYTES_MAX {
        let problem = ReadProblem::new(
            ProblemCode::TooLarge,
            format!("the picture has more than {} MB; ask for less width", PNG_BYTES_MAX >> 20),
        );
        return sandbox::send(to, &PictureMessage::Failed(problem));
    }
    sandbox::send(to, &PictureMessage::Page { width, height, unit, marks })?;
    for some in words.chunks(WORDS_AT_ONCE) {
        sandbox::send(to, &PictureMessage::Words(some.to_vec()))?;
    }
    for piece in png.chunks(PIECE_BYTES) {
        sandbox::send(to, &PictureMessage::Png(BASE64.encode(piece)))?;
    }
    Ok(())
}
