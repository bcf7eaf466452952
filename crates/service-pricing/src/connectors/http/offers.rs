//! The offers on a page or in a feed: schema.org JSON-LD or Open Graph tags in HTML, Shopify's product
//! JSON, and plain JSON. It reads prices only: it follows no link and runs no script.

mod meta_tags;

use pricing_engine::Amount;
use serde_json::{Map, Value};

use crate::collector::tick::amount;

/// The most offers that are read from one page.
const OFFERS_MAX: usize = 50;
const SCRIPTS_MAX: usize = 50;
/// The most JSON objects that are read from one page, nested ones included.
const NODES_MAX: usize = 20_000;
const NAME_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Offer {
    /// The seller, if the page names one.
    pub(crate) seller: Option<String>,
    pub(crate) price: Option<Amount>,
    pub(crate) currency: Option<String>,
    pub(crate) in_stock: Option<bool>,
}

/// The offers of our SKU; empty if the text has none that can be parsed.
pub(crate) fn read(text: &str, sku: &str) -> Vec<Offer> {
    let mut reader = OfferReader { sku, found: Vec::new(), nodes: 0 };
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with(['{', '[']) {
        if let Ok(json) = serde_json::from_str::<Value>(start) {
            reader.any(&json);
        }
    } else {
        for script in scripts(text).take(SCRIPTS_MAX) {
            if let Ok(json) = serde_json::from_str::<Value>(script.trim()) {
                reader.linked(&json);
            }
        }
        if reader.found.is_empty() {
            meta_tags::offer(text).into_iter().for_each(|offer| reader.push(offer));
        }
    }
    reader.found
}

/// The contents of `<script type="application/ld+json">`.
fn scripts(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let at = find(rest, "<script")?;
            let tag = &rest[at..];
            let close = tag.find('>')?;
            let (head, body) = tag.split_at(close + 1);
            let end = find(body, "</script")?;
            rest = &body[end..];
            if find(head, "application/ld+json").is_some() {
                return Some(&body[..end]);
            }
        }
    })
}

/// The position of a word in lower-case ASCII letters, compared without case.
fn find(text: &str, word: &str) -> Option<usize> {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).position(|it| it.eq_ignore_ascii_case(word))
}

struct OfferReader<'a> {
    sku: &'a str,
    found: Vec<Offer>,
    nodes: usize,
}

impl OfferReader<'_> {
    fn is_full(&mut self) -> bool {
        self.nodes += 1;
        self.nodes > NODES_MAX || self.found.len() >= OFFERS_MAX
    }

    fn push(&mut self, offer: Offer) {
        if (offer.price.is_some() || offer.in_stock.is_some()) && !self.found.contains(&offer) {
            self.found.push(offer);
        }
    }

    /// JSON of any of the known forms.
    fn any(&mut self, json: &Value) {
        let product = json.get("product").and_then(|it| it.get("variants"));
        let variants = product.or_else(|| json.get("variants")).and_then(Value::as_array);
        let linked = |it: &Value| it.get("@context").is_some() || it.get("@graph").is_some();
        if let Some(variants) = variants {
            self.shopify(variants);
        } else if linked(json) || json.get(0).is_some_and(linked) {
            self.linked(json);
        } else {
            self.plain(json);
        }
    }

    /// The variant with our SKU, else the first one.
    fn shopify(&mut self, variants: &[Value]) {
        let ours = variants.iter().find(|it| it["sku"].as_str() == Some(self.sku));
        let Some(variant) = ours.or_else(|| variants.first()) else { return };
        let stocked = variant["inventory_quantity"].as_i64().map(|count| count > 0);
        self.push(Offer {
            seller: None,
            price: price(&variant["price"]),
            currency: word(&variant["price_currency"]),
            in_stock: variant["available"].as_bool().or(stocked),
        });
    }

    /// A feed: one object, a list of them, or a list below a well-known name. Objects with
    /// another SKU are skipped.
    fn plain(&mut self, json: &Value) {
        if self.is_full() {
            return;
        }
        match json {
            Value::Array(list) => list.iter().for_each(|it| self.plain(it)),
            Value::Object(fields) => {
                let named = fields.get("sku").filter(|it| !it.is_null());
                if named.is_some_and(|it| it.as_str() != Some(self.sku)) {
                    return;
                }
                let lists = ["offers", "items", "prices", "products", "data"];
                for list in lists.iter().filter_map(|name| fields.get(*name)) {
                    self.plain(list);
                }
                let text = |names: &[&str]| names.iter().find_map(|name| word(fields.get(*name)?));
                let stock =
                    ["in_stock", "available"].iter().find_map(|it| fields.get(*it)?.as_bool());
                self.push(Offer {
                    seller: text(&["competitor", "seller", "shop", "merchant"]),
                    price: fields.get("price").and_then(price),
                    currency: text(&["currency", "price_currency", "priceCurrency"]),
                    in_stock: stock.or_else(|| availability(fields.get("availability")?)),
                });
            }
            _ => {}
        }
    }

    fn linked(&mut self, json: &Value) {
        if self.is_full() {
            return;
        }
        match json {
            Value::Array(list) => list.iter().for_each(|it| self.linked(it)),
            Value::Object(node) if is_a(node, &["Offer", "AggregateOffer"]) => self.offer(node),
            Value::Object(node) => {
                // A page may describe several products; one with another SKU is not ours.
                let named = node.get("sku").and_then(Value::as_str);
                let other = named.is_some_and(|it| it != self.sku) && is_a(node, &["Product"]);
                let below = ["@graph", "mainEntity", "hasVariant", "itemOffered"];
                for name in below {
                    node.get(name).into_iter().for_each(|it| self.linked(it));
                }
                // A shop's own SKU may differ from ours, so another SKU excludes only variants.
                if !other || !node.contains_key("isVariantOf") {
                    node.get("offers").into_iter().for_each(|it| self.linked(it));
                }
            }
            _ => {}
        }
    }

    fn offer(&mut self, node: &Map<String, Value>) {
        let inner = node.get("offers").filter(|it| it.as_array().is_some_and(|it| !it.is_empty()));
        if let Some(inner) = inner {
            return self.linked(inner);
        }
        let specified = node.get("priceSpecification").map(|it| it.get(0).unwrap_or(it));
        let field = |name: &str| node.get(name).or_else(|| specified.and_then(|it| it.get(name)));
        let seller = node.get("seller").or_else(|| node.get("offeredBy"));
        self.push(Offer {
            seller: seller.and_then(|it| word(it.get("name").unwrap_or(it))),
            price: field("price").or_else(|| field("lowPrice")).and_then(price),
            currency: field("priceCurrency").and_then(word),
            in_stock: node.get("availability").and_then(availability),
        });
    }
}

fn is_a(node: &Map<String, Value>, kinds: &[&str]) -> bool {
    let is = |it: &Value| {
        let name = it.as_str().unwrap_or_default();
        kinds.contains(&name.rsplit(['/', ':']).next().unwrap_or(name))
    };
    match node.get("@type") {
        Some(Value::Array(list)) => list.iter().any(is),
        Some(one) => is(one),
        None => false,
    }
}

/// A price above zero; pages write 0 for an unknown price.
fn price(value: &Value) -> Option<Amount> {
    let read = match value {
        Value::String(text) => {
            let text = text.trim();
            // Commas separate thousands only if three digits follow each of them.
            let (whole, cents) = text.split_once('.').unwrap_or((text, ""));
            let mut groups = whole.split(',');
            let first = groups.next().unwrap_or_default();
            let grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
            match (whole.contains(','), grouped) {
                (true, false) => None,
                (true, true) if cents.is_empty() => whole.replace(',', "").parse().ok(),
                (true, true) => format!("{}.{cents}", whole.replace(',', "")).parse().ok(),
                (false, _) => text.parse().ok(),
            }
        }
        number => amount(number),
    };
    read.filter(|it| it.is_positive())
}

fn availability(value: &Value) -> Option<bool> {
    let text = value.as_str()?.rsplit(['/', ':']).next()?;
    let word: String = text.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    match word.to_ascii_lowercase().as_str() {
        "instock" | "limitedavailability" | "onlineonly" | "instoreonly" | "available" => {
            Some(true)
        }
        "outofstock" | "soldout" | "discontinued" | "unavailable" | "reserved" => Some(false),
        _ => None,
    }
}

/// A text without control characters, at most 100 characters long.
fn word(value: &Value) -> Option<String> {
    let plain = value.as_str()?.chars().filter(|it| !it.is_control()).take(NAME_CHARS_MAX);
    let text: String = plain.collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
