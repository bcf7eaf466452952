//! Which insights a query finds, for which caller.

use archive_text::Passage;
use serde_json::json;

use super::*;
use crate::InsightSource;

#[tokio::test]
async fn an_insight_is_returned_as_it_was_stored() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let quote = "a «quote»\0".to_owned();
        let source = InsightSource {
            file_hash: "ab".repeat(32),
            passage: Passage { page: 3, start: 10, end: 20, quote },
            part: Some("a.eml/b.pdf".to_owned()),
        };
        let fields = NewInsight {
            category: Some("citation".to_owned()),
            tags: vec!["urgent".to_owned(), "ключ".to_owned()],
            entities: json!({"parties": ["A", {"b": null}]}).as_object().unwrap().clone(),
            citations: vec!["410 U.S. 113".to_owned()],
            confidence: 0.1 + 0.2,
            confidence_meaning: Some("seldom wrong".to_owned()),
            page: Some(3),
            sources: vec![source],
            sources_total: 7,
            job_id: Some("job".to_owned()),
            ..insight("me", Some("case"), "Title 🙂", "content «и» ещё")
        };
        let ids = fixture.add(vec![fields.clone()]).await;
        let found = fixture.query(&visibility("me", &[]), &InsightQuery::default()).await;
        assert_eq!(found.total, 1);
        let (kept, snippet) = &found.insights[0];
        assert_eq!((&kept.id, kept.created_at, &kept.fields), (&ids[0], START, &fields));
        assert_eq!(*snippet, None);
    })
    .await;
}

#[tokio::test]
async fn words_numbers_and_citations_are_found() {
    const TEXTS: [(&str, &str); 10] = [
        ("motion", "The court DENIED both motions to dismiss for lack of jurisdiction."),
        ("roe", "Roe v. Wade, 410 U.S. 113 (1973), was distinguished."),
        ("docket", "Filed under No. 2:24-cv-01234-ABC in the Eastern District."),
        ("decoy", "Filed 01234 cv 24 2, and 113 U.S. 410."),
        (
            "ru",
            "Решением Арбитражного суда по делу № А40-12345/2023 в иске отказано (ст. 15 ГК РФ).",
        ),
        ("cafe", "The Café owner’s naïve résumé."),
        ("statute", "A claim under 42 U.S.C. § 1983 lies."),
        ("title words Zebra", "and a content"),
        ("copyright", "A work under 17 U.S.C. § 101, No. 1:20-cv-08924."),
        ("surname", "Взыскать с Воробьёва В.В. задолженность."),
    ];
    const ASKS: [(&str, &[&str]); 38] = [
        ("motion", &["motion"]),
        ("Motions denied", &["motion"]),
        ("\"motion to dismiss\"", &["motion"]),
        ("\"dismiss to motion\"", &[]),
        ("deny* juris*", &["motion"]),
        ("jurisdictions*", &["motion"]),
        ("\"410 U.S. 113\"", &["roe"]),
        ("410 U.S. 113", &["roe", "decoy"]),
        ("\"410 U.S.\"", &["roe"]),
        ("2:24-cv-01234", &["docket"]),
        ("2:24-cv-01234-ABC", &["docket"]),
        ("24-cv-01234", &["docket"]),
        ("2:24-cv-012*", &["docket"]),
        ("01234", &["docket", "decoy"]),
        ("суд", &["ru"]),
        ("СУДА решение", &["ru"]),
        ("арбитр*", &["ru"]),
        ("«ст. 15 ГК РФ»", &["ru"]),
        ("А40-12345/2023", &["ru"]),
        ("cafe naive resume", &["cafe"]),
        ("CAFÉ owner's", &["cafe"]),
        ("42 U.S.C. § 1983", &["statute"]),
        ("§ 1983", &["statute"]),
        ("zebra content", &["title words Zebra"]),
        ("\"zebra and\"", &[]),
        ("zebr", &[]),
        ("filed", &["docket", "decoy"]),
        ("!!! § —", &[]),
        ("motion OR roe", &[]),
        ("nothing", &[]),
        ("17 USC 101", &["copyright"]),
        ("17 U. S. C. §101", &["copyright"]),
        ("\"17 USC 101\"", &["copyright"]),
        ("42 usc 1983", &["statute"]),
        ("1:20-cv-8924", &["copyright"]),
        ("Воробьёв", &["surname"]),
        ("Воробьевым", &["surname"]),
        ("воробьев*", &["surname"]),
    ];
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let me = visibility("me", &[]);
        let new = TEXTS.map(|(title, content)| insight("me", None, title, content));
        fixture.add(new.to_vec()).await;
        for (keywords, expected) in ASKS {
            let mut found = fixture.titles(&me, keywords).await;
            found.reverse();
            assert_eq!(found, expected, "{keywords}");
        }
        assert_eq!(fixture.titles(&me, " \t").await.len(), TEXTS.len());
    })
    .await;
}

#[tokio::test]
async fn a_category_is_found_as_a_word() {
    const ASKS: [(&str, &[&str]); 6] = [
        ("deadline", &["answer", "reply"]),
        ("deadlines", &["answer", "reply"]),
        ("deadline days", &["answer"]),
        ("\"days deadline\"", &[]),
        ("case number", &["docket"]),
        ("\"case number\"", &["docket"]),
    ];
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let of = |category: &str, title: &str, content: &str| NewInsight {
            category: Some(category.to_owned()),
            ..insight("me", None, title, content)
        };
        let new = [
            of("deadline", "answer", "within 21 days"),
            of("deadline", "reply", "by May 1"),
            of("case_number", "docket", "2:24-cv-01234"),
        ];
        fixture.add(new.to_vec()).await;
        for (keywords, expected) in ASKS {
            let mut found = fixture.titles(&visibility("me", &[]), keywords).await;
            found.reverse();
            assert_eq!(found, expected, "{keywords}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_user_finds_own_pages_and_those_of_shared_cases() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let new = [
            insight("ann", None, "ann alone", "word"),
            insight("ann", Some("c1"), "ann in one", "word"),
            insight("bob", Some("c1"), "bob in one", "word"),
            insight("bob", Some("c2"), "bob in two", "word"),
            insight("bob", None, "bob alone", "word"),
        ];
        fixture.add(new.to_vec()).await;
        let all = |owner, cases: &[&str], case: Option<&str>, expected: &[&str]| {
            let (visibility, case_id) = (visibility(owner, cases), case.map(str::to_owned));
            let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
            (visibility, case_id, expected)
        };
        let rows = [
            all("ann", &[], None, &["ann alone", "ann in one"]),
            all("ann", &["c1"], None, &["ann alone", "ann in one", "bob in one"]),
            all("ann", &["c1"], Some("c1"), &["ann in one", "bob in one"]),
            // A writer still sees the own insights of a case that is no longer shared.
            all("ann", &[], Some("c1"), &["ann in one"]),
            all("ann", &["c1"], Some("c2"), &[]),
            all("bob", &["c2"], None, &["bob in one", "bob in two", "bob alone"]),
            all("eve", &[], None, &[]),
            all("eve", &["c1", "c2"], None, &["ann in one", "bob in one", "bob in two"]),
            all("eve", &["none"], Some("none"), &[]),
        ];
        for (visibility, case_id, expected) in rows {
            for keywords in [None, Some("word".to_owned()), Some("wor*".to_owned())] {
                let query = InsightQuery {
                    keywords,
                    case_id: case_id.clone(),
                    descending: false,
                    ..InsightQuery::default()
                };
                let found = fixture.query(&visibility, &query).await;
                let titles: Vec<&str> =
                    found.insights.iter().map(|it| it.0.title.as_str()).collect();
                assert_eq!(titles, expected, "{query:?} by {visibility:?}");
                assert_eq!(found.total, expected.len() as u64);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_more_relevant_comes_first() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let filler = "the order of the court was entered and the parties were heard ".repeat(4);
        let new = [
            insight("me", None, "once", &format!("{filler} estoppel {filler}")),
            insight("me", None, "estoppel", &format!("estoppel and estoppel {filler}")),
            insight("me", None, "never", &filler),
            insight("me", None, "thrice", &format!("estoppel estoppel {filler} estoppel")),
        ];
        fixture.add(new.to_vec()).await;
        let query = InsightQuery {
            keywords: Some("estoppel".to_owned()),
            sort: SortKey::Relevance,
            ..InsightQuery::default()
        };
        let found = fixture.query(&visibility("me", &[]), &query).await;
        let titles: Vec<&str> = found.insights.iter().map(|it| it.0.title.as_str()).collect();
        assert_eq!(titles, ["estoppel", "thrice", "once"]);
        let shown = found.insights[2].1.as_deref().unwrap();
        assert!(shown.contains("**estoppel**"), "{shown}");
        let query = InsightQuery { descending: false, ..query };
        let found = fixture.query(&visibility("me", &[]), &query).await;
        assert_eq!(found.insights[0].0.title, "once");
    })
    .await;
}

#[tokio::test]
async fn ids_are_found_in_the_order_asked_and_missing_ones_named() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut new: Vec<NewInsight> =
            (0..3).map(|at| insight("me", None, &format!("t{at}"), "c")).collect();
        new.push(insight("other", Some("c"), "t3", "c"));
        let ids = fixture.add(new).await;
        let me = visibility("me", &[]);
        let wanted = [ids[2].clone(), ids[0].clone(), ids[2].clone()];
        let found = fixture.insights.by_ids(&me, &wanted).await.unwrap();
        let titles: Vec<&str> = found.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, ["t2", "t0", "t2"]);
        assert!(fixture.insights.by_ids(&me, &[]).await.unwrap().is_empty());
        for missing in [ids[3].clone(), "x\0y".to_owned(), ids[0].replace('-', "0")] {
            let asked = [ids[0].clone(), missing.clone()];
            let fault = fixture.insights.by_ids(&me, &asked).await.unwrap_err();
            assert_eq!(fault.code(), "insight_not_found");
            assert!(fault.message().contains(&missing) && !fault.message().contains(&ids[0]));
        }
        let both = fixture.insights.by_ids(&visibility("me", &["c"]), &ids).await.unwrap();
        assert_eq!(both.len(), 4);
    })
    .await;
}

#[tokio::test]
async fn a_confidence_that_is_none_is_refused() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        for confidence in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            let mut tx = fixture.db.begin().await.unwrap();
            let new = vec![NewInsight { confidence, ..insight("me", None, "t", "c") }];
            let fault = fixture.insights.add(&mut tx, new).await.unwrap_err();
            assert_eq!(fault.code(), "invalid_confidence");
        }
    })
    .await;
}

/// A word is rarer in a small case than in a large one, which must not change the ranking.
#[tokio::test]
async fn insights_of_large_cases_are_not_behind_those_of_small_ones() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let filler = "the order of the court was entered and the parties were heard ".repeat(4);
        let mut new: Vec<NewInsight> = (0..200)
            .map(|_| insight("me", Some("large"), "weak", &format!("{filler} estoppel {filler}")))
            .collect();
        new.push(insight("me", Some("large"), "strong", &format!("estoppel estoppel {filler}")));
        new.push(insight("me", Some("small"), "middle", &format!("estoppel {filler}")));
        fixture.add(new).await;
        let query = InsightQuery {
            keywords: Some("estoppel".to_owned()),
            sort: SortKey::Relevance,
            limit: 3,
            ..InsightQuery::default()
        };
        let found = fixture.query(&visibility("me", &["large", "small"]), &query).await;
        let titles: Vec<&str> = found.insights.iter().map(|it| it.0.title.as_str()).collect();
        assert_eq!(titles, ["strong", "middle", "weak"]);
    })
    .await;
}

#[tokio::test]
async fn insights_of_an_earlier_version_are_indexed_again() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let me = visibility("me", &[]);
        assert!(!fixture.insights.reindex_some().await.unwrap());
        let new = |at| insight("me", None, &format!("number {at}"), "17 U.S.C. § 101");
        fixture.add((0..450).map(new).collect()).await;
        // As the version before left them: without the words that are searched now.
        let number = db.choose("rowid", "seq");
        let delete = format!("DELETE FROM insight_text WHERE {number} > 0");
        db.execute(store::sql_built(delete)).await.unwrap();
        let pending = "UPDATE insight_reindex SET seq = (SELECT MAX(seq) FROM insight)";
        db.execute(store::sql(pending)).await.unwrap();
        assert_eq!(fixture.titles(&me, "17 USC 101").await.len(), 0);
        fixture.add(vec![new(450)]).await;
        let mut steps = 0;
        while fixture.insights.reindex_some().await.unwrap() {
            steps += 1;
            assert!(steps < 10);
        }
        assert_eq!(fixture.titles(&me, "17 USC 101").await.len(), 451);
        assert_eq!(fixture.titles(&me, "\"number 7\"").await, ["number 7"]);
    })
    .await;
}
