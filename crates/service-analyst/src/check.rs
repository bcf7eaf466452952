//! Whether every number of an answer is what a tool said. Used on what we write and on what a
//! model writes alike.

mod scan;
mod trace;

use jiff::civil::Date;
use serde_json::{Value, json};

use crate::number::{Language, date_forms};
use crate::tool_session::Finding;
pub(crate) use scan::visit_values;
pub use scan::{Number, numbers};
pub use trace::trace;

/// How a number follows from what its sources say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    Value,
    /// Without its sign, which words have said.
    Absolute,
    /// A share as percent.
    Percent,
    /// The first less the second.
    Difference,
    /// From the first to the second, in percent of the first.
    Change,
    /// All of them together.
    Sum,
    /// What they leave of a hundred.
    Rest,
    /// All but the last together, in percent of the last.
    Part,
    /// All of them multiplied by a number that the question gives.
    Times(u64),
    /// What so much money becomes at a return in percent.
    Grown(u64),
    /// A price on today's scale: the shares before and after each split follow it.
    Rescaled,
    /// From such a price to the last one, in percent.
    RescaledChange,
    /// What so much money becomes from such a price to the last one.
    Became(u64),
    /// How many rows of the list have risen, or fallen.
    Rising,
    Falling,
    /// As the question itself has it.
    Question,
}

impl Formula {
    const fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Absolute => "absolute",
            Self::Percent => "percent",
            Self::Difference => "difference",
            Self::Change => "change",
            Self::Sum => "sum",
            Self::Rest => "rest",
            Self::Part => "part",
            Self::Times(_) => "times",
            Self::Grown(_) => "grown",
            Self::Became(_) => "became",
            Self::Rescaled => "rescaled",
            Self::RescaledChange => "rescaled_change",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Question => "question",
        }
    }

    fn of(self, sources: &[Value]) -> Option<Value> {
        let number = |at: usize| sources.get(at)?.as_f64();
        let count = |holds: fn(f64) -> bool| {
            let rows = sources.first()?.as_array()?;
            let moved = |row: &&Value| row["price_change_pct"].as_f64().is_some_and(holds);
            Some(json!(rows.iter().filter(moved).count()))
        };
        match self {
            Self::Value => sources.first().cloned(),
            Self::Absolute => Some(json!(number(0)?.abs())),
            Self::Percent => Some(json!(number(0)? * 100.0)),
            Self::Difference => Some(json!(number(0)? - number(1)?)),
            Self::Change => Some(json!((number(1)? / number(0)? - 1.0) * 100.0)),
            Self::Sum => Some(json!(sum(sources)?)),
            Self::Rest => Some(json!(100.0 - sum(sources)?)),
            Self::Part => {
                let (whole, parts) = sources.split_last()?;
                Some(json!(sum(parts)? / whole.as_f64()? * 100.0))
            }
            Self::Times(by) => {
                let product: Option<f64> = sources.iter().map(Value::as_f64).product();
                Some(json!(product? * by as f64))
            }
            Self::Grown(money) => Some(json!(money as f64 * (1.0 + number(0)? / 100.0))),
            Self::Became(money) => {
                let (now, then) = sources.split_last()?;
                Some(json!(money as f64 * now.as_f64()? / rescaled(then)?))
            }
            Self::Rescaled => Some(json!(rescaled(sources)?)),
            Self::RescaledChange => {
                let (now, then) = sources.split_last()?;
                Some(json!((now.as_f64()? / rescaled(then)? - 1.0) * 100.0))
            }
            Self::Rising => count(|it| it > 0.0),
            Self::Falling => count(|it| it < 0.0),
            Self::Question => None,
        }
    }
}

/// A price with the numbers of shares before and after each split that came later.
fn rescaled(values: &[Value]) -> Option<f64> {
    let (price, splits) = values.split_first()?;
    let mut price = price.as_f64()?;
    for split in splits.chunks(2) {
        let [before, after] = split else { return None };
        price *= before.as_f64()? / after.as_f64()?;
    }
    price.is_finite().then_some(price)
}

fn sum(values: &[Value]) -> Option<f64> {
    values.iter().map(Value::as_f64).sum()
}

/// Where in an answer a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationPlace {
    /// Characters of the text, the last one not included.
    Text(usize, usize),
    /// Table, row and column.
    Cell(usize, usize, usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    pub place: CitationPlace,
    pub shown: String,
    pub value: Value,
    /// Calls and pointers into their `{args, result, meta}`.
    pub sources: Vec<(usize, String)>,
    pub formula: Formula,
}

impl Citation {
    pub fn to_json(&self) -> Value {
        let source = |(call, pointer): &(usize, String)| json!({ "tool_call": call.to_string(), "pointer": pointer });
        let mut object = match self.place {
            CitationPlace::Text(from, to) => json!({ "span": [from, to] }),
            CitationPlace::Cell(table, row, column) => json!({ "cell": [table, row, column] }),
        };
        object["text"] = json!(self.shown);
        object["value"] = self.value.clone();
        object["tool_call"] =
            self.sources.first().map_or(Value::Null, |it| json!(it.0.to_string()));
        object["pointer"] = self.sources.first().map_or(Value::Null, |it| json!(it.1));
        if self.formula != Formula::Value {
            object["formula"] = json!(self.formula.word());
            if let Formula::Times(by) | Formula::Grown(by) | Formula::Became(by) = self.formula {
                object["by"] = json!(by);
            }
            object["of"] = self.sources.iter().map(source).collect();
        }
        object
    }

    fn holds(&self, question: &str, findings: &[Finding]) -> bool {
        if self.formula == Formula::Question {
            return digits(question).contains(&digits(&self.shown));
        }
        let of = |(call, pointer): &(usize, String)| {
            let finding = findings.iter().find(|it| it.id == *call)?;
            finding.pointed(pointer)
        };
        let sources: Option<Vec<Value>> = self.sources.iter().map(of).collect();
        let found = sources.and_then(|sources| self.formula.of(&sources));
        found.is_some_and(|found| shows(&self.shown, &found))
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text shows a value, to the precision it is written with.
fn shows(text: &str, value: &Value) -> bool {
    match value {
        Value::Number(value) => {
            let value = value.as_f64().unwrap_or(f64::NAN);
            matches!(numbers(text).as_slice(), [only] if only.is(value))
        }
        Value::String(said) => match clock::parse_date(said.get(..10).unwrap_or_default()) {
            Some(date) => dated(text, date),
            None => digits(said).contains(&digits(text)),
        },
        _ => false,
    }
}

fn dated(text: &str, date: Date) -> bool {
    [Language::Russian, Language::English]
        .iter()
        .any(|it| date_forms(date, *it).iter().any(|form| form == text))
}

/// A number that nothing supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub text: String,
    pub at: usize,
}

/// Checks every number of a text: it must stand in a citation that holds, or be the mark of a call.
pub fn check_numbers(
    text: &str,
    citations: &[Citation],
    question: &str,
    findings: &[Finding],
) -> Result<(), Vec<Unsupported>> {
    let chars: Vec<char> = text.chars().collect();
    let mut wrong = Vec::new();
    for number in numbers(text) {
        let cited = citations.iter().find(|it| match it.place {
            CitationPlace::Text(from, to) => from <= number.from && number.to <= to,
            CitationPlace::Cell(..) => false,
        });
        let supported = match cited {
            Some(cited) => quoted(&chars, cited) && cited.holds(question, findings),
            None => is_mark(&chars, &number, findings) || is_code(&chars, &number, findings),
        };
        if !supported {
            wrong.push(Unsupported { text: number.shown.clone(), at: number.from });
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Checks every number of tables in the same way.
pub fn check_tables(
    tables: &[Value],
    citations: &[Citation],
    question: &str,
    findings: &[Finding],
) -> Result<(), Vec<Unsupported>> {
    let mut wrong = Vec::new();
    for (table, it) in tables.iter().enumerate() {
        for (row, cells) in it["rows"].as_array().into_iter().flatten().enumerate() {
            for (column, cell) in cells.as_array().into_iter().flatten().enumerate() {
                let Some(number) = cell.as_f64() else { continue };
                let place = CitationPlace::Cell(table, row, column);
                let cited = citations.iter().find(|it| it.place == place);
                let same = |it: &&Citation| it.value.as_f64() == Some(number);
                if !cited.filter(same).is_some_and(|it| it.holds(question, findings)) {
                    wrong.push(Unsupported { text: cell.to_string(), at: row });
                }
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn quoted(chars: &[char], citation: &Citation) -> bool {
    let CitationPlace::Text(from, to) = citation.place else { return false };
    chars.get(from..to).is_some_and(|it| it.iter().collect::<String>() == citation.shown)
}

fn is_mark(chars: &[char], number: &Number, findings: &[Finding]) -> bool {
    let framed = number.from > 0
        && chars.get(number.from - 1) == Some(&'[')
        && chars.get(number.to) == Some(&']');
    framed && findings.iter().any(|it| it.id.to_string() == number.shown)
}

/// Whether the digits begin a word that a tool gave as a whole: some tickers begin so.
fn is_code(chars: &[char], number: &Number, findings: &[Finding]) -> bool {
    let end = chars.iter().skip(number.from).take_while(|it| it.is_alphanumeric()).count();
    let word: String = chars.iter().skip(number.from).take(end).collect();
    if !word.chars().any(char::is_alphabetic) {
        return false;
    }
    let mut is_known = false;
    for finding in findings {
        visit_values(&finding.evidence(), &mut String::new(), &mut |_, value| {
            is_known |= value.as_str() == Some(&word);
        });
    }
    is_known
}
