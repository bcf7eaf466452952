//! Roles and their holders: by a noun beside a name, a term defined in brackets, the label of a
//! line or the caption of a case. Russian nouns are read in all cases.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tables::ROLES;
use super::{Actor, ActorIndex};
use crate::Span;
use crate::reading::{Reading, Sentence, Value};
use crate::text::stem;

/// The role that a word names, in the singular or plural and in any case.
pub(super) fn role(folded: &str) -> Option<usize> {
    static FORMS: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
        let mut map = HashMap::new();
        for (at, it) in ROLES.split_ascii_whitespace().enumerate() {
            let (word, other) = it.split_once('/').unwrap_or((it, it));
            if is_russian(word) {
                map.insert(stem(word), at);
                map.insert(other.to_owned(), at);
            } else {
                map.insert(word.to_owned(), at);
                map.insert(format!("{word}s"), at);
            }
        }
        map
    });
    if is_russian(folded) {
        return FORMS.get(&stem(folded)).copied();
    }
    FORMS.get(folded).copied()
}

/// The dictionary form of a role's word.
pub(super) fn role_word(role: usize) -> &'static str {
    let word = ROLES.split_ascii_whitespace().nth(role).unwrap_or_default();
    word.split_once('/').map_or(word, |it| it.0)
}

/// Words for the party that asks a court for something.
const CLAIMANT_SIDE: &str = "plaintiff claimant petitioner complainant applicant appellant movant истец \
    заявитель взыскатель кредитор";
/// Words for the opposing party.
const RESPONDENT_SIDE: &str = "defendant respondent appellee debtor employer ответчик должник";

pub(super) fn is_one_side(one: usize, other: usize) -> bool {
    let (one, other) = (role_word(one), role_word(other));
    [CLAIMANT_SIDE, RESPONDENT_SIDE].iter().any(|side| {
        let has = |word: &str| side.split_ascii_whitespace().any(|it| it == word);
        has(one) && has(other)
    })
}

pub(super) fn is_russian(folded: &str) -> bool {
    folded.chars().next().is_some_and(|it| ('а'..='я').contains(&it))
}

/// A word of a name, in a form that is the same in all cases.
pub(super) fn canon(token: &str) -> String {
    if is_russian(token) { stem(token) } else { token.to_owned() }
}

fn is_link(folded: &str) -> bool {
    matches!(folded, "is" | "was" | "as")
}

/// Lower-case words that may stand between a name and the noun for its role.
const BETWEEN: usize = 3;

impl ActorIndex {
    /// Names with the word of a role beside them: `plaintiff Vale`, `Vale, the plaintiff`.
    pub(crate) fn roles_in(
        &self,
        page: &Reading<'_>,
        sentence: &Sentence,
    ) -> Vec<(usize, Actor, Span)> {
        let mut list = Vec::new();
        for mark in page.marks_of(sentence) {
            let Value::Name { tokens, words: (from, to), .. } = &mark.value else { continue };
            let Some(actor) = self.actor(tokens) else { continue };
            let found = before(page, *from, *to).or_else(|| behind(page, *to));
            if let Some((role, at)) = found {
                list.push((role, actor, mark.span));
                // `Plaintiff-Appellee` holds both.
                let second = role_at(page, at + 1).filter(|_| gap(page, at, at + 1) == "-");
                list.extend(second.map(|it| (it, actor, mark.span)));
                // `Vale, Trustee, Plaintiff` as well.
                let third = role_at(page, at + 1).filter(|_| gap(page, at, at + 1) == ",");
                let large = page.words.get(at + 1).is_some_and(|it| it.is_capital());
                list.extend(third.filter(|_| large).map(|it| (it, actor, mark.span)));
            }
        }
        list
    }

    /// `Vale v. Orr` and «иск Вала к Орру» where no word names the plaintiff.
    pub(super) fn caption(&self, page: &Reading<'_>) -> Vec<(usize, Actor)> {
        let mut list = Vec::new();
        for sentence in page.sentences.iter().take(12) {
            let mut names = page.marks_of(sentence).iter().filter_map(|it| match &it.value {
                Value::Name { tokens, words, .. } => Some((self.actor(tokens)?, *words)),
                _ => None,
            });
            let Some(mut last) = names.next() else { continue };
            for next in names {
                let between = page.words.get(last.1.1..next.1.0).unwrap_or_default();
                let versus = between.iter().any(|it| matches!(it.text, "v" | "vs" | "V"));
                let named = between.iter().any(|it| role(&it.fold()).is_some());
                let sued = between.len() <= 6
                    && between.iter().any(|it| it.text == "к")
                    && page.words_of(sentence).iter().any(|it| it.fold().starts_with("иск"));
                if versus && !named && between.len() <= 4 {
                    list.extend([(0, last.0), (1, next.0)]);
                } else if sued {
                    let russian = ["истец", "ответчик"].map(|it| role(it).unwrap_or(0));
                    list.extend([(russian[0], last.0), (russian[1], next.0)]);
                }
                last = next;
            }
            if !list.is_empty() {
                break;
            }
        }
        list
    }
}

fn role_at(page: &Reading<'_>, at: usize) -> Option<usize> {
    page.words.get(at).and_then(|it| role(&it.fold()))
}

fn gap<'a>(page: &'a Reading<'_>, one: usize, next: usize) -> &'a str {
    match (page.words.get(one), page.words.get(next)) {
        (Some(one), Some(next)) => page.text.get(one.end..next.start).unwrap_or("?").trim(),
        _ => "?",
    }
}

/// Titles are cut off the front of a name, so the role may lie one or two words back.
fn before(page: &Reading<'_>, from: usize, to: usize) -> Option<(usize, usize)> {
    let mut last = from.checked_sub(1)?;
    let mut between = gap(page, last, from);
    if matches!(page.words[last].fold().as_str(), "mr" | "mrs" | "ms" | "dr") {
        last = last.checked_sub(1)?;
        between = gap(page, last, last + 1);
    }
    // «The trustee shall be Vale».
    if matches!(page.words[last].text, "be" | "is" | "was") && between.is_empty() {
        last = last.checked_sub(1)?;
        last = if page.words[last].text == "shall" { last.checked_sub(1)? } else { last };
        return role_at(page, last).map(|it| (it, last));
    }
    let role = role_at(page, last)?;
    let closed =
        matches!(gap(page, to.checked_sub(1)?, to).chars().next(), Some(',' | '.' | '(' | ';'));
    let joined = match between {
        "" | "«" | ":" => true,
        "," => closed && !page.words[last].is_capital(),
        _ => false,
    };
    joined.then_some((role, last))
}

fn behind(page: &Reading<'_>, to: usize) -> Option<(usize, usize)> {
    let mut at = to;
    let opens = gap(page, at.checked_sub(1)?, at).trim_start_matches(['.', '»', '”']).trim_start();
    let bracket = opens.starts_with('(');
    if !(opens.starts_with(',') || bracket) {
        let linked = page.words.get(at).is_some_and(|it| is_link(&it.fold()));
        if !linked {
            return None;
        }
        at += 1;
    }
    let mut article = false;
    for step in 0..=BETWEEN {
        if let Some(role) = role_at(page, at) {
            // In `Vale (side: plaintiff)` and `Vale, counsel - plaintiff` the role belongs to
            // another person.
            let apart = gap(page, at.checked_sub(1)?, at);
            if step > 0 && !apart.trim_matches(['"', '“', '„', '«', '\'', '‘']).is_empty() {
                return None;
            }
            // In `Vale, whose tenant left` the noun is another person.
            let next = gap(page, at, at + 1);
            let ends = step == 0 || article || bracket || next.starts_with([',', '.', ')', ';']);
            let owner = page.words[at].text.ends_with("'s") || page.words[at].text.ends_with("’s");
            return (ends && !owner).then_some((role, at));
        }
        let word = page.words.get(at)?;
        let folded = word.fold();
        let small = matches!(folded.as_str(), "the" | "a" | "an" | "as" | "hereinafter");
        article |= small;
        let figure = word.text.chars().all(|it| it.is_ascii_digit());
        let plain = (word.text.chars().all(char::is_lowercase)
            || crate::name::is_plain(&folded)
            || figure)
            && !matches!(
                folded.as_str(),
                "who" | "which" | "that" | "and" | "whose" | "to" | "by" | "for" | "of" | "against"
            );
        if !(small || plain) || (step > 0 && !gap(page, at - 1, at).is_empty()) {
            return None;
        }
        at += 1;
    }
    None
}

/// Whether these words are the name of an insurer.
pub(super) fn is_insurer(tokens: &[String]) -> bool {
    tokens.iter().any(|it| {
        matches!(it.as_str(), "insurance" | "assurance" | "casualty" | "mutual" | "indemnity")
    })
}
