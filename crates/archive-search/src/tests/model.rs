//! Random files and random queries, answered by the index and by plain loops over the texts.

use std::collections::BTreeSet;

use testkit::TestRng;

use super::*;
use crate::query::{self, Expression, LastWord, ParsedQuery, QueryTerm};
use crate::tokens::{folded, tokens};

const VOCABULARY: [&str; 18] = [
    "court",
    "Courts",
    "motion",
    "motions",
    "denied",
    "deny",
    "410",
    "U.S.",
    "113",
    "суд",
    "суда",
    "café",
    "42-cv-007",
    "jurisdiction",
    "jurisdictions",
    "Воробьёв",
    "Воробьева",
    "$1,500",
];
const MISSPELLED: [&str; 5] = ["motoin", "jurisdictoin", "cuort", "воробъев", "denyed"];
const CASES: [&str; 3] = ["c1", "c2", "c3"];
const OWNERS: [&str; 2] = ["ann", "bob"];
const TAGS: [&str; 3] = ["red", "green", "Red"];
const PAPERS: [&str; 2] = ["order", "motion"];
const TYPES: [&str; 2] = ["text/plain", "application/pdf"];

fn text(rng: &mut TestRng, most: u64) -> String {
    let words: Vec<&str> = (0..rng.below(most)).map(|_| *rng.pick(&VOCABULARY)).collect();
    words.join(if rng.one_in(3) { ", " } else { " " })
}

fn any_file(rng: &mut TestRng, at: usize) -> TestFile {
    TestFile {
        id: format!("f{at:03}"),
        owner: (*rng.pick(&OWNERS)).to_owned(),
        case_id: (!rng.one_in(3)).then(|| (*rng.pick(&CASES)).to_owned()),
        uploaded_at: i64::try_from(rng.below(5)).unwrap(),
        media_type: (*rng.pick(&TYPES)).to_owned(),
        tags: TAGS.iter().filter(|_| rng.one_in(3)).map(|it| (*it).to_owned()).collect(),
        name: text(rng, 3),
        facts: any_facts(rng),
        pages: (0..rng.below(4)).map(|_| text(rng, 14)).collect(),
    }
}

fn any_day(rng: &mut TestRng) -> DayRange {
    let from = i32::try_from(rng.below(10)).unwrap();
    DayRange { from, to: from + i32::try_from(rng.below(3)).unwrap() }
}

fn any_facts(rng: &mut TestRng) -> FileFacts {
    FileFacts {
        document_type: rng.one_in(2).then(|| (*rng.pick(&PAPERS)).to_owned()),
        document_date: rng.one_in(2).then(|| any_day(rng)),
        event_dates: (0..rng.below(3)).map(|_| any_day(rng)).collect(),
    }
}

fn any_term(rng: &mut TestRng) -> String {
    match rng.below(10) {
        0 | 1 => format!("\"{} {}\"", rng.pick(&VOCABULARY), rng.pick(&VOCABULARY)),
        2 => (*rng.pick(&["mot*", "cou*", "41*", "denying*", "су*", "\"deny mot*\""])).to_owned(),
        3 => (*rng.pick(&MISSPELLED)).to_owned(),
        4 => (*rng.pick(&["court~", "motoin~", "воробье~"])).to_owned(),
        5 => (*rng.pick(&["410 U.S. 113", "42-cv-7", "1500"])).to_owned(),
        _ => (*rng.pick(&VOCABULARY)).to_owned(),
    }
}

fn any_query(rng: &mut TestRng, depth: u32) -> String {
    let parts: Vec<String> = (0..1 + rng.below(3))
        .map(|_| match rng.below(8) {
            0 if depth < 2 => format!("({})", any_query(rng, depth + 1)),
            1 => format!("-{}", any_term(rng)),
            2 => format!("NOT {}", any_term(rng)),
            _ => any_term(rng),
        })
        .collect();
    parts.join(*rng.pick(&[" ", " ", " AND ", " OR "]))
}

/// The terms of a text, one for each word.
fn words(text: &str) -> Vec<String> {
    tokens(text).map(|it| it.term).collect()
}

fn is_similar(a: &str, b: &str) -> bool {
    crate::dictionary::SimilarWord::new(a).compare(b) == crate::dictionary::Similarity::OneEdit
}

fn last_is(term: &QueryTerm, corrected: &Option<BTreeSet<String>>, word: &str) -> bool {
    if let Some(corrected) = corrected {
        return corrected.contains(word);
    }
    let own = term.words.last().unwrap();
    word == own
        || match &term.last {
            LastWord::Exact => false,
            LastWord::Prefix(prefix) => word.starts_with(prefix.as_str()),
            LastWord::Similar => is_similar(own, word),
        }
}

fn has_term(text: &[String], term: &QueryTerm, corrected: &Option<BTreeSet<String>>) -> bool {
    text.windows(term.words.len()).any(|here| {
        let (last, before) = here.split_last().unwrap();
        before.iter().zip(&term.words).all(|(a, b)| a == b) && last_is(term, corrected, last)
    })
}

fn holds(expression: &Expression, found: &[bool]) -> bool {
    match expression {
        Expression::Term(at) => found[*at],
        Expression::All(parts) => parts.iter().all(|it| holds(it, found)),
        Expression::Any(parts) => parts.iter().any(|it| holds(it, found)),
        Expression::Not(part) => !holds(part, found),
    }
}

fn passes(visibility: &Visibility, query: &PageQuery, file: &TestFile) -> bool {
    visibility.sees(&file.owner, file.case_id.as_deref())
        && query.case_id.as_ref().is_none_or(|it| Some(it) == file.case_id.as_ref())
        && query.file_id.as_ref().is_none_or(|it| *it == file.id)
        && query.media_type.as_ref().is_none_or(|it| *it == file.media_type)
        && query.from.is_none_or(|it| file.uploaded_at >= it.0)
        && query.to.is_none_or(|it| file.uploaded_at <= it.0)
        && query.tags.iter().all(|it| file.tags.contains(it))
        && has_facts(query, &file.facts)
}

fn has_facts(query: &PageQuery, facts: &FileFacts) -> bool {
    let overlaps =
        |a: &DayRange, b: &DayRange| (a.from..=a.to).any(|it| (b.from..=b.to).contains(&it));
    query.document_type.is_none() | (query.document_type == facts.document_type)
        && query
            .document_date
            .is_none_or(|it| facts.document_date.iter().any(|on| overlaps(on, &it)))
        && query.event_date.is_none_or(|it| facts.event_dates.iter().any(|on| overlaps(on, &it)))
}

fn expected(fixture: &Fixture, visibility: &Visibility, query: &PageQuery) -> Vec<String> {
    let parsed: ParsedQuery = query::parse(&query.query).unwrap();
    let mut pages: Vec<(String, Vec<String>)> = Vec::new();
    for file in fixture.files.iter().filter(|it| passes(visibility, query, it)) {
        pages.push((format!("{}:0", file.id), words(&record_text(&file.name, &file.tags, None))));
        for (at, text) in (1..).zip(&file.pages) {
            pages.push((format!("{}:{at}", file.id), words(text)));
        }
    }
    let corrections: Vec<Option<BTreeSet<String>>> = (0..parsed.terms.len())
        .map(|at| {
            let term = &parsed.terms[at];
            let occurs = pages.iter().any(|(_, text)| has_term(text, term, &None));
            if occurs || !parsed.is_positive[at] || !term.may_be_corrected() {
                return None;
            }
            let all = pages.iter().flat_map(|(_, text)| text);
            let similar: BTreeSet<String> =
                all.filter(|word| is_similar(&term.words[0], word)).cloned().collect();
            (!similar.is_empty()).then_some(similar)
        })
        .collect();
    let matching = pages.iter().filter(|(_, text)| {
        let found: Vec<bool> = parsed
            .terms
            .iter()
            .zip(&corrections)
            .map(|(term, corrected)| has_term(text, term, corrected))
            .collect();
        holds(&parsed.expression, &found)
    });
    let mut found: Vec<String> = matching.map(|it| it.0.clone()).collect();
    found.sort();
    found
}

fn any_page_query(rng: &mut TestRng) -> PageQuery {
    let mut query = any_query(rng, 0);
    while query::parse(&query).is_err() {
        query = any_query(rng, 0);
    }
    let some =
        |rng: &mut TestRng, from: &[&str]| rng.one_in(5).then(|| (*rng.pick(from)).to_owned());
    PageQuery {
        case_id: some(rng, &CASES),
        file_id: some(rng, &["f001", "f010", "f999"]),
        media_type: some(rng, &TYPES),
        document_type: some(rng, &PAPERS),
        document_date: rng.one_in(5).then(|| any_day(rng)),
        event_date: rng.one_in(5).then(|| any_day(rng)),
        tags: some(rng, &TAGS).into_iter().collect(),
        from: rng.one_in(5).then_some(Millis(2)),
        to: rng.one_in(5).then_some(Millis(3)),
        ..all(&query)
    }
}

/// Compares the pages found, their total, that pages of results are the whole, and highlights.
async fn check(fixture: &Fixture, visibility: &Visibility, query: &PageQuery) -> bool {
    let found = fixture.query(visibility, query).await;
    let name = |it: &crate::PageHit| format!("{}:{}", it.file_id, it.page);
    let in_order: Vec<String> = found.hits.iter().map(name).collect();
    let mut sorted = in_order.clone();
    sorted.sort();
    let expected = expected(fixture, visibility, query);
    assert_eq!(sorted, expected, "{query:?} by {visibility:?}");
    assert_eq!(found.total, expected.len() as u64);
    assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let mut paged = Vec::new();
    for offset in (0..=expected.len()).step_by(5) {
        let some = PageQuery { limit: 5, offset, ..query.clone() };
        let some = fixture.query(visibility, &some).await;
        assert_eq!(some.total, found.total);
        paged.extend(some.hits.iter().map(name));
    }
    assert_eq!(paged, in_order, "{query:?}");
    let parsed = query::parse(&query.query).unwrap();
    for (hit, snippet) in found.hits.iter().zip(fixture.snippets(&found)) {
        let text = fixture.stored(&hit.file_id, hit.page, 0);
        let page: Vec<char> = text.chars().collect();
        assert!(snippet.end <= page.len());
        for it in &snippet.highlights {
            assert_eq!(page[it.start..it.end].iter().collect::<String>(), it.text, "{query:?}");
            assert!(!folded(&it.text).is_empty());
        }
        // A page that matches only because something is absent has nothing to mark.
        let only_words = matches!(parsed.expression, Expression::Term(_));
        assert!(!only_words || !snippet.highlights.is_empty(), "{query:?} {snippet:?}");
    }
    !expected.is_empty()
}

#[tokio::test]
async fn the_index_answers_as_plain_loops_do() {
    on_every_engine(async |db| {
        let mut fixture = Fixture::new(db).await;
        let mut rng = TestRng::new(20);
        let mut answered = 0;
        for round in 0..10 {
            for _ in 0..8 {
                let at = rng.index(40);
                fixture.put(any_file(&mut rng, at)).await;
            }
            if round % 2 == 1 {
                for case in CASES {
                    fixture.search.merge("", Some(case)).await.unwrap();
                }
                for owner in OWNERS {
                    fixture.search.merge(owner, None).await.unwrap();
                }
            }
            if round % 3 == 2 {
                let id = rng.pick(&fixture.files).id.clone();
                fixture.remove(&id).await;
            }
            for _ in 0..40 {
                let query = any_page_query(&mut rng);
                let cases: Vec<&str> = CASES.into_iter().filter(|_| rng.one_in(2)).collect();
                let visibility = visibility(rng.pick::<&str>(&OWNERS), &cases);
                answered += u32::from(check(&fixture, &visibility, &query).await);
            }
        }
        assert!(answered > 100, "{answered} of 400 queries found something");
    })
    .await;
}
