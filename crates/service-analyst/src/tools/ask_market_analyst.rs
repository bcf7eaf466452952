//! `ask_market_analyst`: answers a question about a market with numbers that cite tool calls.

use contract::Cx;
use fault::Fault;

use crate::{Analyst, AnalystAnswer, AskArgs, Question, ToolSession};

pub(crate) async fn call(cx: Cx<Analyst>, args: AskArgs) -> Result<AnalystAnswer, Fault> {
    let question = Question::new(args)?;
    if question.is_empty() {
        return Ok(AnalystAnswer::asking_for_a_question(question.locale));
    }
    let tool_session =
        ToolSession::new(&*cx.service.tools, &cx.caller, &cx.cancel, cx.deadline, &cx.progress);
    cx.service.answer(&question, &tool_session).await
}
