//! Language-model planner and writer. They use the same tools and the same number check as the
//! rules. The model chooses the calls and writes the text, receives tool results only as data, and
//! cannot publish a number without a source. Its failures are returned as faults, and the analyst
//! then answers by rules.

mod cite;
mod claims;
mod data;
mod fallback;
mod model_tools;
mod prompt;
mod reply_stream;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use jiff::civil::Date;
use llm::{Budget, ChatMessage, Model, ModelReply, ModelRequest, StopReason, ToolCall, ToolChoice};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::ask::Question;
use crate::check::Unsupported;
use crate::number::Language;
use crate::plan::{Plan, Planner};
use crate::resolve::{Resolved, Security};
use crate::tool_session::{Finding, PlannedCall, ToolSession};
use crate::understand::understand;
use crate::write::{AnswerDraft, Writer, finish_model_draft};
pub(crate) use fallback::{fallback_reason, language};
pub use model_tools::ModelTools;
use reply_stream::{ReplyProgress, stream_reply};

/// Most rounds in which the model may call tools.
const ROUNDS_MAX: usize = 4;
/// Extra model requests allowed when a reply breaks off.
const SPARE_CALLS: u32 = 2;
/// Most tool calls that the model may make in all rounds together.
const CALLS_MAX: usize = 12;
const PLANNING_TOKENS_MAX: u64 = 200_000;
const WRITING_TOKENS_MAX: u64 = 120_000;
/// Longest time for writing; the caller's own deadline can end it earlier.
const WRITING_MAX: Duration = Duration::from_mins(1);
const TEXT_CHARS_MAX: usize = 12_000;
/// Most user messages that are sent to the model.
const MESSAGES_MAX: usize = 8;
/// Most unsupported numbers that one correction request lists.
const UNSUPPORTED_LISTED_MAX: usize = 20;

/// A planner that lets a model choose the tool calls.
#[derive(Debug)]
pub struct ModelPlanner {
    model: Arc<dyn Model>,
    model_tools: Arc<ModelTools>,
}

impl ModelPlanner {
    pub fn new(model: Arc<dyn Model>, model_tools: Arc<ModelTools>) -> Self {
        Self { model, model_tools }
    }
}

/// A writer that lets a model write the answer from the findings.
#[derive(Debug)]
pub struct ModelWriter {
    model: Arc<dyn Model>,
    model_tools: Arc<ModelTools>,
}

impl ModelWriter {
    pub fn new(model: Arc<dyn Model>, model_tools: Arc<ModelTools>) -> Self {
        Self { model, model_tools }
    }
}

#[async_trait]
impl Planner for ModelPlanner {
    async fn plan(
        &self,
        question: &Question,
        today: Date,
        tool_session: &ToolSession<'_>,
    ) -> Result<Plan, Fault> {
        let request = understand(question, today);
        let calls_max = ROUNDS_MAX as u32 + SPARE_CALLS;
        let budget = Budget::new(PLANNING_TOKENS_MAX, calls_max, tool_session.deadline());
        let mut messages = opening_messages(prompt::planning(today), question);
        let before = tool_session.findings().len();
        tool_session.report_progress(
            request.language.pick("модель выбирает инструменты", "the model chooses tools"),
        );
        let on_progress = |progress: ReplyProgress<'_>| {
            if let ReplyProgress::Call(call) = progress
                && let Some(name) = self.model_tools.name(&call.name)
            {
                let label = request.language.pick("модель вызывает", "the model calls");
                tool_session.report_progress(&format!("{label} {name}"));
            }
        };
        for _ in 0..ROUNDS_MAX {
            let model_request =
                ModelRequest::new(messages.clone(), &budget).tools(self.model_tools.tools());
            let reply = match stream_reply(&*self.model, model_request, &on_progress).await {
                Ok(reply) => require_complete(reply)?,
                // The model sent malformed arguments and can correct them in the next round.
                Err(fault) if !fault.problems().is_empty() && fault.code() == "llm_bad_answer" => {
                    messages.push(ChatMessage::User(prompt::NOT_JSON.to_owned()));
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            if reply.tool_calls.is_empty() {
                break;
            }
            let calls = reply.tool_calls.clone();
            messages.push(reply.into_message());
            messages.extend(self.run_calls(&calls, before, request.language, tool_session).await);
        }
        let findings = tool_session.findings().split_off(before);
        if !findings.iter().any(|it| it.outcome.is_ok()) {
            let message = "the model called no tool that answered";
            return Err(Fault::unavailable("model_found_nothing", message));
        }
        let resolved = Resolved { securities: securities(&findings), ..Resolved::default() };
        Ok(Plan::new(request, resolved))
    }
}

impl ModelPlanner {
    /// Runs the valid calls and returns an error message for each invalid call.
    async fn run_calls(
        &self,
        calls: &[ToolCall],
        before: usize,
        language: Language,
        tool_session: &ToolSession<'_>,
    ) -> Vec<ChatMessage> {
        let earlier_findings = tool_session.findings().split_off(before);
        let mut steps: Vec<PlannedCall> = Vec::new();
        let mut step_results = Vec::new();
        for call in calls {
            let within_limit = earlier_findings.len() + steps.len() < CALLS_MAX;
            let step = self.model_tools.step(call, language).and_then(|step| {
                let same = |tool: &str, args: &Value| tool == step.tool && *args == step.args;
                if earlier_findings.iter().any(|it| same(&it.tool, &it.args))
                    || steps.iter().any(|it| same(it.tool, &it.args))
                {
                    Err("this very call was made already".to_owned())
                } else if within_limit {
                    Ok(step)
                } else {
                    Err("no more calls may be made".to_owned())
                }
            });
            step_results.push(step.map(|step| {
                steps.push(step);
                steps.len() - 1
            }));
        }
        let findings = tool_session.run(&steps).await;
        let answers = calls.iter().zip(step_results).map(|(call, step)| match step {
            Ok(at) => match findings.get(at) {
                Some(finding) => result(&call.id, finding),
                None => refusal(&call.id, "no more calls may be made"),
            },
            Err(why) => refusal(&call.id, &why),
        });
        answers.collect()
    }
}

#[async_trait]
impl Writer for ModelWriter {
    async fn write(
        &self,
        question: &Question,
        plan: &Plan,
        findings: &[Finding],
        tool_session: &ToolSession<'_>,
    ) -> Result<AnswerDraft, Fault> {
        let until = tool_session.deadline().min(Instant::now() + WRITING_MAX);
        let budget = Budget::new(WRITING_TOKENS_MAX, 2 + SPARE_CALLS, until);
        let language = plan.request.language;
        // Progress reports only the length of the text, because its numbers are not checked yet.
        let on_progress = |progress: ReplyProgress<'_>| {
            if let ReplyProgress::Text(chars) = progress {
                let label =
                    language.pick("модель пишет ответ, знаков", "characters written so far");
                tool_session.report_progress(&format!("{label}: {chars}"));
            }
        };
        let mut messages = opening_messages(prompt::writing(plan.request.language), question);
        messages.extend(findings_as_messages(findings));
        let question_text = question.messages.join("\n");
        let mut fault_code = "unsupported_numbers";
        for _ in 0..2 {
            let mut request =
                ModelRequest::new(messages.clone(), &budget).tools(self.model_tools.tools());
            request.tool_choice = ToolChoice::None;
            tool_session.report_progress(
                language.pick("модель пишет ответ", "the model writes the answer"),
            );
            let reply = require_complete(stream_reply(&*self.model, request, &on_progress).await?)?;
            tool_session
                .report_progress(language.pick("проверка чисел", "the numbers are checked"));
            let text = data::prose(&reply.text);
            if text.is_empty() || text.chars().count() > TEXT_CHARS_MAX {
                let message = "the model's text is empty or too long";
                return Err(Fault::unavailable("llm_bad_answer", message));
            }
            let feedback = if data::has_markup(&text) {
                fault_code = "model_wrote_markup";
                prompt::NO_MARKUP.to_owned()
            } else if claims::has_advice(&text) {
                fault_code = "model_gave_advice";
                prompt::NO_ADVICE.to_owned()
            } else {
                match cite::cited(&text, &question_text, findings) {
                    Ok(citations) => {
                        return Ok(finish_model_draft(&text, citations, plan, findings));
                    }
                    Err(unsupported) => {
                        tool_session.report_progress(language.pick(
                            "часть чисел не подтверждена инструментами",
                            "some numbers are not supported by the tools",
                        ));
                        fault_code = "unsupported_numbers";
                        unsupported_feedback(&unsupported)
                    }
                }
            };
            messages.push(ChatMessage::Assistant { text: reply.text, tool_calls: Vec::new() });
            messages.push(ChatMessage::User(feedback));
        }
        Err(Fault::unavailable(fault_code, "the model's text says what no tool has said"))
    }
}

/// Lists only the numbers, so that no other part of the model's text returns to it as an
/// instruction.
fn unsupported_feedback(unsupported: &[Unsupported]) -> String {
    let listed: Vec<&str> =
        unsupported.iter().take(UNSUPPORTED_LISTED_MAX).map(|it| it.text.as_str()).collect();
    format!("{} {}", prompt::UNSUPPORTED, listed.join("; "))
}

fn opening_messages(system: String, question: &Question) -> Vec<ChatMessage> {
    let from = question.messages.len().saturating_sub(MESSAGES_MAX);
    let recent = question.messages.iter().skip(from).map(|it| ChatMessage::User(it.clone()));
    [ChatMessage::System(system)].into_iter().chain(recent).collect()
}

/// Rejects a reply that is incomplete.
fn require_complete(reply: ModelReply) -> Result<ModelReply, Fault> {
    match reply.stop {
        StopReason::Refused => Err(Fault::unavailable("llm_refused", "the model would not answer")),
        StopReason::Length => {
            Err(Fault::unavailable("llm_cut_short", "the model's answer was cut"))
        }
        _ => Ok(reply),
    }
}

fn result(call_id: &str, finding: &Finding) -> ChatMessage {
    ChatMessage::ToolResult {
        call_id: call_id.to_owned(),
        content: data::render_finding(finding),
        failed: finding.outcome.is_err(),
    }
}

fn refusal(call_id: &str, why: &str) -> ChatMessage {
    let content = json!({ "refused": why }).to_string();
    ChatMessage::ToolResult { call_id: call_id.to_owned(), content, failed: true }
}

/// Converts the findings into chat messages: the calls and their results.
fn findings_as_messages(findings: &[Finding]) -> Vec<ChatMessage> {
    let id = |it: &Finding| format!("call_{}", it.id);
    let call = |it: &Finding| ToolCall {
        id: id(it),
        name: it.tool.clone(),
        arguments: it.args.as_object().cloned().unwrap_or_default(),
    };
    let tool_calls = findings.iter().map(call).collect();
    let calls = ChatMessage::Assistant { text: String::new(), tool_calls };
    [calls].into_iter().chain(findings.iter().map(|it| result(&id(it), it))).collect()
}

/// Lists the securities that the successful calls were about.
fn securities(findings: &[Finding]) -> Vec<Security> {
    let mut all: Vec<Security> = Vec::new();
    let mut add = |ticker: &Value, weight: &Value| {
        let Some(ticker) = ticker.as_str() else { return };
        if all.iter().all(|it| it.ticker != ticker) {
            all.push(Security {
                ticker: ticker.to_owned(),
                weight: weight.as_f64(),
                mentioned_as: ticker.to_owned(),
                ..Security::default()
            });
        }
    };
    for it in findings.iter().filter(|it| it.outcome.is_ok()) {
        add(&it.args["ticker"], &Value::Null);
        for ticker in it.args["tickers"].as_array().into_iter().flatten() {
            add(ticker, &Value::Null);
        }
        for position in it.args["positions"].as_array().into_iter().flatten() {
            add(&position["ticker"], &position["weight"]);
        }
    }
    all
}
