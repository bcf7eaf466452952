//! Which address is the client's, for many forms of the headers.

use super::*;

fn proxies(list: &[&str]) -> TrustedProxies {
    let list: Vec<String> = list.iter().map(|&text| text.to_owned()).collect();
    TrustedProxies::parse(&list).unwrap()
}

/// The client of a request from `peer`; each line is `name: value`.
#[track_caller]
fn check(peer: &str, lines: &[&str], expected: &str) {
    let trusted = proxies(&["127.0.0.1", "10.0.0.0/8", "2001:db8:aaaa::/48"]);
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let client = trusted.client(peer.parse().unwrap(), &headers);
    assert_eq!(client, expected.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
}

#[test]
fn an_untrusted_peer_is_its_own_client_whatever_it_says() {
    for line in ["x-forwarded-for: 1.2.3.4", "forwarded: for=1.2.3.4", "x-forwarded-for: 127.0.0.1"]
    {
        check("203.0.113.9", &[line], "203.0.113.9");
        check("2001:db8::9", &[line], "2001:db8::9");
        check("::ffff:203.0.113.9", &[line], "203.0.113.9");
    }
    check("127.0.0.1", &[], "127.0.0.1");
}

#[test]
fn the_right_most_untrusted_address_is_the_client() {
    for (value, expected) in [
        ("203.0.113.7", "203.0.113.7"),
        ("1.2.3.4, 203.0.113.7", "203.0.113.7"),
        ("127.0.0.1, 203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, 10.1.2.3", "203.0.113.7"),
        ("1.2.3.4,203.0.113.7 ,10.1.2.3, 10.9.9.9", "203.0.113.7"),
        ("203.0.113.7:51000", "203.0.113.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:443, 2001:db8:aaaa:1::2", "2001:db8::7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        (", ,203.0.113.7,, ", "203.0.113.7"),
        // Every hop is trusted: the client is the first of them.
        ("10.1.1.1, 10.2.2.2", "10.1.1.1"),
        // What cannot be read was written down by the hop after it.
        ("garbage", "127.0.0.1"),
        ("1.2.3.4, garbage", "127.0.0.1"),
        ("1.2.3.4, garbage, 10.1.2.3", "10.1.2.3"),
        ("203.0.113.256", "127.0.0.1"),
        ("203.0.113.7:99999", "127.0.0.1"),
        ("unknown, 10.1.2.3", "10.1.2.3"),
        ("_hidden", "127.0.0.1"),
        ("203.0.113.7 1.2.3.4", "127.0.0.1"),
        ("\"203.0.113.7\"", "127.0.0.1"),
        ("\u{44f}", "127.0.0.1"),
        ("", "127.0.0.1"),
        (" , ", "127.0.0.1"),
    ] {
        check("127.0.0.1", &[&format!("x-forwarded-for: {value}")], expected);
    }
    check("::ffff:127.0.0.1", &["x-forwarded-for: 203.0.113.7"], "203.0.113.7");
    check("2001:db8:aaaa::5", &["x-forwarded-for: 203.0.113.7"], "203.0.113.7");
}

#[test]
fn the_forwarded_header_is_read_by_rfc_7239() {
    for (value, expected) in [
        ("for=203.0.113.7", "203.0.113.7"),
        ("For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"),
        ("proto=https; for = 203.0.113.7", "203.0.113.7"),
        ("for=\"203.0.113.7:4711\"", "203.0.113.7"),
        ("for=\"[2001:db8::7]:4711\"", "2001:db8::7"),
        ("FOR=\"[2001:db8::7]\";host=\"a,b\"", "2001:db8::7"),
        ("for=1.2.3.4, for=203.0.113.7;host=\"x, for=9.9.9.9\"", "203.0.113.7"),
        ("for=203.0.113.7, for=10.1.2.3", "203.0.113.7"),
        ("for=1.2.3.4, for=unknown, for=10.1.2.3", "10.1.2.3"),
        ("for=1.2.3.4, for=_SEVKISEK", "127.0.0.1"),
        ("for=\"_gazonk:1\"", "127.0.0.1"),
        ("for=1.2.3.4;for=5.6.7.8", "127.0.0.1"),
        ("for=2001:db8::7", "127.0.0.1"),
        ("for=1.2.3.4, proto=https", "127.0.0.1"),
        ("for=\"203.0.113.7", "127.0.0.1"),
        ("for=", "127.0.0.1"),
        ("garbage", "127.0.0.1"),
    ] {
        check("127.0.0.1", &[&format!("forwarded: {value}")], expected);
    }
}

#[test]
fn several_lines_of_a_header_are_one_list() {
    check(
        "127.0.0.1",
        &["x-forwarded-for: 1.2.3.4", "x-forwarded-for: 203.0.113.7"],
        "203.0.113.7",
    );
    check(
        "127.0.0.1",
        &["x-forwarded-for: 203.0.113.7", "x-forwarded-for: 10.1.2.3", "x-forwarded-for: 10.4.5.6"],
        "203.0.113.7",
    );
    check("127.0.0.1", &["forwarded: for=1.2.3.4", "forwarded: for=203.0.113.7"], "203.0.113.7");
}

#[test]
fn two_headers_that_disagree_are_not_believed() {
    let same = ["x-forwarded-for: 203.0.113.7", "forwarded: for=203.0.113.7"];
    check("127.0.0.1", &same, "203.0.113.7");
    let spoofed = ["x-forwarded-for: 203.0.113.7", "forwarded: for=1.2.3.4"];
    check("127.0.0.1", &spoofed, "127.0.0.1");
}

#[test]
fn networks_are_read_and_anything_else_is_named() {
    for (network, inside, outside) in [
        ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
        ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
        ("0.0.0.0/0", "8.8.8.8", "::1"),
        ("::/0", "::1", "8.8.8.8"),
        ("fd00::/8", "fdff::1", "fe00::1"),
        ("2001:db8::1/128", "2001:db8::1", "2001:db8::2"),
    ] {
        let trusted = proxies(&[network]);
        assert!(trusted.contains(inside.parse().unwrap()), "{network} {inside}");
        assert!(!trusted.contains(outside.parse().unwrap()), "{network} {outside}");
    }
    for wrong in
        ["", "proxy.example", "10.0.0.0/33", "::/129", "10.0.0.0/x", "10.0.0", "::ffff:1.2.3.4"]
    {
        let list = ["127.0.0.1".to_owned(), wrong.to_owned()];
        assert_eq!(TrustedProxies::parse(&list), Err(wrong.to_owned()));
    }
}
