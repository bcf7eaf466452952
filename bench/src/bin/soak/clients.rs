//! The parts that all active clients share: a connection for each client, one rate for all of them,
//! requests that wait until the server is up, and a check of every answer.

pub(crate) mod archive;
pub(crate) mod idle;
pub(crate) mod market;
pub(crate) mod pricing;
pub(crate) mod streams;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::TestRng;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::acknowledged::Acknowledged;
use crate::clients::idle::IdleCounts;
use crate::http::{Connection, Request, Response};
use crate::malformed;
use crate::observations::{FailureKind, Observations, RequestTimes, increment};
use crate::pace::Pace;

/// No answer within this time is a failure.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// One request in this many is malformed.
const MALFORMED_ONE_IN: u64 = 20;
/// The longest wait that a client accepts with 429.
const RETRY_AFTER_MAX: f64 = 5.0;
const PROTOCOL: &str = "2026-07-28";

/// The number of the server's life while it answers, `None` while it is down.
pub(crate) type Life = Option<u64>;

/// What all clients share.
pub(crate) struct Shared {
    pub(crate) address: SocketAddr,
    /// The capability token for the pricing tools.
    pub(crate) token: String,
    pub(crate) observations: Observations,
    pub(crate) acknowledged: Acknowledged,
    pub(crate) idle: IdleCounts,
    pub(crate) life: watch::Receiver<Life>,
    pub(crate) pace: Pace,
    /// Ends the load.
    pub(crate) stop: CancellationToken,
}

impl Shared {
    /// Waits until the server answers and returns the number of its life.
    pub(crate) async fn wait_until_up(&self) -> u64 {
        let mut life = self.life.clone();
        let up = life.wait_for(Option::is_some).await;
        up.ok().and_then(|it| *it).unwrap_or_default()
    }
}

/// Why a request has no successful answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    /// The load is over.
    LoadOver,
    /// No answer came, so the server may or may not have done the work.
    Unknown,
    /// The answer was an error.
    Refused,
}

/// One client with its connection.
pub(crate) struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rng: TestRng,
    pub(crate) number: usize,
    /// The connection, with the number of the server's life in which it was opened.
    connection: Option<(u64, Connection)>,
}

impl Client {
    pub(crate) fn new(shared: &Arc<Shared>, seed: u64, number: usize) -> Self {
        let rng = TestRng::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(number as u64));
        Self { shared: Arc::clone(shared), rng, number, connection: None }
    }

    /// Waits for a turn of the shared rate and for a server that is up.
    async fn turn(&self) -> Result<(), RequestFailure> {
        let turn = async {
            self.shared.pace.wait().await;
            self.shared.wait_until_up().await
        };
        self.shared.stop.run_until_cancelled(turn).await.map(drop).ok_or(RequestFailure::LoadOver)
    }

    /// Sends one request of the load at the shared rate. One in 20 is preceded by a malformed one.
    pub(crate) async fn request(
        &mut self,
        kind: &'static str,
        request: &Request,
    ) -> Result<Response, RequestFailure> {
        self.turn().await?;
        if self.rng.one_in(MALFORMED_ONE_IN) {
            malformed::send(self).await;
            self.turn().await?;
        }
        self.request_now(kind, request).await
    }

    /// Sends a request at once, outside the shared rate.
    pub(crate) async fn request_now(
        &mut self,
        kind: &'static str,
        request: &Request,
    ) -> Result<Response, RequestFailure> {
        let began = Instant::now();
        let answer = self.exchange(&request.bytes(self.shared.address)).await;
        let (observations, times) = (&self.shared.observations, RequestTimes::since(began));
        let response = match answer {
            Ok(response) => response,
            Err(error) => {
                let failure = failure_kind(&error);
                observations.record_failure(
                    failure,
                    times,
                    &format!("{kind} {}: {error}", request.path),
                );
                return Err(RequestFailure::Unknown);
            }
        };
        observations.record_answer(kind, times);
        let text =
            || format!("{kind} {}: {} {}", request.path, response.status, response.excerpt());
        match response.status {
            200..300 => return Ok(response),
            429 => {
                increment(&observations.counts.throttled);
                let wait = response.header("retry-after").and_then(|it| it.parse().ok());
                let wait =
                    Duration::from_secs_f64(wait.unwrap_or(1.0_f64).clamp(0.1, RETRY_AFTER_MAX));
                self.shared.stop.run_until_cancelled(tokio::time::sleep(wait)).await;
            }
            _ => observations.record_failure(refusal_kind(&response), times, &text()),
        }
        Err(RequestFailure::Refused)
    }

    /// Sends a request at once and returns any answer with a status below 500, for checks that
    /// expect a refusal.
    pub(crate) async fn response_below_500(
        &mut self,
        kind: &'static str,
        request: &Request,
    ) -> Result<Response, RequestFailure> {
        let began = Instant::now();
        let answer = self.exchange(&request.bytes(self.shared.address)).await;
        let (observations, times) = (&self.shared.observations, RequestTimes::since(began));
        match answer {
            Ok(response) if response.status < 500 => Ok(response),
            Ok(response) => {
                let text = format!("{kind} {}: {}", request.path, response.excerpt());
                observations.record_failure(refusal_kind(&response), times, &text);
                Err(RequestFailure::Unknown)
            }
            Err(error) => {
                let text = format!("{kind} {}: {error}", request.path);
                observations.record_failure(failure_kind(&error), times, &text);
                Err(RequestFailure::Unknown)
            }
        }
    }

    /// Sends bytes on the kept connection, or on a new one, and reads one answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> io::Result<Response> {
        let life = self.shared.life.borrow().unwrap_or_default();
        let kept = self.connection.take().filter(|(of, _)| *of == life);
        let address = self.shared.address;
        let exchanged = async {
            let mut connection = match kept {
                Some((_, connection)) => connection,
                None => Connection::open(address).await?,
            };
            let response = connection.exchange(request).await?;
            Ok::<_, io::Error>((connection, response))
        };
        let (connection, response) =
            timeout(REQUEST_TIMEOUT, exchanged).await.map_err(|_| io::ErrorKind::TimedOut)??;
        let closes =
            response.header("connection").is_some_and(|it| it.eq_ignore_ascii_case("close"));
        if !closes {
            self.connection = Some((life, connection));
        }
        Ok(response)
    }

    /// Calls a tool over MCP and returns its structured content.
    pub(crate) async fn tool(
        &mut self,
        kind: &'static str,
        name: &str,
        arguments: Value,
    ) -> Result<Value, RequestFailure> {
        let began = Instant::now();
        let response = self.request(kind, &tool_call(name, arguments)).await?;
        self.tool_result(kind, &response, RequestTimes::since(began))
    }

    /// The same outside the shared rate.
    pub(crate) async fn tool_now(
        &mut self,
        kind: &'static str,
        name: &str,
        arguments: Value,
    ) -> Result<Value, RequestFailure> {
        let began = Instant::now();
        let response = self.request_now(kind, &tool_call(name, arguments)).await?;
        self.tool_result(kind, &response, RequestTimes::since(began))
    }

    fn tool_result(
        &self,
        kind: &str,
        response: &Response,
        times: RequestTimes,
    ) -> Result<Value, RequestFailure> {
        let mut answer = response.json();
        let result = &mut answer["result"];
        if result.is_object() && result["isError"] != true {
            return Ok(result["structuredContent"].take());
        }
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let word = error_word(&serde_json::from_str(text).unwrap_or(Value::Null));
        let observations = &self.shared.observations;
        let text = format!("{kind} over MCP: {}", response.excerpt());
        observations.record_failure(error_kind(&word), times, &text);
        Err(RequestFailure::Refused)
    }
}

pub(crate) fn failure_kind(error: &io::Error) -> FailureKind {
    match error.kind() {
        io::ErrorKind::TimedOut => FailureKind::Timeout,
        _ => FailureKind::Disconnected,
    }
}

/// What an answer means that a valid request should not get.
pub(crate) fn refusal_kind(response: &Response) -> FailureKind {
    match response.status {
        500.. if names_the_exchange(&error_word(&response.json())) => FailureKind::ExchangeFailure,
        500.. => FailureKind::ServerError,
        _ => FailureKind::Refused,
    }
}

/// A `tools/call` of the stateless protocol.
pub(crate) fn tool_call(name: &str, arguments: Value) -> Request {
    rpc("tools/call", json!({ "name": name, "arguments": arguments })).header("mcp-name", name)
}

pub(crate) fn rpc(method: &str, mut params: Value) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": { "name": "soak", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    Request::post("/mcp", &body)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", PROTOCOL)
        .header("mcp-method", method)
}

/// The word for the error in the envelope of any contract.
pub(crate) fn error_word(envelope: &Value) -> String {
    let error = &envelope["error"];
    let words = [&error["code"], &error["type"], &envelope["error_code"], &envelope["type"]];
    words.iter().find_map(|it| it.as_str()).unwrap_or_default().to_owned()
}

/// Whether the error says that the exchange failed, not the server. Faults are injected there.
fn names_the_exchange(word: &str) -> bool {
    matches!(word, "UPSTREAM_ERROR" | "upstream_error" | "history_filling")
}

/// What an error in the words of a contract means where there is no status.
pub(crate) fn error_kind(word: &str) -> FailureKind {
    if names_the_exchange(word) {
        FailureKind::ExchangeFailure
    } else if is_server_error(word) {
        FailureKind::ServerError
    } else {
        FailureKind::Refused
    }
}

/// Whether a tool's error would have a status from 500 over HTTP.
fn is_server_error(word: &str) -> bool {
    const WORDS: [&str; 9] = [
        "INTERNAL_ERROR",
        "DATABASE_ERROR",
        "internal_error",
        "internal",
        "unavailable",
        "timeout",
        "overloaded",
        "store_unavailable",
        "",
    ];
    WORDS.contains(&word)
}
