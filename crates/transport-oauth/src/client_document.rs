//! Clients whose id is the https address of a JSON document about them, so that they need not
//! register: client ID metadata documents. A document is fetched when its client asks a user, and
//! cached for as long as its server says, within bounds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Millis;
use fault::Fault;
use http::StatusCode;
use parking_lot::Mutex;
use reqwest::Url;
use tokio::sync::Semaphore;

use crate::client_metadata::ClientMetadata;
use crate::error::OAuthError;
use crate::storage::{Client, ClientKind};

/// The longest id of a client that is an address, in bytes.
const ID_BYTES_MAX: usize = 1_024;
/// The clients of at most this many documents are cached, of at most 16 KiB each.
const CACHED_MAX: usize = 500;
/// A document is cached at least and at most this long, whatever its server says.
const CACHE_TIME_MIN: Duration = Duration::from_secs(60);
const CACHE_TIME_MAX: Duration = Duration::from_secs(24 * 3_600);
/// A document is cached this long if its server does not say how long it may be.
const CACHE_TIME_DEFAULT: Duration = Duration::from_secs(3_600);
/// The most documents that are fetched at the same time.
const FETCHES_MAX: usize = 8;

/// Fetches the documents of clients.
#[async_trait]
pub trait DocumentFetcher: Send + Sync {
    /// The document at a public https address. The fault's message says what went wrong, without
    /// the address.
    async fn fetch(&self, url: &str) -> Result<FetchedDocument, Fault>;
}

/// A document as its server sent it.
#[derive(Debug, Clone)]
pub struct FetchedDocument {
    /// The JSON.
    pub json: Vec<u8>,
    /// How long the document may be cached, if its server says so.
    pub max_age: Option<Duration>,
}

/// The cache of clients that are described by a document, and the fetching of their documents.
pub(crate) struct ClientDocuments {
    fetcher: Arc<dyn DocumentFetcher>,
    cache: Mutex<HashMap<String, CachedClient>>,
    fetches: Semaphore,
}

struct CachedClient {
    client: Client,
    until: Millis,
}

/// Whether a client's id is the address of its document. The ids of registered clients begin with
/// `client_`.
pub(crate) fn is_document_address(id: &str) -> bool {
    id.starts_with("https:")
}

impl ClientDocuments {
    pub(crate) fn new(fetcher: Arc<dyn DocumentFetcher>) -> Self {
        Self { fetcher, cache: Mutex::default(), fetches: Semaphore::new(FETCHES_MAX) }
    }

    /// The client, if its document was fetched a short time ago.
    pub(crate) fn cached(&self, id: &str, now: Millis) -> Option<Client> {
        let cache = self.cache.lock();
        cache.get(id).filter(|it| now < it.until).map(|it| it.client.clone())
    }

    /// Fetches and checks the document of a client. Failures are not cached.
    pub(crate) async fn fetch(&self, id: &str, now: Millis) -> Result<Client, OAuthError> {
        check_address(id)?;
        let _permit = self.fetches.try_acquire().map_err(|_| busy())?;
        let document = self.fetcher.fetch(id).await.map_err(|fault| {
            refused(format!("the document at the client_id cannot be read: {}", fault.message()))
        })?;
        let client = client_of_document(id, &document.json)?;
        let life =
            document.max_age.unwrap_or(CACHE_TIME_DEFAULT).clamp(CACHE_TIME_MIN, CACHE_TIME_MAX);
        let life = i64::try_from(life.as_millis()).unwrap_or_default();
        self.insert(client.clone(), Millis(now.0.saturating_add(life)), now);
        Ok(client)
    }

    fn insert(&self, client: Client, until: Millis, now: Millis) {
        let mut cache = self.cache.lock();
        cache.retain(|_, it| now < it.until);
        if cache.len() >= CACHED_MAX
            && let Some(id) =
                cache.iter().min_by_key(|(_, it)| it.until.0).map(|(id, _)| id.clone())
        {
            cache.remove(&id);
        }
        cache.insert(client.id.clone(), CachedClient { client, until });
    }
}

/// Accepts a public https address in its normal form only, so that equal texts are equal addresses.
fn check_address(id: &str) -> Result<(), OAuthError> {
    let url = Url::parse(id).ok().filter(|url| {
        id.len() <= ID_BYTES_MAX
            && url.scheme() == "https"
            && url.as_str() == id
            && url.fragment().is_none()
            && ssrf_guard::url_problem(url, false).is_none()
    });
    let expected = "a client_id that is an address must be the public https address of a JSON \
                    document, with a path, and without user, fragment and dots in its path";
    url.map(drop).ok_or_else(|| refused(expected.to_owned()))
}

fn client_of_document(id: &str, json: &[u8]) -> Result<Client, OAuthError> {
    let metadata = ClientMetadata::read(json)
        .map_err(|error| refused(format!("the document at the client_id: {}", error.message())))?;
    if metadata.client_id.as_deref() != Some(id) {
        let message = "the document at the client_id names another client_id";
        return Err(refused(message.to_owned()));
    }
    if metadata.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        let message = "this server knows public clients only: token_endpoint_auth_method none";
        return Err(refused(message.to_owned()));
    }
    let name = metadata.name();
    let redirect_uris = metadata.redirect_uris;
    Ok(Client { id: id.to_owned(), name, redirect_uris, kind: ClientKind::Document })
}

fn refused(message: String) -> OAuthError {
    OAuthError::new(StatusCode::BAD_REQUEST, "invalid_client", message)
}

fn busy() -> OAuthError {
    Fault::unavailable("too_many_documents", "too many clients connect at once; try again").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, accepted: bool) {
        assert_eq!(check_address(id).is_ok(), accepted, "{id}");
    }

    #[test]
    fn only_public_https_addresses_in_normal_form_are_fetched() {
        check("https://app.example/client.json", true);
        check("https://app.example:8443/oauth/client?v=2", true);
        for id in [
            "https://app.example",
            "https:app.example/x",
            "https://App.example/x",
            "https://app.example:443/x",
            "https://app.example/a/../b",
            "https://app.example/./b",
            "https://app.example/x#y",
            "https://user@app.example/x",
            "https://user:pw@app.example/x",
            "https://localhost/x",
            "https://127.0.0.1/x",
            "https://[::1]/x",
            "https://169.254.169.254/latest",
            "https://10.0.0.1/x",
            "http://app.example/x",
        ] {
            check(id, false);
        }
        check(&format!("https://app.example/{}", "x".repeat(ID_BYTES_MAX)), false);
    }

    struct NoFetcher;

    #[async_trait]
    impl DocumentFetcher for NoFetcher {
        async fn fetch(&self, _: &str) -> Result<FetchedDocument, Fault> {
            Err(Fault::unavailable("none", "none"))
        }
    }

    #[test]
    fn cached_documents_have_a_bound_and_an_end() {
        let documents = ClientDocuments::new(Arc::new(NoFetcher));
        let client = |at: usize| Client {
            id: format!("https://app.example/{at}"),
            name: String::new(),
            redirect_uris: Vec::new(),
            kind: ClientKind::Document,
        };
        for at in 0..=CACHED_MAX {
            documents.insert(client(at), Millis(1_000 + at as i64), Millis(0));
        }
        assert_eq!(documents.cache.lock().len(), CACHED_MAX);
        let is_cached =
            |at: usize, now: i64| documents.cached(&client(at).id, Millis(now)).is_some();
        // The document that would have expired first was removed for the last one.
        assert!(!is_cached(0, 0) && is_cached(1, 0) && is_cached(CACHED_MAX, 0));
        assert!(is_cached(1, 1_000) && !is_cached(1, 1_001));
    }
}
