//! The edge refuses a client over its rate before it reads the body, in the form of the route.

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
    let (pipeline, _) = pipeline(false);
    let service = Arc::clone(&pipeline.catalog().services()[0].name);
    let router = Router::new()
        .route("/plain", post(|| async { "plain" }))
        .route("/service/{id}", post(|| async { "service" }))
        .route("/custom", post(|body: Body| async { to_bytes(body, 9).await.unwrap() }));
    let custom = |wait: Duration, id: &str| {
        (StatusCode::TOO_MANY_REQUESTS, format!("custom {id} {}", wait.as_secs())).into_response()
    };
    let rate_limited = RateLimitRefusal::Custom(Arc::new(custom));
    let mounted = MountedRoutes::new(router)
        .declare("/service/{id}", EdgeRoute::of_service(&service))
        .declare_prefix("/cust", EdgeRoute { body: BodyHandling::LeaveUnread, rate_limited });
    let counted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&counted);
    let config = EdgeConfig {
        pipeline,
        limiter: RateLimiter::new(RateLimit { burst: 1, per_second: 0.01 }, 4),
        hosts: AllowedHosts::Any,
        cors_origins: Vec::new(),
        body: BodyLimits { bytes_max: 4, timeout: Duration::from_secs(1) },
        meter: Box::new(|_, _, _, _| {}),
        on_rate_limited: Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }),
    };
    (with_edge(mounted, config), counted)
}

async fn ask(edge: &Router, path: &str, body: Body) -> (u16, HeaderMap, String) {
    let mut request = http::Request::post(path).header(REQUEST_ID, "r-1").body(body).unwrap();
    let peer: SocketAddr = "10.0.0.1:9".parse().unwrap();
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
