//! Search by name, code or ISIN: on the cached main board, which has names in both languages, and
//! with the exchange's own search over everything it ever listed.

use std::sync::Arc;

use fault::Fault;
use market::{Delay, Security, SecurityMatch, WithFreshness};

use crate::Inner;
use crate::client::IssRequest;
use crate::snapshot::with_freshness;
use crate::stale_cache::CacheAges;
use crate::tables::Row;

const QUERY_MAX: usize = 100;
const LIMIT_MAX: usize = 100;
/// The exchange's search ignores shorter words.
const WORD_MIN: usize = 3;

/// The matches, and why the exchange's own search failed, if it did.
pub(crate) type SearchResults = Arc<(Vec<SecurityMatch>, Option<String>)>;

impl Inner {
    pub(crate) async fn search(
        self: &Arc<Self>,
        text: &str,
        limit: usize,
    ) -> Result<WithFreshness<Vec<SecurityMatch>>, Fault> {
        let query = text.trim().to_lowercase();
        if query.is_empty() || query.chars().count() > QUERY_MAX {
            let message = "a search needs something to look for";
            let problem = format!("1 to {QUERY_MAX} characters");
            return Err(Fault::invalid("invalid_query", message).problem("query", problem));
        }
        let (inner, asked) = (Arc::clone(self), query.clone());
        let work = async move { inner.find(&asked).await.map(Arc::new) };
        let (fresh, stale) = (self.config.search_age, self.config.reference_age_stale);
        let cached = self.caches.searches.get(query, CacheAges { fresh, stale }, work).await?;
        let found = cached.value.0.iter().take(limit.clamp(1, LIMIT_MAX)).cloned().collect();
        let mut freshness = self.freshness(cached.received_at, cached.received_at, Delay::EndOfDay);
        freshness.fallback = cached.value.1.clone();
        Ok(with_freshness(cached, found, freshness))
    }

    async fn find(
        self: &Arc<Self>,
        query: &str,
    ) -> Result<(Vec<SecurityMatch>, Option<String>), Fault> {
        let names = self.names().await;
        let mut found: Vec<SecurityMatch> = match &names {
            Ok(cached) => cached.value.securities.iter().map(|it| match_of(it)).collect(),
            Err(_) => Vec::new(),
        };
        found.retain(|it| rank(it, query).is_some());
        let elsewhere = if query.chars().count() < WORD_MIN {
            Ok(Vec::new())
        } else {
            self.find_in_exchange(query).await
        };
        let search_error = match (elsewhere, names) {
            (Ok(elsewhere), _) => {
                elsewhere.into_iter().for_each(|it| merge(&mut found, it));
                None
            }
            (Err(fault), Ok(_)) => Some(format!("only the main board was searched: {fault}")),
            (Err(fault), Err(_)) => return Err(fault),
        };
        // The sort is stable: matches of the same rank keep the exchange's order.
        found.sort_by_key(|it| (rank(it, query).unwrap_or(u8::MAX), !it.traded));
        Ok((found, search_error))
    }

    async fn find_in_exchange(self: &Arc<Self>, query: &str) -> Result<Vec<SecurityMatch>, Fault> {
        let request = IssRequest::new("search", "securities", "securities")
            .with("q", query)
            .with("limit", LIMIT_MAX);
        let answer = self.client.fetch(&request).await?;
        let rows = answer.tables.need("securities", &["secid"])?;
        Ok(rows.rows().filter_map(read_match).take(LIMIT_MAX).collect())
    }
}

fn match_of(security: &Security) -> SecurityMatch {
    SecurityMatch {
        code: security.code.clone(),
        short_name: Some(security.short_name.clone()),
        name: security.name.clone(),
        latin_name: security.latin_name.clone(),
        isin: security.isin.clone(),
        issuer: None,
        kind: None,
        board: Some(security.board.clone()),
        traded: !security.suspended,
    }
}

fn read_match(row: Row<'_>) -> Option<SecurityMatch> {
    Some(SecurityMatch {
        code: row.owned("secid")?,
        short_name: row.owned("shortname"),
        name: row.owned("name"),
        latin_name: row.owned("latname"),
        isin: row.owned("isin"),
        issuer: row.owned("emitent_title"),
        kind: row.owned("type"),
        board: row.owned("primary_boardid"),
        traded: row.integer("is_traded") == Some(1),
    })
}

/// Inserts a new security; merges missing fields into a known one.
fn merge(found: &mut Vec<SecurityMatch>, more: SecurityMatch) {
    match found.iter_mut().find(|it| it.code == more.code) {
        None => found.push(more),
        Some(it) => {
            it.issuer = it.issuer.take().or(more.issuer);
            it.kind = it.kind.take().or(more.kind);
            it.isin = it.isin.take().or(more.isin);
        }
    }
}

/// The rank of a match, 0 is best; `None` for no match. `query` is in lower case.
fn rank(found: &SecurityMatch, query: &str) -> Option<u8> {
    let lower = |text: &Option<String>| text.as_deref().unwrap_or_default().to_lowercase();
    let code = found.code.to_lowercase();
    if code == query || lower(&found.isin) == query {
        return Some(0);
    }
    let names = [lower(&found.short_name), lower(&found.latin_name), lower(&found.name)];
    if names.iter().any(|name| name == query) {
        return Some(1);
    }
    if code.starts_with(query) {
        return Some(2);
    }
    let begins = |name: &String| {
        name.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(query))
            || name.starts_with(query)
    };
    if names.iter().any(begins) {
        return Some(3);
    }
    let within = |text: &String| query.chars().count() >= WORD_MIN && text.contains(query);
    if names.iter().any(within) || within(&lower(&found.issuer)) {
        return Some(4);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str, short: &str, latin: &str, isin: &str) -> SecurityMatch {
        let some = |text: &str| Some(text.to_owned());
        SecurityMatch {
            code: code.to_owned(),
            short_name: some(short),
            name: None,
            latin_name: some(latin),
            isin: some(isin),
            issuer: None,
            kind: None,
            board: None,
            traded: true,
        }
    }

    #[test]
    fn exact_matches_rank_before_prefixes_and_substrings() {
        let sber = found("SBER", "Сбербанк", "Sberbank", "RU0009029540");
        for (query, fits) in [
            ("sber", Some(0)),
            ("ru0009029540", Some(0)),
            ("сбербанк", Some(1)),
            ("sberbank", Some(1)),
            ("sbe", Some(2)),
            ("сбер", Some(3)),
            ("банк", Some(4)),
            ("б", None),
            ("газпром", None),
        ] {
            assert_eq!(rank(&sber, query), fits, "{query}");
        }
        let polus = found("PLZL", "Полюс", "PJSC Polyus", "RU000A0JNAA8");
        assert_eq!(rank(&polus, "polyus"), Some(3));
    }

    #[test]
    fn a_security_found_twice_is_merged() {
        let mut all = vec![found("SBER", "Сбербанк", "Sberbank", "X")];
        let mut more = found("SBER", "other", "other", "Y");
        more.kind = Some("common_share".to_owned());
        merge(&mut all, more);
        merge(&mut all, found("SBERP", "Сбербанк-п", "Sberbank (pref)", "Z"));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].kind.as_deref(), Some("common_share"));
        assert_eq!(all[0].isin.as_deref(), Some("X"));
    }
}
