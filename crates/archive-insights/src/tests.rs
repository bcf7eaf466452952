//! Insights on both engines.

use std::sync::Arc;

use archive_accounts::CaseAccess;
use clock::Millis;
use serde_json::Map;
use store::Db;
use testkit::{FakeClock, on_every_engine};

use crate::{InsightQuery, Insights, MIGRATIONS, NewInsight, SearchResults, SortKey, Visibility};

mod asking;
mod concurrency;
mod correcting;
mod hostile;
mod model;
mod removing;

const START: Millis = Millis(1_800_000_000_000);

struct Fixture {
    db: Db,
    clock: Arc<FakeClock>,
    insights: Insights,
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(START));
        Self { db: db.clone(), clock: clock.clone(), insights: Insights::new(db.clone(), clock) }
    }

    async fn add(&self, new: Vec<NewInsight>) -> Vec<String> {
        let mut tx = self.db.begin().await.unwrap();
        let kept = self.insights.add(&mut tx, new).await.unwrap();
        tx.commit().await.unwrap();
        kept.into_iter().map(|(id, _)| id).collect()
    }

    async fn query(&self, visibility: &Visibility, query: &InsightQuery) -> SearchResults {
        self.insights.query(visibility, query).await.unwrap()
    }

    /// The titles of what is found by these keywords.
    async fn titles(&self, visibility: &Visibility, keywords: &str) -> Vec<String> {
        let query = InsightQuery {
            keywords: Some(keywords.to_owned()),
            limit: 1_000,
            ..InsightQuery::default()
        };
        let found = self.query(visibility, &query).await;
        assert_eq!(found.total, found.insights.len() as u64);
        found.insights.into_iter().map(|(insight, _)| insight.fields.title).collect()
    }
}

/// Sees their own and these cases.
fn visibility(owner: &str, cases: &[&str]) -> Visibility {
    let case = |id: &&str| CaseAccess {
        id: (*id).to_owned(),
        name: format!("the case {id}"),
        own: true,
        may_write: true,
    };
    Visibility { owner: owner.to_owned(), cases: cases.iter().map(case).collect() }
}

fn insight(owner: &str, case: Option<&str>, title: &str, content: &str) -> NewInsight {
    NewInsight {
        owner: owner.to_owned(),
        case_id: case.map(str::to_owned),
        file_id: "file".to_owned(),
        title: title.to_owned(),
        content: content.to_owned(),
        source_llm: "local".to_owned(),
        category: None,
        tags: Vec::new(),
        entities: Map::new(),
        citations: Vec::new(),
        confidence: 0.5,
        confidence_meaning: None,
        page: None,
        sources: Vec::new(),
        sources_total: 0,
        job_id: None,
        correction: None,
    }
}
