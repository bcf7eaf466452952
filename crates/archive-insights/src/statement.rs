//! A question as one statement, so that the page, the total and what is shown are of one moment.

use store::{Engine, Sql, SqlValue, sql_built};

use crate::index::IndexTerms;
use crate::insight::COLUMNS;
use crate::keywords::Term;
use crate::query::{InsightQuery, RESULTS_MAX, SortKey};
use crate::scope::{self, Scopes};

/// Scopes of one search in the index: every hit is graded against all words of its search, so
/// searches are small. More scopes are more searches in one statement, and at most so many.
const SCOPES_AT_ONCE: usize = 16;
const SEARCHES_MAX: usize = 64;

/// A word of the title tells more than one of the content, and keys say nothing of relevance.
/// Divided by what it would be if the words were all the insight said: a word is rarer in a small
/// case than in a large one, which would otherwise put all of the small one first.
const SQLITE_SCORE: &str = "bm25(insight_text, 3.0, 1.0, 0.0) / bm25(insight_text, 1e9, 1e9, 0.0)";

/// A statement in the making.
struct StatementBuilder {
    engine: Engine,
    values: Vec<SqlValue>,
}

impl StatementBuilder {
    fn bind(&mut self, value: impl Into<SqlValue>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }

    /// `column` is one of the numbers, of which there may be thousands.
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

    /// What is seen whole, and of the rest what is the asker's own.
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

    /// The filters that are no part of the index.
    fn filters(&mut self, ask: &InsightQuery) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(from) = ask.from {
            all.push(format!("i.created_at >= {}", self.bind(from.0)));
        }
        if let Some(to) = ask.to {
            all.push(format!("i.created_at <= {}", self.bind(to.0)));
        }
        if let Some(least) = ask.min_confidence {
            all.push(format!("i.confidence >= {}", self.bind(least)));
        }
        if let Some(model) = &ask.source_llm {
            all.push(format!("i.model = {}", self.bind(scope::model(model))));
        }
        if let Some(category) = &ask.category {
            all.push(format!("i.category = {}", self.bind(scope::category(Some(category)))));
        }
        all
    }
}

/// The statement for a question with words or tags; they are looked up in the index.
pub(crate) fn matching(
    engine: Engine,
    ask: &InsightQuery,
    terms: &[Term],
    scopes: &Scopes,
    owner: i64,
) -> Sql {
    let mut builder = StatementBuilder { engine, values: Vec::new() };
    let tags = ask.tags.iter().map(|it| scope::tag(it));
    let keys: Vec<i64> = tags.chain(ask.file_id.as_deref().map(scope::file)).collect();
    let wanted = IndexTerms { terms, keys: &keys };
    let mut conditions = builder.filters(ask);
    if !scopes.own_only.is_empty() {
        conditions.push(builder.visible(scopes, owner));
    }
    let sort = sort_of(ask, terms);
    let joined = !conditions.is_empty() || sort != SortKey::Relevance;
    conditions.insert(0, String::new());
    let conditions = conditions.join(" AND ");
    let all: Vec<i64> = scopes.visible.iter().chain(&scopes.own_only).copied().collect();
    let searches: Vec<String> = all
        .chunks(all.len().div_ceil(SEARCHES_MAX).max(SCOPES_AT_ONCE))
        .map(|some| search(&mut builder, &wanted, some, sort, joined) + &conditions)
        .collect();
    let hits = format!("WITH hit AS MATERIALIZED ({})", searches.join(" UNION ALL "));
    finish(builder, ask, &hits, "hit", "SELECT seq, grade FROM hit")
}

/// What the index has for these scopes, with the grade it is sorted by.
fn search(
    builder: &mut StatementBuilder,
    wanted: &IndexTerms<'_>,
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
            let grade = by_row.unwrap_or(SQLITE_SCORE);
            // Crossed, because the index must lead: it finds few, and rows are looked up by number.
            let join =
                if joined { " CROSS JOIN insight i ON i.seq = insight_text.rowid" } else { "" };
            let wanted = builder.bind(wanted.fts5(scopes));
            format!(
                "SELECT insight_text.rowid AS seq, {grade} AS grade FROM insight_text{join} \
                 WHERE insight_text MATCH {wanted}"
            )
        }
        Engine::Postgres => {
            // A selection, because the cast would be done for every row otherwise.
            let wanted = builder.bind(wanted.tsquery(scopes));
            let wanted = format!("(SELECT CAST({wanted} AS tsquery))");
            let score = format!("CAST(ts_rank(w.words, {wanted}, 1) AS DOUBLE PRECISION)");
            let grade = by_row.map_or(score, str::to_owned);
            let join = if joined { " JOIN insight i ON i.seq = w.seq" } else { "" };
            format!(
                "SELECT w.seq, {grade} AS grade FROM insight_text w{join} WHERE w.words @@ {wanted}"
            )
        }
    }
}

/// The statement for a question without words: the rows alone answer it.
pub(crate) fn listing(engine: Engine, ask: &InsightQuery, scopes: &Scopes, owner: i64) -> Sql {
    let mut builder = StatementBuilder { engine, values: Vec::new() };
    let mut conditions = vec![builder.visible(scopes, owner)];
    if let Some(file) = &ask.file_id {
        conditions.push(format!("i.file = {}", builder.bind(scope::file(file))));
    }
    conditions.extend(builder.filters(ask));
    let grade = match sort_of(ask, &[]) {
        SortKey::Confidence => "i.confidence",
        SortKey::CreatedAt | SortKey::Relevance => "i.created_at",
    };
    let rows = format!("insight i WHERE {}", conditions.join(" AND "));
    finish(builder, ask, "", &rows, &format!("SELECT i.seq, {grade} AS grade FROM {rows}"))
}

/// Relevance is to keywords; without them the newest are the most relevant.
fn sort_of(ask: &InsightQuery, terms: &[Term]) -> SortKey {
    if ask.sort == SortKey::Relevance && terms.is_empty() { SortKey::CreatedAt } else { ask.sort }
}

/// The total stands beside every row of the page, and alone where the page is empty.
fn finish(
    mut builder: StatementBuilder,
    ask: &InsightQuery,
    with: &str,
    rows: &str,
    graded: &str,
) -> Sql {
    let way = if ask.descending { "DESC" } else { "ASC" };
    let limit = builder.bind(ask.limit.min(RESULTS_MAX));
    let offset = builder.bind(i64::try_from(ask.offset).unwrap_or(i64::MAX));
    let text = format!(
        "{with}
         SELECT t.total, p.seq, {COLUMNS}
         FROM (SELECT COUNT(*) AS total FROM {rows}) t
         LEFT JOIN ({graded} ORDER BY grade {way}, seq {way} LIMIT {limit} OFFSET {offset}) p
             ON TRUE
         LEFT JOIN insight_body b ON b.seq = p.seq
         ORDER BY p.grade {way}, p.seq {way}"
    );
    sql_built(text).bind_all(builder.values)
}
