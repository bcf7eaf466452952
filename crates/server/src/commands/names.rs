//! The names of services and tools as the contracts have them, without a running server: for entries
//! in a client's file, for completions, and for the nearest name to a misspelt one.

use std::collections::{BTreeSet, HashMap};

use contract::{Catalog, Contract, ContractError, ToolSpec, View, host_safe};

use crate::config::did_you_mean;
use crate::exit::CommandError;

/// A tool as clients list it.
pub(crate) struct ToolName {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Every spelling under which it can be called.
    spellings: Vec<String>,
}

pub(crate) fn services() -> BTreeSet<&'static str> {
    contract::file_paths().filter_map(|path| Some(path.split_once('/')?.0)).collect()
}

/// The tools that MCP clients list, in the order of the services.
pub(crate) fn tools() -> Result<Vec<ToolName>, ContractError> {
    let mut tools = Vec::new();
    let mut owners: HashMap<String, usize> = HashMap::new();
    for service in services() {
        for tool in Contract::load(service)?.tools {
            *owners.entry(tool.host_name()).or_default() += 1;
            if !tool.http_only {
                tools.push((service, tool));
            }
        }
    }
    let named = |(service, tool): (&str, ToolSpec)| {
        // The service name distinguishes tools of the same name.
        let host_name = tool.host_name();
        let long = format!("{service}_{host_name}");
        let is_shared = owners.get(&host_name).is_some_and(|count| *count > 1);
        let name = if is_shared { long.clone() } else { host_name };
        let spellings = tool.spellings().into_iter().chain([long]).collect();
        ToolName { name, title: tool.title, spellings }
    };
    Ok(tools.into_iter().map(named).collect())
}

/// Refuses names that do not exist. In a client's entry a wrong name would make the start fail, and
/// the user would find the reason only in the client's logs.
pub(crate) fn check(services: &[String], tools: &[String]) -> Result<(), CommandError> {
    let known = self::services();
    if let Some(unknown) = services.iter().find(|name| !known.contains(name.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(CommandError::usage(format!(
            "there is no service {unknown:?}; known: {known}"
        )));
    }
    if tools.is_empty() {
        return Ok(());
    }
    let known = self::tools()?;
    let is_known = |name: &String| known.iter().any(|tool| tool.spellings.contains(name));
    match tools.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => Err(no_tool_among(unknown, known.iter().map(|tool| tool.name.as_str()))),
    }
}

/// The error for a tool that a catalog does not have.
pub(crate) fn no_tool(name: &str, catalog: &Catalog) -> CommandError {
    let everything = View { http: true, ..View::default() };
    let listed: Vec<&str> = catalog.list(&everything).map(|tool| tool.name).collect();
    no_tool_among(name, listed.into_iter())
}

fn no_tool_among<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> CommandError {
    let near = did_you_mean(&host_safe(name), known);
    let stop = if near.is_empty() { ";" } else { "" };
    CommandError::usage(format!("there is no tool {name:?}{near}{stop} `stoa tools` lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_exist_are_taken() {
        for (services, tools, holds) in [
            ("", "", true),
            ("quotes", "quotes.live", true),
            ("", "quotes_live", true),
            ("", "collector_auth_metrics", true),
            ("archive", "arkiver_auth", true),
            ("archive", "auth", true),
            ("qoutes", "", false),
            ("quotes", "quotes.life", false),
        ] {
            let list = |text: &str| match text {
                "" => Vec::new(),
                text => vec![text.to_owned()],
            };
            let checked = check(&list(services), &list(tools));
            assert_eq!(checked.is_ok(), holds, "{services} {tools}");
        }
    }

    #[test]
    fn a_misspelt_tool_gets_the_nearest_name() {
        let refused = |name: &str| check(&[], &[name.to_owned()]).unwrap_err().to_string();
        assert_eq!(
            refused("quote_live"),
            "there is no tool \"quote_live\"; did you mean quotes_live? `stoa tools` lists them"
        );
        assert_eq!(
            refused("quote.live"),
            "there is no tool \"quote.live\"; did you mean quotes_live? `stoa tools` lists them"
        );
        assert_eq!(refused("zzzz"), "there is no tool \"zzzz\"; `stoa tools` lists them");
    }
}
