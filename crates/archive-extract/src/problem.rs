//! What went wrong, in words a person can act on.

use serde::{Deserialize, Serialize};

/// The kinds of failure a caller may treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The file is encrypted in a way that is not read, with a password or without.
    Encrypted,
    /// The file needs a password, and none was given.
    PasswordRequired,
    /// The password that was given does not open the file.
    WrongPassword,
    /// The end of the file is missing.
    Truncated,
    /// The file does not keep its own format's rules.
    Malformed,
    /// A format, or a part of one, that is not read.
    Unsupported,
    /// The page is a picture, and no OCR is installed.
    NeedsOcr,
    /// OCR ran and failed.
    OcrFailed,
    /// A bound on pages given to OCR was reached.
    OcrLimit,
    /// OCR is unsure of the words: their mean confidence is below [`crate::CONFIDENT`].
    LowConfidence,
    /// Text lies under a dark box or a redaction mark and is still in the file.
    HiddenText,
    /// The page has neither text nor a picture.
    BlankPage,
    /// The file states more pages than it marks.
    PagesUnmarked,
    /// A page's fonts do not say which characters they draw.
    NoUnicode,
    /// A bound on size was reached.
    TooLarge,
    /// A bound on pages was reached.
    TooManyPages,
    /// A bound on attachments or archive entries was reached.
    TooManyEntries,
    /// A bound on nesting was reached.
    TooDeep,
    /// The time was up.
    TimedOut,
    /// The child process died.
    Crashed,
    /// The name says one type and the content another; the content was believed.
    NameMismatch,
    /// There is no text at all.
    Empty,
}

/// One failure. Pages and attachments that worked are kept beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadProblem {
    pub code: ProblemCode,
    /// The page it concerns; the whole file if absent.
    pub page: Option<u32>,
    pub message: String,
}

impl ReadProblem {
    #[must_use]
    pub fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { code, page: None, message: message.into() }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(ProblemCode::Malformed, message)
    }

    pub(crate) fn on(mut self, page: u32) -> Self {
        self.page = Some(page);
        self
    }

    /// Whether going on with the same file is pointless.
    pub(crate) fn ends_everything(&self) -> bool {
        matches!(
            self.code,
            ProblemCode::TimedOut | ProblemCode::TooLarge | ProblemCode::TooManyPages
        )
    }
}
