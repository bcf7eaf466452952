//! Answering a question.

use archive_accounts::Visibility;
use fault::Fault;

use crate::Insights;
use crate::insight::Insight;
use crate::keywords::{self, Term};
use crate::query::{InsightQuery, SearchResults};
use crate::scope;
use crate::snippet::snippet;
use crate::statement;

/// A text of this many bytes is worth letting others run before it is read for its snippet.
const LONG_BYTES: usize = 16_384;

impl Insights {
    /// What this asker may see and all filters let through: a page, and how many there are. Both
    /// come from one statement and so from one moment.
    pub async fn query(
        &self,
        visibility: &Visibility,
        ask: &InsightQuery,
    ) -> Result<SearchResults, Fault> {
        let keywords = ask.keywords.as_deref().filter(|_| ask.has_keywords());
        let terms = match keywords {
            Some(keywords) => keywords::parse(keywords)?,
            None => Vec::new(),
        };
        // Only punctuation was asked for, and no insight is found by that.
        if keywords.is_some() && terms.is_empty() {
            return Ok(SearchResults::default());
        }
        let scopes = self.scopes(visibility, ask.case_id.as_deref()).await?;
        let (engine, owner) = (self.0.db.engine(), scope::owner(&visibility.owner));
        let statement = if terms.is_empty() && ask.tags.is_empty() {
            statement::listing(engine, ask, &scopes, owner)
        } else {
            statement::matching(engine, ask, &terms, &scopes, owner)
        };
        let mut found = SearchResults::default();
        for row in self.0.db.fetch_all(statement).await? {
            found.total = row.count(0)?;
            if row.int_or_null(1)?.is_some() {
                let insight = Insight::read(&row, 2)?;
                let shown = shown(&insight, &terms).await;
                found.insights.push((insight, shown));
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
        let ask = InsightQuery { file_id, descending: false, limit, ..InsightQuery::default() };
        let found = self.query(visibility, &ask).await?;
        Ok((found.insights.into_iter().map(|(insight, _)| insight).collect(), found.total))
    }

    pub async fn count_by_file(
        &self,
        visibility: &Visibility,
        file_id: &str,
    ) -> Result<u64, Fault> {
        Ok(self.list_by_file(visibility, file_id, 0).await?.1)
    }
}

async fn shown(insight: &Insight, terms: &[Term]) -> Option<String> {
    if terms.is_empty() {
        return None;
    }
    if insight.content.len() > LONG_BYTES {
        tokio::task::yield_now().await;
    }
    snippet(&insight.content, terms).or_else(|| snippet(&insight.title, terms))
}
