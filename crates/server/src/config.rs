//! Configuration: `stoa.toml`, then the environment, then flags, each over the one before.
//! Unknown keys are errors, because a misspelt setting would otherwise have no effect. Unknown
//! variables are warnings, because other programs set variables too.

mod config_file;
mod listen;
mod sources;
mod table;
mod uploads;
mod value;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use archive_documents::UploadLimits;
use auth::{ScopeSet, Secret};
use contract::{Concurrency, View};
use limits::RateLimit;
use market_binance::{ApiKey, BinanceConfig, StreamConfig};
use service_indicators::StreamLimits;
use telemetry::{LogConfig, LogFormat};
use transport_http::{ClientLimits, TrustedProxies};

use crate::exit::CommandError;
use crate::language_model::ModelSettings;
use crate::price_push::PricePushSettings;
pub(crate) use config_file::ConfigFile;
pub(crate) use listen::{LOOPBACK, parse_listen};
pub(crate) use sources::{Sources, VariableSetting, did_you_mean};
#[cfg(test)]
pub(crate) use table::SETTINGS;
pub(crate) use table::{Settings, help};

/// The checked configuration of a command.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
    /// It often contains a password.
    pub(crate) database_url: Option<Secret>,
    pub(crate) provider: Provider,
    pub(crate) moex: MoexProvider,
    /// The model that answers market questions; without one, rules do.
    pub(crate) language_model: Option<ModelSettings>,
    pub(crate) sim_seed: u64,
    pub(crate) view: View,
    pub(crate) http_token: Option<Secret>,
    pub(crate) surfaces: Surfaces,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) allowed_hosts: Vec<String>,
    /// Scheme and authority under which clients reach this server through a proxy.
    pub(crate) public_url: Option<String>,
    /// The scopes that users may pass on to clients; `None` where OAuth is off.
    pub(crate) oauth_scopes: Option<ScopeSet>,
    /// Whether agents' webhooks may be on a private network.
    pub(crate) private_webhooks: bool,
    /// Whether prices may be collected from addresses on a private network.
    pub(crate) private_sources: bool,
    /// The shops and the webhook that applied prices go to.
    pub(crate) price_push: PricePushSettings,
    /// Whether every caller may register an account with the archive.
    pub(crate) registration_open: bool,
    /// How much one user of the archive may upload.
    pub(crate) uploads: UploadLimits,
    pub(crate) rate: RateLimit,
    pub(crate) call_timeout: Duration,
    /// How many calls of one tool run and wait, unless its contract says otherwise.
    pub(crate) tool_concurrency: Concurrency,
    /// How long a client may take for its headers, its body, and the pause between requests.
    pub(crate) client_timeout: Duration,
    pub(crate) body_bytes_max: usize,
    /// How many bytes of bodies are held at once.
    pub(crate) body_memory_max: usize,
    /// How much memory the JSON of large bodies takes at once.
    pub(crate) json_memory_max: usize,
    /// How many bytes of large answers are held at once.
    pub(crate) answer_memory_max: usize,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) connections_max: usize,
    /// Per-client cap; 0 = unlimited; unset = half of `connections_max`, or unlimited on loopback.
    pub(crate) connections_per_client_max: Option<usize>,
    pub(crate) client_streams: ClientLimits,
    pub(crate) stream_limits: StreamLimits,
    pub(crate) arche_api_url: Option<String>,
    pub(crate) arche_api_token: Option<Secret>,
    /// The caller's own token, for stdio and `call`.
    pub(crate) token: Option<Secret>,
    pub(crate) log: LogConfig,
    /// The settings that the environment sets.
    pub(crate) variables: Vec<VariableSetting>,
    /// The configuration file that was read.
    pub(crate) file: ConfigFile,
    /// Whether the server may listen beyond loopback without a token.
    pub(crate) insecure: bool,
}

/// What `stoa serve` offers beside MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surfaces {
    /// REST, and the streams below with it.
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

/// The addresses of Binance, and our API key.
#[derive(Debug, Clone)]
pub(crate) struct BinanceSite {
    pub(crate) rest_url: String,
    /// Address of the live candles; unset = the one that belongs to `rest_url`.
    pub(crate) ws_url: Option<String>,
    pub(crate) api_key: Option<Secret>,
}

impl BinanceSite {
    /// The adapter's configuration with these addresses and this key.
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
        let sources = &settings.sources;
        refuse_blank_token(&settings)?;
        let listen = listen(&settings)?;
        let (surfaces, price_push) = (surfaces(&settings), PricePushSettings::new(&settings)?);
        let (provider, moex) = providers(&settings)?;
        let tool_concurrency = tool_concurrency(&settings)?;
        let (stream_limits, uploads) =
            (stream_limits(&settings)?, uploads::upload_limits(&settings)?);
        let answer_memory_max =
            at_least("answer_memory_max", settings.answer_memory_max, 64, sources)?;
        let rate = RateLimit { burst: settings.rate_burst, per_second: settings.rate_per_second };
        let (trusted_proxies, view) = (trusted_proxies(&settings)?, view(&settings));
        let language_model = ModelSettings::new(
            settings.llm_base_url,
            settings.llm_api_key,
            settings.llm_model,
            settings.llm_api.as_deref(),
            settings.llm_timeout_s,
            sources,
        )?;
        let is_private = listen.ip().is_loopback() && settings.http_token.is_none();
        Ok(Self {
            listen,
            provider,
            moex,
            language_model,
            call_timeout: timeout("call_timeout_s", settings.call_timeout_s, sources)?,
            client_timeout: timeout("client_timeout_s", settings.client_timeout_s, sources)?,
            surfaces,
            tool_concurrency,
            data: data(settings.data, settings.home.as_deref())?,
            database_url: settings.database_url,
            sim_seed: settings.sim_seed,
            view,
            http_token: settings.http_token,
            cors_origins: settings.cors_origins,
            allowed_hosts: settings.allowed_hosts,
            public_url: settings.public_url,
            oauth_scopes: oauth_scopes(settings.oauth, &settings.oauth_scopes, sources)?,
            private_webhooks: settings.private_webhooks,
            private_sources: settings.pricing_allow_private,
            price_push,
            registration_open: settings.archive_registration.unwrap_or(is_private),
            uploads,
            rate,
            body_bytes_max: settings.body_bytes_max,
            body_memory_max: at_least("body_memory_max", settings.body_memory_max, 1, sources)?,
            answer_memory_max,
            json_memory_max: at_least("json_memory_max", settings.json_memory_max, 16, sources)?,
            trusted_proxies,
            connections_max: settings.connections_max,
            connections_per_client_max: settings.connections_per_client_max,
            client_streams: ClientLimits {
                open_max: settings.streams_per_client_max,
                per_minute: settings.streams_per_client_minute,
            },
            stream_limits,
            arche_api_url: settings.arche_api_url,
            arche_api_token: settings.arche_api_token,
            token: settings.token,
            log: log(&settings.log, &settings.log_format, settings.one_shot, sources)?,
            variables: sources.variables.clone(),
            file: settings.file,
            insecure: settings.insecure,
        })
    }

    /// Whether every client that can reach the server may read without a credential. A token that is set
    /// is always required.
    pub(crate) fn is_open(&self) -> bool {
        self.http_token.is_none() && (self.listen.ip().is_loopback() || self.insecure)
    }
}

/// The venues of both exchanges: real or simulated.
fn providers(settings: &Settings) -> Result<(Provider, MoexProvider), CommandError> {
    let provider = match settings.provider.as_str() {
        "sim" => Provider::Simulated,
        "binance" => Provider::Binance(BinanceSite {
            rest_url: settings.binance_rest_url.clone(),
            ws_url: settings.binance_ws_url.clone(),
            api_key: settings.binance_api_key.clone(),
        }),
        _ => return Err(settings.sources.bad_value("provider")),
    };
    let moex = match settings.moex_provider.as_str() {
        "sim" => MoexProvider::Simulated,
        "iss" => MoexProvider::Iss(settings.moex_iss_url.clone()),
        _ => return Err(settings.sources.bad_value("moex_provider")),
    };
    Ok((provider, moex))
}

fn tool_concurrency(settings: &Settings) -> Result<Concurrency, CommandError> {
    match settings.tool_concurrency {
        0 => Err(settings.sources.bad_value("tool_concurrency")),
        max => Ok(Concurrency { max, queue: settings.tool_queue }),
    }
}

/// Refuses a token that is set and blank: every client could present it.
fn refuse_blank_token(settings: &Settings) -> Result<(), CommandError> {
    let is_blank = |token: &Secret| token.reveal().trim().is_empty();
    match settings.http_token.as_ref().is_some_and(is_blank) {
        true => Err(settings.sources.bad_value("http_token")),
        false => Ok(()),
    }
}

/// The scopes of OAuth; `None` where it is off. They are checked in either case.
fn oauth_scopes(
    is_on: bool,
    scopes: &[String],
    sources: &Sources,
) -> Result<Option<ScopeSet>, CommandError> {
    let scopes = ScopeSet::parse_known(&scopes.join(","));
    let scopes = scopes.map_err(|_| sources.bad_value("oauth_scopes"))?;
    Ok(is_on.then_some(scopes))
}

fn surfaces(settings: &Settings) -> Surfaces {
    let http = settings.enable_http;
    Surfaces { http, sse: http && settings.enable_sse, ws: http && settings.enable_ws }
}

fn stream_limits(settings: &Settings) -> Result<StreamLimits, CommandError> {
    let limits = StreamLimits {
        queue_max: settings.stream_queue_max,
        replay_max: settings.stream_replay_max,
        memory_max: settings.stream_memory_max,
    };
    if !StreamLimits::QUEUE.contains(&limits.queue_max) {
        return Err(settings.sources.bad_value("stream_queue_max"));
    }
    if !StreamLimits::REPLAY.contains(&limits.replay_max) {
        return Err(settings.sources.bad_value("stream_replay_max"));
    }
    if limits.memory_max < StreamLimits::MEMORY_MIN {
        return Err(settings.sources.bad_value("stream_memory_max"));
    }
    Ok(limits)
}

/// A number of bytes that is at least this many MiB.
fn at_least(key: &str, bytes: usize, mib: usize, sources: &Sources) -> Result<usize, CommandError> {
    match bytes >= mib * 1024 * 1024 {
        true => Ok(bytes),
        false => Err(sources.bad_value(key)),
    }
}

fn timeout(key: &str, seconds: f64, sources: &Sources) -> Result<Duration, CommandError> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| sources.bad_value(key))
}

fn listen(settings: &Settings) -> Result<SocketAddr, CommandError> {
    let alone = listen::address_of_a_port(settings.in_container, settings.http_token.is_some());
    match &settings.listen {
        Some(text) => parse_listen(text, settings.port, alone)
            .ok_or_else(|| settings.sources.bad_value("listen")),
        None if settings.sources.has("port") => Ok((alone, settings.port).into()),
        None => Ok((LOOPBACK, settings.port).into()),
    }
}

/// The absolute path of the data folder: our child processes run in another folder.
fn data(given: Option<PathBuf>, home: Option<&std::path::Path>) -> Result<PathBuf, CommandError> {
    let data = given.map_or_else(|| default_data(home), Ok)?;
    std::path::absolute(&data).map_err(|error| {
        let data = data.display();
        CommandError::usage(format!("the data folder {data} is not a valid path: {error}"))
    })
}

/// A folder that does not depend on where a client starts this program.
fn default_data(home: Option<&std::path::Path>) -> Result<PathBuf, CommandError> {
    match home {
        Some(home) => Ok(home.join("stoa")),
        None => Err(CommandError::usage(
            "there is no place for the data folder, because HOME is not set; set HOME, or name a \
             folder with --data DIR or STOA_DATA",
        )),
    }
}

/// What a command that ends by itself logs: warnings, but not those of the attempts that its own
/// error reports.
const ONE_SHOT_LOG: &str = "warn,contract=error,http_client=error,rmcp::service=off";

fn log(
    filter: &str,
    format: &str,
    one_shot: bool,
    sources: &Sources,
) -> Result<LogConfig, CommandError> {
    let format = match log_format(format, sources)? {
        // A person reads the stderr of such a command, also where it is not a terminal.
        LogFormat::Auto if one_shot => LogFormat::Pretty,
        format => format,
    };
    let filter = if one_shot && !sources.has("log") { ONE_SHOT_LOG } else { filter };
    Ok(LogConfig { format, filter: filter.to_owned() })
}

fn log_format(name: &str, sources: &Sources) -> Result<LogFormat, CommandError> {
    match name {
        "auto" => Ok(LogFormat::Auto),
        "pretty" => Ok(LogFormat::Pretty),
        "json" => Ok(LogFormat::Json),
        _ => Err(sources.bad_value("log_format")),
    }
}

fn trusted_proxies(settings: &Settings) -> Result<TrustedProxies, CommandError> {
    let parsed = TrustedProxies::parse(&settings.trusted_proxies);
    parsed.map_err(|_| settings.sources.bad_value("trusted_proxies"))
}

/// The services and tools that clients see.
fn view(settings: &Settings) -> View {
    View {
        service: None,
        services: settings.services.clone(),
        tools: settings.tools.clone(),
        read_only: settings.read_only,
        http: false,
    }
}

#[cfg(test)]
mod tests;
