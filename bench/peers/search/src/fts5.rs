//! SQLite FTS5 as its manual shows it: contentless, Porter's stemmer, the case as one more word,
//! a statement for the page and one for the total.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::{Insight, Outcome, Question};

const PAGE: &str = "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 20";
const TOTAL: &str = "SELECT COUNT(*) FROM words WHERE words MATCH ?1";

pub struct Fts5(Connection);

impl Fts5 {
    pub fn make(file: &Path, insights: &[Insight<'_>]) -> Outcome<Fts5> {
        let mut db = Connection::open(file)?;
        db.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             PRAGMA cache_size = -16384;
             CREATE TABLE insight (id INTEGER PRIMARY KEY, matter TEXT, title TEXT, content TEXT);
             CREATE VIRTUAL TABLE words USING fts5(
                 title, content, matter,
                 content='', contentless_delete=1, tokenize='porter unicode61'
             );",
        )?;
        let tx = db.transaction()?;
        {
            let mut row = tx.prepare("INSERT INTO insight VALUES (?1, ?2, ?3, ?4)")?;
            let entry = "INSERT INTO words (rowid, title, content, matter) VALUES (?1, ?2, ?3, ?4)";
            let mut entry = tx.prepare(entry)?;
            for (id, it) in (1_i64..).zip(insights) {
                row.execute(params![id, it.case, it.title, it.content])?;
                entry.execute(params![id, it.title, it.content, it.case])?;
            }
        }
        tx.commit()?;
        db.execute_batch(
            "INSERT INTO words (words) VALUES ('optimize'); PRAGMA wal_checkpoint(TRUNCATE);",
        )?;
        Ok(Fts5(db))
    }

    pub fn ask(&mut self, question: &Question) -> Outcome<u64> {
        let [one, other] = &question.words;
        let wanted = format!("\"{one}\" AND \"{other}\" AND matter:\"{}\"", question.case);
        let mut page = self.0.prepare_cached(PAGE)?;
        let page: Result<Vec<i64>, _> = page.query_map([&wanted], |row| row.get(0))?.collect();
        let mut total = self.0.prepare_cached(TOTAL)?;
        let total: i64 = total.query_row([&wanted], |row| row.get(0))?;
        if page?.is_empty() != (total == 0) {
            return Err("the page and the total disagree".into());
        }
        Ok(total.cast_unsigned())
    }
}
