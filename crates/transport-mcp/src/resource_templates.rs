//! Resource templates: a URI that matches a template is read through a tool and subscribed to through
//! a stream of the same service.

use contract::{Catalog, ResourceSpec, Service, StreamRef, StreamSpec, ToolRef};
use percent_encoding::percent_decode_str;
use rmcp::model::ResourceTemplate;
use serde_json::{Map, Value};

use crate::listing::ListedTool;

pub(crate) struct ListedTemplate {
    pub(crate) template: ResourceTemplate,
    /// Its index among the resources of its service.
    index: usize,
    /// The tool that reads a resource of this template.
    pub(crate) tool: ToolRef,
    /// The stream whose events mark changes of such a resource.
    pub(crate) stream: Option<StreamRef>,
}

/// A URI that matched a template, with the arguments it holds.
pub(crate) struct TemplateMatch<'a> {
    pub(crate) template: &'a ListedTemplate,
    pub(crate) args: Map<String, Value>,
}

impl ListedTemplate {
    /// The templates of a service whose reading tool is read-only.
    pub(crate) fn all_of(catalog: &Catalog, service: &Service) -> Vec<Self> {
        let listed = |(index, spec): (usize, &ResourceSpec)| {
            let tool = catalog.find(Some(&service.name), &spec.read)?.clone();
            let stream = spec.watch.as_ref().and_then(|name| catalog.stream(&service.name, name));
            tool.row().spec.read_only.then(|| Self {
                template: ResourceTemplate::new(spec.template.clone(), spec.name.clone())
                    .with_title(spec.title.clone())
                    .with_description(spec.description.clone())
                    .with_mime_type("application/json"),
                index,
                stream: stream.cloned(),
                tool,
            })
        };
        service.resources.iter().enumerate().filter_map(listed).collect()
    }

    /// Whether a visible tool belongs to the same service.
    pub(crate) fn shown_beside<'a>(&self, mut tools: impl Iterator<Item = &'a ListedTool>) -> bool {
        tools.any(|tool| *tool.service() == self.tool.service().name)
    }

    pub(crate) fn spec(&self) -> &ResourceSpec {
        &self.tool.service().resources[self.index]
    }

    pub(crate) fn match_uri(&self, uri: &str) -> Option<TemplateMatch<'_>> {
        let mut args = self.spec().arguments(uri)?;
        for value in args.values_mut() {
            if let Some(plain) = value.as_str().and_then(percent_decoded) {
                *value = Value::from(plain);
            }
        }
        Some(TemplateMatch { template: self, args })
    }
}

/// A resume point as an argument: resume points are text, and some inputs take a number.
pub(crate) fn resume_argument(stream: &StreamSpec, point: &str) -> Value {
    typed_value(&stream.input.json()["properties"][&stream.resume], point)
}

fn typed_value(schema: &Value, point: &str) -> Value {
    let number = match schema["type"].as_str() {
        Some("integer") => point.parse::<i64>().ok().map(Value::from),
        Some("number") => point.parse::<f64>().ok().map(Value::from),
        _ => None,
    };
    number.unwrap_or_else(|| Value::from(point))
}

/// Percent-decodes a value; `None` where nothing is escaped, an escape is malformed or the result is
/// not UTF-8.
fn percent_decoded(value: &str) -> Option<String> {
    let plain = percent_decode_str(value).decode_utf8().ok()?;
    // An escape is three bytes for one, so that the lengths tell whether each `%` began one.
    let escapes = value.matches('%').count();
    (escapes > 0 && value.len() - plain.len() == 2 * escapes).then(|| plain.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: &str, expected: Option<&str>) {
        assert_eq!(percent_decoded(value).as_deref(), expected, "{value}");
    }

    #[test]
    fn only_valid_escapes_are_decoded() {
        check("BTCUSDT", None);
        check("BINANCE%3ABTCUSDT", Some("BINANCE:BTCUSDT"));
        check("%d0%A1", Some("\u{421}"));
        check("a%2", None);
        check("a%zz", None);
        check("a%+1", None);
        check("%ff", None);
        check("100%", None);
        check("%41%zz", None);
    }

    #[track_caller]
    fn check_point(kind: Value, point: &str, expected: Value) {
        assert_eq!(typed_value(&json!({ "type": kind }), point), expected);
    }

    #[test]
    fn a_resume_point_has_the_type_of_its_argument() {
        check_point(json!("integer"), "1700000000000", json!(1_700_000_000_000_i64));
        check_point(json!("number"), "1.5", json!(1.5));
        check_point(json!("string"), "17", json!("17"));
        check_point(Value::Null, "17", json!("17"));
        check_point(json!("integer"), "A@17", json!("A@17"));
    }

    proptest! {
        #[test]
        fn an_escaped_text_decodes_to_itself(text in "\\PC{1,20}") {
            let escaped: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let found = percent_decoded(&escaped);
            prop_assert_eq!(found.as_deref(), Some(text.as_str()));
        }
    }
}
