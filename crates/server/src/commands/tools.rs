//! `stoa tools`: the tools that a client sees, and their size in the model's tokens; or one tool with
//! its arguments, an example and its schema.

use std::fmt::Write as _;

use contract::{ToolRef, View, VisibleTool};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::cli::ToolsArgs;
use crate::commands::{names, print};
use crate::config::Config;
use crate::exit::CommandError;

/// A token is about four characters of JSON; the exact number depends on the model.
const CHARACTERS_PER_TOKEN: usize = 4;

pub(crate) async fn run(args: ToolsArgs, config: Config) -> Result<(), CommandError> {
    let app = App::start(&config).await?;
    let text = match args.tool.is_empty() {
        true => Ok(list(&app)),
        false => describe_all(&app, &args.tool),
    };
    app.stop().await;
    print(&text?)
}

fn list(app: &App) -> String {
    let all = app.pipeline.catalog().list(&app.view);
    let (listed, unlisted): (Vec<VisibleTool<'_>>, Vec<VisibleTool<'_>>) =
        all.partition(|it| it.is_listed(&app.view));
    let width = |of: fn(&VisibleTool<'_>) -> usize, title: &str| {
        listed.iter().map(of).chain([title.len()]).max().unwrap_or_default()
    };
    let name = width(|it| it.name.len(), "tool");
    let service = width(|it| it.service.name.len(), "service");
    let scope = width(|it| it.tool.scope.as_str().len(), "scope");
    let mut text = format!(
        "{:<name$}  {:<service$}  {:<scope$}  tokens  what it does\n",
        "tool", "service", "scope"
    );
    let mut total = 0;
    for it in &listed {
        let spec = &it.tool.spec;
        let shown = json!({
            "name": it.name, "description": spec.host_description(),
            "inputSchema": spec.host_input(&it.service.access),
        });
        let tokens = shown.to_string().len().div_ceil(CHARACTERS_PER_TOKEN);
        total += tokens;
        _ = writeln!(
            text,
            "{:<name$}  {:<service$}  {:<scope$}  {tokens:>6}  {}",
            it.name,
            it.service.name,
            it.tool.scope.as_str(),
            spec.title,
        );
    }
    let before = name + service + scope + 4;
    _ = writeln!(text, "{:<before$}  {total:>6}  (about four characters each)", "all");
    if !unlisted.is_empty() {
        _ = writeln!(
            text,
            "{} more are listed on request (`--services`, `--tools`) and at /mcp/SERVICE",
            unlisted.len()
        );
    }
    text
}

fn describe_all(app: &App, asked: &[String]) -> Result<String, CommandError> {
    let catalog = app.pipeline.catalog();
    let everything = View { http: true, ..View::default() };
    let mut texts = Vec::new();
    for name in asked {
        let tool = catalog.find(None, name).ok_or_else(|| names::no_tool(name, catalog))?;
        let listed = catalog.list(&everything).find(|it| std::ptr::eq(it.tool, tool.row()));
        texts.push(describe(listed.map_or(name.as_str(), |it| it.name), tool));
    }
    Ok(texts.join("\n"))
}

fn describe(name: &str, tool: &ToolRef) -> String {
    let (spec, schema) = (&tool.row().spec, tool.input().json());
    let effect = if spec.read_only { "changes nothing" } else { "changes something" };
    let scope = tool.row().scope.as_str();
    let service = &tool.service().name;
    let mut text = format!(
        "{name}: {}\nservice {service}, scope {scope}, {effect}\n\n{}\n",
        spec.title, spec.description
    );
    let rules = schema["properties"].as_object();
    if let Some(rules) = rules.filter(|rules| !rules.is_empty()) {
        text.push_str("\narguments\n");
        let width = rules.keys().map(String::len).max().unwrap_or_default();
        for (argument, rule) in rules {
            let required = schema["required"].as_array();
            let is_required = required.is_some_and(|it| it.iter().any(|it| it == argument));
            _ = writeln!(text, "  {argument:<width$}  {}", rule_text(rule, is_required));
        }
    }
    if let Some(example) = example(service, &spec.name) {
        text.push_str("\nexample\n");
        if let Some(words) = words(&example) {
            _ = writeln!(text, "  {}", format!("stoa call {name} {words}").trim_end());
        }
        if !example.is_empty() {
            let json = Value::Object(example).to_string().replace('\'', r"'\''");
            _ = writeln!(text, "  stoa call {name} '{json}'");
        }
    }
    let schema = serde_json::to_string_pretty(schema).unwrap_or_else(|_| schema.to_string());
    _ = writeln!(text, "\ninput schema\n{schema}");
    text
}

/// The type, the limits and the description of an argument.
fn rule_text(rule: &Value, is_required: bool) -> String {
    let mut parts = vec![type_text(rule)];
    match rule.get("default") {
        _ if is_required => parts.push("required".to_owned()),
        Some(default) if !default.is_null() => parts.push(format!("default {default}")),
        _ => {}
    }
    if let Some(values) = rule["enum"].as_array() {
        let values: Vec<String> = values
            .iter()
            .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
            .collect();
        parts.push(format!("one of {}", values.join(", ")));
    }
    let text = parts.join(", ");
    match rule["description"].as_str() {
        Some(description) => format!("{text}: {description}"),
        None => text,
    }
}

fn type_text(rule: &Value) -> String {
    let name = match &rule["type"] {
        Value::String(one) => one.clone(),
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    };
    match rule["items"]["type"].as_str() {
        Some(items) if name == "array" => format!("list of {items}"),
        _ => name,
    }
}

/// The arguments of the contract's shortest example that succeeds and is no edge case. A value that an earlier step of
/// the example made is shown as its name in capitals.
fn example(service: &str, tool: &str) -> Option<Map<String, Value>> {
    let folder = format!("{service}/examples/");
    let texts = contract::file_paths()
        .filter(|path| path.starts_with(&folder))
        .filter_map(contract::file_text);
    let examples = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let is_good = |it: &Value| it.get("error").is_none() && it["edge"] != true;
    let good = examples.filter(|it| it["tool"] == tool && is_good(it));
    let arguments = good.filter_map(|mut it| match it["arguments"].take() {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    });
    let length = |it: &Map<String, Value>| Value::Object(it.clone()).to_string().len();
    let shortest = arguments.min_by_key(|it| (it.is_empty(), length(it)))?;
    Some(shortest.into_iter().map(|(name, value)| (name, placeholders(value))).collect())
}

fn placeholders(value: Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => Value::String(name.to_uppercase()),
            None => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(placeholders).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, placeholders(value))).collect()
        }
        plain => plain,
    }
}

/// The arguments as words for a shell; `None` if one is no plain value or list of them.
fn words(arguments: &Map<String, Value>) -> Option<String> {
    let plain = |value: &Value| match value {
        Value::String(text) => {
            let safe = |it: char| it.is_alphanumeric() || "-_.:/@".contains(it);
            (!text.is_empty() && text.chars().all(safe)).then(|| text.clone())
        }
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    let word = |(name, value): (&String, &Value)| match value {
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(plain).collect();
            Some(format!("{name}={}", items?.join(",")))
        }
        value => Some(format!("{name}={}", plain(value)?)),
    };
    let words: Option<Vec<String>> = arguments.iter().map(word).collect();
    Some(words?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_an_example_of_its_contract() {
        let shown = |service: &str, tool: &str| words(&example(service, tool).unwrap());
        assert_eq!(shown("quotes", "quotes.live").unwrap(), "tickers=ethusdt,BTCUSDT");
        assert_eq!(shown("archive", "arkiver_delete_file").unwrap(), "fileId=FILE");
        assert_eq!(shown("quotes", "system.health").unwrap(), "");
        assert!(shown("analyst", "ask_market_analyst").is_none(), "no words for an object");
        assert!(example("quotes", "nothing").is_none());
    }

    #[test]
    fn an_argument_is_described_by_its_rule() {
        for (rule, required, expected) in [
            (
                json!({ "type": "array", "items": { "type": "string" } }),
                true,
                "list of string, required",
            ),
            (json!({ "type": ["number", "null"] }), false, "number or null"),
            (
                json!({ "type": "string", "enum": ["a", "b"], "default": "a", "description": "Why." }),
                false,
                "string, default \"a\", one of a, b: Why.",
            ),
        ] {
            assert_eq!(rule_text(&rule, required), expected);
        }
    }
}
