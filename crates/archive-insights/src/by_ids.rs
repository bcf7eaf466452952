//! Reads insights by their ids.

use std::collections::HashMap;

use archive_accounts::Visibility;
use fault::Fault;
use store::{placeholders, sql_built};

use crate::Insights;
use crate::insight::{COLUMNS, Insight};
use crate::query::RESULTS_MAX;

/// Ids that an error message lists.
const NAMED_MAX: usize = 10;

impl Insights {
    /// The insights in the order of `ids`. A fault names the ids that do not exist or that the
    /// caller may not see, without telling which of the two.
    pub async fn by_ids(
        &self,
        visibility: &Visibility,
        ids: &[String],
    ) -> Result<Vec<Insight>, Fault> {
        if ids.len() > RESULTS_MAX as usize {
            let message = format!("at most {RESULTS_MAX} insights can be asked for at once");
            return Err(Fault::invalid("too_many_insights", message));
        }
        let known = self.visible_by_id(visibility, ids).await?;
        let missing: Vec<&String> = ids.iter().filter(|id| !known.contains_key(*id)).collect();
        if !missing.is_empty() {
            return Err(not_found(&missing, "insightIds"));
        }
        Ok(ids.iter().filter_map(|id| known.get(id).cloned()).collect())
    }

    /// Those of the insights that the caller still sees, in the order of `ids`, of which there are
    /// at most [`RESULTS_MAX`].
    pub async fn visible_of_ids(
        &self,
        visibility: &Visibility,
        ids: &[String],
    ) -> Result<Vec<Insight>, Fault> {
        let known = self.visible_by_id(visibility, ids).await?;
        Ok(ids.iter().filter_map(|id| known.get(id).cloned()).collect())
    }

    async fn visible_by_id(
        &self,
        visibility: &Visibility,
        ids: &[String],
    ) -> Result<HashMap<String, Insight>, Fault> {
        let mut known = HashMap::new();
        let wanted: Vec<&String> = ids.iter().filter(|id| is_id(id)).collect();
        if !wanted.is_empty() {
            let list = placeholders(1, wanted.len());
            let text = format!("SELECT {COLUMNS} FROM insight_body b WHERE b.id IN ({list})");
            for row in self.0.db.fetch_all(sql_built(text).bind_all(wanted)).await? {
                let insight = Insight::read(&row, 0)?;
                if visibility.sees(&insight.owner, insight.case_id.as_deref()) {
                    known.insert(insight.id.clone(), insight);
                }
            }
        }
        Ok(known)
    }
}

/// Whether the text can be an id; other texts are not queried.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// `field` is the argument that named them.
pub(crate) fn not_found(missing: &[&String], field: &str) -> Fault {
    let shorten = |id: &&&String| id.chars().take(64).collect::<String>();
    let named: Vec<String> = missing.iter().take(NAMED_MAX).map(|id| shorten(&id)).collect();
    let more = missing.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("there is no insight {}{more} that you may see", named.join(", "));
    let fault = Fault::not_found("insight_not_found", message);
    named.into_iter().fold(fault, |fault, id| fault.problem(field, format!("another id than {id}")))
}
