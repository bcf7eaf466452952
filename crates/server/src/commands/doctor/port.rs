//! Checks that the port is free, or that a Stoa already listens on it.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Finding;
use crate::app::VERSION;

const WHAT: &str = "port";
/// A local server answers within this time.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most bytes of an answer; ours is a tenth of this.
const ANSWER_MAX: u64 = 16 * 1024;

pub(super) async fn check(listen: SocketAddr) -> Finding {
    let error = match TcpListener::bind(listen).await {
        Ok(_) => return Finding::ok(WHAT, format!("{listen} is free")),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::AddrInUse => {
            let asked = tokio::time::timeout(PATIENCE, health(reachable(listen))).await;
            judge(listen, asked.ok().flatten().as_deref().and_then(version))
        }
        ErrorKind::PermissionDenied => {
            Finding::fail(WHAT, format!("{listen} is not allowed for this user"))
                .fix("take a port above 1023 with --listen or PORT")
        }
        ErrorKind::AddrNotAvailable => {
            Finding::fail(WHAT, format!("{} is no address of this machine", listen.ip()))
                .fix("listen on 127.0.0.1, or on 0.0.0.0 for every address")
        }
        other => Finding::fail(WHAT, format!("{listen} cannot be listened on ({other})"))
            .fix("choose another with --listen or PORT"),
    }
}

fn judge(listen: SocketAddr, running: Option<String>) -> Finding {
    match running {
        Some(version) if version == VERSION => {
            Finding::ok(WHAT, format!("{listen} is served by a running stoa {version}"))
        }
        Some(version) => {
            Finding::warn(WHAT, format!("{listen} is served by stoa {version}, not {VERSION}"))
                .fix("restart it with this program")
        }
        None => Finding::fail(WHAT, format!("{listen} is held by another program"))
            .fix("stop that one (`ss -ltnp` shows it), or choose another with --listen or PORT"),
    }
}

/// Replaces an address that means every interface by loopback, because it cannot be called.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// The answer of any server at the address to `GET /health`.
async fn health(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // A truncated answer may still identify the server.
    _ = stream.take(ANSWER_MAX).read_to_end(&mut answer).await;
    String::from_utf8(answer).ok()
}

/// The version that a Stoa reports; `None` for any other server.
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
    fn only_a_stoa_is_taken_for_one() {
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
        assert_eq!(judge(listen, Some(VERSION.to_owned())).level, Level::Ok);
        assert_eq!(judge(listen, Some("0".to_owned())).level, Level::Warn);
        assert_eq!(judge(listen, None).level, Level::Fail);
    }

    #[test]
    fn every_interface_is_called_on_loopback() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.1:80", "10.0.0.1:80"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()), expected.parse().unwrap());
        }
    }

    #[tokio::test]
    async fn a_port_is_free_or_held() {
        let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = held.local_addr().unwrap();
        // The process that holds the port closes every connection.
        let hang_up = async {
            loop {
                drop(held.accept().await);
            }
        };
        let finding = tokio::select! {
            finding = check(listen) => finding,
            () = hang_up => unreachable!(),
        };
        assert_eq!(finding.level, Level::Fail, "{finding:?}");
        drop(held);
        assert_eq!(check(listen).await.level, Level::Ok);
    }
}
