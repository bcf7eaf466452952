//! Russian courts, in whatever case they stand, and the precincts of justices of the peace.

use crate::text::TokenText;

/// `Арбитражный суд города Москвы`, `Девятый арбитражный апелляционный суд`
pub(super) fn find(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
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
            "краев",
            "конституционн",
            "военн",
            "межрайонн",
            "окружн",
        ]
        .iter()
        .any(|it| word.starts_with(it))
    };
    if text.run(at + 1, &["по", "интеллектуальным", "правам"]) {
        return Some((at, at + 4));
    }
    // `Суд Ямало-Ненецкого автономного округа`
    if text.capital(at) && text.capital(at + 1) && text.run(at + 2, &["автономного", "округа"])
    {
        let more = matches!(text.low(at + 4), "-" | "–" | "—") && text.capital(at + 5);
        return Some((at, at + 4 + if more { 2 } else { 0 }));
    }
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
        "города" | "республики" | "гор" if text.capital(end + 1) => {
            end = city(text, end + 1);
            // `города Санкт-Петербурга и Ленинградской области`
            if text.is(end, "и") && text.capital(end + 1) && text.is(end + 2, "области") {
                end += 3;
            }
        }
        "г" if text.is(end + 1, ".") && text.capital(end + 2) => end = city(text, end + 2),
        "общей" if text.is(end + 1, "юрисдикции") => end += 2,
        "российской" => end += 2,
        "рф" => end += 1,
        word if (word.ends_with("ской") || word.ends_with("ого")) && text.capital(end) => {
            let region = ["области", "края", "округа", "республики"];
            end += 1 + usize::from(region.contains(&text.low(end + 1)));
        }
        _ => {}
    }
    end = past_region(text, at, end);
    // «суд установил» of an arbitration court without a place says which court only in a heading.
    (end > at + 1 || at - from > 1 || text.capital(from)).then_some((from, end.min(text.len())))
}

/// Past the region of a city: `г. Магнитогорска Челябинской области`.
fn past_region(text: &TokenText<'_>, at: usize, end: usize) -> usize {
    let region = text.capital(end)
        && text.low(end).ends_with("ой")
        && matches!(text.low(end + 1), "области" | "края");
    let republic = text.is(end, "республики") && text.capital(end + 1);
    let territory = text.low(end).ends_with("ого") && text.is(end + 1, "края");
    let named = end > at + 1 && (region || republic) || end == at + 1 && territory;
    if named && text.breaks(end) <= 1 { end + 2 } else { end }
}

/// The end of a city's name: `Москвы`, `Нижнего Новгорода`, `Набережные Челны`.
fn city(text: &TokenText<'_>, at: usize) -> usize {
    let first = ["ого", "его", "ой", "их", "ых", "ые", "ий", "ая"];
    let two = first.iter().any(|it| text.low(at).ends_with(it))
        && text.capital(at + 1)
        && text.is_word(at + 1)
        && text.breaks(at + 1) == 0
        && crate::name::person(text, at + 1, false).is_none();
    at + 1 + usize::from(two)
}

/// `судебного участка № 117 Засвияжского судебного района г. Ульяновска`
pub(super) fn precinct(text: &TokenText<'_>, at: usize) -> Option<(usize, usize)> {
    let from = at.checked_sub(1).filter(|it| text.low(*it).starts_with("судебн"))?;
    if !text.is(at + 1, "№") || !text.is_number(at + 2) {
        return None;
    }
    let mut end = at + 3;
    while end < at + 16 && text.breaks(end) <= 1 {
        let next = match text.low(end) {
            "судебного" | "района" | "области" | "края" | "республики" | "города" | "по" => {
                end + 1
            }
            "г" if text.is(end + 1, ".") => city(text, end + 2),
            word if text.capital(end)
                && ["ого", "ому", "ской", "ий"].iter().any(|it| word.ends_with(it)) =>
            {
                end + 1
            }
            _ => break,
        };
        end = next;
    }
    Some((from, end))
}
