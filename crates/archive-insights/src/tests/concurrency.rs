//! Many writers and readers at once.

use tokio::task::JoinSet;

use super::*;

const WRITERS: usize = 4;
const BATCHES: usize = 20;
/// Insights of one transaction: a reader sees all of them or none.
const BATCH: usize = 5;

async fn write(insights: Insights, db: Db, writer: usize) {
    let file = format!("file {writer}");
    for batch in 0..BATCHES {
        let new = (0..BATCH).map(|_| NewInsight {
            file_id: file.clone(),
            job_id: Some("job".to_owned()),
            ..insight("me", Some("c"), "a title", "some word of content")
        });
        let mut tx = db.begin().await.unwrap();
        if batch % 3 == 2 {
            insights.replace_extracted(&mut tx, &file, new.collect()).await.unwrap();
        } else {
            insights.add(&mut tx, new.collect()).await.unwrap();
        }
        tx.commit().await.unwrap();
        // The next query finds the committed insights, whatever other tasks write.
        let query = InsightQuery {
            file_id: Some(file.clone()),
            keywords: Some("word".to_owned()),
            ..InsightQuery::default()
        };
        let found = insights.query(&visibility("me", &[]), &query).await.unwrap();
        let kept = if batch < 2 { batch + 1 } else { (batch - 2) % 3 + 1 };
        assert_eq!(found.total as usize, kept * BATCH);
    }
}

async fn read(insights: Insights, query: InsightQuery) {
    for _ in 0..100 {
        let found = insights.query(&visibility("me", &["c"]), &query).await.unwrap();
        assert_eq!(found.total, found.insights.len() as u64, "the total is that of the rows");
        assert_eq!(found.total as usize % BATCH, 0, "no transaction is seen in part");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn totals_are_those_of_the_rows_while_others_write() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            tasks.spawn(write(fixture.insights.clone(), fixture.db.clone(), writer));
        }
        for keywords in [Some("word"), Some("\"some word\" tit*"), None] {
            let keywords = keywords.map(str::to_owned);
            let sort = if keywords.is_some() { SortKey::Relevance } else { SortKey::Confidence };
            let query = InsightQuery { keywords, sort, limit: 1_000, ..InsightQuery::default() };
            tasks.spawn(read(fixture.insights.clone(), query));
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    })
    .await;
}
