//! Which pages may open a WebSocket. A browser lets any page try, with no question asked
//! beforehand, so the server has to look where the page came from.

use http::header::{HOST, ORIGIN};
use http::uri::{Authority, Uri};
use http::{HeaderMap, HeaderValue};

use crate::hosts;

/// Programs that are no browser send no origin. A page may come from this very host, from this
/// machine, or from an origin that is allowed by name.
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
    // A port that goes without saying is left out by some and not by others.
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
    fn this_host_this_machine_and_the_listed() {
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
    fn everybody_else_is_refused() {
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
    fn a_program_that_is_no_browser_has_no_origin() {
        assert!(allowed(&HeaderMap::new(), None, &[]));
    }
}
