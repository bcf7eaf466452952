//! Configuration: `stoa.toml`, then the environment, then flags, each over the one before.
//! Unknown keys are errors, because a setting that is silently ignored is worse than none.

mod settings;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use auth::Secret;
use contract::{Concurrency, View};
use market_binance::{ApiKey, BinanceConfig, StreamConfig};
use service_indicators::StreamLimits;
use telemetry::{LogConfig, LogFormat};
use transport_http::ClientLimits;

use crate::exit::CommandError;
use crate::language_model::ModelSettings;
pub(crate) use settings::Settings;

/// The port when nothing says otherwise.
const PORT: u16 = 8080;
/// Which market is simulated when nothing says otherwise.
const SIM_SEED: u64 = 42;

/// Everything a command needs to know, checked.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
    /// Holds a password, often.
    pub(crate) database_url: Option<Secret>,
    pub(crate) provider: Provider,
    pub(crate) moex: MoexProvider,
    /// Answers market questions where it is set; otherwise rules do.
    pub(crate) language_model: Option<ModelSettings>,
    pub(crate) sim_seed: u64,
    pub(crate) view: View,
    pub(crate) http_token: Option<Secret>,
    pub(crate) surfaces: Surfaces,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) allowed_hosts: Vec<String>,
    /// Scheme and authority as clients reach this server, where requests do not show it.
    pub(crate) public_url: Option<String>,
    /// Whether agents' webhooks may lie inside our own network.
    pub(crate) private_webhooks: bool,
    /// Whether prices may be collected from addresses inside our own network.
    pub(crate) private_sources: bool,
    /// Whether anybody may register with the archive.
    pub(crate) registration_open: bool,
    pub(crate) rate: limits::RateLimit,
    pub(crate) call_patience: Duration,
    /// How many calls of one tool run at once and wait, where its contract does not say.
    pub(crate) tool_concurrency: Concurrency,
    /// How long a client may take over its headers, its body, and the time between requests.
    pub(crate) client_patience: Duration,
    pub(crate) body_bytes_max: usize,
    pub(crate) connections_max: usize,
    /// Of those, from one address; 0 is no limit, and it depends where nobody says.
    pub(crate) connections_per_client_max: Option<usize>,
    pub(crate) client_streams: ClientLimits,
    pub(crate) stream_limits: StreamLimits,
    pub(crate) arche_api_url: Option<String>,
    pub(crate) arche_api_token: Option<Secret>,
    /// The caller's own token, for stdio and `call`.
    pub(crate) token: Option<Secret>,
    pub(crate) log: LogConfig,
}

/// What `stoa serve` offers beside MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surfaces {
    /// REST, and with it everything below.
    pub(crate) http: bool,
    pub(crate) sse: bool,
    pub(crate) ws: bool,
}

/// Where live crypto prices come from.
#[derive(Debug, Clone)]
pub(crate) enum Provider {
    /// The simulated exchange, in this process.
    Simulated,
    Binance(BinanceSite),
}

/// Where the Moscow Exchange's data come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MoexProvider {
    /// The simulated exchange, in this process.
    Simulated,
    /// ISS at this address.
    Iss(String),
}

/// Where the exchange is, and who we are to it.
#[derive(Debug, Clone)]
pub(crate) struct BinanceSite {
    pub(crate) rest_url: String,
    /// Where candles are heard as they form; the place that belongs to `rest_url` if nobody says.
    pub(crate) ws_url: Option<String>,
    pub(crate) api_key: Option<Secret>,
}

impl BinanceSite {
    /// The adapter's own settings, with what was set here.
    pub(crate) fn adapter(&self, source: &str) -> Result<BinanceConfig, CommandError> {
        let mut config = BinanceConfig::new(&self.rest_url, source);
        if let Some(url) = &self.ws_url {
            config.streams = StreamConfig::new(url);
        }
        config.api_key = match &self.api_key {
            Some(key) => Some(ApiKey::new(key.reveal())?),
            None => None,
        };
        Ok(config)
    }
}

impl Config {
    pub(crate) fn resolve(settings: Settings) -> Result<Self, CommandError> {
        let listen = listen(&settings)?;
        let binance = BinanceSite {
            rest_url: settings
                .binance_rest_url
                .unwrap_or_else(|| "https://data-api.binance.vision".to_owned()),
            ws_url: settings.binance_ws_url,
            api_key: settings.binance_api_key.map(Secret::new),
        };
        let provider = provider(settings.provider.as_deref(), binance)?;
        let moex = moex(settings.moex_provider.as_deref(), settings.moex_iss_url)?;
        let language_model = ModelSettings::new(
            settings.llm_base_url,
            settings.llm_api_key,
            settings.llm_model,
            settings.llm_api.as_deref(),
            settings.llm_timeout_s,
        )?;
        let http = settings.enable_http.unwrap_or(true);
        let surfaces = Surfaces {
            http,
            sse: http && settings.enable_sse.unwrap_or(true),
            ws: http && settings.enable_ws.unwrap_or(true),
        };
        let call_patience = patience("call_timeout_s", settings.call_timeout_s, 30.0)?;
        let client_patience = patience("client_timeout_s", settings.client_timeout_s, 15.0)?;
        Ok(Self {
            listen,
            provider,
            moex,
            language_model,
            call_patience,
            client_patience,
            surfaces,
            tool_concurrency: concurrency(settings.tool_concurrency, settings.tool_queue)?,
            data: data(settings.data, settings.home.as_deref())?,
            database_url: settings.database_url.map(Secret::new),
            sim_seed: settings.sim_seed.unwrap_or(SIM_SEED),
            view: View {
                service: None,
                services: settings.services,
                tools: settings.tools,
                read_only: settings.read_only.unwrap_or(false),
                http: false,
            },
            http_token: settings.http_token.map(Secret::new),
            cors_origins: settings.cors_origins.unwrap_or_default(),
            allowed_hosts: settings.allowed_hosts.unwrap_or_default(),
            public_url: settings.public_url,
            private_webhooks: settings.private_webhooks.unwrap_or(false),
            private_sources: settings.pricing_allow_private.unwrap_or(false),
            registration_open: settings.archive_registration.unwrap_or(listen.ip().is_loopback()),
            rate: limits::RateLimit {
                burst: settings.rate_burst.unwrap_or(400),
                per_second: settings.rate_per_second.unwrap_or(100.0),
            },
            body_bytes_max: settings.body_bytes_max.unwrap_or(4 * 1024 * 1024),
            connections_max: settings.connections_max.unwrap_or(4096),
            connections_per_client_max: settings.connections_per_client_max,
            client_streams: client_streams(
                settings.streams_per_client_max,
                settings.streams_per_client_minute,
            ),
            stream_limits: stream_limits(settings.stream_queue_max, settings.stream_replay_max)?,
            arche_api_url: settings.arche_api_url,
            arche_api_token: settings.arche_api_token.map(Secret::new),
            token: settings.token.map(Secret::new),
            log: log(settings.log, settings.log_format.as_deref())?,
        })
    }

    /// Whether anybody who can reach the server may read without a credential.
    pub(crate) fn is_open(&self) -> bool {
        self.listen.ip().is_loopback() && self.http_token.is_none()
    }
}

fn client_streams(open_max: Option<usize>, per_minute: Option<u32>) -> ClientLimits {
    let usual = ClientLimits::default();
    ClientLimits {
        open_max: open_max.unwrap_or(usual.open_max),
        per_minute: per_minute.unwrap_or(usual.per_minute),
    }
}

fn stream_limits(queue: Option<usize>, replay: Option<u64>) -> Result<StreamLimits, CommandError> {
    let usual = StreamLimits::default();
    let limits = StreamLimits {
        queue_max: queue.unwrap_or(usual.queue_max),
        replay_max: replay.unwrap_or(usual.replay_max),
    };
    if limits.are_sound() {
        return Ok(limits);
    }
    let (queue, replay) = (StreamLimits::QUEUE, StreamLimits::REPLAY);
    Err(CommandError::usage(format!(
        "stream_queue_max must be from {} to {}, and stream_replay_max from {} to {}",
        queue.start(),
        queue.end(),
        replay.start(),
        replay.end()
    )))
}

fn provider(name: Option<&str>, binance: BinanceSite) -> Result<Provider, CommandError> {
    match name.unwrap_or("sim") {
        "sim" => Ok(Provider::Simulated),
        "binance" => Ok(Provider::Binance(binance)),
        other => Err(CommandError::usage(format!(
            "provider {other:?} is not known; write sim or binance"
        ))),
    }
}

fn moex(provider: Option<&str>, url: Option<String>) -> Result<MoexProvider, CommandError> {
    match provider.unwrap_or("sim") {
        "sim" => Ok(MoexProvider::Simulated),
        "iss" => {
            Ok(MoexProvider::Iss(url.unwrap_or_else(|| "https://iss.moex.com/iss".to_owned())))
        }
        other => Err(CommandError::usage(format!(
            "moex_provider {other:?} is not known; write sim or iss"
        ))),
    }
}

fn patience(name: &str, seconds: Option<f64>, default: f64) -> Result<Duration, CommandError> {
    Duration::try_from_secs_f64(seconds.unwrap_or(default))
        .ok()
        .filter(|patience| !patience.is_zero())
        .ok_or_else(|| CommandError::usage(format!("{name} must be a positive number of seconds")))
}

fn concurrency(max: Option<usize>, queue: Option<usize>) -> Result<Concurrency, CommandError> {
    let usual = Concurrency::default();
    match max.unwrap_or(usual.max) {
        0 => Err(CommandError::usage("tool_concurrency must be at least 1")),
        max => Ok(Concurrency { max, queue: queue.unwrap_or(usual.queue) }),
    }
}

fn listen(settings: &Settings) -> Result<SocketAddr, CommandError> {
    match (&settings.listen, settings.port) {
        (Some(text), _) => text.parse().map_err(|_| {
            CommandError::usage(format!("listen address {text:?} is not like 127.0.0.1:8080"))
        }),
        (None, port) => Ok((IpAddr::V4(Ipv4Addr::LOCALHOST), port.unwrap_or(PORT)).into()),
    }
}

/// Where data is kept, from the root on: processes of ours that work in another folder are told it.
fn data(given: Option<PathBuf>, home: Option<&std::path::Path>) -> Result<PathBuf, CommandError> {
    let data = given.map_or_else(|| default_data(home), Ok)?;
    std::path::absolute(&data).map_err(|error| {
        CommandError::usage(format!("the data folder {} is no place: {error}", data.display()))
    })
}

/// A place that does not depend on where a client happens to start us.
fn default_data(home: Option<&std::path::Path>) -> Result<PathBuf, CommandError> {
    match home {
        Some(home) => Ok(home.join("stoa")),
        None => std::env::current_dir().map(|here| here.join("stoa-data")).map_err(|error| {
            CommandError::usage(format!("no data folder: {error}; give --data DIR"))
        }),
    }
}

fn log(filter: Option<String>, format: Option<&str>) -> Result<LogConfig, CommandError> {
    let format = match format.unwrap_or("auto") {
        "auto" => LogFormat::Auto,
        "pretty" => LogFormat::Pretty,
        "json" => LogFormat::Json,
        other => {
            return Err(CommandError::usage(format!(
                "log format {other:?} is not known; write auto, pretty or json"
            )));
        }
    };
    Ok(LogConfig {
        format,
        filter: filter.unwrap_or_else(|| "info,rmcp=warn,rmcp::service=off".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings { data: Some("/data".into()), ..Settings::default() }
    }

    #[test]
    fn without_http_there_are_no_streams_either() {
        let surfaces = |http, sse| {
            let settings = Settings { enable_http: http, enable_sse: sse, ..settings() };
            let Surfaces { http, sse, ws } = Config::resolve(settings).unwrap().surfaces;
            (http, sse, ws)
        };
        assert_eq!(surfaces(None, None), (true, true, true));
        assert_eq!(surfaces(None, Some(false)), (true, false, true));
        assert_eq!(surfaces(Some(false), Some(true)), (false, false, false));
    }

    #[test]
    fn a_tool_runs_at_least_one_call() {
        let calls = |max, queue| {
            let settings = Settings { tool_concurrency: max, tool_queue: queue, ..settings() };
            Config::resolve(settings).map(|config| config.tool_concurrency).ok()
        };
        assert_eq!(calls(None, None), Some(Concurrency::default()));
        assert_eq!(calls(Some(1), Some(0)), Some(Concurrency { max: 1, queue: 0 }));
        assert_eq!(calls(Some(0), None), None);
    }

    #[test]
    fn streams_are_as_long_as_they_are_set_and_a_venue_can_bear() {
        let limits = |queue, replay| {
            let settings =
                Settings { stream_queue_max: queue, stream_replay_max: replay, ..settings() };
            Config::resolve(settings).map(|config| config.stream_limits).ok()
        };
        assert_eq!(limits(None, None), Some(StreamLimits::default()));
        let set = StreamLimits { queue_max: 50, replay_max: 20 };
        assert_eq!(limits(Some(50), Some(20)), Some(set));
        for (queue, replay) in [(Some(0), None), (Some(1 << 30), None), (None, Some(0))] {
            assert_eq!(limits(queue, replay), None);
        }
        let venue = StreamConfig::new("ws://127.0.0.1:9");
        assert!(venue.followers_max >= service_indicators::CHANNELS_MAX);
        assert!(venue.series_max >= service_indicators::CHANNELS_MAX);
        assert!(venue.replay_max >= *StreamLimits::REPLAY.end());
    }

    #[test]
    fn the_exchange_is_reached_as_set_and_its_key_never_shows() {
        let adapter = |ws_url: Option<&str>, key: &str| {
            let settings = Settings {
                provider: Some("binance".to_owned()),
                binance_ws_url: ws_url.map(str::to_owned),
                binance_api_key: Some(key.to_owned()),
                binance_api_secret: Some("hunter2".to_owned()),
                ..settings()
            };
            let config = Config::resolve(settings).unwrap();
            assert!(!format!("{config:?}").contains("hunter2"));
            let Provider::Binance(site) = config.provider else { panic!("another provider") };
            site.adapter("binance").map_err(|failure| failure.to_string())
        };
        let ours = adapter(Some("wss://stream.binance.com/ws"), "hunter2").unwrap();
        assert_eq!(ours.streams.url, "wss://stream.binance.com/ws");
        assert!(ours.api_key.is_some() && !format!("{ours:?}").contains("hunter2"));
        let usual = adapter(None, "hunter2").unwrap();
        assert_eq!(usual.streams.url, "wss://data-stream.binance.vision");
        assert!(!adapter(None, "hunter2\n").unwrap_err().contains("hunter2"));
    }
}
