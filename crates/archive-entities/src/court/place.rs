//! Places and benches in the names of courts: states, counties, circuits, divisions.

use crate::text::TokenText;

pub(super) fn capital(text: &TokenText<'_>, at: usize) -> bool {
    text.capital(at) && text.is_word(at)
}

pub(super) fn place(text: &TokenText<'_>, at: usize) -> Option<usize> {
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

/// The bench in a court's name: appeals, claims, a circuit or a division of the state's courts.
pub(super) fn bench(text: &TokenText<'_>, at: usize) -> Option<usize> {
    const NAMES: [&[&str]; 26] = [
        &["workers", "'", "compensation", "claims"],
        &["workers", "’", "compensation", "claims"],
        &["workers", "'", "compensation", "appeals"],
        &["appeals", "for", "veterans", "claims"],
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
    // `Law Division: Monmouth County`
    if matches!(text.low(at), "law" | "chancery" | "civil")
        && text.is(at + 1, "division")
        && matches!(text.low(at + 2), ":" | "," | "-" | "–")
    {
        // `Chancery Division - Family Part`
        let part = (at + 3..at + 6).find(|it| text.is(*it, "part") && text.breaks(*it) == 0);
        let dash = matches!(text.low(at + 2), "-" | "–");
        return Some(part.filter(|_| dash).map_or(at + 2, |it| it + 1));
    }
    if let Some(it) = NAMES.iter().find(|it| text.run(at, it)) {
        return Some(at + it.len());
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

pub(super) fn is_ordinal(text: &TokenText<'_>, at: usize) -> bool {
    text.is_number(at)
        || capital(text, at)
            && ["first", "second", "third", "fifth", "th", "federal"]
                .iter()
                .any(|it| text.low(at).ends_with(it))
}

/// The state, county, parish, city or district of a court.
pub(super) fn region(text: &TokenText<'_>, at: usize) -> Option<usize> {
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
        // `Eastern District` of a state's court of appeals, in a line of its own.
        let alone = text.is(at + 1, "district") && text.breaks(at) == 1 && text.breaks(at + 2) > 0;
        return (text.is(at + 1, "division") || alone).then_some(at + 2);
    }
    if text.run(at, &["judicial", "district", "of"]) && capital(text, at + 3) {
        return Some(name_end(text, at + 3));
    }
    if text.run(at, &["district", "of"]) && capital(text, at + 2) {
        return state(text, at + 2).or(Some(at + 3));
    }
    // `EL PASO, TEXAS` in a line of its own.
    if text.breaks(at) == 1 && text.at(at).is_some_and(|it| it.all_caps) {
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
pub(super) fn name_end(text: &TokenText<'_>, at: usize) -> usize {
    let after_gap = |it: usize| text.at(it).map(|it| it.after_gap);
    let goes =
        |it: usize| text.breaks(it) == 0 && capital(text, it) && after_gap(it) == after_gap(at);
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
    let all_caps = |it: usize| text.at(it).is_some_and(|it| it.all_caps);
    let rest = (end..end + 3)
        .take_while(|it| goes(*it) && all_caps(*it) && all_caps(at) && !is_closed(text.low(*it)));
    let longer = rest.last().map_or(end, |it| it + 1);
    // Only to the end of the line: words in the middle of one may begin something else.
    if text.breaks(longer) > 0 || text.is(longer, ",") || after_gap(longer) != after_gap(at) {
        longer
    } else {
        end
    }
}

/// The end of the state's name that begins here.
pub(super) fn state(text: &TokenText<'_>, at: usize) -> Option<usize> {
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
