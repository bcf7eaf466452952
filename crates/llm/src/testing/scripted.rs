//! A model in the process that gives the answers it was given.

use parking_lot::Mutex;
use std::collections::VecDeque;

use async_trait::async_trait;
use fault::Fault;
use futures_util::{StreamExt, stream};

use crate::budget::guess;
use crate::{Event, Events, Model, Reply, Request};

#[derive(Debug, Default)]
pub struct Scripted {
    answers: Mutex<VecDeque<Result<Reply, Fault>>>,
    seen: Mutex<Vec<Request>>,
}

impl Scripted {
    pub fn new(answers: impl IntoIterator<Item = Result<Reply, Fault>>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), seen: Mutex::default() }
    }

    /// What was asked so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().clone()
    }

    fn answer(&self, request: Request) -> Result<Reply, Fault> {
        let holding = request.budget.hold(guess(request.bytes()), request.output_tokens_max)?;
        self.seen.lock().push(request);
        let answer = self.answers.lock().pop_front();
        let over = || Err(Fault::unavailable("llm_failed", "the script is over"));
        let reply = answer.unwrap_or_else(over)?;
        holding.settle(reply.usage);
        Ok(reply)
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: Request) -> Result<Reply, Fault> {
        self.answer(request)
    }

    fn stream(&self, request: Request) -> Events {
        let events = match self.answer(request) {
            Ok(reply) => {
                let words = reply.text.split_inclusive(' ').map(|it| Event::Text(it.to_owned()));
                let calls = reply.tool_calls.iter().cloned().map(Event::ToolCall);
                let pieces: Vec<Event> = words.chain(calls).collect();
                pieces.into_iter().chain([Event::Done(reply)]).map(Ok).collect()
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
    use crate::{Budget, Message};

    #[tokio::test]
    async fn it_reads_its_script_to_the_end_and_keeps_to_the_budget() {
        let answers = [Ok(reply("one two", Vec::new())), Ok(reply("three", Vec::new()))];
        let model = Scripted::new(answers);
        let budget = Budget::new(1_000, 3, Instant::now() + Duration::from_mins(1));
        let request = Request::new(vec![Message::User("hi".to_owned())], &budget);
        let events: Vec<_> = model.stream(request.clone()).map(Result::unwrap).collect().await;
        assert_eq!(events[..2], ["one ", "two"].map(|it| Event::Text(it.to_owned())));
        assert_eq!(model.complete(request.clone()).await.unwrap().text, "three");
        assert_eq!(model.complete(request.clone()).await.unwrap_err().code(), "llm_failed");
        assert_eq!(model.complete(request).await.unwrap_err().code(), "llm_budget_spent");
        assert_eq!((model.seen().len(), budget.tokens_spent()), (3, 36));
    }
}
