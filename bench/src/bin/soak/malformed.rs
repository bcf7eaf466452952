//! Sends malformed input. Every answer must be an error of the client in the right envelope or, for
//! bytes that are not HTTP, a closed connection. An answer with a status from 500, or a late one,
//! is a failure.

use std::io;

use serde_json::{Value, json};
use testkit::TestRng;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::clients::archive::upload;
use crate::clients::{Client, REQUEST_TIMEOUT, error_word, failure_kind, rpc, tool_call};
use crate::http::{Request, Response};
use crate::observations::{FailureKind, RequestTimes, increment};

/// The form of an error.
#[derive(Debug, Clone, Copy)]
enum Envelope {
    Quotes,
    Indicators,
    Archive,
    /// A JSON-RPC error with a status from 400 to 499.
    Rpc,
    /// A JSON-RPC error or a tool's error with status 200.
    Tool,
}

/// What one case sends.
enum Input {
    Request(Request),
    /// Bytes for a connection of their own.
    Bytes(Vec<u8>),
}

struct Case {
    name: &'static str,
    input: Input,
    envelope: Envelope,
}

/// Sends one random case and judges the answer.
pub(crate) async fn send(client: &mut Client) {
    let Case { name, input, envelope } = random_case(&mut client.rng, &client.shared.token);
    let shared = std::sync::Arc::clone(&client.shared);
    increment(&shared.observations.counts.malformed);
    let began = Instant::now();
    let judged = match input {
        Input::Request(request) => {
            let answer = client.exchange(&request.bytes(shared.address)).await;
            answer.map(|response| {
                let right = is_right(envelope, &response);
                right.err().map(|why| format!("{why}: {} {}", response.status, response.excerpt()))
            })
        }
        Input::Bytes(bytes) => {
            let asked = timeout(REQUEST_TIMEOUT, raw(shared.address, &bytes)).await;
            asked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        }
    };
    let times = RequestTimes::since(began);
    match judged {
        Ok(None) => shared.observations.record_answer("malformed", times),
        Ok(Some(why)) => {
            shared.observations.record_failure(
                FailureKind::MalformedAccepted,
                times,
                &format!("{name}: {why}"),
            );
        }
        Err(error) => {
            shared.observations.record_failure(
                failure_kind(&error),
                times,
                &format!("{name}: {error}"),
            );
        }
    }
}

/// Sends bytes and returns what is wrong with the answer. A closed connection is right.
async fn raw(to: std::net::SocketAddr, bytes: &[u8]) -> io::Result<Option<String>> {
    let mut stream = TcpStream::connect(to).await?;
    // The server may close before it has read everything.
    drop(stream.write_all(bytes).await);
    drop(stream.shutdown().await);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    if read.is_err() || answer.is_empty() || answer.starts_with(b"HTTP/1.1 4") {
        return Ok(None);
    }
    // An HTTP/2 server answers a wrong preface with frames, which are no text.
    if !answer.starts_with(b"HTTP/") {
        return Ok(None);
    }
    let said: String = String::from_utf8_lossy(&answer).chars().take(200).collect();
    Ok(Some(said))
}

fn is_right(envelope: Envelope, response: &Response) -> Result<(), &'static str> {
    let (status, body) = (response.status, response.json());
    let of_client = (400..500).contains(&status);
    let has = |object: &Value, names: &[&str]| names.iter().all(|name| !object[*name].is_null());
    let right = match envelope {
        Envelope::Quotes => has(&body["error"], &["type", "message", "retryable"]),
        Envelope::Indicators => {
            has(&body["error"], &["code", "message", "retryable"]) && has(&body, &["requestId"])
        }
        Envelope::Archive => has(&body["error"], &["code", "message"]) && body["success"] == false,
        Envelope::Rpc => has(&body["error"], &["code", "message"]),
        Envelope::Tool => {
            let text = body["result"]["content"][0]["text"].as_str().unwrap_or_default();
            let error = serde_json::from_str(text).unwrap_or(Value::Null);
            let of_tool = body["result"]["isError"] == true
                && !error_word(&error).to_lowercase().contains("internal");
            let of_protocol = has(&body["error"], &["code", "message"]);
            return if (of_tool && !error_word(&error).is_empty() && status == 200)
                || (of_protocol && (of_client || status == 200))
            {
                Ok(())
            } else {
                Err("not a tool's error")
            };
        }
    };
    match (of_client, right) {
        (true, true) => Ok(()),
        (false, _) => Err("not a 4xx"),
        (true, false) => Err("not the contract's envelope"),
    }
}

fn random_case(rng: &mut TestRng, token: &str) -> Case {
    let at = rng.below(24);
    match at {
        0..=5 => bad_json(rng, at),
        6..=11 => wrong_types(rng, at, token),
        12..=16 => wrong_requests(at),
        17..=20 => broken_uploads(rng, at, token),
        _ => random_bytes(rng, at),
    }
}

fn request(name: &'static str, envelope: Envelope, request: Request) -> Case {
    Case { name, envelope, input: Input::Request(request) }
}

fn bytes(name: &'static str, bytes: Vec<u8>) -> Case {
    Case { name, envelope: Envelope::Quotes, input: Input::Bytes(bytes) }
}

/// A JSON text with an error in it.
fn broken_json(rng: &mut TestRng) -> Vec<u8> {
    let texts: [&[u8]; 6] =
        [b"{\"jsonrpc\": \"2.0\", \"id\"", b"\xff\xfe{}", b"", b"[[[[", b"{\"a\":}", b"nul"];
    rng.pick(&texts).to_vec()
}

fn bad_json(rng: &mut TestRng, at: u64) -> Case {
    let body = broken_json(rng);
    let post = |path: &str| Request { body: body.clone(), ..Request::post(path, &Value::Null) };
    match at {
        0 | 1 => {
            let broken = Request { body, ..rpc("tools/call", json!({})) };
            request("MCP with broken JSON", Envelope::Rpc, broken)
        }
        2 => request("indicators with broken JSON", Envelope::Indicators, post("/indicators")),
        3 => request("auth with broken JSON", Envelope::Archive, post("/api/arkiver/auth")),
        4 => request("insight with broken JSON", Envelope::Archive, post("/api/arkiver/insights")),
        _ => request("process with broken JSON", Envelope::Archive, post("/api/arkiver/process")),
    }
}

fn wrong_types(rng: &mut TestRng, at: u64, token: &str) -> Case {
    let values = [json!(7), json!(null), json!([]), json!({ "a": 1 }), json!("x".repeat(5_000))];
    let wrong = rng.pick(&values).clone();
    match at {
        6 => {
            let call = tool_call("quotes_live", json!({ "tickers": wrong }));
            request("quotes_live with a wrong type", Envelope::Tool, call)
        }
        7 => {
            let ask = json!({ "d": { "sku": wrong, "our_price": -1 }, "capability_token": token });
            request("ingest_tick with a wrong type", Envelope::Tool, tool_call("ingest_tick", ask))
        }
        8 => {
            let ask = json!({ "sku": "A", "our_price": wrong, "capability_token": "made up" });
            let call = tool_call("propose_price", ask);
            request("propose_price with a made-up token", Envelope::Tool, call)
        }
        9 => {
            let ask = json!({ "action": "register", "username": wrong, "password": 8 });
            let post = Request::post("/api/arkiver/auth", &ask);
            request("auth with a wrong type", Envelope::Archive, post)
        }
        10 => {
            let ask = json!({ "symbol": wrong, "interval": "7s", "windows": wrong });
            let post = Request::post("/indicators", &ask);
            request("indicators with a wrong type", Envelope::Indicators, post)
        }
        _ => {
            let call = tool_call("no_such_tool", json!({ "a": wrong }));
            request("an unknown tool", Envelope::Tool, call)
        }
    }
}

fn wrong_requests(at: u64) -> Case {
    let method = |method, path: &str| Request { method, ..Request::get(path) };
    match at {
        12 => request("DELETE of quotes", Envelope::Quotes, method("DELETE", "/v1/quotes")),
        13 => request("PUT of klines", Envelope::Indicators, method("PUT", "/klines")),
        14 => {
            let path = "/v1/quotes?tickers=%zz%00&depth=-1";
            request("quotes with a bad query", Envelope::Quotes, Request::get(path))
        }
        15 => {
            let path = "/stream/klines?symbol=BTCUSDT&interval=7s&after=-5";
            request("a stream with a bad query", Envelope::Indicators, Request::get(path))
        }
        _ => request("an unknown path", Envelope::Quotes, Request::get("/v9/no/such/path")),
    }
}

fn broken_uploads(rng: &mut TestRng, at: u64, token: &str) -> Case {
    let whole = upload("paper.txt", b"A paper.").token(token);
    match at {
        17 => {
            let body = whole.body[..whole.body.len() - 5 - rng.index(20)].to_vec();
            request("an upload without its end", Envelope::Archive, Request { body, ..whole })
        }
        18 => {
            let headers = "content-type: multipart/form-data\r\n".to_owned();
            let broken = Request { headers, ..whole }.token(token);
            request("an upload without a boundary", Envelope::Archive, broken)
        }
        19 => {
            let whole = upload("paper.exe", b"MZ\x90\x00\x03").token(token);
            request("an upload of an unknown type", Envelope::Archive, whole)
        }
        _ => {
            // The server refuses the length and reads no body.
            let head = "POST /indicators HTTP/1.1\r\nhost: localhost\r\n\
                        content-type: application/json\r\ncontent-length: 99999999\r\n\r\n{";
            bytes("a body over the limit", head.as_bytes().to_vec())
        }
    }
}

fn random_bytes(rng: &mut TestRng, at: u64) -> Case {
    let length = 1 + rng.index(2_000);
    let random: Vec<u8> = (0..length).map(|_| (rng.below(256)) as u8).collect();
    match at {
        21 => bytes("random bytes", random),
        22 => {
            let head = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(70_000));
            bytes("a path of 70,000 characters", head.into_bytes())
        }
        _ => {
            let head =
                "POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
            bytes("chunks that are none", [head.as_bytes(), &random].concat())
        }
    }
}
