//! Corrects and deletes single insights.

use archive_accounts::Visibility;
use clock::Millis;
use fault::{Fault, Kind};
use store::{Tx, sql, sql_built};

use crate::Insights;
use crate::by_ids::{is_id, not_found};
use crate::index::IndexEntry;
use crate::insight::{COLUMNS, Correction, Insight, NewInsight};

/// What a caller changes of an insight; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InsightChange {
    pub title: Option<String>,
    pub content: Option<String>,
    pub tags: Option<Vec<String>>,
    pub confidence: Option<f64>,
    pub is_rejected: Option<bool>,
    /// The name of the caller.
    pub by: String,
}

impl InsightChange {
    fn apply(self, insight: &mut NewInsight, now: Millis) {
        let earlier = insight.correction.take();
        let found_as = match &earlier {
            Some(earlier) => earlier.found_as.clone(),
            None => insight.job_id.is_some().then(|| insight.title.clone()),
        };
        let was_rejected = earlier.is_some_and(|it| it.is_rejected);
        let is_rejected = self.is_rejected.unwrap_or(was_rejected);
        insight.correction = Some(Correction { by: self.by, at_ms: now.0, is_rejected, found_as });
        insight.title = self.title.unwrap_or_else(|| std::mem::take(&mut insight.title));
        insight.content = self.content.unwrap_or_else(|| std::mem::take(&mut insight.content));
        insight.tags = self.tags.unwrap_or_else(|| std::mem::take(&mut insight.tags));
        if let Some(confidence) = self.confidence {
            insight.confidence = confidence;
            insight.confidence_meaning = Some("stated by the user who corrected it".to_owned());
        }
        insight.job_id = None;
    }
}

impl Insights {
    /// Changes an insight that the caller may write, and returns it as it is now. From here on it
    /// belongs to callers: processing its file again keeps it.
    pub async fn correct(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        id: &str,
        change: InsightChange,
    ) -> Result<Insight, Fault> {
        let (seq, mut insight) = self.locked(tx, visibility, id).await?;
        if !visibility.may_write(&insight.owner, insight.case_id.as_deref()) {
            return Err(forbidden(id, "is shared with you for reading only"));
        }
        change.apply(&mut insight.fields, self.0.clock.now());
        insight.check()?;
        self.remove_entry(tx, seq).await?;
        let row = "UPDATE insight SET scope = $2, confidence = $3, made = FALSE WHERE seq = $1";
        let row = sql(row).bind(seq).bind(insight.scope()).bind(insight.confidence);
        tx.execute(row).await?;
        let body = "UPDATE insight_body SET confidence = $2, title = $3, content = $4, rest = $5 \
                    WHERE seq = $1";
        let body = sql(body).bind(seq).bind(insight.confidence);
        let body = body.bind(insight.title.replace('\0', ""));
        let body = body.bind(insight.content.replace('\0', "")).bind(insight.rest()?);
        tx.execute(body).await?;
        self.insert_entries(tx, &[(seq, IndexEntry::of(&insight))]).await?;
        Ok(insight)
    }

    /// Deletes an insight that the caller may delete, and returns it as it was.
    pub async fn delete_one(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        id: &str,
    ) -> Result<Insight, Fault> {
        let (seq, insight) = self.locked(tx, visibility, id).await?;
        if !visibility.may_delete(&insight.owner, insight.case_id.as_deref()) {
            return Err(forbidden(
                id,
                "may be deleted by its owner and the owner of its case only",
            ));
        }
        self.remove_entry(tx, seq).await?;
        for delete in
            ["DELETE FROM insight_body WHERE seq = $1", "DELETE FROM insight WHERE seq = $1"]
        {
            tx.execute(sql(delete).bind(seq)).await?;
        }
        Ok(insight)
    }

    /// The insight and its row number, locked until the transaction ends.
    async fn locked(
        &self,
        tx: &mut Tx,
        visibility: &Visibility,
        id: &str,
    ) -> Result<(i64, Insight), Fault> {
        let unknown = || not_found(&[&id.to_owned()], "insightId");
        if !is_id(id) {
            return Err(unknown());
        }
        let lock = self.0.db.choose("", "FOR UPDATE");
        let select = format!("SELECT b.seq, {COLUMNS} FROM insight_body b WHERE b.id = $1 {lock}");
        let row = tx.fetch_optional(sql_built(select).bind(id)).await?.ok_or_else(unknown)?;
        let (seq, insight) = (row.int(0)?, Insight::read(&row, 1)?);
        match visibility.sees(&insight.owner, insight.case_id.as_deref()) {
            true => Ok((seq, insight)),
            false => Err(unknown()),
        }
    }

    pub(crate) async fn remove_entry(&self, tx: &mut Tx, seq: i64) -> Result<(), Fault> {
        let delete = self.0.db.choose(
            "DELETE FROM insight_text WHERE rowid = $1",
            "DELETE FROM insight_text WHERE seq = $1",
        );
        tx.execute(sql(delete).bind(seq)).await.map(drop)
    }
}

fn forbidden(id: &str, why: &str) -> Fault {
    Fault::new(Kind::Forbidden, "insight_not_yours", format!("the insight {id} {why}"))
}
