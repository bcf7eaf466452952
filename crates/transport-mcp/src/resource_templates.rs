//! Families of resources: one template, read through a tool, and watched through a stream of the
//! same service. What the arguments of a URI mean is the contract's affair.

use std::sync::Arc;

use contract::{Catalog, ResourceSpec, Service, StreamSpec};
use rmcp::model::ResourceTemplate;
use serde_json::{Map, Value};

use crate::listing::ListedTool;

pub(crate) struct ListedTemplate {
    pub(crate) service: Arc<str>,
    pub(crate) template: ResourceTemplate,
    /// Its place among the families of its service.
    at: usize,
    pub(crate) watchable: bool,
}

/// A resource of a family, as a URI named it.
pub(crate) struct TemplateMatch<'a> {
    pub(crate) service: &'a Service,
    pub(crate) spec: &'a ResourceSpec,
    pub(crate) args: Map<String, Value>,
}

impl ListedTemplate {
    /// The families of a service whose reading changes nothing.
    pub(crate) fn all_of(service: &Service) -> Vec<Self> {
        let harmless = |spec: &ResourceSpec| {
            service.tools.iter().any(|tool| tool.spec.name == spec.read && tool.spec.read_only)
        };
        let families = service.resources.iter().enumerate();
        families
            .filter(|(_, spec)| harmless(spec))
            .map(|(at, spec)| Self {
                service: Arc::clone(&service.name),
                template: ResourceTemplate::new(spec.template.clone(), spec.name.clone())
                    .with_title(spec.title.clone())
                    .with_description(spec.description.clone())
                    .with_mime_type("application/json"),
                at,
                watchable: spec.watch.is_some(),
            })
            .collect()
    }

    /// A family is shown where a tool of its service is.
    pub(crate) fn shown_beside<'a>(&self, mut tools: impl Iterator<Item = &'a ListedTool>) -> bool {
        tools.any(|tool| *tool.service() == self.service)
    }

    pub(crate) fn spec<'a>(&self, catalog: &'a Catalog) -> Option<(&'a Service, &'a ResourceSpec)> {
        let service = catalog.service(&self.service)?;
        Some((service, service.resources.get(self.at)?))
    }

    pub(crate) fn match_uri<'a>(
        &self,
        catalog: &'a Catalog,
        uri: &str,
    ) -> Option<TemplateMatch<'a>> {
        let (service, spec) = self.spec(catalog)?;
        let mut args = spec.arguments(uri)?;
        for value in args.values_mut() {
            if let Some(plain) = value.as_str().and_then(decoded) {
                *value = Value::from(plain);
            }
        }
        Some(TemplateMatch { service, spec, args })
    }
}

impl<'a> TemplateMatch<'a> {
    /// The stream that says when this resource changes.
    pub(crate) fn stream(&self) -> Option<&'a Arc<StreamSpec>> {
        let name = self.spec.watch.as_ref()?;
        self.service.streams.iter().map(|row| &row.spec).find(|spec| spec.name == *name)
    }
}

/// A resume point as the argument it becomes: points are text, and some inputs want a number.
pub(crate) fn resume_argument(stream: &StreamSpec, point: &str) -> Value {
    as_wanted(&stream.input.json()["properties"][&stream.resume], point)
}

fn as_wanted(schema: &Value, point: &str) -> Value {
    let number = match schema["type"].as_str() {
        Some("integer") => point.parse::<i64>().ok().map(Value::from),
        Some("number") => point.parse::<f64>().ok().map(Value::from),
        _ => None,
    };
    number.unwrap_or_else(|| Value::from(point))
}

/// A value as it was before a client filled it into the template: filling in escapes what could be
/// mistaken for punctuation. `None` where nothing is escaped, or what comes of it is no text.
fn decoded(value: &str) -> Option<String> {
    let mut rest = value;
    let mut bytes = Vec::with_capacity(value.len());
    while let Some((before, after)) = rest.split_once('%') {
        let code = after.get(..2).filter(|code| code.bytes().all(|it| it.is_ascii_hexdigit()))?;
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok().filter(|plain| plain != value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: &str, expected: Option<&str>) {
        assert_eq!(decoded(value).as_deref(), expected, "{value}");
    }

    #[test]
    fn escapes_are_undone_and_nothing_else() {
        check("BTCUSDT", None);
        check("BINANCE%3ABTCUSDT", Some("BINANCE:BTCUSDT"));
        check("%d0%A1", Some("\u{421}"));
        check("a%2", None);
        check("a%zz", None);
        check("a%+1", None);
        check("%ff", None);
        check("100%", None);
    }

    #[track_caller]
    fn check_point(kind: Value, point: &str, expected: Value) {
        assert_eq!(as_wanted(&json!({ "type": kind }), point), expected);
    }

    #[test]
    fn a_resume_point_takes_the_type_its_argument_has() {
        check_point(json!("integer"), "1700000000000", json!(1_700_000_000_000_i64));
        check_point(json!("number"), "1.5", json!(1.5));
        check_point(json!("string"), "17", json!("17"));
        check_point(Value::Null, "17", json!("17"));
        check_point(json!("integer"), "A@17", json!("A@17"));
    }

    proptest! {
        #[test]
        fn whatever_was_escaped_comes_back(text in "\\PC{1,20}") {
            let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let found = decoded(&escaped);
            prop_assert_eq!(found.as_deref(), Some(text.as_str()));
        }
    }
}
