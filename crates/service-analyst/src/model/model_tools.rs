//! The tools that a model may call. Calls to any other tool are refused.

use contract::{Contract, ContractError, Schema};
use llm::{Tool, ToolCall};
use serde_json::Value;

use crate::number::Language;
use crate::tool_session::PlannedCall;

/// All eight tools only read and compute; none changes any state.
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
    /// Loads the eight tools from the `moex` contract.
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

    /// Returns the static name of the tool that the model called, if the tool exists.
    pub(super) fn name(&self, called: &str) -> Option<&'static str> {
        self.0.iter().map(|it| it.name).find(|it| *it == called)
    }

    /// Turns a model's call into a step, or returns the reason why the call is invalid.
    pub(super) fn step(&self, call: &ToolCall, language: Language) -> Result<PlannedCall, String> {
        let Some(entry) = self.0.iter().find(|it| it.name == call.name) else {
            return Err(format!("there is no such tool; there are {}", NAMES.join(", ")));
        };
        let args = entry.input.accept(call.arguments.clone());
        let args = args.map_err(|fault| fault.message().to_owned())?;
        let why = language.pick("по решению модели", "the model's choice");
        Ok(PlannedCall {
            tool: entry.name,
            args: Value::Object(args),
            why: format!("{why}: {}", entry.name),
        })
    }
}
