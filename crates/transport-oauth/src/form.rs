//! Parameters of a query or of a form. One that comes twice is refused, because two parties could
//! read different ones of them.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::error::OAuthError;

/// The most parameters of one request; the protocol has 20 at most.
const PARAMETERS_MAX: usize = 64;
/// The most bytes of one value. A redirect URI has 2,048 and a token 5,500.
const VALUE_BYTES_MAX: usize = 8 * 1024;

/// What stays as it is in a query: the unreserved characters of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parameters of one request.
#[derive(Debug, Default)]
pub(crate) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    pub(crate) fn parse(text: &str) -> Result<Self, OAuthError> {
        let mut found = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode(name)?, decode(value)?);
            if value.len() > VALUE_BYTES_MAX || found.len() >= PARAMETERS_MAX {
                return Err(OAuthError::invalid_request("the request is too long"));
            }
            // An empty value counts as none, as OAuth 2.1 has it.
            if !value.is_empty() && found.insert(name, value).is_some() {
                return Err(OAuthError::invalid_request("a parameter comes twice"));
            }
        }
        Ok(Self(found))
    }

    fn of_form(headers: &HeaderMap, body: &[u8]) -> Result<Self, OAuthError> {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let message = "the body must be of the type application/x-www-form-urlencoded";
            return Err(OAuthError::invalid_request(message));
        }
        let not_text = || OAuthError::invalid_request("the body is not text");
        Self::parse(std::str::from_utf8(body).map_err(|_| not_text())?)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn require(&self, name: &str) -> Result<&str, OAuthError> {
        self.get(name)
            .ok_or_else(|| OAuthError::invalid_request(format!("the parameter {name} is missing")))
    }
}

/// The form in the body of a request.
pub(crate) struct Form(pub(crate) Parameters);

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let headers = request.headers().clone();
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|rejection| rejection.into_response())?;
        Parameters::of_form(&headers, &body).map(Self).map_err(|error| error.response())
    }
}

fn decode(text: &str) -> Result<String, OAuthError> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8();
    let decoded = decoded.map_err(|_| OAuthError::invalid_request("a parameter is not text"))?;
    Ok(decoded.into_owned())
}

/// A URI with more parameters in its query.
pub(crate) fn with_query(uri: &str, parameters: &[(&str, &str)]) -> String {
    let mut text = uri.to_owned();
    for (name, value) in parameters {
        text.push(if text.contains('?') { '&' } else { '?' });
        text.extend([*name, "="]);
        text.extend(utf8_percent_encode(value, QUERY));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&[(&str, &str)]>) {
        let found = Parameters::parse(text).ok();
        let found = found.as_ref().map(|it| {
            it.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), expected, "{text:?}");
    }

    #[test]
    fn parameters_are_decoded_and_come_once() {
        check("", Some(&[]));
        check("a=1&b=x%20y+z&", Some(&[("a", "1"), ("b", "x y z")]));
        check("a=&b", Some(&[]));
        check("a=1&a=1", None);
        check("a=%ff", None);
        check(&format!("a={}", "x".repeat(8_193)), None);
    }

    #[test]
    fn a_query_is_added_to_a_uri() {
        let added = [("code", "a/b"), ("state", "x&y=ü")];
        assert_eq!(
            with_query("https://a/cb", &added),
            "https://a/cb?code=a%2Fb&state=x%26y%3D%C3%BC"
        );
        assert_eq!(with_query("https://a/cb?x=1", &[("e", "1")]), "https://a/cb?x=1&e=1");
    }
}
