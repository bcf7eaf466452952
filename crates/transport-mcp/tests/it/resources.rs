//! Families of resources: listed, read through their tool, watched through their stream.

use contract::View;
use serde_json::{Value, json};

use crate::double::Opened;
use crate::http::House;
use crate::stdio::Pipes;
use crate::wire::{Client, MODERN, modern_body};

const URI: &str = "ticks://AAA/1s";

fn templates(listed: &Value) -> Vec<&str> {
    let found = listed["result"]["resourceTemplates"].as_array().unwrap();
    found.iter().map(|it| it["uriTemplate"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn families_are_listed_where_their_service_is_shown() {
    let house = House::all().await;
    for path in ["/mcp", "/mcp/quotes"] {
        let listed = house.at(path).modern("resources/templates/list", json!({})).await.message();
        assert_eq!(templates(&listed), ["ticks://{symbol}/{interval}"]);
        let family = &listed["result"]["resourceTemplates"][0];
        assert_eq!(
            (&family["name"], &family["mimeType"]),
            (&json!("ticks"), &json!("application/json"))
        );
    }
    // The tool that reads them is not a tool of its own here.
    let tools = house.at("/mcp").modern("tools/list", json!({})).await.message();
    assert!(!tools.to_string().contains("ticks_read"));
    let hidden = house.at("/mcp").with("x-stoa-services", "moex");
    let listed = hidden.modern("resources/templates/list", json!({})).await.message();
    assert!(templates(&listed).is_empty());
    let read = hidden.modern("resources/read", json!({ "uri": URI })).await.message();
    assert_eq!(read["error"]["code"], -32602);
    let cursor = json!({ "cursor": "bm9uc2Vuc2U" });
    let bad = house.at("/mcp").modern("resources/templates/list", cursor).await.message();
    assert_eq!(bad["error"]["code"], -32602);
}

async fn check_read(client: &Client, uri: &str, symbol: &str, interval: &str) {
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
async fn a_uri_of_a_family_is_read_through_its_tool() {
    let house = House::all().await;
    let client = house.at("/mcp");
    check_read(&client, URI, "AAA", "1s").await;
    check_read(&client, "ticks://VENUE:AAA/1m", "VENUE:AAA", "1m").await;
    check_read(&client, "ticks://VENUE%3AAAA/1m", "VENUE:AAA", "1m").await;
}

/// What each era says to a URI, and what it brings beside the code.
async fn check_unread(house: &House, uri: &str, codes: (i64, i64), kind: &Value) {
    let ask = json!({ "uri": uri });
    let modern = house.at("/mcp").modern("resources/read", ask.clone()).await.message();
    let (session, _) = house.at("/mcp").legacy().await;
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
async fn what_cannot_be_read_is_told_in_the_words_of_both_sides() {
    let house = House::all().await;
    let none = (-32602, -32002);
    check_unread(&house, "ticks://NONE/1s", none, &json!("NOT_FOUND")).await;
    check_unread(&house, "ticks://AAA/7s", none, &json!("VALIDATION_ERROR")).await;
    check_unread(&house, "ticks://DOWN/1s", (502, 502), &json!("UPSTREAM_ERROR")).await;
    check_unread(&house, "ticks://AAA", none, &Value::Null).await;
    check_unread(&house, "ticks:///1s", none, &Value::Null).await;
    let down = house.at("/mcp").modern("resources/read", json!({ "uri": "ticks://DOWN/1s" })).await;
    assert_eq!(down.message()["error"]["data"]["retry_after_s"], 2);
}

async fn completed(client: &Client, template: &str, name: &str, value: &str) -> Value {
    let ask = json!({ "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": name, "value": value } });
    client.modern("completion/complete", ask).await.message()
}

/// The values that are offered, and how many there are in all.
async fn check_completed(house: &House, name: &str, value: &str, first: &[&str], total: u64) {
    let answer = completed(&house.at("/mcp"), "ticks://{symbol}/{interval}", name, value).await;
    let found = &answer["result"]["completion"];
    let values = found["values"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(values.iter().zip(first).all(|(value, first)| value == first), "{answer}");
    assert!(values.len() >= first.len() && values.len() <= 100, "{answer}");
    assert_eq!(found["total"], total, "{answer}");
    assert_eq!(found["hasMore"], total > 100, "{answer}");
}

#[tokio::test]
async fn the_arguments_of_a_family_are_completed() {
    let house = House::all().await;
    check_completed(&house, "interval", "", &["1s", "1m"], 2).await;
    check_completed(&house, "interval", "1M", &["1m"], 1).await;
    check_completed(&house, "symbol", "", &["COIN000"], 250).await;
    check_completed(&house, "symbol", "coin1", &["COIN100", "COIN101"], 100).await;
    check_completed(&house, "symbol", "COIN249", &["COIN249"], 1).await;
    check_completed(&house, "symbol", "X", &[], 0).await;
    for (template, name) in [("ticks://{symbol}/{interval}", "after"), ("other://{x}", "x")] {
        let refused = completed(&house.at("/mcp"), template, name, "").await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let hidden = house.at("/mcp").with("x-stoa-services", "moex");
    let refused = completed(&hidden, "ticks://{symbol}/{interval}", "symbol", "").await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[track_caller]
fn check_updated(message: &Value, uri: &str) {
    let (method, told) = (&message["method"], &message["params"]["uri"]);
    assert_eq!((method, told), (&json!("notifications/resources/updated"), &json!(uri)));
}

async fn opened(house: &mut House) -> Opened {
    house.ear.opened.recv().await.unwrap()
}

async fn subscribe(session: &Client, uri: &str) {
    let answer = session.in_session("resources/subscribe", json!({ "uri": uri })).await.message();
    assert!(answer["result"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_session_hears_of_what_it_subscribed_to_until_it_unsubscribes() {
    let mut house = House::all().await;
    let (session, hello) = house.at("/mcp").legacy().await;
    assert_eq!(hello["capabilities"]["resources"]["subscribe"], true);
    let mut stream = session.listen().await;
    subscribe(&session, URI).await;
    subscribe(&session, URI).await;
    let feed = opened(&mut house).await;
    assert_eq!(feed.args, json!({ "symbol": "AAA", "interval": "1s", "after": null }));
    feed.tick(None);
    feed.tick(Some("1"));
    check_updated(&stream.next().await.unwrap(), URI);
    feed.tick(Some("2"));
    check_updated(&stream.next().await.unwrap(), URI);
    let gone = session.in_session("resources/unsubscribe", json!({ "uri": URI })).await.message();
    assert!(gone["result"].is_object(), "{gone}");
    feed.left().await;
    // Subscribing twice had opened one stream alone.
    assert!(house.ear.opened.try_recv().is_err());
}

#[tokio::test]
async fn the_end_of_a_session_ends_what_it_watches() {
    let mut house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    subscribe(&session, URI).await;
    let feed = opened(&mut house).await;
    assert_eq!(session.send("DELETE", b"").await.status, 204);
    feed.left().await;
}

#[tokio::test]
async fn sessions_do_not_share_their_subscriptions() {
    let mut house = House::all().await;
    let (one, _) = house.at("/mcp").legacy().await;
    let (two, _) = house.at("/mcp").legacy().await;
    subscribe(&one, URI).await;
    subscribe(&two, URI).await;
    let (first, second) = (opened(&mut house).await, opened(&mut house).await);
    one.in_session("resources/unsubscribe", json!({ "uri": URI })).await;
    first.left().await;
    let mut stream = two.listen().await;
    second.tick(Some("1"));
    check_updated(&stream.next().await.unwrap(), URI);
}

#[tokio::test]
async fn a_session_watches_so_many_and_no_more() {
    let house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    for at in 0..64 {
        subscribe(&session, &format!("ticks://S{at}/1s")).await;
    }
    let ask = json!({ "uri": URI });
    let refused = session.in_session("resources/subscribe", ask).await.message();
    assert_eq!(refused["error"]["code"], 429, "{refused}");
    session.in_session("resources/unsubscribe", json!({ "uri": "ticks://S5/1s" })).await;
    // The place is free once the task has ended, which the runtime does in its own time.
    loop {
        let answer = session.in_session("resources/subscribe", json!({ "uri": URI })).await;
        if answer.message()["result"].is_object() {
            break;
        }
    }
}

#[tokio::test]
async fn documents_may_be_subscribed_to_although_they_never_change() {
    let mut house = House::all().await;
    let (session, _) = house.at("/mcp").legacy().await;
    subscribe(&session, "stoa://quotes/contract").await;
    assert!(house.ear.opened.try_recv().is_err());
}

#[tokio::test]
async fn methods_of_the_other_era_do_not_exist() {
    let house = House::all().await;
    let ask = json!({ "uri": URI });
    let modern = house.at("/mcp").modern("resources/subscribe", ask).await;
    assert_eq!((modern.status, &modern.message()["error"]["code"]), (404, &json!(-32601)));
    let (session, _) = house.at("/mcp").legacy().await;
    let filter = json!({ "notifications": { "resourceSubscriptions": [URI] } });
    let legacy = session.in_session("subscriptions/listen", filter).await.message();
    assert_eq!(legacy["error"]["code"], -32601);
}

fn filter(uris: &[&str]) -> Value {
    json!({ "notifications": { "resourceSubscriptions": uris, "toolsListChanged": true } })
}

#[tokio::test]
async fn a_request_listens_until_it_is_hung_up() {
    let mut house = House::all().await;
    let asked = filter(&[URI, URI, "ticks://BBB/1m", "other://x", "stoa://quotes/contract"]);
    let mut stream = house.at("/mcp").follow("subscriptions/listen", asked).await;
    let accepted = stream.next().await.unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    let told = &accepted["params"]["notifications"];
    let known = told["resourceSubscriptions"].as_array().unwrap();
    assert!(known.contains(&json!("ticks://BBB/1m")) && !known.contains(&json!("other://x")));
    assert!(told.get("toolsListChanged").is_none(), "the lists never change");
    let mut feeds = [opened(&mut house).await, opened(&mut house).await];
    feeds.sort_by_key(|feed| feed.args["symbol"].to_string());
    for (feed, uri) in feeds.iter().zip([URI, "ticks://BBB/1m"]) {
        feed.tick(Some("1"));
        let message = stream.next().await.unwrap();
        check_updated(&message, uri);
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    }
    assert!(house.ear.opened.try_recv().is_err());
    drop(stream);
    for feed in feeds {
        feed.left().await;
    }
}

#[tokio::test]
async fn a_request_that_cannot_listen_is_told_why() {
    let house = House::all().await;
    let listen = |client: Client, uri: &'static str| async move {
        client.modern("subscriptions/listen", filter(&[uri])).await.message()
    };
    let none = listen(house.at("/mcp"), "ticks://NONE/1s").await;
    assert_eq!(none["error"]["code"], -32602, "{none}");
    assert_eq!(none["error"]["data"]["error"]["type"], "NOT_FOUND");
    let hidden = listen(house.at("/mcp").with("x-stoa-services", "moex"), URI).await;
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
}

#[tokio::test]
async fn a_stopping_server_ends_what_listens() {
    let options = transport_mcp::HttpOptions::default();
    let mut house = House::facing(View::default(), 50, &options).await;
    let mut stream = house.at("/mcp").follow("subscriptions/listen", filter(&[URI])).await;
    let (session, _) = house.at("/mcp").legacy().await;
    subscribe(&session, "ticks://BBB/1s").await;
    let feeds = [opened(&mut house).await, opened(&mut house).await];
    options.shutdown.cancel();
    for feed in feeds {
        feed.left().await;
    }
    while stream.next().await.is_some() {}
}

#[tokio::test]
async fn both_eras_listen_on_pipes() {
    let mut pipes = Pipes::open();
    pipes.greet().await;
    let subscribed = pipes.ask("resources/subscribe", json!({ "uri": URI })).await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let feed = pipes.ear.opened.recv().await.unwrap();
    feed.tick(Some("1"));
    check_updated(&pipes.hear().await, URI);
    assert!(pipes.end().await.is_empty());
    feed.left().await;

    let mut pipes = Pipes::open();
    pipes.write(modern_body("subscriptions/listen", filter(&[URI])).as_bytes()).await;
    let accepted = pipes.hear().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{MODERN}");
    let feed = pipes.ear.opened.recv().await.unwrap();
    feed.tick(Some("1"));
    check_updated(&pipes.hear().await, URI);
    // The end of the input is the end of listening, so the server need not wait for it.
    pipes.end().await;
    feed.left().await;
}

#[tokio::test]
async fn cancelling_ends_listening_on_pipes() {
    let mut pipes = Pipes::open();
    pipes.write(modern_body("subscriptions/listen", filter(&[URI])).as_bytes()).await;
    pipes.hear().await;
    let feed = pipes.ear.opened.recv().await.unwrap();
    pipes
        .say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 1 } }))
        .await;
    feed.left().await;
}

/// A watch on pipes, where no clock but the paused one runs.
async fn watched(uri: &str) -> (Pipes, Opened) {
    let mut pipes = Pipes::open();
    pipes.greet().await;
    let subscribed = pipes.ask("resources/subscribe", json!({ "uri": uri })).await;
    assert!(subscribed["result"].is_object(), "{subscribed}");
    let feed = pipes.ear.opened.recv().await.unwrap();
    (pipes, feed)
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_is_opened_again_where_it_stopped() {
    let (mut pipes, feed) = watched(URI).await;
    feed.tick(Some("1"));
    check_updated(&pipes.hear().await, URI);
    drop(feed);
    let feed = pipes.ear.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], 1);
    // One that ends at once, again and again, is opened less and less often.
    drop(feed);
    let before = tokio::time::Instant::now();
    for _ in 0..10 {
        assert_eq!(pipes.ear.opened.recv().await.unwrap().args["after"], 1);
    }
    assert!(before.elapsed().as_secs() > 120, "{:?}", before.elapsed());
    let feed = pipes.ear.opened.recv().await.unwrap();
    feed.tick(Some("2"));
    check_updated(&pipes.hear().await, URI);
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_forgotten_is_a_change_and_the_watch_goes_on() {
    let uri = "ticks://LOST/1s";
    let (mut pipes, feed) = watched(uri).await;
    feed.tick(Some("1"));
    check_updated(&pipes.hear().await, uri);
    drop(feed);
    check_updated(&pipes.hear().await, uri);
    let feed = pipes.ear.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], Value::Null);
    feed.tick(Some("9"));
    check_updated(&pipes.hear().await, uri);
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_gone_is_told_once_more_and_watched_no_longer() {
    let uri = "ticks://ONCE/1s";
    let (mut pipes, feed) = watched(uri).await;
    drop(feed);
    check_updated(&pipes.hear().await, uri);
    // It is not subscribed to any more, so subscribing again looks again.
    let refused = pipes.ask("resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}

/// Without its token a client would be refused from the beginning as well, so that is not tried.
#[tokio::test(start_paused = true)]
async fn a_watch_whose_token_is_good_no_more_is_told_once_and_ended() {
    let uri = "ticks://SHUT/1s";
    let (mut pipes, feed) = watched(uri).await;
    feed.tick(Some("1"));
    check_updated(&pipes.hear().await, uri);
    drop(feed);
    check_updated(&pipes.hear().await, uri);
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let listed = pipes.ask("tools/list", json!({})).await;
    assert_eq!(listed["id"], 1, "{listed}");
    assert!(pipes.ear.opened.try_recv().is_err(), "it was opened again");
}

#[tokio::test(start_paused = true)]
async fn events_that_wait_together_are_one_change() {
    let (mut pipes, feed) = watched(URI).await;
    for at in 0..50 {
        feed.tick(Some(&at.to_string()));
    }
    check_updated(&pipes.hear().await, URI);
    drop(feed);
    let feed = pipes.ear.opened.recv().await.unwrap();
    assert_eq!(feed.args["after"], 49);
    let listed = pipes.ask("tools/list", json!({})).await;
    assert_eq!(listed["id"], 1, "{listed}");
}
