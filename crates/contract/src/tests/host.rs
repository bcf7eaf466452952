//! The host forms of the real contracts: their size, their words and their schemas.

use serde_json::{Value, json};

use super::fixture::{contract, table};
use crate::{AccessRules, Contract, HostSpec, Schema, ToolSpec, file_paths};

/// A token is about four bytes of JSON, as `stoa tools` counts.
const BYTES_PER_TOKEN: usize = 4;

fn contracts() -> Vec<Contract> {
    let services = file_paths().filter_map(|path| path.strip_suffix("/contract.json"));
    services.map(|service| Contract::load(service).unwrap()).collect()
}

/// The tools that `/mcp` lists unless others are asked for.
fn listed(contract: &Contract) -> impl Iterator<Item = &ToolSpec> {
    contract.tools.iter().filter(|tool| !tool.http_only && !tool.host.on_request)
}

fn shown(contract: &Contract, tool: &ToolSpec) -> Value {
    json!({ "name": tool.host_name(), "description": tool.host_description(),
        "inputSchema": tool.host_input(&contract.access) })
}

#[test]
fn the_default_list_has_fewer_than_6000_tokens() {
    let mut sizes = Vec::new();
    for contract in contracts() {
        for tool in listed(&contract) {
            let bytes = shown(&contract, tool).to_string().len();
            sizes.push((bytes.div_ceil(BYTES_PER_TOKEN), tool.name.clone()));
        }
    }
    sizes.sort();
    let total: usize = sizes.iter().map(|(size, _)| size).sum();
    assert!(total < 6_000, "{total} tokens; shorten host.json of the largest: {sizes:?}");
}

#[test]
fn the_instructions_name_every_service_in_fewer_than_400_tokens() {
    let mut total = 0;
    for contract in contracts() {
        let line = contract.host.instructions;
        assert!(!line.is_empty() && line.len() < 220, "{}: {line:?}", contract.service);
        total += line.len() + 1;
    }
    // The notice about simulated markets has at most 120 bytes.
    assert!(total + 120 < 400 * BYTES_PER_TOKEN, "{total}");
}

#[test]
fn no_description_speaks_of_another_product() {
    for contract in contracts() {
        let mut texts = vec![contract.host.instructions.clone()];
        for tool in contract.tools.iter().filter(|tool| !tool.http_only) {
            texts.push(shown(&contract, tool).to_string());
            texts.push(Value::Object(tool.host_output()).to_string());
        }
        for text in texts {
            for word in ["Arche", "Cyrano", "LexFiat", "arkiver database", "claude-3"] {
                assert!(!text.contains(word), "{word}: {text}");
            }
        }
    }
}

/// Calls `see` with every property of an object schema, its parts included.
fn each_property(at: &str, schema: &Value, see: &mut dyn FnMut(&str, &Value)) {
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        see(&at, part);
        each_property(&at, part, see);
    }
    if schema["items"].is_object() {
        each_property(&format!("{at}[]"), &schema["items"], see);
    }
}

#[test]
fn every_listed_number_has_a_description() {
    for contract in contracts() {
        for tool in listed(&contract) {
            let form = Value::Object(tool.host_input(&contract.access));
            each_property(&tool.name, &form, &mut |at, part| {
                let types = part["anyOf"].as_array().into_iter().flatten().chain([part]);
                let is_number =
                    types.into_iter().any(|it| it["type"] == "number" || it["type"] == "integer");
                assert!(!is_number || part["description"].is_string(), "{at} has no description");
            });
        }
    }
}

#[test]
fn every_object_of_a_host_input_lists_its_properties() {
    for contract in contracts() {
        for tool in contract.tools.iter().filter(|tool| !tool.http_only) {
            let form = Value::Object(tool.host_input(&contract.access));
            each_property(&tool.name, &form, &mut |at, part| {
                let is_open = part["type"] == "object" && part["properties"].is_null();
                assert!(!is_open, "{at} takes any object, and a strict function cannot");
            });
        }
    }
}

/// Panics at the first keyword that a host's converter does not take.
#[track_caller]
fn check_portable(at: &str, schema: &Value) {
    const FOREIGN: [&str; 12] = [
        "$schema",
        "$ref",
        "oneOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "uniqueItems",
        "pattern",
        "const",
        "default",
        "if",
        "not",
        "patternProperties",
    ];
    let Some(schema) = schema.as_object() else { panic!("{at} is not an object: {schema}") };
    for keyword in FOREIGN {
        assert!(!schema.contains_key(keyword), "{at} has {keyword}");
    }
    assert!(!schema.get("type").is_some_and(Value::is_array), "{at} has a list of types");
    assert!(!schema.get("additionalProperties").is_some_and(Value::is_boolean), "{at} is closed");
    let format = schema.get("format").and_then(Value::as_str);
    assert!(format.is_none_or(|format| format == "date-time"), "{at} has a format");
    let nulls = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    assert!(!nulls.into_iter().any(Value::is_null), "{at} has null among its values");
    for (name, part) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_portable(&format!("{at}.{name}"), part);
    }
    for part in ["items", "additionalProperties"].iter().filter_map(|it| schema.get(*it)) {
        check_portable(&format!("{at}[]"), part);
    }
    for part in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        check_portable(&format!("{at}|"), part);
    }
}

#[test]
fn every_host_form_is_portable() {
    for contract in contracts() {
        for tool in contract.tools.iter().filter(|tool| !tool.http_only) {
            let name = tool.host_name();
            assert!(name.contains('_'), "{name} needs a name in host.json that says whose it is");
            let safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!((1..=64).contains(&name.len()) && name.chars().all(safe), "{name}");
            let forms = [tool.host_input(&contract.access), tool.host_output()];
            for form in forms {
                assert_eq!(form["type"], "object", "{name}");
                for combinator in ["anyOf", "oneOf", "allOf", "enum", "not"] {
                    assert!(!form.contains_key(combinator), "{name}: {combinator} at the top");
                }
                check_portable(&name, &Value::Object(form.clone()));
                Schema::compile(Value::Object(form)).unwrap();
            }
        }
    }
}

#[test]
fn a_host_form_requires_what_the_contract_requires() {
    for contract in contracts() {
        for tool in &contract.tools {
            let form = tool.host_input(&contract.access);
            let required = tool.input.json()["required"].as_array().cloned().unwrap_or_default();
            let credential = contract.access.credential_argument.as_deref();
            for name in required.iter().filter(|name| name.as_str() != credential) {
                assert!(form["required"].as_array().unwrap().contains(name), "{}", tool.name);
            }
        }
    }
}

#[track_caller]
fn check_refused(host: Value, expected: &str) {
    let mut contract = contract("s", &["a.b"]);
    let mut host: HostSpec = serde_json::from_value(host).unwrap();
    let failure = host.apply("s", &mut contract.tools, &AccessRules::default()).unwrap_err();
    assert_eq!(failure.to_string(), format!("s/host.json: {expected}"));
}

#[test]
fn a_host_form_must_fit_its_contract() {
    let of = |name: &str, arguments: Value| json!({ "instructions": "", "tools": { name: { "arguments": arguments } } });
    check_refused(of("a.c", json!({})), "there is no tool a.c");
    check_refused(of("a.b", json!({ "m": {} })), "a.b has no argument m");
    check_refused(of("a.b", json!({ "n": null })), "a.b hides its required n");
    let output = json!({ "instructions": "", "tools": { "a.b": { "output": { "x": {} } } } });
    check_refused(output, "the result of a.b has no x");
}

#[test]
fn a_tool_on_request_is_listed_where_it_is_asked_for() {
    use crate::{Catalog, View};
    let mut contract = contract("s", &["a.b", "health"]);
    let host = json!({ "instructions": "", "tools": { "health": { "on_request": true } } });
    let mut host: HostSpec = serde_json::from_value(host).unwrap();
    host.apply("s", &mut contract.tools, &AccessRules::default()).unwrap();
    let service = table(&["a.b", "health"]).bind(contract, super::fixture::Plain).unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let listed = |view: &View| -> Vec<String> {
        let tools = catalog.list(view).filter(|it| it.is_listed(view));
        tools.map(|it| it.name.to_owned()).collect()
    };
    let words = |word: &str| Some(vec![word.to_owned()]);
    assert_eq!(listed(&View::default()), ["a_b"]);
    assert_eq!(listed(&View { services: words("s"), ..View::default() }), ["a_b", "health"]);
    assert_eq!(listed(&View { tools: words("health"), ..View::default() }), ["health"]);
    assert_eq!(listed(&View::of_service(&catalog.services()[0].name)), ["a.b", "health"]);
    assert!(catalog.find(None, "health").is_some());
}
