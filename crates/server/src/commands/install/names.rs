//! Checks the names in a client's entry. A wrong name would make the start fail, and the user would
//! find the reason only in the client's logs.

use std::collections::BTreeSet;

use contract::{Contract, host_safe};

use crate::exit::CommandError;

pub(super) fn check(services: &[String], tools: &[String]) -> Result<(), CommandError> {
    let known: BTreeSet<&str> =
        contract::file_paths().filter_map(|path| Some(path.split_once('/')?.0)).collect();
    if let Some(unknown) = services.iter().find(|name| !known.contains(name.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(CommandError::usage(format!(
            "there is no service {unknown:?}; known: {known}"
        )));
    }
    if tools.is_empty() {
        return Ok(());
    }
    let mut spellings = BTreeSet::new();
    for service in known {
        for tool in Contract::load(service)?.tools {
            let safe = host_safe(&tool.name);
            // The service name distinguishes tools of the same name.
            spellings.extend([format!("{service}_{safe}"), safe, tool.name]);
        }
    }
    match tools.iter().find(|name| !spellings.contains(*name)) {
        None => Ok(()),
        Some(unknown) => Err(CommandError::usage(format!(
            "there is no tool {unknown:?}; `stoa tools` lists them"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_exist_are_written() {
        for (services, tools, holds) in [
            ("", "", true),
            ("quotes", "quotes.live", true),
            ("", "quotes_live", true),
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
}
