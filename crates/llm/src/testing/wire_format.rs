//! Replies and errors in the JSON of each provider, whole and as a stream.

use serde_json::{Value, json};

use crate::{Api, ModelReply, StopReason};

pub(super) fn error(api: Api, code: &str, message: &str) -> Value {
    match api {
        Api::OpenAi => {
            json!({"error": {"message": message, "type": code, "param": null, "code": code}})
        }
        Api::Anthropic => json!({"type": "error", "error": {"type": code, "message": message}}),
    }
}

fn stop(api: Api, stop: &StopReason) -> &str {
    match (api, stop) {
        (Api::OpenAi, StopReason::End) => "stop",
        (Api::OpenAi, StopReason::ToolCalls) => "tool_calls",
        (Api::OpenAi, StopReason::Length) => "length",
        (Api::OpenAi, StopReason::Refused) => "content_filter",
        (Api::Anthropic, StopReason::End) => "end_turn",
        (Api::Anthropic, StopReason::ToolCalls) => "tool_use",
        (Api::Anthropic, StopReason::Length) => "max_tokens",
        (Api::Anthropic, StopReason::Refused) => "refusal",
        (_, StopReason::Other(word)) => word,
    }
}

pub(super) fn whole(api: Api, reply: &ModelReply) -> Value {
    let (input, output) = (reply.usage.input_tokens, reply.usage.output_tokens);
    let reason = stop(api, &reply.stop);
    match api {
        Api::OpenAi => {
            let calls: Vec<Value> = reply
                .tool_calls
                .iter()
                .map(|it| {
                    let arguments = Value::Object(it.arguments.clone()).to_string();
                    let function = json!({"name": it.name, "arguments": arguments});
                    json!({"id": it.id, "type": "function", "function": function})
                })
                .collect();
            let mut message = json!({"role": "assistant", "content": reply.text, "refusal": null});
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "loopback",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": input, "completion_tokens": output,
                          "total_tokens": input + output},
            })
        }
        Api::Anthropic => {
            let text =
                (!reply.text.is_empty()).then(|| json!({"type": "text", "text": reply.text}));
            let calls = reply.tool_calls.iter().map(|it| {
                json!({"type": "tool_use", "id": it.id, "name": it.name, "input": it.arguments})
            });
            let content: Vec<Value> = text.into_iter().chain(calls).collect();
            json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "loopback",
                "content": content, "stop_reason": reason, "stop_sequence": null,
                "usage": {"input_tokens": input, "output_tokens": output},
            })
        }
    }
}

/// The whole stream as one text; it is cut into pieces when it is sent.
pub(super) fn stream(api: Api, reply: &ModelReply) -> String {
    match api {
        Api::OpenAi => openai(reply),
        Api::Anthropic => anthropic(reply),
    }
}

/// Splits the text into pieces of a few characters, as models stream it.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(5).map(|it| it.iter().collect()).collect()
}

fn openai(reply: &ModelReply) -> String {
    let piece = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice]})
    };
    let mut events = vec![piece(json!({"role": "assistant", "content": ""}), None)];
    events.extend(pieces(&reply.text).iter().map(|it| piece(json!({"content": it}), None)));
    for (index, call) in reply.tool_calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let first =
            json!({"index": index, "id": call.id, "type": "function", "function": function});
        events.push(piece(json!({"tool_calls": [first]}), None));
        let arguments = Value::Object(call.arguments.clone()).to_string();
        events.extend(pieces(&arguments).iter().map(|it| {
            let more = json!({"index": index, "function": {"arguments": it}});
            piece(json!({"tool_calls": [more]}), None)
        }));
    }
    events.push(piece(json!({}), Some(stop(Api::OpenAi, &reply.stop))));
    let usage = json!({"prompt_tokens": reply.usage.input_tokens,
                       "completion_tokens": reply.usage.output_tokens});
    events.push(json!({"id": "chatcmpl-1", "choices": [], "usage": usage}));
    let events: String = events.iter().map(|it| format!("data: {it}\n\n")).collect();
    events + "data: [DONE]\n\n"
}

fn anthropic(reply: &ModelReply) -> String {
    let usage = json!({"input_tokens": reply.usage.input_tokens, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
                         "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "ping"}));
        events.extend(
            deltas
                .into_iter()
                .map(|it| json!({"type": "content_block_delta", "index": index, "delta": it})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if !reply.text.is_empty() {
        let delta = |it: &String| json!({"type": "text_delta", "text": it});
        let deltas = pieces(&reply.text).iter().map(delta).collect();
        block(json!({"type": "text", "text": ""}), deltas);
    }
    for call in &reply.tool_calls {
        let arguments = Value::Object(call.arguments.clone()).to_string();
        let delta = |it: &String| json!({"type": "input_json_delta", "partial_json": it});
        let start = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        block(start, pieces(&arguments).iter().map(delta).collect());
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop(Api::Anthropic, &reply.stop), "stop_sequence": null},
        "usage": {"output_tokens": reply.usage.output_tokens},
    }));
    events.push(json!({"type": "message_stop"}));
    let named =
        |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap_or_default());
    events.iter().map(named).collect()
}
