//! Which tools answer a question. A planner decides; this one does so by rules.

use async_trait::async_trait;
use fault::Fault;
use jiff::civil::Date;
use serde_json::{Value, json};

use crate::ask::Question;
use crate::dates::Period;
use crate::desk::{Desk, Step};
use crate::resolve::{Resolved, Security, resolve};
use crate::understand::{Intent, Request, understand};

/// A question with its names looked up and the calls that it needs.
#[derive(Debug, Clone)]
pub struct Plan {
    pub request: Request,
    pub resolved: Resolved,
    pub steps: Vec<Step>,
}

impl Plan {
    /// A plan whose calls have been made already, or that needs none.
    pub fn new(request: Request, resolved: Resolved) -> Self {
        Self { request, resolved, steps: Vec::new() }
    }
}

/// Turns a question into calls. It may make some of its own, to look up names.
#[async_trait]
pub trait Planner: Send + Sync {
    async fn plan(&self, question: &Question, today: Date, desk: &Desk<'_>) -> Result<Plan, Fault>;
}

/// Plans by rules, without a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalPlanner;

#[async_trait]
impl Planner for LocalPlanner {
    async fn plan(&self, question: &Question, today: Date, desk: &Desk<'_>) -> Result<Plan, Fault> {
        let mut request = understand(question, today);
        let resolved = match request.intent {
            Intent::Movers | Intent::IndexScan => Resolved::default(),
            _ => resolve(desk, &request.mentions, request.language).await,
        };
        // What the words look like gives way to what there is.
        let count = resolved.securities.len();
        let named = request.mentions.iter().filter(|it| it.strong).count();
        request.intent = match request.intent {
            Intent::Comparison if count == 1 && request.mentions.len() != 1 => Intent::Overview,
            Intent::Comparison if count == 0 && named < 2 => Intent::Help,
            Intent::Overview if count > 1 => Intent::Comparison,
            Intent::Overview if count == 0 && resolved.unknown.is_empty() => Intent::Help,
            Intent::Comparison if count == 0 && resolved.unknown.is_empty() => Intent::Help,
            intent => intent,
        };
        let steps = steps(&request, &resolved.securities);
        Ok(Plan { request, resolved, steps })
    }
}

struct Steps<'a> {
    request: &'a Request,
    steps: Vec<Step>,
}

impl Steps<'_> {
    fn add(&mut self, tool: &'static str, why: (&str, &str), about: &str, args: Value) {
        let why = format!("{}: {about}", self.request.language.pick(why.0, why.1));
        self.steps.push(Step { tool, args, why });
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

    fn dividends(&mut self, it: &Security, period: Option<Period>) {
        let mut args = json!({ "ticker": it.ticker });
        if let Some(period) = period {
            args["from_date"] = json!(period.from.to_string());
            args["to_date"] = json!(period.to.to_string());
        }
        self.add("get_dividends", ("дивиденды", "dividends"), &it.ticker, args);
    }

    fn risk(&mut self, all: &[Security], period: Period) {
        let weighed = all.iter().all(|it| it.weight.is_some());
        let position = |it: &Security| {
            let mut position = json!({ "ticker": it.ticker });
            if let Some(weight) = it.weight.filter(|_| weighed) {
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
}

fn board(args: &mut Value, it: &Security) {
    if let Some(board) = it.board.as_deref().filter(|it| *it != "TQBR") {
        args["board"] = json!(board);
    }
}

fn tickers(all: &[Security]) -> Vec<&str> {
    all.iter().map(|it| it.ticker.as_str()).collect()
}

fn steps(request: &Request, all: &[Security]) -> Vec<Step> {
    let mut steps = Steps { request, steps: Vec::new() };
    let period = request.period();
    match (request.intent, all) {
        (Intent::Overview, [one]) => {
            steps.snapshot(one);
            steps.history(one, period);
            if !period.is_day() {
                steps.risk(all, period);
            }
            steps.dividends(one, None);
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
                steps.snapshot(it);
            }
        }
        (Intent::IndexScan | Intent::Movers, _) => {
            steps.basket(period.to);
            if request.intent == Intent::Movers && !period.is_day() {
                steps.basket(period.from);
            }
        }
        _ => {}
    }
    steps.steps
}
