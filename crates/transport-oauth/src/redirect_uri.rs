//! Checks the redirect URIs that a client may register. A request's redirect URI is later compared
//! with them as text, so a dangerous one must be refused here.

use http::Uri;

/// The longest redirect URI, in bytes.
const BYTES_MAX: usize = 2_048;
/// Schemes that a browser runs, shows or hands to another program by itself.
const REFUSED_SCHEMES: [&str; 12] = [
    "about",
    "blob",
    "data",
    "file",
    "filesystem",
    "ftp",
    "javascript",
    "mailto",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Where a redirect URI leads, which the consent page shows and its content policy allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A web server: its scheme and authority.
    Site(String),
    /// A program on the user's machine that listens on loopback.
    Loopback,
    /// A program that the user's machine opens by this scheme.
    Scheme(String),
}

/// Where the URI leads; `None` if it may not be registered: https, http on loopback, or a scheme of
/// a program, without a fragment and without a user.
pub(crate) fn destination(uri: &str) -> Option<Destination> {
    let is_plain = uri.bytes().all(|b| b.is_ascii_graphic() && !b"\"'<>\\`{}|^".contains(&b));
    if uri.len() > BYTES_MAX || !is_plain || uri.contains('#') {
        return None;
    }
    let (scheme, rest) = uri.split_once(':')?;
    match scheme {
        "https" | "http" => {
            // `https:` alone would be read as a host of that name.
            let parsed: Uri = uri.parse().ok().filter(|_| rest.starts_with("//"))?;
            let authority = parsed.authority()?;
            if authority.as_str().contains('@') || authority.host().is_empty() {
                return None;
            }
            match (scheme, transport_http::is_loopback(authority.host())) {
                ("http", true) => Some(Destination::Loopback),
                ("https", _) => Some(Destination::Site(format!("https://{authority}"))),
                _ => None,
            }
        }
        _ => {
            let is_scheme = scheme.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
                && scheme.len() <= 64
                && scheme
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+.-".contains(&b));
            let allowed = is_scheme && !REFUSED_SCHEMES.contains(&scheme) && !rest.is_empty();
            allowed.then(|| Destination::Scheme(scheme.to_owned()))
        }
    }
}

/// Whether both are loopback addresses that differ in their port at most.
pub(crate) fn is_same_loopback(known: &str, asked: &str) -> bool {
    let without_port = |uri: &str| {
        let parsed: Uri = uri.parse().ok()?;
        let host = parsed.host().map(str::to_owned)?;
        // The rest is compared as it was written.
        let (_, rest) =
            uri.strip_prefix("http://")?.split_at_checked(parsed.authority()?.as_str().len())?;
        Some((host, rest.to_owned()))
    };
    let are_loopback =
        [known, asked].iter().all(|uri| destination(uri) == Some(Destination::Loopback));
    are_loopback && without_port(known).is_some_and(|it| Some(it) == without_port(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_loopback(known: &str, asked: &str, same: bool) {
        assert_eq!(is_same_loopback(known, asked), same, "{known} {asked}");
    }

    #[test]
    fn only_the_port_of_a_loopback_address_may_differ() {
        check_loopback("http://127.0.0.1/cb", "http://127.0.0.1:33418/cb", true);
        check_loopback("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true);
        check_loopback("http://localhost/cb?x=1", "http://localhost:9/cb?x=1", true);
        check_loopback("http://[::1]/cb", "http://[::1]:9/cb", true);
        check_loopback("http://localhost/cb", "http://127.0.0.1:9/cb", false);
        check_loopback("http://127.0.0.1/cb", "http://127.0.0.1:9/other", false);
        check_loopback("http://127.0.0.1/cb", "http://127.0.0.1:9/cb/", false);
        check_loopback("http://127.0.0.1/cb", "http://127.0.0.1:9/cb?x=1", false);
        check_loopback("https://127.0.0.1/cb", "https://127.0.0.1:9/cb", false);
        check_loopback("https://a.example/cb", "https://a.example:9/cb", false);
        check_loopback("http://127.0.0.1/cb", "http://user@127.0.0.1:9/cb", false);
    }

    #[track_caller]
    fn check(uri: &str, expected: Option<Destination>) {
        assert_eq!(destination(uri), expected, "{uri}");
    }

    #[test]
    fn only_safe_addresses_are_registered() {
        let site = |text: &str| Some(Destination::Site(text.to_owned()));
        let scheme = |text: &str| Some(Destination::Scheme(text.to_owned()));
        check("https://claude.ai/api/mcp/auth_callback", site("https://claude.ai"));
        check("https://a.example:8443/cb?x=1", site("https://a.example:8443"));
        check("http://127.0.0.1:33418/callback", Some(Destination::Loopback));
        check("http://localhost/cb", Some(Destination::Loopback));
        check("http://[::1]:9/cb", Some(Destination::Loopback));
        check("cursor://anysphere.cursor/callback", scheme("cursor"));
        check("com.example.app:/cb", scheme("com.example.app"));
        for refused in [
            "",
            "/cb",
            "https:",
            "https://",
            "http://a.example/cb",
            "https://a.example/#x",
            "https://user@a.example/",
            "https://127.0.0.1@a.example/",
            "http://localhost.a.example/",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "JavaScript:alert(1)",
            "https://a.example/\"onload",
            "https://a.example/ x",
            "vbscript:x",
            "cursor:",
        ] {
            check(refused, None);
        }
        check(&format!("https://a.example/{}", "x".repeat(2_048)), None);
    }
}
