//! The readers: `pdftotext` first, ours in this process, and the others as programs of their own.

use std::path::Path;
use std::process::{Command, Stdio};

use archive_extract::{NoOcr, ReadLimits, read_all};
use cpu_time::ThreadTime;

use crate::Outcome;

/// How often a program is started without work, to learn what starting it costs.
const STARTS: u32 = 20;
/// The kernel counts the time of children in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

const PYMUPDF: &str = "import sys, pymupdf
pymupdf.TOOLS.mupdf_display_errors(False)
if len(sys.argv) > 1: print('\\n'.join(page.get_text() for page in pymupdf.open(sys.argv[1])))";
const PDFIUM: &str = "import sys, pypdfium2
if len(sys.argv) > 1:
    for page in pypdfium2.PdfDocument(sys.argv[1]):
        print(page.get_textpage().get_text_range())";

enum Kind {
    Ours,
    /// A program; the file stands in the place of `FILE`.
    Program(Vec<String>),
}

pub(crate) struct Reader {
    pub(crate) name: &'static str,
    kind: Kind,
    /// Processor seconds of all files.
    pub(crate) seconds: f64,
    /// Processor seconds for starting the program as often as there were files.
    pub(crate) starting_seconds: f64,
    start_seconds: f64,
}

/// What one reader found in one file.
#[derive(Default)]
pub(crate) struct ReadText {
    pub(crate) text: String,
    pub(crate) problems: usize,
}

/// `pdftotext`, ours, and the others that work here.
pub(crate) fn readers(python: Option<&str>) -> Vec<Reader> {
    let program = |parts: &[&str]| parts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let mut all = vec![
        Reader::new("pdftotext", Kind::Program(program(&["pdftotext", "-q", "FILE", "-"]))),
        Reader::new("ours", Kind::Ours),
    ];
    let mutool = program(&["mutool", "draw", "-q", "-F", "txt", "FILE"]);
    all.push(Reader::new("mutool", Kind::Program(mutool)));
    if let Some(python) = python {
        for (name, source) in [("PyMuPDF", PYMUPDF), ("pypdfium2", PDFIUM)] {
            all.push(Reader::new(name, Kind::Program(program(&[python, "-c", source, "FILE"]))));
        }
    }
    all.retain_mut(Reader::is_installed);
    all
}

impl Reader {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, seconds: 0.0, starting_seconds: 0.0, start_seconds: 0.0 }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self.kind, Kind::Ours)
    }

    /// Starts the program without a file some times, which also measures what that costs.
    fn is_installed(&mut self) -> bool {
        let Kind::Program(parts) = &self.kind else { return true };
        let arguments: Vec<&str> =
            parts.iter().skip(1).map(String::as_str).filter(|it| *it != "FILE").collect();
        let is_python = arguments.first() == Some(&"-c");
        let before = children_seconds();
        for _ in 0..STARTS {
            let mut command = Command::new(&parts[0]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
            match command.args(if is_python { &arguments[..] } else { &["-v"] }).status() {
                Ok(status) if status.success() || !is_python => {}
                _ => return false,
            }
        }
        self.start_seconds = (children_seconds() - before) / f64::from(STARTS);
        true
    }

    pub(crate) fn read(&mut self, file: &Path) -> Outcome<ReadText> {
        match &self.kind {
            Kind::Ours => {
                let bytes = std::fs::read(file)?;
                let start = ThreadTime::now();
                let document = read_all("a.pdf", &bytes, &ReadLimits::default(), &NoOcr);
                self.seconds += start.elapsed().as_secs_f64();
                let problems = document.problems_all().count();
                Ok(ReadText { text: document.text().0, problems })
            }
            Kind::Program(parts) => {
                let name = file.to_string_lossy();
                let before = children_seconds();
                let output = Command::new("timeout")
                    .arg("60")
                    .args(parts.iter().map(|it| if it == "FILE" { &*name } else { it.as_str() }))
                    .stdin(Stdio::null())
                    .stderr(Stdio::null())
                    .output()?;
                self.seconds += children_seconds() - before;
                self.starting_seconds += self.start_seconds;
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                Ok(ReadText { text, problems: usize::from(!output.status.success()) })
            }
        }
    }
}

/// Processor seconds of the child processes that ended.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces; the fields are counted after it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(13).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}
