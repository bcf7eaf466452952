//! The market analyst: reads a question, calls tools, and writes an answer in which every number
//! cites the call it came from. A [`Planner`] chooses the calls and a [`Writer`] writes the text,
//! by rules or with a language model; if the model fails, the rules answer. The analyst reaches
//! tools only through [`ToolCaller`].

mod answer;
mod ask;
mod check;
mod dates;
mod envelope;
mod messages;
mod model;
mod note;
mod number;
mod page;
mod plan;
mod ports;
mod resolve;
mod stem;
#[cfg(test)]
mod tests;
mod tool_session;
mod tools;
mod understand;
mod weights;
mod words;
mod write;

use std::sync::Arc;

use clock::{Clock, Millis};
use contract::{Contract, ContractError, Scope, Service, Tools};
use fault::Fault;
use jiff::civil::Date;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

pub use answer::AnalystAnswer;
pub use ask::{AskArgs, ChatMessage, Input, Metadata, Question};
pub use check::{
    Citation, CitationPlace, Formula, Number, Unsupported, check_numbers, check_tables, numbers,
    trace,
};
pub use dates::Period;
pub use model::{ModelPlanner, ModelTools, ModelWriter};
pub use note::Note;
pub use number::Language;
pub use plan::{LocalPlanner, Plan, Planner};
pub use ports::{ToolAnswer, ToolCaller, ToolFailure};
pub use resolve::{Resolved, Security};
pub use tool_session::{Finding, PlannedCall, ToolSession};
pub use understand::{
    Amount, Asked, Focus, Indicator, Intent, Mention, MoveDirection, RankMetric, Request, Sector,
};
pub use write::{AnswerDraft, LocalWriter, Writer};

/// Moscow time has been three hours ahead of UTC since 2014.
const MOSCOW_MS: i64 = 3 * 3_600_000;

/// The mode of answers written without a model.
const LOCAL: &str = "local";

pub struct Analyst {
    tools: Arc<dyn ToolCaller>,
    clock: Arc<dyn Clock>,
    planner: Arc<dyn Planner>,
    writer: Arc<dyn Writer>,
    /// The author: `local`, or the model's name in the trace.
    mode: String,
}

impl Analyst {
    /// Creates an analyst that answers by rules alone.
    pub fn local(tools: Arc<dyn ToolCaller>, clock: Arc<dyn Clock>) -> Self {
        Self::with(tools, clock, Arc::new(LocalPlanner), Arc::new(LocalWriter), LOCAL)
    }

    pub fn with(
        tools: Arc<dyn ToolCaller>,
        clock: Arc<dyn Clock>,
        planner: Arc<dyn Planner>,
        writer: Arc<dyn Writer>,
        mode: &str,
    ) -> Self {
        Self { tools, clock, planner, writer, mode: mode.to_owned() }
    }

    /// Returns the current date in Moscow.
    pub fn today(&self) -> Date {
        Millis(self.clock.now().0.saturating_add(MOSCOW_MS)).date()
    }

    /// Answers one question in its own tool session. If the model fails, the rules answer and the
    /// trace gives the reason.
    pub async fn answer(
        &self,
        question: &Question,
        tool_session: &ToolSession<'_>,
    ) -> Result<AnalystAnswer, Fault> {
        let (planner, writer) = (&*self.planner, &*self.writer);
        if self.mode == LOCAL {
            return self.answer_by(planner, writer, LOCAL, question, tool_session).await;
        }
        // The model gets two thirds of the time; the rest is for the rules in case it is too slow.
        let now = Instant::now();
        let model_time = tool_session.deadline().saturating_duration_since(now) * 2 / 3;
        let answer = self.answer_by(planner, writer, &self.mode, question, tool_session);
        let reason = match timeout_at(now + model_time, answer).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(fault)) => fault.code(),
            Err(_) => "llm_timeout",
        };
        let language = model::language(question, self.today());
        tool_session.report_progress(model::fallback_reason(reason, language));
        let local = self.answer_by(&LocalPlanner, &LocalWriter, LOCAL, question, tool_session);
        let mut answer = local.await?;
        answer.debug["fallback"] = json!(reason);
        // The text must show a user who chose a model that the rules answered.
        answer.draft.text.push('\n');
        answer.draft.text.push_str(model::fallback_reason(reason, language));
        Ok(answer)
    }

    async fn answer_by(
        &self,
        planner: &dyn Planner,
        writer: &dyn Writer,
        mode: &str,
        question: &Question,
        tool_session: &ToolSession<'_>,
    ) -> Result<AnalystAnswer, Fault> {
        // Calls made before this plan, by the model, are not part of it.
        let before = tool_session.findings().len();
        let plan = planner.plan(question, self.today(), tool_session).await?;
        // A call that the planner made to plan is not made again.
        let made = tool_session.findings().split_off(before);
        let done = |step: &PlannedCall| {
            made.iter().any(|it| it.outcome.is_ok() && it.tool == step.tool && it.args == step.args)
        };
        let calls: Vec<PlannedCall> = plan.calls().into_iter().filter(|it| !done(it)).collect();
        tool_session.run(&calls).await;
        let all = tool_session.findings();
        let findings = all.get(before..).unwrap_or_default();
        let draft = writer.write(question, &plan, findings, tool_session).await?;
        // An answer with an unsupported number is never returned, whether rules or a model wrote
        // it.
        let question_text = question.messages.join("\n");
        check_numbers(&draft.text, &draft.citations, &question_text, findings)
            .and_then(|()| check_tables(&draft.tables, &draft.citations, &question_text, findings))
            .map_err(|wrong| Fault::internal(format!("nothing supports {wrong:?}")))?;
        Ok(AnalystAnswer::new(draft, &plan, mode, tool_session.plan(), &all))
    }
}

/// Builds the service with its tool table.
pub fn service(analyst: Analyst) -> Result<Service, ContractError> {
    Tools::of(Arc::new(analyst))
        .tool("ask_market_analyst", Scope::Read, tools::ask_market_analyst::call)
        .bind(Contract::load("analyst")?, envelope::AnalystEnvelope)
}
