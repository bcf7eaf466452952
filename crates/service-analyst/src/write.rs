//! Writes the answer. `Writer` is the interface; `LocalWriter` writes by rules and cites every
//! figure.

mod basket;
mod crypto;
mod day;
mod dividends;
mod group;
mod holding;
mod indicators;
mod lead;
mod market_risk;
mod movers;
mod portfolio;
mod ranking;
mod schedule;
mod single;
mod talk;
mod verdict;

use async_trait::async_trait;
use fault::Fault;
use serde_json::Value;

use crate::ask::Question;
use crate::check::{Citation, CitationPlace};
use crate::number::Language;
use crate::page::{Page, Slot};
use crate::plan::Plan;
use crate::resolve::Security;
use crate::tool_session::{Finding, ToolSession};
use crate::understand::{Intent, is_index};
pub(crate) use lead::DAYS_BEFORE;

/// The text, the tables and the citations of an answer before the number check.
#[derive(Debug, Clone, Default)]
pub struct AnswerDraft {
    pub text: String,
    pub tables: Vec<Value>,
    pub citations: Vec<Citation>,
}

/// Writes an answer from the findings.
#[async_trait]
pub trait Writer: Send + Sync {
    async fn write(
        &self,
        question: &Question,
        plan: &Plan,
        findings: &[Finding],
        tool_session: &ToolSession<'_>,
    ) -> Result<AnswerDraft, Fault>;
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
        _: &ToolSession<'_>,
    ) -> Result<AnswerDraft, Fault> {
        Ok(write_answer(plan, findings))
    }
}

/// The plan and the findings that the sections read, and the page that they write to.
pub(crate) struct AnswerBuilder<'a> {
    pub(crate) page: Page,
    pub(crate) plan: &'a Plan,
    pub(crate) findings: &'a [Finding],
}

/// The sections of an answer, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Summary,
    Figures,
    Risks,
    Conclusions,
}

impl Section {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Summary, "Резюме", "Summary"),
        (Self::Figures, "Ключевые показатели", "Key figures"),
        (Self::Risks, "Риски", "Risks"),
        (Self::Conclusions, "Выводы", "Conclusions"),
    ];
}

/// Reports whether the plan has enough data to answer its part of the question.
fn is_answered(plan: &Plan) -> bool {
    let count = plan.resolved.securities.len();
    match plan.request.intent {
        Intent::Overview => count == 1,
        Intent::Comparison | Intent::Correlation => count > 1,
        Intent::PortfolioRisk | Intent::Dividends | Intent::MarketRisk | Intent::Ranking => {
            count > 0
        }
        Intent::Indicators => count > 0 || !plan.request.asked.crypto.is_empty(),
        Intent::Crypto => true,
        Intent::IndexScan | Intent::Movers | Intent::Calendar => true,
        Intent::Help => false,
    }
}

/// Writes one section of the current part, by its intent.
fn write_section(builder: &mut AnswerBuilder<'_>, section: Section) {
    let all = &builder.plan.resolved.securities;
    let request = &builder.plan.request;
    match (request.intent, all.as_slice()) {
        (Intent::Overview, [one]) if request.period().is_day() => day::write(builder, one, section),
        (Intent::Overview, [one]) => single::write(builder, one, section),
        (Intent::Comparison, all) => group::comparison(builder, all, section),
        (Intent::PortfolioRisk, all) => portfolio::write(builder, all, section),
        (Intent::Correlation, all) => group::correlation(builder, all, section),
        (Intent::Dividends, all) if request.ranks_dividends => {
            dividends::market(builder, all, section)
        }
        (Intent::Dividends, all) => dividends::write(builder, all, section),
        (Intent::IndexScan, _) => basket::index(builder, section),
        (Intent::Movers, _) => movers::movers(builder, section),
        (Intent::Calendar, _) => schedule::write(builder, section),
        (Intent::Indicators, all) => indicators::write(builder, all, section),
        (Intent::MarketRisk, all) => market_risk::write(builder, all, section),
        (Intent::Ranking, _) => ranking::write(builder, section),
        (Intent::Crypto, all) => crypto::write(builder, all, section),
        _ => {}
    }
}

fn write_answer(plan: &Plan, findings: &[Finding]) -> AnswerDraft {
    let page = Page::new(plan.request.language);
    let mut builder = AnswerBuilder { page, plan, findings };
    let (answered, others): (Vec<&Plan>, Vec<&Plan>) = plan.parts().partition(|it| is_answered(it));
    for (section, russian, english) in Section::ALL.into_iter().filter(|_| !answered.is_empty()) {
        let before = builder.page.position();
        builder.page.heading(russian, english);
        let headed = builder.page.position();
        for part in &answered {
            builder.plan = part;
            if section == Section::Summary {
                talk::first(&mut builder);
            }
            write_section(&mut builder, section);
        }
        for part in others.iter().filter(|_| section == Section::Summary) {
            builder.plan = part;
            talk::help(&mut builder);
        }
        if builder.page.position() == headed {
            builder.page.cut_back(before);
        }
    }
    builder.plan = plan;
    if answered.is_empty() {
        talk::help(&mut builder);
    }
    if plan.parts().any(|it| !it.steps.is_empty()) {
        talk::notes(&mut builder);
    }
    let Page { text, tables, citations, .. } = builder.page;
    AnswerDraft { text: text.trim_end().to_owned(), tables, citations }
}

/// Builds the tables of the rules, with citations, for an answer that a model planned.
fn rule_tables(plan: &Plan, findings: &[Finding]) -> (Vec<Value>, Vec<Citation>) {
    let has_result = |tool: &str| findings.iter().any(|it| it.tool == tool && it.outcome.is_ok());
    let many = plan.resolved.securities.len() > 1;
    let fits = |intent: &Intent| match intent {
        Intent::IndexScan | Intent::Movers => has_result("get_index_constituents_metrics"),
        Intent::PortfolioRisk => has_result("compute_portfolio_risk"),
        Intent::Correlation => many && has_result("compute_correlation_matrix"),
        Intent::Dividends => has_result("get_dividends"),
        Intent::Comparison => {
            many && (has_result("get_ohlcv_timeseries") || has_result("get_security_snapshot"))
        }
        _ => false,
    };
    // The intent of the question comes first, then every other intent that has enough data.
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
    let AnswerDraft { tables, mut citations, .. } = write_answer(&plan, findings);
    citations.retain(|it| matches!(it.place, CitationPlace::Cell(..)));
    // Tables without a single figure are left out.
    if citations.is_empty() { Default::default() } else { (tables, citations) }
}

/// Completes a text written by a model with the tables and the notes that every answer has.
pub(crate) fn finish_model_draft(
    text: &str,
    citations: Vec<Citation>,
    plan: &Plan,
    findings: &[Finding],
) -> AnswerDraft {
    let mut page = Page::new(plan.request.language);
    page.add_line("{}", "{}", [text.into()]);
    page.citations = citations;
    let (tables, cells) = rule_tables(plan, findings);
    page.tables = tables;
    page.citations.extend(cells);
    let mut builder = AnswerBuilder { page, plan, findings };
    talk::notes(&mut builder);
    let Page { text, tables, citations, .. } = builder.page;
    AnswerDraft { text: text.trim_end().to_owned(), tables, citations }
}

impl<'a> AnswerBuilder<'a> {
    pub(crate) fn language(&self) -> Language {
        self.page.language
    }

    /// Reports whether a call belongs to the current part. A plan without steps is a model's, and
    /// every call belongs to it.
    fn belongs_to_part(&self, it: &Finding) -> bool {
        let steps = &self.plan.steps;
        steps.is_empty() || steps.iter().any(|step| step.tool == it.tool && step.args == it.args)
    }

    /// Returns the last call of a tool for a ticker: the plan's own call, not an earlier name
    /// lookup.
    pub(crate) fn finding(&self, tool: &str, ticker: &str) -> Option<&'a Finding> {
        self.findings.iter().rev().find(|it| it.is_of(tool, ticker) && self.belongs_to_part(it))
    }

    /// Returns the calls of a tool in call order.
    pub(crate) fn calls(&self, tool: &str) -> Vec<&'a Finding> {
        self.findings.iter().filter(|it| it.tool == tool && self.belongs_to_part(it)).collect()
    }

    pub(crate) fn last(&self, tool: &str) -> Option<&'a Finding> {
        self.calls(tool).pop()
    }

    /// Returns the exchange's name of a security with its ticker.
    pub(crate) fn title(&self, it: &Security) -> Slot {
        let finding = it
            .name
            .as_ref()
            .and_then(|(id, at)| Some((self.findings.iter().find(|f| f.id == *id)?, at)));
        match finding.and_then(|(finding, at)| self.page.cited_text(Some(finding), at)) {
            Some(name) => {
                let ticker = format!(" ({})", it.ticker);
                Slot::Many(vec![Slot::Figure(Some(name)), Slot::Text(ticker)])
            }
            None => Slot::Text(it.ticker.clone()),
        }
    }

    /// Returns the two ends of the requested period: «1 марта 2024» and «15 апреля 2024».
    pub(crate) fn period(&self, finding: Option<&Finding>) -> Option<[Slot; 2]> {
        let end = |at: &str| Some(Slot::Figure(Some(self.page.cited_text(finding, at)?)));
        Some([end("/args/from_date")?, end("/args/to_date")?])
    }
}

pub(crate) fn float(finding: Option<&Finding>, pointer: &str) -> Option<f64> {
    finding?.at(pointer)?.as_f64()
}

/// Returns the currency of a security's price; empty for an index, which is priced in points.
pub(crate) fn money_of(finding: Option<&Finding>, it: &Security) -> String {
    if is_index(&it.ticker) { String::new() } else { currency_of(finding) }
}

/// Returns the currency of a snapshot; roubles if the snapshot gives none.
pub(crate) fn currency_of(finding: Option<&Finding>) -> String {
    let code = finding.and_then(|it| it.at("/data/currency")).and_then(Value::as_str);
    let letters = |it: &char| it.is_ascii_alphabetic();
    code.unwrap_or("RUB").chars().filter(letters).take(4).collect()
}
