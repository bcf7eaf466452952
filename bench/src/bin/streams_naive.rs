//! The peers of the stream benchmark: an axum WebSocket server with a broadcast channel and a task
//! for each client. `naive` serializes and flushes every event per client with default buffers;
//! `tuned` serializes an event once, flushes what is queued together, and reads into 1 KiB.
//!
//! Usage: `streams_naive PORT naive|tuned`; the first line on stdin is an event, each further one a
//! number of events to broadcast. The program ends with its input.

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt as _;
use futures_util::SinkExt as _;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::sync::mpsc;

/// The length of Stoa's queue for a slow subscriber, rounded up to a power of two.
const CAPACITY: usize = 1_024;
/// Enough for a client's subscription message; the default is 128 KiB for every connection.
const TUNED_BUFFER_BYTES: usize = 1_024;

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KlineEvent {
    r#type: String,
    symbol: String,
    interval: String,
    candle: Candle,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    deltas: BTreeMap<String, Option<f64>>,
    generated_at: i64,
}

#[derive(Clone, Serialize, Deserialize)]
struct Candle {
    t: i64,
    o: f64,
    h: f64,
    l: f64,
    c: f64,
    v: f64,
    closed: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: streams_naive PORT naive|tuned";
    let port: u16 = std::env::args().nth(1).ok_or(usage)?.parse()?;
    let tuned = match std::env::args().nth(2).as_deref() {
        Some("naive") => false,
        Some("tuned") => true,
        _ => return Err(usage.into()),
    };
    let mut first = String::new();
    std::io::stdin().read_line(&mut first)?;
    let mut event: KlineEvent = serde_json::from_str(&first)?;
    let (orders, mut ordered) = mpsc::unbounded_channel::<u64>();
    thread::spawn(move || {
        let lines = std::io::stdin().lines().map_while(Result::ok);
        for count in lines.map_while(|line| line.parse().ok()) {
            if orders.send(count).is_err() {
                return;
            }
        }
    });
    let (events, _) = broadcast::channel(CAPACITY);
    let (texts, _) = broadcast::channel(CAPACITY);
    let router = if tuned {
        Router::new().route("/ws", any(subscribe_tuned)).with_state(texts.clone())
    } else {
        Router::new().route("/ws", any(subscribe)).with_state(events.clone())
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let generate = async {
        while let Some(count) = ordered.recv().await {
            for _ in 0..count {
                event.generated_at += 1;
                event.candle.c =
                    if event.generated_at % 2 == 0 { event.candle.h } else { event.candle.l };
                // Sending fails only while no client is connected.
                if tuned {
                    let Ok(text) = serde_json::to_string(&event) else { return };
                    drop(texts.send(Utf8Bytes::from(text)));
                } else {
                    drop(events.send(event.clone()));
                }
            }
        }
    };
    tokio::select! {
        served = async { axum::serve(listener, router).await } => Ok(served?),
        () = generate => Ok(()),
    }
}

async fn subscribe(State(events): State<Sender<KlineEvent>>, up: WebSocketUpgrade) -> Response {
    up.on_upgrade(move |socket| send_all(socket, events))
}

/// Reads as well, because closings and pings are handled while reading.
async fn send_all(mut socket: WebSocket, events: Sender<KlineEvent>) {
    let mut events = events.subscribe();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            message = socket.recv() => match message {
                Some(Ok(_)) => continue,
                _ => return,
            },
        };
        let event = match event {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let Ok(text) = serde_json::to_string(&event) else { return };
        if socket.send(Message::Text(text.into())).await.is_err() {
            return;
        }
    }
}

async fn subscribe_tuned(State(texts): State<Sender<Utf8Bytes>>, up: WebSocketUpgrade) -> Response {
    up.read_buffer_size(TUNED_BUFFER_BYTES)
        .write_buffer_size(TUNED_BUFFER_BYTES)
        .on_upgrade(move |socket| send_all_tuned(socket, texts.subscribe()))
}

async fn send_all_tuned(mut socket: WebSocket, mut texts: Receiver<Utf8Bytes>) {
    loop {
        let text = tokio::select! {
            text = texts.recv() => text,
            message = socket.recv() => match message {
                Some(Ok(_)) => continue,
                _ => return,
            },
        };
        let mut text = match text {
            Ok(text) => text,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        loop {
            if socket.feed(Message::Text(text)).await.is_err() {
                return;
            }
            text = match texts.try_recv() {
                Ok(text) => text,
                Err(TryRecvError::Lagged(_) | TryRecvError::Empty) => break,
                Err(TryRecvError::Closed) => return,
            };
        }
        if socket.flush().await.is_err() {
            return;
        }
    }
}
