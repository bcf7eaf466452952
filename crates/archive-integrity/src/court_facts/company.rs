//! What a company is: its form, by the end of its name or by words behind it, and the place under
//! whose law it was formed: `Orrin Foods, Inc., a Delaware corporation`.

use super::Words;
use crate::Span;
use crate::actors::{Actor, ActorIndex};
use crate::reading::{Reading, Sentence, Value};
use crate::text::Word;
use crate::triples::Participants;

/// The kind of a company. A plain «company» has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Corporation,
    LimitedLiability,
    Partnership,
}

/// What one place of a text says about a company.
#[derive(Debug, Clone)]
pub(crate) struct Company {
    pub(crate) actor: Actor,
    pub(crate) form: Option<Form>,
    pub(crate) place: Option<String>,
    pub(crate) span: Span,
}

fn form_of_suffix(folded: &str) -> Option<Form> {
    match folded {
        "inc" | "corp" | "corporation" | "incorporated" => Some(Form::Corporation),
        "llc" => Some(Form::LimitedLiability),
        "lp" | "llp" => Some(Form::Partnership),
        _ => None,
    }
}

/// The form that words behind an article name: `limited liability company`.
fn form_at(words: &Words<'_, '_>, from: usize) -> Option<Form> {
    for at in from..from + 4 {
        match words.word(at) {
            "corporation" => return Some(Form::Corporation),
            "llc" => return Some(Form::LimitedLiability),
            "partnership" => return Some(Form::Partnership),
            "limited" if words.word(at + 1) == "liability" => {
                return match words.word(at + 2) {
                    "company" => Some(Form::LimitedLiability),
                    "partnership" => Some(Form::Partnership),
                    _ => None,
                };
            }
            "limited" | "general" | "nonprofit" | "private" | "public" | "professional"
            | "domestic" | "foreign" => {}
            _ => return None,
        }
    }
    None
}

/// The companies that a sentence describes.
pub(crate) fn read(
    page: &Reading<'_>,
    sentence: &Sentence,
    actors: &ActorIndex,
    participants: &Participants,
) -> Vec<Company> {
    let own = page.words_of(sentence);
    let first = sentence.words.0;
    let words = Words { page, first, folded: own.iter().map(Word::fold).collect() };
    let mut list = Vec::new();
    for mark in page.marks_of(sentence) {
        let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
        let term = participants.term(&tokens.join(" ")).and_then(|it| it.actors.first().copied());
        let Some(actor) = term.or_else(|| actors.actor(tokens)) else { continue };
        let (from, to) = (from - first, to.saturating_sub(first));
        let suffix = (from..=to).find_map(|at| form_of_suffix(words.word(at)));
        // Past the end of the name and «is»: `Orrin Foods, Inc. is a Delaware corporation`.
        let mut at = to;
        while at < to + 3
            && (form_of_suffix(words.word(at)).is_some()
                || matches!(words.word(at), "is" | "was" | "l" | "c" | "p"))
        {
            at += 1;
        }
        let described = matches!(words.word(at), "a" | "an");
        let place = words.place(at + 1).filter(|_| described);
        let behind = at + 1 + place.as_ref().map_or(0, |it| it.split(' ').count());
        let form = described.then(|| form_at(&words, behind)).flatten();
        let place = place.filter(|_| form.is_some() || words.word(behind) == "company");
        if form.or(suffix).is_some() || place.is_some() {
            list.push(Company { actor, form: form.or(suffix), place, span: mark.span });
        }
    }
    list
}
