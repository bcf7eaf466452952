//! Open streams and long calls end when their credential expires or is revoked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};

use super::fixture::{self, Echo};
use crate::{
    Authenticator, Call, CallRecord, Caller, Catalog, ConnectionCredential, Credential, Cx,
    EventFeed, Meter, Pipeline, Schema, Scope, StreamEvent, StreamInput, StreamOutcome, StreamSpec,
    Subscription, Tools, VerifiedToken,
};

const EVERY: Duration = Duration::from_secs(5);

/// Admits every credential until it is revoked or expires, and counts the checks of tokens.
struct TestAuthenticator {
    opened: Instant,
    revoked: AtomicBool,
    broken: AtomicBool,
    asked: AtomicUsize,
    expires_after: Option<Duration>,
}

#[async_trait]
impl Authenticator for TestAuthenticator {
    async fn authenticate(&self, credential: &Credential, _service: &str) -> Result<Caller, Fault> {
        if let Credential::Verified(verified) = credential {
            return Ok(verified.caller.clone());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let no = |code, message| Err(Fault::new(Kind::Unauthenticated, code, message));
        if self.broken.load(Ordering::SeqCst) {
            return Err(Fault::unavailable("store", "the store does not answer"));
        }
        if self.revoked.load(Ordering::SeqCst) {
            return no("token_revoked", "the token was revoked");
        }
        if self.expires_after.is_some_and(|after| self.opened.elapsed() >= after) {
            return no("token_expired", "the token expired");
        }
        Ok(Caller::new("t", ["read".to_owned()]))
    }

    async fn verify(&self, credential: &Credential) -> Result<Credential, Fault> {
        let caller = self.authenticate(credential, "").await?;
        let token = credential.token().cloned().unwrap_or_default();
        Ok(Credential::Verified(VerifiedToken { token, caller }))
    }

    fn expires_in(&self, _credential: &Credential) -> Option<Duration> {
        Some(self.expires_after?.saturating_sub(self.opened.elapsed()))
    }
}

struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _record: &CallRecord<'_>) {}
}

/// Never yields an event.
struct Quiet;

impl EventFeed for Quiet {
    fn poll_next(&mut self, _context: &mut Context<'_>) -> Poll<Option<Arc<StreamEvent>>> {
        Poll::Pending
    }
}

async fn open(_cx: Cx<()>, _args: Value) -> Result<Subscription, Fault> {
    Ok(Subscription::new(Quiet))
}

async fn hang(_cx: Cx<()>, _args: Value) -> Result<Echo, Fault> {
    std::future::pending().await
}

fn watched_pipeline(expires_after: Option<Duration>) -> (Arc<TestAuthenticator>, Pipeline) {
    let authenticator = Arc::new(TestAuthenticator {
        opened: Instant::now(),
        revoked: AtomicBool::new(false),
        broken: AtomicBool::new(false),
        asked: AtomicUsize::new(0),
        expires_after,
    });
    let object = || Schema::compile(json!({ "type": "object" })).unwrap();
    let mut contract = fixture::contract("s", &["a.b"]);
    contract.tools[0].timeout = Some(Duration::from_hours(1));
    contract.streams = vec![StreamSpec {
        name: "quiet".to_owned(),
        title: String::new(),
        description: String::new(),
        input: object(),
        event: object(),
        resume: "after".to_owned(),
        sse: None,
        ws: None,
    }];
    let service = Tools::of(Arc::new(()))
        .tool("a.b", Scope::Read, hang)
        .stream("quiet", Scope::Read, open)
        .bind(contract, fixture::Plain)
        .unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    let port = Arc::clone(&authenticator) as Arc<dyn Authenticator>;
    let pipeline = Pipeline::new(catalog, port, Arc::new(NoMeter), EVERY);
    (authenticator, pipeline.with_recheck_interval(EVERY))
}

async fn try_subscribe(pipeline: &Pipeline, credential: Credential) -> StreamOutcome {
    let mut call = Call::new(Map::new());
    call.meta.credential = credential;
    let stream = pipeline.catalog().stream("s", "quiet").unwrap();
    pipeline.open(stream, call, StreamInput::Json).await
}

async fn subscribe(pipeline: &Pipeline, credential: Credential) -> Subscription {
    try_subscribe(pipeline, credential).await.ok().unwrap()
}

fn bearer(token: &str) -> Credential {
    Credential::Bearer(token.into())
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_credential_is_revoked() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let mut feed = subscribe(&pipeline, bearer("a")).await;
    assert!(timeout(Duration::from_mins(10), feed.next()).await.is_err(), "it was good");
    assert!(feed.revocation().is_none());
    authenticator.revoked.store(true, Ordering::SeqCst);
    let since = Instant::now();
    assert!(feed.next().await.is_none());
    assert!(since.elapsed() <= EVERY, "{:?}", since.elapsed());
    let fault = feed.revocation().unwrap();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unauthenticated, "token_revoked"));
    assert!(feed.next().await.is_none(), "it stays over");
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_credential_expires() {
    let (_, pipeline) = watched_pipeline(Some(Duration::from_millis(1_200)));
    let since = Instant::now();
    let mut feed = subscribe(&pipeline, bearer("a")).await;
    assert!(feed.next().await.is_none());
    assert_eq!(feed.revocation().unwrap().code(), "token_expired");
    assert!(since.elapsed() < Duration::from_millis(1_300), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn streams_of_one_credential_share_one_recheck() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let mut feeds = Vec::new();
    for _ in 0..100 {
        feeds.push(subscribe(&pipeline, bearer("a")).await);
    }
    let before = authenticator.asked.load(Ordering::SeqCst);
    tokio::time::sleep(EVERY * 10).await;
    let asked = authenticator.asked.load(Ordering::SeqCst) - before;
    assert!((9..=21).contains(&asked), "{asked}");
    authenticator.revoked.store(true, Ordering::SeqCst);
    for feed in &mut feeds {
        assert!(feed.next().await.is_none());
    }
    // Once nothing is open, the authenticator is not asked.
    drop(feeds);
    tokio::time::sleep(EVERY).await;
    let before = authenticator.asked.load(Ordering::SeqCst);
    tokio::time::sleep(EVERY * 10).await;
    assert_eq!(authenticator.asked.load(Ordering::SeqCst), before);
}

#[tokio::test(start_paused = true)]
async fn an_unavailable_authenticator_ends_no_stream() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let mut feed = subscribe(&pipeline, bearer("a")).await;
    authenticator.broken.store(true, Ordering::SeqCst);
    assert!(timeout(EVERY * 10, feed.next()).await.is_err());
    authenticator.broken.store(false, Ordering::SeqCst);
    authenticator.revoked.store(true, Ordering::SeqCst);
    assert!(feed.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_credential_is_not_rechecked() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let mut feed = subscribe(&pipeline, Credential::None).await;
    authenticator.revoked.store(true, Ordering::SeqCst);
    assert!(timeout(EVERY * 10, feed.next()).await.is_err());
    assert_eq!(authenticator.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_call_ends_when_its_credential_is_revoked() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let calling = pipeline.call_by_name("a.b", fixture::call("a", json!(7)));
    let revoke = async {
        tokio::time::sleep(EVERY * 3).await;
        authenticator.revoked.store(true, Ordering::SeqCst);
    };
    let (outcome, ()) = tokio::join!(calling, revoke);
    assert_eq!(outcome.unwrap().err().unwrap().code, "token_revoked");
}

async fn connect(pipeline: &Pipeline) -> ConnectionCredential {
    let service = &pipeline.catalog().services()[0];
    pipeline.admit_connection(&bearer("a"), service).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_connection_verifies_its_token_once_until_it_is_revoked() {
    let (authenticator, pipeline) = watched_pipeline(None);
    let connection = connect(&pipeline).await;
    for _ in 0..10 {
        subscribe(&pipeline, connection.current()).await;
    }
    assert_eq!(authenticator.asked.load(Ordering::SeqCst), 1);
    // No stream is open, so only the watch of the connection can notice.
    authenticator.revoked.store(true, Ordering::SeqCst);
    tokio::time::sleep(EVERY + Duration::from_millis(1)).await;
    let refused = try_subscribe(&pipeline, connection.current()).await.err().unwrap();
    assert_eq!(refused.code, "token_revoked");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_a_revocation_ended_is_not_opened_again() {
    for _ in 0..20 {
        let (authenticator, pipeline) = watched_pipeline(None);
        let connection = connect(&pipeline).await;
        let mut feed = subscribe(&pipeline, connection.current()).await;
        authenticator.revoked.store(true, Ordering::SeqCst);
        assert!(feed.next().await.is_none());
        assert!(try_subscribe(&pipeline, connection.current()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_token_that_is_not_valid_is_refused() {
    let (authenticator, pipeline) = watched_pipeline(None);
    authenticator.revoked.store(true, Ordering::SeqCst);
    let service = &pipeline.catalog().services()[0];
    let fault = pipeline.admit_connection(&bearer("a"), service).await.unwrap_err();
    assert_eq!(fault.code(), "token_revoked");
}
