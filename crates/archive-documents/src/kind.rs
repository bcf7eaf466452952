//! Checks that a file has an accepted type: its name before its bytes arrive, its content
//! afterwards, and that the two agree.

use archive_extract::{Format, ProblemCode, ReadProblem, accepted_extensions};
use fault::Fault;

/// Characters of a name that a refusal repeats.
const NAME_SHOWN: usize = 100;

/// The type that the name promises. A name without one of the accepted extensions is refused, so
/// that a large file of another type is not received.
pub(crate) fn check_name(name: &str) -> Result<Format, Fault> {
    Format::of_sent_name(name).ok_or_else(|| {
        let accepted = accepted_extensions();
        let shown: String = name.chars().take(NAME_SHOWN).collect();
        let message = format!(
            "the name {shown:?} has none of the accepted types; send a file that ends in {accepted}"
        );
        refuse(message).problem("file", format!("a name that ends in {accepted}"))
    })
}

/// The type by content. A name with the extension of another type is refused: it is a mistake or an
/// attempt to disguise the file.
pub(crate) fn check_kind(name: &str, found: Result<Format, ReadProblem>) -> Result<Format, Fault> {
    let promised = check_name(name)?;
    let kind = match found {
        Ok(kind) => kind,
        Err(problem) if problem.code == ProblemCode::Empty => {
            return Err(Fault::invalid("empty_file", format!("the file {name:?} is empty")));
        }
        Err(problem) => return Err(unsupported(name, promised, &problem)),
    };
    if agrees(promised, kind) {
        return Ok(kind);
    }
    Err(refuse(format!(
        "the name {name:?} says {}, but the content is {}; name it for what it is (.{}), or send \
         the file that was meant",
        promised.label(),
        kind.label(),
        kind.extension()
    )))
}

/// Word saves RTF under `.doc`, and every text format may be called text.
fn agrees(promised: Format, kind: Format) -> bool {
    let written = matches!(kind, Format::Text | Format::Markdown | Format::Eml | Format::Rtf);
    promised == kind
        || matches!((promised, kind), (Format::Doc, Format::Rtf))
        || matches!(promised, Format::Text | Format::Markdown) && written
}

fn unsupported(name: &str, promised: Format, problem: &ReadProblem) -> Fault {
    refuse(match problem.code {
        ProblemCode::Unsupported => {
            let what = problem.message.strip_prefix("the content is ");
            let what = what.unwrap_or(&problem.message);
            format!("the name {name:?} says {}, but the content is {what}", promised.label())
        }
        // Damaged or encrypted: the type is not the problem.
        _ => format!("{name:?} cannot be read: {}", problem.message),
    })
}

fn refuse(message: String) -> Fault {
    Fault::invalid("unsupported_file_type", message)
}
