//! A page that is written: text and tables in which every figure is cited as it is set down.

use serde_json::{Value, json};

use crate::check::{Citation, Formula, Place};
use crate::desk::Finding;
use crate::number::{self, Language};

/// Letters of foreign text that are repeated at most.
const QUOTED_MAX: usize = 80;

/// A figure with where it is from, ready to be set down.
#[derive(Debug, Clone)]
pub(crate) struct Cited {
    shown: String,
    /// What follows it and is no part of it: `%`, `₽`.
    unit: String,
    value: Value,
    sources: Vec<(usize, String)>,
    formula: Formula,
}

/// How a figure is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style<'a> {
    /// In a currency.
    Price(&'a str),
    /// Large amounts; with a currency or without.
    Amount(&'a str),
    Percent,
    /// With its sign, because it is a change.
    Change,
    Plain(usize),
    Count,
}

/// What fills a gap in a sentence.
pub(crate) enum Slot {
    Figure(Option<Cited>),
    Text(String),
}

impl From<Option<Cited>> for Slot {
    fn from(figure: Option<Cited>) -> Self {
        Self::Figure(figure)
    }
}

impl From<&str> for Slot {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Slot {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Foreign text made harmless: one line, no control characters, no markup, bounded.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |it: char| !it.is_control() && !"[]<>`*_#|{}\\".contains(it);
    let kept: String = text.chars().filter(|it| plain(*it)).take(QUOTED_MAX).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) language: Language,
    pub(crate) text: String,
    pub(crate) tables: Vec<Value>,
    pub(crate) citations: Vec<Citation>,
    chars: usize,
    /// Calls that the line being written has cited.
    marks: Vec<usize>,
}

impl Page {
    pub(crate) fn new(language: Language) -> Self {
        let (tables, citations, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { language, text: String::new(), tables, citations, chars: 0, marks }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.chars += text.chars().count();
    }

    pub(crate) fn heading(&mut self, russian: &str, english: &str) {
        let title = self.language.pick(russian, english).to_owned();
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.push(&format!("{gap}## {title}\n"));
    }

    /// One line. `{}` takes the next slot; the marks of the calls it cites come last.
    pub(crate) fn say<const N: usize>(&mut self, russian: &str, english: &str, slots: [Slot; N]) {
        let template = self.language.pick(russian, english).to_owned();
        let mut slots = slots.into_iter();
        let mut parts = template.split("{}");
        self.push(parts.next().unwrap_or_default());
        for part in parts {
            if let Some(slot) = slots.next() {
                self.fill(slot);
            }
            self.push(part);
        }
        for mark in std::mem::take(&mut self.marks) {
            self.push(&format!(" [{mark}]"));
        }
        self.push("\n");
    }

    fn fill(&mut self, slot: Slot) {
        match slot {
            Slot::Text(text) => self.push(&text),
            Slot::Figure(None) => {
                let none = self.language.pick("нет данных", "no data").to_owned();
                self.push(&none);
            }
            Slot::Figure(Some(figure)) => self.set(figure),
        }
    }

    fn set(&mut self, figure: Cited) {
        let from = self.chars;
        self.push(&figure.shown);
        let place = Place::Text(from, self.chars);
        self.push(&figure.unit);
        for (call, _) in &figure.sources {
            if !self.marks.contains(call) {
                self.marks.push(*call);
            }
        }
        self.cite(place, figure);
    }

    fn cite(&mut self, place: Place, figure: Cited) {
        let Cited { shown, value, sources, formula, .. } = figure;
        self.citations.push(Citation { place, shown, value, sources, formula });
    }

    /// A table whose last column names the calls of each row.
    pub(crate) fn table(
        &mut self,
        title: (&str, &str),
        columns: &[(&str, &str)],
        rows: Vec<Vec<Slot>>,
    ) {
        let table = self.tables.len();
        let mut written = Vec::new();
        for (at, row) in rows.into_iter().enumerate() {
            let (mut cells, mut marks) = (Vec::new(), Vec::<usize>::new());
            for (column, slot) in row.into_iter().enumerate() {
                cells.push(match slot {
                    Slot::Text(text) => json!(text),
                    Slot::Figure(None) => json!(self.language.pick("нет данных", "no data")),
                    Slot::Figure(Some(mut figure)) => {
                        marks.extend(figure.sources.iter().map(|it| it.0));
                        figure.value = rounded(&figure.value);
                        figure.shown = figure.value.to_string();
                        let value = figure.value.clone();
                        self.cite(Place::Cell(table, at, column), figure);
                        value
                    }
                });
            }
            marks.sort_unstable();
            marks.dedup();
            cells.push(json!(marks.iter().map(|it| format!("[{it}]")).collect::<String>()));
            written.push(Value::Array(cells));
        }
        let named = |(russian, english): &(&str, &str)| json!(self.language.pick(russian, english));
        let mut columns: Vec<Value> = columns.iter().map(named).collect();
        columns.push(json!(self.language.pick("Источник", "Source")));
        let title = self.language.pick(title.0, title.1);
        self.tables.push(json!({ "title": title, "columns": columns, "rows": written }));
    }

    /// A figure of a result, where it has one.
    pub(crate) fn figure(
        &self,
        finding: Option<&Finding>,
        pointer: &str,
        style: Style<'_>,
    ) -> Option<Cited> {
        let finding = finding?;
        let value = finding.at(pointer)?.as_f64()?;
        let source = (finding.id, format!("/result{pointer}"));
        Some(self.styled(value, style, vec![source], Formula::Value))
    }

    /// A figure that follows from others.
    pub(crate) fn styled(
        &self,
        value: f64,
        style: Style<'_>,
        sources: Vec<(usize, String)>,
        formula: Formula,
    ) -> Cited {
        let language = self.language;
        let percent = language.pick("\u{a0}%", "%").to_owned();
        let money = |code: &str| {
            if code.is_empty() {
                String::new()
            } else {
                format!("\u{a0}{}", number::currency(code))
            }
        };
        let (shown, unit) = match style {
            Style::Price(code) => {
                (number::number(value, number::price_digits(value), language), money(code))
            }
            Style::Amount(code) => {
                let (small, word) = number::scaled(value, language);
                let digits = if word.is_empty() { 0 } else { 1 };
                let gap = if word.is_empty() { "" } else { "\u{a0}" };
                (format!("{}{gap}{word}", number::number(small, digits, language)), money(code))
            }
            Style::Percent => (number::number(value, 2, language), percent),
            Style::Change => {
                let shown = number::number(value, 2, language);
                let plus = if value >= 0.005 { "+" } else { "" };
                (format!("{plus}{shown}"), percent)
            }
            Style::Plain(digits) => (number::number(value, digits, language), String::new()),
            Style::Count => (number::number(value, 0, language), String::new()),
        };
        Cited { shown, unit, value: json!(value), sources, formula }
    }

    /// A text of a result that may have digits in it: a name, or a date.
    pub(crate) fn told(&self, finding: Option<&Finding>, at: &str) -> Option<Cited> {
        let finding = finding?;
        let evidence = finding.evidence();
        let said = evidence.pointer(at)?.as_str()?.to_owned();
        let shown = match market::parse_date(said.get(..10).unwrap_or_default()) {
            Some(date) => number::date(date, self.language),
            None => quoted(&said),
        };
        let sources = vec![(finding.id, at.to_owned())];
        Some(Cited {
            shown,
            unit: String::new(),
            value: json!(said),
            sources,
            formula: Formula::Value,
        })
    }

    /// Words of the question itself.
    pub(crate) fn asked(&self, text: &str) -> Cited {
        let shown = quoted(text);
        let value = json!(shown);
        Cited { shown, unit: String::new(), value, sources: Vec::new(), formula: Formula::Question }
    }
}

/// Figures in tables have four digits after the point at most; beyond them is dust.
fn rounded(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() => {
            let scale = if number.abs() < 1.0 { 1e6 } else { 1e4 };
            json!((number * scale).round() / scale)
        }
        _ => value.clone(),
    }
}

impl Page {
    /// A piece of a text that a call said.
    pub(crate) fn part(&self, finding: &Finding, at: &str, piece: &str) -> Option<Cited> {
        let said = finding.evidence().pointer(at)?.as_str()?.to_owned();
        let sources = vec![(finding.id, at.to_owned())];
        let shown = piece.to_owned();
        Some(Cited {
            shown,
            unit: String::new(),
            value: json!(said),
            sources,
            formula: Formula::Value,
        })
    }
}
