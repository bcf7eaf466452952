//! Properties of every text: no panic, a score between 0 and 1 that matches the verdict, lists
//! within their limits, and the same result twice.

use archive_integrity::{
    Answer, CitedSource, Insight, IntegrityTest, SourceText, TestOptions, Verdict, run,
};
use proptest::prelude::*;

/// Fragments that the recognisers look for, in any order and with noise between them.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Smith v. Jones, 410 U.S. 113 (1973) ".to_owned()),
        Just("March 4, 2021 ".to_owned()),
        Just("4 марта 2021 г. ".to_owned()),
        Just("«не согласен» ".to_owned()),
        Just("$1,250.75 million ".to_owned()),
        Just("The court did not grant ".to_owned()),
        Just("Plaintiff Orrin Vale's motion. ".to_owned()),
        Just("“open [quote… ".to_owned()),
        Just("No. 12-345/6 ".to_owned()),
        Just("I remember clearly.\n\n".to_owned()),
        "\\PC{0,12}",
        "[0-9.,:/ -]{0,12}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_gives_a_valid_report(content in text(), other in text(), page in text(), max in 0_usize..4) {
        let source = CitedSource { file_hash: "f".to_owned(), page: Some(1), span: None, quote: other.clone() };
        let insight = |id: &str, content: String| Insight {
            id: id.to_owned(),
            content,
            sources: vec![source.clone()],
            ..Insight::default()
        };
        let insights = [insight("a", content), insight("b", other)];
        let length = page.chars().count();
        let texts = [SourceText { file_hash: "f".to_owned(), pages: vec![page] }];
        let options = TestOptions { topic: None, findings_max: max };
        for test in IntegrityTest::ALL {
            let report = run(test, &insights, &texts, &options);
            let again = run(test, &insights, &texts, &options);
            prop_assert_eq!(format!("{report:?}"), format!("{again:?}"));
            prop_assert_eq!(report.passed + report.warnings + report.failed, 2);
            for detail in &report.details {
                prop_assert!((0.0..=1.0).contains(&detail.score));
                prop_assert_eq!(detail.verdict, Verdict::of(detail.score));
                prop_assert!(detail.findings.len() <= max && detail.claims.len() <= max);
                for it in detail.claims.iter().filter_map(|it| it.evidence.as_ref()) {
                    prop_assert!(it.span.start <= it.span.end && it.span.end <= length);
                }
            }
        }
    }
}

#[track_caller]
fn verdict(test: IntegrityTest, content: &str, page: &str) -> (Verdict, Vec<String>) {
    let insight = Insight { id: "a".to_owned(), content: content.to_owned(), ..Insight::default() };
    let texts = [SourceText { file_hash: "f".to_owned(), pages: vec![page.to_owned()] }];
    let report = run(test, &[insight], &texts, &TestOptions::default());
    (report.details[0].verdict, report.details[0].issues())
}

#[test]
fn too_little_evidence_is_a_warning() {
    for (test, content) in [
        (IntegrityTest::FactCheck, "The court denied it on May 4, 2020."),
        (IntegrityTest::Honesty, "The court denied it on May 4, 2020."),
        (IntegrityTest::Bias, "Yes."),
        (IntegrityTest::OpinionDrift, "The court denied it on May 4, 2020."),
    ] {
        let (verdict, issues) = verdict(test, content, "");
        assert_eq!(verdict, Verdict::Warning, "{}", test.word());
        assert!(issues.iter().any(|it| it.contains("too little evidence")), "{issues:?}");
    }
}

#[test]
fn russian_claims_are_checked() {
    let page = "Арбитражный суд города Москвы 4 марта 2021 года удовлетворил иск Орлова к Белову \
        и взыскал 500 000 руб. основного долга. Дело № А40-12345/2020.";
    for (content, want) in [
        ("Суд удовлетворил иск 04.03.2021.", Verdict::Passed),
        ("Суд отказал в иске 4 марта 2021 года.", Verdict::Failed),
        ("Суд взыскал 600 000 руб. основного долга.", Verdict::Failed),
        ("Суд взыскал 500 000 руб. долга.", Verdict::Passed),
        ("Суд удовлетворил иск 5 марта 2021 года.", Verdict::Failed),
    ] {
        let (got, issues) = verdict(IntegrityTest::FactCheck, content, page);
        assert_eq!(got, want, "{content} {issues:?}");
    }
}

#[test]
fn a_quote_must_be_on_the_cited_page() {
    let pages =
        vec!["The rent is due on the first.".to_owned(), "Nothing else is owed.".to_owned()];
    let texts = [SourceText { file_hash: "f".to_owned(), pages }];
    for (page, quote, want) in [
        (1, "rent is due", Verdict::Passed),
        (2, "rent is due", Verdict::Failed),
        (1, "rent is waived forever", Verdict::Warning),
    ] {
        let source = CitedSource {
            file_hash: "f".to_owned(),
            page: Some(page),
            span: None,
            quote: quote.to_owned(),
        };
        let insight = Insight {
            content: "The rent is due.".to_owned(),
            sources: vec![source],
            ..Insight::default()
        };
        let report = run(IntegrityTest::FactCheck, &[insight], &texts, &TestOptions::default());
        assert_eq!(report.details[0].verdict, want, "{quote} {:?}", report.details[0].issues());
    }
}

#[test]
fn the_four_answers_have_different_scores() {
    let page =
        "The tenant paid the rent of $500 on May 4, 2020. The landlord returned the deposit.";
    let answer = |content: &str, page: &str| {
        let insight = Insight { content: content.to_owned(), ..Insight::default() };
        let texts = [SourceText { file_hash: "f".to_owned(), pages: vec![page.to_owned()] }];
        let report = run(IntegrityTest::FactCheck, &[insight], &texts, &TestOptions::default());
        let detail = &report.details[0];
        (detail.answer.expect("an answer"), detail.score, detail.verdict)
    };
    for (content, page, want, verdict) in [
        ("The tenant paid the rent of $500.", page, Answer::Supported, Verdict::Passed),
        ("The tenant paid the rent of $900.", page, Answer::Contradicted, Verdict::Failed),
        ("The tenant bought a boat in Maine.", page, Answer::NotFound, Verdict::Warning),
        // The words overlap, and no passage says it.
        ("The deposit was forfeited by the tenant.", page, Answer::NotFound, Verdict::Passed),
        ("Yes.", page, Answer::NothingToCheck, Verdict::Warning),
        ("The tenant paid the rent of $500.", "", Answer::NothingToCheck, Verdict::Warning),
    ] {
        let got = answer(content, page);
        assert_eq!((got.0, got.2), (want, verdict), "{content} {}", got.1);
        assert_eq!((got.1 - 1.0).abs() < 1e-9, want == Answer::Supported, "{content}");
    }
}

#[test]
fn two_dated_statements_on_one_subject_are_compared() {
    let insight = |title: &str, content: &str, day: i64| Insight {
        id: format!("{day}"),
        title: title.to_owned(),
        content: content.to_owned(),
        created_ms: day * 86_400_000,
        ..Insight::default()
    };
    let drifted = |title: &str, topic: Option<&str>, early: &str, late: &str| {
        let pair = [insight(title, early, 1), insight(title, late, 40)];
        let options = TestOptions { topic: topic.map(str::to_owned), ..TestOptions::default() };
        let details = run(IntegrityTest::OpinionDrift, &pair, &[], &options).details;
        let lacks = |it: &archive_integrity::Issue| it.code == "too_little_evidence";
        let silent = details.iter().any(|it| it.findings.iter().any(lacks));
        (details[1].verdict != Verdict::Passed, silent)
    };
    let (appeal, judge) = ("Outcome of the appeal", "Judge of the case");
    for (title, topic, early, late, want) in [
        (appeal, None, "The judgment was affirmed.", "The panel reversed.", true),
        (appeal, None, "The judgment was affirmed.", "It was upheld on appeal.", false),
        (judge, None, "The case is before Judge Snyder.", "Judge Carter hears it.", true),
        (judge, None, "The case is before Judge Snyder.", "Judge Snyder hears it.", false),
        ("", Some("решение"), "Решение отменено.", "Решение оставлено без изменения.", true),
        ("", Some("решение"), "Решение отменено.", "Суд отменил это решение.", false),
    ] {
        let got = drifted(title, topic, early, late);
        assert_eq!(got, (want, false), "{early} => {late}");
    }
}

#[test]
fn a_statement_is_ordered_by_its_own_date() {
    let insight = |id: &str, content: &str, created_ms: i64| Insight {
        id: id.to_owned(),
        content: content.to_owned(),
        created_ms,
        ..Insight::default()
    };
    // The later statement was stored first.
    let pair = [
        insight("late", "As of May 4, 2021, the Hadley judgment is reversed.", 1_000),
        insight("early", "As of March 1, 2021, the Hadley judgment is affirmed.", 2_000),
    ];
    let details = run(IntegrityTest::OpinionDrift, &pair, &[], &TestOptions::default()).details;
    assert_eq!(details[1].verdict, Verdict::Passed, "{:?}", details[1].issues());
    let change = &details[0].changes[0];
    assert_eq!((change.what, change.earlier_id.as_str()), ("reversed", "early"));
    assert_eq!(change.later_ms, 1_620_086_400_000);
}
