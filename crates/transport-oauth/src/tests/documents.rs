//! Clients whose id is the address of their document.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use parking_lot::Mutex;

use super::*;
use crate::{DocumentFetcher, FetchedDocument};

const ID: &str = "https://app.example/oauth/client.json";

/// Documents by address, and the addresses that were fetched.
#[derive(Default)]
pub(super) struct FakeDocuments {
    documents: Mutex<HashMap<String, String>>,
    max_age: Mutex<Option<Duration>>,
    fetched: Mutex<Vec<String>>,
}

#[async_trait]
impl DocumentFetcher for FakeDocuments {
    async fn fetch(&self, url: &str) -> Result<FetchedDocument, Fault> {
        self.fetched.lock().push(url.to_owned());
        let json = self.documents.lock().get(url).cloned();
        let json = json.ok_or_else(|| Fault::invalid("client_document", "status 404"))?;
        Ok(FetchedDocument { json: json.into_bytes(), max_age: *self.max_age.lock() })
    }
}

impl FakeDocuments {
    fn put(&self, document: &Value) {
        self.documents.lock().insert(ID.to_owned(), document.to_string());
    }

    fn count(&self) -> usize {
        self.fetched.lock().len()
    }
}

fn document() -> Value {
    json!({
        "client_id": ID,
        "client_name": "Desk <i>",
        "redirect_uris": ["http://127.0.0.1/callback", "https://app.example/cb"],
        "token_endpoint_auth_method": "none",
        "logo_uri": "https://app.example/logo.png",
    })
}

#[tokio::test]
async fn a_client_with_a_document_gets_tokens_without_registering() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let server = fixture.get("/.well-known/oauth-authorization-server").await.json();
        assert_eq!(server["client_id_metadata_document_supported"], true);
        fixture.documents.put(&document());
        let challenge = random::hash(VERIFIER);
        let (page, _) = fixture.page(&request(ID, &challenge)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        for said in ["Desk &lt;i&gt; asks for access", "<b>app.example</b> describes it"] {
            assert!(page.text.contains(said), "{said}: {}", page.text);
        }
        let (access, refresh) = fixture.tokens(ID).await;
        assert_eq!(fixture.verified(&access).await, "ok");
        let (access, _) = pair(&fixture.refresh(ID, &refresh).await);
        assert_eq!(fixture.verified(&access).await, "ok");
        fixture.refresh("https://app.example/other", &refresh).await.refused("invalid_grant");
        assert_eq!(fixture.documents.count(), 1, "the document is fetched once");
    })
    .await;
}

#[tokio::test]
async fn a_document_is_cached_for_a_time_with_bounds() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        fixture.documents.put(&document());
        let challenge = random::hash(VERIFIER);
        let mut expected = 0;
        for (max_age, cached_s) in [(Some(0), 60), (Some(600), 600), (None, 3_600)] {
            *fixture.documents.max_age.lock() = max_age.map(Duration::from_secs);
            expected += 1;
            for wait_s in [0, cached_s - 1] {
                fixture.clock.advance(Duration::from_secs(wait_s));
                let (page, _) = fixture.page(&request(ID, &challenge)).await;
                assert_eq!(page.status, StatusCode::OK, "{max_age:?} {}", page.text);
                assert_eq!(fixture.documents.count(), expected, "{max_age:?} {wait_s}");
            }
            fixture.clock.advance(Duration::from_secs(1));
        }
        fixture.documents.documents.lock().clear();
        let (page, _) = fixture.page(&request(ID, &challenge)).await;
        assert!(page.text.contains("status 404"), "{}", page.text);
    })
    .await;
}

#[tokio::test]
async fn a_wrong_document_is_refused_before_a_user_is_asked() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let challenge = random::hash(VERIFIER);
        for (name, value, word) in [
            ("client_id", json!("https://app.example/oauth/client.json?"), "another client_id"),
            ("client_id", Value::Null, "another client_id"),
            ("redirect_uris", json!(["https://evil.example/cb"]), "redirect_uri"),
            ("redirect_uris", json!([]), "1 to 10"),
            ("redirect_uris", json!(["javascript:alert(1)"]), "a redirect URI is https"),
            ("token_endpoint_auth_method", json!("private_key_jwt"), "public clients only"),
        ] {
            let mut wrong = document();
            wrong[name] = value;
            fixture.documents.put(&wrong);
            let (answer, _) = fixture.page(&request(ID, &challenge)).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
            assert!(answer.text.contains(word), "{word}: {}", answer.text);
            assert!(!answer.headers.contains_key(LOCATION), "{wrong}");
            // The cache is empty again for the next row.
            fixture.clock.advance(Duration::from_secs(3_600));
        }
        fixture.documents.put(&json!([ID]));
        let (answer, _) = fixture.page(&request(ID, &challenge)).await;
        assert!(answer.text.contains("must be a JSON object"), "{}", answer.text);
    })
    .await;
}

#[tokio::test]
async fn private_addresses_are_not_fetched_and_fetches_have_a_rate() {
    on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let challenge = random::hash(VERIFIER);
        for id in ["https://localhost/x", "https://169.254.169.254/x", "https://app.example/a/../b"]
        {
            let (answer, _) = fixture.page(&request(id, &challenge)).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{id}");
        }
        assert_eq!(fixture.documents.count(), 0);
        for at in 0..40 {
            fixture.page(&request(&format!("https://app.example/{at}"), &challenge)).await;
        }
        assert_eq!(fixture.documents.count(), 17, "20 at once, of which three were refused");
        let (answer, _) = fixture.page(&request("https://app.example/41", &challenge)).await;
        assert!(answer.text.contains("too many registrations"), "{}", answer.text);
    })
    .await;
}
