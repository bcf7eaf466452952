//! Server-sent events: one stream per path, with the query as the subscription.
//!
//! Events have no event name, because they carry a `type` and a browser's `onmessage` then receives
//! all of them. `Last-Event-ID` resumes after that event.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use bytes::{BufMut as _, Bytes, BytesMut};
use contract::{
    Call, Pipeline, Progress, RequestMeta, StreamEvent, StreamInput, StreamRef, Subscription, View,
};
use fault::Fault;
use http::{HeaderMap, HeaderName, Method};
use http_body::Frame;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::limiter::{StreamLimiter, StreamSlot};
use crate::connection_slots::ConnectionSlot;
use crate::socket_handoff::LongLived;
use crate::{encode, query, rest};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells the client to reconnect after 1,000 ms. No empty line follows, nor after the heartbeat:
/// some clients turn an empty line without data into an empty event.
const PREAMBLE: &str = "retry: 1000\n";
/// A comment, so that proxies and the server notice a dead connection.
const HEARTBEAT: &str = ":\n";
const HEARTBEAT_EVERY: Duration = Duration::from_secs(20);
const CHUNK_EVENTS_MAX: usize = 64;
/// How long a subscription may take to send its last event once the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);
/// A chunk is what a client that does not read holds in memory; one event more may be in it.
const CHUNK_BYTES_MAX: usize = 16 * 1024;

struct SseRoute {
    pipeline: Arc<Pipeline>,
    stream: StreamRef,
    limiter: Arc<StreamLimiter>,
    /// Counts readers that stall longer than the write timeout.
    long_lived: LongLived,
}

pub(crate) fn routes(
    pipeline: &Arc<Pipeline>,
    view: &View,
    limiter: &Arc<StreamLimiter>,
) -> Router {
    let mut router = Router::new();
    for stream in pipeline.catalog().streams(view) {
        let Some(binding) = &stream.row().spec.sse else { continue };
        let route = SseRoute {
            pipeline: Arc::clone(pipeline),
            stream: stream.clone(),
            limiter: Arc::clone(limiter),
            long_lived: long_lived(pipeline, &stream.service().name),
        };
        let route = Arc::new(route);
        let refusing = Arc::clone(&route);
        let fallback = move |Extension(arrival): Extension<RequestMeta>| {
            let takes = [Method::GET, Method::HEAD];
            ready(rest::wrong_method(refusing.stream.service(), &arrival, &takes))
        };
        let handler = on(MethodFilter::GET, follow).with_state(route).fallback(fallback);
        router = router.route(&binding.path, handler);
    }
    router
}

fn long_lived(pipeline: &Arc<Pipeline>, service: &Arc<str>) -> LongLived {
    let (pipeline, service) = (Arc::clone(pipeline), Arc::clone(service));
    LongLived(Arc::new(move || pipeline.record_cut_off(&service, "reader_stalled")))
}

async fn follow(
    State(route): State<Arc<SseRoute>>,
    Extension(arrival): Extension<RequestMeta>,
    request: Request,
) -> Response {
    let (service, spec) = (route.stream.service(), &route.stream.row().spec);
    let schema = spec.sse.as_ref().map_or(&spec.input, |sse| &sse.query).json();
    let text = request.uri().query().unwrap_or_default();
    let mut args = match query::arguments(text, schema) {
        Ok(args) => args,
        Err(fault) => return rest::refuse(service, &fault, &arrival),
    };
    let slot = match route.limiter.acquire(arrival.client) {
        Ok(slot) => slot,
        Err(fault) => return rest::refuse(service, &fault, &arrival),
    };
    if let Some(last) = last_event_id(request.headers()) {
        args.insert(spec.resume.clone(), query::value(last, &spec.resume, schema));
    }
    let cancel = CancellationToken::new();
    // Cancels the handler when the client disconnects before the stream is open.
    let cancel_guard = cancel.clone().drop_guard();
    let call = Call {
        args,
        meta: arrival.clone(),
        transport: "sse",
        cancel,
        progress: Progress::default(),
    };
    let opened = route.pipeline.open(&route.stream, call, StreamInput::Query).await;
    cancel_guard.disarm();
    match opened {
        Err(failure) => encode::failure(&failure),
        Ok(subscription) => {
            let stop =
                request.extensions().get::<Arc<ConnectionSlot>>().map(|slot| slot.stop.clone());
            let errors = ErrorEvents { route: Arc::clone(&route), request_id: arrival.request_id };
            let events = Events::new(subscription, errors, slot, &stop.unwrap_or_default());
            let mut response = http_wire::event_stream(Body::new(events));
            // For the error event, whose object has no room for it.
            encode::add_source(&mut response, service.source.as_deref());
            response.extensions_mut().insert(route.long_lived.clone());
            response
        }
    }
}

/// The header; `None` when empty, as browsers send it before the first id.
fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(LAST_EVENT_ID)?.to_str().ok().filter(|text| !text.is_empty())
}

/// Writes the error event that ends a refused stream, in the envelope of its contract.
struct ErrorEvents {
    route: Arc<SseRoute>,
    request_id: Arc<str>,
}

impl ErrorEvents {
    fn put(&self, chunk: &mut BytesMut, fault: &Fault) {
        let ErrorEvents { route, request_id } = self;
        let failure = route.stream.service().failure(fault, request_id);
        // The only event with a name, so that a browser's `onerror` receives it.
        chunk.put_slice(b"event: error\ndata: ");
        chunk.put_slice(failure.http_body.to_string().as_bytes());
        chunk.put_slice(b"\n\n");
    }
}

/// The response body; all events that are ready go into one chunk.
struct Events {
    subscription: Subscription,
    errors: ErrorEvents,
    _slot: StreamSlot,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Fires when a heartbeat is due or, once the server stops, when the grace period ends.
    timer: Pin<Box<Sleep>>,
    started: bool,
    stopping: bool,
    ended: bool,
}

impl Events {
    fn new(
        subscription: Subscription,
        errors: ErrorEvents,
        slot: StreamSlot,
        stop: &CancellationToken,
    ) -> Self {
        Self {
            subscription,
            errors,
            _slot: slot,
            // A child token each, because waiting on one token makes every connection take one lock.
            stop: Box::pin(stop.child_token().cancelled_owned()),
            timer: Box::pin(sleep(HEARTBEAT_EVERY)),
            started: false,
            stopping: false,
            ended: false,
        }
    }

    fn gather(&mut self, context: &mut Context<'_>, chunk: &mut BytesMut) {
        for _ in 0..CHUNK_EVENTS_MAX {
            if chunk.len() >= CHUNK_BYTES_MAX {
                return;
            }
            match self.subscription.poll_next(context) {
                Poll::Pending => return,
                Poll::Ready(Some(event)) => put(chunk, &event),
                Poll::Ready(None) => {
                    self.ended = true;
                    if let Some(fault) = self.subscription.revocation() {
                        self.errors.put(chunk, &fault);
                    }
                    return;
                }
            }
        }
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        // On shutdown the subscription ends by itself, with an event that has the resume point.
        if !this.stopping && this.stop.as_mut().poll(context).is_ready() {
            this.stopping = true;
            this.timer.as_mut().reset(Instant::now() + SHUTDOWN_GRACE);
        }
        let mut chunk = BytesMut::new();
        if !this.started {
            this.started = true;
            chunk.put_slice(PREAMBLE.as_bytes());
        }
        this.gather(context, &mut chunk);
        let due = this.timer.as_mut().poll(context).is_ready();
        if chunk.is_empty() {
            this.ended |= due && this.stopping;
            if this.ended {
                return Poll::Ready(None);
            }
            if !due {
                return Poll::Pending;
            }
            chunk.put_slice(HEARTBEAT.as_bytes());
        }
        if due && !this.stopping {
            this.timer.as_mut().reset(Instant::now() + HEARTBEAT_EVERY);
        }
        Poll::Ready(Some(Ok(Frame::data(chunk.freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

fn put(chunk: &mut BytesMut, event: &StreamEvent) {
    if let Some(id) = event.resume.as_deref().filter(|id| !id.contains(['\n', '\r', '\0'])) {
        chunk.reserve(id.len() + event.json.len() + 16);
        chunk.put_slice(b"id: ");
        chunk.put_slice(id.as_bytes());
        chunk.put_slice(b"\n");
    }
    // Each line of the JSON is one `data` line; clients join them with newlines.
    for line in event.json.split(['\n', '\r']) {
        chunk.put_slice(b"data: ");
        chunk.put_slice(line.as_bytes());
        chunk.put_slice(b"\n");
    }
    chunk.put_slice(b"\n");
}
