//! Server-sent events: a stream at its own address, its query the subscription.
//!
//! Events carry their own `type`, so they are sent without an event name: a browser's `onmessage`
//! hears all of them. A client that comes back with `Last-Event-ID` goes on where it was.

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
    Call, Pipeline, Progress, RequestMeta, StreamEvent, StreamInput, Subscription, View,
};
use fault::Fault;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body::Frame;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::limiter::{StreamLimiter, StreamSlot};
use crate::connection_slots::ConnectionSlot;
use crate::socket_handoff::LongLived;
use crate::{encode, query, rest};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Asks a proxy not to gather what should arrive at once.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How long a client waits before it comes back, in milliseconds. No empty line ends it, nor the
/// sign of life: some clients take any empty line for the end of an event, and make one of nothing.
const BEGINNING: &str = "retry: 1000\n";
/// A comment, so that neither a proxy nor we keep a connection that nobody is at the end of.
const SIGN_OF_LIFE: &str = ":\n";
const SIGN_EVERY: Duration = Duration::from_secs(20);
const CHUNK_EVENTS_MAX: usize = 64;
/// How long a feed may take to say its last word once the server stops.
const LAST_WORD: Duration = Duration::from_secs(1);
const CHUNK_BYTES_MAX: usize = 64 * 1024;

struct Bound {
    pipeline: Arc<Pipeline>,
    service: Arc<str>,
    stream: String,
    limiter: Arc<StreamLimiter>,
    /// Told when a reader takes nothing for too long.
    long: LongLived,
}

pub(crate) fn routes(
    pipeline: &Arc<Pipeline>,
    view: &View,
    limiter: &Arc<StreamLimiter>,
) -> Router {
    let mut router = Router::new();
    for (service, row) in pipeline.catalog().streams(view) {
        let Some(sse) = &row.spec.sse else { continue };
        let bound = Bound {
            pipeline: Arc::clone(pipeline),
            service: Arc::clone(&service.name),
            stream: row.spec.name.clone(),
            limiter: Arc::clone(limiter),
            long: long(pipeline, &service.name),
        };
        let bound = Arc::new(bound);
        let told = Arc::clone(&bound);
        let fallback = move |Extension(arrival): Extension<RequestMeta>| {
            ready(rest::wrong_method(&told.pipeline, &told.service, &arrival, &[Method::GET]))
        };
        let handler = on(MethodFilter::GET, follow).with_state(bound).fallback(fallback);
        router = router.route(&sse.path, handler);
    }
    router
}

fn long(pipeline: &Arc<Pipeline>, service: &Arc<str>) -> LongLived {
    let (pipeline, service) = (Arc::clone(pipeline), Arc::clone(service));
    LongLived(Arc::new(move || pipeline.record_cut_off(&service, "reader_stalled")))
}

async fn follow(
    State(bound): State<Arc<Bound>>,
    Extension(arrival): Extension<RequestMeta>,
    request: Request,
) -> Response {
    let found = bound.pipeline.catalog().stream(&bound.service, &bound.stream);
    let Some((spec, sse)) = found.and_then(|(_, row)| Some((&row.spec, row.spec.sse.as_ref()?)))
    else {
        return rest::not_found(&arrival);
    };
    let text = request.uri().query().unwrap_or_default();
    let mut args = match query::arguments(text, sse.query.json()) {
        Ok(args) => args,
        Err(fault) => return refused(&bound, &fault, &arrival),
    };
    let slot = match bound.limiter.acquire(request.extensions()) {
        Ok(slot) => slot,
        Err(fault) => return refused(&bound, &fault, &arrival),
    };
    if let Some(last) = last_event_id(request.headers()) {
        args.insert(spec.resume.clone(), query::value(last, &spec.resume, sse.query.json()));
    }
    let cancel = CancellationToken::new();
    // The handler is told when the client leaves before there is anything to follow.
    let waiting = cancel.clone().drop_guard();
    let call = Call {
        tool: bound.stream.clone(),
        service: Some(Arc::clone(&bound.service)),
        args,
        credential: arrival.credential.clone(),
        transport: "sse",
        request_id: Arc::clone(&arrival.request_id),
        retry_after_rate: arrival.retry_after_rate,
        cancel,
        progress: Progress::default(),
    };
    let opened = bound.pipeline.open(call, StreamInput::Query).await;
    waiting.disarm();
    match opened {
        None => rest::not_found(&arrival),
        Some(Err(failure)) => encode::failure(&failure),
        Some(Ok(subscription)) => {
            let stop =
                request.extensions().get::<Arc<ConnectionSlot>>().map(|slot| slot.stop.clone());
            let words = Words { bound: Arc::clone(&bound), request_id: arrival.request_id };
            let events = Events::new(subscription, words, slot, &stop.unwrap_or_default());
            let mut response = response(events);
            response.extensions_mut().insert(bound.long.clone());
            response
        }
    }
}

/// What is refused before it gets to the pipeline, in the words of the stream's contract.
fn refused(bound: &Bound, fault: &Fault, arrival: &RequestMeta) -> Response {
    rest::refuse(&bound.pipeline, &bound.service, fault, arrival)
}

/// A browser that has seen no id yet sends an empty one.
fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(LAST_EVENT_ID)?.to_str().ok().filter(|text| !text.is_empty())
}

fn response(events: Events) -> Response {
    let mut response = Response::new(Body::new(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

/// What it takes to say in the contract's own words why a stream is over.
struct Words {
    bound: Arc<Bound>,
    request_id: Arc<str>,
}

impl Words {
    fn put(&self, chunk: &mut BytesMut, fault: &Fault) {
        let Words { bound, request_id } = self;
        let Some(failure) = bound.pipeline.failure_for(&bound.service, fault, request_id) else {
            return;
        };
        // The one event with a name: a browser's `onerror` hears it.
        chunk.put_slice(b"event: error\ndata: ");
        chunk.put_slice(failure.http_body.to_string().as_bytes());
        chunk.put_slice(b"\n\n");
    }
}

/// The body: what is ready goes out in one piece.
struct Events {
    subscription: Subscription,
    words: Words,
    _slot: StreamSlot,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Rings when a sign of life is due or, once the server stops, when nothing is waited for.
    silence: Pin<Box<Sleep>>,
    begun: bool,
    stopping: bool,
    over: bool,
}

impl Events {
    fn new(
        subscription: Subscription,
        words: Words,
        slot: StreamSlot,
        stop: &CancellationToken,
    ) -> Self {
        Self {
            subscription,
            words,
            _slot: slot,
            // A child: waiting on one token would have every connection take the same lock.
            stop: Box::pin(stop.child_token().cancelled_owned()),
            silence: Box::pin(sleep(SIGN_EVERY)),
            begun: false,
            stopping: false,
            over: false,
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
                    self.over = true;
                    if let Some(fault) = self.subscription.revocation() {
                        self.words.put(chunk, &fault);
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
        if this.over {
            return Poll::Ready(None);
        }
        // A feed ends by itself when the house closes, with an event that says where to resume.
        if !this.stopping && this.stop.as_mut().poll(context).is_ready() {
            this.stopping = true;
            this.silence.as_mut().reset(Instant::now() + LAST_WORD);
        }
        let mut chunk = BytesMut::new();
        if !this.begun {
            this.begun = true;
            chunk.put_slice(BEGINNING.as_bytes());
        }
        this.gather(context, &mut chunk);
        let silent = this.silence.as_mut().poll(context).is_ready();
        if chunk.is_empty() {
            this.over |= silent && this.stopping;
            if this.over {
                return Poll::Ready(None);
            }
            if !silent {
                return Poll::Pending;
            }
            chunk.put_slice(SIGN_OF_LIFE.as_bytes());
        }
        if silent && !this.stopping {
            this.silence.as_mut().reset(Instant::now() + SIGN_EVERY);
        }
        Poll::Ready(Some(Ok(Frame::data(chunk.freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        self.over
    }
}

fn put(chunk: &mut BytesMut, event: &StreamEvent) {
    if let Some(id) = event.resume.as_deref().filter(|id| !id.contains(['\n', '\r', '\0'])) {
        chunk.reserve(id.len() + event.json.len() + 16);
        chunk.put_slice(b"id: ");
        chunk.put_slice(id.as_bytes());
        chunk.put_slice(b"\n");
    }
    // JSON on one line is one line of data; the protocol joins several to what they were.
    for line in event.json.split(['\n', '\r']) {
        chunk.put_slice(b"data: ");
        chunk.put_slice(line.as_bytes());
        chunk.put_slice(b"\n");
    }
    chunk.put_slice(b"\n");
}
