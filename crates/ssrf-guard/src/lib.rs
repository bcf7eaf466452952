//! SSRF guard: decides which URLs that users name the server may request. Only public addresses are
//! allowed. Host names are checked when they are resolved, so that the address that was checked is the
//! one that the client connects to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The longest URL that is accepted.
const URL_CHARS_MAX: usize = 2_048;

/// `None` if the server may request this URL; otherwise what is expected instead. `allow_private` allows
/// this machine and private networks.
pub fn address_problem(text: &str, allow_private: bool) -> Option<&'static str> {
    if text.len() > URL_CHARS_MAX {
        return Some("a shorter address");
    }
    match Url::parse(text) {
        Ok(url) => url_problem(&url, allow_private),
        Err(_) => Some("an absolute http or https address"),
    }
}

/// Like [`address_problem`], for a parsed URL.
pub fn url_problem(url: &Url, allow_private: bool) -> Option<&'static str> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Some("an absolute http or https address");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("an address without credentials in it");
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
    let literal: Option<IpAddr> = host.parse().ok();
    let local = host.eq_ignore_ascii_case("localhost") || host.ends_with(".localhost");
    let is_private = local || literal.is_some_and(|it| !is_public(it));
    (is_private && !allow_private).then_some("a public address")
}

/// A DNS resolver that returns public addresses only.
pub struct PublicOnlyResolver;

impl Resolve for PublicOnlyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|at| is_public(at.ip())).collect();
            if public.is_empty() {
                return Err("the name has no public address".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let reserved = address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation();
    // Carrier-grade NAT, protocol assignments, benchmarks and unassigned space.
    let shared = (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (18..20).contains(&b));
    !(reserved || shared || a == 0 || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, _, _, _, _, g, h] = address.segments();
    // IPv4-mapped and NAT64 (64:ff9b::/96) addresses are checked as the IPv4 address they contain.
    // The rest of 64:ff9b::/32, with 64:ff9b:1::/48 for a network's own NAT64, is not public.
    let ([p, q], [r, s]) = (g.to_be_bytes(), h.to_be_bytes());
    let is_nat64 = address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    if address.to_ipv4_mapped().is_some() || is_nat64 {
        return is_public_v4(Ipv4Addr::new(p, q, r, s));
    }
    // Only 2000::/3 is assigned; 2001:db8::/32 is documentation, 2002::/16 (6to4) and 2001::/32 (Teredo)
    // contain IPv4 addresses.
    (a & 0xe000) == 0x2000 && (a, b) != (0x2001, 0xdb8) && (a, b) != (0x2001, 0) && a != 0x2002
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, accepted_by_default: bool, accepted_with_private: bool) {
        let accepted =
            (address_problem(url, false).is_none(), address_problem(url, true).is_none());
        assert_eq!(accepted, (accepted_by_default, accepted_with_private), "{url}");
    }

    #[test]
    fn only_public_addresses_are_allowed() {
        check("https://shop.example/p/1", true, true);
        check("http://93.184.216.34:8080/", true, true);
        check("https://[2606:2800:220:1::1]/", true, true);
        check("https://[64:ff9b::808:808]/", true, true);
        for private in [
            "http://127.0.0.1/",
            "http://localhost:1/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[64:ff9b:1:7f00:0:100:808:808]/",
            "http://[64:ff9b:1::808:808]/",
            "http://[64:ff9b:0:1::808:808]/",
            "http://[2001:0:7f00:1::]/",
            "http://[fd00::1]/",
            "http://[fe80::1]/",
        ] {
            check(private, false, true);
        }
        let long = format!("http://a.example/{}", "x".repeat(URL_CHARS_MAX));
        for wrong in
            ["ftp://a.example/", "a.example", "", "https://u:p@a.example/", "file:///etc", &long]
        {
            check(wrong, false, false);
        }
    }
}
