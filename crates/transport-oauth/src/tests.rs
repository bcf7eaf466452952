//! The whole flow and the attacks on it, on every engine.

use std::net::IpAddr;
use std::sync::Arc;

use archive_accounts::{Accounts, RegistrationPolicy};
use auth::{Authority, Keyring, ScopeSet, SqlRevocations};
use axum::Router;
use axum::body::{Body, to_bytes};
use clock::{Clock as _, Millis};
use contract::{Credential, RequestMeta};
use http::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use store::Db;
use testkit::{FakeClock, on_every_engine};
use tower::ServiceExt as _;

use crate::form::{Parameters, with_query};
use crate::{OAuthOptions, random, router};
use documents::FakeDocuments;

mod attacks;
mod documents;
mod flow;

const PASSWORD: &str = "correct horse";
const CALLBACK: &str = "http://127.0.0.1:3000/callback";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

struct Fixture {
    router: Router,
    documents: Arc<FakeDocuments>,
    clock: Arc<FakeClock>,
    accounts: Accounts,
    authority: Arc<Authority>,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{}", self.text))
    }

    /// The parameter of the address that the browser is sent to.
    fn sent(&self, name: &str) -> Option<String> {
        let location = self.headers.get(LOCATION)?.to_str().unwrap();
        let (_, query) = location.split_once('?').unwrap();
        Parameters::parse(query).unwrap().get(name).map(str::to_owned)
    }

    #[track_caller]
    fn refused(&self, code: &str) {
        assert_eq!(self.json()["error"], code, "{}", self.text);
        assert!(!self.text.contains("access_token"), "{}", self.text);
    }
}

/// The form in which a client and a browser send parameters.
fn query(parameters: &[(&str, &str)]) -> String {
    with_query("", parameters).trim_start_matches('?').to_owned()
}

impl Fixture {
    async fn new(db: &Db) -> Self {
        db.migrate(&[archive_accounts::MIGRATIONS, auth::MIGRATIONS, crate::MIGRATIONS])
            .await
            .unwrap();
        let clock = Arc::new(FakeClock::new(Millis(1_700_000_000_000)));
        let rules = RegistrationPolicy { registration_open: false };
        let accounts = Accounts::new(db.clone(), Arc::clone(&clock) as _, rules);
        accounts.add("ada", PASSWORD, None).await.unwrap();
        let revocations = Arc::new(SqlRevocations::new(db.clone()));
        let authority = Arc::new(Authority::new(Keyring::generate().unwrap(), revocations));
        let documents = Arc::new(FakeDocuments::default());
        let router = router(OAuthOptions {
            db: db.clone(),
            clock: Arc::clone(&clock) as _,
            accounts: accounts.clone(),
            authority: Arc::clone(&authority),
            scopes: ScopeSet::parse("read,write").unwrap(),
            services: vec![Arc::from("archive"), Arc::from("quotes")],
            public_url: None,
            documents: Arc::clone(&documents) as _,
        });
        Self { router, documents, clock, accounts, authority }
    }

    async fn send(&self, mut request: Request<Body>) -> Answer {
        let mut meta = RequestMeta::new(Arc::from("test"), Credential::None);
        meta.client = Some(IpAddr::from([192, 0, 2, 1]));
        request.extensions_mut().insert(meta);
        request.headers_mut().insert(HOST, "stoa.example".parse().unwrap());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, form: &[(&str, &str)], cookie: Option<&str>) -> Answer {
        let request = Request::post(path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = match cookie {
            Some(cookie) => request.header(COOKIE, format!("other=1; stoa_oauth={cookie}")),
            None => request,
        };
        self.send(request.body(Body::from(query(form))).unwrap()).await
    }

    async fn register(&self, metadata: &Value) -> Answer {
        let request = Request::post("/oauth/register").header(CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(metadata.to_string())).unwrap()).await
    }

    async fn client(&self) -> String {
        let metadata = json!({ "redirect_uris": [CALLBACK, "https://claude.ai/cb"],
            "client_name": "Chat <b>", "token_endpoint_auth_method": "client_secret_post" });
        let answer = self.register(&metadata).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        assert_eq!(answer.json()["token_endpoint_auth_method"], "none");
        answer.json()["client_id"].as_str().unwrap().to_owned()
    }

    /// The page that asks the user, with its cookie.
    async fn page(&self, request: &[(&str, &str)]) -> (Answer, String) {
        let answer = self.get(&format!("/oauth/authorize?{}", query(request))).await;
        let cookie = answer.headers.get(SET_COOKIE).map(|it| it.to_str().unwrap().to_owned());
        let cookie = cookie.as_deref().and_then(|it| it.strip_prefix("stoa_oauth="));
        let cookie = cookie.and_then(|it| it.split(';').next()).unwrap_or_default().to_owned();
        (answer, cookie)
    }

    /// The answer to a login on the page.
    async fn allow(&self, request: &[(&str, &str)], password: &str) -> Answer {
        let (_, cookie) = self.page(request).await;
        let mut form = request.to_vec();
        form.extend([("username", "ada"), ("password", password), ("decision", "allow")]);
        form.push(("csrf", &cookie));
        self.post("/oauth/authorize", &form, Some(&cookie)).await
    }

    async fn code(&self, client: &str) -> String {
        let challenge = random::hash(VERIFIER);
        let answer = self.allow(&request(client, &challenge), PASSWORD).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        answer.sent("code").unwrap()
    }

    async fn exchange(&self, client: &str, code: &str) -> Answer {
        self.post("/oauth/token", &exchange(client, code), None).await
    }

    async fn refresh(&self, client: &str, token: &str) -> Answer {
        let form =
            [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
        self.post("/oauth/token", &form, None).await
    }

    /// The tokens of a new grant: access and refresh.
    async fn tokens(&self, client: &str) -> (String, String) {
        let code = self.code(client).await;
        pair(&self.exchange(client, &code).await)
    }

    /// The code of the fault with which a token is refused; `ok` if it is valid.
    async fn verified(&self, token: &str) -> &'static str {
        let now = self.clock.now().0 / 1000;
        match self.authority.verify(token, now).await {
            Ok(_) => "ok",
            Err(fault) => fault.code(),
        }
    }
}

fn request<'a>(client: &'a str, challenge: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("state", "s & t"),
        ("scope", "read offline_access"),
        ("resource", "http://stoa.example/mcp/archive"),
    ]
}

fn exchange<'a>(client: &'a str, code: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code", code),
        ("code_verifier", VERIFIER),
        ("resource", "http://stoa.example/mcp/archive"),
    ]
}

/// The same parameters with one of them replaced, or left out.
fn but<'a>(
    parameters: &[(&'a str, &'a str)],
    name: &str,
    value: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let replaced = |&(key, old): &(&'a str, &'a str)| match key == name {
        true => value.map(|value| (key, value)),
        false => Some((key, old)),
    };
    parameters.iter().filter_map(replaced).collect()
}

#[track_caller]
fn pair(answer: &Answer) -> (String, String) {
    let json = answer.json();
    let text = |name: &str| json[name].as_str().unwrap_or_else(|| panic!("{json}")).to_owned();
    (text("access_token"), text("refresh_token"))
}
