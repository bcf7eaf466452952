//! The tools that a model may ask for, and the refusal of everything else.

use contract::{Contract, ContractError, Schema};
use llm::{Tool, ToolCall};
use serde_json::Value;

use crate::number::Language;
use crate::tool_session::Step;

/// They read and compute; none changes anything.
const NAMES: [&str; 8] = [
    "search_securities",
    "get_security_snapshot",
    "get_ohlcv_timeseries",
    "get_index_constituents_metrics",
    "get_dividends",
    "get_trading_calendar",
    "compute_portfolio_risk",
    "compute_correlation_matrix",
];

#[derive(Debug)]
struct ToolEntry {
    name: &'static str,
    description: String,
    input: Schema,
}

#[derive(Debug)]
pub struct ModelTools(Vec<ToolEntry>);

impl ModelTools {
    /// The tools as their contract has them.
    pub fn moex() -> Result<Self, ContractError> {
        let mut contract = Contract::load("moex")?;
        let mut entries = Vec::new();
        for name in NAMES {
            contract.tool(name)?;
            if let Some(at) = contract.tools.iter().position(|it| it.name == name) {
                let spec = contract.tools.swap_remove(at);
                entries.push(ToolEntry { name, description: spec.description, input: spec.input });
            }
        }
        Ok(Self(entries))
    }

    pub(super) fn tools(&self) -> Vec<Tool> {
        let tool = |it: &ToolEntry| Tool {
            name: it.name.to_owned(),
            description: it.description.clone(),
            schema: it.input.json().clone(),
        };
        self.0.iter().map(tool).collect()
    }

    /// The tool's own name for what a model calls it, if there is one.
    pub(super) fn name(&self, called: &str) -> Option<&'static str> {
        self.0.iter().map(|it| it.name).find(|it| *it == called)
    }

    /// The call as a step, or what is wrong with it.
    pub(super) fn step(&self, call: &ToolCall, language: Language) -> Result<Step, String> {
        let Some(entry) = self.0.iter().find(|it| it.name == call.name) else {
            return Err(format!("there is no such tool; there are {}", NAMES.join(", ")));
        };
        let args = entry.input.accept(call.arguments.clone());
        let args = args.map_err(|fault| fault.message().to_owned())?;
        let why = language.pick("по решению модели", "the model's choice");
        Ok(Step {
            tool: entry.name,
            args: Value::Object(args),
            why: format!("{why}: {}", entry.name),
        })
    }
}
