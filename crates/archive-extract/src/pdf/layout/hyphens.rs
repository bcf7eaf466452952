//! Words that a line end splits are joined, so that a search finds them.

use std::collections::HashSet;

/// First parts that keep their hyphen.
const COMPOUND: [&str; 6] = ["self", "well", "cross", "quasi", "vice", "half"];

fn is_hyphen(it: char) -> bool {
    matches!(it, '-' | '\u{ad}' | '\u{2010}')
}

/// Joins `copy-⏎right` to `copyright`, and the rest of the second line follows on its own line. A
/// compound that the page also has within a line keeps its hyphen.
pub(super) fn join(text: &str) -> String {
    let candidates =
        text.contains("-\n") || text.contains("\u{ad}\n") || text.contains("\u{2010}\n");
    if !candidates {
        return text.to_owned();
    }
    let compounds = compounds(text);
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\n') {
        let (line, after) = rest.split_at(at);
        let next = after.trim_start_matches('\n');
        let word = second_part(next);
        let kept = line.trim_end_matches(is_hyphen);
        let first = kept.rsplit(|it: char| !it.is_alphabetic()).next().unwrap_or_default();
        let hyphens = line.len() - kept.len();
        if word.is_empty() || hyphens == 0 || hyphens > 3 || first.is_empty() {
            joined.push_str(line);
            joined.push_str(&after[..after.len() - next.len()]);
            rest = next;
            continue;
        }
        joined.push_str(kept);
        let lower = first.to_lowercase();
        if COMPOUND.contains(&lower.as_str()) || compounds.contains(&format!("{lower}-{word}")) {
            joined.push('-');
        }
        joined.push_str(word);
        let rest_of_line = next[word.len()..].trim_start_matches(' ');
        // Marks after the word stay with it.
        let marks = rest_of_line.find(|it: char| it.is_whitespace()).unwrap_or(rest_of_line.len());
        let glued = if next[word.len()..].starts_with(' ') { 0 } else { marks };
        joined.push_str(&rest_of_line[..glued]);
        rest = rest_of_line[glued..].trim_start_matches(' ');
        if !rest.is_empty() && !rest.starts_with('\n') {
            joined.push('\n');
        }
    }
    joined.push_str(rest);
    joined
}

/// The rest of a split word: small letters at the start of a line.
fn second_part(line: &str) -> &str {
    if !line.starts_with(char::is_lowercase) {
        return "";
    }
    let end = line.find(|it: char| !it.is_alphabetic()).unwrap_or(line.len());
    &line[..end]
}

/// The compounds that stand within a line, in small letters.
fn compounds(text: &str) -> HashSet<String> {
    text.split_whitespace()
        .filter_map(|word| {
            let word = word.trim_matches(|it: char| !it.is_alphabetic());
            (word.contains('-') && word.len() < 64).then(|| word.to_lowercase())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(join(text), expected);
    }

    #[test]
    fn split_words_are_joined() {
        check("the copy-\nright holder", "the copyright\nholder");
        check("a trade\u{ad}\nmark, too", "a trademark,\ntoo");
        check("the inter-\n\npreter", "the interpreter");
    }

    #[test]
    fn hyphens_of_compounds_and_names_stay() {
        check("self-\nevident", "self-evident");
        check("a long-term plan; a long-\nterm loan", "a long-term plan; a long-term\nloan");
        check("Anglo-\nAmerican", "Anglo-\nAmerican");
        check("pages 12-\n14", "pages 12-\n14");
        check("no hyphen\nhere", "no hyphen\nhere");
    }
}
