//! Reads the metadata of a client (RFC 7591), from a registration or from the client's document.

use http::StatusCode;
use serde::Deserialize;

use crate::error::OAuthError;
use crate::redirect_uri::destination;

/// The most redirect URIs of one client.
const REDIRECT_URIS_MAX: usize = 10;
/// The longest name, in characters.
const NAME_MAX: usize = 100;

/// What is read of a client's metadata; the rest is ignored, as the standard says.
#[derive(Debug, Deserialize)]
pub(crate) struct ClientMetadata {
    #[serde(default)]
    pub(crate) redirect_uris: Vec<String>,
    #[serde(default)]
    client_name: Option<String>,
    #[serde(default)]
    pub(crate) client_id: Option<String>,
    #[serde(default)]
    pub(crate) token_endpoint_auth_method: Option<String>,
}

impl ClientMetadata {
    /// Reads a JSON object and checks its redirect URIs.
    pub(crate) fn read(json: &[u8]) -> Result<Self, OAuthError> {
        // A list of values would be read as the fields in their order.
        let is_object = json.trim_ascii_start().first() == Some(&b'{');
        let metadata = serde_json::from_slice::<Self>(json).ok().filter(|_| is_object);
        let metadata = metadata.ok_or_else(|| {
            let message = "the metadata must be a JSON object with redirect_uris";
            invalid("invalid_client_metadata", message)
        })?;
        if !(1..=REDIRECT_URIS_MAX).contains(&metadata.redirect_uris.len()) {
            let message = "a client has 1 to 10 redirect_uris";
            return Err(invalid("invalid_redirect_uri", message));
        }
        if metadata.redirect_uris.iter().any(|uri| destination(uri).is_none()) {
            let message = "a redirect URI is https, http on a loopback address, or of a program's \
                           own scheme, at most 2048 bytes, without a fragment";
            return Err(invalid("invalid_redirect_uri", message));
        }
        Ok(metadata)
    }

    /// The name for the consent page, without control characters.
    pub(crate) fn name(&self) -> String {
        let name = self.client_name.as_deref().unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
        name.trim().to_owned()
    }
}

fn invalid(code: &'static str, message: &'static str) -> OAuthError {
    OAuthError::new(StatusCode::BAD_REQUEST, code, message)
}
