//! A reply as it is made. It is begun again after a failure only while nothing of it was told.

use std::sync::Arc;

use fault::Fault;

use crate::attempt::{Answer, Patience};
use crate::client::{Call, Shared};
use crate::draft::Draft;
use crate::failure::Failure;
use crate::sse::Frames;
use crate::{Event, Request};

pub(crate) struct Live {
    shared: Arc<Shared>,
    request: Request,
    call: Option<Call>,
    answer: Option<Answer>,
    frames: Frames,
    draft: Draft,
    attempt: u32,
    /// Something was told, so that there is no way back.
    told: bool,
    over: bool,
}

impl Live {
    pub(crate) fn new(shared: Arc<Shared>, request: Request) -> Self {
        let draft = Draft::new(&shared.config);
        Self {
            shared,
            request,
            call: None,
            answer: None,
            frames: Frames::default(),
            draft,
            attempt: 0,
            told: false,
            over: false,
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Result<Event, Fault>> {
        loop {
            if let Some(event) = self.draft.events.pop_front() {
                self.told = true;
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Err(fault) = self.go_on().await {
                self.over = true;
                self.answer = None;
                self.call = None;
                self.draft.events.clear();
                return Some(Err(fault));
            }
        }
    }

    async fn go_on(&mut self) -> Result<(), Fault> {
        let mut call = match self.call.take() {
            Some(call) => call,
            None => self.shared.let_in(&self.request, true).await?,
        };
        let stepped = self.step(&mut call).await;
        let end = call.end;
        match stepped {
            Ok(true) => {
                self.over = true;
                self.answer = None;
                if let Some(Event::Done(reply)) = self.draft.events.back() {
                    call.holding.settle(reply.usage);
                }
                return Ok(());
            }
            Ok(false) => {}
            Err(mut failure) => {
                // Events that one piece completed before it went wrong count as told.
                failure.again &= !self.told && self.draft.events.is_empty();
                self.answer = None;
                self.shared.wait(failure, self.attempt, end).await?;
                self.attempt += 1;
                self.frames = Frames::default();
                self.draft = Draft::new(&self.shared.config);
            }
        }
        self.call = Some(call);
        Ok(())
    }

    /// Whether the reply is whole.
    async fn step(&mut self, call: &mut Call) -> Result<bool, Failure> {
        let timeouts = self.shared.config.timeouts;
        let fresh = self.answer.is_none();
        let first = Patience::new("begin to answer", timeouts.first_byte, call.end);
        let mut answer = match self.answer.take() {
            Some(answer) => answer,
            None => Answer::begin(&self.shared, &call.body, first).await?,
        };
        call.holding.began(self.draft.tokens_seen());
        if fresh {
            match answer.content_type().as_str() {
                "text/event-stream" => {}
                // Some servers do not stream although they are asked to.
                "application/json" => {
                    let patience = Patience::new("answer", timeouts.whole, call.end);
                    let body = answer.whole(patience).await?;
                    self.shared.read(&body, &mut self.draft)?;
                    return self.draft.finish(call.input_guess).map(|_| true);
                }
                _ => return Err(Failure::bad("it is neither events nor JSON")),
            }
        }
        let next = Patience::new("go on", timeouts.between_chunks, call.end);
        let chunk = answer.chunk(if fresh { first } else { next }).await?;
        let (shared, draft) = (&self.shared, &mut self.draft);
        let event = |data: &str| if draft.ended { Ok(()) } else { shared.event(data, draft) };
        let closed = chunk.is_none();
        match chunk {
            Some(chunk) => self.frames.push(&chunk, event)?,
            None => self.frames.finish(event)?,
        }
        call.holding.began(self.draft.tokens_seen());
        // A reason to stop is as good as the end: some servers close without another word.
        if self.draft.ended || (closed && self.draft.stop.is_some()) {
            return self.draft.finish(call.input_guess).map(|_| true);
        }
        if closed {
            return Err(Failure::cut_short());
        }
        self.answer = Some(answer);
        Ok(false)
    }
}
