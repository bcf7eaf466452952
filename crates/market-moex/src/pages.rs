//! Tables that come in pages, followed to the end; short of the end is a fault, never an answer.

use fault::Fault;

use crate::client::{Client, Question};
use crate::tables::{Row, Tables};

/// More pages than any table of the exchange's has.
const PAGES_MAX: usize = 30;
/// Page sizes are round, so a page that is not full ends a table without a cursor.
const ROUND: usize = 50;

/// All pages of one block.
#[derive(Debug)]
pub(crate) struct Pages {
    block: &'static str,
    pages: Vec<Tables>,
}

impl Pages {
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let tables = self.pages.iter().filter_map(|page| page.need(self.block, &[]).ok());
        tables.flat_map(|table| table.rows())
    }

    /// A block of the first page.
    pub(crate) fn first(&self, block: &str) -> Option<Row<'_>> {
        self.pages.first()?.first(block)
    }
}

/// What one walk over the pages gave.
struct Walk {
    pages: Vec<Tables>,
    /// Different rows seen, and how many there are by the cursor.
    rows: usize,
    total: Option<u64>,
}

impl Client {
    /// Asks for page after page of a block. Its cursor says how many rows there are, where it has
    /// one; where that many did not come, all of it is asked for once more.
    pub(crate) async fn pages(
        &self,
        question: &Question,
        block: &'static str,
        columns: &[&str],
    ) -> Result<Pages, Fault> {
        let mut rows = 0;
        for _ in 0..2 {
            let walk = self.walk(question, block, columns).await?;
            if walk.total.is_none_or(|total| total == walk.rows as u64) {
                return Ok(Pages { block, pages: walk.pages });
            }
            rows = walk.rows;
        }
        let message = format!("the exchange told only {rows} rows of its {}", question.kind);
        Err(Fault::unavailable("upstream_incomplete", message))
    }

    async fn walk(
        &self,
        question: &Question,
        block: &'static str,
        columns: &[&str],
    ) -> Result<Walk, Fault> {
        let cursor = format!("{block}.cursor");
        let mut walk = Walk { pages: Vec::new(), rows: 0, total: None };
        let mut start = 0;
        while walk.pages.len() < PAGES_MAX {
            let answer = self.ask(&question.clone().with("start", start)).await?;
            let page = answer.tables.need(block, columns)?;
            let mut seen = 0;
            for before in &walk.pages {
                seen += page.shared_with(before.need(block, &[])?);
            }
            let told = answer.tables.first(&cursor);
            walk.total = walk.total.or_else(|| told?.count("total"));
            let rows = page.len();
            // Without a cursor, a page that was there before says that the start is ignored.
            if walk.total.is_none() && rows > 0 && seen >= rows {
                break;
            }
            let size = told.and_then(|row| row.count("pagesize")).unwrap_or(0);
            start += rows.max(usize::try_from(size).unwrap_or(0));
            walk.rows += page.distinct().saturating_sub(seen);
            walk.pages.push(answer.tables);
            let more = match walk.total {
                Some(total) => (start as u64) < total,
                None => rows.is_multiple_of(ROUND),
            };
            if rows == 0 || !more {
                break;
            }
        }
        Ok(walk)
    }
}
