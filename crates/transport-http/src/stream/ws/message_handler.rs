//! Handles a client's message: opens a subscription through the pipeline, ends one, or refuses with
//! the error envelope of the contract.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use contract::{
    Call, ConnectionCredential, Pipeline, Progress, RequestMeta, StreamInput, StreamOutcome,
    StreamRef,
};
use fault::{Fault, Kind};
use tokio_util::sync::CancellationToken;

use super::message::{self, ClientMessage, InvalidMessage, SubscriptionRef};
use super::subscriptions::{
    OpenSubscription, RevokedSubscription, SubscriptionState, Subscriptions,
};
use super::{WsAddress, WsLimits};

/// The caller of one connection and the streams of its path.
pub(crate) struct MessageHandler {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) address: Arc<WsAddress>,
    pub(crate) credential: ConnectionCredential,
    pub(crate) request_id: Arc<str>,
    pub(crate) client: Option<IpAddr>,
}

impl MessageHandler {
    /// Handles a message; returns the immediate answer, if there is one.
    pub(crate) fn handle(
        &self,
        message: Result<ClientMessage, InvalidMessage>,
        subscriptions: &mut Subscriptions,
        limits: &WsLimits,
    ) -> Option<String> {
        match message {
            Ok(ClientMessage::Ping) => Some(message::PONG.to_owned()),
            Ok(ClientMessage::Subscribe(wanted)) => self.subscribe(wanted, subscriptions, limits),
            Ok(ClientMessage::Unsubscribe(wanted)) => Some(self.unsubscribe(wanted, subscriptions)),
            Err(invalid) => Some(self.refuse(None, invalid.id.as_deref(), &invalid.fault)),
        }
    }

    /// The refusal of a message above the rate, with the message's id.
    pub(crate) fn too_fast(
        &self,
        received: &Result<ClientMessage, InvalidMessage>,
        wait: Duration,
    ) -> String {
        let message = "too many messages on this connection; wait before the next one";
        let fault = Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait);
        let id = match received {
            Ok(ClientMessage::Subscribe(wanted) | ClientMessage::Unsubscribe(wanted)) => {
                wanted.id.as_deref()
            }
            Ok(ClientMessage::Ping) => None,
            Err(invalid) => invalid.id.as_deref(),
        };
        self.refuse(None, id, &fault)
    }

    /// Counts a client that was disconnected because it did not read.
    pub(crate) fn stalled(&self) {
        self.pipeline.record_cut_off(&self.address.service.name, "reader_stalled");
    }

    /// The error message for a subscription whose credential was revoked.
    pub(crate) fn revoked(&self, revoked: &RevokedSubscription) -> String {
        let stream = self.address.streams.iter().find(|it| *it.row().spec.name == *revoked.stream);
        self.refuse(stream, Some(&revoked.id), &revoked.fault)
    }

    fn subscribe(
        &self,
        wanted: SubscriptionRef,
        subscriptions: &mut Subscriptions,
        limits: &WsLimits,
    ) -> Option<String> {
        let given = wanted.id.as_deref();
        let stream = match self.stream(wanted.stream.as_deref()) {
            Ok(stream) => stream,
            Err(fault) => return Some(self.refuse(None, given, &fault)),
        };
        let refused = match given {
            Some(id) if subscriptions.has(id) => Some(duplicate_id(id)),
            _ if subscriptions.len() >= limits.subscriptions_max => {
                Some(too_many_subscriptions(limits.subscriptions_max))
            }
            _ => None,
        };
        if let Some(fault) = refused {
            return Some(self.refuse(Some(stream), given, &fault));
        }
        let spec = &stream.row().spec;
        let mut fields = wanted.args.clone();
        fields.shift_remove(&spec.resume);
        let call = self.call(wanted.args);
        let id = wanted.id.unwrap_or_else(|| subscriptions.make_id()).into_boxed_str();
        subscriptions.add(OpenSubscription {
            prefix: message::event_prefix(&id).into_boxed_str(),
            id,
            stream: Box::from(&*spec.name),
            fields: serde_json::Value::Object(fields).to_string().into_boxed_str(),
            state: SubscriptionState::Opening(Box::pin(open(
                Arc::clone(&self.pipeline),
                stream.clone(),
                call,
            ))),
        });
        None
    }

    fn unsubscribe(
        &self,
        mut wanted: SubscriptionRef,
        subscriptions: &mut Subscriptions,
    ) -> String {
        let ended = match wanted.id.as_deref() {
            Some(id) => subscriptions.remove(id),
            None => match self.stream(wanted.stream.as_deref()) {
                Ok(stream) => {
                    let spec = &stream.row().spec;
                    wanted.args.shift_remove(&spec.resume);
                    subscriptions.remove_same(&spec.name, &wanted.args)
                }
                Err(fault) => return self.refuse(None, None, &fault),
            },
        };
        match ended {
            Some(id) => message::unsubscribed(&id),
            None => {
                let message = "this connection has no such subscription";
                let fault = Fault::not_found("unknown_subscription", message)
                    .problem("id", "the id of a subscription of this connection");
                self.refuse(None, wanted.id.as_deref(), &fault)
            }
        }
    }

    /// The stream of that name; where there is only one, the name is optional.
    fn stream(&self, name: Option<&str>) -> Result<&StreamRef, Fault> {
        let streams = &self.address.streams;
        let found = match (name, streams.as_slice()) {
            (None, [only]) => Some(only),
            (Some(name), all) => all.iter().find(|stream| stream.row().spec.name == name),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let names: Vec<String> =
                streams.iter().map(|stream| format!("{:?}", stream.row().spec.name)).collect();
            let expected = format!("one of {}", names.join(", "));
            let message = format!("invalid message: stream: expected {expected}");
            Fault::invalid("unknown_stream", message).problem("stream", expected)
        })
    }

    fn call(&self, args: serde_json::Map<String, serde_json::Value>) -> Call {
        let (request_id, credential) = (Arc::clone(&self.request_id), self.credential.current());
        Call {
            args,
            meta: RequestMeta { client: self.client, ..RequestMeta::new(request_id, credential) },
            transport: "ws",
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        }
    }

    /// An error message in the envelope of the stream's service, or of the path's first service.
    fn refuse(&self, stream: Option<&StreamRef>, id: Option<&str>, fault: &Fault) -> String {
        let service = stream.map_or(&self.address.service, StreamRef::service);
        message::error(id, service.failure(fault, &self.request_id))
    }
}

/// Opens the stream; dropping the future cancels the handler.
async fn open(pipeline: Arc<Pipeline>, stream: StreamRef, call: Call) -> StreamOutcome {
    let cancel_guard = call.cancel.clone().drop_guard();
    let opened = pipeline.open(&stream, call, StreamInput::Json).await;
    // An open stream may keep using the token.
    cancel_guard.disarm();
    opened
}

fn duplicate_id(id: &str) -> Fault {
    let message = format!("this connection already has a subscription with the id {id:?}");
    Fault::new(Kind::Conflict, "duplicate_id", message)
        .problem("id", "an id that is not in use on this connection")
}

fn too_many_subscriptions(max: usize) -> Fault {
    let message = format!("a connection has at most {max} subscriptions; end one first");
    Fault::invalid("too_many_subscriptions", message)
}
