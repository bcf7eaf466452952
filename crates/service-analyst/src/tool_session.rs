//! Makes the tool calls for one question and stores the arguments and the result of each call,
//! because every figure of an answer cites them.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use contract::{Caller, Progress};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ports::{ToolAnswer, ToolCaller, ToolFailure};

/// Most calls that one question may make; further calls are dropped.
const CALLS_MAX: usize = 90;
/// Time reserved for writing the answer after the tool calls.
const WRITING_RESERVE: Duration = Duration::from_millis(500);

/// One planned tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    pub tool: &'static str,
    pub args: Value,
    /// The reason for the call, in the reader's language.
    pub why: String,
}

/// One completed tool call with its outcome.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The number in the text's call mark: `1` for `[1]`.
    pub id: usize,
    pub tool: String,
    pub args: Value,
    pub outcome: Result<ToolAnswer, ToolFailure>,
    pub duration: Duration,
}

impl Finding {
    /// Returns the document that citation pointers refer to: `{args, result, meta}`.
    pub fn evidence(&self) -> Value {
        let answer = self.outcome.as_ref().ok();
        json!({
            "args": self.args,
            "result": answer.map(|it| &it.result),
            "meta": answer.map(|it| &it.meta),
        })
    }

    /// Returns the value at a citation pointer without copying the whole document.
    pub(crate) fn value_at(&self, pointer: &str) -> Option<Value> {
        let rest_below = |name: &str| {
            let rest = pointer.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        if let Some(rest) = rest_below("/result") {
            return self.at(rest).cloned();
        }
        if let Some(rest) = rest_below("/args") {
            return self.args.pointer(rest).cloned();
        }
        let meta = json!({ "meta": &self.outcome.as_ref().ok()?.meta });
        meta.pointer(pointer).cloned()
    }

    /// Returns the part of the result at a JSON pointer.
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
            "duration_ms": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
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
    /// Number of progress reports sent. Each report must have a higher number than the previous
    /// one, in whatever order the calls end.
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
        let deadline = deadline.checked_sub(WRITING_RESERVE).unwrap_or(deadline);
        let (findings, plan) = (Mutex::default(), Mutex::default());
        let reported = AtomicU64::new(0);
        Self { tools, caller, cancel, deadline, progress, reported, findings, plan }
    }

    /// Returns the moment at which the session stops waiting for tools.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Sends a progress message to the caller.
    pub(crate) fn report_progress(&self, message: &str) {
        let count = self.reported.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.report(count as f64, None, message);
    }

    /// Runs all calls concurrently and returns the findings in the order of the steps.
    pub async fn run(&self, steps: &[PlannedCall]) -> Vec<Finding> {
        let done = self.findings().len();
        let steps = steps.get(..steps.len().min(CALLS_MAX.saturating_sub(done))).unwrap_or(&[]);
        self.plan.lock().extend(steps.iter().map(|step| step.why.clone()));
        let calls = steps.iter().enumerate().map(|(at, step)| self.call(done + at + 1, step));
        let findings = join_all(calls).await;
        self.findings.lock().extend(findings.iter().cloned());
        findings
    }

    async fn call(&self, id: usize, step: &PlannedCall) -> Finding {
        let started = Instant::now();
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
        Finding { id, tool, args, outcome, duration: started.elapsed() }
    }

    /// Returns the findings of all calls made so far.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.lock().clone()
    }

    pub fn plan(&self) -> Vec<String> {
        self.plan.lock().clone()
    }
}

/// Returns the first finding that reports the freshness of its data, with that report.
pub(crate) fn freshness(findings: &[Finding]) -> Option<(&Finding, &Map<String, Value>)> {
    let reports_freshness = |finding: &'_ Finding| -> Option<bool> {
        let meta = &finding.outcome.as_ref().ok()?.meta;
        Some(finding.tool != "search_securities" && meta.get("stoa/freshness")?.is_object())
    };
    let finding = findings.iter().find(|it| reports_freshness(it) == Some(true))?;
    let meta = &finding.outcome.as_ref().ok()?.meta;
    Some((finding, meta.get("stoa/freshness")?.as_object()?))
}
