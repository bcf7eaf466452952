//! A reply as a stream of events. A failed request is retried only before the first event was
//! emitted.

use std::sync::Arc;

use fault::Fault;

use crate::attempt::{RequestTimeout, SuccessResponse};
use crate::client::{Call, ModelConnection};
use crate::failure::AttemptFailure;
use crate::reply_builder::ReplyBuilder;
use crate::sse::SseParser;
use crate::{ModelEvent, ModelRequest};

pub(crate) struct ReplyStream {
    shared: Arc<ModelConnection>,
    request: ModelRequest,
    call: Option<Call>,
    answer: Option<SuccessResponse>,
    frames: SseParser,
    builder: ReplyBuilder,
    attempt: u32,
    /// An event was emitted, so the request cannot be retried.
    emitted: bool,
    over: bool,
}

impl ReplyStream {
    pub(crate) fn new(shared: Arc<ModelConnection>, request: ModelRequest) -> Self {
        let builder = ReplyBuilder::new(&shared.config);
        Self {
            shared,
            request,
            call: None,
            answer: None,
            frames: SseParser::default(),
            builder,
            attempt: 0,
            emitted: false,
            over: false,
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Result<ModelEvent, Fault>> {
        loop {
            if let Some(event) = self.builder.events.pop_front() {
                self.emitted = true;
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if let Err(fault) = self.go_on().await {
                self.over = true;
                self.answer = None;
                self.call = None;
                self.builder.events.clear();
                return Some(Err(fault));
            }
        }
    }

    async fn go_on(&mut self) -> Result<(), Fault> {
        let mut call = match self.call.take() {
            Some(call) => call,
            None => self.shared.admit(&self.request, true).await?,
        };
        let stepped = self.step(&mut call).await;
        let end = call.end;
        match stepped {
            Ok(true) => {
                self.over = true;
                self.answer = None;
                if let Some(ModelEvent::Done(reply)) = self.builder.events.back() {
                    call.reservation.settle(reply.usage);
                }
                return Ok(());
            }
            Ok(false) => {}
            Err(mut failure) => {
                // Events that a piece completed before it failed count as emitted.
                failure.again &= !self.emitted && self.builder.events.is_empty();
                self.answer = None;
                self.shared.wait(failure, self.attempt, end).await?;
                self.attempt += 1;
                self.frames = SseParser::default();
                self.builder = ReplyBuilder::new(&self.shared.config);
            }
        }
        self.call = Some(call);
        Ok(())
    }

    /// Whether the reply is complete.
    async fn step(&mut self, call: &mut Call) -> Result<bool, AttemptFailure> {
        let timeouts = self.shared.config.timeouts;
        let fresh = self.answer.is_none();
        let first = RequestTimeout::new("begin to answer", timeouts.first_byte, call.end);
        let mut answer = match self.answer.take() {
            Some(answer) => answer,
            None => SuccessResponse::begin(&self.shared, &call.body, first).await?,
        };
        call.reservation.charge_started(self.builder.tokens_seen());
        if fresh {
            match answer.content_type().as_str() {
                "text/event-stream" => {}
                // Some servers send a whole answer although a stream was requested.
                "application/json" => {
                    let timeout = RequestTimeout::new("answer", timeouts.whole, call.end);
                    let body = answer.whole(timeout).await?;
                    self.shared.read(&body, &mut self.builder)?;
                    return self.builder.finish(call.input_estimate).map(|_| true);
                }
                _ => return Err(AttemptFailure::bad("it is neither events nor JSON")),
            }
        }
        let next = RequestTimeout::new("go on", timeouts.between_chunks, call.end);
        let chunk = answer.chunk(if fresh { first } else { next }).await?;
        let (shared, builder) = (&self.shared, &mut self.builder);
        let event = |data: &str| if builder.ended { Ok(()) } else { shared.event(data, builder) };
        let closed = chunk.is_none();
        match chunk {
            Some(chunk) => self.frames.push(&chunk, event)?,
            None => self.frames.finish(event)?,
        }
        call.reservation.charge_started(self.builder.tokens_seen());
        // A stop reason counts as the end, because some servers close the connection without an end
        // marker.
        if self.builder.ended || (closed && self.builder.stop.is_some()) {
            return self.builder.finish(call.input_estimate).map(|_| true);
        }
        if closed {
            return Err(AttemptFailure::cut_short());
        }
        self.answer = Some(answer);
        Ok(false)
    }
}
