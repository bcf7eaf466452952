//! Writes the text around the figures: missing data, data freshness, and help on what to ask.

use serde_json::Value;

use super::portfolio::argument_weights;
use super::{AnswerBuilder, currency_of};
use crate::check::Formula;
use crate::messages;
use crate::note::Note;
use crate::page::{Slot, Style, quoted};
use crate::tool_session::freshness;
use crate::understand::Intent;

/// Writes what the user can ask, or what the question lacks.
pub(super) fn help(builder: &mut AnswerBuilder<'_>) {
    first(builder);
    reading_notes(builder);
    // A subject that is not served has its own sentence.
    if builder.plan.request.notes.iter().any(|it| matches!(it, Note::Topic(_))) {
        return;
    }
    // A question whose names could not be looked up lacks nothing; the notes say what failed.
    if !builder.plan.resolved.unreached.is_empty() {
        return;
    }
    if builder.plan.resolved.is_unanswered {
        builder.page.add_line(
            "Московская биржа не ответила, поэтому названия бумаг проверить не удалось. Повторите \
             вопрос позже.",
            "The Moscow Exchange did not answer, so the names of securities could not be looked up. \
             Please ask again later.",
            [],
        );
        return;
    }
    let page = &mut builder.page;
    match builder.plan.request.intent {
        Intent::Correlation | Intent::Comparison => page.add_line(
            "Уточните, пожалуйста: нужны как минимум две бумаги, например «SBER и GAZP».",
            "Please name at least two securities, such as \"SBER and GAZP\".",
            [],
        ),
        Intent::PortfolioRisk => page.add_line(
            "Уточните состав портфеля: бумаги и доли, например «SBER — половина, GAZP — половина».",
            "Please say what the portfolio holds: securities and their shares.",
            [],
        ),
        Intent::Dividends => page.add_line(
            "Уточните, о дивидендах какой бумаги идёт речь.",
            "Please say whose dividends you mean.",
            [],
        ),
        _ => {
            page.add_line(
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
                    "- риск портфеля, корреляции, дивиденды, торговые дни",
                    "- portfolio risk, correlations, dividends, trading days",
                ),
            ] {
                page.add_line(russian, english, []);
            }
        }
    }
}

/// Writes how the question was read: names not found, ambiguous names, and assumptions.
pub(super) fn reading_notes(builder: &mut AnswerBuilder<'_>) {
    unknown(builder);
    for note in builder.plan.request.notes.iter().filter(|it| !is_first(it)) {
        remark(builder, note);
    }
}

/// Reports whether a note must come first because it answers a part of the question.
fn is_first(note: &Note) -> bool {
    matches!(
        note,
        Note::Future | Note::NoSuchDay(_) | Note::NoBlueChips | Note::NoOrders | Note::Topic(_)
    )
}

/// Writes the notes that come before the answer.
pub(super) fn first(builder: &mut AnswerBuilder<'_>) {
    for note in builder.plan.request.notes.iter().filter(|it| is_first(it)) {
        remark(builder, note);
    }
}

/// Writes the names that were not found or not looked up, and those that fit several securities.
fn unknown(builder: &mut AnswerBuilder<'_>) {
    for name in builder.plan.resolved.unknown.iter().take(10) {
        let name = Some(builder.page.question_text(name));
        builder.page.add_line(
            "Бумага «{}» на Московской бирже не найдена.",
            "No security \"{}\" was found on the Moscow Exchange.",
            [name.into()],
        );
    }
    for name in builder.plan.resolved.unreached.iter().take(10) {
        let name = Some(builder.page.question_text(name));
        builder.page.add_line(
            "Бумагу «{}» найти не удалось: Московская биржа не ответила. Повторите вопрос позже.",
            "The security \"{}\" could not be looked up: the Moscow Exchange did not answer. Please \
             ask again later.",
            [name.into()],
        );
    }
    for name in builder.plan.resolved.unrecognised.iter().take(10) {
        let name = Some(builder.page.question_text(name));
        builder.page.add_line(
            "Слово «{}» не распознано как бумага и в ответе не учтено.",
            "The word \"{}\" was not recognised as a security and is left out of this answer.",
            [name.into()],
        );
    }
    for it in &builder.plan.resolved.securities {
        if it.others.is_empty() {
            continue;
        }
        let name = Some(builder.page.question_text(&it.mentioned_as));
        builder.page.add_line(
            "«{}» подходит нескольким бумагам; взята самая торгуемая, {} (есть также {}).",
            "\"{}\" fits several securities; the most traded one, {}, was taken (there is also {}).",
            [name.into(), Slot::Text(quoted(&it.ticker)), Slot::Text(quoted(&it.others.join(", ")))],
        );
    }
}

/// Returns the sentence for a note. A note with a text puts it in place of `{}`.
fn sentence(note: &Note) -> (&'static str, &'static str) {
    match note {
        Note::Reversed => (
            "Даты были даны в обратном порядке и переставлены.",
            "The dates were given in reverse order and have been swapped.",
        ),
        Note::Future => (
            "Будущее неизвестно: показано то, что известно на сегодня.",
            "The future is not known: this is what is known today.",
        ),
        Note::NoSuchDay(_) => (
            "Дня «{}» в календаре нет, поэтому эта дата не учтена.",
            "There is no such day as \"{}\", so that date was left out.",
        ),
        Note::TenYears => (
            "Период длиннее десяти лет; взяты последние десять лет из него.",
            "The period is longer than ten years; its last ten years were taken.",
        ),
        Note::Widened => (
            "Для такого расчёта дней слишком мало, поэтому взят последний год.",
            "There are too few days for that, so the last year was taken.",
        ),
        Note::Preferred(..) => (
            "Взята обыкновенная акция; у эмитента есть и привилегированная ({}).",
            "The ordinary share was taken; there is a preferred one as well ({}).",
        ),
        Note::NoPreferred(_) => (
            "Привилегированной акции у эмитента не найдено; взята {}.",
            "No preferred share of the issuer was found; {} was taken.",
        ),
        Note::TooMany(_) => (
            "Бумаг названо слишком много; взяты первые из них.",
            "Too many securities were named; the first ones were taken.",
        ),
        Note::NoOrders => (
            "Сделок я не совершаю и заявок не выставляю: здесь только данные.",
            "No orders are placed and nothing is traded here: this is data only.",
        ),
        Note::NoBlueChips => (
            "Состав индекса голубых фишек (MOEXBC) инструмент не отдаёт; показан индекс Мосбиржи (IMOEX).",
            "The tool does not give the blue chip index (MOEXBC); IMOEX is shown instead.",
        ),
        Note::Topic(name) => messages::both(name),
        note => weight_sentence(note),
    }
}

/// Returns the sentence for a note about portfolio weights or units.
fn weight_sentence(note: &Note) -> (&'static str, &'static str) {
    match note {
        Note::RestShared(_) => (
            "Доля не названа у {}; остаток до целого поделён поровну.",
            "No share was given for {}; what remains was divided equally.",
        ),
        Note::NothingLeft(_) => {
            ("Без доли остались и не учтены: {}.", "Left out for want of a share: {}.")
        }
        Note::Shorts(_) => (
            "Короткие позиции не поддерживаются и не учтены: {}; доли остальных приведены к целому.",
            "Short positions are not supported and were left out: {}; the others were rescaled to a whole.",
        ),
        Note::WithoutUnknown => (
            "Бумаги без данных в расчёт не вошли; доли остальных приведены к целому.",
            "Securities without data were left out; the others were rescaled to a whole.",
        ),
        Note::FromMoney => (
            "Доли посчитаны по названным суммам.",
            "Shares are computed from the amounts of money given.",
        ),
        Note::NoPrices => (
            "Цен для расчёта долей нет, поэтому доли взяты равными.",
            "There are no prices to compute shares from, so they are taken as equal.",
        ),
        Note::Mixed => (
            "Доли названы в разных единицах, поэтому взяты равными.",
            "Shares are given in different units, so they are taken as equal.",
        ),
        Note::AsParts => (
            "Числа без единиц приняты за части целого.",
            "Numbers without a unit are taken for parts of the whole.",
        ),
        Note::DaysOnly => (
            "Расчёт идёт по дням: более коротких промежутков здесь нет.",
            "Figures are of days: shorter stretches are not given here.",
        ),
        Note::OneCurrency => (
            "Цены даны в валюте торгов; пересчёта в другую валюту нет.",
            "Prices are in the currency of trading; they are not converted.",
        ),
        // The other notes contain figures and are written by their own functions.
        _ => ("", ""),
    }
}

fn remark(builder: &mut AnswerBuilder<'_>, note: &Note) {
    let (russian, english) = sentence(note);
    match note {
        Note::Rescaled => rescaled(builder),
        Note::FromPieces => from_pieces(builder),
        Note::NoSuchDay(text) => {
            let text = Some(builder.page.question_text(text));
            builder.page.add_line(russian, english, [text.into()]);
        }
        Note::Preferred(_, text) | Note::NoPreferred(text) => {
            builder.page.add_line(russian, english, [quoted(text).into()]);
        }
        Note::RestShared(all) | Note::NothingLeft(all) | Note::Shorts(all) => {
            builder.page.add_line(russian, english, [quoted(&all.join(", ")).into()]);
        }
        _ => builder.page.add_line(russian, english, []),
    }
}

/// Writes the sum of the weights if it is not 100 %.
fn rescaled(builder: &mut AnswerBuilder<'_>) {
    let (sum, sources) = argument_weights(builder.last("compute_portfolio_risk"));
    if sources.is_empty() || builder.plan.request.cash.is_some() {
        builder.page.add_line(
            "Доли вместе с деньгами не дают целого и приведены к нему.",
            "Shares and cash do not make a whole and were rescaled to one.",
            [],
        );
        return;
    }
    let digits = usize::from(sum.fract().abs() > 1e-6) * 2;
    let shown = builder.page.styled(sum, Style::Plain(digits), sources, Formula::Sum);
    builder.page.add_line(
        "Доли в сумме дают {} %, а не целое; они приведены к целому.",
        "The shares add up to {}%, not to a whole; they were rescaled to one.",
        [Some(shown).into()],
    );
}

/// Writes the prices that converted share counts into weights.
fn from_pieces(builder: &mut AnswerBuilder<'_>) {
    let mut slots = Vec::new();
    for it in &builder.plan.resolved.securities {
        let snapshot =
            builder.findings.iter().rev().find(|f| f.is_of("get_security_snapshot", &it.ticker));
        let money = currency_of(snapshot);
        let price = builder.page.figure(snapshot, "/data/last_price", Style::Price(&money));
        if let Some(price) = price {
            let gap = if slots.is_empty() { "" } else { ", " };
            slots.push(Slot::Text(format!("{gap}{} ", it.ticker)));
            slots.push(Slot::Figure(Some(price)));
        }
    }
    builder.page.add_line(
        "Доли посчитаны по числу бумаг и последним ценам: {}.",
        "Shares are computed from the numbers of pieces and the last prices: {}.",
        [Slot::Many(slots)],
    );
}

/// Returns the sentence for a tool's failure code.
fn reason(code: &str) -> (&'static str, &'static str) {
    match code {
        "deadline" | "timeout" => ("не успел к сроку", "it was not in time"),
        "too_few_days" => {
            ("слишком мало общих торговых дней", "there are too few trading days in common")
        }
        "unknown_symbol" | "invalid_ticker" => {
            ("такой бумаги там нет", "it knows no such security")
        }
        "unknown_index" | "no_basket" => ("такого индекса там нет", "it knows no such index"),
        "range_too_long" => ("период слишком длинный", "the period is too long"),
        "rate_limited" => ("слишком много запросов", "there were too many requests"),
        "cancelled" | "closing" => ("работа прервана", "the work was stopped"),
        it if it.starts_with("upstream") || it.starts_with("network") => {
            ("биржа не отвечает", "the exchange does not answer")
        }
        it if it.contains("validation") || it.starts_with("invalid") => {
            ("запрос не принят", "the request was refused")
        }
        _ => ("ошибка", "an error"),
    }
}

/// Writes which calls failed, how fresh the data is, and that the answer is not advice.
pub(super) fn notes(builder: &mut AnswerBuilder<'_>) {
    builder.page.add_line("", "", []);
    let failed: Vec<_> =
        builder.findings.iter().filter_map(|it| Some((it, it.outcome.as_ref().err()?))).collect();
    for (finding, failure) in failed.into_iter().take(8) {
        let about = finding.args["ticker"].as_str().or(finding.args["index_ticker"].as_str());
        let about = about.map(|it| format!(" ({})", quoted(it))).unwrap_or_default();
        // The text uses a fixed sentence; the failure code is only in the trace.
        let why = reason(&failure.code);
        let why = builder.language().pick(why.0, why.1);
        builder.page.add_line(
            "Инструмент {}{} не дал ответа: {}, поэтому части данных нет.",
            "The tool {}{} gave no answer: {}, so some data is missing.",
            [Slot::Text(finding.tool.clone()), Slot::Text(about), why.into()],
        );
    }
    if let Some((finding, freshness_meta)) = freshness(builder.findings) {
        if freshness_meta.get("source").and_then(Value::as_str) == Some("simulated") {
            builder.page.add_line(
                "Данные смоделированы (учебная биржа), это не настоящие торги.",
                "The data is simulated; these are not real trades.",
                [],
            );
        }
        match freshness_meta.get("delay").and_then(Value::as_str) {
            Some("delayed_15m") => {
                let delay = "/meta/stoa~1freshness/delay";
                let minutes = builder.page.cited_part(finding, delay, "15");
                builder.page.add_line(
                    "Котировки идут с задержкой {} минут.",
                    "Quotes are delayed by {} minutes.",
                    [minutes.into()],
                );
            }
            Some("eod") => builder.page.add_line(
                "Данные — на конец торгового дня.",
                "The data is of the end of the day.",
                [],
            ),
            _ => {}
        }
        if freshness_meta.get("stale") == Some(&Value::Bool(true)) {
            builder.page.add_line("Часть данных устарела.", "Some of the data is stale.", []);
        }
    }
    builder.page.add_line(
        "Это не инвестиционная рекомендация.",
        "This is not investment advice.",
        [],
    );
}
