//! Which insights a test checks: the named ones, all of a file, or all that the caller sees.

use std::collections::HashSet;

use archive_accounts::Visibility;
use archive_insights::{Insight, InsightQuery};
use fault::Fault;
use serde::{Deserialize, Serialize};

use crate::Archive;

/// Insights that one test checks.
pub(crate) const TESTED_MAX: u32 = 1000;

pub(crate) struct InsightSelection {
    /// The named file, or the file of the first insight.
    pub(crate) file_id: String,
    pub(crate) insights: Vec<Insight>,
    /// Why there is nothing to test.
    pub(crate) note: Option<String>,
    /// Set if there are more insights than one test checks.
    pub(crate) part: Option<SelectedPart>,
}

/// The part of all insights that one test checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SelectedPart {
    pub(crate) total: u64,
    /// The offset of the next part; `None` if this is the last.
    pub(crate) next: Option<u64>,
}

impl Archive {
    /// Without ids, the insights from `offset` on, the oldest first, so that the parts stay the same
    /// while new insights are added.
    pub(crate) async fn select_insights(
        &self,
        visibility: &Visibility,
        ids: &[String],
        file_id: Option<&str>,
        offset: u64,
    ) -> Result<InsightSelection, Fault> {
        if !ids.is_empty() {
            let mut seen = HashSet::new();
            let once: Vec<String> = ids.iter().filter(|it| seen.insert(*it)).cloned().collect();
            let insights = self.insights.by_ids(visibility, &once).await?;
            let file_id = match file_id {
                Some(id) => self.file_to_read(visibility, id).await?.id,
                None => first_file(&insights),
            };
            return Ok(InsightSelection { file_id, insights, note: None, part: None });
        }
        let file_id = match file_id {
            Some(id) => Some(self.file_to_read(visibility, id).await?.id),
            None => None,
        };
        let query = InsightQuery {
            file_id: file_id.clone(),
            descending: false,
            limit: TESTED_MAX,
            offset,
            ..InsightQuery::default()
        };
        let found = self.insights.query(visibility, &query).await?;
        let insights: Vec<Insight> = found.insights.into_iter().map(|(it, _)| it).collect();
        let end = offset.saturating_add(insights.len() as u64);
        let note = match (insights.is_empty(), file_id.is_some()) {
            (false, _) => None,
            _ if found.total > 0 => {
                Some(format!("there are {} insights, and none after {offset}", found.total))
            }
            (_, true) => Some("the file has no insights; process it, and test again".to_owned()),
            (_, false) => Some("there are no insights; process a file, and test again".to_owned()),
        };
        let is_part = (insights.len() as u64) < found.total;
        let next = (end < found.total && !insights.is_empty()).then_some(end);
        let part = is_part.then_some(SelectedPart { total: found.total, next });
        let file_id = file_id.unwrap_or_else(|| first_file(&insights));
        Ok(InsightSelection { file_id, insights, note, part })
    }
}

fn first_file(insights: &[Insight]) -> String {
    insights.first().map(|it| it.file_id.clone()).unwrap_or_default()
}
