//! What becomes of a client's message: a subscription is opened through the pipeline, ended, or
//! refused in the words of the contract it was meant for.

use std::sync::Arc;
use std::time::Duration;

use contract::{Call, Credential, Pipeline, Progress, StreamInput, StreamOutcome};
use fault::{Fault, Kind};
use tokio_util::sync::CancellationToken;

use super::message::{self, Asked, Misread, Named};
use super::subscriptions::{Entry, Refused, State, Subscriptions};
use super::{Address, Stream, WsLimits};

/// Who is at the other end, and what they may reach from there.
pub(crate) struct MessageHandler {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) address: Arc<Address>,
    pub(crate) credential: Credential,
    pub(crate) request_id: Arc<str>,
}

impl MessageHandler {
    /// Acts on a message; what there is to say at once, if anything.
    pub(crate) fn take(
        &self,
        asked: Result<Asked, Misread>,
        subscriptions: &mut Subscriptions,
        limits: &WsLimits,
    ) -> Option<String> {
        match asked {
            Ok(Asked::Ping) => Some(message::PONG.to_owned()),
            Ok(Asked::Subscribe(named)) => self.subscribe(named, subscriptions, limits),
            Ok(Asked::Unsubscribe(named)) => Some(self.unsubscribe(named, subscriptions)),
            Err(misread) => Some(self.refuse(None, misread.id.as_deref(), &misread.fault)),
        }
    }

    /// A message that came too fast is read for its id alone, so that the client knows which one.
    pub(crate) fn too_fast(&self, asked: &Result<Asked, Misread>, wait: Duration) -> String {
        let message = "too many messages on this connection; wait before the next one";
        let fault = Fault::new(Kind::RateLimited, "rate_limited", message).retry_after(wait);
        let id = match asked {
            Ok(Asked::Subscribe(named) | Asked::Unsubscribe(named)) => named.id.as_deref(),
            Ok(Asked::Ping) => None,
            Err(misread) => misread.id.as_deref(),
        };
        self.refuse(None, id, &fault)
    }

    /// The client takes nothing, and is left.
    pub(crate) fn stalled(&self) {
        self.pipeline.record_cut_off(&self.address.service, "reader_stalled");
    }

    /// What a client is told whose credential is good no more.
    pub(crate) fn refused(&self, refused: &Refused) -> String {
        let stream = self.address.streams.iter().find(|it| *it.name == *refused.stream);
        self.refuse(stream, Some(&refused.id), &refused.fault)
    }

    fn subscribe(
        &self,
        named: Named,
        subscriptions: &mut Subscriptions,
        limits: &WsLimits,
    ) -> Option<String> {
        let given = named.id.as_deref();
        let stream = match self.stream(named.stream.as_deref()) {
            Ok(stream) => stream,
            Err(fault) => return Some(self.refuse(None, given, &fault)),
        };
        let refused = match given {
            Some(id) if subscriptions.has(id) => Some(duplicate(id)),
            _ if subscriptions.len() >= limits.subscriptions_max => {
                Some(too_many(limits.subscriptions_max))
            }
            _ => None,
        };
        if let Some(fault) = refused {
            return Some(self.refuse(Some(stream), given, &fault));
        }
        let mut fields = named.args.clone();
        fields.shift_remove(&stream.resume);
        let call = self.call(stream, named.args);
        let id = named.id.unwrap_or_else(|| subscriptions.make_id()).into_boxed_str();
        subscriptions.add(Entry {
            opening: message::opening(&id).into_boxed_str(),
            id,
            stream: Box::from(&*stream.name),
            fields: serde_json::Value::Object(fields).to_string().into_boxed_str(),
            state: State::Opening(Box::pin(open(Arc::clone(&self.pipeline), call))),
        });
        None
    }

    fn unsubscribe(&self, mut named: Named, subscriptions: &mut Subscriptions) -> String {
        let ended = match named.id.as_deref() {
            Some(id) => subscriptions.remove(id),
            None => match self.stream(named.stream.as_deref()) {
                Ok(stream) => {
                    named.args.shift_remove(&stream.resume);
                    subscriptions.remove_same(&stream.name, &named.args)
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
                self.refuse(None, named.id.as_deref(), &fault)
            }
        }
    }

    /// The stream of that name; where there is only one, it need not be named.
    fn stream(&self, name: Option<&str>) -> Result<&Stream, Fault> {
        let streams = &self.address.streams;
        let found = match (name, streams.as_slice()) {
            (None, [only]) => Some(only),
            (Some(name), all) => all.iter().find(|stream| stream.name == name),
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let names: Vec<String> =
                streams.iter().map(|stream| format!("{:?}", stream.name)).collect();
            let expected = format!("one of {}", names.join(", "));
            let message = format!("invalid message: stream: expected {expected}");
            Fault::invalid("unknown_stream", message).problem("stream", expected)
        })
    }

    fn call(&self, stream: &Stream, args: serde_json::Map<String, serde_json::Value>) -> Call {
        Call {
            tool: stream.name.clone(),
            service: Some(Arc::clone(&stream.service)),
            args,
            credential: self.credential.clone(),
            transport: "ws",
            request_id: Arc::clone(&self.request_id),
            retry_after_rate: None,
            cancel: CancellationToken::new(),
            progress: Progress::default(),
        }
    }

    /// A refusal in the words of a stream's contract, or of the first one at this address.
    fn refuse(&self, stream: Option<&Stream>, id: Option<&str>, fault: &Fault) -> String {
        let service = stream.map_or(&self.address.service, |stream| &stream.service);
        match self.pipeline.failure_for(service, fault, &self.request_id) {
            Some(failure) => message::error(id, failure),
            None => String::from(r#"{"type":"error"}"#),
        }
    }
}

/// The handler is told when nobody waits for it any more.
async fn open(pipeline: Arc<Pipeline>, call: Call) -> Option<StreamOutcome> {
    let waiting = call.cancel.clone().drop_guard();
    let opened = pipeline.open(call, StreamInput::Json).await;
    // What it opened may go on watching the token.
    waiting.disarm();
    opened
}

fn duplicate(id: &str) -> Fault {
    let message = format!("this connection already has a subscription with the id {id:?}");
    Fault::new(Kind::Conflict, "duplicate_id", message)
        .problem("id", "an id that is not in use on this connection")
}

fn too_many(max: usize) -> Fault {
    let message = format!("a connection has at most {max} subscriptions; end one first");
    Fault::invalid("too_many_subscriptions", message)
}
