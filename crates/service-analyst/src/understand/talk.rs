//! Completes a message that refers to earlier ones: «а за год?», «сравни их».

use jiff::civil::Date;

use super::{Amount, Intent, Mention, Request, read_request};
use crate::number::Language;
use crate::words::{Word, words};

/// Number of earlier messages that a short message may refer to.
const LOOK_BACK: usize = 4;

/// Reads one message with the context of earlier ones, the latest first.
pub(super) fn continued<'a>(
    message: &[Word],
    earlier: impl Iterator<Item = &'a String>,
    today: Date,
    language: Language,
) -> Request {
    let (mut request, intent_stated) = read_request(message, today, language);
    let before: Vec<Request> =
        earlier.take(LOOK_BACK).map(|it| read_request(&words(it), today, language).0).collect();
    if request.ranks_dividends
        && refers_back(message)
        && before.iter().any(|it| !it.mentions.is_empty())
    {
        request.ranks_dividends = false;
    }
    if let Some(added) = with_added_names(&request, message, &before) {
        return added;
    }
    let several = matches!(request.intent, Intent::Comparison | Intent::Correlation);
    if several && intent_stated && request.mentions.len() < 2 {
        add_earlier_names(&mut request, message, &before);
    }
    // «А за год?» repeats the previous request with another period.
    let refers = message.first().is_some_and(|it| it.is(&["а", "и", "and", "what"]));
    let needs_no_names = request.ranks_dividends
        || matches!(request.intent, Intent::Calendar | Intent::Crypto | Intent::Ranking)
        || request.intent == Intent::Help && intent_stated
        || !request.asked.crypto.is_empty();
    let lacks = request.mentions.is_empty() && !request.intent.is_of_index() && !needs_no_names;
    let partial = lacks && (intent_stated || request.period.is_some());
    let elliptic = refers && !intent_stated;
    if !(partial || elliptic) {
        return request;
    }
    let Some(before) = before.into_iter().find(|it| it.intent != Intent::Help) else {
        return request;
    };
    if request.mentions.is_empty() {
        request.mentions = before.mentions;
        // «а если 70/30?» gives new weights to the same names.
        if request.unnamed_amounts.len() == request.mentions.len() {
            for (mention, amount) in request.mentions.iter_mut().zip(&request.unnamed_amounts) {
                mention.amount = Some(*amount);
            }
        }
        request.index = before.index;
        request.sector = request.sector.or(before.sector);
    }
    if !intent_stated {
        request.intent = before.intent;
    }
    request.period = request.period.or(before.period);
    request
}

/// Reports whether a message has a pronoun for the securities of an earlier one.
fn refers_back(message: &[Word]) -> bool {
    let pronouns = [
        "него", "нее", "ней", "ним", "них", "ними", "его", "ее", "их", "этих", "эти", "it", "its",
        "them", "their", "they", "those", "these",
    ];
    message.iter().any(|it| it.is(&pronouns))
}

/// Adds the names of this message to the portfolio of an earlier one: «а если добавить 20% Полюса?».
/// The names of the portfolio shrink to what remains.
fn with_added_names(request: &Request, message: &[Word], before: &[Request]) -> Option<Request> {
    let adds = message
        .iter()
        .any(|it| ["добав", "докуп", "плюс", "add"].iter().any(|stem| it.lower.starts_with(stem)));
    let portfolio = before.iter().find(|it| it.intent == Intent::PortfolioRisk)?;
    if !adds || request.mentions.is_empty() || portfolio.mentions.is_empty() {
        return None;
    }
    let percent = |it: &Mention| match it.amount {
        Some(Amount::Percent(it)) => Some(it),
        _ => None,
    };
    let added: f64 = request.mentions.iter().filter_map(percent).sum();
    let mut names = portfolio.mentions.clone();
    if added > 0.0 && added < 100.0 {
        let equal = 100.0 / names.len() as f64;
        let sum: f64 = names.iter().map(|it| percent(it).unwrap_or(equal)).sum();
        for it in &mut names {
            let share = percent(it).unwrap_or(equal) / sum * (100.0 - added);
            it.amount = Some(Amount::Percent(share));
        }
    }
    names.extend(request.mentions.iter().cloned());
    Some(Request {
        mentions: names,
        intent: Intent::PortfolioRisk,
        period: request.period.or(portfolio.period),
        confidence: request.confidence.or(portfolio.confidence),
        horizon_days: request.horizon_days.or(portfolio.horizon_days),
        ..request.clone()
    })
}

/// Adds the names of earlier messages, in their order: «сравни их», «сравни с Газпромом».
fn add_earlier_names(request: &mut Request, message: &[Word], before: &[Request]) {
    let pronouns = [
        "их", "ими", "ними", "них", "эти", "этих", "обе", "оба", "него", "ним", "его", "ее", "ней",
        "them", "these", "both", "those", "it", "they",
    ];
    let refers = message.iter().any(|it| it.is(&pronouns)) || request.mentions.is_empty();
    let alone = request.mentions.len() == 1 && !message.is_empty();
    if !(refers || alone) {
        return;
    }
    let mut names: Vec<Mention> = Vec::new();
    for it in before {
        if names.len() + request.mentions.len() >= 2 {
            break;
        }
        let new = |one: &&Mention| {
            names.iter().all(|has| has.query != one.query || has.preferred != one.preferred)
        };
        let mut fresh: Vec<Mention> = it.mentions.iter().filter(new).cloned().collect();
        fresh.append(&mut names);
        names = fresh;
        request.period = request.period.or(it.period);
    }
    for mention in &mut names {
        mention.amount = None;
    }
    names.append(&mut request.mentions);
    request.mentions = names;
}
