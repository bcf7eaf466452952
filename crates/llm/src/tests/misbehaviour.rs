//! Answers that are late, malformed or too large, and connections without an answer.

use fault::Kind;
use serde_json::json;

use super::*;
use crate::StopReason;
use crate::testing::{reply, tool_calls};

fn raw(status: u16, content_type: &str, body: &str) -> ScriptedResponse {
    ScriptedResponse::Raw {
        status,
        content_type: content_type.to_owned(),
        body: body.as_bytes().to_vec(),
    }
}

fn long() -> ModelReply {
    reply(&"слово ".repeat(200), Vec::new())
}

#[track_caller]
fn assert_fault(fault: &Fault, kind: Kind, code: &str) {
    assert_eq!((fault.kind(), fault.code()), (kind, code), "{fault}");
}

#[tokio::test]
async fn malformed_replies_are_faults_and_are_not_retried() {
    let html = "<html><body>502 Bad Gateway secret-internals</body></html>";
    for api in APIS {
        for turn in [
            raw(200, "text/html", html),
            raw(200, "application/json", html),
            raw(200, "application/json", "{\"choices\":[{\"mess"),
            raw(200, "application/json", "{\"choices\":[]}"),
            raw(200, "application/json", "{}"),
            raw(200, "application/json", "[]"),
            raw(200, "application/json", ""),
            raw(200, "", "{}"),
            raw(302, "text/html", ""),
        ] {
            let (server, client) = started(vec![turn.clone(), turn.clone()], api).await;
            let fault = client.complete(ask()).await.unwrap_err();
            assert_fault(&fault, Kind::Unavailable, "llm_bad_answer");
            assert!(!fault.to_string().contains("secret-internals"));
            let (events, end) = follow(&client, ask()).await;
            assert_eq!(events, []);
            assert_fault(&end.unwrap_err(), Kind::Unavailable, "llm_bad_answer");
            assert_eq!(server.requests().len(), 2, "{turn:?}");
        }
        let (_server, client) =
            started(vec![raw(200, "text/event-stream", "data: {\"ty\n\n")], api).await;
        let (_, end) = follow(&client, ask()).await;
        assert_fault(&end.unwrap_err(), Kind::Unavailable, "llm_bad_answer");
    }
}

#[tokio::test]
async fn a_stalled_or_silent_model_times_out() {
    for api in APIS {
        let server = LoopbackProvider::start([
            ScriptedResponse::Silent,
            ScriptedResponse::Stall(long(), 0),
            ScriptedResponse::Stall(long(), 900),
            ScriptedResponse::Silent,
        ]);
        let server = server.await.unwrap();
        let mut config = config(&server, api);
        config.retries = 0;
        // A case that never answers gets a short timeout; a case that answers needs a longer one.
        for (speaks, first_ms, next_ms) in [(false, 50, 50), (false, 50, 50), (true, 9_000, 700)] {
            config.timeouts.first_byte = Duration::from_millis(first_ms);
            config.timeouts.between_chunks = Duration::from_millis(next_ms);
            let (events, end) = follow(&ModelClient::new(config.clone()).unwrap(), ask()).await;
            assert_fault(&end.unwrap_err(), Kind::Timeout, "llm_timeout");
            assert_eq!(!events.is_empty(), speaks);
        }
        config.timeouts.whole = Duration::from_millis(50);
        let fault = ModelClient::new(config).unwrap().complete(ask()).await.unwrap_err();
        assert_fault(&fault, Kind::Timeout, "llm_timeout");
    }
}

#[tokio::test]
async fn a_dropped_connection_is_retried_only_before_the_first_event() {
    for api in APIS {
        // A whole answer emits no event before it is complete.
        let (server, client) =
            started(vec![ScriptedResponse::Cut(long(), 500), ScriptedResponse::Reply(long())], api)
                .await;
        assert_eq!(client.complete(ask()).await.unwrap(), long());
        assert_eq!(server.requests().len(), 2);

        let (server, client) =
            started(vec![ScriptedResponse::Cut(long(), 20), ScriptedResponse::Reply(long())], api)
                .await;
        assert_eq!(follow(&client, ask()).await.1.unwrap(), long());
        assert_eq!(server.requests().len(), 2);

        let (server, client) = started(
            vec![ScriptedResponse::Cut(long(), 1_500), ScriptedResponse::Reply(long())],
            api,
        )
        .await;
        let (events, end) = follow(&client, ask()).await;
        assert!(!events.is_empty());
        assert_fault(&end.unwrap_err(), Kind::Unavailable, "llm_cut_short");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_a_fault() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n";
    let (_server, client) = started(vec![raw(200, "text/event-stream", piece)], Api::OpenAi).await;
    let (events, end) = follow(&client, ask()).await;
    assert_eq!(events, [ModelEvent::Text("hi".to_owned())]);
    assert_fault(&end.unwrap_err(), Kind::Unavailable, "llm_cut_short");

    // With a stop reason the reply is complete, and its token counts are our estimate.
    let whole = piece.replace("null", "\"stop\"");
    let (_server, client) = started(vec![raw(200, "text/event-stream", &whole)], Api::OpenAi).await;
    let reply = follow(&client, ask()).await.1.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("hi", StopReason::End));
    assert!(reply.usage.estimated && reply.usage.tokens() > 0);
}

#[tokio::test]
async fn a_reply_without_streaming_is_read() {
    let body = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]});
    let (_server, client) =
        started(vec![raw(200, "application/json", &body.to_string())], Api::OpenAi).await;
    let (events, end) = follow(&client, ask()).await;
    assert_eq!(events, [ModelEvent::Text("hi".to_owned())]);
    assert_eq!(end.unwrap().text, "hi");
}

#[tokio::test]
async fn too_large_replies_are_refused() {
    let many: Vec<_> = (0..9).map(|_| ("t", json!({}))).collect();
    let wide = tool_calls(&[("t", json!({"x": "y".repeat(600)}))]);
    for api in APIS {
        for expected in [long(), reply("", tool_calls(&many)), reply("", wide.clone())] {
            let turn = ScriptedResponse::Reply(expected);
            let server = LoopbackProvider::start([turn.clone(), turn.clone(), turn]).await.unwrap();
            let mut config = config(&server, api);
            config.bounds.text_bytes_max = 500;
            config.bounds.tool_calls_max = 8;
            config.bounds.arguments_bytes_max = 500;
            let client = ModelClient::new(config.clone()).unwrap();
            let fault = client.complete(ask()).await.unwrap_err();
            assert_fault(&fault, Kind::Unavailable, "llm_bad_answer");
            let (_, end) = follow(&client, ask()).await;
            assert_fault(&end.unwrap_err(), Kind::Unavailable, "llm_bad_answer");
            config.bounds.body_bytes_max = 200;
            let fault = ModelClient::new(config).unwrap().complete(ask()).await.unwrap_err();
            assert!(fault.message().contains("200 bytes"), "{fault}");
            assert_eq!(server.requests().len(), 3);
        }
    }
}

#[tokio::test]
async fn malformed_tool_arguments_name_their_call() {
    let bad = |arguments: &str| {
        let function = json!({"name": "quote", "arguments": arguments});
        let message = json!({"content": null, "tool_calls": [{"id": "a", "function": function}]});
        let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        raw(200, "application/json", &body.to_string())
    };
    for arguments in ["{\"ticker\": ", "[1]", "SBER", "{} {}"] {
        let (_server, client) = started(vec![bad(arguments)], Api::OpenAi).await;
        let fault = client.complete(ask()).await.unwrap_err();
        assert_fault(&fault, Kind::Invalid, "llm_bad_answer");
        assert_eq!(fault.problems()[0].field, "tool_calls[0].arguments");
    }
    let stream = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":\
                  {\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"q\",\"input\":{}}}\n\n\
                  data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":\
                  {\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}}\n\n\
                  data: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
    let (_server, client) =
        started(vec![raw(200, "text/event-stream", stream)], Api::Anthropic).await;
    let fault = follow(&client, ask()).await.1.unwrap_err();
    assert_fault(&fault, Kind::Invalid, "llm_bad_answer");
}

#[tokio::test]
async fn an_error_inside_a_stream_is_an_error() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":\
                      {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    for api in APIS {
        let turn = raw(200, "text/event-stream", overloaded);
        let (server, client) = started(vec![turn.clone(), ScriptedResponse::text("ok")], api).await;
        assert_eq!(follow(&client, ask()).await.1.unwrap().text, "ok");
        assert_eq!(server.requests().len(), 2);
        let (_server, client) = started(vec![turn.clone(), turn.clone(), turn], api).await;
        let fault = follow(&client, ask()).await.1.unwrap_err();
        assert_fault(&fault, Kind::Unavailable, "llm_overloaded");
    }
    let echoed = format!("data: {{\"error\":{{\"code\":400,\"message\":\"bad {KEY}\"}}}}\n\n");
    let (_server, client) =
        started(vec![raw(200, "text/event-stream", &echoed)], Api::OpenAi).await;
    let fault = follow(&client, ask()).await.1.unwrap_err();
    assert_fault(&fault, Kind::Invalid, "llm_refused");
    assert!(!format!("{fault:?}").contains(KEY), "{fault:?}");
}

#[tokio::test]
async fn tool_calls_without_an_index_are_separated_by_id() {
    let piece = |call: serde_json::Value| {
        let choice = json!({"delta": {"tool_calls": [call]}, "finish_reason": null});
        format!("data: {}\n\n", json!({"choices": [choice]}))
    };
    let stream = [
        piece(json!({"id": "a", "function": {"name": "quote", "arguments": "{\"n\":"}})),
        piece(json!({"function": {"arguments": "1}"}})),
        piece(json!({"id": "b", "function": {"name": "quote", "arguments": "{\"n\":"}})),
        piece(json!({"id": "b", "function": {"name": "quote", "arguments": "2}"}})),
        "data: [DONE]\n\n".to_owned(),
    ];
    let turn = raw(200, "text/event-stream", &stream.concat());
    let (_server, client) = started(vec![turn], Api::OpenAi).await;
    let reply = follow(&client, ask()).await.1.unwrap();
    let calls: Vec<_> =
        reply.tool_calls.iter().map(|it| (it.id.as_str(), it.arguments["n"].clone())).collect();
    assert_eq!(calls, [("a", json!(1)), ("b", json!(2))]);
    assert_eq!(reply.stop, StopReason::ToolCalls);
}
