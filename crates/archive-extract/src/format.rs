//! The table of document formats. A new format is one module with a reader and one row here: the
//! type, detection, dispatch, media types and the list of accepted types all come from the rows.

use serde::{Deserialize, Serialize};

use crate::context::{ReadContext, ReadResult};
use crate::{ProblemCode, ReadProblem, compound, eml, pdf, picture, plain, rtf, zip};

/// How the content of a file shows its format.
enum Detection {
    /// The first bytes.
    Signature(fn(&[u8]) -> bool),
    /// A ZIP archive with an entry whose name begins so.
    ZipEntry(&'static str),
    /// A compound file with an entry of this name in its root.
    CompoundEntry(&'static str),
    /// Text that the function accepts; it also learns whether the name promises this format.
    Text(fn(&str, bool) -> bool),
    /// Text that no other row accepts.
    AnyText,
}

/// One row of the table.
struct FormatRow {
    format: Format,
    /// The word for it in results and logs.
    name: &'static str,
    /// What lists of accepted types call it.
    short: &'static str,
    /// What a sentence calls it.
    label: &'static str,
    /// The extensions of files that are sent, in lower case.
    extensions: &'static [&'static str],
    /// Further extensions that attachments of messages have.
    attached_as: &'static [&'static str],
    media_type: &'static str,
    detection: Detection,
    read: fn(&mut ReadContext<'_>, &[u8]) -> ReadResult,
}

macro_rules! formats {
    ($($format:ident $name:literal $short:literal $label:literal $extensions:expr, $attached_as:expr,
       $media_type:literal, $detection:expr, $read:expr;)*) => {
        /// The formats that are read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Format {
            $($format,)*
        }

        const TABLE: &[FormatRow] = &[$(FormatRow {
            format: Format::$format,
            name: $name,
            short: $short,
            label: $label,
            extensions: &$extensions,
            attached_as: &$attached_as,
            media_type: $media_type,
            detection: $detection,
            read: $read,
        },)*];
    };
}

use Detection::{AnyText, CompoundEntry, Signature, Text, ZipEntry};

formats! {
    Pdf "pdf" "PDF" "PDF" ["pdf"], [], "application/pdf",
        Signature(pdf::has_signature), pdf::read;
    Docx "docx" "DOCX" "DOCX" ["docx"], ["docm", "dotx"],
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ZipEntry("word/document"), crate::docx::read;
    Doc "doc" "DOC" "DOC" ["doc"], ["dot"], "application/msword",
        CompoundEntry("WordDocument"), crate::doc::read;
    Rtf "rtf" "RTF" "RTF" ["rtf"], [], "application/rtf",
        Signature(rtf::has_signature), rtf::read;
    Text "text" "TXT" "plain text" ["txt"], ["text", "log"], "text/plain",
        AnyText, plain::read;
    Markdown "markdown" "MD" "Markdown" ["md"], ["markdown"], "text/markdown",
        Text(|_, promised| promised), plain::read;
    Eml "eml" "EML" "an EML message" ["eml"], [], "message/rfc822",
        Text(eml::has_headers), eml::read;
    Msg "msg" "MSG" "an MSG message" ["msg"], [], "application/vnd.ms-outlook",
        CompoundEntry("__properties_version1.0"), crate::msg::read;
    Png "png" "PNG" "a PNG picture" ["png"], [], "image/png",
        Signature(picture::is_png), picture::read_png;
    Jpeg "jpeg" "JPG" "a JPEG picture" ["jpg", "jpeg"], [], "image/jpeg",
        Signature(picture::is_jpeg), picture::read_jpeg;
    Tiff "tiff" "TIFF" "a TIFF picture" ["tiff", "tif"], [], "image/tiff",
        Signature(picture::is_tiff), picture::read_tiff;
}

impl Format {
    /// Every format, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|it| it.format)
    }

    fn row(self) -> &'static FormatRow {
        // The macro writes the variants and the rows in one order.
        &TABLE[self as usize]
    }

    /// The format that the extension of a name promises.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let extension = extension(name)?;
        let known = |it: &&FormatRow| {
            it.extensions.iter().chain(it.attached_as).any(|known| *known == extension)
        };
        TABLE.iter().find(known).map(|it| it.format)
    }

    /// The format that the name of a sent file promises; `None` for every name that is not
    /// accepted. Attachments of messages have more names: [`Format::of_name`].
    #[must_use]
    pub fn of_sent_name(name: &str) -> Option<Self> {
        let extension = extension(name)?;
        let known = |it: &&FormatRow| it.extensions.contains(&extension.as_str());
        TABLE.iter().find(known).map(|it| it.format)
    }

    /// `pdf`; the first of the extensions of this format.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.row().extensions.first().copied().unwrap_or_default()
    }

    /// `pdf`, `markdown`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// `PDF`, `plain text`, `a PNG picture`.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// `application/pdf`.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        self.row().media_type
    }

    /// A warning if the name promises another format. Word itself saves RTF under `.doc`, and any
    /// text may be called `.txt`, so those pass.
    pub(crate) fn disagrees_with(self, name: &str) -> Option<ReadProblem> {
        let promised = Self::of_name(name)?;
        let fine = promised == self
            || matches!((promised, self), (Self::Doc, Self::Rtf) | (Self::Text, Self::Eml));
        (!fine).then(|| {
            ReadProblem::new(
                ProblemCode::NameMismatch,
                format!("the name says {promised:?} but the content is {self:?}; read as {self:?}"),
            )
        })
    }

    pub(crate) fn read(self, context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
        (self.row().read)(context, bytes)
    }
}

/// The format of a file by its content; the name decides only between kinds of text.
///
/// # Errors
/// With a message that says what the file is, when that is known.
pub fn detect(name: &str, bytes: &[u8]) -> Result<Format, ReadProblem> {
    if bytes.is_empty() {
        return Err(ReadProblem::new(ProblemCode::Empty, "the file is empty"));
    }
    if zip::has_signature(bytes) {
        return in_zip(bytes);
    }
    if compound::has_signature(bytes) {
        return in_compound(bytes);
    }
    if let Some(what) = refused(bytes) {
        let message = format!("{what}; send the documents themselves");
        return Err(ReadProblem::new(ProblemCode::Unsupported, message));
    }
    let signed = TABLE.iter().find(|it| matches!(it.detection, Signature(is) if is(bytes)));
    if let Some(row) = signed {
        return Ok(row.format);
    }
    if let Some(text) = plain::looks_like_text(bytes) {
        let promised = Format::of_name(name);
        let accepts = |it: &&FormatRow| matches!(it.detection, Text(is) if is(&text, promised == Some(it.format)));
        let any = || TABLE.iter().find(|it| matches!(it.detection, AnyText));
        if let Some(row) = TABLE.iter().find(accepts).or_else(any) {
            return Ok(row.format);
        }
    }
    Err(ReadProblem::new(
        ProblemCode::Unsupported,
        format!("the content is of no known type; send {}", accepted()),
    ))
}

/// `.pdf, .docx, … or .tif`: the extensions of the files that are accepted.
#[must_use]
pub fn accepted_extensions() -> String {
    let all = TABLE.iter().flat_map(|it| it.extensions).map(|it| format!(".{it}"));
    let all: Vec<String> = all.collect();
    match all.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The part of a name after its last full stop, in lower case.
fn extension(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

/// `PDF, DOCX, … or TIFF`.
fn accepted() -> String {
    let names: Vec<&str> = TABLE.iter().map(|it| it.short).collect();
    match names.split_last() {
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// What a file is that is not read whatever its name says.
fn refused(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'R', b'a', b'r', b'!', ..] => Some("a RAR archive"),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some("a 7-Zip archive"),
        [0x1f, 0x8b, ..] => Some("a gzip file"),
        [b'M', b'Z', ..] if bytes.contains(&0) => Some("a program"),
        [0x7f, b'E', b'L', b'F', ..] => Some("a program"),
        _ => None,
    }
}

fn in_zip(bytes: &[u8]) -> Result<Format, ReadProblem> {
    let Some(entries) = zip::entries(bytes, 10_000) else {
        let message = "the end of the file is missing; send it again";
        return Err(ReadProblem::new(ProblemCode::Truncated, message));
    };
    let has = |start: &str| entries.iter().any(|it| it.name.starts_with(start));
    let row = TABLE.iter().find(|it| matches!(it.detection, ZipEntry(start) if has(start)));
    if let Some(row) = row {
        return Ok(row.format);
    }
    let what = if has("xl/") {
        "a spreadsheet; save it as PDF"
    } else if has("ppt/") {
        "a presentation; save it as PDF"
    } else if has("content.xml") {
        "an OpenDocument file; save it as DOCX or PDF"
    } else {
        "an archive; send the documents themselves"
    };
    Err(ReadProblem::new(ProblemCode::Unsupported, what))
}

fn in_compound(bytes: &[u8]) -> Result<Format, ReadProblem> {
    let names = compound::Compound::open(bytes)?.children("/", 10_000);
    let has = |name: &str| names.iter().any(|it| it.name == name);
    let row = TABLE.iter().find(|it| matches!(it.detection, CompoundEntry(name) if has(name)));
    if let Some(row) = row {
        return Ok(row.format);
    }
    if has("EncryptedPackage") || has("EncryptionInfo") {
        return Err(ReadProblem::new(
            ProblemCode::Encrypted,
            "the document is encrypted; passwords are taken for PDF only: open it in Word, remove its \
             password (File, Info, Protect Document) and send it again",
        ));
    }
    let what = if has("Workbook") || has("Book") {
        "a spreadsheet; save it as PDF"
    } else if has("PowerPoint Document") {
        "a presentation; save it as PDF"
    } else {
        "a compound file that is neither a Word document nor a message"
    };
    Err(ReadProblem::new(ProblemCode::Unsupported, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_variants() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.format as usize, at);
            assert_eq!(Format::of_name(&format!("a.{}", row.extensions[0])), Some(row.format));
        }
    }

    #[track_caller]
    fn check_name(name: &str, sent: Option<Format>, attached: Option<Format>) {
        assert_eq!((Format::of_sent_name(name), Format::of_name(name)), (sent, attached), "{name}");
    }

    #[test]
    fn attachments_have_more_names_than_sent_files() {
        check_name("a.PDF", Some(Format::Pdf), Some(Format::Pdf));
        check_name("a.b.jpeg", Some(Format::Jpeg), Some(Format::Jpeg));
        check_name("a.tif", Some(Format::Tiff), Some(Format::Tiff));
        check_name("a.docm", None, Some(Format::Docx));
        check_name("a.dot", None, Some(Format::Doc));
        check_name("a.log", None, Some(Format::Text));
        check_name("a.markdown", None, Some(Format::Markdown));
        for name in ["a", "pdf", "a.", ".", "", "a.html", "a.txt ", "a.pdf.exe"] {
            check_name(name, None, None);
        }
        check_name(".txt", Some(Format::Text), Some(Format::Text));
    }

    #[test]
    fn the_accepted_types_are_listed_from_the_table() {
        let extensions = ".pdf, .docx, .doc, .rtf, .txt, .md, .eml, .msg, .png, .jpg, .jpeg, .tiff \
                          or .tif";
        assert_eq!(accepted_extensions(), extensions);
        let list = "PDF, DOCX, DOC, RTF, TXT, MD, EML, MSG, PNG, JPG or TIFF";
        assert_eq!(accepted(), list);
        let problem = detect("a", &[0, 1, 2, 3]).unwrap_err();
        assert_eq!(problem.message, format!("the content is of no known type; send {list}"));
    }
}
