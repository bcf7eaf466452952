//! Tests of answers with missing figures, and of words that must agree with figures.

use proptest::prelude::*;

use super::fake_tools::{FakeTools, SECURITIES, ask};
use super::invariants::check_invariants;
use crate::Language;

const QUESTIONS: [&str; 31] = [
    "Как дела у Газпрома?",
    "насколько волатилен Газпром за месяц",
    "максимальная просадка Газпрома",
    "объёмы торгов Газпрома",
    "максимум и минимум Газпрома за год",
    "Стоит ли покупать Газпром?",
    "почему упал Газпром",
    "цена Газпрома вчера",
    "цена Газпрома сегодня",
    "сколько стоил Газпром год назад",
    "сравни SBER и GAZP",
    "что рискованнее: SBER или GAZP",
    "сравни SBER и GAZP вчера",
    "SBER 50%, GAZP 50%",
    "VaR портфеля SBER 50%, GAZP 50%",
    "корреляция SBER и GAZP",
    "дивиденды SBER",
    "дивиденды SBER и LKOH за 2023 год",
    "состав индекса",
    "что выросло за неделю?",
    "сколько стоят 100 акций Газпрома",
    "сколько стоят 2 лота Газпрома",
    "100 тысяч рублей в Газпром год назад",
    "дивиденды на 500 акций SBER",
    "кто платит больше всех дивидендов из индекса",
    "лучший и худший день Газпрома за месяц",
    "насколько Газпром ниже максимума",
    "ISIN Газпрома",
    "работает ли биржа завтра",
    "расписание торгов",
    "какие секторы в индексе",
];

/// Checks that «нет данных» stands only after a colon or a semicolon, never inside a sentence.
#[track_caller]
fn check_gaps(text: &str, question: &str) {
    for line in text.lines() {
        for none in ["нет данных", "no data"] {
            for (at, _) in line.match_indices(none) {
                let (before, after) = (&line[..at], &line[at + none.len()..]);
                let begins =
                    before.ends_with(": ") || before.ends_with("; ") || before.ends_with("период ");
                let ends = after.is_empty()
                    || after.starts_with(['.', ':'])
                    || after.starts_with(" for the period");
                assert!(begins && ends, "{question}: {line}");
            }
        }
        for odd in ["  ", "..", " .", " ,", ": .", "()", ": ;", "{}", "NaN", "inf ", " %%"] {
            assert!(!line.contains(odd), "{question}: {odd:?} in {line}");
        }
        // Only tool names may have underscores; an error code must not appear.
        for word in line.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_')) {
            let tool = ["get_", "compute_", "search_"].iter().any(|it| word.starts_with(it));
            assert!(!word.contains('_') || tool, "{question}: {word} in {line}");
        }
    }
    for code in ["toofewdays", "upstream", "deadline", "invalid", "unknownsymbol"] {
        assert!(!text.contains(code), "{question}: {code} in {text}");
    }
}

#[test]
fn every_sentence_reads_well_without_figures() {
    let figures = [
        "*",
        "last_price",
        "price_change_pct",
        "open_price",
        "high_price",
        "low_price",
        "value",
        "close",
        "open",
        "high",
        "low",
        "volume",
        "total_return_pct",
        "annualized_volatility",
        "avg_daily_volume",
        "num_days",
        "max_drawdown_pct",
        "var_historical_pct",
        "var_parametric_pct",
        "confidence",
        "horizon_days",
        "hhi",
        "top1_weight_pct",
        "weight",
        "risk_contribution_pct",
        "mean_correlation",
        "SBER",
        "GAZP",
        "weight_pct",
        "num_constituents",
        "top5_weight_pct",
        "num_payments",
        "trailing_12m_sum",
        "trailing_12m_yield_pct",
    ];
    for question in QUESTIONS {
        for locale in [Language::Russian, Language::English] {
            // Russian runs once per missing figure; English runs once with all figures missing.
            let shown = if locale == Language::Russian { &figures[..] } else { &figures[..1] };
            for missing in shown {
                let missing = Some((*missing).to_owned());
                let test_answer =
                    ask(FakeTools { missing, ..FakeTools::default() }, &[question], Some(locale));
                check_invariants(&test_answer, question);
                check_gaps(&test_answer.answer.draft.text, question);
            }
            let test_answer =
                ask(FakeTools { morning: true, ..FakeTools::default() }, &[question], Some(locale));
            check_gaps(&test_answer.answer.draft.text, question);
        }
    }
}

#[test]
fn a_failed_tool_puts_no_error_code_into_the_text() {
    let tools = [
        "search_securities",
        "get_security_snapshot",
        "get_ohlcv_timeseries",
        "get_dividends",
        "get_index_constituents_metrics",
        "get_trading_calendar",
        "compute_portfolio_risk",
        "compute_correlation_matrix",
    ];
    for question in QUESTIONS {
        for tool in tools {
            let test_answer =
                ask(FakeTools { broken: vec![tool], ..FakeTools::default() }, &[question], None);
            check_invariants(&test_answer, question);
            check_gaps(&test_answer.answer.draft.text, question);
        }
        let test_answer =
            ask(FakeTools { broken: tools.to_vec(), ..FakeTools::default() }, &[question], None);
        check_gaps(&test_answer.answer.draft.text, question);
    }
}

#[test]
fn every_name_of_the_list_is_found() {
    let mut missed = Vec::new();
    let mut check = |question: String, ticker: &str| {
        let found = ask(FakeTools::default(), &[&question], None).answer.debug["tickers"].clone();
        if found != serde_json::json!([ticker]) {
            missed.push(format!("{question} {found}"));
        }
    };
    for row in SECURITIES.lines() {
        let parts: Vec<&str> = row.split('|').collect();
        let preferred = parts[2].ends_with(" ап");
        let name = parts[2].trim_end_matches(" ап").trim_end_matches(" ао");
        let name = ["МКПАО ", "ПАО ", " ПАО", "НК ", "АФК ", " АНК", "ГМК "]
            .iter()
            .fold(name.to_owned(), |name, it| name.replace(it, " "));
        let kind = if preferred { "префы " } else { "" };
        check(format!("Что с акциями {kind}«{}»?", name.trim()), parts[0]);
        check(format!("Как дела у {}?", parts[0]), parts[0]);
        // One lower-case letter is not a ticker.
        if parts[0].len() > 1 {
            check(format!("что с {}", parts[0].to_lowercase()), parts[0]);
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Returns whether the text says that the price rose, and whether it says that it fell.
fn stated_directions(text: &str) -> (bool, bool) {
    let lines = text.lines().filter(|it| !it.contains("за день") && !it.starts_with("- "));
    let text: String = lines.collect::<Vec<_>>().join("\n");
    let up = ["рост", "выросла", "растёт"].iter().any(|it| text.contains(it));
    let down = ["сниж", "снизилась", "падает"].iter().any(|it| text.contains(it));
    (up, down)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn words_agree_with_the_figures(
        change in -90.0..300.0_f64,
        volatility in 0.0..200.0_f64,
        days in 1.0..2_500.0_f64,
    ) {
        let given = vec![
            ("total_return_pct", change),
            ("annualized_volatility", volatility),
            ("num_days", days.floor()),
        ];
        let test_answer = ask(FakeTools { given, ..FakeTools::default() }, &["Газпром за месяц"], None);
        check_invariants(&test_answer, "Газпром за месяц");
        let (up, down) = stated_directions(&test_answer.answer.draft.text);
        prop_assert!(!(up && change <= 0.0 || down && change >= 0.0), "{change} {}", test_answer.answer.draft.text);
    }

    #[test]
    fn bonds_agree_with_the_figures(value in -1.0..=1.0_f64) {
        let given = vec![("mean_correlation", value), ("GAZP", value), ("SBER", value)];
        let test_answer = ask(FakeTools { given, ..FakeTools::default() }, &["корреляция SBER и GAZP"], None);
        let text = &test_answer.answer.draft.text;
        let strong = text.contains("сильная связь");
        prop_assert_eq!(strong, text.contains("слабо диверсифицируют"), "{}", text);
        prop_assert_eq!(text.contains("слабая связь"), text.contains("почти независимо"), "{}", text);
        prop_assert_eq!(text.contains("обратная связь"), text.contains("в разные стороны"), "{}", text);
    }
}

/// A past price is adjusted for splits, and an invested sum grows on the same scale.
#[test]
fn past_prices_are_adjusted_for_splits() {
    let split = Some((jiff::civil::date(2024, 2, 21), 1, 100));
    let question = "сколько бы стали 1000 рублей в Газпроме год назад";
    let plain = ask(FakeTools::default(), &[question], None);
    let test_answer = ask(FakeTools { split, ..FakeTools::default() }, &[question], None);
    check_invariants(&test_answer, question);
    let figure = |test_answer: &super::fake_tools::TestAnswer, formula: crate::Formula| {
        let found = test_answer.answer.draft.citations.iter().find(|it| it.formula == formula);
        found.and_then(|it| it.value.as_f64()).unwrap()
    };
    let then = |test_answer| figure(test_answer, crate::Formula::Rescaled);
    let became = |test_answer| figure(test_answer, crate::Formula::Became(1_000));
    assert!((then(&plain) / then(&test_answer) - 100.0).abs() < 1e-6);
    assert!((became(&test_answer) / became(&plain) - 100.0).abs() < 1e-6);
    assert!(test_answer.answer.draft.text.contains("пересчитана на нынешние акции"));
    assert!(test_answer.answer.draft.text.contains("в акциях того времени"));
    assert!(plain.answer.draft.text.contains("акции не дробились"));
}

/// A split does not make a security the worst of the year.
#[test]
fn movers_of_a_period_are_adjusted_for_splits() {
    let question = "лидеры падения за год";
    let ask_with = |split_in_index| {
        ask(FakeTools { split_in_index, ..FakeTools::default() }, &[question], None)
    };
    let (plain, split) = (ask_with(None), ask_with(Some("SBER")));
    check_invariants(&split, question);
    assert!(!split.answer.draft.text.contains("SBER −8"), "{}", split.answer.draft.text);
    let rows = |it: &super::fake_tools::TestAnswer| it.answer.draft.tables[0]["rows"].clone();
    let tickers = |it: &super::fake_tools::TestAnswer| -> Vec<String> {
        rows(it).as_array().unwrap().iter().map(|row| row[0].to_string()).collect()
    };
    assert_eq!(tickers(&plain), tickers(&split));
}

/// A period that ends today ends at the last price, and the answer says which figures do not.
#[test]
fn a_period_that_ends_today_includes_today() {
    for question in ["Как дела у Газпрома за неделю?", "сравни SBER и GAZP за неделю"]
    {
        let fake_tools = FakeTools { forming: true, ..FakeTools::default() };
        let test_answer = ask(fake_tools, &[question], None);
        check_invariants(&test_answer, question);
        let citations = &test_answer.answer.draft.citations;
        let is_to_last_price = |it: &crate::Citation| {
            it.formula == crate::Formula::RescaledChange
                && it.sources.last().is_some_and(|it| it.1 == "/result/data/last_price")
        };
        assert!(citations.iter().any(is_to_last_price), "{}", test_answer.answer.draft.text);
        assert!(
            citations.iter().all(|it| it.sources.iter().all(|it| !it.1.contains("total_return")))
        );
    }
    let fake_tools = FakeTools { forming: true, ..FakeTools::default() };
    let text = ask(fake_tools, &["Как дела у Газпрома за неделю?"], None).answer.draft.text;
    assert!(text.contains("с учётом текущего дня"), "{text}");
    assert!(!text.contains("последнее закрытие"), "{text}");
}

/// The exchange is down: nothing may be said about what it lists.
#[test]
fn an_exchange_that_does_not_answer_is_not_an_unknown_security() {
    let broken = vec![
        "search_securities",
        "get_security_snapshot",
        "get_ohlcv_timeseries",
        "get_dividends",
        "compute_portfolio_risk",
        "compute_correlation_matrix",
    ];
    for question in [
        "сравни Лукойл и Роснефть за год",
        "дивиденды Сбера",
        "Как дела у Газпрома?",
        "портфель 100 акций сбера и 50 лукойла",
        "корреляция Лукойла и Роснефти",
    ] {
        let fake_tools = FakeTools { broken: broken.clone(), ..FakeTools::default() };
        let text = ask(fake_tools, &[question], None).answer.draft.text;
        assert!(!text.contains("не найден"), "{question}: {text}");
        assert!(text.contains("биржа не ответила") || text.contains("биржа не отвечает"), "{text}");
        assert!(!text.contains("Уточните"), "{question}: {text}");
    }
    let fake_tools = FakeTools { broken, ..FakeTools::default() };
    let question = "compare Lukoil and Rosneft over a year";
    let text = ask(fake_tools, &[question], Some(Language::English)).answer.draft.text;
    // Names in Latin letters are taken as tickers, and their tools fail.
    assert!(text.contains("the exchange does not answer"), "{text}");
    assert!(!text.contains("was found"), "{text}");
}
