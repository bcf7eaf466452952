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
    /// Whether every host that the request names is allowed: that of the `Host` header and that of
    /// the target. A header that cannot be read, is repeated or has a user before the host is not.
    pub(crate) fn allows(&self, headers: &HeaderMap, target: Option<&Authority>) -> bool {
        let Self::Only(names) = self else { return true };
        let mut hosts = headers.get_all(HOST).iter();
        let (named, more) = (hosts.next(), hosts.next());
        if more.is_some() || (named.is_none() && target.is_none()) {
            return false;
        }
        let named = named.map(|value| value.to_str().ok()?.parse::<Authority>().ok());
        let is_allowed = |authority: &Authority| {
            let host = authority.host();
            !authority.as_str().contains('@')
                && (is_loopback(host) || names.iter().any(|name| name.eq_ignore_ascii_case(host)))
        };
        named.is_none_or(|named| named.as_ref().is_some_and(is_allowed))
            && target.is_none_or(is_allowed)
    }
}

/// Whether a host name is a loopback name or address.
pub fn is_loopback(host: &str) -> bool {
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
        for host in [
            "evil.example",
            "10.0.0.1:8080",
            "localhost.evil.example",
            "",
            "user@127.0.0.1",
            "evil.example@localhost:8080",
            "a b",
            "localhost, evil.example",
        ] {
            check(host, false);
        }
        assert!(!AllowedHosts::Only(Vec::new()).allows(&HeaderMap::new(), None));
        assert!(AllowedHosts::Any.allows(&HeaderMap::new(), None));
    }

    #[test]
    fn every_host_that_a_request_names_must_be_allowed() {
        let target = |text: &str| text.parse::<Authority>().unwrap();
        let check = |named: &[&[u8]], of_target: Option<&str>, allowed: bool| {
            let mut headers = HeaderMap::new();
            for name in named {
                headers.append(HOST, http::HeaderValue::from_bytes(name).unwrap());
            }
            let hosts = AllowedHosts::Only(Vec::new());
            let target = of_target.map(target);
            assert_eq!(hosts.allows(&headers, target.as_ref()), allowed, "{named:?} {of_target:?}");
        };
        check(&[], Some("localhost:1"), true);
        check(&[b"localhost:1"], Some("localhost:1"), true);
        check(&[b"localhost:1"], Some("evil.example"), false);
        check(&[b"evil.example"], Some("localhost:1"), false);
        check(&[b"\xff\xfe"], Some("localhost:1"), false);
        check(&[b"a b"], Some("localhost:1"), false);
        check(&[b"localhost", b"localhost"], None, false);
        check(&[b"localhost", b"evil.example"], None, false);
    }
}
