//! The order of the steps, and how a call can end.

use std::sync::Arc;

use fault::Kind;
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::fixture::{call, narrow, pipeline, pipeline_with_credential_argument};
use crate::{Call, CpuPool, POOLED_VALUES_MIN, Pipeline, Reply};

async fn outcome(call: Call) -> Result<Value, (Kind, &'static str)> {
    let outcome = pipeline().call_by_name("a.b", call).await.unwrap();
    outcome.map(|reply| reply.result()).map_err(|failure| (failure.kind, failure.code))
}

#[tokio::test]
async fn a_call_fails_at_the_first_step_that_refuses_it() {
    for (call, code) in [
        (call("bad", json!(-1)), "who"),
        (call("write", json!(-1)), "invalid_input"),
        (call("write", json!(1)), "scope_missing"),
        (call("read", json!(9)), "nine"),
    ] {
        assert_eq!(outcome(call).await.unwrap_err().1, code);
    }
    assert_eq!(outcome(call("read", json!(1))).await.unwrap(), json!({ "n": 1 }));
}

#[tokio::test]
async fn a_handler_that_hangs_or_breaks_its_contract_fails_the_call() {
    assert_eq!(outcome(call("read", json!(7))).await, Err((Kind::Timeout, "deadline")));
    assert_eq!(outcome(call("read", json!(8))).await, Err((Kind::Internal, "internal")));
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let waiting = call("read", json!(7));
    waiting.cancel.cancel();
    assert_eq!(outcome(waiting).await, Err((Kind::Cancelled, "cancelled")));
}

#[tokio::test]
async fn a_call_by_an_unknown_name_has_no_outcome() {
    assert!(pipeline().call_by_name("a_c", call("read", json!(1))).await.is_none());
}

async fn code(pipeline: &Pipeline, call: Call) -> Option<&'static str> {
    pipeline.call_by_name("a.b", call).await.unwrap().err().map(|failure| failure.code)
}

/// The code of a call that addressed the service alone.
async fn code_within_service(pipeline: &Pipeline, call: Call) -> Option<&'static str> {
    let tool = pipeline.catalog().find(Some("s"), "a.b").unwrap();
    pipeline.call(tool, call).await.err().map(|failure| failure.code)
}

#[tokio::test]
async fn a_call_queues_for_its_tool_and_a_full_queue_refuses() {
    let pipeline = narrow(1, 1);
    let (first, leave) = (call("read", json!(7)), call("read", json!(7)));
    let (end_first, end_leave) = (first.cancel.clone(), leave.cancel.clone());
    // The calls arrive in this order: the first runs, the second queues, the third is refused. Then
    // the second is cancelled, which frees its slot in the queue; the fourth takes the slot and
    // runs when the first has ended.
    let (ran, left, refused, served) = tokio::join!(
        biased;
        code(&pipeline, first),
        code(&pipeline, leave),
        async {
            let failure = pipeline.call_by_name("a.b", call("read", json!(1))).await;
            let failure = failure.unwrap().err().unwrap();
            assert!(failure.retry_after.is_some() && failure.kind == Kind::Unavailable);
            end_leave.cancel();
            failure.code
        },
        async {
            end_leave.cancelled().await;
            tokio::task::yield_now().await;
            let next = pipeline.call_by_name("a.b", call("read", json!(1)));
            let release = async { end_first.cancel() };
            tokio::join!(biased; next, release).0.unwrap().is_ok()
        },
    );
    assert_eq!((ran, left), (Some("cancelled"), Some("cancelled")));
    assert_eq!((refused, served), ("busy", true));
}

#[tokio::test]
async fn time_in_the_queue_counts_towards_the_timeout() {
    let pipeline = narrow(1, 1);
    let hung = call("read", json!(7));
    let release = hung.cancel.clone();
    let (_, waited) = tokio::join!(biased; code(&pipeline, hung), async {
        let mut impatient = call("read", json!(1));
        impatient.args.insert("timeoutMs".to_owned(), json!(5));
        let waited = code(&pipeline, impatient).await;
        release.cancel();
        waited
    });
    assert_eq!(waited, Some("deadline"));
}

#[tokio::test]
async fn a_caller_may_set_the_timeout_within_the_contract() {
    for (asked, message) in [
        (json!(5), "no answer within 0.005 s"),
        (json!(20.0), "no answer within 0.02 s"),
        (json!(21), "invalid input: timeoutMs: expected at most 20"),
        (json!(4), "invalid input: timeoutMs: expected at least 5"),
    ] {
        let mut waiting = call("read", json!(7));
        waiting.args.insert("timeoutMs".to_owned(), asked);
        let failure = pipeline().call_by_name("a.b", waiting).await.unwrap().err().unwrap();
        assert_eq!(failure.tool_error["message"], message);
    }
}

fn with_token(token: Value, n: Value) -> Call {
    let mut call = Call::new(serde_json::Map::new());
    call.args.insert("token".to_owned(), token);
    call.args.insert("n".to_owned(), n);
    call
}

#[tokio::test]
async fn a_credential_argument_is_checked_before_the_other_arguments() {
    let pipeline = pipeline_with_credential_argument("token");
    let check = async |call: Call, expected: Option<&str>| {
        assert_eq!(code_within_service(&pipeline, call).await, expected);
    };
    check(with_token(json!("bad"), json!(-1)), Some("who")).await;
    check(with_token(json!(5), json!(-1)), Some("who")).await;
    check(with_token(json!("write"), json!(-1)), Some("scope_missing")).await;
    check(with_token(json!("read"), json!(-1)), Some("invalid_input")).await;
    check(with_token(json!("read"), json!(1)), None).await;
    // A caller that addressed the whole server may send the token in the header instead.
    assert_eq!(code(&pipeline, call("read", json!(1))).await, None);
    check(call("read", json!(1)), Some("invalid_input")).await;
    // The token in the argument is used even if there is one in the header.
    let mut both = with_token(json!("bad"), json!(1));
    both.meta = call("read", json!(1)).meta;
    check(both, Some("who")).await;
}

/// A reply with this many values.
struct SizedReply(usize);

impl Reply for SizedReply {
    fn values(&self) -> usize {
        self.0
    }

    fn result(&self) -> Value {
        Value::Null
    }

    fn text(&self) -> String {
        String::new()
    }
}

#[tokio::test]
async fn a_large_reply_is_written_on_another_thread_and_refused_if_too_many_wait() {
    let pool = Arc::new(CpuPool::new(1));
    let pipeline = pipeline().with_pool(Arc::clone(&pool));
    let write =
        |values| pipeline.write(Box::new(SizedReply(values)), |_| std::thread::current().id());
    let here = std::thread::current().id();
    for (values, is_here) in [(0, true), (POOLED_VALUES_MIN - 1, true), (POOLED_VALUES_MIN, false)]
    {
        assert_eq!(write(values).await.unwrap() == here, is_here, "{values}");
    }
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut busy = Box::pin(pool.compute(POOLED_VALUES_MIN, move || held.recv().is_ok()));
    assert!((&mut busy).now_or_never().is_none());
    let mut waiting: Vec<_> = (0..64).map(|_| Box::pin(write(POOLED_VALUES_MIN))).collect();
    for one in &mut waiting {
        assert!(one.now_or_never().is_none());
    }
    let fault = write(POOLED_VALUES_MIN).now_or_never().unwrap().unwrap_err();
    let failure = pipeline.catalog().services()[0].failure(&fault, "r-1");
    assert_eq!((failure.code, failure.retry_after.is_some()), ("overloaded", true));
    release.send(()).unwrap();
    assert!(busy.await.unwrap());
    for one in waiting {
        assert_ne!(one.await.unwrap(), here);
    }
}
