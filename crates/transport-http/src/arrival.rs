//! What is learnt about a request at the door: its id, its credential, whether it comes too often.

use std::sync::Arc;

use contract::{Credential, RequestMeta};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use telemetry::{RequestId, TraceContext};

/// The caller's own id where it sent a usable one, else its trace's, else a fresh one.
pub(crate) fn request_id(headers: &HeaderMap) -> Arc<str> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let trace = text("traceparent").and_then(TraceContext::parse);
    Arc::from(RequestId::accept(text("x-request-id"), trace.as_ref()).as_str())
}

/// A bearer token, if there is one. What is wrong with it is for the authenticator to say.
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

pub(crate) fn of(headers: &HeaderMap) -> RequestMeta {
    RequestMeta {
        request_id: request_id(headers),
        retry_after_rate: None,
        credential: credential(headers),
    }
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
    fn a_usable_id_is_kept_and_any_other_replaced() {
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
