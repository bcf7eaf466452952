//! Requests as they are sent, and valid answers to them.

use serde_json::json;

use super::*;
use crate::testing::{reply, tool_calls};
use crate::{StopReason, Tool, ToolChoice};

fn conversation() -> ModelRequest {
    let calls = tool_calls(&[("quote", json!({"ticker": "SBER"})), ("quote", json!({}))]);
    let result = |id: &str, failed| ChatMessage::ToolResult {
        call_id: id.to_owned(),
        content: "312.4".to_owned(),
        failed,
    };
    let messages = vec![
        ChatMessage::System("be brief".to_owned()),
        ChatMessage::User("hi".to_owned()),
        reply("", calls).into_message(),
        result("call_0", false),
        result("call_1", true),
    ];
    let schema = json!({"type": "object", "properties": {"ticker": {"type": "string"}}});
    let tool = Tool { name: "quote".to_owned(), description: "a price".to_owned(), schema };
    let mut request = ModelRequest::new(messages, &budget()).tools(vec![tool]);
    request.temperature = Some(1.5);
    request.output_tokens_max = 99;
    request.tool_choice = ToolChoice::Required;
    request
}

#[tokio::test]
async fn a_conversation_has_the_openai_format() {
    let (server, client) = started(vec![ScriptedResponse::text("ok")], Api::OpenAi).await;
    client.complete(conversation()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "quote", "arguments": arguments}});
    assert_eq!(
        request.body["messages"],
        json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": null,
             "tool_calls": [call("call_0", "{\"ticker\":\"SBER\"}"), call("call_1", "{}")]},
            {"role": "tool", "tool_call_id": "call_0", "content": "312.4"},
            {"role": "tool", "tool_call_id": "call_1", "content": "error: 312.4"},
        ])
    );
    assert_eq!(request.body["tools"][0]["function"]["parameters"]["type"], "object");
    assert_eq!(request.body["tool_choice"], "required");
    assert_eq!(request.body["max_tokens"], 99);
    assert_eq!(request.body["temperature"], 1.5);
}

#[tokio::test]
async fn a_conversation_has_the_anthropic_format() {
    let (server, client) = started(vec![ScriptedResponse::text("ok")], Api::Anthropic).await;
    client.complete(conversation()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.headers["x-api-key"], KEY);
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
    assert!(!request.headers.contains_key("authorization"));
    assert_eq!(request.body["system"], "be brief");
    let input = json!({"ticker": "SBER"});
    assert_eq!(
        request.body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "call_0", "name": "quote", "input": input},
                {"type": "tool_use", "id": "call_1", "name": "quote", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_0", "content": "312.4"},
                {"type": "tool_result", "tool_use_id": "call_1", "content": "312.4",
                 "is_error": true},
            ]},
        ])
    );
    assert_eq!(request.body["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(request.body["tool_choice"], json!({"type": "any"}));
    assert_eq!(request.body["temperature"], 1.0);
}

#[tokio::test]
async fn whole_and_streamed_replies_are_equal() {
    let calls = tool_calls(&[
        ("quote", json!({"ticker": "SBER", "note": "привет 🦀 \"quoted\" \\ slash"})),
        ("search", json!({"deep": {"list": [1, 2.5, null]}})),
        ("nothing", json!({})),
    ]);
    let odd =
        ModelReply { stop: StopReason::Other("novel".to_owned()), ..reply("what?", Vec::new()) };
    let replies = [
        reply("Акции «Сбербанка» стоят 312,40 ₽ 🦀 — это факт.", Vec::new()),
        reply("", calls.clone()),
        reply("Сейчас посмотрю", calls),
        ModelReply { stop: StopReason::Length, ..reply("cut sho", Vec::new()) },
        ModelReply { stop: StopReason::Refused, ..reply("I will not", Vec::new()) },
        odd,
    ];
    for api in APIS {
        for expected in &replies {
            let turn = ScriptedResponse::Reply(expected.clone());
            let (server, client) = started(vec![turn.clone(), turn], api).await;
            assert_eq!(client.complete(ask()).await.unwrap(), *expected);
            let (events, end) = follow(&client, ask()).await;
            assert_eq!(end.unwrap(), *expected);
            let mut text = String::new();
            let mut called = Vec::new();
            for event in events {
                match event {
                    ModelEvent::Text(piece) => text += &piece,
                    ModelEvent::ToolCall(call) => called.push(call),
                    ModelEvent::Done(_) => unreachable!(),
                }
            }
            assert_eq!((text, called), (expected.text.clone(), expected.tool_calls.clone()));
            assert_eq!(server.requests()[1].body["stream"], true);
        }
    }
}

#[tokio::test]
async fn an_invalid_request_is_refused_before_it_is_sent() {
    let (server, client) = started(Vec::new(), Api::OpenAi).await;
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({"type": "object"}),
    };
    let only_system = ModelRequest::new(vec![ChatMessage::System("x".to_owned())], &budget());
    let huge = ModelRequest::new(vec![ChatMessage::User("x".repeat(3 << 20))], &budget());
    for (request, field) in [
        (only_system, "messages"),
        (huge, "messages"),
        (ModelRequest { output_tokens_max: 0, ..ask() }, "output_tokens_max"),
        (ModelRequest { temperature: Some(f32::NAN), ..ask() }, "temperature"),
        (ask().tools(vec![tool("a"), tool("quotes.live")]), "tools[1].name"),
    ] {
        let fault = client.complete(request).await.unwrap_err();
        assert_eq!((fault.code(), fault.problems()[0].field.as_str()), ("llm_bad_request", field));
    }
    assert!(server.requests().is_empty());
}

#[test]
fn the_api_is_derived_from_the_address_unless_configured() {
    for (named, url, expected) in [
        (None, "https://api.anthropic.com", Some(Api::Anthropic)),
        (None, "https://api.openai.com/v1", Some(Api::OpenAi)),
        (None, "https://evilanthropic.com", Some(Api::OpenAi)),
        (None, "http://localhost:11434/v1", Some(Api::OpenAi)),
        (Some("anthropic"), "http://localhost:1", Some(Api::Anthropic)),
        (Some("other"), "http://localhost:1", None),
    ] {
        assert_eq!(Api::choose(named, url).ok(), expected, "{named:?} {url}");
    }
}

#[test]
fn addresses_are_checked() {
    for (api, url, expected) in [
        (Api::OpenAi, "https://a.example/v1/", Some("https://a.example/v1/chat/completions")),
        (Api::Anthropic, "https://a.example", Some("https://a.example/v1/messages")),
        (Api::Anthropic, "https://a.example/v1", Some("https://a.example/v1/messages")),
        (Api::OpenAi, "ftp://a.example", None),
        (Api::OpenAi, "https://user:secret@a.example", None),
        (Api::OpenAi, "https://a.example?key=secret", None),
        (Api::OpenAi, "nonsense", None),
    ] {
        let endpoint = ModelConfig::new(api, url, "m").endpoint();
        assert_eq!(endpoint.ok().as_ref().map(reqwest::Url::as_str), expected, "{url}");
    }
}
