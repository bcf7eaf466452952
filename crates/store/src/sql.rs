//! A statement with its values, for both engines.
//!
//! Rules that keep one text good for both: placeholders are `$1`, `$2`, …; columns are `BIGINT`,
//! `DOUBLE PRECISION`, `TEXT`, `BOOLEAN` and bytes; sums are cast (`CAST(SUM(x) AS BIGINT)`), since
//! PostgreSQL widens them; upserts are `ON CONFLICT … DO UPDATE`.

use sqlx::postgres::{PgArguments, Postgres};
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{Arguments, AssertSqlSafe, SqlSafeStr, SqlStr};

/// A value of a placeholder. A `None` keeps its type, because PostgreSQL needs it.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// `BIGINT`.
    Int(Option<i64>),
    /// `DOUBLE PRECISION`.
    Real(Option<f64>),
    /// `TEXT`.
    Text(Option<String>),
    /// `BLOB` or `BYTEA`.
    Bytes(Option<Vec<u8>>),
    /// `BOOLEAN`.
    Bool(Option<bool>),
}

macro_rules! value_from {
    ($($from:ty => $variant:ident($convert:expr),)*) => {$(
        impl From<$from> for SqlValue {
            fn from(value: $from) -> Self {
                Self::$variant(Some($convert(value)))
            }
        }

        impl From<Option<$from>> for SqlValue {
            fn from(value: Option<$from>) -> Self {
                Self::$variant(value.map($convert))
            }
        }
    )*};
}

value_from! {
    i64 => Int(std::convert::identity),
    i32 => Int(i64::from),
    u32 => Int(i64::from),
    f64 => Real(std::convert::identity),
    String => Text(std::convert::identity),
    &str => Text(str::to_owned),
    &String => Text(String::clone),
    Vec<u8> => Bytes(std::convert::identity),
    &[u8] => Bytes(<[u8]>::to_vec),
    bool => Bool(std::convert::identity),
}

/// A statement and its values.
#[derive(Debug, Clone)]
pub struct Sql {
    text: SqlStr,
    values: Vec<SqlValue>,
}

/// A statement whose text is in the source.
pub fn sql(text: &'static str) -> Sql {
    Sql { text: text.into_sql_str(), values: Vec::new() }
}

/// A statement that is built at run time, such as with a variable number of placeholders. Data must
/// never be part of the text; it is bound.
pub fn sql_built(text: String) -> Sql {
    Sql { text: AssertSqlSafe(text).into_sql_str(), values: Vec::new() }
}

/// `$first, $first+1, …`, `count` of them.
pub fn placeholders(first: usize, count: usize) -> String {
    let names: Vec<String> = (first..first + count).map(|at| format!("${at}")).collect();
    names.join(", ")
}

impl Sql {
    /// Adds the value of the next placeholder.
    #[must_use]
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Adds the values of the next placeholders.
    #[must_use]
    pub fn bind_all<V: Into<SqlValue>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.values.extend(values.into_iter().map(Into::into));
        self
    }

    pub(crate) fn sqlite(self) -> Result<(SqlStr, SqliteArguments), sqlx::Error> {
        let mut arguments = SqliteArguments::default();
        for value in self.values {
            match value {
                SqlValue::Int(value) => arguments.add(value),
                SqlValue::Real(value) => arguments.add(value),
                SqlValue::Text(value) => arguments.add(value),
                SqlValue::Bytes(value) => arguments.add(value),
                SqlValue::Bool(value) => arguments.add(value),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        Ok((self.text, arguments))
    }

    pub(crate) fn postgres(self) -> Result<(SqlStr, PgArguments), sqlx::Error> {
        let mut arguments = PgArguments::default();
        for value in self.values {
            match value {
                SqlValue::Int(value) => arguments.add(value),
                SqlValue::Real(value) => arguments.add(value),
                SqlValue::Text(value) => arguments.add(value),
                SqlValue::Bytes(value) => arguments.add(value),
                SqlValue::Bool(value) => arguments.add(value),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        Ok((self.text, arguments))
    }
}

pub(crate) type SqliteTx = sqlx::Transaction<'static, Sqlite>;
pub(crate) type PostgresTx = sqlx::Transaction<'static, Postgres>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_from_the_first() {
        assert_eq!(placeholders(3, 3), "$3, $4, $5");
        assert_eq!(placeholders(1, 0), "");
    }

    #[test]
    fn a_missing_value_keeps_its_type() {
        assert_eq!(SqlValue::from(None::<i64>), SqlValue::Int(None));
        assert_eq!(SqlValue::from(None::<&str>), SqlValue::Text(None));
    }
}
