//! Builds the text and the tables of an answer and records a citation for every figure as it is
//! added.

use serde_json::{Value, json};

use crate::check::{Citation, CitationPlace, Formula};
use crate::number::{self, Language};
use crate::tool_session::Finding;

/// Most characters of external text that an answer repeats.
const QUOTED_MAX: usize = 80;

/// A formatted figure with its sources.
#[derive(Debug, Clone)]
pub(crate) struct CitedFigure {
    shown: String,
    /// The unit after the figure, which the citation does not cover: `%`, `₽`.
    unit: String,
    value: Value,
    sources: Vec<(usize, String)>,
    formula: Formula,
}

/// The format of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style<'a> {
    /// A price in a currency.
    Price(&'a str),
    /// A computed sum in a currency, with two digits after the point.
    Money(&'a str),
    /// A large amount, with or without a currency.
    Amount(&'a str),
    Percent,
    /// A change, always with its sign.
    Change,
    Plain(usize),
    Count,
}

/// The content of one `{}` in a sentence template.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    Figure(Option<CitedFigure>),
    Text(String),
    Many(Vec<Slot>),
}

/// A figure with its label, for a list of figures.
#[derive(Debug)]
pub(crate) struct Fact {
    label: (&'static str, &'static str),
    figure: Option<CitedFigure>,
    /// The text after the figure, such as its meaning.
    after: String,
}

pub(crate) fn fact(label: (&'static str, &'static str), figure: Option<CitedFigure>) -> Fact {
    Fact { label, figure, after: String::new() }
}

impl Fact {
    /// Adds a unit after the figure that is not part of the figure.
    pub(crate) fn with_unit(self, unit: &str) -> Self {
        Self { after: format!(" {unit}"), ..self }
    }

    /// Adds a word in brackets after the figure.
    pub(crate) fn with_word(self, word: Option<&str>) -> Self {
        Self { after: word.map(|it| format!(" ({it})")).unwrap_or_default(), ..self }
    }
}

impl From<Option<CitedFigure>> for Slot {
    fn from(figure: Option<CitedFigure>) -> Self {
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

/// Sanitizes external text: one line, no control characters, no markup, at most `QUOTED_MAX`
/// characters.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |it: char| !it.is_control() && !"[]<>`*_#|{}\\".contains(it);
    let plain_text: String = text.chars().filter(|it| plain(*it)).take(QUOTED_MAX).collect();
    plain_text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) language: Language,
    pub(crate) text: String,
    pub(crate) tables: Vec<Value>,
    pub(crate) citations: Vec<Citation>,
    chars: usize,
    /// Calls that the current line cites.
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
        let line_break = if self.text.is_empty() { "" } else { "\n" };
        self.push(&format!("{line_break}## {title}\n"));
    }

    /// Adds one line. Each `{}` takes the next slot; the marks of the cited calls end the line.
    pub(crate) fn add_line<const N: usize>(
        &mut self,
        russian: &str,
        english: &str,
        slots: [Slot; N],
    ) {
        self.add_template((russian, english), slots);
        self.end();
    }

    fn add_template(&mut self, template: (&str, &str), slots: impl IntoIterator<Item = Slot>) {
        let template = self.language.pick(template.0, template.1).to_owned();
        let mut slots = slots.into_iter();
        let mut parts = template.split("{}");
        self.push(parts.next().unwrap_or_default());
        for part in parts {
            if let Some(slot) = slots.next() {
                self.fill(slot);
            }
            self.push(part);
        }
    }

    fn end(&mut self) {
        for mark in std::mem::take(&mut self.marks) {
            self.push(&format!(" [{mark}]"));
        }
        self.push("\n");
    }

    /// Adds one line: a head, a list of labelled figures, and the labels of the missing figures. If
    /// all figures are missing, the line says only that.
    pub(crate) fn facts<const N: usize>(
        &mut self,
        head: (&str, &str),
        slots: [Slot; N],
        facts: Vec<Fact>,
    ) {
        self.add_template(head, slots);
        let no_data = self.language.pick("нет данных", "no data").to_owned();
        let (known, missing): (Vec<Fact>, Vec<Fact>) =
            facts.into_iter().partition(|it| it.figure.is_some());
        let any = !known.is_empty();
        for (at, Fact { label, figure, after }) in known.into_iter().enumerate() {
            self.push(if at == 0 { ": " } else { ", " });
            let name = self.language.pick(label.0, label.1).to_owned();
            self.push(&name);
            self.push(if name.is_empty() { "" } else { " " });
            self.fill(Slot::Figure(figure));
            self.push(&after);
        }
        if !any {
            self.push(&format!(": {no_data}"));
        } else if !missing.is_empty() {
            let names: Vec<&str> =
                missing.iter().map(|it| self.language.pick(it.label.0, it.label.1)).collect();
            let names = names.join(", ");
            self.push(&format!("; {no_data}: {names}"));
        }
        // An abbreviation already ends with a full stop.
        let ends_with_point = self.text.ends_with('.');
        self.push(if ends_with_point { "" } else { "." });
        self.end();
    }

    fn fill(&mut self, slot: Slot) {
        match slot {
            Slot::Text(text) => self.push(&text),
            Slot::Many(all) => all.into_iter().for_each(|it| self.fill(it)),
            Slot::Figure(None) => {
                let no_data = self.language.pick("нет данных", "no data").to_owned();
                self.push(&no_data);
            }
            Slot::Figure(Some(figure)) => self.add_figure(figure),
        }
    }

    fn add_figure(&mut self, figure: CitedFigure) {
        let from = self.chars;
        self.push(&figure.shown);
        let place = CitationPlace::Text(from, self.chars);
        self.push(&figure.unit);
        for (call, _) in &figure.sources {
            if !self.marks.contains(call) {
                self.marks.push(*call);
            }
        }
        self.cite(place, figure);
    }

    fn cite(&mut self, place: CitationPlace, figure: CitedFigure) {
        let CitedFigure { shown, value, sources, formula, .. } = figure;
        self.citations.push(Citation { place, shown, value, sources, formula });
    }

    /// Adds a table whose last column names the calls that each row cites.
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
                    Slot::Many(_) => json!(""),
                    Slot::Figure(None) => json!(self.language.pick("нет данных", "no data")),
                    Slot::Figure(Some(mut figure)) => {
                        marks.extend(figure.sources.iter().map(|it| it.0));
                        figure.value = rounded(&figure.value);
                        figure.shown = figure.value.to_string();
                        let value = figure.value.clone();
                        self.cite(CitationPlace::Cell(table, at, column), figure);
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

    /// Returns the figure at a pointer into a result, if the result has it.
    pub(crate) fn figure(
        &self,
        finding: Option<&Finding>,
        pointer: &str,
        style: Style<'_>,
    ) -> Option<CitedFigure> {
        let finding = finding?;
        let value = finding.at(pointer)?.as_f64()?;
        let source = (finding.id, format!("/result{pointer}"));
        Some(self.styled(value, style, vec![source], Formula::Value))
    }

    /// Formats a figure that is computed from other figures by a formula.
    pub(crate) fn styled(
        &self,
        value: f64,
        style: Style<'_>,
        sources: Vec<(usize, String)>,
        formula: Formula,
    ) -> CitedFigure {
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
            Style::Money(code) => (number::number(value, 2, language), money(code)),
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
        CitedFigure { shown, unit, value: json!(value), sources, formula }
    }

    /// Returns a text of a finding that can contain digits, such as a name or a date.
    pub(crate) fn cited_text(&self, finding: Option<&Finding>, at: &str) -> Option<CitedFigure> {
        let finding = finding?;
        let text = finding.value_at(at)?.as_str()?.to_owned();
        let shown = match clock::parse_date(text.get(..10).unwrap_or_default()) {
            Some(date) => number::date(date, self.language),
            None => quoted(&text),
        };
        let sources = vec![(finding.id, at.to_owned())];
        Some(CitedFigure {
            shown,
            unit: String::new(),
            value: json!(text),
            sources,
            formula: Formula::Value,
        })
    }

    /// Returns the Moscow time of day of a moment in a result: «09:50».
    pub(crate) fn moscow_time(&self, finding: &Finding, pointer: &str) -> Option<CitedFigure> {
        let at = format!("/result{pointer}");
        let value = Formula::MoscowTime.compute(&[finding.value_at(&at)?])?;
        let shown = value.as_str()?.to_owned();
        let sources = vec![(finding.id, at)];
        let formula = Formula::MoscowTime;
        Some(CitedFigure { shown, unit: String::new(), value, sources, formula })
    }

    /// Returns the Moscow date of a moment in milliseconds.
    pub(crate) fn day_of_ms(&self, finding: &Finding, pointer: &str) -> Option<CitedFigure> {
        let at = format!("/result{pointer}");
        let value = Formula::DayOfMs.compute(&[finding.value_at(&at)?])?;
        let date = clock::parse_date(value.as_str()?)?;
        let shown = number::date(date, self.language);
        let sources = vec![(finding.id, at)];
        let formula = Formula::DayOfMs;
        Some(CitedFigure { shown, unit: String::new(), value, sources, formula })
    }

    /// Returns the length of the text, to which `cut_back` can return.
    pub(crate) fn position(&self) -> (usize, usize) {
        (self.text.len(), self.chars)
    }

    /// Removes a heading without a line below it.
    pub(crate) fn cut_back(&mut self, position: (usize, usize)) {
        self.text.truncate(position.0);
        self.chars = position.1;
    }

    /// Returns words of the question, cited as the question's own.
    pub(crate) fn question_text(&self, text: &str) -> CitedFigure {
        let shown = quoted(text);
        let value = json!(shown);
        CitedFigure {
            shown,
            unit: String::new(),
            value,
            sources: Vec::new(),
            formula: Formula::Question,
        }
    }
}

/// Rounds a table figure to four digits after the point, or to six if it is below 1.
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
    /// Returns a piece of a text of a finding, with the whole text as its value.
    pub(crate) fn cited_part(
        &self,
        finding: &Finding,
        at: &str,
        piece: &str,
    ) -> Option<CitedFigure> {
        let text = finding.value_at(at)?.as_str()?.to_owned();
        let sources = vec![(finding.id, at.to_owned())];
        let shown = piece.to_owned();
        Some(CitedFigure {
            shown,
            unit: String::new(),
            value: json!(text),
            sources,
            formula: Formula::Value,
        })
    }
}
