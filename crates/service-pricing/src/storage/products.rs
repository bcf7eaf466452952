//! The catalogue: what is sold, for how much, and within which bounds. One row per SKU.

use clock::Millis;
use fault::Fault;
use pricing_engine::Amount;
use serde_json::{Map, Value};
use store::{Db, Sql, SqlRow, Tx, placeholders, sql, sql_built};

/// How many rows one statement writes. SQLite searches all placeholders for each one, so the cost
/// grows with their square.
const ROWS_PER_STATEMENT: usize = 16;
const WIDTH: usize = 14;
const COLUMNS: &str = "sku, name, category, currency, price, cost, min_price, max_price, map_price, \
                       sources, extra, price_changed_ms, updated_ms";

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Product {
    pub(crate) sku: String,
    pub(crate) name: Option<String>,
    pub(crate) category: Option<String>,
    pub(crate) currency: Option<String>,
    pub(crate) price: Option<Amount>,
    pub(crate) cost: Option<Amount>,
    pub(crate) min_price: Option<Amount>,
    pub(crate) max_price: Option<Amount>,
    pub(crate) map_price: Option<Amount>,
    /// The addresses of competitors' pages and feeds of this product.
    pub(crate) sources: Vec<String>,
    /// The other fields of an import, unchanged.
    pub(crate) extra: Map<String, Value>,
    pub(crate) price_changed: Option<Millis>,
    pub(crate) updated: Millis,
}

pub(crate) async fn find(db: &Db, sku: &str) -> Result<Option<Product>, Fault> {
    db.fetch_optional(one(sku)).await?.map(|row| read(&row)).transpose()
}

pub(crate) async fn find_in(tx: &mut Tx, sku: &str) -> Result<Option<Product>, Fault> {
    tx.fetch_optional(one(sku)).await?.map(|row| read(&row)).transpose()
}

fn one(sku: &str) -> Sql {
    sql_built(format!("SELECT {COLUMNS} FROM pricing_product WHERE sku = $1")).bind(sku)
}

/// The first SKUs after one, in order; with `with_sources` only products that have addresses and a
/// price, which the http connector needs.
pub(crate) async fn skus_after(
    db: &Db,
    after: &str,
    with_sources: bool,
    limit: u32,
) -> Result<Vec<String>, Fault> {
    let of = if with_sources { "AND price IS NOT NULL AND sources <> '[]'" } else { "" };
    let statement = sql_built(format!(
        "SELECT sku FROM pricing_product WHERE sku > $1 {of} ORDER BY sku LIMIT $2"
    ));
    db.fetch_all(statement.bind(after).bind(limit)).await?.iter().map(|row| row.text(0)).collect()
}

/// Inserts or updates products. A field that the new row lacks keeps its stored value, so that an
/// import of prices does not delete costs.
pub(crate) async fn save(tx: &mut Tx, products: &[Product], now: Millis) -> Result<(), Fault> {
    for chunk in products.chunks(ROWS_PER_STATEMENT) {
        tx.execute(upsert(chunk, now)?).await?;
    }
    Ok(())
}

/// The update of a stored product: an absent field keeps its value, and a price that differs counts
/// as changed now.
const UPDATE_PRESENT_FIELDS: &str = "ON CONFLICT (sku) DO UPDATE SET
    name = COALESCE(excluded.name, pricing_product.name),
    category = COALESCE(excluded.category, pricing_product.category),
    currency = COALESCE(excluded.currency, pricing_product.currency),
    price_changed_ms = CASE
        WHEN excluded.price IS NULL OR excluded.price = pricing_product.price
        THEN pricing_product.price_changed_ms ELSE excluded.updated_ms END,
    price_simulated = CASE
        WHEN excluded.price IS NULL OR excluded.price = pricing_product.price
        THEN pricing_product.price_simulated ELSE FALSE END,
    price = COALESCE(excluded.price, pricing_product.price),
    cost = COALESCE(excluded.cost, pricing_product.cost),
    min_price = COALESCE(excluded.min_price, pricing_product.min_price),
    max_price = COALESCE(excluded.max_price, pricing_product.max_price),
    map_price = COALESCE(excluded.map_price, pricing_product.map_price),
    sources = CASE WHEN excluded.sources = '[]' THEN pricing_product.sources
        ELSE excluded.sources END,
    extra = CASE WHEN excluded.extra = '{}' THEN pricing_product.extra ELSE excluded.extra END,
    updated_ms = excluded.updated_ms";

fn upsert(products: &[Product], now: Millis) -> Result<Sql, Fault> {
    let tuples: Vec<String> = (0..products.len())
        .map(|row| format!("({})", placeholders(1 + row * WIDTH, WIDTH)))
        .collect();
    let tuples = tuples.join(", ");
    let mut statement = sql_built(format!(
        "INSERT INTO pricing_product ({COLUMNS}, created_ms) VALUES {tuples} {UPDATE_PRESENT_FIELDS}"
    ));
    for product in products {
        let micros = |amount: Option<Amount>| amount.map(Amount::micros);
        let changed = product.price.map(|_| now.0);
        statement = statement
            .bind(product.sku.as_str())
            .bind(product.name.as_deref())
            .bind(product.category.as_deref())
            .bind(product.currency.as_deref())
            .bind(micros(product.price))
            .bind(micros(product.cost))
            .bind(micros(product.min_price))
            .bind(micros(product.max_price))
            .bind(micros(product.map_price))
            .bind(serde_json::to_string(&product.sources).map_err(Fault::internal)?)
            .bind(serde_json::to_string(&product.extra).map_err(Fault::internal)?)
            .bind(changed)
            .bind(now.0)
            .bind(now.0);
    }
    Ok(statement)
}

/// A price that replaces another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repricing {
    pub(crate) expected: Amount,
    pub(crate) new: Amount,
    /// Whether simulated ticks took part in the new price.
    pub(crate) simulated: bool,
}

/// Sets a price if the stored price is the expected one or is unknown. Returns `false` if the
/// stored price is a different one.
pub(crate) async fn reprice(
    tx: &mut Tx,
    sku: &str,
    Repricing { expected, new, simulated }: Repricing,
    now: Millis,
) -> Result<bool, Fault> {
    // An equal price is not a change, so it does not begin a cooldown.
    let known = sql("UPDATE pricing_product SET price = $1, updated_ms = $2,
             price_changed_ms = CASE WHEN price = $1 THEN price_changed_ms ELSE $2 END,
             price_simulated = $5
         WHERE sku = $3 AND (price = $4 OR price IS NULL)");
    let known = known.bind(new.micros()).bind(now.0).bind(sku).bind(expected.micros());
    if tx.execute(known.bind(simulated)).await? == 1 {
        return Ok(true);
    }
    let first = sql(
        "INSERT INTO pricing_product (sku, price, sources, extra, price_changed_ms, created_ms,
             updated_ms, price_simulated)
         VALUES ($1, $2, '[]', '{}', $3, $3, $3, $4) ON CONFLICT DO NOTHING",
    );
    let first = first.bind(sku).bind(new.micros()).bind(now.0).bind(simulated);
    Ok(tx.execute(first).await? == 1)
}

/// Whether simulated ticks took part in the price in force.
pub(crate) async fn is_price_simulated(tx: &mut Tx, sku: &str) -> Result<bool, Fault> {
    let statement = sql("SELECT price_simulated FROM pricing_product WHERE sku = $1");
    let row = tx.fetch_optional(statement.bind(sku)).await?;
    row.map_or(Ok(false), |row| row.flag(0))
}

fn read(row: &SqlRow) -> Result<Product, Fault> {
    let amount = |column| Ok::<_, Fault>(row.int_or_null(column)?.and_then(Amount::from_micros));
    Ok(Product {
        sku: row.text(0)?,
        name: row.text_or_null(1)?,
        category: row.text_or_null(2)?,
        currency: row.text_or_null(3)?,
        price: amount(4)?,
        cost: amount(5)?,
        min_price: amount(6)?,
        max_price: amount(7)?,
        map_price: amount(8)?,
        sources: serde_json::from_str(row.text_ref(9)?).map_err(Fault::internal)?,
        extra: serde_json::from_str(row.text_ref(10)?).map_err(Fault::internal)?,
        price_changed: row.int_or_null(11)?.map(Millis),
        updated: Millis(row.int(12)?),
    })
}
