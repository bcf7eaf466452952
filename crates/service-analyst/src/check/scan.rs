//! Finds the numbers in a Russian or English text.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Character range; `to` is exclusive.
    pub from: usize,
    pub to: usize,
    pub shown: String,
    /// Possible values, each with half a unit of its last digit, because a comma separates decimals
    /// in one language and thousands in another.
    readings: Vec<(f64, f64)>,
}

impl Number {
    /// Reports whether the text shows this value in any reading.
    pub fn shows(&self, value: f64) -> bool {
        // The tolerance grows with the value, because large floats carry rounding errors.
        let tolerance = 1e-12 + value.abs() * 1e-14;
        self.readings
            .iter()
            .any(|(read, half)| (read - value).abs() <= half * 1.000_001 + tolerance)
    }
}

const SPACES: [char; 2] = ['\u{a0}', '\u{202f}'];
const SCALES: [(&str, f64); 6] =
    [("тыс.", 1e3), ("млн", 1e6), ("млрд", 1e9), ("трлн", 1e12), ("bn", 1e9), ("tn", 1e12)];

/// Returns all numbers of a text. Digits directly after a letter belong to a name and are skipped.
pub fn numbers(text: &str) -> Vec<Number> {
    let chars: Vec<char> = text.chars().collect();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if !chars[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let in_name = at > 0 && (chars[at - 1].is_alphabetic() || chars[at - 1] == '_');
        let mut to = at;
        while to < chars.len() && continues_number(&chars, to) {
            to += 1;
        }
        if !in_name {
            numbers.push(number(&chars, at, to));
        }
        at = to.max(at + 1);
    }
    numbers
}

fn continues_number(chars: &[char], at: usize) -> bool {
    let next = chars.get(at + 1).is_some_and(char::is_ascii_digit);
    chars[at].is_ascii_digit()
        || (next && (SPACES.contains(&chars[at]) || ",.".contains(chars[at])))
}

fn number(chars: &[char], at: usize, to: usize) -> Number {
    let sign = at > 0
        && matches!(chars[at - 1], '−' | '-')
        && (at < 2 || !chars[at - 2].is_alphanumeric());
    let from = if sign { at - 1 } else { at };
    let rest: String = chars[to..].iter().take(8).collect();
    let rest = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let scale = SCALES.iter().find(|(word, _)| rest.starts_with(word)).map_or(1.0, |it| it.1);
    // "m" means millions only as a whole word.
    let scale = if rest.starts_with("m ") || rest.starts_with("m\u{a0}") || rest == "m" {
        1e6
    } else {
        scale
    };
    let plain: String = chars[at..to].iter().filter(|it| !SPACES.contains(it)).collect();
    let mut readings = Vec::new();
    for (decimal, group) in [(',', '.'), ('.', ',')] {
        let text = plain.replace(group, "").replace(decimal, ".");
        let digits = text.split_once('.').map_or(0, |(_, after)| after.len());
        if let Ok(value) = text.parse::<f64>() {
            let half = 0.5 * 10_f64.powi(-i32::try_from(digits).unwrap_or(0)) * scale;
            readings.push((if sign { -value } else { value } * scale, half));
        }
    }
    Number { from, to, shown: chars[from..to].iter().collect(), readings }
}

/// Visits every scalar value of a document with its JSON pointer.
pub(crate) fn visit_values(value: &Value, at: &mut String, visit: &mut dyn FnMut(&str, &Value)) {
    let mut below = |name: &str, value: &Value, at: &mut String| {
        let len = at.len();
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        visit_values(value, at, visit);
        at.truncate(len);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| below(name, value, at)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(name, value)| below(&name.to_string(), value, at));
        }
        value => visit(at, value),
    }
}
