//! The pages that a query finds, for each caller.

use super::*;

#[tokio::test]
async fn words_phrases_citations_and_mistakes_are_found() {
    const PAGES: [&str; 9] = [
        "The court DENIED both motions to dismiss for lack of jurisdiction.",
        "Infringement under 17 U.S.C. § 101 and 17 U. S. C. §§ 102, 103.",
        "Filed under No. 1:20-cv-08924-ABC in the Southern District.",
        "Решением суда иск Воробьёва В.В. удовлетворён.",
        "Ответчик Воробьев просит отказать; с Воробьевым согласен ООО «Экопром».",
        "Liebowitz is counsel. Project Corvette; indemnify and hold harmless.",
        "This contract is governed by the laws of Florida and 101 other things of 17 kinds.",
        "The Café owner’s naïve résumé.",
        "USC Trojans",
    ];
    const QUERIES: [(&str, &str); 34] = [
        ("motion", "1"),
        ("\"motion to dismiss\"", "1"),
        ("\"dismiss to motion\"", ""),
        ("denied OR infringement", "1 2"),
        ("the AND NOT court", "3 7 8"),
        ("the -court -district", "7 8"),
        ("(court OR district) the", "1 3"),
        ("17 USC 101", "2"),
        ("17 U.S.C. § 101", "2"),
        ("\"17 usc 102\"", "2"),
        ("17 101", "2 7"),
        ("usc", "2 9"),
        ("1:20-cv-8924", "3"),
        ("1:20-cv-08924", "3"),
        ("20-cv-8924", "3"),
        ("Воробьёв", "4 5"),
        ("воробьева", "4 5"),
        ("Воробьев В.В.", "4"),
        ("Воробьев В. В.", "4"),
        ("экопром", "5"),
        ("Liebowits", "6"),
        ("Liebowits counsel", "6"),
        ("\"Liebowits\"", ""),
        ("Liebowits~ OR usc", "2 6 9"),
        ("laws~", "7"),
        ("jurisdiktion", "1"),
        ("решеним", "4"),
        ("1:20-cv-8925", ""),
        ("indem*", "6"),
        ("\"project corv*\"", "6"),
        ("juris* OR infring*", "1 2"),
        ("governing law Florida", "7"),
        ("cafe naive resume", "8"),
        ("nothing", ""),
    ];
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        for (at, text) in (1..).zip(PAGES) {
            fixture.put(file(&format!("f{at}"), "me", None, &[text])).await;
        }
        for merged in [false, true] {
            for (query, expected) in QUERIES {
                let expected: Vec<String> =
                    expected.split_whitespace().map(|at| format!("f{at}:1")).collect();
                assert_eq!(
                    fixture.found(&visibility("me", &[]), query).await,
                    expected,
                    "{query} {merged}"
                );
            }
            fixture.search.merge("me", None).await.unwrap();
        }
        let found = fixture.query(&visibility("me", &[]), &all("Liebowits cafe")).await;
        assert_eq!(found.corrections.len(), 1);
        assert_eq!(found.corrections[0].typed, "Liebowits");
        assert_eq!(found.corrections[0].searched, ["liebowitz"]);
    })
    .await;
}

#[tokio::test]
async fn names_and_tags_of_files_are_found() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let named = TestFile {
            name: "smith_complaint-2024.pdf".to_owned(),
            tags: vec!["urgent matter".to_owned()],
            ..file("f", "me", None, &["nothing of it"])
        };
        fixture.put(named).await;
        let me = visibility("me", &[]);
        assert_eq!(fixture.found(&me, "complaint smith").await, ["f:0"]);
        assert_eq!(fixture.found(&me, "urgent").await, ["f:0"]);
        let found = fixture.query(&me, &all("urgent")).await;
        assert_eq!(fixture.snippets(&found)[0].text, "smith_complaint-2024.pdf **urgent** matter");
    })
    .await;
}

/// An owner, the visible cases, the case of the filter, and what is found.
type Row = (&'static str, &'static [&'static str], Option<&'static str>, &'static [&'static str]);

#[tokio::test]
async fn a_user_finds_own_pages_and_those_of_shared_cases() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        for (id, owner, case) in [
            ("a", "ann", None),
            ("a1", "ann", Some("c1")),
            ("b1", "bob", Some("c1")),
            ("b2", "bob", Some("c2")),
            ("b", "bob", None),
        ] {
            let text = format!("word of {owner} secretive{id}");
            fixture.put(file(id, owner, case, &[&text])).await;
        }
        let rows: [Row; 8] = [
            ("ann", &[], None, &["a1:1", "a:1"]),
            ("ann", &["c1"], None, &["a1:1", "a:1", "b1:1"]),
            ("ann", &["c1"], Some("c1"), &["a1:1", "b1:1"]),
            // A writer still sees the own files of a case that is no longer shared.
            ("ann", &[], Some("c1"), &["a1:1"]),
            ("ann", &["c1"], Some("c2"), &[]),
            ("bob", &["c2"], None, &["b1:1", "b2:1", "b:1"]),
            ("eve", &[], None, &[]),
            ("eve", &["c1", "c2"], None, &["a1:1", "b1:1", "b2:1"]),
        ];
        for (owner, cases, case, expected) in rows {
            for text in ["word", "wor*", "wird~", "NOT missing AND word"] {
                let query = PageQuery { case_id: case.map(str::to_owned), ..all(text) };
                let found = fixture.query(&visibility(owner, cases), &query).await;
                let mut pages: Vec<String> =
                    found.hits.iter().map(|it| format!("{}:{}", it.file_id, it.page)).collect();
                pages.sort();
                assert_eq!(pages, expected, "{text} by {owner} {cases:?} {case:?}");
                assert_eq!(found.total, expected.len() as u64);
            }
        }
        // Neither corrections nor prefixes tell about words of others.
        let found =
            fixture.query(&visibility("ann", &[]), &all("secretiveb9 OR secretivebb")).await;
        assert!(found.corrections.iter().all(|it| !it.searched.join(" ").contains("secretiveb")));
        let found = fixture.query(&visibility("eve", &[]), &all("secretiv")).await;
        assert_eq!((found.total, found.corrections.len()), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn snippets_are_the_text_of_the_page() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let far = format!(
            "{} Der Streitgegenstand — жалоба по «делу» {}",
            "слово ".repeat(500),
            "end ".repeat(300)
        );
        let long = format!("{} needle", "ж".repeat(100_000));
        fixture.put(file("f", "me", None, &["The motions\n\nwere denied.", &far, &long, ""])).await;
        let me = visibility("me", &[]);
        for (query, expected) in [
            ("motion deny", "The **motions** were **denied**."),
            ("\"motions were\"", "The **motions were** denied."),
            ("motion OR \"motion were\"", "The **motions were** denied."),
        ] {
            let found = fixture.query(&me, &all(query)).await;
            assert_eq!(fixture.snippets(&found)[0].text, expected);
        }
        for query in ["жалоба дел*", "needle", "end", "слово"] {
            let found = fixture.query(&me, &all(query)).await;
            assert!(found.total > 0, "{query}");
            for (hit, snippet) in found.hits.iter().zip(fixture.snippets(&found)) {
                let page: Vec<char> =
                    fixture.files[0].pages[hit.page as usize - 1].chars().collect();
                assert!(!snippet.highlights.is_empty() && snippet.text.contains("**"), "{query}");
                assert!(snippet.end - snippet.start <= 500, "{snippet:?}");
                for it in &snippet.highlights {
                    assert!(snippet.start <= it.start && it.end <= snippet.end);
                    assert_eq!(page[it.start..it.end].iter().collect::<String>(), it.text);
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_query_that_finds_too_much_is_refused() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let words: String = (0..5_000).map(|at| format!("ab{at}x ")).collect();
        fixture.put(file("f", "me", None, &[&words])).await;
        let mut tx = fixture.db.snapshot().await.unwrap();
        let me = visibility("me", &[]);
        let fault = fixture.search.query(&mut tx, &me, &all("ab*")).await.unwrap_err();
        assert_eq!(fault.code(), "query_too_broad");
        let fault = fixture.search.query(&mut tx, &me, &all("(ab")).await.unwrap_err();
        assert_eq!(fault.code(), "invalid_query");
        tx.commit().await.unwrap();
        assert_eq!(fixture.found(&me, "ab12*").await, ["f:1"]);
    })
    .await;
}
