//! What is said around the figures: what could not be had, how fresh the data is, what can be asked.

use serde_json::Value;

use super::Sheet;
use crate::desk::freshness;
use crate::page::{Slot, quoted};
use crate::understand::Intent;

/// What can be asked, or what is missing from the question.
pub(super) fn help(sheet: &mut Sheet<'_>) {
    unknown(sheet);
    let page = &mut sheet.page;
    match sheet.plan.request.intent {
        Intent::Correlation | Intent::Comparison => page.say(
            "Уточните, пожалуйста: нужны как минимум две бумаги, например «SBER и GAZP».",
            "Please name at least two securities, such as \"SBER and GAZP\".",
            [],
        ),
        Intent::PortfolioRisk => page.say(
            "Уточните состав портфеля: бумаги и доли, например «SBER — половина, GAZP — половина».",
            "Please say what the portfolio holds: securities and their shares.",
            [],
        ),
        Intent::Dividends => page.say(
            "Уточните, о дивидендах какой бумаги идёт речь.",
            "Please say whose dividends you mean.",
            [],
        ),
        _ => {
            page.say(
                "Я отвечаю на вопросы о бумагах Московской биржи:",
                "I answer questions about securities of the Moscow Exchange:",
                [],
            );
            for (russian, english) in [
                (
                    "- обзор бумаги: «Как дела у Сбербанка за последний месяц?»",
                    "- one security: \"How did Sberbank do over the last month?\"",
                ),
                (
                    "- сравнение: «Сравни Лукойл и Роснефть за год»",
                    "- comparison: \"Compare Lukoil and Rosneft over a year\"",
                ),
                (
                    "- индекс: «Состав индекса Мосбиржи»",
                    "- an index: \"What is in the IMOEX index?\"",
                ),
                ("- лидеры: «Что выросло вчера?»", "- movers: \"What moved yesterday?\""),
                (
                    "- риск портфеля, корреляции, дивиденды",
                    "- portfolio risk, correlations, dividends",
                ),
            ] {
                page.say(russian, english, []);
            }
        }
    }
}

/// Names for which nothing was found, and those that could have meant another.
pub(super) fn unknown(sheet: &mut Sheet<'_>) {
    for name in sheet.plan.resolved.unknown.iter().take(10) {
        let asked = Some(sheet.page.asked(name));
        sheet.page.say(
            "Бумага «{}» на Московской бирже не найдена.",
            "No security \"{}\" was found on the Moscow Exchange.",
            [asked.into()],
        );
    }
    for it in &sheet.plan.resolved.securities {
        if it.others.is_empty() {
            continue;
        }
        let asked = Some(sheet.page.asked(&it.asked));
        sheet.page.say(
            "«{}» подходит нескольким бумагам; взята самая торгуемая, {} (есть также {}).",
            "\"{}\" fits several securities; the most traded one, {}, was taken (there is also {}).",
            [asked.into(), Slot::Text(quoted(&it.ticker)), Slot::Text(quoted(&it.others.join(", ")))],
        );
    }
}

/// What failed, how fresh the rest is, and that none of it is advice.
pub(super) fn notes(sheet: &mut Sheet<'_>) {
    sheet.page.say("", "", []);
    let failed: Vec<_> =
        sheet.findings.iter().filter_map(|it| Some((it, it.outcome.as_ref().err()?))).collect();
    for (finding, failure) in failed.into_iter().take(8) {
        let about = finding.args["ticker"].as_str().or(finding.args["index_ticker"].as_str());
        let about = about.map(|it| format!(" ({})", quoted(it))).unwrap_or_default();
        // Only its code: a message may have numbers of its own, and stands in the trace.
        let code: String =
            quoted(&failure.code).chars().filter(|it| !it.is_ascii_digit()).collect();
        sheet.page.say(
            "Инструмент {}{} не ответил ({}), поэтому часть данных отсутствует.",
            "The tool {}{} gave no answer ({}), so some data is missing.",
            [Slot::Text(finding.tool.clone()), Slot::Text(about), Slot::Text(code)],
        );
    }
    if let Some((finding, told)) = freshness(sheet.findings) {
        if told.get("source").and_then(Value::as_str) == Some("simulated") {
            sheet.page.say(
                "Данные смоделированы (учебная биржа), это не настоящие торги.",
                "The data is simulated; these are not real trades.",
                [],
            );
        }
        match told.get("delay").and_then(Value::as_str) {
            Some("delayed_15m") => {
                let delay = "/meta/stoa~1freshness/delay";
                let minutes = sheet.page.part(finding, delay, "15");
                sheet.page.say(
                    "Котировки идут с задержкой {} минут.",
                    "Quotes are delayed by {} minutes.",
                    [minutes.into()],
                );
            }
            Some("eod") => sheet.page.say(
                "Данные — на конец торгового дня.",
                "The data is of the end of the day.",
                [],
            ),
            _ => {}
        }
        if told.get("stale") == Some(&Value::Bool(true)) {
            sheet.page.say("Часть данных устарела.", "Some of the data is stale.", []);
        }
    }
    sheet.page.say("Это не инвестиционная рекомендация.", "This is not investment advice.", []);
}
