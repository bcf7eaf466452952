//! Open streams whose token expires or is revoked.

use super::*;
use crate::process::{mcp_headers, run, stoa};

const CLOSED: [(&str, &str); 1] = [("MCP_HTTP_TOKEN", "hush-hush")];

impl Fixture {
    /// A token minted with the server's key.
    fn mint(&self, ttl: &str) -> String {
        let mut command = stoa(self.folder.path());
        let (code, token, err) =
            run(command.args(["token", "mint", "--scope", "read", "--ttl", ttl]));
        assert_eq!(code, 0, "{err}");
        token.trim().to_owned()
    }

    async fn events_with(&self, token: &str) -> Events {
        let url = self.server.url("/stream/klines?symbol=BTCUSDT&interval=1s");
        let response = http().get(url).bearer_auth(token).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        Events { response, text: String::new() }
    }

    async fn socket_with(&self, token: &str) -> Socket {
        let url = format!("ws://{}/ws", self.server.address());
        let mut request = url.into_client_request().unwrap();
        let protocols = format!("stoa.v1, bearer.{token}");
        request.headers_mut().insert("sec-websocket-protocol", protocols.parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut socket = Socket(socket);
        socket.say(json!({"type": "subscribe", "symbol": "BTCUSDT", "interval": "1s"})).await;
        socket.next_of("subscribed").await;
        socket
    }

    /// A request that receives every new candle until it ends.
    async fn watch_with(&self, token: &str) -> Events {
        let request = http().post(self.server.url("/mcp/indicators")).bearer_auth(token);
        let uris = json!({ "resourceSubscriptions": ["klines://BTCUSDT/1s"] });
        let params = json!({ "notifications": uris });
        let response = mcp_headers(request, "subscriptions/listen", params).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        Events { response, text: String::new() }
    }

    fn revoke(&self, token: &str) {
        let mut command = stoa(self.folder.path());
        let (code, _, err) = run(command.args(["token", "revoke"]).env("STOA_TOKEN", token));
        assert_eq!(code, 0, "{err}");
    }

    async fn call_with(&self, token: &str) -> Value {
        let request = http().post(self.server.url("/mcp/indicators")).bearer_auth(token);
        let arguments = json!({"symbol": "BTCUSDT", "interval": "1s", "maxEvents": 1000,
            "maxSeconds": 600});
        let params = json!({ "name": "stream_klines", "arguments": arguments });
        let response = mcp_headers(request, "tools/call", params).send().await.unwrap();
        response.json().await.unwrap()
    }
}

/// The stream ends with the contract's error for an invalid token.
async fn check(fixture: &Fixture, token: &str, word: &str, then: impl AsyncFnOnce()) {
    let (mut events, mut socket) =
        (fixture.events_with(token).await, fixture.socket_with(token).await);
    let reads = async {
        let mut last = None;
        while let Some((_, event)) = events.next().await {
            last = Some(event);
        }
        last.unwrap()
    };
    let hears = async {
        let error = socket.next_of("error").await;
        (error, socket.next().await)
    };
    let (sse_end, (error, code), called, ()) =
        tokio::join!(reads, hears, fixture.call_with(token), then());
    let result = &called["result"];
    assert_eq!(result["isError"], true, "{called}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let called: Value = serde_json::from_str(text).unwrap();
    for reply in [sse_end, error, called] {
        assert_eq!(reply["error"]["code"], "unauthorized", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(word), "{reply}");
    }
    assert_eq!(code, Err(1008));
}

#[tokio::test]
async fn streams_end_when_their_token_expires() {
    let fixture = Fixture::new(&CLOSED);
    let token = fixture.mint("6s");
    check(&fixture, &token, "expired", async || {}).await;
    let metrics = http().get(fixture.server.url("/metrics")).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    assert!(metrics.contains("token_expired"), "{metrics}");
}

#[tokio::test]
async fn streams_end_when_their_token_is_revoked_elsewhere() {
    let fixture = Fixture::new(&CLOSED);
    let token = fixture.mint("1h");
    check(&fixture, &token, "revoked", async || fixture.revoke(&token)).await;
}

#[tokio::test]
async fn a_watched_resource_ends_when_its_token_is_revoked_elsewhere() {
    let fixture = Fixture::new(&CLOSED);
    let token = fixture.mint("1h");
    let mut watch = fixture.watch_with(&token).await;
    let updated = |message: &Value| message["method"] == "notifications/resources/updated";
    while !updated(&watch.next().await.unwrap().1) {}
    fixture.revoke(&token);
    let last = loop {
        let (_, message) = watch.next().await.unwrap();
        if !updated(&message) {
            break message;
        }
    };
    let why = last["error"]["message"].as_str().unwrap();
    assert!(why.contains("token_revoked"), "{last}");
    assert!(watch.next().await.is_none(), "something came after the end");
}

#[tokio::test]
async fn a_token_other_than_the_configured_one_is_refused() {
    let fixture = Fixture::new(&CLOSED);
    let url = fixture.server.url("/klines?symbol=BTCUSDT&interval=1h&limit=1");
    for (token, status) in [("hush-hush", 200), ("hush", 401), ("stoa1_hush", 401)] {
        let response = http().get(&url).bearer_auth(token).send().await.unwrap();
        assert_eq!(response.status(), status);
        let body: Value = response.json().await.unwrap();
        let message = body["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(message.starts_with("unknown token"), token == "hush", "{body}");
    }
}
