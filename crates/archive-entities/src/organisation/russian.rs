//! Russian organisations: a legal form or a kind of institution, and a name after it.

use crate::entity::Ground;
use crate::text::TokenText;

/// Most tokens of a name in quotation marks.
const QUOTED_TOKENS: usize = 30;

/// `ООО «Ромашка»`, `общество с ограниченной ответственностью "Ромашка"`
pub(super) fn find(text: &TokenText<'_>, at: usize) -> Option<(usize, usize, Ground)> {
    let form = russian_form(text, at)?;
    let next = past_kind(text, form);
    let close = match text.low(next) {
        "«" => "»",
        "\"" => return straight(text, next).map(|end| (at, end, Ground::Form)),
        "“" => "”",
        "„" => "“",
        _ => return bare(text, at, form),
    };
    let end = (next + 2..next + QUOTED_TOKENS).find(|it| text.is(*it, close))?;
    // A nested quotation closes twice: «Торговый дом «Ромашка».
    let end = if text.is(end + 1, close) && text.glued(end + 1) { end + 2 } else { end + 1 };
    Some((at, end, Ground::Form))
}

/// Past what kind of firm it is, before the name in quotation marks: `ПАО СК «Росгосстрах»`, `ООО
/// производственно-коммерческая фирма «Прометей»`.
fn past_kind(text: &TokenText<'_>, at: usize) -> usize {
    let goes = |it: &usize| {
        text.is_word(*it)
            && text.breaks(*it) <= 1
            && !text.low(*it).is_ascii()
            && (!text.capital(*it) || text.at(*it).is_some_and(|it| it.all_caps))
            && !matches!(text.low(*it), "к" | "и" | "о" | "об" | "в" | "на" | "от" | "с")
    };
    let quote = (at..at + 6).find(|it| !goes(it)).unwrap_or(at);
    if matches!(text.low(quote), "«" | "\"" | "“" | "„") { quote } else { at }
}

/// The end of a name in straight quotation marks, which may have another name in it:
/// `"Научно-производственное предприятие "Пульсар"`.
fn straight(text: &TokenText<'_>, open: usize) -> Option<usize> {
    let closes = |it: &usize| {
        text.is(*it, "\"") && text.glued(*it) && !(text.glued(it + 1) && text.capital(it + 1))
    };
    let loose = |it: &usize| text.is(*it, "\"");
    let range = open + 2..open + QUOTED_TOKENS;
    range.clone().find(closes).or_else(|| range.clone().find(loose)).map(|it| it + 1)
}

/// `ПАО Сбербанк`, `АО Тинькофф Банк`: without marks, as far as the capitals go.
fn bare(text: &TokenText<'_>, at: usize, next: usize) -> Option<(usize, usize, Ground)> {
    let short = next == at + 1 && text.at(at).is_some_and(|it| it.all_caps);
    let goes = |it: &usize| {
        text.is_word(*it) && text.capital(*it) && text.breaks(*it) == 0 && text.word(*it).len() > 2
    };
    let end = (next..next + 4).take_while(goes).last()? + 1;
    short.then_some((at, end, Ground::Label))
}

/// The token after the Russian legal form that begins here.
pub(crate) fn russian_form(text: &TokenText<'_>, at: usize) -> Option<usize> {
    match text.low(at) {
        "ооо" | "ао" | "пао" | "оао" | "зао" | "нао" | "фгуп" | "гуп" | "муп" | "нко" | "ано"
        | "тсж" | "фгбу" | "гбу" | "спао" | "сао" | "снт" | "тсн" | "гск" | "жск" | "фгбоу"
        | "мбоу" | "фку" | "кфх" | "нпф" | "мку" | "гбуз" | "мкк" | "мфо" | "пк" | "гку"
        | "гау" | "мау" | "мбу" | "мбдоу" | "огку" | "кгку" | "кгуп" | "фгау" | "фгку" | "огуп"
        | "тоо" | "мп" | "гкоу" => Some(at + 1),
        "открытое"
        | "открытого"
        | "открытому"
        | "закрытое"
        | "закрытого"
        | "закрытому"
        | "непубличное"
        | "непубличного"
        | "непубличному"
            if text.low(at + 1).starts_with("акционерн")
                && text.low(at + 2).starts_with("обществ") =>
        {
            Some(at + 3)
        }
        "страховое" | "страхового" | "страховому"
            if text.low(at + 1).starts_with("публичн")
                && text.low(at + 3).starts_with("обществ") =>
        {
            Some(at + 4)
        }
        "общество" | "общества" | "обществу" | "обществом"
            if text.run(at + 1, &["с", "ограниченной", "ответственностью"]) =>
        {
            Some(at + 4)
        }
        "акционерное" | "акционерного" | "акционерному"
            if text.low(at + 1).starts_with("обществ") =>
        {
            Some(at + 2)
        }
        "публичное" | "публичного" | "публичному"
            if text.low(at + 1).starts_with("акционерн")
                && text.low(at + 2).starts_with("обществ") =>
        {
            Some(at + 3)
        }
        _ => institution(text, at),
    }
}

/// The token after a form such as «муниципальное казённое учреждение» that a name in quotation marks
/// follows.
fn institution(text: &TokenText<'_>, at: usize) -> Option<usize> {
    const FIRST: [&str; 26] = [
        "краев",
        "городск",
        "районн",
        "республиканск",
        "лечебн",
        "образовательн",
        "дошкольн",
        "гаражн",
        "муниципальн",
        "государственн",
        "федеральн",
        "казен",
        "казён",
        "бюджетн",
        "автономн",
        "унитарн",
        "некоммерческ",
        "общественн",
        "садов",
        "жилищн",
        "товариществ",
        "учреждени",
        "предприяти",
        "кооператив",
        "сельскохозяйственн",
        "областн",
    ];
    const NOUNS: [&str; 9] = [
        "учреждени",
        "предприяти",
        "товариществ",
        "кооператив",
        "организаци",
        "объединени",
        "партнерств",
        "партнёрств",
        "обществ",
    ];
    if !FIRST.iter().any(|it| text.low(at).starts_with(it)) {
        return None;
    }
    // The region may stand before the name: «казенное учреждение Омской области "Управление"».
    let is_noun = |it: usize| NOUNS.iter().any(|stem| text.low(it).starts_with(stem));
    let small = |it: usize| {
        let placed = || (at..it).any(is_noun);
        let link = matches!(text.low(it), "к" | "о" | "об" | "от" | "и" | "на");
        !link
            && text.is_word(it)
            && !text.low(it).is_ascii()
            && (it == at || !text.capital(it) || placed())
            || text.is(it, "-")
    };
    let quote = (at + 1..at + 12).find(|it| !small(*it))?;
    let noun = (at..quote).any(|it| NOUNS.iter().any(|stem| text.low(it).starts_with(stem)));
    (noun && matches!(text.low(quote), "«" | "\"" | "“" | "„")).then_some(quote)
}
