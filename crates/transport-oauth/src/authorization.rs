//! The authorization endpoint: shows the consent page, checks the user's password, and sends the
//! browser back to the client with a code.
//!
//! The form is bound to the browser that it was shown in: a cookie and a hidden field must agree.

use std::sync::Arc;
use std::time::Duration;

use archive_accounts::ClientLogin;
use auth::same_secret;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use clock::Millis;
use contract::RequestMeta;
use fault::{Fault, Kind};
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use limits::ClientAddress;

use crate::authorization_request::{AuthorizationRequest, RefusedRequest};
use crate::consent_page::{self, ConsentPage};
use crate::endpoint::{AUTHORIZE, OAuthState};
use crate::error::OAuthError;
use crate::form::{Form, Parameters};
use crate::random;
use crate::storage::ClientGrant;

/// A code can be exchanged this long.
const CODE_LIFETIME: Duration = Duration::from_secs(60);
/// Ends with `stoa1_`, the prefix by which the logs mask secrets.
const CODE_PREFIX: &str = "code_stoa1_";
const COOKIE_NAME: &str = "stoa_oauth";
/// 32 bytes as base64url.
const COOKIE_LENGTH: usize = 43;

/// `GET`: the page that asks the user.
pub(crate) async fn show(
    State(oauth): State<Arc<OAuthState>>,
    Extension(meta): Extension<RequestMeta>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let parameters = match Parameters::parse(query.as_deref().unwrap_or_default()) {
        Ok(parameters) => parameters,
        Err(error) => return consent_page::error(StatusCode::BAD_REQUEST, error.message()),
    };
    let address = meta.client.map(ClientAddress::from);
    match AuthorizationRequest::read(&oauth, &parameters, &headers, address).await {
        Ok(request) => page(&request, &headers, StatusCode::OK, None),
        Err(refused) => refuse(refused),
    }
}

/// `POST`: the user's answer.
pub(crate) async fn decide(
    State(oauth): State<Arc<OAuthState>>,
    Extension(meta): Extension<RequestMeta>,
    headers: HeaderMap,
    Form(parameters): Form,
) -> Response {
    let cookie = cookie(&headers);
    let is_same = |field: &str| cookie.is_some_and(|cookie| same_secret(field, cookie));
    if !parameters.get("csrf").is_some_and(is_same) {
        let message = "this form was not shown in this browser, or cookies are off; go back to the \
                       application and connect again";
        return consent_page::error(StatusCode::FORBIDDEN, message);
    }
    let address = meta.client.map(ClientAddress::from);
    let read = AuthorizationRequest::read(&oauth, &parameters, &headers, address);
    let request = match read.await {
        Ok(request) => request,
        Err(refused) => return refuse(refused),
    };
    if parameters.get("decision") != Some("allow") {
        let error = OAuthError::new(
            StatusCode::FORBIDDEN,
            "access_denied",
            "the user did not allow the access",
        );
        return redirect(&request.error_address(&error));
    }
    match log_in_and_grant(&oauth, &request, &parameters, &meta).await {
        Ok(code) => redirect(&request.code_address(&code)),
        Err(fault) => page_after_failed_login(&request, &headers, &fault),
    }
}

/// Logs the user in and records what the user allowed; returns the code.
async fn log_in_and_grant(
    oauth: &OAuthState,
    request: &AuthorizationRequest,
    parameters: &Parameters,
    meta: &RequestMeta,
) -> Result<String, Fault> {
    let now = oauth.clock.now();
    let life = i64::try_from(CODE_LIFETIME.as_millis()).map_err(Fault::internal)?;
    let code_expires_at = Millis(now.0.saturating_add(life));
    let login = ClientLogin {
        username: parameters.get("username").unwrap_or_default(),
        password: parameters.get("password").unwrap_or_default(),
        address: meta.client,
        client_id: &request.client.id,
        // The session lasts as long as the code; the exchange of the code extends it.
        expires_at: code_expires_at,
    };
    let (user, session_id) = oauth.accounts.login_for_client(login).await?;
    let code = random::secret(CODE_PREFIX)?;
    let grant = ClientGrant {
        session_id,
        user_id: user.id,
        client_id: request.client.id.clone(),
        scopes: request.scopes.to_string(),
        service: request.service.clone(),
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge.clone(),
        code_hash: random::hash(&code),
        code_expires_at,
        code_used: false,
        access: None,
    };
    oauth.storage.insert_grant(&grant, now).await?;
    oauth.storage.touch_client(&request.client.id, now).await?;
    tracing::info!(user = grant.user_id, client = grant.client_id, "a user allowed a client");
    Ok(code)
}

fn refuse(refused: RefusedRequest) -> Response {
    match refused {
        RefusedRequest::Page(error) => {
            consent_page::error(StatusCode::BAD_REQUEST, error.message())
        }
        RefusedRequest::Redirect(address) => redirect(&address),
    }
}

/// Shows the page again, with the reason why the login was refused.
fn page_after_failed_login(
    request: &AuthorizationRequest,
    headers: &HeaderMap,
    fault: &Fault,
) -> Response {
    let status = match fault.kind() {
        Kind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Kind::Unauthenticated | Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::Unavailable | Kind::Timeout => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let message = match fault.kind() {
        Kind::Internal => {
            tracing::error!(code = fault.code(), "{fault}");
            "the server failed; try again"
        }
        _ => fault.message(),
    };
    let mut response = page(request, headers, status, Some(message));
    http_wire::add_refusal_headers(&mut response, fault.retry_wait());
    response
}

fn page(
    request: &AuthorizationRequest,
    headers: &HeaderMap,
    status: StatusCode,
    problem: Option<&str>,
) -> Response {
    // The cookie that the browser has is kept, because another tab may show a form with it.
    let known = cookie(headers).map(|known| Ok(known.to_owned()));
    let csrf = match known.unwrap_or_else(|| random::secret("")) {
        Ok(csrf) => csrf,
        Err(_) => {
            let message = "the server failed; try again";
            return consent_page::error(StatusCode::INTERNAL_SERVER_ERROR, message);
        }
    };
    let mut response = ConsentPage { request, csrf: &csrf, problem }.response(status);
    let secure = if request.issuer.starts_with("https:") { "; Secure" } else { "" };
    let set = format!("{COOKIE_NAME}={csrf}; Path={AUTHORIZE}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(value) = HeaderValue::from_str(&set) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    response
}

/// The value of our cookie, if it looks like one of ours.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs =
        all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let is_plain = |value: &&str| {
        value.len() == COOKIE_LENGTH
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    pairs.filter(|(name, _)| *name == COOKIE_NAME).map(|(_, value)| value).find(is_plain)
}

/// The browser continues with `GET` at the client's address.
fn redirect(address: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    match HeaderValue::from_str(address) {
        Ok(value) => {
            consent_page::add_headers(&mut response, None);
            response.headers_mut().insert(LOCATION, value);
            response
        }
        Err(_) => consent_page::error(StatusCode::BAD_REQUEST, "the redirect_uri is not valid"),
    }
}
