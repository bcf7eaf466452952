//! Serves two metadata documents: that of a protected resource (RFC 9728) and that of the
//! authorization server (RFC 8414).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::endpoint::{AUTHORIZE, OAuthState, REGISTER, REVOKE, TOKEN};

/// The document of the resource `/mcp`, which has every service.
pub(crate) async fn root_resource(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
) -> Response {
    Json(resource(&oauth, &headers, "mcp")).into_response()
}

/// The document of the resource at a path.
pub(crate) async fn resource_at_path(
    State(oauth): State<Arc<OAuthState>>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    match oauth.resources.service_of_path(&path) {
        Some(_) => Json(resource(&oauth, &headers, path.trim_matches('/'))).into_response(),
        None => {
            let body = json!({ "error": "there is no such resource" });
            (StatusCode::NOT_FOUND, Json(body)).into_response()
        }
    }
}

fn resource(oauth: &OAuthState, headers: &HeaderMap, path: &str) -> Value {
    let issuer = oauth.resources.issuer(headers);
    json!({
        "resource": format!("{issuer}/{path}"),
        "authorization_servers": [issuer],
        "scopes_supported": oauth.scopes(),
        "bearer_methods_supported": ["header"],
        "resource_name": "Stoa",
        "resource_documentation": format!("{issuer}/docs"),
    })
}

/// The document of the authorization server.
pub(crate) async fn authorization_server(
    State(oauth): State<Arc<OAuthState>>,
    headers: HeaderMap,
) -> Response {
    let issuer = oauth.resources.issuer(&headers);
    let at = |path: &str| format!("{issuer}{path}");
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": at(AUTHORIZE),
        "token_endpoint": at(TOKEN),
        "registration_endpoint": at(REGISTER),
        "revocation_endpoint": at(REVOKE),
        "scopes_supported": oauth.scopes(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": at("/docs"),
    }))
    .into_response()
}
