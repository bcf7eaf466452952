//! The arguments in the URI of a resource, by its template.

use serde_json::{Map, Value};

use crate::spec::ResourceSpec;

impl ResourceSpec {
    /// The arguments in a URI; `None` if it does not match the template. The first argument takes the
    /// separators that the template does not have, as the `/` of `klines://BTC/USDT/1m`.
    pub fn arguments(&self, uri: &str) -> Option<Map<String, Value>> {
        let mut args = Map::new();
        let (mut rule, mut rest) = (self.template.as_str(), uri);
        while let Some((before, after)) = rule.split_once('{') {
            rest = rest.strip_prefix(before)?;
            let (name, tail) = after.split_once('}')?;
            let stop = match tail.chars().next() {
                None => rest.len(),
                Some(stop) => rest.rmatch_indices(stop).nth(literals(tail, stop) - 1)?.0,
            };
            let (value, left) = rest.split_at_checked(stop)?;
            if value.is_empty() {
                return None;
            }
            args.insert(name.to_owned(), Value::from(value));
            (rule, rest) = (tail, left);
        }
        (rule == rest).then_some(args)
    }
}

/// How often a template has this character outside its arguments.
fn literals(template: &str, wanted: char) -> usize {
    let mut in_argument = false;
    let is_literal = |it: &char| {
        in_argument = (in_argument || *it == '{') && *it != '}';
        !in_argument && *it == wanted
    };
    template.chars().filter(is_literal).count()
}
