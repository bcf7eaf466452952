//! Reads a request's id and credential from its headers.

use std::sync::Arc;

use contract::{Credential, RequestMeta};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use telemetry::{RequestId, TraceContext};

/// The client's `X-Request-Id` if it is usable, else the id of its trace, else a fresh id.
pub(crate) fn request_id(headers: &HeaderMap) -> Arc<str> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let trace = text("traceparent").and_then(TraceContext::parse);
    Arc::from(RequestId::accept(text("x-request-id"), trace.as_ref()).as_str())
}

/// The bearer token, unverified; any other `Authorization` counts as none.
pub(crate) fn credential(headers: &HeaderMap) -> Credential {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = header.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    match token {
        Some(token) if !token.is_empty() => Credential::Bearer(Arc::from(token)),
        _ => Credential::None,
    }
}

/// What the headers of a request say about it.
pub fn request_meta(headers: &HeaderMap) -> RequestMeta {
    RequestMeta::new(request_id(headers), credential(headers))
}

/// A request id for a transport without headers.
pub fn fresh_request_id() -> Arc<str> {
    Arc::from(RequestId::accept(None, None).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn a_usable_request_id_is_kept_and_any_other_replaced() {
        assert_eq!(&*request_id(&headers("x-request-id", "abc-1.2:3@x_y")), "abc-1.2:3@x_y");
        for bad in ["has space", "a\"b", &"x".repeat(129)] {
            assert_ne!(&*request_id(&headers("x-request-id", bad)), bad);
        }
    }

    #[test]
    fn only_a_bearer_token_is_a_credential() {
        assert!(matches!(credential(&headers("authorization", "bearer x")), Credential::Bearer(_)));
        for other in ["Basic dTpw", "Bearer", "Bearer  "] {
            assert!(matches!(credential(&headers("authorization", other)), Credential::None));
        }
    }
}
