//! Settings as they are written down, before anything is checked or defaulted.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use crate::cli::{Cli, ToolsetArgs};
use crate::exit::CommandError;

/// Every key of `stoa.toml`. Each can come from the environment as well, and most from a flag.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) listen: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) database_url: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) binance_rest_url: Option<String>,
    pub(crate) binance_ws_url: Option<String>,
    pub(crate) binance_api_key: Option<String>,
    /// Taken because the contract names it. Nothing here signs requests, so it is not kept.
    pub(crate) binance_api_secret: Option<String>,
    pub(crate) moex_provider: Option<String>,
    pub(crate) moex_iss_url: Option<String>,
    pub(crate) llm_base_url: Option<String>,
    pub(crate) llm_api_key: Option<String>,
    pub(crate) llm_model: Option<String>,
    pub(crate) llm_api: Option<String>,
    pub(crate) llm_timeout_s: Option<f64>,
    pub(crate) sim_seed: Option<u64>,
    pub(crate) services: Option<Vec<String>>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) read_only: Option<bool>,
    pub(crate) http_token: Option<String>,
    pub(crate) enable_http: Option<bool>,
    pub(crate) enable_sse: Option<bool>,
    pub(crate) enable_ws: Option<bool>,
    pub(crate) cors_origins: Option<Vec<String>>,
    pub(crate) allowed_hosts: Option<Vec<String>>,
    pub(crate) public_url: Option<String>,
    pub(crate) private_webhooks: Option<bool>,
    pub(crate) pricing_allow_private: Option<bool>,
    pub(crate) archive_registration: Option<bool>,
    pub(crate) rate_burst: Option<u32>,
    pub(crate) rate_per_second: Option<f64>,
    pub(crate) call_timeout_s: Option<f64>,
    pub(crate) tool_concurrency: Option<usize>,
    pub(crate) tool_queue: Option<usize>,
    pub(crate) client_timeout_s: Option<f64>,
    pub(crate) body_bytes_max: Option<usize>,
    pub(crate) connections_max: Option<usize>,
    pub(crate) connections_per_client_max: Option<usize>,
    pub(crate) stream_queue_max: Option<usize>,
    pub(crate) stream_replay_max: Option<u64>,
    pub(crate) streams_per_client_max: Option<usize>,
    pub(crate) streams_per_client_minute: Option<u32>,
    pub(crate) arche_api_url: Option<String>,
    pub(crate) arche_api_token: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<String>,
    /// From the environment only: a token in a file outlives its use.
    #[serde(skip)]
    pub(crate) token: Option<String>,
    /// Where a user's data belongs on this machine.
    #[serde(skip)]
    pub(crate) home: Option<PathBuf>,
}

/// Every variable that is read. `stoa doctor` and the tests walk this list.
const VARIABLES: [&str; 48] = [
    "STOA_LISTEN",
    "PORT",
    "STOA_DATA",
    "DATABASE_URL",
    "PROVIDER",
    "BINANCE_REST_URL",
    "BINANCE_WS_URL",
    "BINANCE_API_KEY",
    "BINANCE_API_SECRET",
    "MOEX_PROVIDER",
    "MOEX_ISS_URL",
    "LLM_BASE_URL",
    "LLM_API_KEY",
    "LLM_MODEL",
    "LLM_API",
    "STOA_SIM_SEED",
    "STOA_SERVICES",
    "STOA_TOOLS",
    "STOA_READ_ONLY",
    "MCP_HTTP_TOKEN",
    "MCP_ENABLE_HTTP",
    "MCP_ENABLE_SSE",
    "MCP_ENABLE_WS",
    "MCP_CORS_ORIGINS",
    "STOA_ALLOWED_HOSTS",
    "STOA_PUBLIC_URL",
    "STOA_PRIVATE_WEBHOOKS",
    "STOA_PRICING_ALLOW_PRIVATE",
    "STOA_ARCHIVE_REGISTRATION",
    "STOA_RATE_BURST",
    "STOA_RATE_PER_SECOND",
    "STOA_CALL_TIMEOUT_S",
    "STOA_TOOL_CONCURRENCY",
    "STOA_TOOL_QUEUE",
    "STOA_CLIENT_TIMEOUT_S",
    "STOA_BODY_BYTES_MAX",
    "STOA_CONNECTIONS_MAX",
    "STOA_CONNECTIONS_PER_CLIENT_MAX",
    "STOA_STREAM_QUEUE_MAX",
    "STOA_STREAM_REPLAY_MAX",
    "STOA_STREAMS_PER_CLIENT_MAX",
    "STOA_STREAMS_PER_CLIENT_MINUTE",
    "ARCHE_API_URL",
    "ARCHE_API_TOKEN",
    "STOA_LOG",
    "STOA_LOG_FORMAT",
    "STOA_TOKEN",
    "STOA_CONFIG",
];

/// Takes the later setting where there is one.
macro_rules! over {
    ($below:ident, $above:ident, $($field:ident),* $(,)?) => {
        Settings { $($field: $above.$field.or($below.$field)),* }
    };
}

impl Settings {
    pub(crate) fn read(cli: &Cli, toolset: Option<&ToolsetArgs>) -> Result<Self, CommandError> {
        let environment = Environment::of_process()?;
        let named = cli.config.clone().or_else(|| environment.text("STOA_CONFIG").map(Into::into));
        let file = Self::of_file(named.as_deref())?;
        let flags = Self::of_flags(cli, toolset);
        Ok(file.under(Self::of_environment(&environment)?).under(flags))
    }

    fn under(self, above: Self) -> Self {
        let below = self;
        over!(
            below,
            above,
            listen,
            port,
            data,
            database_url,
            provider,
            binance_rest_url,
            binance_ws_url,
            binance_api_key,
            binance_api_secret,
            moex_provider,
            moex_iss_url,
            llm_base_url,
            llm_api_key,
            llm_model,
            llm_api,
            llm_timeout_s,
            sim_seed,
            services,
            tools,
            read_only,
            http_token,
            enable_http,
            enable_sse,
            enable_ws,
            cors_origins,
            allowed_hosts,
            public_url,
            private_webhooks,
            pricing_allow_private,
            archive_registration,
            rate_burst,
            rate_per_second,
            call_timeout_s,
            tool_concurrency,
            tool_queue,
            client_timeout_s,
            body_bytes_max,
            connections_max,
            connections_per_client_max,
            stream_queue_max,
            stream_replay_max,
            streams_per_client_max,
            streams_per_client_minute,
            arche_api_url,
            arche_api_token,
            log,
            log_format,
            token,
            home,
        )
    }

    fn of_file(named: Option<&Path>) -> Result<Self, CommandError> {
        let path = named.unwrap_or(Path::new("stoa.toml"));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                return Err(CommandError::usage(format!(
                    "{} cannot be read: {error}",
                    path.display()
                )));
            }
        };
        toml::from_str(&text).map_err(|error| {
            // The library's message quotes the line, which may hold a secret.
            CommandError::usage(format!("{}: {}", path.display(), error.message()))
        })
    }

    fn of_flags(cli: &Cli, toolset: Option<&ToolsetArgs>) -> Self {
        let toolset = toolset.cloned().unwrap_or_default();
        Self {
            data: cli.data.clone(),
            log: cli.log.clone(),
            log_format: cli.log_format.clone(),
            services: toolset.services,
            tools: toolset.tools,
            read_only: toolset.read_only.then_some(true),
            ..Self::default()
        }
    }

    fn of_environment(from: &Environment) -> Result<Self, CommandError> {
        Ok(Self {
            listen: from.text("STOA_LISTEN"),
            port: from.value("PORT", "a port number")?,
            data: from.text("STOA_DATA").map(PathBuf::from),
            database_url: from.text("DATABASE_URL"),
            provider: from.text("PROVIDER"),
            binance_rest_url: from.text("BINANCE_REST_URL"),
            binance_ws_url: from.text("BINANCE_WS_URL"),
            binance_api_key: from.text("BINANCE_API_KEY"),
            binance_api_secret: from.text("BINANCE_API_SECRET"),
            moex_provider: from.text("MOEX_PROVIDER"),
            moex_iss_url: from.text("MOEX_ISS_URL"),
            llm_base_url: from.text("LLM_BASE_URL"),
            llm_api_key: from.text("LLM_API_KEY"),
            llm_model: from.text("LLM_MODEL"),
            llm_api: from.text("LLM_API"),
            llm_timeout_s: from.value("LLM_TIMEOUT_S", "a number of seconds")?,
            sim_seed: from.value("STOA_SIM_SEED", "a whole number")?,
            services: from.list("STOA_SERVICES"),
            tools: from.list("STOA_TOOLS"),
            read_only: from.value("STOA_READ_ONLY", "true or false")?,
            http_token: from.text("MCP_HTTP_TOKEN"),
            enable_http: from.value("MCP_ENABLE_HTTP", "true or false")?,
            enable_sse: from.value("MCP_ENABLE_SSE", "true or false")?,
            enable_ws: from.value("MCP_ENABLE_WS", "true or false")?,
            cors_origins: from.list("MCP_CORS_ORIGINS"),
            allowed_hosts: from.list("STOA_ALLOWED_HOSTS"),
            public_url: from.text("STOA_PUBLIC_URL"),
            private_webhooks: from.value("STOA_PRIVATE_WEBHOOKS", "true or false")?,
            pricing_allow_private: from.value("STOA_PRICING_ALLOW_PRIVATE", "true or false")?,
            archive_registration: from.value("STOA_ARCHIVE_REGISTRATION", "true or false")?,
            rate_burst: from.value("STOA_RATE_BURST", "a whole number")?,
            rate_per_second: from.value("STOA_RATE_PER_SECOND", "a number")?,
            call_timeout_s: from.value("STOA_CALL_TIMEOUT_S", "a number of seconds")?,
            tool_concurrency: from.value("STOA_TOOL_CONCURRENCY", "a whole number")?,
            tool_queue: from.value("STOA_TOOL_QUEUE", "a whole number")?,
            client_timeout_s: from.value("STOA_CLIENT_TIMEOUT_S", "a number of seconds")?,
            body_bytes_max: from.value("STOA_BODY_BYTES_MAX", "a number of bytes")?,
            connections_max: from.value("STOA_CONNECTIONS_MAX", "a whole number")?,
            connections_per_client_max: from
                .value("STOA_CONNECTIONS_PER_CLIENT_MAX", "a whole number")?,
            stream_queue_max: from.value("STOA_STREAM_QUEUE_MAX", "a whole number")?,
            stream_replay_max: from.value("STOA_STREAM_REPLAY_MAX", "a whole number")?,
            streams_per_client_max: from.value("STOA_STREAMS_PER_CLIENT_MAX", "a whole number")?,
            streams_per_client_minute: from
                .value("STOA_STREAMS_PER_CLIENT_MINUTE", "a whole number")?,
            arche_api_url: from.text("ARCHE_API_URL"),
            arche_api_token: from.text("ARCHE_API_TOKEN"),
            log: from.text("STOA_LOG"),
            log_format: from.text("STOA_LOG_FORMAT"),
            token: from.text("STOA_TOKEN"),
            home: from.home(),
        })
    }
}

/// The environment as it was at start.
pub(crate) struct Environment(Vec<(String, String)>);

impl Environment {
    fn of_process() -> Result<Self, CommandError> {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment = Self(std::env::vars_os().filter_map(text).collect());
        environment.refuse_unknown()?;
        Ok(environment)
    }

    /// A misspelt variable of ours would otherwise be a setting that has no effect.
    fn refuse_unknown(&self) -> Result<(), CommandError> {
        let ours = |name: &str| name.starts_with("STOA_") && !name.starts_with("STOA_TEST_");
        match self.0.iter().find(|(name, _)| ours(name) && !VARIABLES.contains(&name.as_str())) {
            Some((name, _)) => Err(CommandError::usage(format!(
                "the environment sets {name}, which is no setting of ours"
            ))),
            None => Ok(()),
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        let set = self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.trim());
        set.filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn list(&self, name: &str) -> Option<Vec<String>> {
        let words = self.text(name)?;
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        Some(words.map(str::to_owned).collect())
    }

    fn value<T>(&self, name: &str, expected: &str) -> Result<Option<T>, CommandError>
    where
        T: FromStr<Err: Display>,
    {
        let Some(text) = self.text(name) else { return Ok(None) };
        let refuse = |_| CommandError::usage(format!("{name} must be {expected}"));
        text.parse().map(Some).map_err(refuse)
    }

    fn home(&self) -> Option<PathBuf> {
        let set = |name| self.text(name).map(PathBuf::from).filter(|path| path.is_absolute());
        set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn later_settings_win() {
        let file: Settings = toml::from_str("port = 1\nprovider = \"sim\"").unwrap();
        let from = environment(&[("PORT", "2"), ("STOA_SERVICES", "quotes, moex")]);
        let merged = file.under(Settings::of_environment(&from).unwrap());
        assert_eq!((merged.port, merged.provider.as_deref()), (Some(2), Some("sim")));
        assert_eq!(merged.services.unwrap(), ["quotes", "moex"]);
    }

    #[test]
    fn unknown_keys_and_bad_values_are_errors() {
        assert!(toml::from_str::<Settings>("prot = 1").is_err());
        assert!(environment(&[("STOA_LISTNE", "x")]).refuse_unknown().is_err());
        assert!(environment(&[("STOA_TEST_POSTGRES", "x")]).refuse_unknown().is_ok());
        assert!(Settings::of_environment(&environment(&[("PORT", "eighty")])).is_err());
    }

    #[test]
    fn every_variable_of_ours_is_known() {
        let page = include_str!("../../../../docs/configuration.md");
        for name in VARIABLES {
            assert!(environment(&[(name, "1")]).refuse_unknown().is_ok(), "{name}");
            let told = page.contains(&format!("| `{name}` |")) || name == "STOA_CONFIG";
            assert!(told, "docs/configuration.md does not list {name}");
        }
    }
}
