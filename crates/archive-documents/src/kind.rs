//! Checks that a file has a supported type and that its name agrees with its content.

use archive_extract::{Format, ProblemCode, ReadProblem};
use fault::Fault;

/// The type by content. A name with the extension of another type is refused: it is a mistake or an
/// attempt to disguise the file.
pub(crate) fn check_kind(name: &str, found: Result<Format, ReadProblem>) -> Result<Format, Fault> {
    let promised = Format::of_name(name);
    let kind = match found {
        Ok(kind) => kind,
        Err(problem) if problem.code == ProblemCode::Empty => {
            return Err(Fault::invalid("empty_file", format!("the file {name:?} is empty")));
        }
        Err(problem) => return Err(unsupported(name, promised, &problem)),
    };
    match promised {
        Some(promised) if !agrees(promised, kind) => Err(refuse(format!(
            "the name {name:?} says {}, but the content is {}; name it for what it is, or send \
             the file that was meant",
            promised.label(),
            kind.label()
        ))),
        _ => Ok(kind),
    }
}

/// Word saves RTF under `.doc`, and every text format may be called text.
fn agrees(promised: Format, kind: Format) -> bool {
    let written = matches!(kind, Format::Text | Format::Markdown | Format::Eml | Format::Rtf);
    promised == kind
        || matches!((promised, kind), (Format::Doc, Format::Rtf))
        || matches!(promised, Format::Text | Format::Markdown) && written
}

fn unsupported(name: &str, promised: Option<Format>, problem: &ReadProblem) -> Fault {
    let says = match promised {
        Some(promised) => format!("the name {name:?} says {}, but the content", promised.label()),
        None => format!("the content of {name:?}"),
    };
    refuse(match problem.code {
        ProblemCode::Unsupported => {
            let what = problem.message.strip_prefix("the content is ");
            format!("{says} is {}", what.unwrap_or(&problem.message))
        }
        // Damaged or encrypted: the type is not the problem.
        _ => format!("{name:?} cannot be read: {}", problem.message),
    })
}

fn refuse(message: String) -> Fault {
    Fault::invalid("unsupported_file_type", message)
}
