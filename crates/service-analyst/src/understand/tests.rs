//! Tests of how a question is read, before any name is looked up.

use jiff::civil::date;

use super::*;

#[track_caller]
fn check_amounts(text: &str, expected: &[(&str, Option<Amount>)]) {
    let (request, _) = read_request(&words(text), date(2024, 6, 14), Language::Russian);
    let found: Vec<(&str, Option<Amount>)> =
        request.mentions.iter().map(|it| (it.text.as_str(), it.amount)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn amounts_are_read_in_every_form() {
    use Amount::{Percent, Rest};
    let third = Some(Percent(1.0 / 3.0 * 100.0));
    check_amounts(
        "портфель SBER 1/3, GAZP 1/3, LKOH 1/3",
        &[("SBER", third), ("GAZP", third), ("LKOH", third)],
    );
    for text in [
        "портфель SBER и GAZP 70/30",
        "портфель SBER и GAZP 70 на 30",
        "портфель SBER/GAZP 70/30",
        "портфель 70/30 SBER и GAZP",
        "SBER 70%, GAZP 30%",
        "портфель SBER-70%, GAZP-30%",
        "70% SBER и 30% GAZP",
    ] {
        check_amounts(text, &[("SBER", Some(Percent(70.0))), ("GAZP", Some(Percent(30.0)))]);
    }
    // A word that begins like May is a name.
    check_amounts(
        "портфель 70/30 Магнит и GAZP",
        &[("Магнит", Some(Percent(70.0))), ("GAZP", Some(Percent(30.0)))],
    );
    let half = Some(Percent(50.0));
    check_amounts(
        "портфель: половина SBER, четверть GAZP, четверть LKOH",
        &[("SBER", half), ("GAZP", Some(Percent(25.0))), ("LKOH", Some(Percent(25.0)))],
    );
    check_amounts(
        "две трети SBER и треть GAZP",
        &[("SBER", Some(Percent(200.0 / 3.0))), ("GAZP", Some(Percent(100.0 / 3.0)))],
    );
    check_amounts(
        "60% в SBER, остальное в GAZP",
        &[("SBER", Some(Percent(60.0))), ("GAZP", Some(Rest))],
    );
    check_amounts(
        "portfolio: half SBER, the rest in GAZP",
        &[("SBER", half), ("GAZP", Some(Rest))],
    );
    check_amounts(
        "портфель SBER 120%, GAZP -20%",
        &[("SBER", Some(Percent(120.0))), ("GAZP", Some(Percent(-20.0)))],
    );
    check_amounts(
        "портфель SBER 80%, шорт GAZP 20%",
        &[("SBER", Some(Percent(80.0))), ("GAZP", Some(Percent(-20.0)))],
    );
    check_amounts(
        "портфель SBER — 80%, GAZP - 20%",
        &[("SBER", Some(Percent(80.0))), ("GAZP", Some(Percent(20.0)))],
    );
}

#[test]
fn share_counts_and_money_are_read() {
    use Amount::{Lots, Money, Percent, Pieces, Rest};
    let half = Some(Percent(50.0));
    check_amounts(
        "100 акций Сбера и 50 Лукойла",
        &[("Сбера", Some(Pieces(100.0))), ("Лукойла", Some(Pieces(50.0)))],
    );
    check_amounts(
        "портфель: SBER 10 лотов, GAZP 5 лотов",
        &[("SBER", Some(Lots(10.0))), ("GAZP", Some(Lots(5.0)))],
    );
    check_amounts(
        "на 300 тысяч рублей Сбера и на 200 тысяч Газпрома",
        &[("Сбера", Some(Money(300_000.0))), ("Газпрома", Some(Money(200_000.0)))],
    );
    check_amounts(
        "портфель: 300 000 ₽ SBER, 1,5 млн руб. GAZP",
        &[("SBER", Some(Money(300_000.0))), ("GAZP", Some(Money(1_500_000.0)))],
    );
    check_amounts(
        "300к в SBER и 200к в GAZP",
        &[("SBER", Some(Money(300_000.0))), ("GAZP", Some(Money(200_000.0)))],
    );
    check_amounts("SBER вырос на 10%", &[("SBER", None)]);
    check_amounts(
        "портфель SBER 50%, GAZP, LKOH",
        &[("SBER", half), ("GAZP", None), ("LKOH", None)],
    );
    check_amounts(
        "портфель SBER 50%, остальное GAZP и LKOH",
        &[("SBER", half), ("GAZP", Some(Rest)), ("LKOH", None)],
    );
}

#[track_caller]
fn check_names(text: &str, expected: &[&str]) {
    let (request, _) = read_request(&words(text), date(2024, 6, 14), Language::Russian);
    let kind = |it: &Mention| if it.preferred { "-п" } else { "" };
    let found: Vec<String> =
        request.mentions.iter().map(|it| format!("{}{}", it.text, kind(it))).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn names_are_distinguished_from_other_words() {
    check_names("обычку и префы Сбера", &["Сбера", "Сбера-п"]);
    check_names("Сбер ао и ап", &["Сбер", "Сбер-п"]);
    check_names("Сбер и префы Татнефти", &["Сбер", "Татнефти-п"]);
    check_names("Сургут преф и Сбер", &["Сургут-п", "Сбер"]);
    check_names("Система: ответ кратко. Сбер", &["Сбер"]);
    check_names("акции Системы", &["Системы"]);
    check_names("какая у вас система", &[]);
    check_names("что с Ростелекомом", &["Ростелекомом"]);
    check_names("T и SBER", &["T", "SBER"]);
    check_names("акции Т", &["Т"]);
    check_names("don't", &[]);
    check_names("корреляция Сбера с индексом Мосбиржи", &["Сбера", "IMOEX"]);
    check_names("корреляция Сбера и Мосбиржи", &["Сбера", "Мосбиржи"]);
    check_names("compare SBER with the RTS index", &["SBER", "RTSI"]);
    check_names("корреляция Сбера с рынком", &["Сбера", "IMOEX"]);
    check_names("газпромнефть и газпром", &["газпромнефть", "газпром"]);
    check_names("Газпром нефть", &["Газпром нефть"]);
}

#[track_caller]
fn check_parts(text: &str, expected: &[(&str, &[&str])]) {
    let question = Question { messages: vec![text.to_owned()], locale: None };
    let found: Vec<(&str, Vec<String>)> = requests(&question, date(2024, 6, 14))
        .iter()
        .map(|it| (it.intent.word(), it.mentions.iter().map(|it| it.text.clone()).collect()))
        .collect();
    let expected: Vec<(&str, Vec<String>)> = expected
        .iter()
        .map(|(intent, names)| (*intent, names.iter().map(|it| (*it).to_owned()).collect()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn several_requests_are_split() {
    check_parts(
        "сравни Сбер и Газпром и скажи дивиденды Лукойла",
        &[("comparison", &["Сбер", "Газпром"]), ("dividends", &["Лукойла"])],
    );
    check_parts(
        "overview of SBER and what moved the index",
        &[("security_overview", &["SBER"]), ("movers", &[])],
    );
    check_parts(
        "сравни Сбер и Газпром и посчитай корреляцию",
        &[("comparison", &["Сбер", "Газпром"]), ("correlation", &["Сбер", "Газпром"])],
    );
    check_parts(
        "Обзор Сбера, дивиденды и что выросло вчера?",
        &[("security_overview", &["Сбера"]), ("dividends", &["Сбера"]), ("movers", &[])],
    );
    check_parts("сравни Сбер и Газпром, что доходнее?", &[("comparison", &["Сбер", "Газпром"])]);
    check_parts("Когда и сколько платил дивидендов Сбер?", &[("dividends", &["Сбер"])]);
}
