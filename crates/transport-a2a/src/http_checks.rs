//! The HTTP checks of both bindings: the protocol version and the body type.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::card::PROTOCOL_VERSION;
use crate::error::{A2aError, ErrorReason};

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
pub(crate) const PROTOCOL_JSON: &str = "application/a2a+json";

/// A request without a version is 0.3, which is not supported.
pub(crate) fn check_version(headers: &HeaderMap, query: Option<&str>) -> Result<(), A2aError> {
    let header = headers.get(VERSION).and_then(|value| value.to_str().ok());
    let header = header.map(str::trim).filter(|text| !text.is_empty());
    let parameter = || {
        let pairs = query.unwrap_or_default().split('&');
        pairs.filter_map(|pair| pair.split_once('=')).find_map(|(name, value)| {
            (name.eq_ignore_ascii_case("a2a-version") && !value.is_empty()).then_some(value)
        })
    };
    let params = header.or_else(parameter).unwrap_or("0.3");
    // A patch version does not change the protocol.
    let patched = params.strip_prefix(PROTOCOL_VERSION).is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('.').is_some_and(|it| it.parse::<u32>().is_ok())
    });
    if patched {
        return Ok(());
    }
    let shown: String = params.chars().take(16).collect();
    let message = format!(
        "version {shown} of the protocol is not spoken here; send A2A-Version: {PROTOCOL_VERSION}"
    );
    Err(A2aError::new(ErrorReason::VersionNotSupported, message))
}

/// Accepts `application/json` and the protocol's own media type.
pub(crate) fn check_body_type(headers: &HeaderMap) -> Result<(), A2aError> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if is(kind, "application/json") || is(kind, PROTOCOL_JSON) {
        return Ok(());
    }
    let message = "the body must be application/json";
    Err(A2aError::new(ErrorReason::BodyTypeNotSupported, message))
}

fn is(kind: &str, name: &str) -> bool {
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(name)
}

/// The protocol's own media type where the client uses it, else `application/json`.
pub(crate) fn response_type(headers: &HeaderMap) -> HeaderValue {
    let named = |name: HeaderName| {
        let text = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        text.split(',').any(|kind| is(kind, PROTOCOL_JSON))
    };
    match named(ACCEPT) || named(CONTENT_TYPE) {
        true => HeaderValue::from_static(PROTOCOL_JSON),
        false => HeaderValue::from_static("application/json"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: Option<&str>, query: Option<&str>, spoken: bool) {
        let mut headers = HeaderMap::new();
        if let Some(text) = header {
            headers.insert(VERSION, text.parse().unwrap());
        }
        assert_eq!(check_version(&headers, query).is_ok(), spoken, "{header:?} {query:?}");
    }

    #[test]
    fn one_protocol_version_is_supported_and_a_missing_one_means_an_older_one() {
        check(Some("1.0"), None, true);
        check(Some(" 1.0 "), None, true);
        check(Some("1.0.1"), None, true);
        check(None, Some("pageSize=1&A2A-Version=1.0"), true);
        check(Some(""), Some("a2a-version=1.0"), true);
        for wrong in ["0.3", "1.1", "1", "1.0x", "1.0.", "99.0"] {
            check(Some(wrong), None, false);
        }
        check(Some(""), None, false);
        check(None, None, false);
        check(None, Some("A2A-Version="), false);
    }
}
