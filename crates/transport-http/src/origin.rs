//! Checks the `Origin` of requests that a browser sends without a CORS preflight: WebSocket upgrades,
//! and simple requests that change or cost something.

use http::header::{HOST, ORIGIN};
use http::uri::{Authority, Uri};
use http::{HeaderMap, HeaderValue};

use crate::hosts;

/// Allows a request without an origin (not a browser), a page of this host, of a loopback host, or of
/// a listed origin.
pub(crate) fn allowed(
    headers: &HeaderMap,
    target: Option<&Authority>,
    listed: &[HeaderValue],
) -> bool {
    let is_loopback =
        |origin: &HeaderValue| page_of(origin).is_some_and(|page| hosts::is_loopback(page.host()));
    own_or_listed(headers, target, listed) || headers.get(ORIGIN).is_some_and(is_loopback)
}

/// Allows a request without an origin (not a browser), a page of this host, or of a listed origin.
pub(crate) fn own_or_listed(
    headers: &HeaderMap,
    target: Option<&Authority>,
    listed: &[HeaderValue],
) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    if listed.iter().any(|it| it == "*" || it == origin) {
        return true;
    }
    let Some(from) = page_of(origin) else { return false };
    let named = headers.get(HOST).and_then(|value| value.to_str().ok()?.parse::<Authority>().ok());
    let Some(to) = named.as_ref().or(target) else { return false };
    // Some clients write the default port and some leave it out.
    let port =
        |authority: &Authority| authority.port_u16().filter(|port| *port != 80 && *port != 443);
    from.host().eq_ignore_ascii_case(to.host()) && port(&from) == port(to)
}

/// The host and port of a page's origin.
fn page_of(origin: &HeaderValue) -> Option<Authority> {
    let page = origin.to_str().ok()?.parse::<Uri>().ok()?;
    page.scheme()?;
    page.authority().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: &str, listed: &[&'static str], expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("stoa.example:8443"));
        headers.insert(ORIGIN, origin.parse().unwrap());
        let listed: Vec<_> = listed.iter().map(|it| HeaderValue::from_static(it)).collect();
        assert_eq!(allowed(&headers, None, &listed), expected, "{origin}");
    }

    #[test]
    fn this_host_loopback_and_listed_origins_are_allowed() {
        for origin in ["https://stoa.example:8443", "https://STOA.example:8443"] {
            check(origin, &[], true);
        }
        for origin in ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:3000"] {
            check(origin, &[], true);
        }
        check("https://app.example", &["https://app.example"], true);
        check("https://anybody.example", &["*"], true);
        check("null", &["*"], true);
    }

    #[test]
    fn other_origins_are_refused() {
        for origin in [
            "https://evil.example",
            "https://stoa.example",
            "https://stoa.example.evil.example:8443",
            "https://localhost.evil.example",
            "http://app.example",
            "stoa.example:8443",
            "null",
            "",
        ] {
            check(origin, &["https://app.example"], false);
        }
    }

    #[test]
    fn a_request_without_an_origin_is_allowed() {
        assert!(allowed(&HeaderMap::new(), None, &[]));
    }

    #[test]
    fn a_page_of_another_loopback_port_is_not_this_server() {
        for (origin, expected) in [
            ("http://localhost:8443", false),
            ("http://127.0.0.1:3000", false),
            ("http://stoa.example:8443", true),
            ("https://app.example", true),
            ("null", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("stoa.example:8443"));
            headers.insert(ORIGIN, origin.parse().unwrap());
            let listed = [HeaderValue::from_static("https://app.example")];
            assert_eq!(own_or_listed(&headers, None, &listed), expected, "{origin}");
        }
    }
}
