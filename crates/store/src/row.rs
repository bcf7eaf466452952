//! A row of a result, read by column position, for both engines.

use fault::Fault;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use crate::error::fault;

/// A row of a result.
pub struct SqlRow(pub(crate) AnyRow);

pub(crate) enum AnyRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

macro_rules! getters {
    ($($name:ident, $name_or_null:ident -> $type:ty;)*) => {$(
        #[doc = concat!("The column as `", stringify!($type), "`; `None` where it is null.")]
        pub fn $name_or_null(&self, column: usize) -> Result<Option<$type>, Fault> {
            match &self.0 {
                AnyRow::Sqlite(row) => row.try_get(column),
                AnyRow::Postgres(row) => row.try_get(column),
            }
            .map_err(fault)
        }

        #[doc = concat!("The column as `", stringify!($type), "`; a null is a fault.")]
        pub fn $name(&self, column: usize) -> Result<$type, Fault> {
            self.$name_or_null(column)?.ok_or_else(|| null_at(column))
        }
    )*};
}

fn null_at(column: usize) -> Fault {
    Fault::internal(format!("column {column} of the answer is null"))
}

impl SqlRow {
    getters! {
        int, int_or_null -> i64;
        real, real_or_null -> f64;
        text, text_or_null -> String;
        bytes, bytes_or_null -> Vec<u8>;
        flag, flag_or_null -> bool;
        // Without a copy, for results of many rows.
        text_ref, text_ref_or_null -> &str;
        bytes_ref, bytes_ref_or_null -> &[u8];
    }

    /// A number that is never negative; a negative one is a fault, because the table is damaged.
    pub fn count(&self, column: usize) -> Result<u64, Fault> {
        u64::try_from(self.int(column)?).map_err(Fault::internal)
    }
}
