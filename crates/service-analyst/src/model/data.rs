//! Sanitizes and bounds the data sent to a model and the text received from it.

use serde_json::{Map, Value, json};

use crate::tool_session::Finding;

/// Largest tool result sent to a model, in bytes.
const RESULT_BYTES_MAX: usize = 10_000;
/// Row limits for lists in a result, tried in this order until the result fits.
const ROWS: [usize; 4] = [40, 16, 6, 2];
const STRING_CHARS_MAX: usize = 200;
const ENTRIES_MAX: usize = 80;

/// Invisible characters can hide text from readers or reverse its direction.
fn is_hidden(it: char) -> bool {
    matches!(it, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn plain(text: &str, max: usize) -> String {
    text.chars().filter(|it| !it.is_control() && !is_hidden(*it)).take(max).collect()
}

fn shortened(value: &Value, rows: usize) -> Value {
    match value {
        Value::String(text) => json!(plain(text, STRING_CHARS_MAX)),
        Value::Array(list) if list.len() > rows => {
            let (head, tail) = (rows / 4, rows - rows / 4);
            let omitted = json!({ "omitted_rows": list.len() - rows });
            let first = list.iter().take(head).map(|it| shortened(it, rows));
            let last = list.iter().skip(list.len() - tail).map(|it| shortened(it, rows));
            first.chain([omitted]).chain(last).collect()
        }
        Value::Array(list) => list.iter().map(|it| shortened(it, rows)).collect(),
        Value::Object(map) => {
            let entry = |(name, value): (&String, &Value)| {
                (plain(name, STRING_CHARS_MAX), shortened(value, rows))
            };
            Value::Object(map.iter().take(ENTRIES_MAX).map(entry).collect::<Map<_, _>>())
        }
        value => value.clone(),
    }
}

/// Renders one finding for a model. The first word is the call's mark.
pub(super) fn render_finding(finding: &Finding) -> String {
    let mark = finding.id;
    let answer = match &finding.outcome {
        Ok(answer) => &answer.result,
        Err(failure) => {
            let code = plain(&failure.code, STRING_CHARS_MAX);
            let message = plain(&failure.message, STRING_CHARS_MAX);
            return format!(
                "[{mark}] {}",
                json!({ "error": { "code": code, "message": message } })
            );
        }
    };
    let fitting = ROWS.iter().map(|rows| shortened(answer, *rows).to_string());
    let text = fitting.into_iter().find(|it| it.len() <= RESULT_BYTES_MAX);
    let text = text.unwrap_or_else(|| {
        json!({ "error": { "code": "too_large", "message": "the result does not fit" } })
            .to_string()
    });
    format!("[{mark}] {text}")
}

/// Cleans a model's text for display: removes hidden characters and the model's own disclaimer, and
/// puts no-break spaces between thousands.
pub(super) fn prose(text: &str) -> String {
    let shown = |it: &char| *it == '\n' || !(it.is_control() || is_hidden(*it));
    let text: String = text.replace('\t', " ").chars().filter(shown).collect();
    let disclaims = |line: &str| {
        let line = line.to_lowercase();
        line.contains("investment advice")
            || (line.contains("инвестиционн") && line.contains("рекомендаци"))
    };
    let lines: Vec<String> =
        text.lines().filter(|it| !disclaims(it)).map(|it| grouped(it.trim_end())).collect();
    lines.join("\n").trim().to_owned()
}

/// Replaces the spaces inside `1 234 567` with no-break spaces.
fn grouped(line: &str) -> String {
    let mut chars: Vec<char> = line.chars().collect();
    for at in 1..chars.len() {
        if chars[at] != ' ' {
            continue;
        }
        let digits = |it: &&char| it.is_ascii_digit();
        let before = chars[..at].iter().rev().take_while(digits).count();
        let after = chars[at + 1..].iter().take_while(digits).count();
        // The character before the digits must not make them a fraction or a part of a name.
        let ahead = at.checked_sub(before + 1).and_then(|it| chars.get(it));
        let whole = ahead.is_none_or(|it| !it.is_alphanumeric() && !",._".contains(*it));
        if (1..=3).contains(&before) && after == 3 && whole {
            chars[at] = '\u{a0}';
        }
    }
    chars.into_iter().collect()
}

/// Detects links and HTML, which could send data to another site.
pub(super) fn has_markup(text: &str) -> bool {
    let tag = |it: &[char]| it[0] == '<' && (it[1].is_ascii_alphabetic() || "/!".contains(it[1]));
    let chars: Vec<char> = text.chars().collect();
    text.contains("://") || text.contains("](") || chars.windows(2).any(tag)
}
