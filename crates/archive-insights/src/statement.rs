//! Builds one SQL statement per query, so that page and total come from one moment.

use store::{Engine, Sql, SqlValue, sql_built};

use crate::index::IndexTerms;
use crate::insight::COLUMNS;
use crate::keywords::Term;
use crate::query::{InsightQuery, RESULTS_MAX, SortKey};
use crate::scope::{self, Scopes};

/// Scopes per index search: every hit is ranked against all terms of its search, so searches are
/// kept small. More scopes become more searches of one statement, at most 64.
const SCOPES_AT_ONCE: usize = 16;
const SEARCHES_MAX: usize = 64;

/// Title words weigh three times content words; keys do not count. Divided by the score of a perfect
/// match: a word is rarer in a small case than in a large one, and without the division all insights
/// of the small case would come first.
const SQLITE_SCORE: &str = "bm25(insight_text, 3.0, 1.0, 0.0) / bm25(insight_text, 1e9, 1e9, 0.0)";

/// The parameters of a statement under construction.
struct StatementBuilder {
    engine: Engine,
    values: Vec<SqlValue>,
}

impl StatementBuilder {
    fn bind(&mut self, value: impl Into<SqlValue>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// `column` is one of the numbers; there may be thousands.
    fn one_of(&mut self, column: &str, numbers: &[i64]) -> String {
        if let [number] = numbers {
            return format!("{column} = {}", self.bind(*number));
        }
        let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
        match self.engine {
            Engine::Sqlite => {
                let list = self.bind(format!("[{}]", texts.join(",")));
                format!("{column} IN (SELECT value FROM json_each({list}))")
            }
            Engine::Postgres => {
                let list = self.bind(format!("{{{}}}", texts.join(",")));
                // A selection, because the cast would be done for every row otherwise.
                format!("{column} IN (SELECT unnest(CAST({list} AS BIGINT[])))")
            }
        }
    }

    /// The visible scopes, and the own insights of the other ones.
    fn visible(&mut self, scopes: &Scopes, owner: i64) -> String {
        let mut ways = Vec::new();
        if !scopes.visible.is_empty() {
            ways.push(self.one_of("i.scope", &scopes.visible));
        }
        if !scopes.own_only.is_empty() {
            let owner = self.bind(owner);
            ways.push(format!(
                "(i.owner = {owner} AND {})",
                self.one_of("i.scope", &scopes.own_only)
            ));
        }
        format!("({})", ways.join(" OR "))
    }

    /// The filters outside the text index.
    fn filters(&mut self, query: &InsightQuery) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(from) = query.from {
            all.push(format!("i.created_at >= {}", self.bind(from.0)));
        }
        if let Some(to) = query.to {
            all.push(format!("i.created_at <= {}", self.bind(to.0)));
        }
        if let Some(least) = query.min_confidence {
            all.push(format!("i.confidence >= {}", self.bind(least)));
        }
        if let Some(model) = &query.source_llm {
            all.push(format!("i.model = {}", self.bind(scope::model(model))));
        }
        if let Some(category) = &query.category {
            all.push(format!("i.category = {}", self.bind(scope::category(Some(category)))));
        }
        all
    }
}

/// The statement for a query with keywords or tags, which uses the text index.
pub(crate) fn matching(
    engine: Engine,
    query: &InsightQuery,
    terms: &[Term],
    scopes: &Scopes,
    owner: i64,
) -> Sql {
    let mut builder = StatementBuilder { engine, values: Vec::new() };
    let tags = query.tags.iter().map(|it| scope::tag(it));
    let keys: Vec<i64> = tags.chain(query.file_id.as_deref().map(scope::file)).collect();
    let terms_query = IndexTerms { terms, keys: &keys };
    let mut conditions = builder.filters(query);
    if !scopes.own_only.is_empty() {
        conditions.push(builder.visible(scopes, owner));
    }
    let sort = sort_of(query, terms);
    let joined = !conditions.is_empty() || sort != SortKey::Relevance;
    conditions.insert(0, String::new());
    let conditions = conditions.join(" AND ");
    let all: Vec<i64> = scopes.visible.iter().chain(&scopes.own_only).copied().collect();
    let searches: Vec<String> = all
        .chunks(all.len().div_ceil(SEARCHES_MAX).max(SCOPES_AT_ONCE))
        .map(|some| search(&mut builder, &terms_query, some, sort, joined) + &conditions)
        .collect();
    let hits = format!("WITH hit AS MATERIALIZED ({})", searches.join(" UNION ALL "));
    finish(builder, query, &hits, "hit", "SELECT seq, sort_value FROM hit")
}

/// The hits of these scopes with their sort key.
fn search(
    builder: &mut StatementBuilder,
    terms_query: &IndexTerms<'_>,
    scopes: &[i64],
    sort: SortKey,
    joined: bool,
) -> String {
    let by_row = match sort {
        SortKey::CreatedAt => Some("i.created_at"),
        SortKey::Confidence => Some("i.confidence"),
        SortKey::Relevance => None,
    };
    match builder.engine {
        Engine::Sqlite => {
            let sort_value = by_row.unwrap_or(SQLITE_SCORE);
            // CROSS JOIN forces SQLite to start with the text index, which finds few rows.
            let join =
                if joined { " CROSS JOIN insight i ON i.seq = insight_text.rowid" } else { "" };
            let terms_query = builder.bind(terms_query.fts5(scopes));
            format!(
                "SELECT insight_text.rowid AS seq, {sort_value} AS sort_value FROM insight_text{join} \
                 WHERE insight_text MATCH {terms_query}"
            )
        }
        Engine::Postgres => {
            // A selection, because the cast would be done for every row otherwise.
            let terms_query = builder.bind(terms_query.tsquery(scopes));
            let terms_query = format!("(SELECT CAST({terms_query} AS tsquery))");
            let score = format!("CAST(ts_rank(w.words, {terms_query}, 1) AS DOUBLE PRECISION)");
            let sort_value = by_row.map_or(score, str::to_owned);
            let join = if joined { " JOIN insight i ON i.seq = w.seq" } else { "" };
            format!(
                "SELECT w.seq, {sort_value} AS sort_value FROM insight_text w{join} WHERE w.words @@ {terms_query}"
            )
        }
    }
}

/// The statement for a query without keywords and tags, which uses no text index.
pub(crate) fn listing(engine: Engine, query: &InsightQuery, scopes: &Scopes, owner: i64) -> Sql {
    let mut builder = StatementBuilder { engine, values: Vec::new() };
    let mut conditions = vec![builder.visible(scopes, owner)];
    if let Some(file) = &query.file_id {
        conditions.push(format!("i.file = {}", builder.bind(scope::file(file))));
    }
    conditions.extend(builder.filters(query));
    let sort_value = match sort_of(query, &[]) {
        SortKey::Confidence => "i.confidence",
        SortKey::CreatedAt | SortKey::Relevance => "i.created_at",
    };
    let rows = format!("insight i WHERE {}", conditions.join(" AND "));
    finish(
        builder,
        query,
        "",
        &rows,
        &format!("SELECT i.seq, {sort_value} AS sort_value FROM {rows}"),
    )
}

/// Without keywords, sorting by relevance becomes sorting by creation.
fn sort_of(query: &InsightQuery, terms: &[Term]) -> SortKey {
    if query.sort == SortKey::Relevance && terms.is_empty() {
        SortKey::CreatedAt
    } else {
        query.sort
    }
}

/// The total is in every row of the page, or in a row of its own if the page is empty.
fn finish(
    mut builder: StatementBuilder,
    query: &InsightQuery,
    with: &str,
    rows: &str,
    with_sort_value: &str,
) -> Sql {
    let way = if query.descending { "DESC" } else { "ASC" };
    let limit = builder.bind(query.limit.min(RESULTS_MAX));
    let offset = builder.bind(i64::try_from(query.offset).unwrap_or(i64::MAX));
    let text = format!(
        "{with}
         SELECT t.total, p.seq, {COLUMNS}
         FROM (SELECT COUNT(*) AS total FROM {rows}) t
         LEFT JOIN ({with_sort_value} ORDER BY sort_value {way}, seq {way} LIMIT {limit} OFFSET {offset}) p
             ON TRUE
         LEFT JOIN insight_body b ON b.seq = p.seq
         ORDER BY p.sort_value {way}, p.seq {way}"
    );
    sql_built(text).bind_all(builder.values)
}
