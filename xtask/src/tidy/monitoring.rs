//! Checks that the dashboard and the alert rules name only metrics of `docs/metrics.md`; a test of the
//! server compares that page with `/metrics`.

use std::collections::BTreeSet;

use crate::Outcome;
use crate::workspace::{Workspace, read};

const FILES: &[&str] = &["packaging/monitoring/grafana.json", "packaging/monitoring/alerts.yml"];

pub(super) fn problems(workspace: &Workspace) -> Outcome<Vec<String>> {
    let known = names(&read(&workspace.root.join("docs/metrics.md"))?);
    let mut all = Vec::new();
    for file in FILES {
        let text = read(&workspace.root.join(file))?;
        let used = names(&text);
        if used.is_empty() {
            all.push(format!("{file} names no metric"));
        }
        let unknown = used.iter().filter(|name| !is_known(name, &known));
        all.extend(unknown.map(|name| format!("{file}: {name} is not in docs/metrics.md")));
        if file.ends_with(".json")
            && let Err(error) = serde_json::from_str::<serde_json::Value>(&text)
        {
            all.push(format!("{file}: {error}"));
        }
    }
    Ok(all)
}

/// The series of a histogram have names of their own.
fn is_known(name: &str, known: &BTreeSet<String>) -> bool {
    let ends = ["", "_bucket", "_sum", "_count"];
    ends.iter().any(|end| name.strip_suffix(end).is_some_and(|name| known.contains(name)))
}

/// Every word of a text that begins with `stoa_` and does not end with `_`.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|it| it.starts_with("stoa_") && !it.ends_with('_')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_does_not_exist_is_found() {
        let known = names("| `stoa_calls_total` | `stoa_call_seconds` | all of `stoa_process_*` |");
        assert_eq!(known.len(), 2);
        assert!(is_known("stoa_calls_total", &known));
        assert!(is_known("stoa_call_seconds_bucket", &known));
        assert!(!is_known("stoa_calls", &known));
        assert!(!is_known("stoa_process_threads", &known));
    }
}
