//! Courts: the words about `Court` that say which one.

use crate::entity::{Ground, Kind};
use crate::finding::{Finding, Reading};
use crate::text::Text;

const SIDE_TOKENS: usize = 8;

pub(crate) fn find<'t>(reading: &Reading<'_, 't>, out: &mut Vec<Finding<'t>>) {
    let text = reading.text;
    let mut at = 0;
    while at < text.len() {
        let word = text.low(at);
        let found = match word {
            _ if reading.is_cited(at) => None,
            "court" if text.capital(at) => english(text, at),
            "суд" | "суда" | "суде" | "судом" | "суду" => russian(text, at),
            "before" if text.is(at + 1, "the") && text.capital(at) => tribunal(text, at),
            "panel" if text.run(at + 1, &["on", "multidistrict", "litigation"]) => {
                english(text, at).map(|(from, _)| (from, at + 4))
            }
            "american" if text.run(at + 1, &["arbitration", "association"]) => Some((at, at + 3)),
            _ => None,
        };
        let Some((from, to)) = found else {
            at += 1;
            continue;
        };
        out.push(Finding::new(Kind::Court, text, (from, to), Ground::Label));
        at = to.max(at + 1);
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "united"
            | "states"
            | "district"
            | "circuit"
            | "supreme"
            | "probate"
            | "county"
            | "superior"
            | "bankruptcy"
            | "appellate"
            | "municipal"
            | "federal"
            | "judicial"
            | "michigan"
            | "u"
            | "s"
            | "family"
            | "chancery"
            | "tax"
            | "immigration"
            | "juvenile"
            | "surrogate's"
            | "high"
            | "crown"
    )
}

fn english(text: &Text<'_>, at: usize) -> Option<(usize, usize)> {
    let mut from = at;
    while from > 0 && at - from < SIDE_TOKENS && text.breaks(from) == 0 {
        let before = from - 1;
        let point = text.is(before, ".") && before > 0 && matches!(text.low(before - 1), "u" | "s");
        let name = text.is_word(before)
            && text.capital(before)
            && !matches!(
                text.low(before),
                "the"
                    | "this"
                    | "in"
                    | "honorable"
                    | "and"
                    | "lower"
                    | "trial"
                    | "by"
                    | "at"
                    | "from"
            );
        let ordinal =
            matches!(text.low(before), "th" | "st" | "nd" | "rd") || text.is_number(before);
        if !(point || name || ordinal) {
            break;
        }
        from = before;
    }
    let end = after(text, at + 1);
    let said = from < at && (from..at).any(|it| is_qualifier(text.low(it)) || text.is_number(it));
    let named = end > at + 1;
    (said || named).then_some((from, end))
}

/// Past `of Appeals`, `for the Eastern District of Michigan`, `for the County of Wayne`.
fn after(text: &Text<'_>, at: usize) -> usize {
    let mut end = at;
    for _ in 0..6 {
        let mut next = end;
        // The headings of pleadings put these on a line of their own.
        let heading = text.at(at - 1).is_some_and(|it| it.shout);
        let fresh_line = text.breaks(next) == 1 && text.at(next).is_some_and(|it| it.shout);
        let goes_on = text.breaks(next) == 1
            && (text.run(next, &["for", "the"])
                || text.run(next, &["in", "and", "for"])
                || text.is(next, "of"));
        if text.breaks(next) > 1 || text.breaks(next) == 1 && !fresh_line && !goes_on {
            break;
        }
        let gap = heading && text.breaks(next) == 0 && text.at(next).is_some_and(|it| it.aside);
        // `in and for the County of`
        let link = if text.run(next, &["in", "and", "for"]) { 3 } else { 1 };
        if matches!(text.low(next), "for" | "of" | "," | ":") || link == 3 {
            next += link;
        }
        if text.is(next, "and") && text.run(next + 1, &["for"]) {
            next += 2;
        }
        let linked = next > end || fresh_line || gap;
        // The rule of a caption's box may stand between a link and the rest.
        let boxed =
            next > end && text.breaks(next) == 1 && matches!(text.low(next), ":" | ")" | "|");
        next += usize::from(boxed);
        next += usize::from(text.is(next, "the"));
        // A link may end its line: `IN THE SUPERIOR COURT OF\nPENNSYLVANIA`.
        let Some(stop) = place(text, next).filter(|_| linked && text.breaks(next) <= 1) else {
            break;
        };
        end = stop;
    }
    end
}

fn capital(text: &Text<'_>, at: usize) -> bool {
    text.capital(at) && text.is_word(at)
}

fn place(text: &Text<'_>, at: usize) -> Option<usize> {
    if !capital(text, at) && !text.is_number(at) {
        return None;
    }
    bench(text, at).or_else(|| region(text, at)).or_else(|| {
        if at > 0 && text.is(at - 1, ",") {
            return state(text, at);
        }
        let named = at > 0
            && text.is(at - 1, "of")
            && capital(text, at)
            && text.word(at).len() > 3
            && !text.is(at, "this");
        state(text, at).filter(|_| at > 0 && !text.is(at - 1, ",")).or(named.then_some(at + 1))
    })
}

/// What the court is of: appeals, claims, a circuit or a division of the state's courts.
fn bench(text: &Text<'_>, at: usize) -> Option<usize> {
    const NAMES: [&[&str]; 22] = [
        &["common", "pleas"],
        &["federal", "claims"],
        &["veterans", "claims"],
        &["international", "trade"],
        &["criminal", "appeals"],
        &["criminal", "appeal"],
        &["civil", "appeals"],
        &["special", "appeals"],
        &["the", "armed", "forces"],
        &["armed", "forces"],
        &["general", "sessions"],
        &["domestic", "relations"],
        &["appellate", "division"],
        &["superior", "court", "division"],
        &["district", "court", "division"],
        &["king", "'", "s", "bench", "division"],
        &["united", "states"],
        &["appeals"],
        &["appeal"],
        &["claims"],
        &["chancery"],
        &["justice"],
    ];
    if let Some(it) = NAMES.iter().find(|it| text.run(at, it)) {
        return Some(at + it.len());
    }
    // `Law Division: Monmouth County`
    if matches!(text.low(at), "law" | "chancery" | "civil")
        && text.is(at + 1, "division")
        && matches!(text.low(at + 2), ":" | ",")
    {
        return Some(at + 2);
    }
    if text.run(at, &["district", "of", "columbia"]) {
        return Some(at + 3 + usize::from(text.is(at + 3, "circuit")));
    }
    let ordinal = (at + 1..at + 3).find(|it| {
        matches!(text.low(*it), "judicial" | "appellate" | "circuit" | "department")
            && capital(text, *it)
            && text.breaks(*it) == 0
    })?;
    if text.is(ordinal, "circuit") || text.is(ordinal, "department") {
        return is_ordinal(text, at).then_some(ordinal + 1);
    }
    let bench = matches!(text.low(ordinal + 1), "circuit" | "district" | "department");
    let end = (bench && is_ordinal(text, at)).then_some(ordinal + 2)?;
    // `Third Judicial District at Anchorage`
    let seat = text.is(end, "at") && capital(text, end + 1) && text.breaks(end) == 0;
    Some(if seat { name_end(text, end + 1) } else { end })
}

fn is_ordinal(text: &Text<'_>, at: usize) -> bool {
    text.is_number(at)
        || capital(text, at)
            && ["first", "second", "third", "fifth", "th", "federal"]
                .iter()
                .any(|it| text.low(at).ends_with(it))
}

/// A state, a county, a parish, a city or a district that the court is for.
fn region(text: &Text<'_>, at: usize) -> Option<usize> {
    let of = matches!(
        text.low(at),
        "state" | "county" | "city" | "parish" | "commonwealth" | "borough" | "town"
    ) && text.is(at + 1, "of");
    if of && capital(text, at + 2) {
        return state(text, at + 2).or_else(|| Some(name_end(text, at + 2)));
    }
    if matches!(
        text.low(at),
        "eastern" | "western" | "northern" | "southern" | "central" | "middle"
    ) {
        if text.run(at + 1, &["district", "of"]) && capital(text, at + 3) {
            return state(text, at + 3).or(Some(at + 4));
        }
        return text.is(at + 1, "division").then_some(at + 2);
    }
    if text.run(at, &["judicial", "district", "of"]) && capital(text, at + 3) {
        return Some(name_end(text, at + 3));
    }
    if text.run(at, &["district", "of"]) && capital(text, at + 2) {
        return state(text, at + 2).or(Some(at + 3));
    }
    // `EL PASO, TEXAS` in a line of its own.
    if text.breaks(at) == 1 && text.at(at).is_some_and(|it| it.shout) {
        let comma = (at + 1..at + 4).find(|it| text.is(*it, ","));
        let seat =
            comma.filter(|it| (at + 1..*it).all(|it| capital(text, it) && text.breaks(it) == 0));
        let end = seat.and_then(|it| state(text, it + 1)).filter(|it| text.breaks(*it) > 0);
        if let Some(end) = end.filter(|_| !(at..at + 4).any(|it| text.is(it, "county"))) {
            return Some(end);
        }
    }
    // `Salt Lake County`, `Prince George's County`, `Navajo Nation`
    let last = (at + 1..at + 4).find(|it| {
        matches!(text.low(*it), "county" | "circuit" | "parish" | "nation" | "tribe" | "tribes")
    })?;
    let whole = (at..=last).all(|it| {
        capital(text, it)
            && (it == at || text.breaks(it) == 0)
            && (it == last || !is_closed(text.low(it)))
            || text.is(it, ".") && text.is(it - 1, "st")
    });
    whole.then_some(last + 1)
}

/// Words that end the name of a place.
fn is_closed(word: &str) -> bool {
    matches!(word, "court" | "division" | "state" | "case" | "no" | "plaintiff" | "judge" | "the")
}

/// The end of the name of a place: one word, or more where the first never stands alone or the
/// rest of its line and column is capitals.
fn name_end(text: &Text<'_>, at: usize) -> usize {
    let aside = |it: usize| text.at(it).map(|it| it.aside);
    let goes = |it: usize| text.breaks(it) == 0 && capital(text, it) && aside(it) == aside(at);
    if text.is(at, "st") && text.is(at + 1, ".") && goes(at + 2) {
        return at + 3;
    }
    let first = matches!(
        text.low(at),
        "new"
            | "north"
            | "south"
            | "west"
            | "east"
            | "san"
            | "santa"
            | "los"
            | "las"
            | "el"
            | "la"
            | "salt"
            | "prince"
            | "palm"
            | "fort"
            | "contra"
            | "rhode"
            | "puerto"
            | "king"
            | "st"
            | "cape"
            | "grand"
            | "saint"
            | "des"
            | "baton"
            | "van"
            | "lake"
            | "white"
            | "big"
    );
    let mut end = at + 1;
    if first && goes(end) {
        end += 1;
    }
    let shout = |it: usize| text.at(it).is_some_and(|it| it.shout);
    let rest = (end..end + 3)
        .take_while(|it| goes(*it) && shout(*it) && shout(at) && !is_closed(text.low(*it)));
    let longer = rest.last().map_or(end, |it| it + 1);
    // Only to the end of the line: words in the middle of one may begin something else.
    if text.breaks(longer) > 0 || text.is(longer, ",") || aside(longer) != aside(at) {
        longer
    } else {
        end
    }
}

/// The end of the state's name that stands here.
fn state(text: &Text<'_>, at: usize) -> Option<usize> {
    const STATES: &str = "alabama alaska arizona arkansas california colorado connecticut delaware \
        florida georgia hawaii hawai'i hawai’i idaho illinois indiana iowa kansas kentucky \
        louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana \
        nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia \
        washington wisconsin wyoming guam ontario";
    const PAIRS: [&[&str]; 14] = [
        &["new", "hampshire"],
        &["new", "jersey"],
        &["new", "mexico"],
        &["new", "york"],
        &["north", "carolina"],
        &["north", "dakota"],
        &["south", "carolina"],
        &["south", "dakota"],
        &["west", "virginia"],
        &["rhode", "island"],
        &["puerto", "rico"],
        &["virgin", "islands"],
        &["british", "columbia"],
        &["district", "of", "columbia"],
    ];
    if !capital(text, at) {
        return None;
    }
    if let Some(it) = PAIRS.iter().find(|it| text.run(at, it)) {
        return Some(at + it.len());
    }
    STATES.split_whitespace().any(|it| text.is(at, it)).then_some(at + 1)
}

/// A body that is no court but decides: after `before the`, to the word that says what it is.
fn tribunal(text: &Text<'_>, at: usize) -> Option<(usize, usize)> {
    let from = at + 2;
    let last = (from + 1..from + 9).take_while(|it| text.breaks(*it) == 0).find(|it| {
        matches!(
            text.low(*it),
            "board" | "commission" | "tribunal" | "panel" | "agency" | "commissioner"
        )
    })?;
    let whole = (from..=last).all(|it| {
        capital(text, it) || matches!(text.low(it), "of" | "and" | "for" | "the" | "'" | "’" | ",")
    });
    let mut end = last + 1;
    if text.run(end, &["of", "the"]) || text.is(end, "of") {
        let next = end + 1 + usize::from(text.is(end + 1, "the"));
        end = region(text, next)
            .or_else(|| bench(text, next))
            .or_else(|| state(text, next))
            .unwrap_or(end);
    } else if text.breaks(end) <= 1 {
        let next = end + usize::from(text.is(end, ","));
        let said = text.run(next, &["state", "of"]) || next > end;
        end = region(text, next).filter(|_| said).unwrap_or(end);
    }
    (whole && capital(text, from)).then_some((from, end))
}

/// `Арбитражный суд города Москвы`, `Девятый арбитражный апелляционный суд`
fn russian(text: &Text<'_>, at: usize) -> Option<(usize, usize)> {
    let telling = |word: &str| {
        [
            "арбитражн",
            "апелляционн",
            "верховн",
            "районн",
            "городск",
            "областн",
            "кассационн",
            "мировой",
        ]
        .iter()
        .any(|it| word.starts_with(it))
    };
    let mut from = at;
    while from > 0 && at - from < 5 && text.breaks(from) <= 1 {
        let word = text.low(from - 1);
        let ordinal = text.capital(from - 1)
            && ["ый", "ой", "ого", "ом", "ым", "ому", "ий", "его"]
                .iter()
                .any(|it| word.ends_with(it));
        if !(telling(word) || ordinal) {
            break;
        }
        from -= 1;
    }
    if from == at || !(from..at).any(|it| telling(text.low(it))) {
        return None;
    }
    let mut end = at + 1;
    match text.low(end) {
        "города" | "республики" if text.capital(end + 1) => {
            end += 2;
            // `города Санкт-Петербурга и Ленинградской области`
            if text.is(end, "и") && text.capital(end + 1) && text.is(end + 2, "области") {
                end += 3;
            }
        }
        "г" if text.is(end + 1, ".") && text.capital(end + 2) => end += 3,
        "российской" => end += 2,
        "рф" => end += 1,
        word if (word.ends_with("ской") || word.ends_with("ого")) && text.capital(end) => {
            end += 1 + usize::from(matches!(text.low(end + 1), "области" | "края" | "округа"));
        }
        _ => {}
    }
    // «суд установил» of an arbitration court without a place says which court only in a heading.
    (end > at + 1 || at - from > 1 || text.capital(from)).then_some((from, end.min(text.len())))
}

/// What the names of one court have in common: its words in order of the alphabet.
pub(crate) fn key(name: &str) -> String {
    let lower = name.to_lowercase().replace("u.s.", "united states");
    let mut words: Vec<String> = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .filter(|it| {
            !matches!(
                *it,
                "of" | "the"
                    | "for"
                    | "in"
                    | "state"
                    | "division"
                    | "southern"
                    | "northern"
                    | "г"
                    | "города"
            )
        })
        .map(|it| if it.is_ascii() { it.to_owned() } else { stem(it) })
        .collect();
    // North and south are left out of divisions alone, never of districts.
    if lower.contains("district of") {
        words.extend(
            ["southern district", "northern district"]
                .iter()
                .filter(|it| lower.contains(**it))
                .map(|it| (*it).to_owned()),
        );
    }
    words.sort();
    words.dedup();
    words.join(" ")
}

fn stem(word: &str) -> String {
    let keep = word.chars().count().saturating_sub(3).max(3);
    word.chars().take(keep).collect()
}
