//! What a labeller writes beside the rows of a paper: titles, document types, outcomes, answers that
//! are neither right nor wrong, and the kinds whose rows are complete.

use std::io;

use serde::Deserialize;

use crate::facts;
use crate::law::bare;

/// The further labels of one paper. Of several titles or types each is right.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Extra {
    #[serde(default)]
    pub(crate) titles: Vec<String>,
    #[serde(default)]
    pub(crate) document_types: Vec<String>,
    #[serde(default)]
    pub(crate) outcomes: Vec<OutcomeLabel>,
    #[serde(default)]
    deadlines: Vec<DeadlineLabel>,
    /// Answers of a kind that count neither as right nor as wrong.
    #[serde(default)]
    optional: std::collections::BTreeMap<String, Vec<String>>,
    /// The kinds of which every answer that is not labelled is wrong.
    #[serde(default)]
    complete: Vec<String>,
}

/// What a paper decides.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OutcomeLabel {
    decision: String,
}

/// A deadline in the words of the paper and its last day; none where the day must stay open.
#[derive(Debug, Clone, Deserialize)]
struct DeadlineLabel {
    due: Option<String>,
}

impl OutcomeLabel {
    /// The words of our drafts for the decision: `reversed and remanded` are two.
    pub(crate) fn words(&self) -> Vec<String> {
        let lower = self.decision.to_lowercase();
        lower.split(" and ").map(|it| in_our_word(it.trim()).replace([' ', '-'], "_")).collect()
    }
}

/// Our word for a decision or a type that a label has in Russian.
pub(crate) fn in_our_word(label: &str) -> &str {
    match label {
        "удовлетворить" => "granted",
        "удовлетворить частично" => "granted in part",
        "отказать" | "оставить без удовлетворения" => "denied",
        "оставить без изменения" => "affirmed",
        "отменить" => "reversed",
        "изменить" => "modified",
        "взыскать" => "awarded",
        "прекратить" => "dismissed",
        "постановление" => "ruling",
        "определение" => "order",
        "решение" => "judgment",
        "договор" | "agreement" => "contract",
        "уведомление" => "notice",
        "email" => "e-mail",
        it => it,
    }
}

/// The word of the labels for a kind.
fn label_of(kind: &str) -> &str {
    match kind {
        "case number" => "number",
        "due day" | "sure due day" => "deadline",
        "date" => "event",
        it => it,
    }
}

impl Extra {
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        serde_json::from_str(text).map_err(io::Error::other)
    }

    /// The last days of the paper's deadlines.
    pub(crate) fn due_days(&self) -> impl Iterator<Item = &str> {
        self.deadlines.iter().filter_map(|it| it.due.as_deref())
    }

    /// Whether every answer of the kind that has no label is wrong. Statutes, sums and the kinds of
    /// events are not labelled.
    pub(crate) fn is_complete(&self, kind: &str) -> bool {
        self.complete.iter().any(|it| it == label_of(kind))
    }

    /// Whether a finding is one of the answers that do not count.
    pub(crate) fn is_optional(&self, kind: &str, fact: &str) -> bool {
        let list = self.optional.get(label_of(kind)).map(Vec::as_slice).unwrap_or_default();
        list.iter().any(|it| is_label_of(kind, it, fact))
    }
}

/// Whether a finding is what a label in words names, `Jane Roe (plaintiff)` or `2010-01-29 mailed`.
fn is_label_of(kind: &str, label: &str, fact: &str) -> bool {
    let short = label.split(" (").next().unwrap_or(label);
    match kind {
        "party" => {
            let named = facts::person(short);
            fact.rsplit_once(' ').is_some_and(|it| it.0 == named)
        }
        "attorney" | "judge" => facts::person(short) == fact,
        "court" => facts::court(short) == fact || facts::court(label) == fact,
        "case number" => bare(short) == fact,
        "date" | "event" => fact.starts_with(label.split(' ').next().unwrap_or(label)),
        // A term is written in words or in digits; its unit is enough.
        "deadline" => {
            fact.split(' ').nth(1).is_some_and(|it| label.contains(it.trim_end_matches('s')))
        }
        _ => false,
    }
}

/// Whether a title names what the label names: each side of the label, by its first party.
pub(crate) fn names(title: &str, label: &str) -> bool {
    let title = words(title);
    let sides = sides(label);
    !sides.is_empty()
        && sides.iter().all(|side| {
            let side = words(side);
            !side.is_empty() && title.windows(side.len()).any(|it| it == side.as_slice())
        })
}

/// The sides of `Roe, et al. v. Acme LLC`, without `et al.`
fn sides(label: &str) -> Vec<String> {
    let marked = label.replace(" vs. ", " v. ").replace(" vs ", " v. ").replace(" v ", " v. ");
    let marked = marked.replace(" к ", " v. ").replace(" против ", " v. ");
    let short = marked.replace(", et al.", "").replace(" et al.", "").replace(" et al", "");
    short.split(" v. ").map(str::to_owned).collect()
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('ё', "е");
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    // Legal forms are abbreviated, and Russian words are declined, in many ways.
    let dropped = |it: &str| {
        matches!(
            it,
            "the" | "in" | "re" | "ооо" | "ао" | "пао" | "оао" | "зао" | "мку" | "с" | "дело"
        ) || ["обществ", "ограниченн", "ответственност", "акционерн", "открыт", "публичн"]
            .iter()
            .any(|stem| it.starts_with(stem))
    };
    let cut = |it: &str| {
        let letters = it.chars().count();
        let kept = if it.is_ascii() || letters < 4 { letters } else { (letters - 1).min(5) };
        it.chars().take(kept).collect::<String>()
    };
    words.filter(|it| !dropped(it)).map(cut).collect()
}
