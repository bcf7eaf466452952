//! Resource templates: listed, read through their tool, subscribed to through their stream.

use contract::View;
use serde_json::{Value, json};

use crate::client::{HttpClient, MODERN, modern_body};
use crate::fixture::OpenedStream;
use crate::http::TestServer;
use crate::stdio::StdioClient;

const URI: &str = "ticks://AAA/1s";

fn templates(listed: &Value) -> Vec<&str> {
    let found = listed["result"]["resourceTemplates"].as_array().unwrap();
    found.iter().map(|it| it["uriTemplate"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn templates_are_listed_where_their_service_is_visible() {
    let server = TestServer::all().await;
    for path in ["/mcp", "/mcp/quotes"] {
        let listed = server.at(path).modern("resources/templates/list", json!({})).await.message();
        assert_eq!(templates(&listed), ["ticks://{symbol}/{interval}"]);
        let template = &listed["result"]["resourceTemplates"][0];
        assert_eq!(
            (&template["name"], &template["mimeType"]),
            (&json!("ticks"), &json!("application/json"))
        );
    }
    // The tool that reads them is not listed as a tool.
    let tools = server.at("/mcp").modern("tools/list", json!({})).await.message();
    assert!(!tools.to_string().contains("ticks_read"));
    let hidden = server.at("/mcp").with("x-stoa-services", "moex");
    let listed = hidden.modern("resources/templates/list", json!({})).await.message();
    assert!(templates(&listed).is_empty());
    let read = hidden.modern("resources/read", json!({ "uri": URI })).await.message();
    assert_eq!(read["error"]["code"], -32602);
    let cursor = json!({ "cursor": "bm9uc2Vuc2U" });
    let bad = server.at("/mcp").modern("resources/templates/list", cursor).await.message();
    assert_eq!(bad["error"]["code"], -32602);
}

async fn check_read(client: &HttpClient, uri: &str, symbol: &str, interval: &str) {
    let read = client.modern("resources/read", json!({ "uri": uri })).await.message();
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{read}");
    assert_eq!(contents["mimeType"], "application/json");
    assert_eq!(contents["_meta"]["stoa/source"], "double");
    let text: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, json!({ "symbol": symbol, "interval": interval }));
    assert_eq!(
        (&read["result"]["ttlMs"], &read["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[tokio::test]
async fn a_uri_of_a_template_is_read_through_its_tool() {
    let server = TestServer::all().await;
    let client = server.at("/mcp");
    check_read(&client, URI, "AAA", "1s").await;
    check_read(&client, "ticks://VENUE:AAA/1m", "VENUE:AAA", "1m").await;
    check_read(&client, "ticks://VENUE%3AAAA/1m", "VENUE:AAA", "1m").await;
}

/// Checks the error codes of both protocols for a URI, and the error type.
async fn check_unread(server: &TestServer, uri: &str, codes: (i64, i64), kind: &Value) {
    let ask = json!({ "uri": uri });
    let modern = server.at("/mcp").modern("resources/read", ask.clone()).await.message();
    let (session, _) = server.at("/mcp").legacy().await;
    let legacy = session.in_session("resources/read", ask.clone()).await.message();
    let subscribe = session.in_session("resources/subscribe", ask).await.message();
    for (answer, code) in [(modern, codes.0), (legacy, codes.1), (subscribe, codes.1)] {
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{uri}: {answer}");
        assert_eq!(error["data"]["uri"], uri);
        assert_eq!(error["data"]["error"]["type"], *kind, "{answer}");
    }
}

#[tokio::test]
async fn a_failed_read_has_the_error_of_the_protocol_and_the_contract() {
    let server = TestServer::all().await;
    let none = (-32602, -32002);
    check_unread(&server, "ticks://NONE/1s", none, &json!("NOT_FOUND")).await;
    check_unread(&server, "ticks://AAA/7s", none, &json!("VALIDATION_ERROR")).await;
    check_unread(&server, "ticks://DOWN/1s", (502, 502), &json!("UPSTREAM_ERROR")).await;
    check_unread(&server, "ticks://AAA", none, &Value::Null).await;
    check_unread(&server, "ticks:///1s", none, &Value::Null).await;
    let down =
        server.at("/mcp").modern("resources/read", json!({ "uri": "ticks://DOWN/1s" })).await;
    assert_eq!(down.message()["error"]["data"]["retry_after_s"], 2);
}

async fn completed(client: &HttpClient, template: &str, name: &str, value: &str) -> Value {
    let ask = json!({ "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": name, "value": value } });
    client.modern("completion/complete", ask).await.message()
}

/// Checks the completed values and their total.
async fn check_completed(server: &TestServer, name: &str, value: &str, first: &[&str], total: u64) {
    let answer = completed(&server.at("/mcp"), "ticks://{symbol}/{interval}", name, value).await;
    let found = &answer["result"]["completion"];
    let values = found["values"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(values.iter().zip(first).all(|(value, first)| value == first), "{answer}");
    assert!(values.len() >= first.len() && values.len() <= 100, "{answer}");
    assert_eq!(found["total"], total, "{answer}");
    assert_eq!(found["hasMore"], total > 100, "{answer}");
}

#[tokio::test]
async fn the_arguments_of_a_template_are_completed() {
    let server = TestServer::all().await;
    check_completed(&server, "interval", "", &["1s", "1m"], 2).await;
    check_completed(&server, "interval", "1M", &["1m"], 1).await;
    check_completed(&server, "symbol", "", &["COIN000"], 250).await;
    check_completed(&server, "symbol", "coin1", &["COIN100", "COIN101"], 100).await;
    check_completed(&server, "symbol", "COIN249", &["COIN249"], 1).await;
    check_completed(&server, "symbol", "X", &[], 0).await;
    for (template, name) in [("ticks://{symbol}/{interval}", "after"), ("other://{x}", "x")] {
        let refused = completed(&server.at("/mcp"), template, name, "").await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let hidden = server.at("/mcp").with("x-stoa-services", "moex");
    let refused = completed(&hidden, "ticks://{symbol}/{interval}", "symbol", "").await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[track_caller]
fn check_updated(message: &Value, uri: &str) {
    let (method, uri_received) = (&message["method"], &message["params"]["uri"]);
    assert_eq!((method, uri_received), (&json!("notifications/resources/updated"), &json!(uri)));
}

async fn opened(server: &mut TestServer) -> OpenedStream {
    server.probe.opened.recv().await.unwrap()
}

async fn subscribe(session: &HttpClient, uri: &str) {
    let answer = session.in_session("resources/subscribe", json!({ "uri": uri })).await.message();
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_session_is_notified_until_it_unsubscribes() {
    let mut server = TestServer::all().await;
    let (session, hello) = server.at("/mcp").legacy().await;
    assert_eq!(hello["capabilities"]["resources"]["subscribe"], true);
    let mut stream = session.listen().await;
    subscribe(&session, URI).await;
    subscribe(&session, URI).await;
    let feed = opened(&mut server).await;
    assert_eq!(feed.args, json!({ "symbol": "AAA", "interval": "1s", "after": null }));
    feed.tick(None);
    feed.tick(Some("1"));
    check_updated(&stream.next().await.unwrap(), URI);
    feed.tick(Some("2"));
    check_updated(&stream.next().await.unwrap(), URI);
    assert_eq!(stream.ids, ["0", "1"], "each event has an id of its own");
    let gone = session.in_session("resources/unsubscribe", json!({ "uri": URI })).await.message();
    assert!(gone["result"].is_object(), "{gone}");
    feed.until_dropped().await;
    // Subscribing twice opened only one stream.
    assert!(server.probe.opened.try_recv().is_err());
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_subscriptions() {
    let mut server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    subscribe(&session, URI).await;
    let feed = opened(&mut server).await;
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    feed.until_dropped().await;
}

#[tokio::test]
async fn sessions_do_not_share_their_subscriptions() {
    let mut server = TestServer::all().await;
    let (one, _) = server.at("/mcp").legacy().await;
    let (two, _) = server.at("/mcp").legacy().await;
    subscribe(&one, URI).await;
    subscribe(&two, URI).await;
    let (first, second) = (opened(&mut server).await, opened(&mut server).await);
    one.in_session("resources/unsubscribe", json!({ "uri": URI })).await;
    first.until_dropped().await;
    let mut stream = two.listen().await;
    second.tick(Some("1"));
    check_updated(&stream.next().await.unwrap(), URI);
}

#[tokio::test]
async fn a_session_has_at_most_64_subscriptions() {
    let server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    for at in 0..64 {
        subscribe(&session, &format!("ticks://S{at}/1s")).await;
    }
    let ask = json!({ "uri": URI });
    let refused = session.in_session("resources/subscribe", ask).await.message();
    assert_eq!(refused["error"]["code"], 429, "{refused}");
    session.in_session("resources/unsubscribe", json!({ "uri": "ticks://S5/1s" })).await;
    // The permit is free once the aborted task has ended, which takes a moment.
    loop {
        let answer = session.in_session("resources/subscribe", json!({ "uri": URI })).await;
        if answer.message()["result"].is_object() {
            break;
        }
    }
}

#[tokio::test]
async fn subscribing_to_a_document_is_accepted() {
    let mut server = TestServer::all().await;
    let (session, _) = server.at("/mcp").legacy().await;
    subscribe(&session, "stoa://quotes/contract").await;
    assert!(server.probe.opened.try_recv().is_err());
}

#[tokio::test]
async fn methods_of_the_other_protocol_do_not_exist() {
    let server = TestServer::all().await;
    let ask = json!({ "uri": URI });
    let modern = server.at("/mcp").modern("resources/subscribe", ask).await;
    assert_eq!((modern.status, &modern.message()["error"]["code"]), (404, &json!(-32601)));
    let (session, _) = server.at("/mcp").legacy().await;
    let filter = json!({ "notifications": { "resourceSubscriptions": [URI] } });
    let legacy = session.in_session("subscriptions/listen", filter).await.message();
    assert_eq!(legacy["error"]["code"], -32601);
}

fn filter(uris: &[&str]) -> Value {
    json!({ "notifications": { "resourceSubscriptions": uris, "toolsListChanged": true } })
}

#[tokio::test]
async fn a_listen_request_is_notified_until_the_client_disconnects() {
    let mut server = TestServer::all().await;
    let asked = filter(&[URI, URI, "ticks://BBB/1m", "other://x", "stoa://quotes/contract"]);
    let mut stream = server.at("/mcp").follow("subscriptions/listen", asked).await;
    let accepted = stream.next().await.unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    let acknowledged = &accepted["params"]["notifications"];
    let known = acknowledged["resourceSubscriptions"].as_array().unwrap();
    assert!(known.contains(&json!("ticks://BBB/1m")) && !known.contains(&json!("other://x")));
    assert!(acknowledged.get("toolsListChanged").is_none(), "the lists never change");
    let mut feeds = [opened(&mut server).await, opened(&mut server).await];
    feeds.sort_by_key(|feed| feed.args["symbol"].to_string());
    for (feed, uri) in feeds.iter().zip([URI, "ticks://BBB/1m"]) {
        feed.tick(Some("1"));
        let message = stream.next().await.unwrap();
        check_updated(&message, uri);
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    }
    assert!(server.probe.opened.try_recv().is_err());
    drop(stream);
    for feed in feeds {
        feed.until_dropped().await;
    }
}

#[tokio::test]
async fn an_impossible_uri_does_not_end_the_others() {
    let mut server = TestServer::all().await;
    let asked = filter(&[URI, "ticks://NONE/1s", "ticks://AAA/9x"]);
    let mut stream = server.at("/mcp").follow("subscriptions/listen", asked).await;
    let accepted = stream.next().await.unwrap();
    let known = &accepted["params"]["notifications"]["resourceSubscriptions"];
    assert!(!known.as_array().unwrap().contains(&json!("ticks://AAA/9x")), "{known}");
    let feed = opened(&mut server).await;
    for point in ["1", "2"] {
        feed.tick(Some(point));
        check_updated(&stream.next().await.unwrap(), URI);
    }
}

#[tokio::test]
async fn a_refused_listen_request_has_the_reason() {
    let server = TestServer::all().await;
    let listen = |client: HttpClient, uri: &'static str| async move {
        client.modern("subscriptions/listen", filter(&[uri])).await.message()
    };
    let none = listen(server.at("/mcp"), "ticks://NONE/1s").await;
    assert_eq!(none["error"]["code"], -32602, "{none}");
    assert_eq!(none["error"]["data"]["error"]["type"], "NOT_FOUND");
    let hidden = listen(server.at("/mcp").with("x-stoa-services", "moex"), URI).await;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
}

#[tokio::test]
async fn a_stopping_server_ends_subscriptions() {
    let options = transport_mcp::HttpOptions::default();
    let mut server = TestServer::with_options(View::default(), 50, &options).await;
    let mut stream = server.at("/mcp").follow("subscriptions/listen", filter(&[URI])).await;
    let (session, _) = server.at("/mcp").legacy().await;
    subscribe(&session, "ticks://BBB/1s").await;
    let feeds = [opened(&mut server).await, opened(&mut server).await];
    options.shutdown.cancel();
    for feed in feeds {
        feed.until_dropped().await;
    }
    while stream.next().await.is_some() {}
}

#[tokio::test]
async fn both_protocols_subscribe_on_stdio() {
    let mut client = StdioClient::open();
    client.initialize().await;
    let subscribed = client.request("resources/subscribe", json!({ "uri": URI })).await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let feed = client.probe.opened.recv().await.unwrap();
    feed.tick(Some("1"));
    check_updated(&client.receive().await, URI);
    assert!(client.end().await.is_empty());
    feed.until_dropped().await;

    let mut client = StdioClient::open();
    client.write(modern_body("subscriptions/listen", filter(&[URI])).as_bytes()).await;
    let accepted = client.receive().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{MODERN}");
    let feed = client.probe.opened.recv().await.unwrap();
    feed.tick(Some("1"));
    check_updated(&client.receive().await, URI);
    // The end of the input ends the listen request.
    client.end().await;
    feed.until_dropped().await;
}

#[tokio::test]
async fn cancelling_ends_a_listen_request_on_stdio() {
    let mut client = StdioClient::open();
    client.write(modern_body("subscriptions/listen", filter(&[URI])).as_bytes()).await;
    client.receive().await;
    let feed = client.probe.opened.recv().await.unwrap();
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } }))
        .await;
    feed.until_dropped().await;
}

/// A subscription over stdio, where paused time is the only clock.
async fn subscribed_client(uri: &str) -> (StdioClient, OpenedStream) {
    let mut client = StdioClient::open();
    client.initialize().await;
    let subscribed = client.request("resources/subscribe", json!({ "uri": uri })).await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let feed = client.probe.opened.recv().await.unwrap();
    (client, feed)
}

#[tokio::test(start_paused = true)]
async fn an_ended_stream_is_reopened_at_its_resume_point() {
    let (mut client, feed) = subscribed_client(URI).await;
    feed.tick(Some("1"));
    check_updated(&client.receive().await, URI);
    drop(feed);
    let feed = client.probe.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], 1);
    // A stream that keeps ending at once is reopened less and less often.
    drop(feed);
    let before = tokio::time::Instant::now();
    for _ in 0..10 {
        assert_eq!(client.probe.opened.recv().await.unwrap().args["after"], 1);
    }
    assert!(before.elapsed().as_secs() > 120, "{:?}", before.elapsed());
    let feed = client.probe.opened.recv().await.unwrap();
    feed.tick(Some("2"));
    check_updated(&client.receive().await, URI);
}

#[tokio::test(start_paused = true)]
async fn a_lost_resume_point_counts_as_a_change() {
    let uri = "ticks://LOST/1s";
    let (mut client, feed) = subscribed_client(uri).await;
    feed.tick(Some("1"));
    check_updated(&client.receive().await, uri);
    drop(feed);
    check_updated(&client.receive().await, uri);
    let feed = client.probe.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], Value::Null);
    feed.tick(Some("9"));
    check_updated(&client.receive().await, uri);
}

#[tokio::test(start_paused = true)]
async fn a_removed_resource_is_notified_once_more_and_unsubscribed() {
    let uri = "ticks://ONCE/1s";
    let (mut client, feed) = subscribed_client(uri).await;
    drop(feed);
    check_updated(&client.receive().await, uri);
    // The subscription is gone, so subscribing again checks the resource again.
    let refused = client.request("resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}

/// Opening without a resume point would be refused as well, so it is not tried.
#[tokio::test(start_paused = true)]
async fn a_subscription_ends_when_its_token_is_revoked() {
    let uri = "ticks://SHUT/1s";
    let (mut client, feed) = subscribed_client(uri).await;
    feed.tick(Some("1"));
    check_updated(&client.receive().await, uri);
    drop(feed);
    check_updated(&client.receive().await, uri);
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["id"], 1, "{listed}");
    assert!(client.probe.opened.try_recv().is_err(), "it was opened again");
}

#[tokio::test(start_paused = true)]
async fn queued_events_are_one_notification() {
    let (mut client, feed) = subscribed_client(URI).await;
    for at in 0..50 {
        feed.tick(Some(&at.to_string()));
    }
    check_updated(&client.receive().await, URI);
    drop(feed);
    let feed = client.probe.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], 49);
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["id"], 1, "{listed}");
}
