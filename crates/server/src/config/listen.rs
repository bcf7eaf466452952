//! Parses the address to listen on, and decides what a port without an address means.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Variables that container platforms set in every container.
pub(super) const CONTAINER_VARIABLES: [&str; 4] =
    ["KUBERNETES_SERVICE_HOST", "K_SERVICE", "DYNO", "container"];
/// Files that container engines put into every container.
const CONTAINER_FILES: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];

/// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, an address without a port (which gets
/// `port`), and a port without an address, as `8080` or `:8080` (which gets `address_of_port`).
pub(crate) fn parse_listen(text: &str, port: u16, address_of_port: IpAddr) -> Option<SocketAddr> {
    let text = text.trim();
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some((address, port).into());
    }
    if text.eq_ignore_ascii_case("localhost") {
        return Some((LOOPBACK, port).into());
    }
    let (host, number) = text.rsplit_once(':').unwrap_or(("", text));
    let address = match host {
        "" => address_of_port,
        name if name.eq_ignore_ascii_case("localhost") => LOOPBACK,
        _ => return None,
    };
    // `parse` would also accept a sign.
    let digits = number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten().map(|port| (address, port).into())
}

/// The address of a port that is given alone: loopback, which needs no token. In a container only
/// the container itself reaches loopback, so a server there that has a token listens on every
/// address.
pub(super) fn address_of_a_port(in_container: bool, has_token: bool) -> IpAddr {
    match in_container && has_token {
        true => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        false => LOOPBACK,
    }
}

pub(super) fn has_container_file() -> bool {
    CONTAINER_FILES.iter().any(|file| Path::new(file).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = parse_listen(text, 8080, LOOPBACK);
        assert_eq!(found.map(|it| it.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn every_usual_spelling_of_an_address_is_accepted() {
        check("127.0.0.1:9202", Some("127.0.0.1:9202"));
        check("9202", Some("127.0.0.1:9202"));
        check(":9202", Some("127.0.0.1:9202"));
        check(" localhost:9202 ", Some("127.0.0.1:9202"));
        check("LOCALHOST", Some("127.0.0.1:8080"));
        check("0.0.0.0:0", Some("0.0.0.0:0"));
        check("0.0.0.0", Some("0.0.0.0:8080"));
        check("[::1]:9202", Some("[::1]:9202"));
        check("::1", Some("[::1]:8080"));
        check("[::]", Some("[::]:8080"));
        for wrong in ["", ":", "nowhere", "nowhere:80", "localhost:", ":70000", "+80", "-1", "1.2"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn a_port_alone_is_on_every_address_only_in_a_container_with_a_token() {
        for (in_container, has_token, expected) in [
            (false, false, "127.0.0.1"),
            (false, true, "127.0.0.1"),
            (true, false, "127.0.0.1"),
            (true, true, "0.0.0.0"),
        ] {
            assert_eq!(address_of_a_port(in_container, has_token).to_string(), expected);
        }
    }
}
