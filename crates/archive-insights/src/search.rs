//! Runs a query and cuts a snippet for each result.

use std::collections::HashMap;

use archive_accounts::Visibility;
use fault::Fault;
use store::{placeholders, sql_built};

use crate::Insights;
use crate::insight::Insight;
use crate::keywords::{self, Term};
use crate::query::{InsightQuery, SearchResults};
use crate::scope;
use crate::snippet::snippet;
use crate::statement;

/// Yields to other tasks before it cuts the snippet of a text longer than this.
const LONG_BYTES: usize = 16_384;

impl Insights {
    /// One page of the insights that the caller may see and that pass all filters, and their total.
    /// Both come from one statement and so from one moment.
    pub async fn query(
        &self,
        visibility: &Visibility,
        query: &InsightQuery,
    ) -> Result<SearchResults, Fault> {
        let keywords = query.keywords.as_deref().filter(|_| query.has_keywords());
        let terms = match keywords {
            Some(keywords) => keywords::parse(keywords)?,
            None => Vec::new(),
        };
        // The keywords are only punctuation, which matches nothing.
        if keywords.is_some() && terms.is_empty() {
            return Ok(SearchResults::default());
        }
        let scopes = self.scopes(visibility, query.case_id.as_deref()).await?;
        let scopes = if query.rejected { scopes.rejected() } else { scopes };
        let (engine, owner) = (self.0.db.engine(), scope::owner(&visibility.owner));
        let statement = if terms.is_empty() && query.tags.is_empty() {
            statement::listing(engine, query, &scopes, owner)
        } else {
            statement::matching(engine, query, &terms, &scopes, owner)
        };
        let mut found = SearchResults::default();
        for row in self.0.db.fetch_all(statement).await? {
            found.total = row.count(0)?;
            if row.int_or_null(1)?.is_some() {
                let insight = Insight::read(&row, 2)?;
                // Scopes are hashes; this compares the real owner and case.
                if !visibility.sees(&insight.owner, insight.case_id.as_deref()) {
                    tracing::error!(insight = insight.id, "left out an insight of another scope");
                    continue;
                }
                let snippet = best_snippet(&insight, &terms).await;
                found.insights.push((insight, snippet));
            }
        }
        Ok(found)
    }

    /// The insights of a file, oldest first, and how many there are.
    pub async fn list_by_file(
        &self,
        visibility: &Visibility,
        file_id: &str,
        limit: u32,
    ) -> Result<(Vec<Insight>, u64), Fault> {
        let file_id = Some(file_id.to_owned());
        let query = InsightQuery { file_id, descending: false, limit, ..InsightQuery::default() };
        let found = self.query(visibility, &query).await?;
        Ok((found.insights.into_iter().map(|(insight, _)| insight).collect(), found.total))
    }

    /// How many insights each of these cases has, by the case's id. A case without insights, or one
    /// that the caller may not see, is left out.
    pub async fn count_by_case(
        &self,
        visibility: &Visibility,
        case_ids: &[&str],
    ) -> Result<HashMap<String, u64>, Fault> {
        let visible = case_ids.iter().filter(|id| visibility.case(id).is_some());
        let scopes: HashMap<i64, &str> =
            visible.map(|id| (scope::scope_of("", Some(id)), *id)).collect();
        if scopes.is_empty() {
            return Ok(HashMap::new());
        }
        let list = placeholders(1, scopes.len());
        let count =
            format!("SELECT scope, COUNT(*) FROM insight WHERE scope IN ({list}) GROUP BY scope");
        let rows = self.0.db.fetch_all(sql_built(count).bind_all(scopes.keys().copied())).await?;
        let mut counts = HashMap::new();
        for row in rows {
            if let Some(id) = scopes.get(&row.int(0)?) {
                counts.insert((*id).to_owned(), row.count(1)?);
            }
        }
        Ok(counts)
    }

    pub async fn count_by_file(
        &self,
        visibility: &Visibility,
        file_id: &str,
    ) -> Result<u64, Fault> {
        Ok(self.list_by_file(visibility, file_id, 0).await?.1)
    }
}

async fn best_snippet(insight: &Insight, terms: &[Term]) -> Option<String> {
    if terms.is_empty() {
        return None;
    }
    if insight.content.len() > LONG_BYTES {
        tokio::task::yield_now().await;
    }
    snippet(&insight.content, terms).or_else(|| snippet(&insight.title, terms))
}
