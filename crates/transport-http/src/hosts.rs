//! Checks the `Host` header against DNS rebinding: a web page that points its own name at a loopback
//! address must not reach a server that trusts loopback.

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

#[derive(Debug, Clone)]
pub enum AllowedHosts {
    /// Any name; for servers that require a token.
    Any,
    /// Loopback names and the listed ones.
    Only(Vec<String>),
}

impl AllowedHosts {
    pub(crate) fn allows(&self, headers: &HeaderMap, target: Option<&Authority>) -> bool {
        let Self::Only(names) = self else { return true };
        let named = headers.get(HOST).and_then(|value| value.to_str().ok()?.parse().ok());
        let Some(authority) = named.as_ref().or(target) else { return false };
        let host = authority.host();
        is_loopback(host) || names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// Whether a host name is a loopback name or address.
pub(crate) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse().map_or_else(
        |_| host.eq_ignore_ascii_case("localhost"),
        |address: std::net::IpAddr| address.to_canonical().is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, allowed: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        let hosts = AllowedHosts::Only(vec!["stoa.example".to_owned()]);
        assert_eq!(hosts.allows(&headers, None), allowed, "{host}");
    }

    #[test]
    fn only_loopback_and_listed_hosts_are_allowed() {
        for host in ["localhost:8080", "127.0.0.1", "127.8.9.1:1", "[::1]:8080", "STOA.example:443"]
        {
            check(host, true);
        }
        for host in ["evil.example", "10.0.0.1:8080", "localhost.evil.example", ""] {
            check(host, false);
        }
        assert!(!AllowedHosts::Only(Vec::new()).allows(&HeaderMap::new(), None));
        assert!(AllowedHosts::Any.allows(&HeaderMap::new(), None));
    }
}
