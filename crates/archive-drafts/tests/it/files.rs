//! Writes one text as a file of each type. Types with lines and pages are wrapped and paginated, so
//! that names, dates and citations run over the ends of lines.

use archive_entities::EventKind;
use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_extract::testing::doc::Doc;
use archive_extract::testing::docx::{docx, paragraph};
use archive_extract::testing::msg::{Body, Msg};
use archive_extract::testing::pdf;
use jiff::civil::Date;

/// Characters of a line and lines of a page, where a type has pages.
const WIDTH: usize = 88;
const HEIGHT: usize = 46;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileForm {
    Pdf,
    Docx,
    Doc,
    Rtf,
    Txt,
    Md,
    /// The document is attached to a message.
    Eml,
    Msg,
    /// Pictures of a page, which `scans` makes.
    Png,
    Jpg,
    Tiff,
}

impl FileForm {
    /// The type of the n-th file; not PDF for other than ASCII text, because the PDF writer of the
    /// tests has no Russian letters.
    pub(crate) fn of(place: usize, ascii: bool) -> Self {
        use FileForm::{Doc, Docx, Eml, Md, Msg, Pdf, Rtf, Txt};
        let all = [Pdf, Docx, Txt, Eml, Doc, Md, Rtf, Msg];
        let wide = [Docx, Txt, Eml, Doc, Md, Rtf, Msg];
        if ascii { all[place % all.len()] } else { wide[place % wide.len()] }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pdf => "a.pdf",
            Self::Docx => "a.docx",
            Self::Doc => "a.doc",
            Self::Rtf => "a.rtf",
            Self::Txt => "a.txt",
            Self::Md => "a.md",
            Self::Eml => "a.eml",
            Self::Msg => "a.msg",
            Self::Png => "a.png",
            Self::Jpg => "a.jpg",
            Self::Tiff => "a.tif",
        }
    }
}

/// Wraps a paragraph into lines; text in columns is not changed.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.chars().count() <= WIDTH || line.contains("   ") {
            lines.push(line.to_owned());
            continue;
        }
        let mut row = String::new();
        for word in line.split(' ') {
            if !row.is_empty() && row.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::take(&mut row));
            }
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
        lines.push(row);
    }
    lines
}

pub(crate) fn paged(pages: &[String]) -> Vec<String> {
    let mut list = Vec::new();
    for page in pages {
        list.extend(wrapped(page).chunks(HEIGHT).map(|it| it.join("\n")));
    }
    list
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn rtf(text: &str) -> Vec<u8> {
    let mut out = String::from("{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}}\\uc1 ");
    for it in text.chars() {
        match it {
            '\n' => out.push_str("\\par\n"),
            '\\' | '{' | '}' => out.extend(['\\', it]),
            ' '..='~' => out.push(it),
            other => {
                let mut units = [0_u16; 2];
                for unit in other.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{}?", unit.cast_signed()));
                }
            }
        }
    }
    out.push('}');
    out.into_bytes()
}

fn attached(pages: &[String]) -> Vec<u8> {
    docx(&body(pages), &[])
}

fn body(pages: &[String]) -> String {
    pages.join("\n").lines().map(|it| paragraph(&escaped(it))).collect()
}

const COVER: &str = "The document is attached.";

/// A random day on which the covering message is sent; it becomes an expected fact.
fn sent(rng: &mut CorpusRng, truth: &mut ExpectedFacts) -> Date {
    let day = rng.day();
    truth.event(day, EventKind::Dated);
    day
}

fn base64(data: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (place, chunk) in data.chunks(3).enumerate() {
        if place % 19 == 0 && place > 0 {
            out.push_str("\r\n");
        }
        let at = |it: usize| u32::from(chunk.get(it).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for step in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * step) & 63) as usize] as char;
            out.push(if step > chunk.len() as u32 { '=' } else { letter });
        }
    }
    out
}

fn eml(pages: &[String], day: Date) -> Vec<u8> {
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months[day.month() as usize - 1];
    format!(
        "From: records@example.com\r\nTo: desk@example.com\r\nDate: {} {month} {} 12:00:00 +0000\r\nSubject: scan\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"cut\"\r\n\r\n--cut\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{COVER}\r\n--cut\r\nContent-Type: application/octet-stream; name=\"paper.docx\"\r\nContent-Disposition: attachment; filename=\"paper.docx\"\r\nContent-Transfer-Encoding: base64\r\n\r\n{}\r\n--cut--\r\n",
        day.day(),
        day.year(),
        base64(&attached(pages)),
    )
    .into_bytes()
}

/// Noon of the day, in ticks of 100 ns since 1601.
fn ticks(day: Date) -> u64 {
    let days = (day - Date::constant(1970, 1, 1)).get_days();
    (11_644_473_600 + days as u64 * 86_400 + 43_200) * 10_000_000
}

/// Writes the file, and adds the facts of its covering message to the expected ones.
pub(crate) fn write(
    form: FileForm,
    pages: &[String],
    rng: &mut CorpusRng,
    truth: &mut ExpectedFacts,
) -> Vec<u8> {
    match form {
        FileForm::Pdf => {
            let pages = paged(pages);
            pdf::text(&pages.iter().map(String::as_str).collect::<Vec<_>>())
        }
        FileForm::Docx => attached(pages),
        FileForm::Doc => {
            let body = pages.join("\n").replace('\n', "\r");
            Doc { body, ..Doc::default() }.finish()
        }
        FileForm::Rtf => rtf(&pages.join("\n")),
        FileForm::Png | FileForm::Jpg | FileForm::Tiff => unreachable!("pictures are drawn"),
        FileForm::Txt => paged(pages).join("\u{c}").into_bytes(),
        FileForm::Md => pages.join("\n").into_bytes(),
        FileForm::Eml => eml(pages, sent(rng, truth)),
        FileForm::Msg => {
            let sent = ticks(sent(rng, truth));
            let files = vec![("paper.docx", attached(pages))];
            let (sender, recipients) = ("records@example.com", vec![(1, "desk@example.com")]);
            Msg {
                subject: "scan",
                sender,
                recipients,
                sent,
                body: Body::Wide(COVER),
                files,
                ..Msg::default()
            }
            .finish()
        }
    }
}
