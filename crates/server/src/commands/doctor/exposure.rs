//! Checks which clients can reach the server, and whether the related settings are consistent.

use auth::Secret;

use super::Finding;
use crate::config::{Config, Surfaces};

const WHAT: &str = "exposure";
/// A shorter token can be guessed.
const TOKEN_LENGTH_MIN: usize = 16;

pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let listen = config.listen;
    let token = config.http_token.as_ref().map(Secret::reveal);
    findings.push(match (listen.ip().is_loopback(), token) {
        (_, Some(token)) if token.len() < TOKEN_LENGTH_MIN => {
            let level = match listen.ip().is_loopback() {
                true => Finding::warn,
                false => Finding::fail,
            };
            level(WHAT, format!("MCP_HTTP_TOKEN is shorter than {TOKEN_LENGTH_MIN} characters"))
                .fix("make one with `openssl rand -hex 32`")
        }
        (false, None) => Finding::fail(
            WHAT,
            format!("{listen} can be reached from other machines, and no token is set"),
        )
        .fix("set MCP_HTTP_TOKEN, or listen on 127.0.0.1; `stoa serve` refuses otherwise"),
        (true, None) => Finding::ok(WHAT, "only this machine, open for reading"),
        (true, Some(_)) => Finding::ok(WHAT, "only this machine, with a token"),
        (false, Some(_)) => {
            Finding::ok(WHAT, format!("{listen}, with a token; a proxy must add TLS"))
        }
    });
    if config.cors_origins.iter().any(|origin| origin == "*") {
        findings.push(
            Finding::warn(WHAT, "MCP_CORS_ORIGINS lets every web page call the server")
                .fix("list the origins of your own pages"),
        );
    }
    for origin in config.cors_origins.iter().filter(|origin| *origin != "*") {
        if !is_origin(origin) {
            findings.push(
                Finding::warn(
                    WHAT,
                    format!("{origin:?} in MCP_CORS_ORIGINS matches no browser's origin"),
                )
                .fix("write scheme, host and port only, such as https://app.example.com"),
            );
        }
    }
    findings
}

/// A description of the served interfaces.
pub(super) fn surfaces(on: Surfaces) -> Finding {
    let all = [("MCP", true), ("REST", on.http), ("SSE", on.sse), ("WebSocket", on.ws)];
    let names = |wanted: bool| {
        let some = all.iter().filter(|(_, on)| *on == wanted).map(|(name, _)| *name);
        some.collect::<Vec<_>>().join(", ")
    };
    Finding::ok(
        "surfaces",
        match names(false).as_str() {
            "" => names(true),
            off => format!("{}; turned off: {off}", names(true)),
        },
    )
}

/// The form of an origin: a scheme and a host without a path.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else { return false };
    !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '?', '#', '@', ' '])
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::config::Settings;

    #[track_caller]
    fn check(listen: &str, token: Option<&str>, origins: &[&str], expected: &[Level]) {
        let settings = Settings {
            listen: Some(listen.to_owned()),
            http_token: token.map(Secret::new),
            cors_origins: origins.iter().map(|it| (*it).to_owned()).collect(),
            data: Some("/data".into()),
            ..Settings::default()
        };
        let config = Config::resolve(settings).unwrap();
        let findings = super::check(&config);
        let levels: Vec<_> = findings.iter().map(|it| it.level).collect();
        assert_eq!(levels, expected, "{listen} {token:?} {origins:?}");
        if let Some(secret) = token {
            assert!(!format!("{findings:?}").contains(secret));
        }
    }

    #[test]
    fn settings_of_exposure_are_consistent_or_found() {
        use Level::{Fail, Ok, Warn};
        let long = Some("0123456789abcdef");
        check("127.0.0.1:8080", None, &[], &[Ok]);
        check("127.0.0.1:8080", long, &[], &[Ok]);
        check("[::1]:8080", None, &[], &[Ok]);
        check("0.0.0.0:8080", None, &[], &[Fail]);
        check("0.0.0.0:8080", long, &[], &[Ok]);
        check("0.0.0.0:8080", Some("secret"), &[], &[Fail]);
        check("127.0.0.1:8080", Some("secret"), &[], &[Warn]);
        check("127.0.0.1:8080", None, &["*"], &[Ok, Warn]);
        check("127.0.0.1:8080", None, &["https://a.example", "http://b:3000"], &[Ok]);
        check("127.0.0.1:8080", None, &["a.example", "https://a.example/"], &[Ok, Warn, Warn]);
    }

    #[test]
    fn interfaces_that_are_turned_off_are_named() {
        let detail = |http, sse, ws| surfaces(Surfaces { http, sse, ws }).detail;
        assert_eq!(detail(true, true, true), "MCP, REST, SSE, WebSocket");
        assert_eq!(detail(true, false, true), "MCP, REST, WebSocket; turned off: SSE");
    }
}
