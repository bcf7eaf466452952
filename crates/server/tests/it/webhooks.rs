//! Webhooks of tasks against the binary: delivered after a kill, and never to private addresses.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::process::{Folder, Server, http};

const LONG: Duration = Duration::from_mins(1);

#[derive(Default)]
struct Received {
    /// The response to every notification.
    status: AtomicU16,
    all: Mutex<Vec<Value>>,
    news: Notify,
}

/// A webhook receiver. It stops when it is dropped.
struct Receiver {
    url: String,
    received: Arc<Received>,
    _server: JoinSet<()>,
}

impl Receiver {
    async fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received = Arc::new(Received { status: AtomicU16::new(status), ..Received::default() });
        let routes = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&received));
        let mut server = JoinSet::new();
        server.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, received, _server: server }
    }

    /// Waits until a matching notification arrived.
    async fn until(&self, is_complete: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let received = async {
            loop {
                let news = self.received.news.notified();
                let all = self.received.all.lock().clone();
                if is_complete(&all) {
                    return all;
                }
                news.await;
            }
        };
        tokio::time::timeout(LONG, received).await.unwrap()
    }
}

async fn receive(State(received): State<Arc<Received>>, body: String) -> StatusCode {
    received.all.lock().push(serde_json::from_str(&body).unwrap());
    received.news.notify_one();
    StatusCode::from_u16(received.status.load(Ordering::SeqCst)).unwrap()
}

async fn send(server: &Server, webhook: &str) -> (u16, Value) {
    let request_body = json!({
        "message": { "messageId": "1", "role": "ROLE_USER", "parts": [{ "text": "SBER" }] },
        "configuration": { "taskPushNotificationConfig": { "id": "w", "url": webhook } },
    });
    let request = http().post(server.url("/a2a/rest/message:send")).header("A2A-Version", "1.0");
    let response = request.json(&request_body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

fn state(notice: &Value) -> &str {
    notice["statusUpdate"]["status"]["state"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn undelivered_webhooks_are_delivered_after_a_restart() {
    let folder = Folder::new();
    let settings = [("STOA_PRIVATE_WEBHOOKS", "true")];
    let receiver = Receiver::start(503).await;
    let server = Server::start(folder.path(), &settings);
    let (status, sent) = send(&server, &receiver.url).await;
    assert_eq!((status, &sent["task"]["status"]["state"]), (200, &json!("TASK_STATE_COMPLETED")));
    receiver.until(|all| !all.is_empty()).await;
    server.kill();
    assert!(receiver.received.all.lock().iter().all(|it| state(it) == "TASK_STATE_WORKING"));

    receiver.received.all.lock().clear();
    receiver.received.status.store(204, Ordering::SeqCst);
    let _server = Server::start(folder.path(), &settings);
    let ended = |all: &[Value]| all.iter().any(|it| state(it) == "TASK_STATE_COMPLETED");
    let all = receiver.until(ended).await;
    let order: Vec<&str> = all.iter().map(state).collect();
    assert_eq!(order, ["TASK_STATE_WORKING", "", "TASK_STATE_COMPLETED"]);
    assert_eq!(
        all[1]["artifactUpdate"]["artifact"]["parts"],
        sent["task"]["artifacts"][0]["parts"]
    );
}

#[tokio::test]
async fn private_webhook_addresses_are_refused_unless_allowed() {
    let (folder, receiver) = (Folder::new(), Receiver::start(204).await);
    let server = Server::start(folder.path(), &[]);
    for inside in [
        receiver.url.as_str(),
        "http://localhost:1/x",
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:10.0.0.1]/",
        "http://2130706433/",
        "file:///etc/passwd",
        "https://user:pass@example.com/",
    ] {
        let (status, refused) = send(&server, inside).await;
        assert_eq!(status, 400, "{inside}: {refused}");
    }
    let list = http().get(server.url("/a2a/rest/tasks")).header("A2A-Version", "1.0");
    let list: Value = list.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["totalSize"], 0, "nothing was begun");
    assert!(receiver.received.all.lock().is_empty());
}
