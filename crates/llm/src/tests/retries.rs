//! Retries, waits, budgets, cancellation, and secrets that must not be shown.

use std::error::Error;

use fault::Kind;

use super::*;
use crate::ModelPresence;

#[tokio::test]
async fn each_status_gives_its_fault_and_some_are_retried() {
    for (status, code, kind, ours, requests) in [
        (400, "invalid_request_error", Kind::Invalid, "llm_refused", 1),
        (401, "authentication_error", Kind::Unavailable, "llm_auth", 1),
        (403, "permission_error", Kind::Unavailable, "llm_auth", 1),
        (404, "model_not_found", Kind::Invalid, "llm_refused", 1),
        (413, "request_too_large", Kind::Invalid, "llm_refused", 1),
        (408, "timeout", Kind::Timeout, "llm_timeout", 3),
        (409, "conflict", Kind::Unavailable, "llm_failed", 3),
        (429, "rate_limit_error", Kind::RateLimited, "llm_rate_limited", 3),
        (429, "insufficient_quota", Kind::RateLimited, "llm_rate_limited", 1),
        (500, "api_error", Kind::Unavailable, "llm_failed", 3),
        (502, "bad_gateway", Kind::Unavailable, "llm_failed", 3),
        (503, "unavailable", Kind::Unavailable, "llm_overloaded", 3),
        (529, "overloaded_error", Kind::Unavailable, "llm_overloaded", 3),
    ] {
        for api in APIS {
            let script = vec![ScriptedResponse::error(status, code); 6];
            let (server, client) = started(script, api).await;
            let fault = client.complete(ask()).await.unwrap_err();
            assert_eq!((fault.kind(), fault.code()), (kind, ours), "{status} {code}");
            assert_eq!(server.requests().len(), requests, "{status} {code}");
            let fault = follow(&client, ask()).await.1.unwrap_err();
            assert_eq!((fault.kind(), fault.code()), (kind, ours), "{status} {code}");
            assert_eq!(server.requests().len(), 2 * requests, "{status} {code}");
        }
    }
}

#[tokio::test]
async fn a_transient_failure_is_retried() {
    for api in APIS {
        let script = vec![
            ScriptedResponse::error(500, "api_error"),
            ScriptedResponse::error(529, "x"),
            ScriptedResponse::text("ok"),
        ];
        let (_server, client) = started(script, api).await;
        let request = ask();
        assert_eq!(client.complete(request.clone()).await.unwrap().text, "ok");
        // Refusals cost no tokens, and all attempts count as one call.
        assert_eq!((request.budget.calls_made(), request.budget.tokens_spent()), (1, 18));
    }
}

fn limited(retry_after: &str) -> ScriptedResponse {
    let (code, message) = ("rate_limit_error".to_owned(), String::new());
    ScriptedResponse::Fail { status: 429, code, message, retry_after: Some(retry_after.to_owned()) }
}

#[tokio::test]
async fn retry_after_is_waited_for_or_returned() {
    let (server, client) =
        started(vec![limited("0.2"), ScriptedResponse::text("ok")], Api::OpenAi).await;
    let before = Instant::now();
    client.complete(ask()).await.unwrap();
    assert!(before.elapsed() >= Duration::from_millis(200));
    assert_eq!(server.requests().len(), 2);

    // The wait is longer than the limit, so the caller gets the fault.
    let (server, client) =
        started(vec![limited("3600"), ScriptedResponse::text("ok")], Api::OpenAi).await;
    let fault = client.complete(ask()).await.unwrap_err();
    assert_eq!(fault.retry_wait(), Some(Duration::from_hours(1)));
    assert_eq!(server.requests().len(), 1);

    for nonsense in ["-1", "soon", "1e400", "NaN"] {
        let (_server, client) =
            started(vec![limited(nonsense), ScriptedResponse::text("ok")], Api::OpenAi).await;
        assert_eq!(client.complete(ask()).await.unwrap().text, "ok", "{nonsense}");
    }
}

#[tokio::test]
async fn a_budget_bounds_calls_and_shortens_answers() {
    let (server, client) =
        started(vec![ScriptedResponse::text("a"), ScriptedResponse::text("b")], Api::OpenAi).await;
    let budget = Budget::new(100, 2, Instant::now() + Duration::from_mins(1));
    let request = ModelRequest::new(vec![ChatMessage::User("hi".to_owned())], &budget);
    client.complete(request.clone()).await.unwrap();
    follow(&client, request.clone()).await.1.unwrap();
    assert_eq!(server.requests()[0].body["max_tokens"], 99);
    assert_eq!(server.requests()[1].body["max_tokens"], 81);
    assert_eq!((budget.calls_made(), budget.tokens_spent()), (2, 36));
    for fault in [
        client.complete(request.clone()).await.unwrap_err(),
        follow(&client, request).await.1.unwrap_err(),
    ] {
        assert_eq!(fault.code(), "llm_budget_spent");
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn the_deadline_of_the_task_ends_a_call() {
    let (_server, client) =
        started(vec![ScriptedResponse::Silent, ScriptedResponse::Silent], Api::Anthropic).await;
    for streamed in [false, true] {
        let budget = Budget::new(1_000, 9, Instant::now() + Duration::from_millis(50));
        let request = ModelRequest::new(vec![ChatMessage::User("hi".to_owned())], &budget);
        let fault = if streamed {
            follow(&client, request).await.1.unwrap_err()
        } else {
            client.complete(request).await.unwrap_err()
        };
        assert_eq!((fault.kind(), fault.code()), (Kind::Timeout, "llm_timeout"));
    }
}

#[tokio::test]
async fn a_dropped_stream_releases_its_slot_and_its_tokens() {
    let text = crate::testing::reply(&"word ".repeat(100), Vec::new());
    let server = LoopbackProvider::start([
        ScriptedResponse::Stall(text, 1_500),
        ScriptedResponse::text("ok"),
    ])
    .await
    .unwrap();
    let mut config = config(&server, Api::OpenAi);
    config.concurrency_max = 1;
    let client = ModelClient::new(config).unwrap();
    let request = ask();
    let mut stream = client.stream(request.clone());
    stream.next().await.unwrap().unwrap();
    drop(stream);
    let spent = request.budget.tokens_spent();
    assert!((1..100).contains(&spent), "{spent}");
    assert_eq!(client.complete(request).await.unwrap().text, "ok");
}

#[tokio::test]
async fn the_api_key_is_never_shown() {
    for api in APIS {
        for status in [400, 401, 429, 500] {
            let message = format!("Incorrect key {KEY}\n{}", "x".repeat(5_000));
            let (code, retry_after) = ("odd <b>".to_owned(), None);
            let turn = ScriptedResponse::Fail { status, code, message, retry_after };
            let (_server, client) = started(vec![turn; 3], api).await;
            let fault = client.complete(ask()).await.unwrap_err();
            let cause = fault.source().map(ToString::to_string).unwrap_or_default();
            let shown = format!("{fault} {fault:?} {cause} {client:?}");
            assert!(!shown.contains(KEY), "{shown}");
            assert!(!shown.contains("<b>") && cause.chars().count() <= 200, "{shown}");
        }
    }
}

#[tokio::test]
async fn an_unreachable_provider_is_a_fault() {
    let server = LoopbackProvider::start([]).await.unwrap();
    let config = config(&server, Api::OpenAi);
    drop(server);
    tokio::task::yield_now().await;
    let fault = ModelClient::new(config).unwrap().complete(ask()).await.unwrap_err();
    assert_eq!((fault.kind(), fault.code()), (Kind::Unavailable, "llm_unreachable"));
    // The address belongs only in the log.
    assert!(!fault.message().contains("127.0.0.1"), "{fault}");
    assert!(fault.source().is_some());
}

#[tokio::test]
async fn a_probe_finds_the_model_without_a_completion() {
    let timeout = Duration::from_secs(9);
    for api in APIS {
        let (server, client) = started(Vec::new(), api).await;
        assert_eq!(client.probe(timeout).await.unwrap(), ModelPresence::Known);
        let mut other = config(&server, api);
        other.model = "gone".to_owned();
        let names = ["loopback", "another"].map(str::to_owned).to_vec();
        let found = ModelClient::new(other).unwrap().probe(timeout).await.unwrap();
        assert_eq!(found, ModelPresence::Unknown(names));
        let refused = config(&server, api).key(ApiKey::new("sk-bad-key").unwrap());
        let fault = ModelClient::new(refused).unwrap().probe(timeout).await.unwrap_err();
        assert_eq!(fault.code(), "llm_auth");
        // A server that serves only the chat endpoint.
        let mut bare = config(&server, api);
        bare.base_url = format!("{}/elsewhere", server.base_url(api));
        assert_eq!(
            ModelClient::new(bare).unwrap().probe(timeout).await.unwrap(),
            ModelPresence::NoList
        );
        assert!(server.requests().is_empty(), "a request was sent");
    }
}
