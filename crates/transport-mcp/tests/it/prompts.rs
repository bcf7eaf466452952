//! Prompts, their completion, log messages of calls, and confirmations, over HTTP.

use contract::View;
use serde_json::{Value, json};

use crate::http::TestServer;

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    let server = TestServer::all().await;
    let (session, hello) = server.at("/mcp").legacy().await;
    assert!(hello["capabilities"]["prompts"].is_object(), "{hello}");
    let listed = server.at("/mcp").modern("prompts/list", json!({})).await.message();
    let prompt = &listed["result"]["prompts"][0];
    assert_eq!(
        (&prompt["name"], &prompt["arguments"][0]["required"]),
        (&json!("first_calls"), &json!(false))
    );
    assert!(listed["result"]["ttlMs"].as_u64().unwrap() > 0);
    let ask = json!({ "name": "first_calls", "arguments": { "ticker": "ETHUSDT" } });
    for answer in [
        server.at("/mcp").modern("prompts/get", ask.clone()).await.message(),
        session.in_session("prompts/get", ask).await.message(),
    ] {
        let message = &answer["result"]["messages"][0];
        let text = message["content"]["text"].as_str().unwrap();
        assert_eq!(message["role"], "user");
        assert!(text.contains("ETHUSDT") && text.contains("Python"), "{text}");
    }
}

#[tokio::test]
async fn a_wrong_prompt_is_refused_and_a_hidden_one_is_not_there() {
    let server = TestServer::all().await;
    let long = "x".repeat(5_000);
    for params in [
        json!({ "name": "no_such" }),
        json!({ "name": "first_calls", "arguments": { "ticker": long } }),
    ] {
        let answer = server.at("/mcp").modern("prompts/get", params).await.message();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let hidden = server.at("/mcp").with("x-stoa-services", "moex");
    let listed = hidden.modern("prompts/list", json!({})).await.message();
    assert_eq!(listed["result"]["prompts"], json!([]));
    let ask = json!({ "name": "first_calls" });
    let answer = hidden.modern("prompts/get", ask).await.message();
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn arguments_of_prompts_are_completed() {
    let server = TestServer::all().await;
    let complete = |prompt: &str, name: &str, value: &str| {
        json!({ "ref": { "type": "ref/prompt", "name": prompt },
            "argument": { "name": name, "value": value } })
    };
    let ask = |params: Value| {
        let client = server.at("/mcp");
        async move { client.modern("completion/complete", params).await.message() }
    };
    let found = ask(complete("first_calls", "language", "py")).await;
    assert_eq!(found["result"]["completion"]["values"], json!(["Python"]));
    let none = ask(complete("first_calls", "ticker", "B")).await;
    assert_eq!(none["result"]["completion"]["values"], json!([]));
    for (prompt, name) in [("first_calls", "colour"), ("no_such", "language")] {
        let refused = ask(complete(prompt, name, "")).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn a_request_that_asks_for_logs_hears_how_its_call_ended() {
    let server = TestServer::all().await;
    for (level, tickers, expected) in [
        ("info", json!(["A"]), Some(("info", "ok"))),
        ("warning", json!(["A"]), None),
        ("warning", json!("A"), Some(("warning", "invalid_input"))),
    ] {
        let call = json!({ "name": "quotes_live", "arguments": { "tickers": tickers },
            "_meta": { "io.modelcontextprotocol/logLevel": level } });
        let messages = server.at("/mcp").modern("tools/call", call).await.messages();
        let logged = messages.iter().find(|it| it["method"] == "notifications/message");
        let heard = logged.map(|it| {
            let params = &it["params"];
            (params["level"].as_str().unwrap(), params["data"]["outcome"].as_str().unwrap())
        });
        assert_eq!(heard, expected, "{messages:?}");
        assert!(messages.last().unwrap()["result"].is_object());
    }
}

#[tokio::test]
async fn a_session_sets_its_log_level() {
    let server = TestServer::all().await;
    let (session, hello) = server.at("/mcp").legacy().await;
    assert!(hello["capabilities"]["logging"].is_object(), "{hello}");
    let mut stream = session.listen().await;
    let set = session.in_session("logging/setLevel", json!({ "level": "info" })).await.message();
    assert!(set["result"].is_object(), "{set}");
    let call = json!({ "name": "quotes_live", "arguments": { "tickers": ["A"] } });
    session.in_session("tools/call", call).await;
    let logged = stream.next().await.unwrap();
    assert_eq!(logged["params"]["data"]["tool"], "quotes_live", "{logged}");
    assert!(!logged.to_string().contains("tickers"));
    let modern = server.at("/mcp").modern("logging/setLevel", json!({ "level": "info" })).await;
    assert_eq!(modern.message()["error"]["code"], -32601);
}

#[tokio::test]
async fn a_client_that_can_ask_its_user_is_asked_for_a_confirmation() {
    let server = TestServer::all().await;
    let client = server.at("/mcp");
    let call = |able: bool, answer: Option<Value>| {
        let declared = if able { json!({ "elicitation": {} }) } else { json!({}) };
        let mut params = json!({ "name": "quotes_historical",
            "arguments": { "tickers": ["A"], "from": "2026-01-01", "to": "2026-01-02", "interval": "1d" },
            "_meta": { "io.modelcontextprotocol/clientCapabilities": declared } });
        if let Some(answer) = answer {
            params["inputResponses"] = json!({ "confirm": answer });
        }
        client.modern("tools/call", params)
    };
    let asked = call(true, None).await.message();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let question = &asked["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert_eq!(question, "Read from 2026-01-01?");
    let no = call(true, Some(json!({ "action": "decline" }))).await.message();
    let text = no["result"]["content"][0]["text"].as_str().unwrap();
    assert!(no["result"]["isError"] == true && text.contains("did not confirm"), "{no}");
    // The tool needs a scope that the caller lacks, so a call that went on says so.
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    for answer in [call(true, Some(yes)).await, call(false, None).await] {
        let answer = answer.message();
        assert!(
            answer["result"]["content"][0]["text"].as_str().unwrap().contains("FORBIDDEN"),
            "{answer}"
        );
    }
    // At the endpoint of the service the contract alone holds.
    let exact = TestServer::open(View::default(), 50).await;
    let params = json!({ "name": "quotes.historical",
        "arguments": { "tickers": ["A"], "from": "2026-01-01", "to": "2026-01-02", "interval": "1d" },
        "_meta": { "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } } });
    let answer = exact.at("/mcp/quotes").modern("tools/call", params).await.message();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}
