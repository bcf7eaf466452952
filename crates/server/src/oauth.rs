//! OAuth in this server: its routes, and what its settings must be.

use std::sync::Arc;

use axum::Router;
use clock::SystemClock;
use transport_http::{AuthorizationChallenge, is_loopback};
use transport_oauth::{HttpsDocumentFetcher, OAuthOptions};

use crate::app::App;
use crate::config::Config;
use crate::exit::CommandError;

/// The routes of OAuth; `None` where it is off.
pub(crate) fn routes(app: &App, config: &Config) -> Result<Option<Router>, CommandError> {
    let Some(scopes) = config.oauth_scopes.clone() else { return Ok(None) };
    let services = app.pipeline.catalog().services().iter();
    Ok(Some(transport_oauth::router(OAuthOptions {
        db: app.db.clone(),
        clock: Arc::new(SystemClock),
        accounts: app.accounts.clone(),
        authority: Arc::clone(&app.authority),
        scopes,
        services: services.map(|service| Arc::clone(&service.name)).collect(),
        public_url: config.public_url.clone(),
        documents: Arc::new(HttpsDocumentFetcher::new()?),
    })))
}

/// How the MCP endpoints tell clients where to get a token; `None` where OAuth is off.
pub(crate) fn challenge(config: &Config) -> Option<AuthorizationChallenge> {
    config.oauth_scopes.as_ref()?;
    Some(AuthorizationChallenge { public_url: config.public_url.clone() })
}

/// Users type their passwords into a page of this server, so it must have an address that clients
/// can verify: https, or loopback.
pub(crate) fn check_address(
    public_url: Option<&str>,
    listens_on_loopback: bool,
) -> Result<(), CommandError> {
    let Some(url) = public_url else {
        return match listens_on_loopback {
            true => Ok(()),
            false => Err(CommandError::usage(
                "oauth needs public_url, the https address at which clients reach this server",
            )),
        };
    };
    let uri = url.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(|uri| uri.host());
    match (uri.as_ref().and_then(|uri| uri.scheme_str()), host) {
        (Some("https"), Some(_)) => Ok(()),
        (Some("http"), Some(host)) if is_loopback(host) => Ok(()),
        _ => Err(CommandError::usage(
            "oauth needs a public_url that begins with https://, because passwords are typed there",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(public_url: Option<&str>, on_loopback: bool, allowed: bool) {
        assert_eq!(check_address(public_url, on_loopback).is_ok(), allowed, "{public_url:?}");
    }

    #[test]
    fn passwords_are_typed_into_https_or_loopback_pages_only() {
        check(None, true, true);
        check(None, false, false);
        check(Some("https://stoa.example"), false, true);
        check(Some("http://stoa.example"), true, false);
        check(Some("http://127.0.0.1:8080"), false, true);
        check(Some("stoa.example"), true, false);
    }
}
