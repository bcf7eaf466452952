//! A task as server-sent events: first the task as it is, then what happens to it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use crate::handler::{POLL_INTERVAL, RequestHandler, SendOutcome, TaskSubscription};
use crate::live_tasks::{LiveTask, StreamEvent};
use crate::wire::{StreamResponse, Task};

/// A comment, so that neither a proxy nor we keep a connection that nobody is at the end of.
const HEARTBEAT: &str = ":\n\n";
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// Asks a proxy not to gather what should arrive at once.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What an event is wrapped in.
#[derive(Debug, Clone)]
pub(crate) enum EventFormat {
    /// A JSON-RPC response to the request with this id.
    Rpc(Value),
    None,
}

/// When a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    /// When the work is over or waits for the client, which then sends another message.
    Pause,
    End,
}

impl EventFormat {
    fn event(&self, json: &str) -> Bytes {
        Bytes::from(match self {
            Self::Rpc(id) => {
                format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{json}}}\n\n")
            }
            Self::None => format!("data: {json}\n\n"),
        })
    }
}

/// The stream of a message that was sent.
pub(crate) fn of_message(
    handler: &Arc<RequestHandler>,
    outcome: SendOutcome,
    format: EventFormat,
    history: Option<usize>,
) -> Response {
    match outcome {
        SendOutcome::Message(message) => {
            let events = StreamEvent::of(&StreamResponse::Message(*message));
            response(Body::from(format.event(&events.json)))
        }
        SendOutcome::Task(subscription) => {
            follow(handler, *subscription, format, StreamEnd::Pause, history)
        }
    }
}

/// The stream of a task that was there before.
pub(crate) fn of_task(
    handler: &Arc<RequestHandler>,
    subscription: TaskSubscription,
    format: EventFormat,
) -> Response {
    follow(handler, subscription, format, StreamEnd::End, None)
}

fn follow(
    handler: &Arc<RequestHandler>,
    subscription: TaskSubscription,
    format: EventFormat,
    until: StreamEnd,
    history: Option<usize>,
) -> Response {
    let first = subscription.task.with_history(history);
    let events = TaskEventStream {
        handler: Arc::clone(handler),
        live: subscription.live,
        events: subscription.events,
        first: Some(first),
        silence: Instant::now() + HEARTBEAT_INTERVAL,
        format,
        until,
        over: false,
    };
    let events = stream::unfold(events, |mut events| async move {
        let chunk = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), events))
    });
    response(Body::from_stream(events))
}

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

/// One reader of a task. Leaving it changes nothing for the task or its other readers.
struct TaskEventStream {
    handler: Arc<RequestHandler>,
    live: Arc<LiveTask>,
    events: broadcast::Receiver<Arc<StreamEvent>>,
    first: Option<Task>,
    silence: Instant,
    format: EventFormat,
    until: StreamEnd,
    over: bool,
}

impl TaskEventStream {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(task) = self.first.take() {
            return Some(self.show(task));
        }
        while !self.over {
            let look = Instant::now() + POLL_INTERVAL;
            let elsewhere = !self.live.is_running();
            tokio::select! {
                biased;
                events = self.events.recv() => match events {
                    Ok(events) => return Some(self.say(&events)),
                    // What was missed is in the task as it is now.
                    Err(RecvError::Lagged(_)) => {
                        let (task, events) = self.live.join();
                        self.events = events;
                        return Some(self.show(task));
                    }
                    Err(RecvError::Closed) => self.over = true,
                },
                () = self.handler.context.stop.cancelled() => self.over = true,
                () = sleep_until(self.silence) => {
                    self.silence = Instant::now() + HEARTBEAT_INTERVAL;
                    return Some(Bytes::from_static(HEARTBEAT.as_bytes()));
                }
                () = sleep_until(look), if elsewhere => self.handler.refresh(&self.live).await,
            }
        }
        None
    }

    fn show(&mut self, task: Task) -> Bytes {
        self.say(&StreamEvent::of(&StreamResponse::Task(task)))
    }

    fn say(&mut self, events: &StreamEvent) -> Bytes {
        self.silence = Instant::now() + HEARTBEAT_INTERVAL;
        self.over = events.ends || (events.pauses && self.until == StreamEnd::Pause);
        self.format.event(&events.json)
    }
}
