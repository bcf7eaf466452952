//! A model in the process that replies from a script.

use parking_lot::Mutex;
use std::collections::VecDeque;

use async_trait::async_trait;
use fault::Fault;
use futures_util::{StreamExt, stream};

use crate::budget::estimate_tokens;
use crate::{Model, ModelEvent, ModelEvents, ModelReply, ModelRequest};

#[derive(Debug, Default)]
pub struct ScriptedModel {
    answers: Mutex<VecDeque<Result<ModelReply, Fault>>>,
    received: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub fn new(answers: impl IntoIterator<Item = Result<ModelReply, Fault>>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), received: Mutex::default() }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.received.lock().clone()
    }

    fn answer(&self, request: ModelRequest) -> Result<ModelReply, Fault> {
        let reservation =
            request.budget.reserve(estimate_tokens(request.bytes()), request.output_tokens_max)?;
        self.received.lock().push(request);
        let answer = self.answers.lock().pop_front();
        let over = || Err(Fault::unavailable("llm_failed", "the script is over"));
        let reply = answer.unwrap_or_else(over)?;
        reservation.settle(reply.usage);
        Ok(reply)
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, Fault> {
        self.answer(request)
    }

    fn stream(&self, request: ModelRequest) -> ModelEvents {
        let events = match self.answer(request) {
            Ok(reply) => {
                let words =
                    reply.text.split_inclusive(' ').map(|it| ModelEvent::Text(it.to_owned()));
                let calls = reply.tool_calls.iter().cloned().map(ModelEvent::ToolCall);
                let pieces: Vec<ModelEvent> = words.chain(calls).collect();
                pieces.into_iter().chain([ModelEvent::Done(reply)]).map(Ok).collect()
            }
            Err(fault) => vec![Err(fault)],
        };
        stream::iter(events).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::testing::reply;
    use crate::{Budget, ChatMessage};

    #[tokio::test]
    async fn the_scripted_model_follows_its_script_and_the_budget() {
        let answers = [Ok(reply("one two", Vec::new())), Ok(reply("three", Vec::new()))];
        let model = ScriptedModel::new(answers);
        let budget = Budget::new(1_000, 3, Instant::now() + Duration::from_mins(1));
        let request = ModelRequest::new(vec![ChatMessage::User("hi".to_owned())], &budget);
        let events: Vec<_> = model.stream(request.clone()).map(Result::unwrap).collect().await;
        assert_eq!(events[..2], ["one ", "two"].map(|it| ModelEvent::Text(it.to_owned())));
        assert_eq!(model.complete(request.clone()).await.unwrap().text, "three");
        assert_eq!(model.complete(request.clone()).await.unwrap_err().code(), "llm_failed");
        assert_eq!(model.complete(request).await.unwrap_err().code(), "llm_budget_spent");
        assert_eq!((model.requests().len(), budget.tokens_spent()), (3, 36));
    }
}
