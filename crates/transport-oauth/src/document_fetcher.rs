//! Fetches the documents of clients over HTTPS: public addresses only, no redirects, no proxies, 5
//! s and 16 KiB at most.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap};
use ssrf_guard::PublicOnlyResolver;

use crate::client_document::{DocumentFetcher, FetchedDocument};

/// The limit of the connection, and of the whole fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest document, in bytes. Ten redirect URIs of usual length need 2 KiB.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024;

/// Fetches documents over HTTPS.
pub struct HttpsDocumentFetcher(reqwest::Client);

impl HttpsDocumentFetcher {
    /// A fetcher with connections of its own.
    pub fn new() -> Result<Self, Fault> {
        let client = http_client::builder("stoa-oauth")
            .timeout(FETCH_TIMEOUT)
            .connect_timeout(FETCH_TIMEOUT)
            .https_only(true)
            // The resolver checks the addresses of a name, so that exactly the checked address is
            // connected to.
            .dns_resolver(Arc::new(PublicOnlyResolver));
        Ok(Self(client.build().map_err(Fault::internal)?))
    }
}

#[async_trait]
impl DocumentFetcher for HttpsDocumentFetcher {
    async fn fetch(&self, url: &str) -> Result<FetchedDocument, Fault> {
        let request = self.0.get(url).header(ACCEPT, "application/json");
        let mut response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(unusable(format!("its server answered with the status {status}")));
        }
        if !is_json(response.headers()) {
            return Err(unusable("its type is not application/json"));
        }
        let max_age = max_age(response.headers());
        let mut json = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if json.len() + chunk.len() > DOCUMENT_BYTES_MAX {
                return Err(unusable(format!("it has more than {DOCUMENT_BYTES_MAX} bytes")));
            }
            json.extend_from_slice(&chunk);
        }
        Ok(FetchedDocument { json, max_age })
    }
}

fn unusable(message: impl Into<String>) -> Fault {
    Fault::invalid("client_document", message)
}

/// The fault does not repeat the error's text, which has the address in it.
fn unreachable(error: &reqwest::Error) -> Fault {
    let message = match error.is_timeout() {
        true => "its server did not answer in time",
        false => "its server could not be reached",
    };
    Fault::unavailable("client_document", message)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// How long the document may be cached; zero if its server forbids it.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let lists = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let rules: Vec<String> = lists
        .flat_map(|list| list.split(','))
        .map(|rule| rule.trim().to_ascii_lowercase())
        .collect();
    if rules.iter().any(|rule| rule == "no-store" || rule == "no-cache") {
        return Some(Duration::ZERO);
    }
    let seconds = rules.iter().find_map(|rule| rule.strip_prefix("max-age=")?.parse().ok());
    seconds.map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Fetches a document from a server that gives this answer, over plain HTTP on loopback.
    async fn fetched(answer: &str) -> Result<FetchedDocument, Fault> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/client.json", listener.local_addr().unwrap());
        let server = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut received = Vec::new();
            while !received.ends_with(b"\r\n\r\n") {
                assert_ne!(socket.read_buf(&mut received).await.unwrap(), 0);
            }
            // A fetcher that has read enough may close the connection.
            socket.write_all(answer.as_bytes()).await.ok();
        };
        let client = http_client::builder("test").build().unwrap();
        let fetcher = HttpsDocumentFetcher(client);
        tokio::join!(fetcher.fetch(&url), server).0
    }

    fn answer(head: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
    }

    #[tokio::test]
    async fn a_document_is_read_with_the_time_that_it_may_be_kept() {
        let json = "200 OK\r\ncontent-type: application/json; charset=utf-8";
        for (cache, max_age) in [
            ("", None),
            ("\r\ncache-control: public, max-age=120", Some(120)),
            ("\r\ncache-control: no-store, max-age=120", Some(0)),
        ] {
            let found = fetched(&answer(&format!("{json}{cache}"), "{}")).await.unwrap();
            assert_eq!(found.json, b"{}");
            assert_eq!(found.max_age, max_age.map(Duration::from_secs), "{cache}");
        }
    }

    #[tokio::test]
    async fn anything_else_is_refused_without_its_address() {
        let json = "content-type: application/json";
        let large = "x".repeat(DOCUMENT_BYTES_MAX + 1);
        for (answer, word) in [
            (answer(&format!("404 Not Found\r\n{json}"), "{}"), "status 404"),
            (answer(&format!("302 Found\r\nlocation: /other\r\n{json}"), "{}"), "status 302"),
            (answer("200 OK\r\ncontent-type: text/html", "{}"), "application/json"),
            (answer("200 OK", "{}"), "application/json"),
            (answer(&format!("200 OK\r\n{json}"), &large), "16384 bytes"),
            ("nonsense".to_owned(), "could not be reached"),
        ] {
            let fault = fetched(&answer).await.unwrap_err();
            assert!(fault.message().contains(word), "{word}: {fault}");
            assert!(!fault.to_string().contains("client.json"), "{fault}");
        }
    }

    #[tokio::test]
    async fn plain_http_and_private_names_are_refused() {
        let fetcher = HttpsDocumentFetcher::new().unwrap();
        for url in ["http://app.example/x", "https://localhost/x"] {
            let fault = fetcher.fetch(url).await.unwrap_err();
            assert!(fault.message().contains("could not be reached"), "{url}: {fault}");
        }
    }
}
