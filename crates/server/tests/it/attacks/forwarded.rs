//! Client addresses in forwarding headers: the server believes them only from a trusted proxy.

use crate::process::{Folder, Server, http};

/// The status of each request, whose header names these clients one after another.
async fn statuses(server: &Server, header: &str, clients: &[&str]) -> Vec<u16> {
    let mut found = Vec::new();
    for client in clients {
        let request = http().get(server.url("/v1/metadata")).header(header, *client);
        found.push(request.send().await.unwrap().status().as_u16());
    }
    found
}

#[tokio::test]
async fn a_forwarded_address_is_believed_only_from_a_trusted_proxy() {
    let rate = [("STOA_RATE_BURST", "1"), ("STOA_RATE_PER_SECOND", "0.001")];
    for (header, clients) in [
        ("x-forwarded-for", ["203.0.113.1", "203.0.113.2", "1.2.3.4, 203.0.113.1"]),
        ("forwarded", ["for=203.0.113.1", "for=203.0.113.2", "for=1.2.3.4, for=203.0.113.1"]),
    ] {
        let folder = Folder::new();
        let untrusting = Server::start(folder.path(), &rate);
        assert_eq!(statuses(&untrusting, header, &clients).await, [200, 429, 429], "{header}");
        let folder = Folder::new();
        let proxied = [("STOA_TRUSTED_PROXIES", "127.0.0.0/8")];
        let trusting = Server::start(folder.path(), &[&rate[..], &proxied].concat());
        assert_eq!(statuses(&trusting, header, &clients).await, [200, 200, 429], "{header}");
    }
}

#[tokio::test]
async fn streams_are_counted_by_the_forwarded_client() {
    let folder = Folder::new();
    let limits = [("STOA_STREAMS_PER_CLIENT_MAX", "1"), ("STOA_TRUSTED_PROXIES", "127.0.0.1")];
    let server = Server::start(folder.path(), &limits);
    let open = |client: &'static str| {
        let url = server.url("/stream/klines?symbol=BTCUSDT&interval=1m");
        http().get(url).header("x-forwarded-for", client).send()
    };
    let held = open("203.0.113.1").await.unwrap();
    assert_eq!(held.status(), 200);
    assert_eq!(open("203.0.113.2").await.unwrap().status(), 200);
    assert_eq!(open("203.0.113.1").await.unwrap().status(), 429);
}
