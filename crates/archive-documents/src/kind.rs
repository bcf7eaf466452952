//! Whether a file is of a type that is read, and whether its name agrees with its content.

use archive_extract::{Code, Kind, Problem};
use fault::Fault;

/// The type by content. A name that says another type is refused: whoever named it so was wrong
/// about the file, or wants others to be.
pub(crate) fn judge(name: &str, found: Result<Kind, Problem>) -> Result<Kind, Fault> {
    let promised = Kind::of_name(name);
    let kind = match found {
        Ok(kind) => kind,
        Err(problem) if problem.code == Code::Empty => {
            return Err(Fault::invalid("empty_file", format!("the file {name:?} is empty")));
        }
        Err(problem) => return Err(unsupported(name, promised, &problem)),
    };
    match promised {
        Some(promised) if !agrees(promised, kind) => Err(refuse(format!(
            "the name {name:?} says {}, but the content is {}; name it for what it is, or send \
             the file that was meant",
            word(promised),
            word(kind)
        ))),
        _ => Ok(kind),
    }
}

/// Word itself saves RTF under `.doc`, and whatever is written in letters may be called text.
fn agrees(promised: Kind, kind: Kind) -> bool {
    let written = matches!(kind, Kind::Text | Kind::Markdown | Kind::Eml | Kind::Rtf);
    promised == kind
        || matches!((promised, kind), (Kind::Doc, Kind::Rtf))
        || matches!(promised, Kind::Text | Kind::Markdown) && written
}

fn unsupported(name: &str, promised: Option<Kind>, problem: &Problem) -> Fault {
    let says = match promised {
        Some(promised) => format!("the name {name:?} says {}, but the content", word(promised)),
        None => format!("the content of {name:?}"),
    };
    refuse(match problem.code {
        Code::Unsupported => {
            let what = problem.message.strip_prefix("the content is ");
            format!("{says} is {}", what.unwrap_or(&problem.message))
        }
        // Damaged or locked: the type is not the question.
        _ => format!("{name:?} cannot be read: {}", problem.message),
    })
}

fn refuse(message: String) -> Fault {
    Fault::invalid("unsupported_file_type", message)
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Pdf => "PDF",
        Kind::Docx => "DOCX",
        Kind::Doc => "DOC",
        Kind::Rtf => "RTF",
        Kind::Text => "plain text",
        Kind::Markdown => "Markdown",
        Kind::Eml => "an EML message",
        Kind::Msg => "an MSG message",
        Kind::Png => "a PNG picture",
        Kind::Jpeg => "a JPEG picture",
        Kind::Tiff => "a TIFF picture",
    }
}
