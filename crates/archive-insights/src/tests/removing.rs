//! Insights that are deleted, replaced and moved to another case.

use super::*;

fn of(file: &str, title: &str, job_id: Option<&str>) -> NewInsight {
    NewInsight {
        file_id: file.to_owned(),
        job_id: job_id.map(str::to_owned),
        tags: vec!["tag".to_owned()],
        ..insight("me", Some("c1"), title, "some word")
    }
}

async fn found(fixture: &Fixture, query: InsightQuery) -> Vec<String> {
    let me = visibility("me", &["c1"]);
    let query = InsightQuery { descending: false, ..query };
    let found = fixture.query(&me, &query).await;
    found.insights.into_iter().map(|it| it.0.fields.title).collect()
}

/// Queries that use the text index for words, the text index for tags, and no index.
#[track_caller]
fn queries() -> [InsightQuery; 3] {
    [
        InsightQuery { keywords: Some("word".to_owned()), ..InsightQuery::default() },
        InsightQuery { tags: vec!["tag".to_owned()], ..InsightQuery::default() },
        InsightQuery::default(),
    ]
}

#[tokio::test]
async fn a_deleted_insight_is_in_neither_rows_nor_index() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.add(vec![of("a", "a1", None), of("b", "b1", None), of("a", "a2", Some("j"))]).await;
        let mut tx = fixture.db.begin().await.unwrap();
        assert_eq!(fixture.insights.delete_by_file(&mut tx, "a").await.unwrap(), 2);
        drop(tx);
        for query in queries() {
            assert_eq!(found(&fixture, query).await, ["a1", "b1", "a2"], "it was rolled back");
        }
        let mut tx = fixture.db.begin().await.unwrap();
        assert_eq!(fixture.insights.delete_by_file(&mut tx, "a").await.unwrap(), 2);
        assert_eq!(fixture.insights.delete_by_file(&mut tx, "a").await.unwrap(), 0);
        tx.commit().await.unwrap();
        for query in queries() {
            assert_eq!(found(&fixture, query).await, ["b1"]);
        }
        fixture.add(vec![of("a", "a3", None)]).await;
        for query in queries() {
            assert_eq!(found(&fixture, query).await, ["b1", "a3"]);
        }
    })
    .await;
}

#[tokio::test]
async fn processing_again_replaces_what_processing_made() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture
            .add(vec![
                of("a", "made", Some("j1")),
                of("a", "stored", None),
                of("b", "other", Some("j1")),
            ])
            .await;
        let mut tx = fixture.db.begin().await.unwrap();
        let new = vec![of("a", "made again", Some("j2"))];
        fixture.insights.replace_extracted(&mut tx, "a", new).await.unwrap();
        tx.commit().await.unwrap();
        for query in queries() {
            assert_eq!(found(&fixture, query).await, ["stored", "other", "made again"]);
        }
        let me = visibility("me", &[]);
        let (list_by_file, total) = fixture.insights.list_by_file(&me, "a", 1).await.unwrap();
        assert_eq!((list_by_file.len(), list_by_file[0].title.as_str(), total), (1, "stored", 2));
        assert_eq!(fixture.insights.count_by_file(&me, "a").await.unwrap(), 2);
        assert_eq!(fixture.insights.count_by_file(&visibility("eve", &[]), "a").await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn insights_move_with_their_file() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let many = (0..450).map(|at| of("a", &format!("a{at}"), None));
        fixture.add(many.chain([of("b", "b", None)]).collect()).await;
        let private = NewInsight {
            owner: "bob".to_owned(),
            case_id: Some("c3".to_owned()),
            ..of("a", "bob's own", None)
        };
        fixture.add(vec![private]).await;
        let (c1, c2) = (Some("c1"), Some("c2"));
        let mut tx = fixture.db.begin().await.unwrap();
        assert_eq!(fixture.insights.move_case(&mut tx, "a", c1, c2).await.unwrap(), 450);
        tx.commit().await.unwrap();
        for query in queries() {
            let eve = fixture.query(&visibility("eve", &["c2"]), &query).await;
            assert_eq!(eve.total, 450);
            assert!(eve.insights.iter().all(|it| it.0.case_id.as_deref() == Some("c2")));
            assert_eq!(fixture.query(&visibility("eve", &["c1"]), &query).await.total, 1);
            assert_eq!(fixture.query(&visibility("me", &["c1"]), &query).await.total, 451);
        }
        let mut tx = fixture.db.begin().await.unwrap();
        assert_eq!(fixture.insights.move_case(&mut tx, "a", c2, None).await.unwrap(), 450);
        tx.commit().await.unwrap();
        for query in queries() {
            assert_eq!(fixture.query(&visibility("eve", &["c2"]), &query).await.total, 0);
            assert_eq!(fixture.query(&visibility("me", &[]), &query).await.total, 451);
            assert_eq!(fixture.query(&visibility("eve", &["c3"]), &query).await.total, 1);
        }
    })
    .await;
}
