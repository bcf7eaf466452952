//! Dynamic registration of public clients (RFC 7591). A registration costs a row, so each address
//! has a rate, the number of clients is bounded, and a client that is never used expires after a
//! day.

use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use contract::RequestMeta;
use http::StatusCode;
use http::header::CACHE_CONTROL;
use limits::ClientAddress;
use serde_json::json;

use crate::client_metadata::ClientMetadata;
use crate::endpoint::OAuthState;
use crate::error::OAuthError;
use crate::random;
use crate::storage::{Client, ClientKind};

pub(crate) async fn register(
    State(oauth): State<Arc<OAuthState>>,
    Extension(meta): Extension<RequestMeta>,
    body: Bytes,
) -> Response {
    let registered = async {
        oauth.admit_registration(meta.client.map(ClientAddress::from))?;
        let client = client(&body)?;
        oauth.storage.insert_client(&client, oauth.clock.now()).await?;
        Ok::<Client, OAuthError>(client)
    };
    match registered.await {
        Ok(client) => created(&oauth, &client),
        Err(error) => error.response(),
    }
}

fn client(body: &[u8]) -> Result<Client, OAuthError> {
    let metadata = ClientMetadata::read(body)?;
    let (id, name) = (random::secret("client_")?, metadata.name());
    let redirect_uris = metadata.redirect_uris;
    Ok(Client { id, name, redirect_uris, kind: ClientKind::Registered })
}

/// The answer to a registration. Every client is public (without a secret), because a program that
/// users install cannot keep a secret.
fn created(oauth: &OAuthState, client: &Client) -> Response {
    let body = json!({
        "client_id": client.id,
        "client_id_issued_at": oauth.clock.now().0 / 1000,
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": oauth.scopes().join(" "),
    });
    (StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}
