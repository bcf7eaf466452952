//! The order of the steps, and how a call can end.

use std::time::Duration;

use fault::Kind;
use serde_json::{Value, json};

use super::house::{call, pipeline};
use crate::Call;

async fn outcome(call: Call) -> Result<Value, (Kind, &'static str)> {
    let outcome = pipeline().call(call).await.unwrap();
    outcome.map(|reply| reply.result()).map_err(|failure| (failure.kind, failure.code))
}

fn refused(mut call: Call) -> Call {
    call.refused_for = Some(Duration::from_secs(3));
    call
}

#[tokio::test]
async fn the_first_thing_wrong_is_what_is_told() {
    for (call, code) in [
        (refused(call("bad", json!(-1))), "who"),
        (refused(call("write", json!(-1))), "rate_limited"),
        (call("write", json!(-1)), "invalid_input"),
        (call("write", json!(1)), "scope_missing"),
        (call("read", json!(9)), "nine"),
    ] {
        assert_eq!(outcome(call).await.unwrap_err().1, code);
    }
    assert_eq!(outcome(call("read", json!(1))).await.unwrap(), json!({ "n": 1 }));
}

#[tokio::test]
async fn a_handler_that_hangs_or_lies_is_caught() {
    assert_eq!(outcome(call("read", json!(7))).await, Err((Kind::Timeout, "deadline")));
    assert_eq!(outcome(call("read", json!(8))).await, Err((Kind::Internal, "internal")));
}

#[tokio::test]
async fn a_caller_that_leaves_ends_the_call() {
    let waiting = call("read", json!(7));
    waiting.cancel.cancel();
    assert_eq!(outcome(waiting).await, Err((Kind::Cancelled, "cancelled")));
}

#[tokio::test]
async fn an_unknown_tool_is_for_the_transport_to_refuse() {
    let mut unknown = call("read", json!(1));
    unknown.tool = "a_c".to_owned();
    assert!(pipeline().call(unknown).await.is_none());
}
