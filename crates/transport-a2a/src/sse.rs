//! A task as server-sent events: first the task as it is, then its events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use crate::handler::{POLL_INTERVAL, RequestHandler, SendOutcome, TaskSubscription};
use crate::live_tasks::{LiveTask, StreamEvent};
use crate::wire::{StreamResponse, Task};

/// A comment that is sent regularly, so that a closed connection is noticed.
const HEARTBEAT: &str = ":\n\n";
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The form of an event.
#[derive(Debug, Clone)]
pub(crate) enum EventFormat {
    /// A JSON-RPC response to the request with this id.
    Rpc(Value),
    None,
}

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    /// When the task is over or waits for another message of the client.
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

/// The stream of a new message.
pub(crate) fn of_message(
    handler: &Arc<RequestHandler>,
    outcome: SendOutcome,
    format: EventFormat,
    history: Option<usize>,
) -> Response {
    match outcome {
        SendOutcome::Message(message) => {
            let events = StreamEvent::of(&StreamResponse::Message(*message));
            http_wire::event_stream(Body::from(format.event(&events.json)))
        }
        SendOutcome::Task(subscription) => {
            follow(handler, *subscription, format, StreamEnd::Pause, history)
        }
    }
}

/// The stream of an existing task.
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
        next_heartbeat: Instant::now() + HEARTBEAT_INTERVAL,
        format,
        until,
        over: false,
    };
    let events = stream::unfold(events, |mut events| async move {
        let chunk = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(chunk), events))
    });
    http_wire::event_stream(Body::from_stream(events))
}

/// One subscriber of a task. Dropping it does not affect the task or other subscribers.
struct TaskEventStream {
    handler: Arc<RequestHandler>,
    live: Arc<LiveTask>,
    events: broadcast::Receiver<Arc<StreamEvent>>,
    first: Option<Task>,
    next_heartbeat: Instant,
    format: EventFormat,
    until: StreamEnd,
    over: bool,
}

impl TaskEventStream {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(task) = self.first.take() {
            return Some(self.snapshot(task));
        }
        while !self.over {
            let poll = Instant::now() + POLL_INTERVAL;
            let elsewhere = !self.live.is_running();
            tokio::select! {
                biased;
                events = self.events.recv() => match events {
                    Ok(events) => return Some(self.event(&events)),
                    // The task as it is now includes the missed events.
                    Err(RecvError::Lagged(_)) => {
                        let (task, events) = self.live.join();
                        self.events = events;
                        return Some(self.snapshot(task));
                    }
                    Err(RecvError::Closed) => self.over = true,
                },
                () = self.handler.context.stop.cancelled() => self.over = true,
                () = sleep_until(self.next_heartbeat) => {
                    self.next_heartbeat = Instant::now() + HEARTBEAT_INTERVAL;
                    return Some(Bytes::from_static(HEARTBEAT.as_bytes()));
                }
                () = sleep_until(poll), if elsewhere => self.handler.refresh(&self.live).await,
            }
        }
        None
    }

    fn snapshot(&mut self, task: Task) -> Bytes {
        self.event(&StreamEvent::of(&StreamResponse::Task(task)))
    }

    fn event(&mut self, events: &StreamEvent) -> Bytes {
        self.next_heartbeat = Instant::now() + HEARTBEAT_INTERVAL;
        self.over = events.ends || (events.pauses && self.until == StreamEnd::Pause);
        self.format.event(&events.json)
    }
}
