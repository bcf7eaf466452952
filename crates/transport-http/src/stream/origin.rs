//! Checks the `Origin` of a WebSocket upgrade: browsers send no CORS preflight for it, so any page
//! could try.

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
    let Some(origin) = headers.get(ORIGIN) else { return true };
    if listed.iter().any(|it| it == "*" || it == origin) {
        return true;
    }
    let page = origin.to_str().ok().and_then(|text| text.parse::<Uri>().ok());
    let Some(page) = page.filter(|page| page.scheme().is_some()) else { return false };
    let Some(from) = page.authority() else { return false };
    if hosts::is_loopback(from.host()) {
        return true;
    }
    let named = headers.get(HOST).and_then(|value| value.to_str().ok()?.parse::<Authority>().ok());
    let Some(to) = named.as_ref().or(target) else { return false };
    // Some clients write the default port and some leave it out.
    let port =
        |authority: &Authority| authority.port_u16().filter(|port| *port != 80 && *port != 443);
    from.host().eq_ignore_ascii_case(to.host()) && port(from) == port(to)
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
}
