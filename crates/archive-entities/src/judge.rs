//! Judges: by title before or after the name, by the panel's list, by the signature's next line.

use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::nominative;
use crate::text::{TokenText, single_spaced};

/// Most tokens of the court's name between the title and the name of a Russian judge.
const COURT_TOKENS: usize = 14;
/// Most tokens of a panel's list that are read.
const PANEL_TOKENS: usize = 40;
/// Most tokens at the head of a page in which a judge is named by title and surname alone.
const HEAD_TOKENS: usize = 400;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    for at in 0..text.len() {
        if reading.is_cited(at) {
            continue;
        }
        match text.low(at) {
            "hon" | "honorable" => titled(text, at + 1, true, out),
            "judge" | "justice" | "chancellor" | "arbitrator" if text.capital(at) => {
                // `Judge: Mary Roe`
                let label = usize::from(text.is(at + 1, ":") && text.breaks(at + 2) == 0);
                titled(text, at + 1 + label, label == 0, out);
                entitled(text, at, out);
            }
            "before" if text.capital(at) => panel(text, at + 1, out),
            "jj" | "js" if text.capital(at) => joined(text, at, out),
            "judges" | "justices" if text.capital(at) && text.capital(at + 1) => {
                listed(text, at + 1, out);
            }
            "judges"
                if text.capital(at)
                    && at > 0
                    && text.capital(at - 1)
                    && (party_free(text, at) || name::is_other_word(text.low(at - 1))) =>
            {
                joined(text, at - 1, out);
            }
            // `Mary Roe, U.S.D.J.`, `Mary Roe, J.S.C.`
            "u" | "j" | "a" if is_letters(text, at) => lettered(text, at, out),
            "j" | "cj" | "pj" if text.capital(at) => author(text, at, out),
            "p" | "c" | "a" if text.run(at + 1, &[".", "j"]) && text.capital(at) => {
                author(text, at, out)
            }
            "судья"
            | "судьи"
            | "судьей"
            | "судьями"
            | "судье"
            | "судей"
            | "председательствующий"
            | "председательствующего" => {
                // `помощником судьи Петровой П.П.` keeps the minutes.
                let clerk = at > 0
                    && ["помощник", "секретар"].iter().any(|it| text.low(at - 1).starts_with(it));
                if !clerk {
                    russian(text, at + 1, out);
                }
            }
            "/" if text.run(at, &["/", "s", "/"]) => signed(text, at + 3, out),
            _ => {}
        }
    }
}

/// Whether the word before `Judges` is that of a bench: `Circuit Judges`.
fn party_free(text: &TokenText<'_>, at: usize) -> bool {
    matches!(text.low(at - 1), "circuit" | "district" | "law" | "patent" | "senior" | "appellate")
}

fn judge<'t>(text: &TokenText<'t>, range: (usize, usize), ground: Ground) -> EntityMatch<'t> {
    EntityMatch::new(EntityKind::Person, text, range, ground).with(Role::Judge)
}

/// `Hon. Mary Roe`, `Judge Roe`, `Hon. Judge Roe`
fn titled<'t>(text: &TokenText<'t>, at: usize, single: bool, out: &mut Vec<EntityMatch<'t>>) {
    let mut from = at + usize::from(text.is(at, "."));
    while matches!(text.low(from), "judge" | "justice" | "magistrate" | "chief") && from < at + 4 {
        from += 1;
    }
    // A title may end its line in running text, and then the sentence goes on after the name.
    let runs_on = |end: usize| {
        text.breaks(from) == 1 && text.breaks(end) == 0 && text.is_word(end) && !text.capital(end)
    };
    // `Salas, Judge. Affirmed.` has its name before the title.
    let ended = text.is(at, ".") && !text.low(at.saturating_sub(1)).starts_with("hon");
    // `Judge Timothy` alone is the beginning of a name in the next line.
    let given = name::person(text, from, false).is_none()
        && name::is_given(text.low(from))
        && text.breaks(from + 1) == 1;
    if let Some(end) = name::person(text, from, single).filter(|_| !given)
        && !ended
        && (text.breaks(from) == 0 || runs_on(end))
    {
        // A surname in a sentence may be that of a judge of another case.
        let before = at.checked_sub(2).map(|it| text.low(it)).unwrap_or_default();
        let spoken = before.chars().all(char::is_lowercase)
            && at > 1
            && text.breaks(at - 1) == 0
            && !text.capital(at - 2)
            && text.is_word(at - 2);
        let passing = single && end == from + 1 && at > HEAD_TOKENS && spoken;
        let ground = if passing { Ground::Shape } else { Ground::Label };
        if let Some(end) = with_surname(text, from, end) {
            out.push(judge(text, (from, end), ground));
        }
    }
}

/// The end of a name whose surname may stand in the next line: `Judge G. Michael` above `Harvey`.
/// `None` for first names alone.
fn with_surname(text: &TokenText<'_>, from: usize, end: usize) -> Option<usize> {
    let first_names =
        (from..end).all(|it| name::is_given(text.low(it)) || text.word(it).chars().count() == 1);
    if !first_names || text.breaks(end) == 0 || end - from > 3 {
        return Some(end);
    }
    let below = name::person(text, end, true).filter(|_| text.breaks(end) == 1);
    below.or_else(|| (end > from + 1 && !text.is(from + 1, ".")).then_some(end))
}

/// `Judges ROE, DOE and POE concur`, `Justices Roe and Doe`
fn listed<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut from = at;
    let mut names = Vec::new();
    for _ in 0..12 {
        let Some(end) = name::person(text, from, true) else { break };
        names.push((from, end));
        from = match text.low(end) {
            "," if text.is(end + 1, "and") => end + 2,
            "," | "and" | "&" => end + 1,
            _ => break,
        };
    }
    if names.len() > 1 {
        out.extend(names.into_iter().map(|range| judge(text, range, Ground::Label)));
    }
}

/// `Mary Roe, United States District Judge`, with or without a line end between.
fn entitled<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let mut from = at;
    while from > 0 && at - from < 6 {
        let word = text.low(from - 1);
        let part = matches!(
            word,
            "united"
                | "states"
                | "district"
                | "circuit"
                | "court"
                | "magistrate"
                | "chief"
                | "u"
                | "s"
                | "."
                | "county"
                | "probate"
                | "presiding"
                | "appeals"
                | "of"
                | "senior"
                | "superior"
                | "vice"
                | "administrative"
                | "law"
                | "patent"
                | "immigration"
                | "tax"
                | "family"
                | "municipal"
                | "bankruptcy"
                | "associate"
        );
        if !part {
            break;
        }
        from -= 1;
    }
    // `Wayne County Circuit Judge`: the county's name stands between.
    let county = from > 0 && text.is(from, "county") && text.breaks(from) == 0;
    let from = if county { from - 1 } else { from };
    let comma = from > 0 && text.is(from - 1, ",");
    let line = text.breaks(from) == 1;
    if !(comma || line) || from == 0 {
        return;
    }
    let end = if comma { from - 1 } else { from };
    // `KEMPNER, Judge.` at the head of an opinion is a surname alone.
    let head = comma
        && text.at(end.saturating_sub(1)).is_some_and(|it| it.all_caps)
        && matches!(text.low(at + 1), "." | ":")
        || comma && text.breaks(at + 1) > 0 && text.breaks(end.saturating_sub(1)) > 0;
    if let Some(start) = name::person_before(text, end, head) {
        out.push(judge(text, (start, end), Ground::Label));
    }
}

/// `Before: ROE, P.J., and DOE and POE, JJ.`; `Before ROE, DOE, and POE, Circuit Judges.`
fn panel<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let from = at + usize::from(text.is(at, ":"));
    let mut names = Vec::new();
    let mut judges = false;
    let mut next = from;
    while next < from + PANEL_TOKENS {
        let word = text.low(next);
        if matches!(word, "judges" | "jj" | "justices") {
            judges = true;
            next += 1;
            // `and ROE, Senior Judge.` may follow the list.
            let more = next + usize::from(text.is(next, ","));
            if text.is(more, "and") && text.capital(more + 1) {
                next = more;
                continue;
            }
            break;
        }
        if text.breaks(next) >= 2 {
            break;
        }
        // `ROE, Circuit Judge, and DOE, Circuit Judge.`
        if matches!(word, "judge" | "justice") && text.is(next + 1, ".") && names.len() > 1 {
            judges = true;
            break;
        }
        if matches!(
            word,
            "," | ";"
                | "circuit"
                | "district"
                | "and"
                | "."
                | "p"
                | "j"
                | "c"
                | "cj"
                | "pj"
                | "chief"
                | "judge"
                | "hon"
                | "honorable"
                | "the"
                | "patent"
                | "law"
                | "associate"
                | "senior"
                | "presiding"
                | "justice"
                | "retired"
        ) || name::is_other_word(word)
        {
            next += 1;
        } else if let Some(end) = name::person(text, next, true) {
            names.push((next, end));
            next = end;
        } else {
            break;
        }
    }
    if judges {
        out.extend(names.into_iter().map(|range| judge(text, range, Ground::Label)));
    }
}

/// `ROE, J.` at the head of an opinion.
fn author<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if at < 2 || !text.is(at - 1, ",") || !text.is(at + 1, ".") {
        return;
    }
    let whole = name::person_before(text, at - 1, false);
    let surname = || name::person_before(text, at - 1, true);
    // `McCarthy, J. Appeal from an order` opens the opinion.
    let opens = |it: usize| text.breaks(it) > 1 && text.capital(at + 2);
    let caps = |it: &usize| text.at(*it).is_some_and(|it| it.all_caps) || opens(*it);
    if let Some(from) = whole.or_else(|| surname().filter(caps)).filter(|_| !recused(text, at)) {
        out.push(judge(text, (from, at - 1), Ground::Label));
    }
}

/// Whether the sentence says that the judges did not take part: `JJ., all recused`.
fn recused(text: &TokenText<'_>, at: usize) -> bool {
    let rest = (at..at + 24).take_while(|it| *it == at || text.breaks(*it) < 2);
    rest.clone().any(|it| matches!(text.low(it), "recused" | "disqualified"))
        || rest.clone().any(|it| text.run(it, &["not", "participating"]))
        || rest.clone().any(|it| text.run(it, &["took", "no", "part"]))
}

/// `ROE, C.J., and DOE, POE, and COE, JJ., concur`: the names before the title.
fn joined<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if at < 2 || !text.is(at - 1, ",") || recused(text, at) {
        return;
    }
    let mut end = at - 1;
    for _ in 0..9 {
        let Some(from) = name::person_before(text, end, true) else { return };
        // After `JJ.` the names of a New York panel are not in capitals.
        let titled = matches!(text.low(at), "jj" | "js") && text.is(at + 1, ".");
        if !titled && !text.at(from).is_some_and(|it| it.all_caps) {
            return;
        }
        out.push(judge(text, (from, end), Ground::Label));
        end = from;
        while end > 0 && at - end < PANEL_TOKENS {
            let generation = end > 1 && matches!(text.low(end - 2), "jr" | "sr");
            if generation || !matches!(text.low(end - 1), "," | "and" | "&" | "c" | "p" | "j" | ".")
            {
                break;
            }
            end -= 1;
        }
        if end == from {
            return;
        }
    }
}

fn is_letters(text: &TokenText<'_>, at: usize) -> bool {
    let rest = |from: usize, words: &[&str]| text.run(from, words);
    rest(at, &["u", ".", "s", "."])
        && matches!(text.low(at + 4), "d" | "m" | "b")
        && rest(at + 5, &[".", "j"])
        || rest(at, &["j", ".", "s", ".", "c"])
        || rest(at, &["a", ".", "l", ".", "j"])
}

fn lettered<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    let end = if at > 0 && text.is(at - 1, ",") { at - 1 } else { at };
    let near = end < at || text.breaks(at) == 1;
    if let Some(from) = name::person_before(text, end, false).filter(|_| near) {
        out.push(judge(text, (from, end), Ground::Label));
    }
}

/// `/s/ Mary Roe` below an opinion gives the full name of a judge named before; the merge of
/// mentions gives it the role.
fn signed<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    if let Some(end) = name::person(text, at, false) {
        out.push(EntityMatch::new(EntityKind::Person, text, (at, end), Ground::Layout));
    }
}

fn of_court(word: &str) -> bool {
    const STEMS: [&str; 16] = [
        "суд",
        "районн",
        "городск",
        "областн",
        "участ",
        "миров",
        "арбитражн",
        "апелляц",
        "кассац",
        "верховн",
        "област",
        "края",
        "республик",
        "город",
        "район",
        "округ",
    ];
    STEMS.iter().any(|it| word.starts_with(it))
}

/// `судья Иванова А.А.`, `судей: Петрова П.П., Сидоровой С.С.`
fn russian<'t>(text: &TokenText<'t>, at: usize, out: &mut Vec<EntityMatch<'t>>) {
    // `Судья Кировского районного суда г. Екатеринбурга Лосев Д.А.`: the court stands between.
    let goes = |it: usize| {
        text.breaks(it) <= 1
            && (matches!(text.low(it), ":" | "-" | "–" | "—" | "." | "№" | "и" | "г")
                || text.is_word(it) && (text.capital(it) || of_court(text.low(it)))
                || text.is_number(it))
    };
    let mut from = at;
    while from < at + COURT_TOKENS && goes(from) && name::person(text, from, false).is_none() {
        from += 1;
    }
    // «судьи», «судей», «председательствующего» stand in the genitive, and so do the names.
    let label = at.checked_sub(1).map(|it| text.low(it)).unwrap_or_default();
    let genitive = matches!(label, "судей" | "председательствующего")
        || label == "судьи" && !text.capital(at - 1);
    // «судьи Демина Е.Г., Кузнецов С.А.» are several, in the nominative.
    let listed = |from: usize| {
        let end = name::person(text, from, false);
        end.is_some_and(|it| {
            matches!(text.low(it), "," | "и") && name::person(text, it + 1, false).is_some()
        })
    };
    let genitive = genitive && !(label == "судьи" && listed(from));
    for _ in 0..6 {
        let Some(end) = name::person(text, from, false) else { break };
        let mut found = judge(text, (from, end), Ground::Label);
        if genitive
            && let Some(shown) = nominative::after_genitive(&single_spaced(text.slice(from, end)))
        {
            found = found.with_name(shown);
        }
        out.push(found);
        from = match text.low(end) {
            "," | "и" => end + 1,
            // One below the other, after `Судьи:`.
            _ if text.is(at, ":") && text.breaks(end) == 1 => end,
            _ => break,
        };
    }
}
