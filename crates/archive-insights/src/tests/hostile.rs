//! Keywords, tags and texts that were meant to break something.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};

use super::*;

const KEYWORDS: [&str; 38] = [
    "",
    " ",
    "\"",
    "\"\"",
    "\"\"\"",
    "'",
    "''",
    "*",
    "**",
    "\"*\"",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "NOT a",
    "a OR OR b",
    "NEAR(",
    "NEAR(a b, 5)",
    "title : a",
    "{title content} : a",
    "- title : a",
    "^a",
    "a + b",
    "(",
    ")",
    "((((",
    "a)(b",
    "a:* & b",
    "'a' <-> 'b'",
    "!a",
    "a | ! b",
    "\\",
    "a\\'b",
    "%_",
    "$1 ?1 :a",
    "\0",
    "a\0b",
    "'; DROP TABLE insight; --",
];

#[tokio::test]
async fn no_keywords_fail() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.add(vec![insight("me", None, "a", "b NEAR the title and a AND b")]).await;
        let me = visibility("me", &["c1", "c2"]);
        for keywords in KEYWORDS {
            for sort in [SortKey::Relevance, SortKey::CreatedAt] {
                let keywords = Some(keywords.to_owned());
                let tags = vec![];
                fixture
                    .query(&me, &InsightQuery { keywords, sort, tags, ..InsightQuery::default() })
                    .await;
            }
        }
        assert_eq!(fixture.titles(&me, "AND near").await, ["a"]);
        let mut runner = TestRunner::new(Config::with_cases(0));
        for _ in 0..200 {
            let keywords =
                r#"[ -~\u{0}-\u{2ff}«»а-яё"*]{0,60}"#.new_tree(&mut runner).unwrap().current();
            let tags = vec![keywords.clone()];
            let query = InsightQuery { keywords: Some(keywords), tags, ..InsightQuery::default() };
            assert!(fixture.insights.query(&me, &query).await.is_ok(), "{query:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn no_text_is_too_odd_to_keep_and_find() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let distinct: String = (0..40_000).map(|at| format!("{at:x} ")).collect();
        let texts = [
            "\0".to_owned(),
            "'quotes' \"and\" \\ § :1A,2 needle".to_owned(),
            format!("{} needle", "word ".repeat(39_000)),
            format!("{} needle", "🙂".repeat(100_000)),
            "ж".repeat(200_000),
            "needle 한국어 日本語 हिन्दी ไทย".to_owned(),
            // More different words than PostgreSQL keeps of one text: the last are not indexed.
            format!("needle {distinct}"),
        ];
        for text in &texts {
            fixture.add(vec![insight("me\0", None, text, text)]).await;
        }
        let me = visibility("me\0", &[]);
        assert_eq!(fixture.titles(&me, "needle").await.len(), 5);
        assert_eq!(fixture.query(&me, &InsightQuery::default()).await.total, texts.len() as u64);
        assert_eq!(fixture.titles(&me, "日本語").await.len(), 1);
        assert_eq!(fixture.titles(&me, "हिन्दी").await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn offsets_and_limits_have_no_edge() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.add((0..5).map(|_| insight("me", None, "t", "word")).collect()).await;
        let me = visibility("me", &[]);
        for keywords in [None, Some("word".to_owned())] {
            let rows = [(0, 0, 0), (5, 20, 0), (u64::MAX, 20, 0), (3, u32::MAX, 2), (4, 1, 1)];
            for (offset, limit, expected) in rows {
                let query = InsightQuery {
                    keywords: keywords.clone(),
                    offset,
                    limit,
                    ..InsightQuery::default()
                };
                let found = fixture.query(&me, &query).await;
                assert_eq!((found.insights.len(), found.total), (expected, 5), "{offset} {limit}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn thousands_of_cases_are_one_question() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let cases: Vec<String> = (0..3_000).map(|at| format!("case {at}")).collect();
        let new = |case: &String| insight("other", Some(case), case, "a word");
        fixture.add(cases.iter().step_by(500).map(new).collect()).await;
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        let me = visibility("me", &cases);
        for keywords in [None, Some("word".to_owned())] {
            for sort in [SortKey::Relevance, SortKey::Confidence] {
                let query =
                    InsightQuery { keywords: keywords.clone(), sort, ..InsightQuery::default() };
                assert_eq!(fixture.query(&me, &query).await.total, 6);
            }
        }
    })
    .await;
}
