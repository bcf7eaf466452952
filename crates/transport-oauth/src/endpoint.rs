//! The routes of OAuth and the state that they share.

use std::sync::Arc;

use archive_accounts::Accounts;
use auth::{Authority, ScopeSet};
use axum::Router;
use axum::routing::{get, post};
use clock::{Clock, Millis};
use fault::Fault;
use limits::{ClientAddress, RateLimit, RateLimiter};
use store::Db;
use transport_http::PROTECTED_RESOURCE_PATH;

use crate::client_document::{ClientDocuments, DocumentFetcher};
use crate::error::OAuthError;
use crate::resource::Resources;
use crate::storage::{Client, Storage};
use crate::{authorization, client_document, metadata, registration, revocation, tokens};

pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
pub(crate) const TOKEN: &str = "/oauth/token";
pub(crate) const REGISTER: &str = "/oauth/register";
pub(crate) const REVOKE: &str = "/oauth/revoke";
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";

/// 20 registrations at once for one address, then one in 30 s.
const REGISTRATIONS: RateLimit = RateLimit { burst: 20, per_second: 1.0 / 30.0 };
/// The most addresses whose registrations are counted.
const ADDRESSES_MAX: usize = 16_384;

/// What the OAuth endpoints need.
pub struct OAuthOptions {
    /// The database; it must have been given [`crate::MIGRATIONS`].
    pub db: Db,
    /// The clock by which codes, tokens and registrations expire.
    pub clock: Arc<dyn Clock>,
    /// The users, and the limits of their failed logins. It is a clone of the archive's own handle,
    /// so that both count the same attempts.
    pub accounts: Accounts,
    /// Mints and revokes the access tokens.
    pub authority: Arc<Authority>,
    /// The scopes that users can pass on to clients.
    pub scopes: ScopeSet,
    /// The services with an endpoint of their own.
    pub services: Vec<Arc<str>>,
    /// The public scheme and authority of this server; without it they are read from each request.
    pub public_url: Option<String>,
    /// Fetches the documents of clients whose id is an address.
    pub documents: Arc<dyn DocumentFetcher>,
}

/// The state of all endpoints.
pub(crate) struct OAuthState {
    pub(crate) storage: Storage,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) accounts: Accounts,
    pub(crate) authority: Arc<Authority>,
    pub(crate) scopes: ScopeSet,
    pub(crate) resources: Resources,
    documents: ClientDocuments,
    registrations: RateLimiter<Option<ClientAddress>>,
}

/// The routes of OAuth. They need the edge before them, which bounds bodies and checks hosts and
/// origins.
pub fn router(options: OAuthOptions) -> Router {
    let OAuthOptions { db, clock, accounts, authority, scopes, services, .. } = options;
    let oauth = Arc::new(OAuthState {
        storage: Storage(db),
        clock,
        accounts,
        authority,
        scopes,
        resources: Resources { public_url: options.public_url, services },
        documents: ClientDocuments::new(options.documents),
        registrations: RateLimiter::new(REGISTRATIONS, ADDRESSES_MAX),
    });
    Router::new()
        .route(PROTECTED_RESOURCE_PATH, get(metadata::root_resource))
        .route(&format!("{PROTECTED_RESOURCE_PATH}/{{*path}}"), get(metadata::resource_at_path))
        .route(SERVER_METADATA, get(metadata::authorization_server))
        .route(AUTHORIZE, get(authorization::show).post(authorization::decide))
        .route(TOKEN, post(tokens::exchange))
        .route(REGISTER, post(registration::register))
        .route(REVOKE, post(revocation::revoke))
        .with_state(oauth)
}

impl OAuthState {
    /// The allowed scopes, as the documents name them.
    pub(crate) fn scopes(&self) -> Vec<&str> {
        self.scopes.iter().map(auth::ScopeName::as_str).collect()
    }

    /// The scopes of a request as far as the operator allows them; all allowed ones if it names
    /// none.
    pub(crate) fn allowed_scopes(&self, asked: Option<&str>) -> Result<ScopeSet, OAuthError> {
        let Some(asked) = asked else { return Ok(self.scopes.clone()) };
        let words = asked.split_whitespace().filter(|word| self.scopes.contains(word));
        let allowed: Vec<&str> = words.collect();
        if allowed.is_empty() {
            let message = format!("this server gives clients only: {}", self.scopes().join(" "));
            return Err(OAuthError::invalid_scope(message));
        }
        Ok(ScopeSet::parse(&allowed.join(","))?)
    }

    /// The client of an authorization request: registered here, or described by the document that
    /// its id names. Fetching a document counts as a registration.
    pub(crate) async fn client(
        &self,
        id: &str,
        address: Option<ClientAddress>,
    ) -> Result<Client, OAuthError> {
        let now = self.clock.now();
        if !client_document::is_document_address(id) {
            let found = self.storage.client(id, now).await?;
            return found.ok_or_else(OAuthError::invalid_client);
        }
        if let Some(client) = self.documents.cached(id, now) {
            return Ok(client);
        }
        self.admit_registration(address)?;
        self.documents.fetch(id, now).await
    }

    /// Counts a registration of an address, and refuses it when the address is over its rate.
    pub(crate) fn admit_registration(
        &self,
        client: Option<ClientAddress>,
    ) -> Result<(), OAuthError> {
        let admission = self.registrations.check(&client, nanoseconds(self.clock.now()));
        match admission.allowed {
            true => Ok(()),
            false => {
                Err(OAuthError::too_many_registrations(admission.retry_after.unwrap_or_default()))
            }
        }
    }

    /// Ends a grant: its session with the refresh tokens, and its newest access token.
    pub(crate) async fn end_grant(&self, session_id: &str) -> Result<(), Fault> {
        self.accounts.logout(session_id).await?;
        if let Some(grant) = self.storage.grant(session_id).await?
            && let Some((id, expires_at)) = grant.access
        {
            self.authority.revoke_id(id, expires_at).await?;
        }
        self.storage.delete_grant(session_id).await?;
        tracing::info!(session = session_id, "the access of a client has ended");
        Ok(())
    }
}

fn nanoseconds(now: Millis) -> u64 {
    u64::try_from(now.0).unwrap_or_default().saturating_mul(1_000_000)
}
