//! `OpenMetrics` text as the older Prometheus text format 0.0.4, in which a counter is declared with
//! its suffix and there are no units, no info and no end mark.

/// The same samples in the text format 0.0.4.
pub(crate) fn prometheus_text(openmetrics: &str) -> String {
    let mut text = String::with_capacity(openmetrics.len());
    let mut help: Option<&str> = None;
    for line in openmetrics.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        // The help of a family comes before its type, which the name depends on.
        match comment.split_once(' ') {
            Some(("HELP", rest)) => help = Some(rest),
            Some(("TYPE", rest)) => declare(&mut text, rest, help.take()),
            _ => {}
        }
    }
    text
}

fn declare(text: &mut String, family: &str, help: Option<&str>) {
    let (name, kind) = family.split_once(' ').unwrap_or((family, "unknown"));
    let (suffix, kind) = match kind {
        "counter" => ("_total", kind),
        "info" => ("_info", "gauge"),
        "unknown" => ("", "untyped"),
        _ => ("", kind),
    };
    if let Some(help) = help.and_then(|help| help.strip_prefix(name)) {
        text.push_str(&format!("# HELP {name}{suffix}{help}\n"));
    }
    text.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_declared_by_the_name_of_its_samples() {
        let openmetrics = "# HELP a Requests.\n# TYPE a counter\na_total{x=\"# y\"} 1\n\
             # HELP b_seconds Time.\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n\
             b_seconds_bucket{le=\"+Inf\"} 2\n\
             # HELP c What runs.\n# TYPE c info\nc_info{v=\"1\"} 1\n\
             # TYPE d unknown\nd 4\n# EOF\n";
        let expected = "# HELP a_total Requests.\n# TYPE a_total counter\na_total{x=\"# y\"} 1\n\
             # HELP b_seconds Time.\n# TYPE b_seconds histogram\n\
             b_seconds_bucket{le=\"+Inf\"} 2\n\
             # HELP c_info What runs.\n# TYPE c_info gauge\nc_info{v=\"1\"} 1\n\
             # TYPE d untyped\nd 4\n";
        assert_eq!(prometheus_text(openmetrics), expected);
    }
}
