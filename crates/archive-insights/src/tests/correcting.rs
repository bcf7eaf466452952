//! Insights that callers correct, reject and delete.

use super::*;
use crate::InsightChange;

fn made(title: &str) -> NewInsight {
    let job_id = Some("job".to_owned());
    NewInsight {
        job_id,
        category: Some("party".to_owned()),
        ..insight("me", Some("case"), title, "words")
    }
}

fn change() -> InsightChange {
    InsightChange { by: "ann".to_owned(), ..InsightChange::default() }
}

impl Fixture {
    async fn correct(
        &self,
        visibility: &Visibility,
        id: &str,
        change: InsightChange,
    ) -> Result<crate::Insight, &'static str> {
        let mut tx = self.db.begin().await.unwrap();
        let corrected = self.insights.correct(&mut tx, visibility, id, change).await;
        tx.commit().await.unwrap();
        corrected.map_err(|fault| fault.code())
    }

    async fn all(&self, visibility: &Visibility, rejected: bool) -> Vec<String> {
        let query = InsightQuery { rejected, descending: false, ..InsightQuery::default() };
        let found = self.query(visibility, &query).await;
        found.insights.into_iter().map(|(insight, _)| insight.fields.title).collect()
    }
}

#[tokio::test]
async fn a_correction_is_found_and_survives_the_next_processing() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let me = visibility("me", &["case"]);
        let ids = fixture.add(vec![made("One"), made("Two"), made("Three")]).await;
        let title = Some("Uno".to_owned());
        let tags = Some(vec!["checked".to_owned()]);
        let uno = InsightChange { title, tags, confidence: Some(1.0), ..change() };
        let corrected = fixture.correct(&me, &ids[0], uno).await.unwrap();
        let correction = corrected.correction.clone().unwrap();
        assert_eq!((correction.by.as_str(), correction.at_ms), ("ann", START.0));
        assert_eq!(correction.found_as.as_deref(), Some("One"));
        assert_eq!(fixture.titles(&me, "uno").await, ["Uno"]);
        assert!(fixture.titles(&me, "one").await.is_empty());
        let tagged = InsightQuery {
            tags: vec!["checked".to_owned()],
            min_confidence: Some(1.0),
            ..InsightQuery::default()
        };
        assert_eq!(fixture.query(&me, &tagged).await.total, 1);
        let wrong = InsightChange { is_rejected: Some(true), ..change() };
        assert!(fixture.correct(&me, &ids[1], wrong).await.unwrap().is_rejected());
        assert_eq!(fixture.all(&me, false).await, ["Uno", "Three"]);
        assert_eq!(fixture.all(&me, true).await, ["Two"]);
        assert!(fixture.titles(&me, "two").await.is_empty());
        let mut tx = db.begin().await.unwrap();
        let again = vec![made("One"), made("Two"), made("Three"), made("Four")];
        fixture.insights.replace_extracted(&mut tx, "file", again).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(fixture.all(&me, false).await, ["Uno", "Three", "Four"]);
        // A rejected insight moves with its file and stays rejected.
        let mut tx = db.begin().await.unwrap();
        fixture.insights.move_case(&mut tx, "file", Some("case"), Some("other")).await.unwrap();
        tx.commit().await.unwrap();
        let there = visibility("you", &["other"]);
        assert_eq!(fixture.all(&there, false).await, ["Uno", "Three", "Four"]);
        assert_eq!(fixture.all(&there, true).await, ["Two"]);
        let right = InsightChange { is_rejected: Some(false), ..change() };
        fixture.correct(&me, &ids[1], right).await.unwrap();
        assert_eq!(fixture.titles(&me, "two").await, ["Two"]);
        assert!(fixture.all(&me, true).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn only_who_may_write_corrects_and_only_owners_delete() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let me = visibility("me", &["case"]);
        let ids = fixture.add(vec![made("One")]).await;
        let with = |own: bool, may_write: bool| {
            let mut visibility = visibility("you", &["case"]);
            (visibility.cases[0].own, visibility.cases[0].may_write) = (own, may_write);
            visibility
        };
        let delete = async |visibility: &Visibility, id: &str| {
            let mut tx = db.begin().await.unwrap();
            let deleted = fixture.insights.delete_one(&mut tx, visibility, id).await;
            tx.commit().await.unwrap();
            deleted.map(|it| it.fields.title).map_err(|fault| fault.code())
        };
        let stranger = visibility("you", &[]);
        let unknown = Err("insight_not_found");
        assert_eq!(delete(&stranger, &ids[0]).await, unknown);
        assert_eq!(delete(&me, "no id").await, unknown);
        assert_eq!(delete(&with(false, true), &ids[0]).await, Err("insight_not_yours"));
        let corrected = fixture.correct(&with(false, false), &ids[0], change()).await;
        assert_eq!(corrected.unwrap_err(), "insight_not_yours");
        let bad = InsightChange { confidence: Some(1.5), ..change() };
        assert_eq!(fixture.correct(&me, &ids[0], bad).await.unwrap_err(), "invalid_confidence");
        assert!(fixture.correct(&with(false, true), &ids[0], change()).await.is_ok());
        assert_eq!(delete(&with(true, true), &ids[0]).await, Ok("One".to_owned()));
        assert_eq!(delete(&me, &ids[0]).await, unknown);
        assert!(fixture.titles(&me, "one").await.is_empty());
    })
    .await;
}
