//! Paths of HTTP bindings, in which `{name}` is an argument.

use crate::files::ContractError;
use crate::schema::Schema;

/// The names of the arguments in a path, in order.
pub fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The main path and the further ones.
pub(crate) fn all_paths<'a>(path: &'a str, also: &'a [String]) -> impl Iterator<Item = &'a str> {
    std::iter::once(path).chain(also.iter().map(String::as_str))
}

/// Fails on a path that no request can have, on paths with different arguments, and on an argument
/// that the input schema lacks.
pub(crate) fn check(path: &str, also: &[String], input: &Schema) -> Result<(), ContractError> {
    let first: Vec<&str> = path_parameters(path).collect();
    for path in all_paths(path, also) {
        let odd = |part: &str| {
            let name = part.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            name.unwrap_or(part).contains(['{', '}', '?', '#', '*'])
        };
        if !path.starts_with('/') || path.split('/').any(odd) {
            return Err(ContractError(format!("{path} is not a valid path")));
        }
        if path_parameters(path).collect::<Vec<_>>() != first {
            let message = format!("{path} has other arguments than the first path of its tool");
            return Err(ContractError(message));
        }
    }
    let known = |name: &&str| input.json()["properties"][name].is_object();
    match first.iter().find(|name| !known(name)) {
        Some(name) => Err(ContractError(format!("{path}: {name} is not in the input"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn verdict(path: &str, also: &[&str], good: bool) {
        let input = json!({ "properties": { "id": {}, "page": {} } });
        let also: Vec<String> = also.iter().map(|&it| it.to_owned()).collect();
        let checked = check(path, &also, &Schema::compile(input).unwrap());
        assert_eq!(checked.is_ok(), good, "{path} {also:?}: {checked:?}");
    }

    #[test]
    fn a_path_names_arguments_that_the_tool_has() {
        verdict("/a", &[], true);
        verdict("/a/{id}", &["/v1/a/{id}", "/{id}"], true);
        verdict("/a/{id}/pages/{page}", &[], true);
        verdict("/a/{other}", &[], false);
        verdict("/a/{id}", &["/v1/a"], false);
        verdict("/a/{id}/{page}", &["/a/{page}/{id}"], false);
        for bad in ["", "a", "/a/x{id}", "/a/{id", "/a/{*id}", "/a?b", "/a/{}"] {
            verdict(bad, &[], false);
        }
    }

    #[test]
    fn the_arguments_of_a_path_are_in_its_order() {
        assert_eq!(path_parameters("/a/{x}/b/{y}").collect::<Vec<_>>(), ["x", "y"]);
    }
}
