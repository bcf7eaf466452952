//! The entry point of the fuzz target: the parser of the tables that the exchange sends.

/// Parses the body of a response and reads every cell as every type; the number of cells that have
/// a column. `None` when the body has no tables.
#[must_use]
pub fn read_tables(body: &[u8]) -> Option<usize> {
    crate::tables::read_every_cell(body)
}
