//! Reads and checks an authorization request. A request whose client or redirect URI is wrong is
//! never redirected.

use std::sync::Arc;

use auth::ScopeSet;
use http::HeaderMap;
use limits::ClientAddress;

use crate::endpoint::OAuthState;
use crate::error::OAuthError;
use crate::form::{Parameters, with_query};
use crate::pkce;
use crate::redirect_uri::{Destination, destination};
use crate::storage::Client;

/// A request that the user may be asked about.
#[derive(Debug)]
pub(crate) struct AuthorizationRequest {
    pub(crate) client: Client,
    pub(crate) redirect_uri: String,
    pub(crate) destination: Destination,
    pub(crate) state: Option<String>,
    pub(crate) challenge: String,
    /// The scopes that the client asked for and the operator allows.
    pub(crate) scopes: ScopeSet,
    pub(crate) resource: Option<String>,
    pub(crate) service: Option<Arc<str>>,
    pub(crate) issuer: String,
}

/// A request that cannot be answered by a page that asks the user.
pub(crate) enum RefusedRequest {
    /// The user sees the error, because the address to redirect to cannot be trusted.
    Page(OAuthError),
    /// The client gets the error, at this address.
    Redirect(String),
}

impl AuthorizationRequest {
    pub(crate) async fn read(
        oauth: &OAuthState,
        parameters: &Parameters,
        headers: &HeaderMap,
        address: Option<ClientAddress>,
    ) -> Result<Self, RefusedRequest> {
        let page = RefusedRequest::Page;
        let client_id = parameters.require("client_id").map_err(page)?;
        let client = oauth.client(client_id, address).await.map_err(page)?;
        let uri = parameters.require("redirect_uri").map_err(page)?;
        let destination = destination(uri).filter(|_| client.allows_redirect(uri));
        let Some(destination) = destination else {
            let message = "the redirect_uri is not one that the client registered";
            return Err(RefusedRequest::Page(OAuthError::invalid_request(message)));
        };
        let state = parameters.get("state");
        let issuer = oauth.resources.issuer(headers);
        let checked = checked(oauth, parameters, headers);
        let (challenge, scopes, service) = checked.map_err(|error| {
            RefusedRequest::Redirect(error_address(uri, &error, state, &issuer))
        })?;
        Ok(Self {
            redirect_uri: uri.to_owned(),
            destination,
            state: state.map(str::to_owned),
            challenge,
            scopes,
            resource: parameters.get("resource").map(str::to_owned),
            service,
            issuer,
            client,
        })
    }

    /// The address that hands an error to the client.
    pub(crate) fn error_address(&self, error: &OAuthError) -> String {
        error_address(&self.redirect_uri, error, self.state.as_deref(), &self.issuer)
    }

    /// The address that hands the code to the client.
    pub(crate) fn code_address(&self, code: &str) -> String {
        let mut answer = vec![("code", code), ("iss", self.issuer.as_str())];
        answer.extend(self.state.as_deref().map(|state| ("state", state)));
        with_query(&self.redirect_uri, &answer)
    }
}

fn error_address(uri: &str, error: &OAuthError, state: Option<&str>, issuer: &str) -> String {
    let mut answer =
        vec![("error", error.code()), ("error_description", error.message()), ("iss", issuer)];
    answer.extend(state.map(|state| ("state", state)));
    with_query(uri, &answer)
}

type Checked = (String, ScopeSet, Option<Arc<str>>);

/// The parameters whose errors go to the client.
fn checked(
    oauth: &OAuthState,
    parameters: &Parameters,
    headers: &HeaderMap,
) -> Result<Checked, OAuthError> {
    if parameters.require("response_type")? != "code" {
        let message = "only the response_type code is supported";
        return Err(OAuthError::new(
            http::StatusCode::BAD_REQUEST,
            "unsupported_response_type",
            message,
        ));
    }
    let challenge = parameters.require("code_challenge")?;
    let method = parameters.get("code_challenge_method").unwrap_or("plain");
    if method != "S256" || !pkce::is_challenge(challenge) {
        let message = "a code_challenge with the code_challenge_method S256 is required";
        return Err(OAuthError::invalid_request(message));
    }
    let scopes = oauth.allowed_scopes(parameters.get("scope"))?;
    let service = oauth.resources.service(parameters.get("resource"), headers)?;
    Ok((challenge.to_owned(), scopes, service))
}
