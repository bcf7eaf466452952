//! Sums of money in figures and in words, as hundredths of their currency.

use text::numerals::scale;

use crate::entity::{Currency, EntityKind, Ground, Money};
use crate::entity_match::EntityMatch;
use crate::numerals;
use crate::text::TokenText;

pub(crate) fn find<'t>(text: &TokenText<'t>, out: &mut Vec<EntityMatch<'t>>) {
    let mut at = 0;
    while at < text.len() {
        let Some((end, money)) = sum(text, at) else {
            at += 1;
            continue;
        };
        let mut it = EntityMatch::new(EntityKind::Money, text, (at, end), Ground::Form);
        it.money = Some(money);
        out.push(it);
        at = end.max(at + 1);
    }
}

fn sum(text: &TokenText<'_>, at: usize) -> Option<(usize, Money)> {
    let sign = match text.low(at) {
        "$" => Some(Currency::Usd),
        "€" => Some(Currency::Eur),
        "£" => Some(Currency::Gbp),
        "₽" => Some(Currency::Rub),
        "usd" if text.capital(at) => Some(Currency::Usd),
        "eur" if text.capital(at) => Some(Currency::Eur),
        "rub" if text.capital(at) => Some(Currency::Rub),
        _ => None,
    };
    if let Some(currency) = sign {
        let from = at + 1 + usize::from(text.is(at + 1, "$"));
        let (cents, end) = figures(text, from, currency == Currency::Rub)?;
        let (cents, end) = scaled(text, cents, end)?;
        return Some((end, Money { currency, cents }));
    }
    let digits = text.is_number(at)
        && !(text.glued(at)
            && at > 0
            && (text.is_number(at - 1) || matches!(text.low(at - 1), "." | "," | "-" | "/" | "$")));
    let (cents, end) = if digits {
        let (cents, end) = figures(text, at, true)?;
        scaled(text, cents, end)?
    } else if text.is_word(at)
        && (at == 0 || !text.is_word(at - 1) || numerals::number(text, at - 1).is_none())
    {
        let (value, end) = numerals::number(text, at)?;
        (value.checked_mul(100)?, end)
    } else {
        return None;
    };
    // `5 000 (пять тысяч) рублей`
    let end = if text.is(end, "(") {
        (end + 1..end + 14).find(|it| text.is(*it, ")")).map_or(end, |it| it + 1)
    } else {
        end
    };
    let (currency, mut end) = unit(text, end)?;
    let mut cents = cents;
    if let Some((kopecks, digits)) = text.number(end)
        && digits <= 2
        && matches!(text.low(end + 1), "коп" | "копеек" | "копейки" | "копейка" | "cents")
    {
        cents = cents.checked_add(kopecks)?;
        end += 2;
    }
    Some((end, Money { currency, cents }))
}

fn unit(text: &TokenText<'_>, at: usize) -> Option<(Currency, usize)> {
    let point = |end: usize| if text.is(end, ".") && text.glued(end) { end + 1 } else { end };
    Some(match text.low(at) {
        "dollars" | "dollar" => (Currency::Usd, at + 1),
        "usd" | "долларов" => (Currency::Usd, at + 1),
        "us" | "u" if text.is(at + 1, "dollars") => (Currency::Usd, at + 2),
        "euros" | "euro" | "eur" | "евро" => (Currency::Eur, at + 1),
        "pounds" if text.is(at + 1, "sterling") => (Currency::Gbp, at + 2),
        "rubles" | "roubles" | "rub" | "рублей" | "рубля" | "рубль" | "₽" => {
            (Currency::Rub, at + 1)
        }
        "руб" | "р" if text.is(at + 1, ".") => (Currency::Rub, point(at + 1)),
        "руб" => (Currency::Rub, at + 1),
        _ => return None,
    })
}

/// Figures in groups of three and up to two decimals: `1,250,000.50`, `1 250 000,50`
fn figures(text: &TokenText<'_>, at: usize, spaces: bool) -> Option<(u64, usize)> {
    let (mut value, first) = text.number(at)?;
    let mut next = at + 1;
    while first <= 3 && next < at + 12 {
        let group = |it: usize| text.number(it).filter(|(_, digits)| *digits == 3);
        let comma = text.is(next, ",") && text.glued(next) && text.glued(next + 1);
        // `932.393,94 руб.`
        let point = spaces && text.is(next, ".") && text.glued(next) && text.glued(next + 1);
        let comma = comma || point;
        let gap = spaces && !text.glued(next) && text.breaks(next) == 0;
        let (part, step) = if let Some((part, _)) = group(next + 1).filter(|_| comma) {
            (part, 2)
        } else if let Some((part, _)) = group(next).filter(|_| gap) {
            (part, 1)
        } else {
            break;
        };
        value = value.checked_mul(1000)?.checked_add(part)?;
        next += step;
    }
    let mut cents = value.checked_mul(100)?;
    let mark = text.is(next, ".") || (spaces && text.is(next, ","));
    // `932.393, 94 руб.` has a blank before its hundredths.
    let apart = spaces
        && text.is(next, ",")
        && text.glued(next)
        && text.breaks(next + 1) == 0
        && text.number(next + 1).is_some_and(|it| it.1 == 2)
        && text.low(next + 2).starts_with("руб");
    if mark && text.glued(next) && (text.glued(next + 1) || apart) {
        match text.number(next + 1) {
            Some((part, 2)) => (cents, next) = (cents.checked_add(part)?, next + 2),
            Some((part, 1)) => (cents, next) = (cents.checked_add(part * 10)?, next + 2),
            _ => {}
        }
    }
    Some((cents, next))
}

/// `1.5 million`, «2 млн»
fn scaled(text: &TokenText<'_>, cents: u64, at: usize) -> Option<(u64, usize)> {
    let Some(by) = scale(text.low(at)).filter(|it| *it >= 1_000) else {
        return Some((cents, at));
    };
    let shortened = matches!(text.low(at), "тыс" | "млн" | "млрд" | "трлн");
    let end = at + 1 + usize::from(shortened && text.is(at + 1, "."));
    Some((cents.checked_mul(by)?, end))
}

/// `USD 1250.00`
pub(crate) fn key(money: Money) -> String {
    let name = match money.currency {
        Currency::Usd => "USD",
        Currency::Eur => "EUR",
        Currency::Gbp => "GBP",
        Currency::Rub => "RUB",
    };
    format!("{name} {}.{:02}", money.cents / 100, money.cents % 100)
}
