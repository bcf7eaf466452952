//! Which messages a client without a valid credential may send, and that a credential is verified
//! once per request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use contract::{
    Authenticator, Caller, Catalog, Contract, Credential, Cx, Pipeline, Reply, Scope, Tools,
    VerifiedToken, View,
};
use fault::{Fault, Kind};
use serde_json::{Map, Value, json};
use transport_mcp::{HttpOptions, ServerOptions, router};

use crate::client::HttpClient;
use crate::fixture::{NoMeter, TestEnvelope};
use crate::http::serve;
use crate::tasks::tool;

struct Nothing;

impl Reply for Nothing {
    fn result(&self) -> Value {
        Value::Null
    }

    fn text(&self) -> String {
        String::new()
    }
}

async fn nothing(_: Cx<()>, _: Map<String, Value>) -> Result<Nothing, Fault> {
    Ok(Nothing)
}

/// Accepts the token `good` and refuses everything else with `code`.
struct OneToken {
    code: &'static str,
    verified: AtomicUsize,
}

impl OneToken {
    fn refusal(&self) -> Fault {
        Fault::new(Kind::Unauthenticated, self.code, "no")
    }
}

#[async_trait]
impl Authenticator for OneToken {
    async fn authenticate(&self, credential: &Credential, _: &str) -> Result<Caller, Fault> {
        match self.verify(credential).await? {
            Credential::Verified(VerifiedToken { caller, .. }) => Ok(caller),
            _ => Err(self.refusal()),
        }
    }

    async fn verify(&self, credential: &Credential) -> Result<Credential, Fault> {
        match credential {
            Credential::Bearer(token) if &**token == "good" => {
                self.verified.fetch_add(1, Ordering::Relaxed);
                let caller = Caller::new("ada", ["read".to_owned()]);
                Ok(Credential::Verified(VerifiedToken { token: Arc::clone(token), caller }))
            }
            Credential::Verified(_) => Ok(credential.clone()),
            _ => Err(self.refusal()),
        }
    }

    fn accepts_in_call_credentials(&self, service: &str) -> bool {
        service == "indicators"
    }
}

struct Fixture {
    client: HttpClient,
    in_call: HttpClient,
    authenticator: Arc<OneToken>,
    _serving: tokio::task::JoinSet<()>,
}

fn service(name: &str, tools: [&'static str; 2]) -> contract::Service {
    let mut contract = Contract::load(name).unwrap();
    contract.tools = tools.iter().map(|name| tool(name, None)).collect();
    (contract.streams, contract.resources) = (Vec::new(), Vec::new());
    contract.access.credential_argument = Some("pass".to_owned());
    Tools::of(Arc::new(()))
        .tool(tools[0], Scope::Open, nothing)
        .tool(tools[1], Scope::Read, nothing)
        .bind(contract, TestEnvelope)
        .unwrap()
}

async fn fixture(code: &'static str) -> Fixture {
    let services =
        vec![service("quotes", ["sign.in", "work"]), service("indicators", ["open", "other"])];
    let authenticator = Arc::new(OneToken { code, verified: AtomicUsize::new(0) });
    let pipeline = Pipeline::new(
        Catalog::new(services).unwrap(),
        Arc::clone(&authenticator) as _,
        Arc::new(NoMeter),
        Duration::from_secs(1),
    );
    let options = ServerOptions::http("9.9.9");
    let routes = router(&Arc::new(pipeline), &View::default(), &options, &HttpOptions::default());
    let (address, serving) = serve(routes).await;
    let client = HttpClient::new(address, "/mcp").with("mcp-protocol-version", "2026-07-28");
    let in_call = HttpClient::new(address, "/mcp/indicators");
    Fixture { client, in_call, authenticator, _serving: serving }
}

fn at(client: &HttpClient, path: &str) -> HttpClient {
    HttpClient { path: path.to_owned(), ..client.clone() }
}

/// Sends a message without a valid credential; only an allowed one gets past HTTP 401.
async fn check(code: &'static str, message: &str, allowed: bool) {
    let fixture = fixture(code).await;
    for client in [fixture.client.clone(), fixture.client.with("authorization", "Bearer bad")] {
        let status = client.send("POST", message.as_bytes()).await.status;
        assert_eq!(status != 401, allowed, "{status} {code} {message}");
    }
}

#[tokio::test]
async fn a_credential_is_verified_once_per_request() {
    let fixture = fixture("token_missing").await;
    let client = fixture.client.with("authorization", "Bearer good");
    let call = json!({ "name": "work", "arguments": {} });
    let answer = client.modern("tools/call", call).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.message().to_string().contains("UNAUTHENTICATED"), "{}", answer.message());
    assert_eq!(fixture.authenticator.verified.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn only_a_service_with_credentials_in_its_calls_is_reached_without_one() {
    let fixture = fixture("token_missing").await;
    let long = vec![b' '; 70_000];
    for (client, body, refused) in [
        (&fixture.in_call, b"".as_slice(), false),
        (&fixture.in_call.with("authorization", "Bearer bad"), b"", false),
        (&fixture.client, b"", true),
        (&fixture.client, &long, true),
        (&fixture.client.with("authorization", "Bearer good"), &long, false),
    ] {
        let status = client.send("POST", body).await.status;
        assert_eq!(status == 401, refused, "{status} {}", body.len());
    }
    assert_eq!(fixture.client.send("GET", b"").await.status, 401);
    let elsewhere = at(&fixture.client, "/mcp/quotes");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    assert_eq!(elsewhere.send("POST", list.as_bytes()).await.status, 401);
    assert_eq!(at(&fixture.client, "/mcp/nothing").send("POST", b"").await.status, 401);
}

#[tokio::test]
async fn messages_that_need_no_token_pass_without_one() {
    for method in ["ping", "notifications/initialized"] {
        check("token_malformed", &json!({ "method": method }).to_string(), true).await;
    }
    // A host asks its user to sign in when one of these is refused.
    for method in ["server/discover", "tools/list", "initialize"] {
        let message = json!({ "method": method }).to_string();
        check("token_expired", &message, true).await;
        check("token_malformed", &message, false).await;
        check("token_missing", &message, false).await;
    }
    for method in ["resources/list", "resources/read", "subscriptions/listen", "tasks/get", ""] {
        check("token_malformed", &json!({ "method": method }).to_string(), false).await;
    }
    for bad in ["", "{", "[]", "null", "\"tools/list\"", r#"[{"method":"tools/list"}]"#] {
        check("token_expired", bad, false).await;
    }
    let call = |params: Value| json!({ "method": "tools/call", "params": params }).to_string();
    check("token_expired", &call(json!({ "name": "sign.in" })), true).await;
    check("token_missing", &call(json!({ "name": "sign_in", "arguments": 5 })), true).await;
    check("token_expired", &call(json!({ "name": "work" })), false).await;
    check("token_expired", &call(json!({ "name": "lost" })), false).await;
    check("token_expired", &call(json!({})), false).await;
    check("token_expired", &call(json!({ "name": "work", "arguments": { "pass": "t" } })), true)
        .await;
    let shown = json!({ "name": "work", "_meta": { "auth": { "token": "t" } } });
    check("token_expired", &call(shown.clone()), true).await;
    let task = json!({ "method": "tasks/get", "params": shown }).to_string();
    check("token_expired", &task, true).await;
}
