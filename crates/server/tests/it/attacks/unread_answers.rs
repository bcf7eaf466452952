//! Large answers that are asked for and not read: they are held within the memory for answers, and
//! the next request is refused with a time to retry after.

use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::process::{Folder, Server, http};

/// A question whose answer has about 9 MB.
pub(super) fn question() -> String {
    let windows: Map<String, Value> = (0..40)
        .map(|at| (format!("ichimoku:a-name-of-thirty-characters-{at:02}"), json!({})))
        .collect();
    json!({ "symbol": "BTCUSDT", "interval": "1m", "limit": 5_000, "windows": windows }).to_string()
}

/// Asks on a socket with little room and reads the head of the answer alone.
async fn ask_unread(server: &Server, body: &str) -> (TcpStream, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(2_048).unwrap();
    let mut stream = socket.connect(server.address().parse().unwrap()).await.unwrap();
    let request = format!(
        "POST /indicators HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = vec![0; 1_024];
    let count = stream.read(&mut head).await.unwrap();
    (stream, String::from_utf8_lossy(&head[..count]).to_lowercase())
}

fn gauge(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn answers_that_are_not_read_stay_within_their_memory() {
    let folder = Folder::new();
    let settings = [("STOA_ANSWER_MEMORY_MAX", "67108864")];
    let server = Server::start(folder.path(), &settings);
    let body = question();
    let answers = join_all((0..6).map(|_| ask_unread(&server, &body))).await;
    let begun = answers.iter().filter(|(_, head)| head.starts_with("http/1.1 200")).count();
    // One client has 32 MiB.
    assert!((1..=4).contains(&begun), "{begun} answers are held");
    for (_, head) in answers.iter().filter(|(_, head)| !head.starts_with("http/1.1 200")) {
        assert!(head.starts_with("http/1.1 503") && head.contains("\nretry-after: 1"), "{head}");
    }
    let metrics = http().get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let held = gauge(&metrics, "stoa_answer_bytes ");
    assert!(held > 4 << 20 && held <= 32 << 20, "{held}");
    // A small answer is not counted in the memory for answers.
    let small = json!({ "symbol": "BTCUSDT", "interval": "1m", "limit": 10, "windows": {} });
    let small = http().post(server.url("/indicators")).json(&small).send().await.unwrap();
    assert_eq!(small.status(), 200);
    drop(answers);
    // A client that reads gets the whole answer.
    let read = http().post(server.url("/indicators")).header("content-type", "application/json");
    let read = loop {
        let answer = read.try_clone().unwrap().body(body.clone()).send().await.unwrap();
        match answer.status().as_u16() {
            200 => break answer.json::<Value>().await.unwrap(),
            status => assert_eq!(status, 503),
        }
    };
    assert_eq!(read["candles"].as_array().unwrap().len(), 5_000);
}
