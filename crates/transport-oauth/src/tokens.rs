//! The token endpoint: exchanges a code, or a refresh token, for an access token and the next
//! refresh token.

use std::sync::Arc;
use std::time::Duration;

use archive_accounts::Session;
use auth::{MintRequest, ScopeSet, TokenLimits, inspect};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::endpoint::OAuthState;
use crate::error::OAuthError;
use crate::form::{Form, Parameters};
use crate::storage::ClientGrant;
use crate::{pkce, random};

/// How long an access token lasts.
const ACCESS_TOKEN_LIFETIME: Duration = Duration::from_secs(3_600);

pub(crate) async fn exchange(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
    Form(parameters): Form,
) -> Response {
    let tokens = match parameters.require("grant_type") {
        Ok("authorization_code") => exchange_code(&oauth, &parameters, &headers).await,
        Ok("refresh_token") => exchange_refresh_token(&oauth, &parameters, &headers).await,
        Ok(_) => Err(OAuthError::new(
            StatusCode::BAD_REQUEST,
            "unsupported_grant_type",
            "the grant_type must be authorization_code or refresh_token",
        )),
        Err(error) => Err(error),
    };
    match tokens {
        Ok(tokens) => ([(CACHE_CONTROL, "no-store")], Json(tokens)).into_response(),
        Err(error) => error.response(),
    }
}

async fn exchange_code(
    oauth: &OAuthState,
    parameters: &Parameters,
    headers: &HeaderMap,
) -> Result<Value, OAuthError> {
    let code_hash = random::hash(parameters.require("code")?);
    let client_id = parameters.require("client_id")?;
    let redirect_uri = parameters.require("redirect_uri")?;
    let verifier = parameters.require("code_verifier")?;
    let refused =
        || OAuthError::invalid_grant("the code is unknown, expired or for another request");
    let grant = oauth.storage.grant_of_code(&code_hash).await?.ok_or_else(refused)?;
    let is_of_request = grant.client_id == client_id
        && grant.redirect_uri == redirect_uri
        && pkce::verifier_matches(verifier, &grant.challenge);
    if !is_of_request {
        return Err(refused());
    }
    check_resource(oauth, parameters, headers, &grant)?;
    let now = oauth.clock.now();
    if !grant.code_used && grant.code_expires_at <= now {
        return Err(refused());
    }
    if grant.code_used || !oauth.storage.use_code(&code_hash, now).await? {
        // The party that sent the code first may have stolen it.
        oauth.end_grant(&grant.session_id).await?;
        let message = "the code was used before; the access that it gave has ended";
        return Err(OAuthError::invalid_grant(message));
    }
    let session = oauth.accounts.begin_for_client(&grant.session_id, client_id).await?;
    issue(oauth, &grant, &session, &ScopeSet::parse(&grant.scopes)?).await
}

async fn exchange_refresh_token(
    oauth: &OAuthState,
    parameters: &Parameters,
    headers: &HeaderMap,
) -> Result<Value, OAuthError> {
    let token = parameters.require("refresh_token")?;
    let client_id = parameters.require("client_id")?;
    let refused =
        || OAuthError::invalid_grant("the refresh token is unknown, or of another client");
    let session_id = oauth.accounts.session_of_refresh(token).await?.ok_or_else(refused)?;
    let grant = oauth.storage.grant(&session_id).await?.ok_or_else(refused)?;
    if grant.client_id != client_id {
        return Err(refused());
    }
    check_resource(oauth, parameters, headers, &grant)?;
    let granted = ScopeSet::parse(&grant.scopes)?;
    let scopes = match parameters.get("scope") {
        None => granted,
        Some(asked) => {
            let asked = ScopeSet::parse(&asked.replace(' ', ","))?;
            if !asked.is_subset(&granted) {
                return Err(OAuthError::invalid_scope("the user did not allow these scopes"));
            }
            asked
        }
    };
    let session = match oauth.accounts.refresh_for_client(token, client_id).await {
        Ok(session) => session,
        Err(fault) => {
            if matches!(fault.code(), "refresh_reused" | "session_ended") {
                oauth.end_grant(&session_id).await?;
            }
            return Err(fault.into());
        }
    };
    oauth.storage.touch_client(client_id, oauth.clock.now()).await?;
    issue(oauth, &grant, &session, &scopes).await
}

/// A token is only for the resource that the user allowed.
fn check_resource(
    oauth: &OAuthState,
    parameters: &Parameters,
    headers: &HeaderMap,
    grant: &ClientGrant,
) -> Result<(), OAuthError> {
    let Some(resource) = parameters.get("resource") else { return Ok(()) };
    match oauth.resources.service(Some(resource), headers)? == grant.service {
        true => Ok(()),
        false => Err(OAuthError::invalid_target()),
    }
}

/// Mints an access token and answers with it and with the session's refresh token.
async fn issue(
    oauth: &OAuthState,
    grant: &ClientGrant,
    session: &Session,
    scopes: &ScopeSet,
) -> Result<Value, OAuthError> {
    // The operator may have allowed fewer scopes since the user did.
    let scopes = scopes.intersect(&oauth.scopes);
    let service = grant.service.as_ref().map(|service| vec![service.to_string()]);
    let request = MintRequest {
        subject: session.subject(),
        scopes: scopes.clone(),
        ttl: ACCESS_TOKEN_LIFETIME,
        limits: TokenLimits { service, ..TokenLimits::default() },
    };
    let token = oauth.authority.mint(&request, oauth.clock.now().0 / 1000)?;
    let inspected = inspect(token.reveal())?;
    let access = (inspected.revocation_id, inspected.expires_at);
    oauth.storage.extend_grant(&grant.session_id, access, session.refresh_expires).await?;
    Ok(json!({
        "access_token": token.reveal(),
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_LIFETIME.as_secs(),
        "refresh_token": session.refresh.reveal(),
        "scope": scopes.to_string().replace(',', " "),
    }))
}
