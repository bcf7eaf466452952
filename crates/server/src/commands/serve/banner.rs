//! The table that `stoa serve` prints when it has started: addresses for clients, sources of data, and
//! access.

use std::net::SocketAddr;

use crate::app::VERSION;
use crate::commands::client_address;
use crate::commands::notice::Notices;
use crate::config::{Config, MoexProvider, Provider};

/// The scopes of all pricing tools but those that need `admin`.
const PRICING_SCOPES: &str = "read,write,collect,import,propose,explain,apply";

pub(super) fn show(config: &Config, listening: SocketAddr) {
    Notices::new(config.log.format)
        .table(&format!("stoa {VERSION} is serving"), &rows(config, listening));
}

fn rows(config: &Config, listening: SocketAddr) -> Vec<(&'static str, String)> {
    let base = format!("http://{}", client_address(listening));
    let rest = match config.surfaces.http {
        true => format!("{base}/v1/quotes?tickers=BTCUSDT"),
        false => "switched off".to_owned(),
    };
    let archive = match config.registration_open {
        true => format!("with an account: `stoa user add NAME`, or POST {base}/api/arkiver/auth"),
        false => {
            "registration is closed: `stoa user add NAME`, then POST /api/arkiver/auth logs in"
                .to_owned()
        }
    };
    let settings = config.file.used.as_ref();
    let mut rows = vec![
        ("MCP", format!("{base}/mcp")),
        ("REST", rest),
        ("docs", format!("{base}/docs")),
        ("markets", markets(config)),
        ("analyst", analyst(config)),
        ("data", config.data.display().to_string()),
        ("settings", settings.map_or_else(|| "no file".to_owned(), |it| it.display().to_string())),
        ("access", access(config).to_owned()),
        ("pricing", format!("with a token: `stoa token mint --scope {PRICING_SCOPES} --ttl 1h`")),
        ("archive", archive),
    ];
    if listening.ip().is_unspecified() {
        let port = listening.port();
        rows.insert(3, ("network", format!("every address of this machine, port {port}")));
    }
    if let Some(url) = &config.public_url {
        rows.insert(1, ("public", format!("{}/mcp", url.trim_end_matches('/'))));
    }
    rows
}

/// Who may read.
fn access(config: &Config) -> &'static str {
    match (config.is_open(), config.insecure) {
        (true, _) if config.listen.ip().is_loopback() => "open for reading on this machine",
        (true, _) => "open for reading to everyone who reaches this address",
        (false, true) => "bearer token required; --insecure changes nothing while a token is set",
        (false, false) => "bearer token required",
    }
}

/// The data source of each market.
fn markets(config: &Config) -> String {
    let simulated = format!("simulated, seed {} (every answer says so)", config.sim_seed);
    let crypto = match &config.provider {
        _ if config.arche_api_url.is_some() => "quotes from another server's API".to_owned(),
        Provider::Simulated => format!("Binance {simulated}"),
        Provider::Binance(site) => format!("Binance at {}", without_secrets(&site.rest_url)),
    };
    let stocks = match &config.moex {
        MoexProvider::Simulated if matches!(config.provider, Provider::Simulated) => {
            return match config.arche_api_url {
                Some(_) => format!("{crypto}; Moscow Exchange {simulated}"),
                None => format!("Binance and Moscow Exchange {simulated}"),
            };
        }
        MoexProvider::Simulated => format!("Moscow Exchange {simulated}"),
        MoexProvider::Iss(url) => format!("Moscow Exchange at {}", without_secrets(url)),
    };
    format!("{crypto}; {stocks}")
}

fn analyst(config: &Config) -> String {
    let model = config.language_model.as_ref();
    model.map_or_else(
        || "by rules, without a language model".to_owned(),
        |model| format!("with {}, and by rules where it fails", model.shown()),
    )
}

/// The address without user, password and query, which may be secret.
fn without_secrets(url: &str) -> String {
    let Ok(uri) = url.parse::<http::Uri>() else { return "an invalid address".to_owned() };
    let scheme = uri.scheme_str().unwrap_or("http");
    let host = uri.authority().map_or("", |it| it.as_str().rsplit('@').next().unwrap_or_default());
    format!("{scheme}://{host}{}", uri.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[track_caller]
    fn check(settings: Settings, expected: &str) {
        let settings = Settings { data: Some("/data".into()), ..settings };
        assert_eq!(markets(&Config::resolve(settings).unwrap()), expected);
    }

    #[test]
    fn every_market_is_named_with_its_source() {
        let set = str::to_owned;
        check(
            Settings::default(),
            "Binance and Moscow Exchange simulated, seed 42 (every answer says so)",
        );
        check(
            Settings { moex_provider: set("iss"), ..Settings::default() },
            "Binance simulated, seed 42 (every answer says so); Moscow Exchange at \
             https://iss.moex.com/iss",
        );
        check(
            Settings {
                provider: set("binance"),
                binance_rest_url: set("http://me:hunter2@127.0.0.1:9/"),
                ..Settings::default()
            },
            "Binance at http://127.0.0.1:9; Moscow Exchange simulated, seed 42 (every answer says \
             so)",
        );
        check(
            Settings { arche_api_url: Some(set("http://a")), ..Settings::default() },
            "quotes from another server's API; Moscow Exchange simulated, seed 42 (every answer \
             says so)",
        );
    }

    #[test]
    fn the_shown_address_can_be_used_by_a_client() {
        let of = |listening: &str, public: Option<&str>| {
            let settings = Settings {
                data: Some("/data".into()),
                public_url: public.map(str::to_owned),
                ..Settings::default()
            };
            let config = Config::resolve(settings).unwrap();
            let rows = rows(&config, listening.parse().unwrap());
            let row = |wanted: &str| {
                let found = rows.iter().find(|(name, _)| *name == wanted);
                found.map_or_else(String::new, |(_, value)| value.clone())
            };
            [row("MCP"), row("network"), row("public")]
        };
        let network = "every address of this machine, port 80";
        for (listening, public, expected) in [
            ("127.0.0.1:80", None, ["http://127.0.0.1:80/mcp", "", ""]),
            ("0.0.0.0:80", None, ["http://127.0.0.1:80/mcp", network, ""]),
            ("[::]:80", None, ["http://[::1]:80/mcp", network, ""]),
            ("10.0.0.7:80", None, ["http://10.0.0.7:80/mcp", "", ""]),
            (
                "0.0.0.0:80",
                Some("https://stoa.example/"),
                ["http://127.0.0.1:80/mcp", network, "https://stoa.example/mcp"],
            ),
        ] {
            assert_eq!(of(listening, public), expected, "{listening}");
        }
    }
}
