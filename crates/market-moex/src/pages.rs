//! Fetches all pages of a table; an incomplete table is a fault, never a result.

use fault::Fault;

use crate::client::{Client, IssRequest};
use crate::tables::{Row, Tables};

/// The most pages of one table; the exchange's have fewer.
const PAGES_MAX: usize = 30;
/// Page sizes are multiples of 50, so another number of rows ends a table without a cursor.
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

/// The result of one pass over all pages.
struct Walk {
    pages: Vec<Tables>,
    /// Distinct rows received.
    rows: usize,
    /// The number of rows by the cursor.
    total: Option<u64>,
}

impl Client {
    /// Fetches all pages of a block. When the number of rows differs from the cursor's total, all
    /// pages are fetched once more.
    pub(crate) async fn pages(
        &self,
        request: &IssRequest,
        block: &'static str,
        columns: &[&str],
    ) -> Result<Pages, Fault> {
        let mut rows = 0;
        for _ in 0..2 {
            let walk = self.walk(request, block, columns).await?;
            if walk.total.is_none_or(|total| total == walk.rows as u64) {
                return Ok(Pages { block, pages: walk.pages });
            }
            rows = walk.rows;
        }
        let message = format!("the exchange told only {rows} rows of its {}", request.endpoint);
        Err(Fault::unavailable("upstream_incomplete", message))
    }

    async fn walk(
        &self,
        request: &IssRequest,
        block: &'static str,
        columns: &[&str],
    ) -> Result<Walk, Fault> {
        let cursor = format!("{block}.cursor");
        let mut walk = Walk { pages: Vec::new(), rows: 0, total: None };
        let mut start = 0;
        while walk.pages.len() < PAGES_MAX {
            let answer = self.fetch(&request.clone().with("start", start)).await?;
            let page = answer.tables.need(block, columns)?;
            let mut repeated = 0;
            for before in &walk.pages {
                repeated += page.shared_with(before.need(block, &[])?);
            }
            let cursor_row = answer.tables.first(&cursor);
            walk.total = walk.total.or_else(|| cursor_row?.count("total"));
            let rows = page.len();
            // Without a cursor, a repeated page means that the exchange ignores `start`.
            if walk.total.is_none() && rows > 0 && repeated >= rows {
                break;
            }
            let size = cursor_row.and_then(|row| row.count("pagesize")).unwrap_or(0);
            start += rows.max(usize::try_from(size).unwrap_or(0));
            walk.rows += page.distinct().saturating_sub(repeated);
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
