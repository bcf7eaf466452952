//! The edge refuses a client over its rate before it reads the body, a large body without a
//! credential and a page of another site, in the form of the route.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, to_bytes};
use axum::response::IntoResponse as _;
use axum::routing::post;
use limits::RateLimit;
use serde_json::Value;
use tower::ServiceExt as _;

use super::*;
use crate::mounted::BodyHandling;
use crate::stream::tests::fixture::pipeline;

/// An edge that admits one request, with a route of each kind, and the refusals it counted.
fn edge() -> (Router, Arc<AtomicUsize>) {
    edge_with(false, RateLimit { burst: 1, per_second: 0.01 }, 4)
}

fn edge_with(strict: bool, rate: RateLimit, bytes_max: usize) -> (Router, Arc<AtomicUsize>) {
    let (pipeline, _) = pipeline(strict);
    let service = &pipeline.catalog().services()[0];
    let router = Router::new()
        .route("/plain", post(|| async { "plain" }))
        .route("/service/{id}", post(|| async { "service" }))
        .route("/custom", post(|body: Body| async { to_bytes(body, 9).await.unwrap() }));
    let custom = |refusal: &Refusal, id: &str| {
        let wait = refusal.fault.retry_wait().unwrap_or_default().as_secs();
        (refusal.status, format!("custom {id} {wait}")).into_response()
    };
    let refusals = RefusalForm::Custom(Arc::new(custom));
    let custom = EdgeRoute { body: BodyHandling::LeaveUnread, refusals, ..EdgeRoute::default() };
    let mounted = MountedRoutes::new(router)
        .declare("/service/{id}", EdgeRoute::of_service(service))
        .declare_prefix("/cust", custom);
    let counted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&counted);
    let config = EdgeConfig {
        authenticator: Arc::clone(pipeline.authenticator()),
        limiter: RateLimiter::new(rate, 4),
        hosts: AllowedHosts::Any,
        trusted_proxies: TrustedProxies::parse(&["10.9.0.0/16".to_owned()]).unwrap(),
        cors_origins: vec![HeaderValue::from_static("https://app.example")],
        own_origin: Some(HeaderValue::from_static("https://stoa.example")),
        memory: RequestMemory::new(1 << 20, 1 << 20, Duration::from_secs(1)),
        body: BodyLimits { bytes_max, timeout: Duration::from_secs(1) },
        meter: Box::new(|_, _, _, _| {}),
        on_rate_limited: Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }),
    };
    (with_edge(mounted, config), counted)
}

async fn ask(edge: &Router, path: &str, body: Body) -> (u16, HeaderMap, String) {
    send(edge, "10.0.0.1", http::Request::post(path).body(body).unwrap()).await
}

async fn send(edge: &Router, peer: &str, mut request: Request) -> (u16, HeaderMap, String) {
    request.headers_mut().insert(REQUEST_ID, HeaderValue::from_static("r-1"));
    let peer = SocketAddr::new(peer.parse().unwrap(), 9);
    request.extensions_mut().insert(ConnectInfo(peer));
    let response = edge.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap();
    (parts.status.as_u16(), parts.headers, String::from_utf8(bytes.to_vec()).unwrap())
}

/// A body that never arrives.
fn endless() -> Body {
    Body::from_stream(futures_util::stream::pending::<Result<bytes::Bytes, std::io::Error>>())
}

#[tokio::test]
async fn a_client_over_its_rate_is_refused_before_its_body_is_read() {
    let (edge, counted) = edge();
    assert_eq!(ask(&edge, "/plain", Body::from("1234")).await.0, 200);
    for (path, expected) in [
        ("/plain", r#""type":"RATE_LIMITED""#),
        ("/service/1", r#""code":"rate_limited""#),
        ("/custom", "custom r-1 "),
        ("/nowhere", r#""type":"RATE_LIMITED""#),
    ] {
        let (status, headers, body) = ask(&edge, path, endless()).await;
        assert_eq!(status, 429, "{path}: {body}");
        assert!(body.contains(expected), "{path}: {body}");
        assert!(headers.contains_key("ratelimit"), "{path}");
        if path != "/custom" {
            assert!(headers.contains_key("retry-after"), "{path}");
            assert!(serde_json::from_str::<Value>(&body).is_ok(), "{path}: {body}");
        }
    }
    assert_eq!(counted.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_route_that_leaves_its_body_unread_reads_it_itself() {
    let (edge, _) = edge();
    let (status, _, body) = ask(&edge, "/custom", Body::from("123456789")).await;
    assert_eq!((status, body.as_str()), (200, "123456789"));
    let (edge, _) = self::edge();
    assert_eq!(ask(&edge, "/plain", Body::from("12345")).await.0, 413);
}

const NO_RATE: RateLimit = RateLimit { burst: 0, per_second: 0.0 };

#[tokio::test]
async fn a_large_body_is_not_read_before_its_credential_is_verified() {
    let (edge, _) = edge_with(true, NO_RATE, 4 << 20);
    let large = || Body::from(vec![b' '; SMALL_BODY_BYTES + 1]);
    for path in ["/plain", "/service/1", "/nowhere"] {
        let (status, headers, body) = ask(&edge, path, large()).await;
        assert_eq!(status, 401, "{path}: {body}");
        assert!(headers.contains_key("www-authenticate"), "{path}");
        assert!(body.contains("65536 bytes needs a valid token"), "{path}: {body}");
        // The length is known before a byte has come.
        let announced = http::Request::post(path).header("content-length", "70000");
        let (status, ..) = send(&edge, "10.0.0.1", announced.body(endless()).unwrap()).await;
        assert_eq!(status, 401, "{path}");
    }
    assert_eq!(ask(&edge, "/plain", Body::from(vec![b' '; SMALL_BODY_BYTES])).await.0, 200);
    let known = http::Request::post("/service/1").header(AUTHORIZATION, "Bearer good");
    assert_eq!(send(&edge, "10.0.0.1", known.body(large()).unwrap()).await.0, 200);
}

#[tokio::test]
async fn a_refused_token_is_named_in_the_challenge() {
    let (edge, _) = edge_with(true, NO_RATE, 4 << 20);
    let ask = |token: Option<&str>| {
        let mut request = http::Request::post("/plain").header("content-length", "70000");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        request.body(endless()).unwrap()
    };
    for (token, expected) in
        [(None, r#"Bearer realm="stoa""#), (Some("bad"), r#"error="invalid_token""#)]
    {
        let (status, headers, _) = send(&edge, "10.0.0.1", ask(token)).await;
        let challenge = headers["www-authenticate"].to_str().unwrap();
        assert_eq!(status, 401);
        assert!(challenge.ends_with(expected), "{token:?}: {challenge}");
    }
}

#[tokio::test]
async fn bodies_beyond_the_budget_and_json_of_many_values_are_refused() {
    let (edge, _) = edge_with(false, NO_RATE, 4 << 20);
    let (status, headers, body) = ask(&edge, "/plain", Body::from(vec![b' '; 1 << 20])).await;
    assert_eq!((status, &headers["retry-after"]), (503, &HeaderValue::from_static("1")), "{body}");
    let zeros = format!("[{}0]", "0,".repeat(40_000));
    let (status, _, body) = ask(&edge, "/service/1", Body::from(zeros)).await;
    assert_eq!(status, 413, "{body}");
    assert!(body.contains("more than 2182 values and keys"), "{body}");
}

#[tokio::test]
async fn a_page_of_another_site_changes_nothing() {
    let (edge, _) = edge_with(false, NO_RATE, 4 << 20);
    for (origin, expected) in [
        (None, 200),
        (Some("https://app.example"), 200),
        (Some("https://stoa.example"), 200),
        (Some("http://here.example:8080"), 200),
        (Some("http://evil.example"), 403),
        (Some("http://localhost:3000"), 403),
        (Some("null"), 403),
    ] {
        for path in ["/plain", "/service/1", "/custom"] {
            let mut request = http::Request::post(path).header("host", "here.example:8080");
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            let request = request.body(Body::empty()).unwrap();
            let (status, _, body) = send(&edge, "10.0.0.1", request).await;
            assert_eq!(status, expected, "{origin:?} {path}: {body}");
        }
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_rate_is_that_of_the_forwarded_client() {
    let (edge, _) = edge();
    let from = |peer: &'static str, client: &'static str| {
        let request = http::Request::post("/plain").header("x-forwarded-for", client);
        send(&edge, peer, request.body(Body::empty()).unwrap())
    };
    assert_eq!(from("10.9.0.1", "203.0.113.1").await.0, 200);
    assert_eq!(from("10.9.0.1", "203.0.113.2").await.0, 200);
    assert_eq!(from("10.9.0.2", "1.2.3.4, 203.0.113.1").await.0, 429);
    assert_eq!(from("10.0.0.1", "203.0.113.3").await.0, 200);
    assert_eq!(from("10.0.0.1", "203.0.113.4").await.0, 429, "an untrusted peer is not believed");
}
