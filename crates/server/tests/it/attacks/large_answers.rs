//! Many large answers asked for at once: what cannot be computed soon is refused with a time to
//! retry after, and short requests are answered meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::unread_answers::question;
use crate::process::{Folder, Server, http, mcp_headers};

const CLIENTS: usize = 60;
/// A debug build on two cores, which computes and validates meanwhile, answers within this time.
const SHORT_ANSWER_MAX: Duration = Duration::from_secs(3);

/// Asks for short answers over and over until it is stopped; returns the slowest of each kind.
async fn probe(server: &Server, stop: &AtomicBool) -> [Duration; 3] {
    let small = json!({ "symbol": "BTCUSDT", "interval": "1m", "limit": 10, "windows": {} });
    let mut worst = [Duration::ZERO; 3];
    while !stop.load(Ordering::Relaxed) {
        let params = json!({ "name": "get_klines", "arguments": { "symbol": "BTCUSDT",
            "interval": "1m", "limit": 10 } });
        let requests = [
            http().get(server.url("/health")),
            http().post(server.url("/indicators")).json(&small),
            mcp_headers(http().post(server.url("/mcp")), "tools/call", params),
        ];
        for (request, worst) in requests.into_iter().zip(&mut worst) {
            let asked = Instant::now();
            let answer = request.timeout(Duration::from_secs(60)).send().await.unwrap();
            assert_eq!(answer.status(), 200);
            *worst = asked.elapsed().max(*worst);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    worst
}

/// Asks for about 9 MB; returns whether it came, and panics if it was refused in another way than
/// with `overloaded`.
async fn ask(server: &Server, body: &str) -> bool {
    let request = http().post(server.url("/indicators")).header("content-type", "application/json");
    let mut answer = request.body(body.to_owned()).send().await.unwrap();
    if answer.status() == 200 {
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await.unwrap() {
            bytes += chunk.len();
        }
        assert!(bytes > 4 << 20, "{bytes} bytes");
        return true;
    }
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["code"], "overloaded", "{answer}");
    false
}

#[tokio::test]
async fn sixty_large_answers_at_once_keep_no_short_answer_waiting() {
    let folder = Folder::new();
    let settings = [
        ("STOA_RATE_PER_SECOND", "0"),
        ("STOA_ANSWER_MEMORY_MAX", "1073741824"),
        ("STOA_CALL_TIMEOUT_S", "300"),
    ];
    let server = Arc::new(Server::start(folder.path(), &settings));
    let body = question();
    // The history of the symbol is there before the attack.
    assert!(ask(&server, &body).await);
    let stop = Arc::new(AtomicBool::new(false));
    // A thread of its own, so that the clients of the attack do not delay the measurement.
    let probed = std::thread::spawn({
        let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        move || runtime.block_on(probe(&server, &stop))
    });
    let answers = join_all((0..CLIENTS).map(|_| ask(&server, &body))).await;
    stop.store(true, Ordering::Relaxed);
    let worst = probed.join().unwrap();
    let answered = answers.iter().filter(|it| **it).count();
    assert!((1..CLIENTS).contains(&answered), "{answered} of {CLIENTS} were answered");
    assert!(worst.iter().all(|it| *it < SHORT_ANSWER_MAX), "/health, REST and MCP: {worst:?}");
}
