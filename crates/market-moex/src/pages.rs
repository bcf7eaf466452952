//! Tables that come in pages, followed to the end; short of the end is a fault, never an answer.

use fault::Fault;

use crate::client::{Client, Question};
use crate::tables::{Row, Tables};

/// More pages than any table of the exchange's has.
const PAGES_MAX: usize = 200;
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

impl Client {
    /// Asks for page after page of a block. Its cursor says how many rows there are, where it has
    /// one.
    pub(crate) async fn pages(
        &self,
        question: &Question,
        block: &'static str,
        columns: &[&str],
    ) -> Result<Pages, Fault> {
        let cursor = format!("{block}.cursor");
        let mut pages: Vec<Tables> = Vec::new();
        let mut start = 0;
        let incomplete = |rows: usize| {
            let message = format!("the exchange told only {rows} rows of its {}", question.kind);
            Fault::unavailable("upstream_incomplete", message)
        };
        while pages.len() < PAGES_MAX {
            let answer = self.ask(&question.clone().with("start", start)).await?;
            let page = answer.tables.need(block, columns)?;
            let total = answer.tables.first(&cursor).and_then(|row| row.count("total"));
            let left = total.map(|total| total > (start + page.len()) as u64);
            let before = pages.last().map(|before| before.need(block, &[])).transpose()?;
            let repeated = before.is_some_and(|before| page.repeats(before));
            if repeated && left.is_none() {
                // The start is ignored: it was all there at once.
                return Ok(Pages { block, pages });
            }
            if repeated || (page.is_empty() && left == Some(true)) {
                return Err(incomplete(start));
            }
            start += page.len();
            let more = left.unwrap_or(!page.is_empty() && page.len().is_multiple_of(ROUND));
            pages.push(answer.tables);
            if !more {
                return Ok(Pages { block, pages });
            }
        }
        Err(incomplete(start))
    }
}
