//! The offer in the Open Graph tags of a page: `<meta property="product:price:amount" content="…">`.
//! Read only where a page has no JSON-LD offer.

use serde_json::Value;

use super::{Offer, availability, find, price, word};

/// The most `meta` tags that are read of one page.
const TAGS_MAX: usize = 500;

/// The offer of the page; `None` if no tag has a price or an availability.
pub(super) fn offer(html: &str) -> Option<Offer> {
    let mut offer = Offer::default();
    let mut rest = html;
    for _ in 0..TAGS_MAX {
        let Some(at) = find(rest, "<meta") else { break };
        let tag = &rest[at + "<meta".len()..];
        let Some(end) = tag.find('>') else { break };
        let (tag, after) = tag.split_at(end);
        rest = after;
        let name = attribute(tag, "property").or_else(|| attribute(tag, "name"));
        let (Some(name), Some(content)) = (name, attribute(tag, "content")) else { continue };
        let content = Value::String(content.to_owned());
        match name.trim().to_ascii_lowercase().as_str() {
            "product:price:amount" | "og:price:amount" if offer.price.is_none() => {
                offer.price = price(&content);
            }
            "product:price:currency" | "og:price:currency" if offer.currency.is_none() => {
                offer.currency = word(&content);
            }
            "product:availability" | "og:availability" if offer.in_stock.is_none() => {
                offer.in_stock = availability(&content);
            }
            _ => {}
        }
    }
    (offer.price.is_some() || offer.in_stock.is_some()).then_some(offer)
}

/// The quoted value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    loop {
        let at = find(rest, name)?;
        let (before, found) = rest.split_at(at);
        let value = found[name.len()..].trim_start();
        rest = &found[name.len()..];
        let is_whole_name = before.ends_with(|it: char| it.is_ascii_whitespace());
        let Some(value) = value.strip_prefix('=').filter(|_| is_whole_name) else { continue };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|it| ['"', '\''].contains(it))?;
        return value[1..].split(quote).next();
    }
}
