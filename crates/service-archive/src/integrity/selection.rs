//! Which insights a test checks: the named ones, or all of a file.

use std::collections::HashSet;

use archive_accounts::Visibility;
use archive_insights::Insight;
use fault::Fault;

use crate::Archive;

/// Insights that one test checks.
pub(crate) const TESTED_MAX: u32 = 1000;

pub(crate) struct InsightSelection {
    /// The named file, or the file of the first insight.
    pub(crate) file_id: String,
    pub(crate) insights: Vec<Insight>,
    /// What was left out.
    pub(crate) note: Option<String>,
}

impl Archive {
    pub(crate) async fn select_insights(
        &self,
        visibility: &Visibility,
        ids: &[String],
        file_id: Option<&str>,
    ) -> Result<InsightSelection, Fault> {
        if !ids.is_empty() {
            let mut seen = HashSet::new();
            let once: Vec<String> = ids.iter().filter(|it| seen.insert(*it)).cloned().collect();
            let insights = self.insights.by_ids(visibility, &once).await?;
            let file_id = match file_id {
                Some(id) => self.file_to_read(visibility, id).await?.id,
                None => insights.first().map(|it| it.file_id.clone()).unwrap_or_default(),
            };
            return Ok(InsightSelection { file_id, insights, note: None });
        }
        let Some(id) = file_id else {
            let message =
                "name the insights to test, or the fileId whose insights are to be tested";
            return Err(Fault::invalid("invalid_input", message)
                .problem("insightIds", "at least one, or a fileId")
                .problem("fileId", "a file, or insightIds"));
        };
        let file = self.file_to_read(visibility, id).await?;
        let (insights, total) =
            self.insights.list_by_file(visibility, &file.id, TESTED_MAX).await?;
        let note = match total {
            0 => Some("the file has no insights; process it, and test again".to_owned()),
            _ if total > insights.len() as u64 => Some(format!(
                "only the first {} of the file's {total} insights were tested",
                insights.len()
            )),
            _ => None,
        };
        Ok(InsightSelection { file_id: file.id, insights, note })
    }
}
