//! The tool calls made for one question: it calls tools, and keeps what each was asked and
//! what it said, because every figure of an answer refers to that.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use contract::{Caller, Progress};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ports::{ToolAnswer, ToolCaller, ToolFailure};

/// Calls that one question may make; more would be a plan gone wrong.
const CALLS_MAX: usize = 90;
/// Time that is kept for writing once the tools have been waited for.
const WRITING: Duration = Duration::from_millis(500);

/// One call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub tool: &'static str,
    pub args: Value,
    /// Why it is made, in the reader's language.
    pub why: String,
}

/// One call that was made.
#[derive(Debug, Clone)]
pub struct Finding {
    /// As the marks of a text have it: `1` for `[1]`.
    pub id: usize,
    pub tool: String,
    pub args: Value,
    pub outcome: Result<ToolAnswer, ToolFailure>,
    pub took: Duration,
}

impl Finding {
    /// What a pointer of a citation points into.
    pub fn evidence(&self) -> Value {
        let answer = self.outcome.as_ref().ok();
        json!({
            "args": self.args,
            "result": answer.map(|it| &it.result),
            "meta": answer.map(|it| &it.meta),
        })
    }

    /// What a citation points at, without a copy of all the rest.
    pub(crate) fn pointed(&self, pointer: &str) -> Option<Value> {
        let below = |name: &str| {
            let rest = pointer.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        if let Some(rest) = below("/result") {
            return self.at(rest).cloned();
        }
        if let Some(rest) = below("/args") {
            return self.args.pointer(rest).cloned();
        }
        let meta = json!({ "meta": &self.outcome.as_ref().ok()?.meta });
        meta.pointer(pointer).cloned()
    }

    /// The part of the result at a pointer.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.outcome.as_ref().ok()?.result.pointer(pointer)
    }

    pub(crate) fn is_of(&self, tool: &str, ticker: &str) -> bool {
        self.tool == tool && self.args["ticker"] == ticker
    }

    pub(crate) fn trace(&self) -> Value {
        let mut trace = json!({
            "id": self.id.to_string(),
            "tool": self.tool,
            "args": self.args,
            "ok": self.outcome.is_ok(),
            "duration_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
        });
        if let Err(failure) = &self.outcome {
            trace["error"] = json!({ "code": failure.code, "message": failure.message });
        }
        trace
    }
}

pub struct ToolSession<'a> {
    tools: &'a dyn ToolCaller,
    caller: &'a Caller,
    cancel: &'a CancellationToken,
    deadline: Instant,
    progress: &'a Progress,
    /// Reports so far: each must be further than the one before, whichever call ends first.
    reported: AtomicU64,
    findings: Mutex<Vec<Finding>>,
    plan: Mutex<Vec<String>>,
}

impl<'a> ToolSession<'a> {
    pub fn new(
        tools: &'a dyn ToolCaller,
        caller: &'a Caller,
        cancel: &'a CancellationToken,
        deadline: Instant,
        progress: &'a Progress,
    ) -> Self {
        let deadline = deadline.checked_sub(WRITING).unwrap_or(deadline);
        let (findings, plan) = (Mutex::default(), Mutex::default());
        let reported = AtomicU64::new(0);
        Self { tools, caller, cancel, deadline, progress, reported, findings, plan }
    }

    /// When the tools are no longer waited for.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Tells whoever waits what is being done.
    pub(crate) fn report_progress(&self, message: &str) {
        let count = self.reported.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.report(count as f64, None, message);
    }

    /// Makes all calls at once and gives what came of them, in their order.
    pub async fn run(&self, steps: &[Step]) -> Vec<Finding> {
        let done = self.findings().len();
        let steps = steps.get(..steps.len().min(CALLS_MAX.saturating_sub(done))).unwrap_or(&[]);
        self.plan.lock().extend(steps.iter().map(|step| step.why.clone()));
        let calls = steps.iter().enumerate().map(|(at, step)| self.call(done + at + 1, step));
        let found = join_all(calls).await;
        self.findings.lock().extend(found.iter().cloned());
        found
    }

    async fn call(&self, id: usize, step: &Step) -> Finding {
        let begun = Instant::now();
        let args = step.args.as_object().cloned().unwrap_or_default();
        let call = self.tools.call(self.caller, step.tool, args, self.cancel, self.deadline);
        let outcome = match tokio::time::timeout_at(self.deadline, call).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ToolFailure {
                code: "deadline".to_owned(),
                message: "no answer in time".to_owned(),
            }),
        };
        self.report_progress(&step.why);
        let (tool, args) = (step.tool.to_owned(), step.args.clone());
        Finding { id, tool, args, outcome, took: begun.elapsed() }
    }

    /// Everything that was called so far.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.lock().clone()
    }

    pub fn plan(&self) -> Vec<String> {
        self.plan.lock().clone()
    }
}

/// How fresh the tools say their data is: the first one that says so.
pub(crate) fn freshness(findings: &[Finding]) -> Option<(&Finding, &Map<String, Value>)> {
    let of = |finding: &'_ Finding| -> Option<bool> {
        let meta = &finding.outcome.as_ref().ok()?.meta;
        Some(finding.tool != "search_securities" && meta.get("stoa/freshness")?.is_object())
    };
    let finding = findings.iter().find(|it| of(it) == Some(true))?;
    let meta = &finding.outcome.as_ref().ok()?.meta;
    Some((finding, meta.get("stoa/freshness")?.as_object()?))
}
