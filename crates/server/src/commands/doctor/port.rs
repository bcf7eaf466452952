//! Checks that the port is free, or that another Stoa server already listens on it.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Finding;
use crate::app::VERSION;
use crate::commands::client_address;

const WHAT: &str = "port";
/// How long a server on this machine may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// How many bytes of an answer are read; the answer of a Stoa server has a tenth of this.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

pub(super) async fn check(listen: SocketAddr) -> Finding {
    let error = match TcpListener::bind(listen).await {
        Ok(_) => return Finding::ok(WHAT, format!("{listen} is free")),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::AddrInUse => {
            let answer = tokio::time::timeout(TIMEOUT, health(client_address(listen))).await;
            finding(listen, answer.ok().flatten().as_deref().and_then(version))
        }
        ErrorKind::PermissionDenied => {
            Finding::fail(WHAT, format!("{listen} is not allowed for this user"))
                .fix("take a port above 1023 with --listen or PORT")
        }
        ErrorKind::AddrNotAvailable => {
            Finding::fail(WHAT, format!("{} is not an address of this machine", listen.ip()))
                .fix("listen on 127.0.0.1, or on 0.0.0.0 for every address")
        }
        other => Finding::fail(WHAT, format!("{listen} cannot be listened on ({other})"))
            .fix("choose another with --listen or PORT"),
    }
}

/// The finding for a port in use; `running` is the version of the Stoa server on it.
fn finding(listen: SocketAddr, running: Option<String>) -> Finding {
    match running {
        Some(version) if version == VERSION => {
            Finding::ok(WHAT, format!("{listen} is served by a running stoa {version}"))
        }
        Some(version) => {
            Finding::warn(WHAT, format!("{listen} is served by stoa {version}, not {VERSION}"))
                .fix("restart it with this program")
        }
        None => Finding::fail(WHAT, format!("{listen} is used by another program"))
            .fix("stop that one (`ss -ltnp` shows it), or choose another with --listen or PORT"),
    }
}

/// The answer of any server at the address to `GET /health`.
async fn health(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // A truncated answer may still identify the server.
    _ = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await;
    String::from_utf8(answer).ok()
}

/// The version that a Stoa server reports; `None` for any other server.
fn version(answer: &str) -> Option<String> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1)? != "200" {
        return None;
    }
    let body: Value = serde_json::from_str(body.trim()).ok()?;
    body.get("uptime")?.as_u64()?;
    let version = body.get("version")?.as_str()?;
    let plain = |it: char| it.is_ascii_alphanumeric() || ".-+".contains(it);
    (version.len() <= 64 && version.chars().all(plain)).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn only_a_stoa_server_is_recognized() {
        let ours =
            "HTTP/1.1 200 OK\r\na: b\r\n\r\n{\"status\":\"ok\",\"uptime\":1,\"version\":\"9.1\"}";
        for (answer, expected) in [
            (ours, Some("9.1")),
            (&ours.replace("200 OK", "404 Not Found"), None),
            (&ours.replace("\"uptime\":1,", ""), None),
            (&ours.replace("9.1", "9 1"), None),
            ("HTTP/1.1 200 OK\r\n\r\n<html>", None),
            ("SSH-2.0-OpenSSH\r\n", None),
            ("", None),
        ] {
            assert_eq!(version(answer).as_deref(), expected, "{answer}");
        }
        let listen = SocketAddr::from(([127, 0, 0, 1], 1));
        assert_eq!(finding(listen, Some(VERSION.to_owned())).level, Level::Ok);
        assert_eq!(finding(listen, Some("0".to_owned())).level, Level::Warn);
        assert_eq!(finding(listen, None).level, Level::Fail);
    }

    #[test]
    fn a_server_on_every_address_is_reached_on_loopback() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.1:80", "10.0.0.1:80"),
        ] {
            assert_eq!(client_address(listen.parse().unwrap()), expected.parse().unwrap());
        }
    }

    #[tokio::test]
    async fn a_port_is_free_or_in_use() {
        let used = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = used.local_addr().unwrap();
        // The process on the port closes every connection.
        let hang_up = async {
            loop {
                drop(used.accept().await);
            }
        };
        let finding = tokio::select! {
            finding = check(listen) => finding,
            () = hang_up => unreachable!(),
        };
        assert_eq!(finding.level, Level::Fail, "{finding:?}");
        drop(used);
        assert_eq!(check(listen).await.level, Level::Ok);
    }
}
