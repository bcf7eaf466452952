//! The answer in words. A writer decides; this one does so by rules, and every figure it sets down
//! is cited.

mod basket;
mod group;
mod single;
mod talk;

use async_trait::async_trait;
use fault::Fault;
use serde_json::Value;

use crate::ask::Question;
use crate::check::{Citation, Place};
use crate::desk::{Desk, Finding};
use crate::number::Language;
use crate::page::{Page, Slot};
use crate::plan::Plan;
use crate::resolve::Security;
use crate::understand::Intent;

/// An answer before it is sent.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    pub text: String,
    pub tables: Vec<Value>,
    pub citations: Vec<Citation>,
}

/// Puts what was found into words.
#[async_trait]
pub trait Writer: Send + Sync {
    async fn write(
        &self,
        question: &Question,
        plan: &Plan,
        findings: &[Finding],
        desk: &Desk<'_>,
    ) -> Result<Draft, Fault>;
}

/// Writes by rules, without a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalWriter;

#[async_trait]
impl Writer for LocalWriter {
    async fn write(
        &self,
        _: &Question,
        plan: &Plan,
        findings: &[Finding],
        _: &Desk<'_>,
    ) -> Result<Draft, Fault> {
        Ok(written(plan, findings))
    }
}

/// What the parts of a page are written from.
pub(crate) struct Sheet<'a> {
    pub(crate) page: Page,
    pub(crate) plan: &'a Plan,
    pub(crate) findings: &'a [Finding],
}

fn written(plan: &Plan, findings: &[Finding]) -> Draft {
    let page = Page::new(plan.request.language);
    let mut sheet = Sheet { page, plan, findings };
    let all = &plan.resolved.securities;
    match (plan.request.intent, all.as_slice()) {
        (Intent::Overview, [one]) => single::overview(&mut sheet, one),
        (Intent::Comparison, [_, _, ..]) => group::comparison(&mut sheet, all),
        (Intent::PortfolioRisk, [_, ..]) => group::portfolio(&mut sheet, all),
        (Intent::Correlation, [_, _, ..]) => group::correlation(&mut sheet, all),
        (Intent::Dividends, [_, ..]) => single::dividends(&mut sheet, all),
        (Intent::IndexScan, _) => basket::index(&mut sheet),
        (Intent::Movers, _) => basket::movers(&mut sheet),
        _ => talk::help(&mut sheet),
    }
    let called = !plan.steps.is_empty();
    if called {
        talk::notes(&mut sheet);
    }
    let Page { text, tables, citations, .. } = sheet.page;
    Draft { text: text.trim_end().to_owned(), tables, citations }
}

/// The tables that the rules make of what another has found, and where their figures are from.
fn tabled(plan: &Plan, findings: &[Finding]) -> (Vec<Value>, Vec<Citation>) {
    let told = |tool: &str| findings.iter().any(|it| it.tool == tool && it.outcome.is_ok());
    let many = plan.resolved.securities.len() > 1;
    let fits = |intent: &Intent| match intent {
        Intent::IndexScan | Intent::Movers => told("get_index_constituents_metrics"),
        Intent::PortfolioRisk => told("compute_portfolio_risk"),
        Intent::Correlation => many && told("compute_correlation_matrix"),
        Intent::Dividends => told("get_dividends"),
        Intent::Comparison => {
            many && (told("get_ohlcv_timeseries") || told("get_security_snapshot"))
        }
        _ => false,
    };
    // What was asked comes first; then whatever there is enough of.
    let others = [
        Intent::IndexScan,
        Intent::Comparison,
        Intent::PortfolioRisk,
        Intent::Correlation,
        Intent::Dividends,
    ];
    let Some(intent) = [plan.request.intent].into_iter().chain(others).find(fits) else {
        return Default::default();
    };
    let mut plan = plan.clone();
    plan.request.intent = intent;
    let Draft { tables, mut citations, .. } = written(&plan, findings);
    citations.retain(|it| matches!(it.place, Place::Cell(..)));
    // A table of gaps alone says nothing.
    if citations.is_empty() { Default::default() } else { (tables, citations) }
}

/// A text that another has written, with the tables and the notes that belong to every answer.
pub(crate) fn closed(
    text: &str,
    citations: Vec<Citation>,
    plan: &Plan,
    findings: &[Finding],
) -> Draft {
    let mut page = Page::new(plan.request.language);
    page.say("{}", "{}", [text.into()]);
    page.citations = citations;
    let (tables, cells) = tabled(plan, findings);
    page.tables = tables;
    page.citations.extend(cells);
    let mut sheet = Sheet { page, plan, findings };
    talk::notes(&mut sheet);
    let Page { text, tables, citations, .. } = sheet.page;
    Draft { text: text.trim_end().to_owned(), tables, citations }
}

impl<'a> Sheet<'a> {
    pub(crate) fn language(&self) -> Language {
        self.page.language
    }

    /// The last call of a tool about a ticker: the plan's own, after those that looked up names.
    pub(crate) fn of(&self, tool: &str, ticker: &str) -> Option<&'a Finding> {
        self.findings.iter().rev().find(|it| it.is_of(tool, ticker))
    }

    pub(crate) fn first(&self, tool: &str) -> Option<&'a Finding> {
        self.findings.iter().find(|it| it.tool == tool)
    }

    pub(crate) fn last(&self, tool: &str) -> Option<&'a Finding> {
        self.findings.iter().rev().find(|it| it.tool == tool)
    }

    /// The name of a security as the exchange has it, or its ticker.
    pub(crate) fn name(&self, it: &Security) -> Slot {
        let finding = it
            .name
            .as_ref()
            .and_then(|(id, at)| Some((self.findings.iter().find(|f| f.id == *id)?, at)));
        match finding.and_then(|(finding, at)| self.page.told(Some(finding), at)) {
            Some(name) => Slot::Figure(Some(name)),
            None => Slot::Text(it.ticker.clone()),
        }
    }

    /// «с 1 марта 2024 по 15 апреля 2024».
    pub(crate) fn period(&self, finding: Option<&Finding>) -> [Slot; 2] {
        let end = |at: &str| Slot::Figure(self.page.told(finding, at));
        [end("/args/from_date"), end("/args/to_date")]
    }
}

/// The word for a movement, against what would be usual for its own volatility.
pub(crate) fn trend(
    change_pct: f64,
    volatility: Option<f64>,
    days: f64,
    language: Language,
) -> &'static str {
    let usual = volatility.unwrap_or(25.0) * (days.max(1.0) / 252.0).sqrt();
    let strength = if usual > 0.0 { change_pct / usual } else { 0.0 };
    if strength > 1.5 {
        language.pick("уверенный рост", "a strong rise")
    } else if strength > 0.3 {
        language.pick("рост", "a rise")
    } else if strength < -1.5 {
        language.pick("сильное снижение", "a sharp fall")
    } else if strength < -0.3 {
        language.pick("снижение", "a fall")
    } else {
        language.pick("движение без выраженного направления", "no clear direction")
    }
}

/// The word for a yearly volatility in percent.
pub(crate) fn roughness(volatility: f64, language: Language) -> &'static str {
    match volatility {
        it if it < 20.0 => language.pick("низкая", "low"),
        it if it < 35.0 => language.pick("умеренная", "moderate"),
        _ => language.pick("высокая", "high"),
    }
}

pub(crate) fn float(finding: Option<&Finding>, pointer: &str) -> Option<f64> {
    finding?.at(pointer)?.as_f64()
}

/// The currency of a snapshot; roubles where it is not said.
pub(crate) fn currency_of(finding: Option<&Finding>) -> String {
    let said = finding.and_then(|it| it.at("/data/currency")).and_then(Value::as_str);
    let letters = |it: &char| it.is_ascii_alphabetic();
    said.unwrap_or("RUB").chars().filter(letters).take(4).collect()
}
