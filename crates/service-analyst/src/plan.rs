//! Chooses the tool calls for a question. `Planner` is the interface; `LocalPlanner` plans by
//! rules.

mod asked_steps;
mod suspects;

use async_trait::async_trait;
use fault::Fault;
use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::ask::Question;
use crate::dates::Period;
use crate::note::Note;
use crate::resolve::{Resolved, Security, resolve};
use crate::tool_session::{PlannedCall, ToolSession};
use crate::understand::{Intent, Mention, Request, is_index, requests};
use crate::weights::resolve_weights;
use crate::write::DAYS_BEFORE;
pub(crate) use asked_steps::window;

/// A question with its resolved names and the calls that it needs.
#[derive(Debug, Clone)]
pub struct Plan {
    pub request: Request,
    pub resolved: Resolved,
    pub steps: Vec<PlannedCall>,
    /// The plans of the further parts of the question.
    pub more: Vec<Plan>,
}

impl Plan {
    /// Creates a plan without calls.
    pub fn new(request: Request, resolved: Resolved) -> Self {
        Self { request, resolved, steps: Vec::new(), more: Vec::new() }
    }

    /// Iterates over the parts of the question in order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.more)
    }

    /// Returns the calls of all parts without duplicates.
    pub(crate) fn calls(&self) -> Vec<PlannedCall> {
        let mut calls: Vec<PlannedCall> = Vec::new();
        for step in self.parts().flat_map(|it| &it.steps) {
            if !calls.iter().any(|it| it.tool == step.tool && it.args == step.args) {
                calls.push(step.clone());
            }
        }
        calls
    }
}

/// Turns a question into calls. A planner may itself make calls to look up names.
#[async_trait]
pub trait Planner: Send + Sync {
    async fn plan(
        &self,
        question: &Question,
        today: Date,
        tool_session: &ToolSession<'_>,
    ) -> Result<Plan, Fault>;
}

/// Plans by rules, without a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalPlanner;

#[async_trait]
impl Planner for LocalPlanner {
    async fn plan(
        &self,
        question: &Question,
        today: Date,
        tool_session: &ToolSession<'_>,
    ) -> Result<Plan, Fault> {
        let mut plans: Vec<Plan> = Vec::new();
        let mut looked_up: Vec<(Vec<Mention>, Resolved)> = Vec::new();
        for request in requests(question, today) {
            let mentions = request.mentions.clone();
            let known = looked_up.iter().find(|it| it.0 == mentions).map(|it| it.1.clone());
            // A question about an index resolves its mentions only if one looks like a name; a
            // question about movers never does.
            let named = mentions.iter().any(|it| it.strong) && request.intent != Intent::Movers;
            let resolved = match known {
                Some(resolved) => resolved,
                None if request.intent.is_of_index() && !named => Resolved::default(),
                None => resolve(tool_session, &mentions, request.language).await,
            };
            looked_up.push((mentions, resolved.clone()));
            plans.push(plan_request(request, resolved, tool_session).await);
        }
        let mut plans = plans.into_iter();
        let first = plans.next().ok_or_else(|| Fault::internal("a question without a part"))?;
        Ok(Plan { more: plans.collect(), ..first })
    }
}

async fn plan_request(
    mut request: Request,
    mut resolved: Resolved,
    tool_session: &ToolSession<'_>,
) -> Plan {
    for note in std::mem::take(&mut resolved.notes) {
        request.note(note);
    }
    // The number of resolved securities can change the intent that the words suggest.
    let count = resolved.securities.len();
    // A word beside one name is rarely a name; in a list of several it is one.
    let several = request.is_stated
        && matches!(
            request.intent,
            Intent::Comparison | Intent::Correlation | Intent::PortfolioRisk
        );
    if count == 0 || count == 1 && !several {
        resolved.unrecognised.clear();
    }
    let named = request.mentions.iter().filter(|it| it.strong).count();
    request.intent = match request.intent {
        Intent::Comparison if count == 1 && request.mentions.len() != 1 => Intent::Overview,
        // «сравни их» without any names keeps its intent; the writer then asks for the names.
        Intent::Comparison if request.mentions.is_empty() => Intent::Comparison,
        Intent::Comparison if count == 0 && named < 2 => Intent::Help,
        Intent::Overview if count > 1 => Intent::Comparison,
        Intent::Overview if count == 0 && !resolved.lacks_names() => Intent::Help,
        Intent::Comparison if count == 0 && !resolved.lacks_names() => Intent::Help,
        intent => intent,
    };
    if matches!(request.intent, Intent::Dividends | Intent::Indicators) {
        resolved.securities.retain(|it| !is_index(&it.ticker));
    }
    let without_names = resolved.securities.is_empty() && !resolved.lacks_names();
    if request.intent == Intent::PortfolioRisk && request.of_largest && without_names {
        use_constituents(&request, &mut resolved, tool_session).await;
    }
    if request.intent == Intent::PortfolioRisk {
        resolve_weights(tool_session, &mut request, &mut resolved).await;
    }
    widen(&mut request);
    if request.ranks_dividends || request.intent == Intent::Ranking {
        use_constituents(&request, &mut resolved, tool_session).await;
    }
    if request.intent.is_of_index() && request.index == "MOEXBC" {
        check_blue_chips(&mut request, tool_session).await;
    }
    let mut steps = steps(&request, &resolved.securities);
    if request.intent == Intent::Movers && !request.period().is_day() {
        let suspects = suspects::suspected_splits(&steps, tool_session).await;
        let mut more = Steps { request: &request, steps: Vec::new() };
        suspects.iter().for_each(|it| more.history(it, request.period()));
        steps.extend(more.steps);
    }
    Plan { steps, ..Plan::new(request, resolved) }
}

/// Fewest days that risk figures need.
const RISK_DAYS_MIN: i32 = 6;

fn widen(request: &mut Request) {
    let needs_returns = matches!(request.intent, Intent::PortfolioRisk | Intent::Correlation);
    let period = request.period();
    let short = period.from.saturating_add(RISK_DAYS_MIN.days()) > period.to;
    if needs_returns && short && request.period.is_some() {
        request.period = None;
        request.compare_with_today = false;
        request.note(Note::Widened);
    }
}

/// Replaces the index of the largest companies by IMOEX if the tool does not have it.
async fn check_blue_chips(request: &mut Request, tool_session: &ToolSession<'_>) {
    let mut steps = Steps { request, steps: Vec::new() };
    steps.basket(request.period().to);
    let steps = steps.steps;
    let available = tool_session.run(&steps).await.iter().all(|it| it.outcome.is_ok());
    if !available {
        request.index = "IMOEX";
        request.note(Note::NoBlueChips);
    }
}

/// Most constituents of an index that one question may cover.
const CONSTITUENTS_MAX: usize = 60;
/// Number of constituents in a portfolio of the largest, if the question gives no count.
const LARGEST: usize = 5;

/// Sets the securities to the constituents of the index: at most `CONSTITUENTS_MAX` if the question
/// asks who pays the highest dividends, otherwise the largest ones.
async fn use_constituents(
    request: &Request,
    resolved: &mut Resolved,
    tool_session: &ToolSession<'_>,
) {
    let mut steps = Steps { request, steps: Vec::new() };
    steps.basket(request.today);
    let steps = steps.steps;
    let findings = tool_session.run(&steps).await;
    let rows = findings.first().and_then(|it| it.at("/data")).and_then(Value::as_array);
    let ticker = |row: &Value| row["ticker"].as_str().map(ToOwned::to_owned);
    let security = |ticker: String| Security { ticker, ..Security::default() };
    let mut rows: Vec<&Value> = rows.into_iter().flatten().collect();
    let weight = |row: &Value| row["weight_pct"].as_f64().unwrap_or(0.0);
    let whole = request.ranks_dividends || request.intent == Intent::Ranking;
    let count = if whole { CONSTITUENTS_MAX } else { request.top.unwrap_or(LARGEST) };
    if let Some(sector) = request.sector.filter(|_| whole) {
        rows.retain(|row| row["sector"] == sector.name);
    }
    if !whole {
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    }
    resolved.securities = rows.into_iter().filter_map(ticker).take(count).map(security).collect();
}

struct Steps<'a> {
    request: &'a Request,
    steps: Vec<PlannedCall>,
}

impl Steps<'_> {
    fn add(&mut self, tool: &'static str, why: (&str, &str), about: &str, args: Value) {
        let why = format!("{}: {about}", self.request.language.pick(why.0, why.1));
        self.steps.push(PlannedCall { tool, args, why });
    }

    fn snapshot(&mut self, it: &Security) {
        let mut args = json!({ "ticker": it.ticker });
        board(&mut args, it);
        self.add("get_security_snapshot", ("цена сейчас", "price now"), &it.ticker, args);
    }

    fn history(&mut self, it: &Security, period: Period) {
        let mut args = json!({
            "ticker": it.ticker,
            "from_date": period.from.to_string(),
            "to_date": period.to.to_string(),
            "interval": "1d",
        });
        board(&mut args, it);
        self.add("get_ohlcv_timeseries", ("история цен", "price history"), &it.ticker, args);
    }

    /// Requests candles for a day and the days before it. A comparison with today also needs the
    /// splits up to today.
    fn days_up_to(&mut self, it: &Security, day: Date) {
        let to = if self.request.compare_with_today { self.request.today } else { day };
        self.history(it, Period { from: day.saturating_sub(DAYS_BEFORE.days()), to });
    }

    fn dividends(&mut self, it: &Security, period: Option<Period>) {
        let mut args = json!({ "ticker": it.ticker });
        if let Some(period) = period {
            args["from_date"] = json!(period.from.to_string());
            args["to_date"] = json!(period.to.to_string());
        }
        self.add("get_dividends", ("дивиденды", "dividends"), &it.ticker, args);
    }

    fn risk(&mut self, all: &[Security], period: Period) {
        let all_weighted = all.iter().all(|it| it.weight.is_some());
        let position = |it: &Security| {
            let mut position = json!({ "ticker": it.ticker });
            if let Some(weight) = it.weight.filter(|_| all_weighted) {
                position["weight"] = json!(weight);
            }
            board(&mut position, it);
            position
        };
        let mut args = json!({
            "positions": all.iter().map(position).collect::<Vec<_>>(),
            "from_date": period.from.to_string(),
            "to_date": period.to.to_string(),
        });
        if let Some(confidence) = self.request.confidence {
            args["confidence"] = json!(confidence);
        }
        if let Some(days) = self.request.horizon_days {
            args["horizon_days"] = json!(days);
        }
        self.add("compute_portfolio_risk", ("риск", "risk"), &tickers(all).join(", "), args);
    }

    fn correlation(&mut self, all: &[Security], period: Period) {
        let args = json!({
            "tickers": tickers(all),
            "from_date": period.from.to_string(),
            "to_date": period.to.to_string(),
        });
        self.add(
            "compute_correlation_matrix",
            ("корреляции", "correlations"),
            &tickers(all).join(", "),
            args,
        );
    }

    fn basket(&mut self, date: Date) {
        let index = self.request.index;
        let args = json!({ "index_ticker": index, "as_of_date": date.to_string() });
        self.add(
            "get_index_constituents_metrics",
            ("состав индекса", "index constituents"),
            index,
            args,
        );
    }

    /// Requests the trading days of a period; for a single day also the days after it, to find the
    /// next trading day.
    fn trading_days(&mut self, period: Period) {
        let to = if period.is_day() { period.to.saturating_add(12.days()) } else { period.to };
        let args = json!({ "from_date": period.from.to_string(), "to_date": to.to_string() });
        let why = ("торговый календарь", "trading calendar");
        self.add("get_trading_calendar", why, &period.from.to_string(), args);
    }

    /// Requests the calendar if the day is today, because before the opening a trading day has no
    /// trades either.
    fn calendar_if_today(&mut self, day: Date) {
        if day == self.request.today {
            let args = json!({ "from_date": day.to_string(), "to_date": day.to_string() });
            let why = ("торговый календарь", "trading calendar");
            self.add("get_trading_calendar", why, &day.to_string(), args);
        }
    }
}

pub(crate) fn board(args: &mut Value, it: &Security) {
    if let Some(board) = it.board.as_deref().filter(|it| *it != "TQBR") {
        args["board"] = json!(board);
    }
}

fn tickers(all: &[Security]) -> Vec<&str> {
    all.iter().map(|it| it.ticker.as_str()).collect()
}

fn steps(request: &Request, all: &[Security]) -> Vec<PlannedCall> {
    let mut steps = Steps { request, steps: Vec::new() };
    let period = request.period();
    match (request.intent, all) {
        (Intent::Overview | Intent::Comparison, [_, ..]) if period.is_day() => {
            for it in all {
                steps.snapshot(it);
                steps.days_up_to(it, period.to);
            }
            steps.calendar_if_today(period.to);
        }
        (Intent::Overview, [one]) => {
            steps.snapshot(one);
            steps.history(one, period);
            steps.risk(all, period);
            if !is_index(&one.ticker) {
                steps.dividends(one, None);
            }
        }
        (Intent::Comparison, [_, _, ..]) => {
            for it in all {
                steps.snapshot(it);
                steps.history(it, period);
            }
            steps.risk(all, period);
            steps.correlation(all, period);
        }
        (Intent::PortfolioRisk, [_, ..]) => {
            steps.risk(all, period);
            if all.len() > 1 {
                steps.correlation(all, period);
            }
        }
        (Intent::Correlation, [_, _, ..]) => steps.correlation(all, period),
        (Intent::Dividends, [_, ..]) => {
            for it in all {
                steps.dividends(it, request.period);
                if !request.ranks_dividends {
                    steps.snapshot(it);
                }
            }
        }
        (Intent::Indicators, all) => steps.indicators(all),
        (Intent::Crypto, all) => steps.crypto(all, request.period),
        (Intent::MarketRisk, [_, ..]) => steps.market_risk(all, period),
        (Intent::Ranking, [_, ..]) => steps.ranking(all, period),
        (Intent::Calendar, _) => steps.trading_days(period),
        (Intent::IndexScan | Intent::Movers, _) => {
            steps.basket(period.to);
            if request.intent == Intent::Movers && !period.is_day() {
                steps.basket(period.from);
            }
            steps.calendar_if_today(period.to);
        }
        _ => {}
    }
    steps.steps
}
