//! The WebSocket server one writes first: a broadcast channel, and a task for each client that
//! serializes every event and sends it.
//!
//! Usage: `streams_naive PORT`; the first line on stdin is an event, each further one a number of
//! events to broadcast. It ends with its input.

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt as _;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Sender};
use tokio::sync::mpsc;

/// As many as Stoa keeps for a slow reader, and a little more.
const CAPACITY: usize = 1_024;

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
    let port: u16 = std::env::args().nth(1).ok_or("usage: streams_naive PORT")?.parse()?;
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
    let router = Router::new().route("/ws", any(subscribe)).with_state(events.clone());
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let generate = async {
        while let Some(count) = ordered.recv().await {
            for _ in 0..count {
                event.generated_at += 1;
                event.candle.c =
                    if event.generated_at % 2 == 0 { event.candle.h } else { event.candle.l };
                // Nobody listening is no reason to stop.
                drop(events.send(event.clone()));
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

/// Reads as well, for without it closings and pings would go unheard.
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
