//! The connector against a server on loopback that is now polite and now hostile.

use parking_lot::Mutex;
use std::collections::HashMap;

use clock::Millis;
use pricing_engine::Amount;
use testkit::FakeClock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use super::*;

/// Pages by path; each is a whole HTTP answer. What was asked for is kept in order.
struct TestShop {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

const PAGE: &str = r#"<script type="application/ld+json">{"@type":"Product","offers":{"@type":"Offer",
    "price":"19.99","priceCurrency":"USD","availability":"InStock"}}</script>"#;

fn answer(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn redirect(to: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}

impl TestShop {
    async fn open(pages: &[(&str, Vec<u8>)]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let pages: HashMap<String, Vec<u8>> =
            pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") && socket.read_buf(&mut head).await.unwrap() > 0
                {
                }
                let head = String::from_utf8(head).unwrap();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let page = pages.get(&path).cloned().unwrap_or_else(|| answer("404 Not Found", ""));
                seen.lock().push(path);
                // A client that has seen enough hangs up, which is its right.
                drop(socket.write_all(&page).await);
            }
        });
        Self { address, asked, _serving: serving }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

fn pages(private: bool) -> Pages {
    let fetch_policy =
        FetchPolicy { private, pause: Duration::ZERO, timeout: Duration::from_millis(500) };
    Pages::new(fetch_policy, Arc::new(FakeClock::new(Millis(1_800_000_000_000))))
}

fn request(sources: Vec<String>) -> CollectionRequest {
    let product = Product {
        price: Amount::from_f64(20.0),
        currency: Some("USD".to_owned()),
        sources,
        ..Product::default()
    };
    CollectionRequest {
        sku: "A".to_owned(),
        market: "M".to_owned(),
        depth: 100,
        product: Some(product),
        asked_at: Millis(1_800_000_000_000),
        trial: false,
    }
}

/// What one path gives: a price in cents, or a problem that says so.
#[track_caller]
fn check(batch: &CollectedBatch, expected: Result<i64, &str>) {
    let prices: Vec<i64> =
        batch.ticks.iter().map(|it| it.competitor_price.unwrap().micros() / 10_000).collect();
    match expected {
        Ok(cents) => assert_eq!((prices, batch.problems.count), (vec![cents], 0), "{batch:?}"),
        Err(part) => {
            assert_eq!(prices, [0_i64; 0], "{batch:?}");
            assert!(batch.problems.listed[0].contains(part), "{batch:?}");
        }
    }
}

async fn taken(page: Vec<u8>) -> CollectedBatch {
    let shop = TestShop::open(&[("/p", page)]).await;
    pages(true).fetch_batch(&request(Vec::new()), &format!("{}/p", shop.address)).await.unwrap()
}

#[tokio::test]
async fn a_page_gives_its_price_and_a_bad_one_a_problem() {
    check(&taken(answer("200 OK", PAGE)).await, Ok(1999));
    check(&taken(answer("200 OK", "<html>19.99</html>")).await, Err("no price"));
    check(&taken(answer("500 Oops", PAGE)).await, Err("status 500"));
    check(&taken(answer("200 OK", &"x".repeat(3 << 20))).await, Err("more than"));
    check(
        &taken(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n<p".to_vec()).await,
        Err("broke off"),
    );
    check(&taken(b"nonsense\r\n\r\n".to_vec()).await, Err("broke off"));
    check(&taken(answer("200 OK", &PAGE.replace("USD", "EUR"))).await, Err("another currency"));
    check(&taken(redirect("/p")).await, Err("redirects"));
    check(&taken(redirect("ftp://a.example/")).await, Err("absolute http"));
    check(&taken(redirect("http://u:p@a.example/")).await, Err("credentials"));
}

#[test]
fn a_problem_names_the_address_without_its_secrets() {
    for (address, expected) in [
        ("https://shop.example/tea/2?key=secret#top", "https://shop.example/tea/2"),
        ("http://127.0.0.1:8080/p", "http://127.0.0.1:8080/p"),
        ("https://shop.example/p#secret", "https://shop.example/p"),
    ] {
        assert_eq!(shown(address), expected);
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/p", listener.local_addr().unwrap());
    let batch = pages(true).fetch_batch(&request(Vec::new()), &url).await.unwrap();
    // Its robots.txt cannot be had either, so it is not asked at all.
    check(&batch, Err("robots.txt"));
}

#[tokio::test]
async fn redirects_are_followed_and_robots_honoured_on_the_way() {
    let robots = answer("200 OK", "User-agent: *\nDisallow: /private\n");
    let shop = TestShop::open(&[
        ("/robots.txt", robots),
        ("/old", redirect("/new?x=1")),
        ("/new?x=1", answer("200 OK", PAGE)),
        ("/sly", redirect("/private/p")),
        ("/private/p", answer("200 OK", PAGE)),
    ])
    .await;
    let pages = pages(true);
    let batch = async |path: &str| {
        pages.fetch_batch(&request(Vec::new()), &format!("{}{path}", shop.address)).await.unwrap()
    };
    check(&batch("/old").await, Ok(1999));
    check(&batch("/private/p").await, Err("robots.txt"));
    check(&batch("/sly").await, Err("robots.txt"));
    // Its rules are asked for once.
    assert_eq!(shop.asked(), ["/robots.txt", "/old", "/new?x=1", "/sly"]);
}

#[tokio::test]
async fn our_own_network_is_not_asked() {
    let shop = TestShop::open(&[("/p", answer("200 OK", PAGE))]).await;
    let port = shop.address.rsplit(':').next().unwrap();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"] {
        let url = format!("http://{host}:{port}/p");
        let batch = pages(false).fetch_batch(&request(Vec::new()), &url).await.unwrap();
        check(&batch, Err("public address"));
    }
    assert_eq!(shop.asked(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_followed() {
    use reqwest::dns::Resolve as _;
    let resolve = |name: &str| ssrf_guard::PublicOnlyResolver.resolve(name.parse().unwrap());
    assert!(resolve("localhost").await.is_err());
}

#[tokio::test]
async fn a_host_is_asked_now_and_then() {
    let shop = TestShop::open(&[("/p", answer("200 OK", PAGE))]).await;
    let pause = Duration::from_millis(40);
    let fetch_policy = FetchPolicy { private: true, pause, timeout: Duration::from_secs(5) };
    let pages = Pages::new(fetch_policy, Arc::new(FakeClock::default()));
    let url = format!("{}/p", shop.address);
    let started = tokio::time::Instant::now();
    let request = request(Vec::new());
    let (one, two) =
        tokio::join!(pages.fetch_batch(&request, &url), pages.fetch_batch(&request, &url));
    check(&one.unwrap(), Ok(1999));
    check(&two.unwrap(), Ok(1999));
    // The rules, one page, the other page: two pauses between them at the least.
    assert!(started.elapsed() >= pause * 2);
}

#[tokio::test]
async fn what_the_catalogue_lacks_cannot_be_asked() {
    let pages = pages(true);
    let listed = async |request: CollectionRequest| {
        pages.batch_keys(&request).await.unwrap_err().message().to_owned()
    };
    assert!(
        listed(CollectionRequest { product: None, ..request(Vec::new()) })
            .await
            .contains("not in the catalogue")
    );
    assert!(listed(request(Vec::new())).await.contains("no sources"));
    let mut unpriced = request(vec!["http://a.example/".to_owned()]);
    unpriced.product.as_mut().unwrap().price = None;
    assert!(listed(unpriced).await.contains("no price"));
    let two = request(vec!["http://a.example/".to_owned(), "http://b.example/".to_owned()]);
    assert_eq!(
        pages.batch_keys(&CollectionRequest { depth: 1, ..two }).await.unwrap(),
        ["http://a.example/"]
    );
}
