//! The table of settings: one row for each key of `stoa.toml`, with its variable, flag, default and
//! meaning. The reader of each source, `--help` and `docs/configuration.md` come from these rows.

use std::path::PathBuf;

use archive_documents::UploadLimits;
use auth::Secret;
use contract::Concurrency;
use service_indicators::StreamLimits;
use transport_http::ClientLimits;

use super::config_file::ConfigFile;
use super::sources::Sources;
use super::value::{RawValue, SettingValue};

/// Everything about one setting but its value.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The key in `stoa.toml`.
    pub(crate) key: &'static str,
    /// Whether `stoa.toml` may set it. A token in a file outlives its use.
    pub(crate) in_file: bool,
    pub(crate) variable: &'static str,
    /// The flag with its command, as the documentation shows it; empty if there is none.
    pub(crate) flag: &'static str,
    /// How the documentation describes the default where the value itself does not say it.
    pub(crate) default_text: &'static str,
    pub(crate) meaning: &'static str,
    /// What a value must be, after "must be".
    pub(crate) expected: &'static str,
    pub(crate) secret: bool,
}

macro_rules! settings {
    ($(
        $key:ident: $type:ty = $default:expr, $place:ident, $variable:literal, $flag:literal,
        $default_text:literal, $expected:literal, $meaning:literal;
    )*) => {
        /// The value of every setting, after the file, the environment and the flags were read.
        #[derive(Debug)]
        pub(crate) struct Settings {
            $(pub(crate) $key: $type,)*
            /// The folder of this user's data on this machine.
            pub(crate) home: Option<PathBuf>,
            /// The configuration file that was read.
            pub(crate) file: ConfigFile,
            /// Whether `serve --insecure` was given.
            pub(crate) insecure: bool,
            /// Whether the command ends by itself, so that a person waits for it.
            pub(crate) one_shot: bool,
            /// Whether this process runs in a container.
            pub(crate) in_container: bool,
            /// What is wrong with the environment and no reason to stop.
            pub(crate) warnings: Vec<String>,
            /// Where each value that is not a default came from, for error messages.
            pub(crate) sources: Sources,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self {
                    $($key: $default,)*
                    home: None,
                    file: ConfigFile::default(),
                    insecure: false,
                    one_shot: false,
                    in_container: false,
                    warnings: Vec::new(),
                    sources: Sources::default(),
                }
            }
        }

        /// Every setting, in the order of the documentation.
        pub(crate) const SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            in_file: settings!(@in_file $place),
            variable: $variable,
            flag: $flag,
            default_text: $default_text,
            meaning: $meaning,
            expected: $expected,
            secret: <$type as SettingValue>::SECRET,
        },)*];

        impl Settings {
            /// Sets `key`; `false` if the value is not what the setting expects.
            pub(super) fn set(&mut self, key: &str, raw: &RawValue<'_>) -> bool {
                match key {
                    $(stringify!($key) => match SettingValue::read(raw) {
                        Some(value) => {
                            self.$key = value;
                            true
                        }
                        None => false,
                    },)*
                    _ => false,
                }
            }

            /// The value of `key` as the documentation writes it; `None` if it is not set.
            pub(super) fn shown(&self, key: &str) -> Option<String> {
                match key {
                    $(stringify!($key) => self.$key.shown(),)*
                    _ => None,
                }
            }
        }
    };
    (@in_file file) => { true };
    (@in_file environment) => { false };
}

settings! {
    listen: Option<String> = None, file, "STOA_LISTEN", "serve --listen",
        "`127.0.0.1:8080`", "an address and a port, such as 127.0.0.1:8080, or a port", "address to listen on: `127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`, or a port alone (`8080` or `:8080`), which means the same as `port`";
    port: u16 = 8080, file, "PORT", "",
        "", "a port number", "the port on loopback; used when `listen` is not set. In a container, and only with `http_token`, a port that is set means every address";
    data: Option<PathBuf> = None, file, "STOA_DATA", "--data",
        "`~/.local/share/stoa`", "a path", "the data folder";
    database_url: Option<Secret> = None, file, "DATABASE_URL", "",
        "SQLite in the data folder", "text", "`postgres://…` for PostgreSQL";
    provider: String = "sim".to_owned(), file, "PROVIDER", "",
        "", "sim or binance", "where crypto prices come from: `sim` or `binance`";
    binance_rest_url: String = "https://data-api.binance.vision".to_owned(), file, "BINANCE_REST_URL", "",
        "", "a URL", "address of Binance's REST API";
    binance_ws_url: Option<String> = None, file, "BINANCE_WS_URL", "",
        "`wss://data-stream.binance.vision`", "a URL", "address of Binance's live candles; it may end in `/ws`";
    binance_api_key: Option<Secret> = None, file, "BINANCE_API_KEY", "",
        "none", "text", "sent to Binance, for the rate limits of this key; public data needs none";
    binance_api_secret: Option<Secret> = None, file, "BINANCE_API_SECRET", "",
        "none", "text", "accepted and not used: nothing here trades";
    moex_provider: String = "sim".to_owned(), file, "MOEX_PROVIDER", "",
        "", "sim or iss", "where the Moscow Exchange's data come from: `sim` or `iss`";
    moex_iss_url: String = "https://iss.moex.com/iss".to_owned(), file, "MOEX_ISS_URL", "",
        "", "a URL", "address of the Moscow Exchange's ISS";
    llm_base_url: Option<String> = None, file, "LLM_BASE_URL", "",
        "none", "a URL", "address of a language model, such as `https://api.openai.com/v1` or `https://api.anthropic.com`; without one the analyst answers by rules";
    llm_model: Option<String> = None, file, "LLM_MODEL", "",
        "none", "text", "the name of the model; required with `llm_base_url`";
    llm_api_key: Option<Secret> = None, file, "LLM_API_KEY", "",
        "none", "text", "the provider's API key";
    llm_api: Option<String> = None, file, "LLM_API", "",
        "by the address", "openai or anthropic", "which API the provider speaks: `openai` (or compatible) or `anthropic`";
    llm_timeout_s: Option<f64> = None, file, "LLM_TIMEOUT_S", "",
        "60", "a positive number of seconds", "how long one request to the model may take, with its retries; the analyst falls back to its rules after two thirds of a question's time in any case";
    sim_seed: u64 = 42, file, "STOA_SIM_SEED", "sim --seed",
        "", "a whole number", "which market is simulated: the same seed gives the same market; also used by the collector's `mock` connector";
    services: Option<Vec<String>> = None, file, "STOA_SERVICES", "--services",
        "all", "a list of names", "serve only these services";
    tools: Option<Vec<String>> = None, file, "STOA_TOOLS", "--tools",
        "all", "a list of names", "serve only these tools";
    read_only: bool = false, file, "STOA_READ_ONLY", "--read-only",
        "", "true or false", "serve only tools that change nothing";
    enable_http: bool = true, file, "MCP_ENABLE_HTTP", "",
        "", "true or false", "serve REST, live streams and agents; a path that is off answers 404 in its contract's error format. MCP, `/health`, `/metrics` and `/docs` stay";
    enable_sse: bool = true, file, "MCP_ENABLE_SSE", "",
        "", "true or false", "serve live streams as server-sent events";
    enable_ws: bool = true, file, "MCP_ENABLE_WS", "",
        "", "true or false", "serve live streams on WebSockets";
    http_token: Option<Secret> = None, file, "MCP_HTTP_TOKEN", "",
        "none", "text that is not blank", "a bearer token that lets callers read; without one a server on loopback is open for reading";
    oauth: bool = false, file, "STOA_OAUTH", "",
        "", "true or false", "let the archive's users give clients tokens through OAuth 2.1; needs loopback or an https `public_url`; see `docs/oauth.md`";
    oauth_scopes: Vec<String> = vec!["read".to_owned()], file, "STOA_OAUTH_SCOPES", "",
        "", "a list of scopes", "the scopes that users may pass on to clients through OAuth";
    cors_origins: Vec<String> = Vec::new(), file, "MCP_CORS_ORIGINS", "",
        "none", "a list of origins", "origins of pages that may call from a browser";
    allowed_hosts: Vec<String> = Vec::new(), file, "STOA_ALLOWED_HOSTS", "",
        "loopback names", "a list of host names", "host names the server answers to";
    public_url: Option<String> = None, file, "STOA_PUBLIC_URL", "",
        "as requested", "a URL", "scheme and host in agent cards and of OAuth, for servers behind a proxy";
    private_webhooks: bool = false, file, "STOA_PRIVATE_WEBHOOKS", "",
        "", "true or false", "allow agents' webhooks on this machine or a private network";
    archive_registration: Option<bool> = None, file, "STOA_ARCHIVE_REGISTRATION", "",
        "true on loopback without `http_token`, else false", "true or false", "let every caller register an account with the archive's `auth`";
    archive_uploads_per_minute: u32 = UploadLimits::default().uploads_per_minute, file, "STOA_ARCHIVE_UPLOADS_PER_MINUTE", "",
        "", "a whole number", "how many files one user of the archive may upload in a minute, and in one request; 0 = unlimited, and 500 in one request";
    archive_uploads_per_hour: u32 = UploadLimits::default().uploads_per_hour, file, "STOA_ARCHIVE_UPLOADS_PER_HOUR", "",
        "", "a whole number", "how many files one user of the archive may upload in an hour; 0 = unlimited";
    archive_file_bytes_max: u64 = UploadLimits::default().file_bytes, file, "STOA_ARCHIVE_FILE_BYTES_MAX", "",
        "100 MiB", "a number of bytes from 1 MiB to 1 GiB", "how large a file of the archive may be, up to 1 GiB; it is read within 2 GB of memory whatever its size";
    archive_batch_bytes_max: Option<u64> = None, file, "STOA_ARCHIVE_BATCH_BYTES_MAX", "",
        "500 MiB, or `archive_file_bytes_max` if that is more", "a number of bytes, at least archive_file_bytes_max", "how many bytes the files of one upload may have together";
    archive_user_bytes_max: u64 = UploadLimits::default().owner_bytes, file, "STOA_ARCHIVE_USER_BYTES_MAX", "",
        "20 GiB", "a number of bytes, at least archive_file_bytes_max", "how many bytes of files one user of the archive may store";
    pricing_allow_private: bool = false, file, "STOA_PRICING_ALLOW_PRIVATE", "",
        "", "true or false", "let the collector read prices from addresses on this machine or a private network";
    shopify_url: Option<String> = None, file, "STOA_SHOPIFY_URL", "",
        "none", "an https URL", "the Shopify shop that applied prices are pushed to: `https://NAME.myshopify.com`, or the whole address with another version of the API (`…/admin/api/2027-01/graphql.json`); see `docs/pricing.md`";
    shopify_token: Option<Secret> = None, file, "STOA_SHOPIFY_TOKEN", "",
        "none", "text", "the Admin API access token of the shop, with `read_products` and `write_products`";
    woocommerce_url: Option<String> = None, file, "STOA_WOOCOMMERCE_URL", "",
        "none", "an https URL", "the WooCommerce shop that applied prices are pushed to: the address of its WordPress, such as `https://shop.example`";
    woocommerce_key: Option<Secret> = None, file, "STOA_WOOCOMMERCE_KEY", "",
        "none", "text", "the consumer key of the shop's REST API, with the permission read/write";
    woocommerce_secret: Option<Secret> = None, file, "STOA_WOOCOMMERCE_SECRET", "",
        "none", "text", "the consumer secret that belongs to `woocommerce_key`";
    price_webhook_url: Option<Secret> = None, file, "STOA_PRICE_WEBHOOK_URL", "",
        "none", "a URL", "where price events are sent, signed: proposed, applied, reverted, push failed; any address, also on this machine or a private network";
    price_webhook_secret: Option<Secret> = None, file, "STOA_PRICE_WEBHOOK_SECRET", "",
        "none", "at least 16 bytes of text, or whsec_ and base64", "signs the events of `price_webhook_url` (Standard Webhooks, HMAC-SHA256)";
    rate_burst: u32 = 400, file, "STOA_RATE_BURST", "",
        "", "a whole number", "requests a client may send at once";
    rate_per_second: f64 = 100.0, file, "STOA_RATE_PER_SECOND", "",
        "", "a number", "requests a client regains each second; 0 = unlimited";
    call_timeout_s: f64 = 30.0, file, "STOA_CALL_TIMEOUT_S", "",
        "", "a positive number of seconds", "how long a call may take, unless its contract or its argument `timeoutMs` says otherwise";
    tool_concurrency: usize = Concurrency::default().max, file, "STOA_TOOL_CONCURRENCY", "",
        "", "a whole number, at least 1", "how many calls of one tool run at once, unless its contract says otherwise";
    tool_queue: usize = Concurrency::default().queue, file, "STOA_TOOL_QUEUE", "",
        "", "a whole number", "how many further calls of one tool wait; a call beyond that is refused with a time to retry after";
    client_timeout_s: f64 = 15.0, file, "STOA_CLIENT_TIMEOUT_S", "",
        "", "a positive number of seconds", "how long a client may take to send its first request, its headers or its body; an HTTP/2 connection is closed after four times that without a request";
    body_bytes_max: usize = 4 * 1024 * 1024, file, "STOA_BODY_BYTES_MAX", "",
        "4 MiB", "a number of bytes", "how large a request body may be";
    body_memory_max: usize = 64 * 1024 * 1024, file, "STOA_BODY_MEMORY_MAX", "",
        "64 MiB", "a number of bytes, at least 1 MiB", "how many bytes of request bodies are held at once; one client holds at most half. A request beyond that is answered 503";
    json_memory_max: usize = 384 * 1024 * 1024, file, "STOA_JSON_MEMORY_MAX", "",
        "384 MiB", "a number of bytes, at least 16 MiB", "how much memory is used at once to build the JSON of bodies over 64 KiB, as estimated from the number of their values; see `docs/limits.md`";
    answer_memory_max: usize = 256 * 1024 * 1024, file, "STOA_ANSWER_MEMORY_MAX", "",
        "256 MiB", "a number of bytes, at least 64 MiB", "how many bytes of answers over 64 KiB are held at once for clients that have not read them; one client holds at most half. A request beyond that is answered 503";
    trusted_proxies: Vec<String> = Vec::new(), file, "STOA_TRUSTED_PROXIES", "",
        "none", "a list of addresses and networks", "proxies in front of the server, such as `127.0.0.1,10.0.0.0/8`: limits per client count the client that `X-Forwarded-For` or `Forwarded` names, and `connections_per_client_max` does not apply to the proxy";
    connections_max: usize = 4096, file, "STOA_CONNECTIONS_MAX", "",
        "", "a whole number", "how many connections may be open at once; a further one takes the place of the oldest that has sent no request, or else is answered 503 and closed";
    connections_per_client_max: Option<usize> = None, file, "STOA_CONNECTIONS_PER_CLIENT_MAX", "",
        "half of `connections_max`; unlimited on loopback", "a whole number", "how many of them one address (of IPv6, one /64 network) may have; further ones are answered 429 and closed. 0 = unlimited. A proxy in front is one address: name it in `trusted_proxies`";
    stream_queue_max: usize = StreamLimits::default().queue_max, file, "STOA_STREAM_QUEUE_MAX", "",
        "", "a whole number from 16 to 100000", "how many events wait for a slow reader of a live stream (16 to 100,000); beyond that forming candles are dropped, closed ones never";
    stream_replay_max: u64 = StreamLimits::default().replay_max, file, "STOA_STREAM_REPLAY_MAX", "",
        "", "a whole number from 1 to 50000", "how many closed candles are sent again to a client that resumes (1 to 50,000)";
    stream_memory_max: usize = StreamLimits::default().memory_max, file, "STOA_STREAM_MEMORY_MAX", "",
        "256 MiB", "a number of bytes, at least 16 MiB", "how much memory the events of live streams take at once, with the queues of slow readers and the candles of those that resume; one client's queues and candles take at most half. Beyond that slow readers end with their resume point, and resuming is answered 503";
    streams_per_client_max: usize = ClientLimits::default().open_max, file, "STOA_STREAMS_PER_CLIENT_MAX", "",
        "", "a whole number", "how many live streams (server-sent events and WebSockets) one address may have open; 0 = unlimited";
    streams_per_client_minute: u32 = ClientLimits::default().per_minute, file, "STOA_STREAMS_PER_CLIENT_MINUTE", "",
        "", "a whole number", "how many live streams one address may open in a minute; 0 = unlimited";
    arche_api_url: Option<String> = None, file, "ARCHE_API_URL", "",
        "none", "a URL", "another server's quotes API to call instead of the venues";
    arche_api_token: Option<Secret> = None, file, "ARCHE_API_TOKEN", "",
        "none", "text", "the token for `arche_api_url`";
    log: String = "info,rmcp=warn,rmcp::service=off".to_owned(), file, "STOA_LOG", "--log",
        "", "a log filter", "what is logged to stderr, such as `info` or `debug,hyper=warn`. Commands that end by themselves, such as `stoa call`, log only warnings unless this is set";
    log_format: String = "auto".to_owned(), file, "STOA_LOG_FORMAT", "--log-format",
        "", "auto, pretty or json", "how it is logged: `pretty`, `json`, or `auto`, which is `pretty` on a terminal and for commands that end by themselves, and `json` otherwise";
    token: Option<Secret> = None, environment, "STOA_TOKEN", "",
        "none", "text", "the caller's own token, for `stoa mcp`, `stoa call` and `stoa token`";
}

/// The variable that names the configuration file; the flag `--config` wins over it.
pub(crate) const CONFIG_VARIABLE: &str = "STOA_CONFIG";

pub(crate) fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The help text of the flag that sets `key`: the meaning, the variable and the default.
pub(crate) fn help(key: &str) -> String {
    let Some(setting) = setting(key) else { return String::new() };
    let mut text = setting.meaning.replace('`', "");
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    let default = default_text(setting).replace('`', "");
    format!("{text} [env: {}] [default: {default}]", setting.variable)
}

/// The default of a setting as the documentation writes it.
fn default_text(setting: &Setting) -> String {
    match setting.default_text {
        "" => Settings::default().shown(setting.key).unwrap_or_default(),
        text => text.to_owned(),
    }
}

/// The table of `docs/configuration.md`.
#[cfg(test)]
pub(crate) fn markdown() -> String {
    let mut table =
        "| `stoa.toml` | environment | flag | default | meaning |\n|---|---|---|---|---|\n"
            .to_owned();
    let code = |text: &str| if text.is_empty() { " ".to_owned() } else { format!(" `{text}` ") };
    for setting in SETTINGS {
        let key = if setting.in_file { setting.key } else { "" };
        table += &format!(
            "|{}|{}|{}| {} | {} |\n",
            code(key),
            code(setting.variable),
            code(setting.flag),
            default_text(setting),
            setting.meaning
        );
    }
    table
}
