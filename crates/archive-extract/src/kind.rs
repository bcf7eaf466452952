//! What a file is, by its content. The name only settles what content cannot: Markdown or text.

use serde::{Deserialize, Serialize};

use crate::{Code, Problem, compound, plain, zip};

/// The types that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Pdf,
    Docx,
    Doc,
    Rtf,
    Text,
    Markdown,
    Eml,
    Msg,
    Png,
    Jpeg,
    Tiff,
}

impl Kind {
    /// What the name promises.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "pdf" => Self::Pdf,
            "docx" | "docm" | "dotx" => Self::Docx,
            "doc" | "dot" => Self::Doc,
            "rtf" => Self::Rtf,
            "txt" | "text" | "log" => Self::Text,
            "md" | "markdown" => Self::Markdown,
            "eml" => Self::Eml,
            "msg" => Self::Msg,
            "png" => Self::Png,
            "jpg" | "jpeg" => Self::Jpeg,
            "tif" | "tiff" => Self::Tiff,
            _ => return None,
        })
    }

    /// A warning if the name promises another type. Word itself saves RTF under `.doc`, and any
    /// text may be called `.txt`, so those pass.
    pub(crate) fn disagrees_with(self, name: &str) -> Option<Problem> {
        let promised = Self::of_name(name)?;
        let fine = promised == self
            || matches!((promised, self), (Self::Doc, Self::Rtf) | (Self::Text, Self::Eml));
        (!fine).then(|| {
            Problem::new(
                Code::NameMismatch,
                format!("the name says {promised:?} but the content is {self:?}; read as {self:?}"),
            )
        })
    }

    #[must_use]
    pub fn mime(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Doc => "application/msword",
            Self::Rtf => "application/rtf",
            Self::Text => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Eml => "message/rfc822",
            Self::Msg => "application/vnd.ms-outlook",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Tiff => "image/tiff",
        }
    }
}

/// The type of a file by its content; a problem if it is none that is read.
///
/// # Errors
/// With a message that says what the file is, when that is known.
pub fn detect(name: &str, bytes: &[u8]) -> Result<Kind, Problem> {
    if bytes.is_empty() {
        return Err(Problem::new(Code::Empty, "the file is empty"));
    }
    if let Some(kind) = by_magic(bytes) {
        return kind;
    }
    let promised = Kind::of_name(name);
    if let Some(text) = plain::looks_like_text(bytes) {
        if promised == Some(Kind::Markdown) {
            return Ok(Kind::Markdown);
        }
        let named_mail = promised == Some(Kind::Eml);
        return Ok(if looks_like_mail(&text, named_mail) { Kind::Eml } else { Kind::Text });
    }
    Err(Problem::new(
        Code::Unsupported,
        "the content is of no known type; send PDF, DOCX, DOC, RTF, TXT, MD, EML, MSG, PNG, JPG or TIFF",
    ))
}

fn by_magic(bytes: &[u8]) -> Option<Result<Kind, Problem>> {
    let unsupported = |what: &str| {
        Some(Err(Problem::new(Code::Unsupported, format!("{what}; send the documents themselves"))))
    };
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => return Some(Ok(Kind::Png)),
        [0xff, 0xd8, 0xff, ..] => return Some(Ok(Kind::Jpeg)),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => {
            return Some(Ok(Kind::Tiff));
        }
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => {
            return Some(compound::kind(bytes));
        }
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Some(zip::kind(bytes)),
        [b'{', b'\\', b'r', b't', b'f', ..] => return Some(Ok(Kind::Rtf)),
        [b'R', b'a', b'r', b'!', ..] => return unsupported("a RAR archive"),
        [b'7', b'z', 0xbc, 0xaf, ..] => return unsupported("a 7-Zip archive"),
        [0x1f, 0x8b, ..] => return unsupported("a gzip file"),
        [b'M', b'Z', ..] if bytes.contains(&0) => return unsupported("a program"),
        [0x7f, b'E', b'L', b'F', ..] => return unsupported("a program"),
        _ => {}
    }
    // Readers accept junk before the header, so polyglots and mail gateways put it there. A mail
    // that quotes the mark is told apart by standing in a line of text.
    let head = &bytes[..bytes.len().min(1_024)];
    let at = head.windows(5).position(|it| it == b"%PDF-")?;
    let starts_a_line = at == 0 || matches!(head[at - 1], b'\n' | b'\r' | 0..=8 | 0x80..);
    starts_a_line.then_some(Ok(Kind::Pdf))
}

/// Whether the text opens with the headers of a message.
fn looks_like_mail(text: &str, named_mail: bool) -> bool {
    const KNOWN: [&str; 14] = [
        "from",
        "to",
        "cc",
        "subject",
        "date",
        "message-id",
        "received",
        "mime-version",
        "return-path",
        "delivered-to",
        "content-type",
        "reply-to",
        "sender",
        "x-mailer",
    ];
    let mut known = 0;
    let mut strong = false;
    for line in text.lines().take(60) {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) || line.starts_with("From ") {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else { return false };
        if name.is_empty() || !name.bytes().all(|it| it.is_ascii_graphic()) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        known += usize::from(KNOWN.contains(&name.as_str()));
        // A memo has From, To, Date and Subject too; only software writes these.
        strong |=
            ["message-id", "received", "mime-version", "return-path"].contains(&name.as_str());
    }
    known >= 2 && (strong || named_mail) || named_mail && known >= 1
}
