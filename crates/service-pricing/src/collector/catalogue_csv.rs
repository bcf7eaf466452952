//! Catalogues as shops export them: our own names, Shopify's and `WooCommerce`'s product exports, and
//! spreadsheets with decimal commas. The rows become those of `import_product_catalog`.

use std::collections::HashMap;

use clock::Millis;
use fault::Fault;
use serde_json::{Map, Value};
use spreadsheet::{DecimalMark, MarkEvidence, list_headings, normalize_heading, plain_number};
use store::Db;

use crate::collector::catalogue::{Imported, PROBLEMS_MAX, import};
use crate::csv::{CsvRow, Table};

/// A field of the catalogue, and the headings it is found under, without case and punctuation.
const COLUMNS: &[(&str, &[&str])] = &[
    ("sku", &["sku", "variantsku", "артикул"]),
    ("name", &["name", "title", "название", "наименование", "имя"]),
    ("category", &["category", "productcategory", "categories", "категория", "категории"]),
    ("currency", &["currency", "валюта"]),
    (
        "price",
        &[
            "price",
            "currentprice",
            "ourprice",
            "variantprice",
            "saleprice",
            "акционнаяцена",
            "цена",
        ],
    ),
    ("regular_price", &["regularprice", "базоваяцена"]),
    ("cost", &["cost", "costperitem", "costofgoods", "себестоимость"]),
    ("min_price", &["minprice"]),
    ("max_price", &["maxprice"]),
    ("map_price", &["mapprice"]),
    ("sources", &["sources"]),
];
const MONEY: &[&str] = &["price", "regular_price", "cost", "min_price", "max_price", "map_price"];
/// Columns of a shop's export that go into `extra`.
const EXTRA_COLUMNS: &[(&str, &str)] = &[
    ("handle", "handle"),
    ("urlhandle", "handle"),
    ("vendor", "vendor"),
    ("variantbarcode", "barcode"),
    ("barcode", "barcode"),
    ("stock", "stock"),
    ("type", "type"),
];

/// A problem: the line, the column as the file names it, and what was expected there.
type LineProblem = (usize, String, String);

/// Which program wrote the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Export {
    Shopify,
    WooCommerce,
    Other,
}

/// Which column has which field.
struct Columns {
    export: Export,
    /// The file's heading of each of our fields.
    headings: HashMap<&'static str, String>,
}

/// Imports a CSV table with a header line; each problem names its line and its column.
pub async fn import_csv(
    db: &Db,
    bytes: &[u8],
    decimal: Option<DecimalMark>,
    now: Millis,
) -> Result<Imported, Fault> {
    let text = spreadsheet::decode(bytes).map_err(|_| {
        Fault::invalid("not_a_table", "the file is no text; save it as CSV in UTF-8")
    })?;
    let table = Table::new(&text)
        .map_err(|bad| Fault::invalid("not_a_table", format!("line {}: {}", bad.line, bad.why)))?;
    let columns = Columns::of(table.headings())?;
    let mut problems = Vec::new();
    let mut rows = Vec::new();
    let mut product = ShopifyProduct::default();
    for row in table {
        match row {
            Ok(row) => rows.extend(columns.rename(row, &mut product)),
            Err(bad) => problems.push((bad.line, String::new(), bad.why)),
        }
    }
    let mark = match decimal {
        Some(mark) => mark,
        None => decimal_mark(&rows)?,
    };
    let read = rows.into_iter().filter_map(|row| match columns.money(row, mark) {
        Ok(row) => Some(row),
        Err(problem) => {
            problems.push(problem);
            None
        }
    });
    let read: Vec<_> = read.collect();
    let unread = problems.len();
    let mut imported = import(db, read.into_iter(), now, true, |_| {}).await?;
    for (_, field, _) in &mut imported.problems {
        if let Some(heading) = columns.headings.get(field.as_str()) {
            field.clone_from(heading);
        }
    }
    imported.rows += unread;
    imported.problems.extend(problems);
    imported.problems.sort();
    imported.problems.truncate(PROBLEMS_MAX);
    Ok(imported)
}

fn decimal_mark(rows: &[(usize, HashMap<String, String>)]) -> Result<DecimalMark, Fault> {
    let mut evidence = MarkEvidence::default();
    let numbers = rows.iter().flat_map(|(_, row)| MONEY.iter().filter_map(|name| row.get(*name)));
    numbers.for_each(|number| evidence.observe(number));
    evidence.mark().map_err(|number| {
        let message = format!(
            "the comma of {number:?} can separate thousands or a fraction, and no price in the \
             file shows which; say it with --decimal point or --decimal comma"
        );
        Fault::invalid("unclear_numbers", message)
    })
}

/// The fields of a product that the rows of its further variants leave empty.
#[derive(Default)]
struct ShopifyProduct {
    handle: String,
    first: HashMap<String, String>,
}

impl Columns {
    fn of(headings: &[String]) -> Result<Self, Fault> {
        let plain: Vec<String> = headings.iter().map(|it| normalize_heading(it)).collect();
        let has = |name: &str| plain.iter().any(|it| it == name);
        let export = if has("variantsku") || (has("urlhandle") && has("sku")) {
            Export::Shopify
        } else if has("regularprice") || has("базоваяцена") {
            Export::WooCommerce
        } else {
            Export::Other
        };
        let mut found = HashMap::new();
        for (field, names) in COLUMNS {
            let place = names.iter().find_map(|name| plain.iter().position(|it| it == name));
            if let Some(heading) = place.and_then(|at| headings.get(at)) {
                found.insert(*field, heading.clone());
            }
        }
        if found.contains_key("sku") {
            return Ok(Self { export, headings: found });
        }
        let accepted: Vec<String> =
            COLUMNS.iter().map(|(field, names)| format!("{field}: {}", names.join(", "))).collect();
        let message = format!(
            "the first line names no column for the sku (its columns are: {}); accepted names, \
             without case and punctuation, are {}",
            list_headings(headings.iter().map(String::as_str)),
            accepted.join("; "),
        );
        Err(Fault::invalid("not_a_table", message))
    }

    /// The row under our names; `None` if the row is not a product of its own.
    fn rename(
        &self,
        row: CsvRow,
        product: &mut ShopifyProduct,
    ) -> Option<(usize, HashMap<String, String>)> {
        let CsvRow { line, mut fields } = row;
        let mut renamed = HashMap::new();
        for (field, heading) in &self.headings {
            if let Some(text) = fields.remove(&heading.to_lowercase()) {
                renamed.insert((*field).to_owned(), text);
            }
        }
        match self.export {
            Export::Other => renamed.extend(fields),
            Export::Shopify => {
                copy_extra_fields(&fields, &mut renamed);
                if !shopify_variant(&fields, &mut renamed, product) {
                    return None;
                }
            }
            Export::WooCommerce => {
                copy_extra_fields(&fields, &mut renamed);
                // The prices of a variable or grouped product are in the rows of its parts.
                if renamed.remove("type").is_some_and(|it| it == "variable" || it == "grouped") {
                    return None;
                }
                if let Some(price) = renamed.remove("regular_price") {
                    renamed.entry("price".to_owned()).or_insert(price);
                }
                // The first of several categories is used.
                if let Some(category) = renamed.get_mut("category") {
                    category.truncate(category.find(',').unwrap_or(category.len()));
                }
            }
        }
        Some((line, renamed))
    }

    /// The amounts of a row as plain decimals.
    fn money(
        &self,
        (line, row): (usize, HashMap<String, String>),
        mark: DecimalMark,
    ) -> Result<(usize, Map<String, Value>), LineProblem> {
        let mut read = Map::new();
        for (name, text) in row {
            let text = match MONEY.contains(&name.as_str()) {
                false => text,
                true => plain_number(&text, mark).ok_or_else(|| {
                    let shown: String = text.chars().take(40).collect();
                    let heading = self.headings.get(name.as_str()).cloned().unwrap_or(name.clone());
                    (line, heading, format!("a number, not {shown:?}"))
                })?,
            };
            read.insert(name, Value::String(text));
        }
        Ok((line, read))
    }
}

fn copy_extra_fields(fields: &HashMap<String, String>, renamed: &mut HashMap<String, String>) {
    for (name, text) in fields {
        let name = normalize_heading(name);
        if let Some((_, kept)) = EXTRA_COLUMNS.iter().find(|(heading, _)| *heading == name) {
            renamed.insert((*kept).to_owned(), text.clone());
        }
    }
}

/// Completes a variant from its product's first row; `false` for a row that only adds a picture.
fn shopify_variant(
    fields: &HashMap<String, String>,
    row: &mut HashMap<String, String>,
    product: &mut ShopifyProduct,
) -> bool {
    let handle = row.get("handle").cloned().unwrap_or_default();
    if handle != product.handle {
        product.handle = handle;
        product.first.clone_from(row);
    }
    if !row.contains_key("sku") && !row.contains_key("price") {
        return false;
    }
    for name in ["name", "category", "vendor", "type"] {
        if let Some(text) = product.first.get(name) {
            row.entry(name.to_owned()).or_insert_with(|| text.clone());
        }
    }
    let options = ["option1 value", "option2 value", "option3 value"];
    let chosen: Vec<&str> = options
        .iter()
        .filter_map(|name| fields.get(*name))
        .map(String::as_str)
        .filter(|value| *value != "Default Title")
        .collect();
    if let Some(name) = row.get_mut("name").filter(|_| !chosen.is_empty()) {
        *name = format!("{name}, {}", chosen.join(" / "));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row as `sku|name|category|price|cost`, or the problem.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let table = Table::new(text).unwrap();
        let columns = Columns::of(table.headings()).unwrap();
        let mut product = ShopifyProduct::default();
        let rows = table.map(Result::unwrap).filter_map(|it| columns.rename(it, &mut product));
        let rows: Vec<_> = rows.collect();
        let mark = decimal_mark(&rows).unwrap();
        let seen: Vec<String> = rows
            .into_iter()
            .map(|row| match columns.money(row, mark) {
                Ok((_, row)) => ["sku", "name", "category", "price", "cost"]
                    .map(|it| row.get(it).and_then(Value::as_str).unwrap_or("-"))
                    .join("|"),
                Err((line, column, expected)) => format!("{line} {column}: {expected}"),
            })
            .collect();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn catalogues_of_shops_and_spreadsheets_are_read() {
        check("sku,price,cost\nA,10.50,6\n", &["A|-|-|10.50|6"]);
        check("SKU;Title;Our price\nA;T;1 290,00 ₽\n", &["A|T|-|1290.00|-"]);
        check(
            "Артикул;Наименование;Цена;Себестоимость\nA;Чай;1290,00;700,5\n",
            &["A|Чай|-|1290.00|700.5"],
        );
        check("sku,price\nA,\"1,290.00\"\nB,$5\n", &["A|-|-|1290.00|-", "B|-|-|5|-"]);
        check(
            "Handle,Title,Body (HTML),Vendor,Product Category,Option1 Name,Option1 Value,Variant SKU,\
             Variant Price,Cost per item,Image Src\n\
             tea,Green tea,<p>x</p>,Us,Drinks,Size,100 g,TEA-1,7.50,2.10,https://a.example/1\n\
             tea,,,,,,250 g,TEA-2,15.00,4.90,\n\
             tea,,,,,,,,,,https://a.example/2\n\
             cup,Cup,,Us,,Title,Default Title,CUP-1,cheap,,\n",
            &[
                "TEA-1|Green tea, 100 g|Drinks|7.50|2.10",
                "TEA-2|Green tea, 250 g|Drinks|15.00|4.90",
                "5 Variant Price: a number, not \"cheap\"",
            ],
        );
        check(
            "ID,Type,SKU,Name,Published,Sale price,Regular price,Categories\n\
             1,simple,A,Mug,1,9.90,12.90,\"Kitchen, Sale\"\n2,variable,B,Shirt,1,,,Wear\n\
             3,variation,B-1,Shirt red,1,,20,Wear\n",
            &["A|Mug|Kitchen|9.90|-", "B-1|Shirt red|Wear|20|-"],
        );
    }

    #[test]
    fn what_is_unclear_or_missing_is_said() {
        let fault = Columns::of(&["Name".to_owned(), "Price".to_owned()]).err().unwrap();
        let message = fault.message();
        for part in ["its columns are: Name, Price", "sku, variantsku", "costperitem"] {
            assert!(message.contains(part), "{message}");
        }
        let row = HashMap::from([("price".to_owned(), "1,290".to_owned())]);
        let fault = decimal_mark(&[(2, row)]).unwrap_err();
        assert!(fault.message().contains("--decimal"), "{}", fault.message());
    }
}
