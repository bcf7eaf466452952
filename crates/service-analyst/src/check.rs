//! Checks that every number of an answer comes from a tool result. The check applies to answers by
//! rules and by a model.

mod scan;
mod trace;

use jiff::civil::Date;
use serde_json::{Value, json};

use crate::number::{Language, date_forms};
use crate::tool_session::Finding;
pub(crate) use scan::visit_values;
pub use scan::{Number, numbers};
pub use trace::trace;

/// How a number is computed from the values of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    Value,
    /// The absolute value; the words around it give the sign.
    Absolute,
    /// A fraction as a percentage.
    Percent,
    /// The first value minus the second.
    Difference,
    /// The first value minus the second, each as it is shown: with two decimals.
    ShownDifference,
    /// The change from the first value to the second, in percent.
    Change,
    /// The sum of all values.
    Sum,
    /// 100 minus the sum of all values.
    Rest,
    /// The sum of all values but the last, in percent of the last.
    Part,
    /// The product of all values and a number from the question.
    Times(u64),
    /// The value of a sum of money after a return in percent.
    Grown(u64),
    /// A price adjusted for splits: the share counts before and after each split follow it.
    Rescaled,
    /// The change from a split-adjusted price to the last price, in percent.
    RescaledChange,
    /// The difference of two such changes, each as it is shown; the number of sources of the first.
    ChangeDifference(usize),
    /// The value of a sum of money invested at a split-adjusted price, at the last price.
    Became(u64),
    /// A percentage of a sum of money from the question.
    PartOfMoney(u64),
    /// The time of day in Moscow.
    MoscowTime,
    /// The day in Moscow of a moment in milliseconds.
    DayOfMs,
    /// A correlation times the first volatility over the second.
    Beta,
    /// A return in percent over a number of days, per year, over a yearly volatility.
    Sharpe(u64),
    /// The number of rows that rose; `Falling` counts the rows that fell.
    Rising,
    Falling,
    /// A number that the question itself contains.
    Question,
}

impl Formula {
    const fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Absolute => "absolute",
            Self::Percent => "percent",
            Self::Difference | Self::ShownDifference | Self::ChangeDifference(_) => "difference",
            Self::Change => "change",
            Self::Sum => "sum",
            Self::Rest => "rest",
            Self::Part => "part",
            Self::Times(_) => "times",
            Self::Grown(_) => "grown",
            Self::Became(_) => "became",
            Self::PartOfMoney(_) => "part_of_money",
            Self::MoscowTime => "moscow_time",
            Self::DayOfMs => "day_of_ms",
            Self::Beta => "beta",
            Self::Sharpe(_) => "sharpe",
            Self::Rescaled => "rescaled",
            Self::RescaledChange => "rescaled_change",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Question => "question",
        }
    }

    pub(crate) fn compute(self, sources: &[Value]) -> Option<Value> {
        // Some tools return prices as strings.
        let number = |at: usize| {
            let value = sources.get(at)?;
            value.as_f64().or_else(|| value.as_str()?.parse().ok())
        };
        let count_rows = |condition: fn(f64) -> bool| {
            let rows = sources.first()?.as_array()?;
            let moved = |row: &&Value| row["price_change_pct"].as_f64().is_some_and(condition);
            Some(json!(rows.iter().filter(moved).count()))
        };
        match self {
            Self::Value => sources.first().cloned(),
            Self::Absolute => Some(json!(number(0)?.abs())),
            Self::Percent => Some(json!(number(0)? * 100.0)),
            Self::Difference => Some(json!(number(0)? - number(1)?)),
            Self::ShownDifference => Some(json!(shown_difference(number(0)?, number(1)?))),
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
                let (now, past) = sources.split_last()?;
                Some(json!(money as f64 * now.as_f64()? / rescaled(past)?))
            }
            Self::Rescaled => Some(json!(rescaled(sources)?)),
            Self::RescaledChange => Some(json!(rescaled_change(sources)?)),
            Self::ChangeDifference(first) => {
                let (a, b) = sources.split_at_checked(first)?;
                Some(json!(shown_difference(rescaled_change(a)?, rescaled_change(b)?)))
            }
            Self::PartOfMoney(money) => Some(json!(money as f64 * number(0)? / 100.0)),
            Self::MoscowTime => {
                let moment: jiff::Timestamp = sources.first()?.as_str()?.parse().ok()?;
                let time = moscow(moment.as_millisecond())?.time();
                Some(json!(format!("{:02}:{:02}", time.hour(), time.minute())))
            }
            Self::DayOfMs => Some(json!(moscow(sources.first()?.as_i64()?)?.date().to_string())),
            Self::Beta => Some(json!(number(0)? * number(1)? / number(2)?)),
            Self::Sharpe(days) => {
                let yearly = (1.0 + number(0)? / 100.0).powf(365.25 / days.max(1) as f64) - 1.0;
                Some(json!(yearly * 100.0 / number(1)?))
            }
            Self::Rising => count_rows(|it| it > 0.0),
            Self::Falling => count_rows(|it| it < 0.0),
            Self::Question => None,
        }
    }
}

/// Returns the Moscow date and time of a moment in milliseconds.
fn moscow(ms: i64) -> Option<jiff::civil::DateTime> {
    let moment = jiff::Timestamp::from_millisecond(ms.checked_add(crate::MOSCOW_MS)?).ok()?;
    Some(moment.to_zoned(jiff::tz::TimeZone::UTC).datetime())
}

/// The difference of two values with two decimals each, so that a reader who subtracts what is
/// shown gets the same.
pub(crate) fn shown_difference(a: f64, b: f64) -> f64 {
    let hundredths = |value: f64| (value * 100.0).round();
    (hundredths(a) - hundredths(b)) / 100.0
}

/// Adjusts a price by the share counts before and after each later split.
fn rescaled(values: &[Value]) -> Option<f64> {
    let (price, splits) = values.split_first()?;
    let mut price = price.as_f64()?;
    for split in splits.chunks(2) {
        let [before, after] = split else { return None };
        price *= before.as_f64()? / after.as_f64()?;
    }
    price.is_finite().then_some(price)
}

/// Returns the change from a split-adjusted price to the last price, in percent.
fn rescaled_change(values: &[Value]) -> Option<f64> {
    let (now, past) = values.split_last()?;
    Some((now.as_f64()? / rescaled(past)? - 1.0) * 100.0)
}

fn sum(values: &[Value]) -> Option<f64> {
    values.iter().map(Value::as_f64).sum()
}

/// The position of a figure in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationPlace {
    /// A character range of the text; the end is exclusive.
    Text(usize, usize),
    /// Table, row and column.
    Cell(usize, usize, usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    pub place: CitationPlace,
    pub shown: String,
    pub value: Value,
    /// Calls, and pointers into their `{args, result, meta}`.
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
            if let Formula::Times(by)
            | Formula::Grown(by)
            | Formula::Became(by)
            | Formula::PartOfMoney(by)
            | Formula::Sharpe(by) = self.formula
            {
                object["by"] = json!(by);
            }
            object["of"] = self.sources.iter().map(source).collect();
        }
        object
    }

    /// Recomputes the figure from its sources and reports whether it shows the same value.
    fn is_supported(&self, question: &str, findings: &[Finding]) -> bool {
        if self.formula == Formula::Question {
            return letters_and_digits(question).contains(&letters_and_digits(&self.shown));
        }
        let source_value = |(call, pointer): &(usize, String)| {
            let finding = findings.iter().find(|it| it.id == *call)?;
            finding.value_at(pointer)
        };
        let sources: Option<Vec<Value>> = self.sources.iter().map(source_value).collect();
        let computed = sources.and_then(|sources| self.formula.compute(&sources));
        computed.is_some_and(|computed| shows(&self.shown, &computed))
    }
}

/// Returns the letters and the digits of a text, in lower case.
fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Reports whether a text shows a value, to the precision of the text.
fn shows(text: &str, value: &Value) -> bool {
    match value {
        Value::Number(value) => {
            let value = value.as_f64().unwrap_or(f64::NAN);
            matches!(numbers(text).as_slice(), [only] if only.shows(value))
        }
        Value::String(value) => match clock::parse_date(value.get(..10).unwrap_or_default()) {
            Some(date) => is_date_form(text, date),
            None => letters_and_digits(value).contains(&letters_and_digits(text)),
        },
        _ => false,
    }
}

fn is_date_form(text: &str, date: Date) -> bool {
    [Language::Russian, Language::English]
        .iter()
        .any(|it| date_forms(date, *it).iter().any(|form| form == text))
}

/// A number without a source; `at` is its character in the text, or its row in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub text: String,
    pub at: usize,
}

/// Checks that every number of a text is inside a valid citation or is the mark of a call.
pub fn check_numbers(
    text: &str,
    citations: &[Citation],
    question: &str,
    findings: &[Finding],
) -> Result<(), Vec<Unsupported>> {
    let chars: Vec<char> = text.chars().collect();
    let mut wrong = Vec::new();
    for number in numbers(text) {
        let citation = citations.iter().find(|it| match it.place {
            CitationPlace::Text(from, to) => from <= number.from && number.to <= to,
            CitationPlace::Cell(..) => false,
        });
        let supported = match citation {
            Some(citation) => {
                is_quoted(&chars, citation) && citation.is_supported(question, findings)
            }
            None => is_mark(&chars, &number, findings) || is_code(&chars, &number, findings),
        };
        if !supported {
            wrong.push(Unsupported { text: number.shown.clone(), at: number.from });
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Checks that every number of the tables has a citation of its own cell with the same value.
pub fn check_tables(
    tables: &[Value],
    citations: &[Citation],
    question: &str,
    findings: &[Finding],
) -> Result<(), Vec<Unsupported>> {
    let mut wrong = Vec::new();
    for (table_at, table) in tables.iter().enumerate() {
        for (row, cells) in table["rows"].as_array().into_iter().flatten().enumerate() {
            for (column, cell) in cells.as_array().into_iter().flatten().enumerate() {
                let Some(number) = cell.as_f64() else { continue };
                let place = CitationPlace::Cell(table_at, row, column);
                let citation = citations.iter().find(|it| it.place == place);
                let same = |it: &&Citation| it.value.as_f64() == Some(number);
                if !citation.filter(same).is_some_and(|it| it.is_supported(question, findings)) {
                    wrong.push(Unsupported { text: cell.to_string(), at: row });
                }
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Reports whether the text at the citation's place is what the citation shows.
fn is_quoted(chars: &[char], citation: &Citation) -> bool {
    let CitationPlace::Text(from, to) = citation.place else { return false };
    chars.get(from..to).is_some_and(|it| it.iter().collect::<String>() == citation.shown)
}

/// Reports whether a number in square brackets is the number of a call: `[1]`.
fn is_mark(chars: &[char], number: &Number, findings: &[Finding]) -> bool {
    let bracketed = number.from > 0
        && chars.get(number.from - 1) == Some(&'[')
        && chars.get(number.to) == Some(&']');
    bracketed && findings.iter().any(|it| it.id.to_string() == number.shown)
}

/// Reports whether the digits begin a word with letters that a tool returned as a whole value,
/// because some tickers begin with digits.
fn is_code(chars: &[char], number: &Number, findings: &[Finding]) -> bool {
    let len = chars.iter().skip(number.from).take_while(|it| it.is_alphanumeric()).count();
    let word: String = chars.iter().skip(number.from).take(len).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_of_what_is_shown() {
        let found = Formula::ShownDifference.compute(&[json!(5.9939), json!(3.6361)]);
        assert_eq!(found, Some(json!(2.35)));
    }
}
