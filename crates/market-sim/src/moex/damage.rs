//! Applies injected faults to the blocks of a response: rows and columns are lost, moved or added.

use super::blocks::{Block, Cell, Type};
use crate::faults::FaultKind;

/// The text that ISS has in a block that it could not fill.
pub(crate) const ERROR_ROW: &str = "Error while acquiring data.";

/// A block that holds nothing but an error.
pub(crate) fn error_block(name: &'static str) -> Block {
    Block::new(name, &[("error", Type::Text(765))], vec![vec![ERROR_ROW.into()]])
}

/// Applies a fault to a response. Faults that do not concern blocks leave it unchanged.
pub(crate) fn apply(kind: FaultKind, blocks: &mut Vec<Block>) {
    match kind {
        FaultKind::MissingRows => {
            for block in blocks.iter_mut().filter(|block| is_data(block)) {
                let (from, count) = (block.rows.len() / 3, block.rows.len().div_ceil(10));
                block.rows.drain(from..(from + count).min(block.rows.len()));
            }
        }
        FaultKind::DuplicateRows => {
            for block in blocks.iter_mut().filter(|block| is_data(block)) {
                let rows = std::mem::take(&mut block.rows).into_iter().enumerate();
                let repeat = |(at, row)| std::iter::repeat_n(row, if at % 3 == 0 { 2 } else { 1 });
                block.rows = rows.flat_map(repeat).collect();
            }
        }
        FaultKind::ShuffledRows => {
            blocks.iter_mut().filter(|block| is_data(block)).for_each(|block| block.rows.reverse());
        }
        FaultKind::MalformedRows => blocks.iter_mut().for_each(malform),
        FaultKind::EmptyBlocks => blocks.iter_mut().for_each(|block| block.rows.clear()),
        FaultKind::EmptyMarketdata => {
            let marketdata = blocks.iter_mut().filter(|block| block.name == "marketdata");
            marketdata.for_each(|block| block.rows.clear());
        }
        FaultKind::ReorderedColumns => blocks.iter_mut().for_each(|block| {
            block.columns.reverse();
            block.rows.iter_mut().for_each(|row| row.reverse());
        }),
        FaultKind::AddedColumns => blocks.iter_mut().for_each(|block| {
            block.columns.insert(0, ("NEW_COLUMN", Type::Text(12)));
            block.rows.iter_mut().for_each(|row| row.insert(0, Cell::Null));
        }),
        FaultKind::DroppedColumns => blocks.iter_mut().for_each(drop_columns),
        FaultKind::ErrorRows => {
            *blocks = blocks.iter().map(|block| error_block(block.name)).collect();
        }
        _ => {}
    }
}

/// Whether the block is a cursor or a version, which faults leave unchanged.
fn is_data(block: &Block) -> bool {
    !block.name.contains('.') && block.name != "dataversion"
}

/// Replaces the numbers of the middle row by text.
fn malform(block: &mut Block) {
    let middle = block.rows.len() / 2;
    if let Some(row) = block.rows.get_mut(middle) {
        for cell in row.iter_mut() {
            if matches!(cell, Cell::Micros(_) | Cell::Float(_)) {
                *cell = Cell::text("N/A");
            }
        }
    }
}

/// Removes every third column, except those with names and codes.
fn drop_columns(block: &mut Block) {
    let is_kept = |name: &str, at: usize| {
        at % 3 != 2
            || name.to_ascii_lowercase().contains("id")
            || matches!(name, "begin" | "TRADEDATE")
    };
    let columns_kept: Vec<bool> =
        block.columns.iter().enumerate().map(|(at, (name, _))| is_kept(name, at)).collect();
    let mut at = columns_kept.iter();
    block.columns.retain(|_| at.next().copied().unwrap_or(true));
    for row in &mut block.rows {
        let mut at = columns_kept.iter();
        row.retain(|_| at.next().copied().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged(kind: FaultKind) -> Vec<Block> {
        let columns = [
            ("SECID", Type::Text(36)),
            ("OPEN", Type::Double),
            ("LAST", Type::Double),
            ("TIME", Type::Time),
        ];
        let row = |at: i64| vec!["A".into(), Cell::price(at), Cell::price(at), "t".into()];
        let rows: Vec<_> = (0..9).map(row).collect();
        let mut blocks = vec![
            Block::new("marketdata", &columns, rows.clone()),
            Block::new("history.cursor", &columns, rows),
        ];
        apply(kind, &mut blocks);
        blocks
    }

    #[track_caller]
    fn check(kind: FaultKind, columns: &[&str], rows: [usize; 2]) {
        let blocks = damaged(kind);
        let names: Vec<&str> = blocks[0].columns.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, columns, "{kind:?}");
        assert_eq!([blocks[0].rows.len(), blocks[1].rows.len()], rows, "{kind:?}");
        for block in &blocks {
            assert!(block.rows.iter().all(|row| row.len() == block.columns.len()), "{kind:?}");
        }
    }

    #[test]
    fn each_injected_fault_has_its_documented_effect() {
        let all = ["SECID", "OPEN", "LAST", "TIME"];
        check(FaultKind::MissingRows, &all, [8, 9]);
        check(FaultKind::DuplicateRows, &all, [12, 9]);
        check(FaultKind::ShuffledRows, &all, [9, 9]);
        check(FaultKind::MalformedRows, &all, [9, 9]);
        check(FaultKind::EmptyBlocks, &all, [0, 0]);
        check(FaultKind::EmptyMarketdata, &all, [0, 9]);
        check(FaultKind::ReorderedColumns, &["TIME", "LAST", "OPEN", "SECID"], [9, 9]);
        check(FaultKind::AddedColumns, &["NEW_COLUMN", "SECID", "OPEN", "LAST", "TIME"], [9, 9]);
        check(FaultKind::DroppedColumns, &["SECID", "OPEN", "TIME"], [9, 9]);
        check(FaultKind::ErrorRows, &["error"], [1, 1]);
        check(FaultKind::Stall, &all, [9, 9]);
        let shuffled = damaged(FaultKind::ShuffledRows);
        assert_eq!(shuffled[0].rows[0][1], Cell::price(8));
        assert_eq!(shuffled[1].rows[0][1], Cell::price(0));
        assert_eq!(damaged(FaultKind::MalformedRows)[0].rows[4][1], Cell::text("N/A"));
    }
}
