//! Imports rows into the catalogue. A bad row is reported as a problem and the other rows are
//! imported; a field that a row leaves out keeps its stored value.

use std::collections::HashMap;

use clock::Millis;
use fault::Fault;
use serde_json::{Map, Value};
use store::Db;

use crate::collector::names::{sku_problem, text_problem};
use crate::collector::tick::amount;
use crate::storage::products::{self, Product};

pub(crate) const ROWS_MAX: usize = 100_000;
/// The most problems that a reply lists; further ones are only counted.
pub(super) const PROBLEMS_MAX: usize = 100;
/// Rows that one transaction writes; other writers get their turn between two of them.
const ROWS_PER_COMMIT: usize = 2_000;
const SOURCES_MAX: usize = 20;
const EXTRA_FIELDS_MAX: usize = 32;
const EXTRA_BYTES_MAX: usize = 4_096;

/// The counts and problems of an import.
#[derive(Debug, Default, PartialEq)]
pub struct Imported {
    /// How many products were written.
    pub products: usize,
    /// How many rows were valid; of several with one SKU the last was written.
    pub good: usize,
    /// How many rows the caller sent.
    pub rows: usize,
    /// The first problems: the row, the field, what was expected.
    pub problems: Vec<(usize, String, String)>,
}

impl Imported {
    pub fn refused(&self) -> usize {
        self.rows - self.good
    }
}

/// Imports rows that the caller has numbered. Calls `report` after each commit with the number of
/// products written so far.
pub(super) async fn import(
    db: &Db,
    rows: impl Iterator<Item = (usize, Map<String, Value>)>,
    now: Millis,
    private: bool,
    report: impl Fn(usize),
) -> Result<Imported, Fault> {
    let mut imported = Imported::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut good: Vec<Product> = Vec::new();
    for (number, row) in rows {
        imported.rows += 1;
        match product(row, private) {
            Ok(product) => {
                imported.good += 1;
                match places.get(&product.sku) {
                    Some(at) => good[*at] = product,
                    None => {
                        places.insert(product.sku.clone(), good.len());
                        good.push(product);
                    }
                }
            }
            Err((field, expected)) if imported.problems.len() < PROBLEMS_MAX => {
                imported.problems.push((number, field, expected));
            }
            Err(_) => {}
        }
    }
    // All imports write rows in the order of SKUs, so two of them cannot deadlock.
    good.sort_unstable_by(|a, b| a.sku.cmp(&b.sku));
    for chunk in good.chunks(ROWS_PER_COMMIT) {
        let mut tx = db.begin().await?;
        products::save(&mut tx, chunk, now).await?;
        tx.commit().await?;
        imported.products += chunk.len();
        report(imported.products);
    }
    Ok(imported)
}

type FieldProblem = (String, String);

/// The product of a row, or the first problem of the row.
fn product(mut row: Map<String, Value>, private: bool) -> Result<Product, FieldProblem> {
    row.retain(|_, value| !value.is_null());
    let row = &mut row;
    let Some(sku) = text(row, &["sku"], 200)? else {
        return Err(wrong("sku", "a value: the field is required"));
    };
    if let Some(expected) = sku_problem(&sku) {
        return Err(wrong("sku", expected));
    }
    let currency = text(row, &["currency"], 3)?;
    if currency
        .as_ref()
        .is_some_and(|it| it.len() != 3 || !it.bytes().all(|b| b.is_ascii_alphabetic()))
    {
        return Err(wrong("currency", "a code of three letters"));
    }
    let product = Product {
        sku,
        name: text(row, &["name", "title"], 500)?,
        category: text(row, &["category"], 200)?,
        currency: currency.map(|it| it.to_ascii_uppercase()),
        price: money(row, &["price", "current_price", "our_price"], 1)?,
        cost: money(row, &["cost"], 0)?,
        min_price: money(row, &["min_price"], 0)?,
        max_price: money(row, &["max_price"], 1)?,
        map_price: money(row, &["map_price"], 0)?,
        sources: sources(row, private)?,
        extra: std::mem::take(row),
        ..Product::default()
    };
    if let (Some(min), Some(max)) = (product.min_price, product.max_price)
        && min > max
    {
        return Err(wrong("max_price", "no less than min_price"));
    }
    let extra = serde_json::to_string(&product.extra).map_or(usize::MAX, |text| text.len());
    // PostgreSQL stores no NUL in text, not even as the JSON escape of one.
    let nul = product.extra.iter().any(|(name, value)| name.contains('\0') || holds_nul(value));
    if product.extra.len() > EXTRA_FIELDS_MAX || extra > EXTRA_BYTES_MAX || nul {
        let first = product.extra.keys().next().cloned().unwrap_or_default();
        let expected =
            format!("at most {EXTRA_FIELDS_MAX} further fields of {EXTRA_BYTES_MAX} bytes in all");
        return Err((first.chars().take(64).collect(), expected));
    }
    Ok(product)
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(list) => list.iter().any(holds_nul),
        Value::Object(fields) => {
            fields.iter().any(|(name, it)| name.contains('\0') || holds_nul(it))
        }
        _ => false,
    }
}

fn wrong(field: &str, expected: impl Into<String>) -> FieldProblem {
    (field.to_owned(), expected.into())
}

/// Removes the field from the row, under the first of its names that the row has.
fn take(row: &mut Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, Value)> {
    names.iter().find_map(|name| Some((*name, row.shift_remove(*name)?)))
}

fn text(
    row: &mut Map<String, Value>,
    names: &[&'static str],
    most: usize,
) -> Result<Option<String>, FieldProblem> {
    let Some((name, value)) = take(row, names) else { return Ok(None) };
    let Value::String(text) = value else { return Err(wrong(name, "a string")) };
    match text_problem(&text, most) {
        Some(expected) => Err(wrong(name, expected)),
        None => Ok(Some(text)),
    }
}

fn money(
    row: &mut Map<String, Value>,
    names: &[&'static str],
    least_micros: i64,
) -> Result<Option<pricing_engine::Amount>, FieldProblem> {
    let Some((name, value)) = take(row, names) else { return Ok(None) };
    match amount(&value).filter(|it| it.micros() >= least_micros) {
        Some(amount) => Ok(Some(amount)),
        None if least_micros > 0 => Err(wrong(name, "a number more than 0")),
        None => Err(wrong(name, "a number of at least 0")),
    }
}

/// A list of addresses, or one string with spaces between them.
fn sources(row: &mut Map<String, Value>, private: bool) -> Result<Vec<String>, FieldProblem> {
    let listed: Vec<String> = match row.shift_remove("sources") {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(list)) => {
            let text = |it: Value| match it {
                Value::String(text) => Ok(text),
                _ => Err(wrong("sources", "a list of addresses")),
            };
            list.into_iter().map(text).collect::<Result<_, _>>()?
        }
        Some(_) => return Err(wrong("sources", "a list of addresses")),
    };
    if listed.len() > SOURCES_MAX {
        return Err(wrong("sources", format!("at most {SOURCES_MAX} addresses")));
    }
    for (at, it) in listed.iter().enumerate() {
        if let Some(expected) = ssrf_guard::address_problem(it, private) {
            return Err((format!("sources[{at}]"), expected.to_owned()));
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(row: Value, problem: Option<(&str, &str)>) {
        let Value::Object(fields) = row.clone() else { panic!("a row is an object") };
        let found = product(fields, false).err();
        let same = match (&found, problem) {
            (None, None) => true,
            (Some((field, expected)), Some((name, part))) => {
                field == name && expected.contains(part)
            }
            _ => false,
        };
        assert!(same, "{row}: {found:?}");
    }

    #[test]
    fn rows_are_products_or_say_what_is_wrong() {
        check(json!({ "sku": "A" }), None);
        check(
            json!({ "sku": "A", "title": "T", "current_price": "9.99", "cost": 0, "stock": 5,
                "currency": "usd", "sources": ["https://a.example/p"], "max_price": null }),
            None,
        );
        check(json!({ "price": 1 }), Some(("sku", "required")));
        check(json!({ "sku": " " }), Some(("sku", "characters")));
        check(json!({ "sku": "A", "price": 0 }), Some(("price", "more than 0")));
        check(json!({ "sku": "A", "cost": -1 }), Some(("cost", "at least 0")));
        check(json!({ "sku": "A", "cost": "cheap" }), Some(("cost", "a number")));
        check(
            json!({ "sku": "A", "min_price": 5, "max_price": 4 }),
            Some(("max_price", "min_price")),
        );
        check(json!({ "sku": "A", "currency": "EURO" }), Some(("currency", "3")));
        check(json!({ "sku": "A", "currency": "12€" }), Some(("currency", "three letters")));
        check(json!({ "sku": "A", "name": 5 }), Some(("name", "a string")));
        check(json!({ "sku": "A", "sources": [1] }), Some(("sources", "addresses")));
        check(
            json!({ "sku": "A", "sources": "http://127.0.0.1/" }),
            Some(("sources[0]", "public")),
        );
        check(json!({ "sku": "A", "x": "y".repeat(5_000) }), Some(("x", "4096 bytes")));
        check(json!({ "sku": "A", "x": ["\u{0}"] }), Some(("x", "further fields")));
    }

    #[test]
    fn what_else_a_row_says_is_kept() {
        let Value::Object(row) = json!({ "sku": "A", "price": 1, "stock": 5 }) else { panic!() };
        let kept = product(row, false).unwrap();
        assert_eq!(Value::Object(kept.extra), json!({ "stock": 5 }));
        assert_eq!(kept.price.map(pricing_engine::Amount::micros), Some(1_000_000));
    }
}
