//! Random insights and random questions, answered by the store and by plain loops in memory.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::Insight;
use crate::keywords::parse;
use archive_search::words::{IndexWord, words};

const VOCABULARY: [&str; 12] = [
    "court", "Courts", "motion", "motions", "denied", "deny", "410", "U.S.", "суд", "суда", "café",
    "42-cv-7",
];
const OWNERS: [&str; 2] = ["ann", "bob"];
const CASES: [&str; 3] = ["c1", "c2", "c3"];
const TAGS: [&str; 3] = ["red", "green", "Red"];
const MODELS: [&str; 2] = ["local", "gpt-4"];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&VOCABULARY[..]), 1..8).prop_map(|words| words.join(" "))
}

fn some<T: Clone + std::fmt::Debug + 'static>(
    from: &'static [T],
) -> impl Strategy<Value = Option<T>> {
    prop::option::of(select(from))
}

fn owned(it: Option<&'static str>) -> Option<String> {
    it.map(str::to_owned)
}

fn any_insight() -> impl Strategy<Value = NewInsight> {
    let names = (select(&OWNERS[..]), some(&CASES), select(&["f1", "f2"][..]), select(&MODELS[..]));
    let rest = (text(), text(), subsequence(&TAGS[..], 0..=3), 0..5_u8, some(&["party", "court"]));
    (names, rest, any::<bool>()).prop_map(|(names, rest, made)| NewInsight {
        file_id: names.2.to_owned(),
        source_llm: names.3.to_owned(),
        tags: rest.2.into_iter().map(str::to_owned).collect(),
        confidence: f64::from(rest.3) / 4.0,
        category: owned(rest.4),
        job_id: made.then(|| "job".to_owned()),
        ..insight(names.0, names.1, &rest.0, &rest.1)
    })
}

fn any_keywords() -> impl Strategy<Value = String> {
    let word = select(&VOCABULARY[..]).prop_map(str::to_owned);
    let phrase = text().prop_map(|it| format!("\"{it}\""));
    let open = select(&["mot*", "cou*", "4*", "denying*", "су*", "\"deny mot*\""][..])
        .prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![4 => word, 1 => phrase, 2 => open], 1..4)
        .prop_map(|terms| terms.join(" "))
}

fn any_ask() -> impl Strategy<Value = InsightQuery> {
    let words = (prop::option::weighted(0.7, any_keywords()), subsequence(&TAGS[..], 0..=2));
    let names = (some(&MODELS), some(&["f1", "f2", "f3"]), some(&CASES), some(&["party", "judge"]));
    let numbers =
        (prop::option::of(0..40_i64), prop::option::of(0..40_i64), prop::option::of(0..5_u8));
    let sort =
        (select(&[SortKey::CreatedAt, SortKey::Confidence, SortKey::Relevance][..]), any::<bool>());
    let often = prop::bool::weighted(0.3);
    (words, names, numbers, sort, (often, often, often, often)).prop_map(
        |(words, names, numbers, sort, keep)| InsightQuery {
            keywords: words.0,
            tags: words.1.into_iter().map(str::to_owned).collect(),
            source_llm: owned(names.0.filter(|_| keep.0)),
            file_id: owned(names.1.filter(|_| keep.1)),
            case_id: owned(names.2),
            category: owned(names.3.filter(|_| keep.2)),
            from: numbers.0.filter(|_| keep.3).map(|at| Millis(START.0 + at)),
            to: numbers.1.filter(|_| keep.3).map(|at| Millis(START.0 + at)),
            min_confidence: numbers.2.filter(|_| keep.0).map(|at| f64::from(at) / 4.0),
            rejected: false,
            sort: sort.0,
            descending: sort.1,
            limit: 1_000,
            offset: 0,
        },
    )
}

fn has(text: &str, query: &InsightQuery) -> Vec<bool> {
    let terms = parse(query.keywords.as_deref().unwrap_or("")).unwrap();
    let words: Vec<IndexWord> = words(text).collect();
    let found = |term: &crate::keywords::Term| {
        (0..words.len()).any(|at| term.matches_at(&words, at).is_some())
    };
    terms.iter().map(found).collect()
}

fn lets_through(visibility: &Visibility, query: &InsightQuery, it: &Insight) -> bool {
    let equal = |filter: &Option<String>, value: Option<&str>| {
        filter.as_deref().is_none_or(|filter| Some(filter) == value)
    };
    let in_category = has(it.category.as_deref().unwrap_or_default(), query);
    let in_title = has(&it.title, query).into_iter().zip(in_category).map(|(one, two)| one || two);
    let in_content = has(&it.content, query);
    visibility.sees(&it.owner, it.case_id.as_deref())
        && in_title.zip(in_content).all(|(title, content)| title || content)
        && equal(&query.source_llm, Some(&it.source_llm))
        && equal(&query.file_id, Some(&it.file_id))
        && equal(&query.case_id, it.case_id.as_deref())
        && equal(&query.category, it.category.as_deref())
        && query.tags.iter().all(|tag| it.tags.contains(tag))
        && query.from.is_none_or(|from| it.created_at >= from)
        && query.to.is_none_or(|to| it.created_at <= to)
        && query.min_confidence.is_none_or(|least| it.confidence >= least)
}

/// The ids in the order of the query; relevance, which the loops do not compute, counts as the time
/// of creation.
fn expected(kept: &[Insight], visibility: &Visibility, query: &InsightQuery) -> Vec<String> {
    let mut all: Vec<&Insight> =
        kept.iter().filter(|it| lets_through(visibility, query, it)).collect();
    match query.sort {
        SortKey::Confidence => {
            all.sort_by(|a, b| a.confidence.total_cmp(&b.confidence).then(a.id.cmp(&b.id)))
        }
        SortKey::CreatedAt | SortKey::Relevance => {
            all.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)))
        }
    }
    if query.descending {
        all.reverse();
    }
    all.into_iter().map(|it| it.id.clone()).collect()
}

async fn ids(
    fixture: &Fixture,
    visibility: &Visibility,
    query: &InsightQuery,
) -> (Vec<String>, u64) {
    let found = fixture.query(visibility, query).await;
    for (insight, shown) in &found.insights {
        // What was found by its category alone has no words to show.
        let is_in = |text: &str| has(text, query).contains(&true);
        let is_shown = is_in(&insight.title) || is_in(&insight.content);
        assert_eq!(shown.is_some(), is_shown, "{query:?} {insight:?}");
        assert!(shown.as_ref().is_none_or(|it| it.contains("**")), "{query:?} {shown:?}");
    }
    (found.insights.into_iter().map(|it| it.0.id).collect(), found.total)
}

async fn check(fixture: &Fixture, kept: &[Insight], visibility: &Visibility, query: &InsightQuery) {
    let (found, total) = ids(fixture, visibility, query).await;
    let mut expected = expected(kept, visibility, query);
    let mut compared = found.clone();
    if query.sort == SortKey::Relevance && query.keywords.is_some() {
        expected.sort();
        compared.sort();
    }
    assert_eq!(compared, expected, "{query:?} by {visibility:?}");
    assert_eq!(total, expected.len() as u64, "{query:?}");
    let mut paged = Vec::new();
    for page in 0..=expected.len() / 7 {
        let query = InsightQuery { limit: 7, offset: page as u64 * 7, ..query.clone() };
        let (some, total_here) = ids(fixture, visibility, &query).await;
        assert_eq!(total_here, total);
        paged.extend(some);
    }
    assert_eq!(paged, found, "{query:?}: the pages are the whole");
}

#[tokio::test]
async fn the_store_answers_as_plain_loops_do() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let mut kept: Vec<Insight> = Vec::new();
        for round in 0..8 {
            let some = prop::collection::vec(any_insight(), 1..25)
                .new_tree(&mut runner)
                .unwrap()
                .current();
            for fields in some {
                fixture.clock.set(Millis(START.0 + i64::try_from(kept.len() / 3).unwrap()));
                let id = fixture.add(vec![fields.clone()]).await.remove(0);
                let created_at = Millis(START.0 + i64::try_from(kept.len() / 3).unwrap());
                kept.push(Insight { id, created_at, fields });
            }
            if round % 3 == 2 {
                let mut tx = fixture.db.begin().await.unwrap();
                let gone =
                    fixture.insights.replace_extracted(&mut tx, "f1", Vec::new()).await.unwrap();
                tx.commit().await.unwrap();
                assert!(gone.is_empty());
                kept.retain(|it| it.file_id != "f1" || it.job_id.is_none());
            }
            for _ in 0..40 {
                let query = any_ask().new_tree(&mut runner).unwrap().current();
                let cases = subsequence(&CASES[..], 0..=3).new_tree(&mut runner).unwrap().current();
                let owner = select(&OWNERS[..]).new_tree(&mut runner).unwrap().current();
                check(&fixture, &kept, &visibility(owner, &cases), &query).await;
            }
        }
    })
    .await;
}
