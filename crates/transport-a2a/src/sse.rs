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

use crate::desk::{Begun, Desk, Watch};
use crate::live::{Live, News};
use crate::wire::{StreamResponse, Task};

/// A comment, so that neither a proxy nor we keep a connection that nobody is at the end of.
const SIGN_OF_LIFE: &str = ":\n\n";
const SIGN_EVERY: Duration = Duration::from_secs(15);
/// How often a task that is not worked at here is looked up.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Asks a proxy not to gather what should arrive at once.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What an event is wrapped in.
#[derive(Debug, Clone)]
pub(crate) enum Wrapping {
    /// A JSON-RPC response to the request with this id.
    Rpc(Value),
    None,
}

/// When a stream is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// When the work is over or waits for the client, which then sends another message.
    Pause,
    End,
}

impl Wrapping {
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
    desk: &Arc<Desk>,
    begun: Begun,
    wrapping: Wrapping,
    history: Option<usize>,
) -> Response {
    match begun {
        Begun::Message(message) => {
            let news = News::of(&StreamResponse::Message(*message));
            response(Body::from(wrapping.event(&news.json)))
        }
        Begun::Task(watch) => follow(desk, *watch, wrapping, Until::Pause, history),
    }
}

/// The stream of a task that was there before.
pub(crate) fn of_task(desk: &Arc<Desk>, watch: Watch, wrapping: Wrapping) -> Response {
    follow(desk, watch, wrapping, Until::End, None)
}

fn follow(
    desk: &Arc<Desk>,
    watch: Watch,
    wrapping: Wrapping,
    until: Until,
    history: Option<usize>,
) -> Response {
    let first = watch.task.with_history(history);
    let events = Events {
        desk: Arc::clone(desk),
        live: watch.live,
        news: watch.news,
        first: Some(first),
        silence: Instant::now() + SIGN_EVERY,
        wrapping,
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
struct Events {
    desk: Arc<Desk>,
    live: Arc<Live>,
    news: broadcast::Receiver<Arc<News>>,
    first: Option<Task>,
    silence: Instant,
    wrapping: Wrapping,
    until: Until,
    over: bool,
}

impl Events {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(task) = self.first.take() {
            return Some(self.show(task));
        }
        while !self.over {
            let look = Instant::now() + LOOK_EVERY;
            let elsewhere = !self.live.is_running();
            tokio::select! {
                biased;
                news = self.news.recv() => match news {
                    Ok(news) => return Some(self.say(&news)),
                    // What was missed is in the task as it is now.
                    Err(RecvError::Lagged(_)) => {
                        let (task, news) = self.live.join();
                        self.news = news;
                        return Some(self.show(task));
                    }
                    Err(RecvError::Closed) => self.over = true,
                },
                () = self.desk.tools.stop.cancelled() => self.over = true,
                () = sleep_until(self.silence) => {
                    self.silence = Instant::now() + SIGN_EVERY;
                    return Some(Bytes::from_static(SIGN_OF_LIFE.as_bytes()));
                }
                () = sleep_until(look), if elsewhere => self.desk.refresh(&self.live).await,
            }
        }
        None
    }

    fn show(&mut self, task: Task) -> Bytes {
        self.say(&News::of(&StreamResponse::Task(task)))
    }

    fn say(&mut self, news: &News) -> Bytes {
        self.silence = Instant::now() + SIGN_EVERY;
        self.over = news.ends || (news.pauses && self.until == Until::Pause);
        self.wrapping.event(&news.json)
    }
}
