//! Drafts of outcomes: what the document decides, about what, in its own words.

use archive_entities::{Outcome, OutcomeKind};

use crate::builder::DraftBuilder;
use crate::draft::Category;
use crate::wording::{clipped, in_one_line, in_ordinary_case, quoted, title};

/// The longest words about what is decided in a title, in bytes.
const WHAT_BYTES: usize = 140;

pub(crate) fn word(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Granted => "granted",
        OutcomeKind::GrantedInPart => "granted_in_part",
        OutcomeKind::Denied => "denied",
        OutcomeKind::Affirmed => "affirmed",
        OutcomeKind::AffirmedInPart => "affirmed_in_part",
        OutcomeKind::Reversed => "reversed",
        OutcomeKind::Vacated => "vacated",
        OutcomeKind::Modified => "modified",
        OutcomeKind::Remanded => "remanded",
        OutcomeKind::Dismissed => "dismissed",
        OutcomeKind::Awarded => "awarded",
        OutcomeKind::Convicted => "convicted",
        OutcomeKind::Returned => "returned",
        OutcomeKind::LeftWithoutMotion => "left_without_motion",
    }
}

pub(crate) fn draft(it: &Outcome<'_>) -> DraftBuilder {
    let mut draft = DraftBuilder::new(Category::Outcome, it.ground);
    let kind = word(it.kind);
    draft.tag("outcome");
    draft.tag(kind);
    let what = in_ordinary_case(&in_one_line(it.what));
    let shown = kind.replace('_', " ");
    draft.title = if what.is_empty() {
        title(&format!("Outcome: {shown}"))
    } else {
        title(&format!("Outcome: {shown}: {}", clipped(&what, WHAT_BYTES)))
    };
    draft.content = format!("The text says {}.", quoted(it.sentence.quote));
    draft.set("outcome", kind);
    if !what.is_empty() {
        draft.set("what", what);
    }
    draft.set("written", in_one_line(it.mention.quote));
    draft.add(it.sentence.span);
    draft
}
