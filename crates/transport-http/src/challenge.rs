//! `WWW-Authenticate` of a server with OAuth: it names the metadata with which a client finds the
//! authorization server (RFC 9728).

use http::header::HOST;
use http::{HeaderMap, HeaderValue};

/// The path of the metadata of protected resources; the path of a resource follows it.
pub const PROTECTED_RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource";

/// Words the challenges of one server.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationChallenge {
    /// Scheme and authority for clients; taken from the request where it is not set.
    pub public_url: Option<String>,
}

impl AuthorizationChallenge {
    /// The challenge for a request to the resource at `path`: what is wrong with its credential, if
    /// it had one, and the scope it needs, if that is known.
    pub fn header(
        &self,
        headers: &HeaderMap,
        path: &str,
        error: Option<&str>,
        scope: Option<&str>,
    ) -> Option<HeaderValue> {
        let origin = public_origin(headers, self.public_url.as_deref());
        let path = path.trim_end_matches('/');
        let metadata = format!("{origin}{PROTECTED_RESOURCE_PATH}{path}");
        let mut text = format!("Bearer realm=\"stoa\", resource_metadata=\"{metadata}\"");
        for (name, value) in [("error", error), ("scope", scope)] {
            if let Some(value) = value {
                text.push_str(&format!(", {name}=\"{value}\""));
            }
        }
        HeaderValue::from_str(&text).ok()
    }
}

/// Scheme and authority under which a client reaches this server: `public_url` if it is set, else
/// what the request says. The edge has checked the host.
pub fn public_origin(headers: &HeaderMap, public_url: Option<&str>) -> String {
    if let Some(url) = public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST.as_str()).filter(|host| !host.contains('"')).unwrap_or("localhost");
    let secure = text("x-forwarded-proto").is_some_and(|it| it.eq_ignore_ascii_case("https"));
    format!("{}://{host}", if secure { "https" } else { "http" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(public_url: Option<&str>, path: &str, error: Option<&str>, expected: &str) {
        let challenge = AuthorizationChallenge { public_url: public_url.map(str::to_owned) };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("127.0.0.1:8080"));
        let scope = error.map(|_| "read");
        assert_eq!(challenge.header(&headers, path, error, scope).unwrap(), expected);
    }

    #[test]
    fn a_challenge_says_where_the_metadata_is() {
        let expected = "Bearer realm=\"stoa\", resource_metadata=\"https://stoa.example/.well-known/\
                        oauth-protected-resource/mcp\", error=\"invalid_token\", scope=\"read\"";
        check(Some("https://stoa.example/"), "/mcp/", Some("invalid_token"), expected);
        let expected = "Bearer realm=\"stoa\", resource_metadata=\"http://127.0.0.1:8080/.well-known/\
                        oauth-protected-resource/mcp/archive\"";
        check(None, "/mcp/archive", None, expected);
    }
}
