//! Dynamic registration of public clients (RFC 7591). A registration costs a row, so each address
//! has a rate, the number of clients a bound, and one that is never used expires after a day.

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
use serde::Deserialize;
use serde_json::json;

use crate::endpoint::OAuth;
use crate::error::OAuthError;
use crate::random;
use crate::redirect_uri::destination;
use crate::storage::Client;

/// The most redirect URIs of one client.
const REDIRECT_URIS_MAX: usize = 10;
/// The longest name, in characters.
const NAME_MAX: usize = 100;

/// What is read of a client's metadata; the rest is ignored, as the standard says.
#[derive(Deserialize)]
struct ClientMetadata {
    #[serde(default)]
    redirect_uris: Vec<String>,
    #[serde(default)]
    client_name: Option<String>,
}

pub(crate) async fn register(
    State(oauth): State<Arc<OAuth>>,
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
    // A list of values would be read as the fields in their order.
    let is_object = body.trim_ascii_start().first() == Some(&b'{');
    let metadata = serde_json::from_slice::<ClientMetadata>(body).ok().filter(|_| is_object);
    let metadata = metadata.ok_or_else(|| {
        invalid("invalid_client_metadata", "the body must be a JSON object with redirect_uris")
    })?;
    let count = metadata.redirect_uris.len();
    if !(1..=REDIRECT_URIS_MAX).contains(&count) {
        let message = "a client has 1 to 10 redirect_uris";
        return Err(invalid("invalid_redirect_uri", message));
    }
    if metadata.redirect_uris.iter().any(|uri| destination(uri).is_none()) {
        let message = "a redirect URI is https, http on a loopback address, or of a program's own \
                       scheme, at most 2048 bytes, without a fragment";
        return Err(invalid("invalid_redirect_uri", message));
    }
    let name = metadata.client_name.unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
    let id = random::secret("client_")?;
    Ok(Client { id, name: name.trim().to_owned(), redirect_uris: metadata.redirect_uris })
}

fn invalid(code: &'static str, message: &'static str) -> OAuthError {
    OAuthError::new(StatusCode::BAD_REQUEST, code, message)
}

/// Every client is public, whatever it asked for: a secret in a program is none.
fn created(oauth: &OAuth, client: &Client) -> Response {
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
