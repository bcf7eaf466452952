//! The revocation endpoint (RFC 7009). Revoking either token of a grant ends the grant. An unknown
//! token is no error, so a client cannot find out which tokens exist.

use std::sync::Arc;

use archive_accounts::session_of;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CACHE_CONTROL;

use crate::endpoint::OAuthState;
use crate::error::OAuthError;
use crate::form::{Form, Parameters};

pub(crate) async fn revoke(
    State(oauth): State<Arc<OAuthState>>,
    Form(parameters): Form,
) -> Response {
    match end_grant_of_token(&oauth, &parameters).await {
        Ok(()) => (StatusCode::OK, [(CACHE_CONTROL, "no-store")]).into_response(),
        Err(error) => error.response(),
    }
}

async fn end_grant_of_token(oauth: &OAuthState, parameters: &Parameters) -> Result<(), OAuthError> {
    let token = parameters.require("token")?;
    let client_id = parameters.require("client_id")?;
    let session_id = match oauth.accounts.session_of_refresh(token).await? {
        Some(session_id) => Some(session_id),
        None => session_of_access_token(oauth, token).await,
    };
    let Some(session_id) = session_id else { return Ok(()) };
    let grant = oauth.storage.grant(&session_id).await?;
    if grant.is_some_and(|grant| grant.client_id == client_id) {
        oauth.end_grant(&session_id).await?;
    }
    Ok(())
}

/// The session in the subject of a token that is valid here.
async fn session_of_access_token(oauth: &OAuthState, token: &str) -> Option<String> {
    let now = oauth.clock.now().0 / 1000;
    let grant = oauth.authority.verify(token, now).await.ok()?;
    let (_, session_id) = session_of(&grant.subject)?;
    Some(session_id.to_owned())
}
