//! How a client reaches Stoa: by a command with its settings, or by a URL with headers.

use std::path::Path;

use auth::Secret;

use crate::cli::ToolsetArgs;
use crate::commands::install::NAME;
use crate::commands::install::clients::Reach;
use crate::commands::names;
use crate::config::Config;
use crate::exit::CommandError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) transport: Transport,
    /// What a file that a project shares gets instead: no path of this machine.
    shared: Option<Transport>,
    /// Whether a value contains a token, so that only the user may read the file.
    pub(super) holds_token: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Transport {
    /// The client starts this program.
    Stdio { command: String, args: Vec<String>, env: Values },
    /// The client calls a running server.
    Http { url: String, headers: Values },
}

/// Variables or headers, in order.
pub(super) type Values = Vec<(String, EntryValue)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryValue {
    Text(String),
    /// The value of an environment variable of the client, which the file only names: a secret.
    Variable {
        prefix: &'static str,
        name: &'static str,
    },
}

const TOKEN_VARIABLE: &str = "STOA_TOKEN";
const AUTHORIZATION: &str = "Authorization";
const BEARER: &str = "Bearer ";

/// Settings of the environment that an entry does not get: flags of the command, settings that only
/// `stoa serve` reads, and the caller's own token. An entry gets every other setting.
const NOT_IN_ENTRY: [&str; 28] = [
    "data",
    "services",
    "tools",
    "read_only",
    "token",
    "listen",
    "port",
    "enable_http",
    "enable_sse",
    "enable_ws",
    "http_token",
    "cors_origins",
    "allowed_hosts",
    "public_url",
    "private_webhooks",
    "archive_registration",
    "rate_burst",
    "rate_per_second",
    "client_timeout_s",
    "body_bytes_max",
    "body_memory_max",
    "json_memory_max",
    "trusted_proxies",
    "connections_max",
    "connections_per_client_max",
    "streams_per_client_max",
    "streams_per_client_minute",
    "log_format",
];

impl Launch {
    /// The command that starts this program.
    pub(super) fn of_this_program(
        toolset: &ToolsetArgs,
        config: &Config,
    ) -> Result<Self, CommandError> {
        let program = std::env::current_exe()?;
        if !program.is_file() {
            return Err(CommandError::usage(
                "this program's file was moved or replaced while it ran; run the new one",
            ));
        }
        Self::stdio(&program, toolset, config)
    }

    pub(super) fn stdio(
        program: &Path,
        toolset: &ToolsetArgs,
        config: &Config,
    ) -> Result<Self, CommandError> {
        // A client starts this program in any folder.
        let data = std::path::absolute(&config.data)?;
        let mut folders = vec!["--data".to_owned(), text(&data)?];
        if let Some(file) = &config.file.used {
            folders.extend(["--config".to_owned(), text(file)?]);
        }
        let chosen = Toolset::new(toolset, config)?.flags();
        let entry = |command: String, folders: &[String]| Transport::Stdio {
            command,
            args: [&["mcp".to_owned()], folders, &chosen].concat(),
            env: environment_values(config),
        };
        Ok(Self {
            transport: entry(text(program)?, &folders),
            shared: Some(entry(NAME.to_owned(), &[])),
            holds_token: false,
        })
    }

    /// The entry for a file of this reach. Everyone who works on a project reads its file, so there
    /// the command is `stoa` of the `PATH`, with each person's own data folder.
    pub(super) fn for_file(&self, reach: Reach) -> Self {
        match (&self.shared, reach) {
            (Some(shared), Reach::Project) => Self { transport: shared.clone(), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// The address of a running server; without one, the address that `stoa serve` would have here.
    pub(super) fn http(
        url: Option<&str>,
        toolset: &ToolsetArgs,
        config: &Config,
    ) -> Result<Self, CommandError> {
        let default_url = || match &config.public_url {
            Some(url) => url.clone(),
            None => format!("http://127.0.0.1:{}", config.listen.port()),
        };
        let url = endpoint(url.map_or_else(default_url, str::to_owned).as_str())?;
        let chosen = Toolset::new(toolset, config)?;
        let mut headers = Values::new();
        // A server with a token, or on another machine, requires a token.
        if config.http_token.is_some() || !is_local(&url) {
            let value = EntryValue::Variable { prefix: BEARER, name: TOKEN_VARIABLE };
            headers.push((AUTHORIZATION.to_owned(), value));
        }
        for (header, names) in
            [("X-Stoa-Services", chosen.services), ("X-Stoa-Tools", chosen.tools)]
        {
            if !names.is_empty() {
                headers.push((header.to_owned(), EntryValue::Text(names.join(","))));
            }
        }
        if chosen.read_only {
            headers.push(("X-Stoa-Read-Only".to_owned(), EntryValue::Text("true".to_owned())));
        }
        Ok(Self { transport: Transport::Http { url, headers }, shared: None, holds_token: false })
    }

    /// Whether the entry leads to a server that uses this machine's data folder.
    pub(super) fn is_local(&self) -> bool {
        match &self.transport {
            Transport::Stdio { .. } => true,
            Transport::Http { url, .. } => is_local(url),
        }
    }

    /// Puts a token into the environment or the header from which the client sends it.
    pub(super) fn place_token(&mut self, token: &Secret) {
        let (values, name, prefix) = match &mut self.transport {
            Transport::Stdio { env, .. } => (env, TOKEN_VARIABLE, ""),
            Transport::Http { headers, .. } => (headers, AUTHORIZATION, BEARER),
        };
        values.retain(|(it, _)| it != name);
        let value = EntryValue::Text(format!("{prefix}{}", token.reveal()));
        values.push((name.to_owned(), value));
        self.holds_token = true;
    }

    /// The variables that the entry names and the client's environment must set.
    pub(super) fn named_variables(&self) -> Vec<&'static str> {
        let values = match &self.transport {
            Transport::Stdio { env: values, .. } | Transport::Http { headers: values, .. } => {
                values
            }
        };
        let name = |(_, value): &(String, EntryValue)| match value {
            EntryValue::Variable { name, .. } => Some(*name),
            EntryValue::Text(_) => None,
        };
        values.iter().filter_map(name).collect()
    }
}

/// The services and tools that the entry selects, from flags or settings.
struct Toolset {
    services: Vec<String>,
    tools: Vec<String>,
    read_only: bool,
}

impl Toolset {
    fn new(flags: &ToolsetArgs, config: &Config) -> Result<Self, CommandError> {
        let chosen = |flag: &Option<Vec<String>>, setting: &Option<Vec<String>>| {
            flag.clone().or_else(|| setting.clone()).unwrap_or_default()
        };
        let services = chosen(&flags.services, &config.view.services);
        let tools = chosen(&flags.tools, &config.view.tools);
        names::check(&services, &tools)?;
        Ok(Self { services, tools, read_only: flags.read_only || config.view.read_only })
    }

    /// The selection as flags of `stoa mcp`.
    fn flags(self) -> Vec<String> {
        let mut flags = Vec::new();
        for (flag, names) in [("--services", self.services), ("--tools", self.tools)] {
            if !names.is_empty() {
                flags.extend([flag.to_owned(), names.join(",")]);
            }
        }
        if self.read_only {
            flags.push("--read-only".to_owned());
        }
        flags
    }
}

/// The settings of this process's environment, which a client does not inherit. The settings of a
/// configuration file are not here, because the client's process reads the file. A secret is only named.
fn environment_values(config: &Config) -> Values {
    let set = config.variables.iter().filter(|it| !NOT_IN_ENTRY.contains(&it.key));
    let value = |text: &Option<String>, name: &'static str| match text {
        // An address may contain a password, or a key in its query.
        Some(text) if !text.contains(['@', '?']) => EntryValue::Text(text.clone()),
        _ => EntryValue::Variable { prefix: "", name },
    };
    set.map(|it| (it.variable.to_owned(), value(&it.value, it.variable))).collect()
}

/// The URL of an MCP endpoint; `/mcp` if the URL has no path.
fn endpoint(url: &str) -> Result<String, CommandError> {
    let invalid = || {
        let message = "--http must be the URL of a server, such as http://127.0.0.1:8080/mcp";
        CommandError::usage(message)
    };
    let uri: http::Uri = url.trim().parse().map_err(|_| invalid())?;
    let scheme =
        uri.scheme_str().filter(|it| ["http", "https"].contains(it)).ok_or_else(invalid)?;
    let authority = uri.authority().ok_or_else(invalid)?.as_str();
    if authority.contains('@') || uri.query().is_some() {
        return Err(CommandError::usage(
            "--http must be a URL without a password and without a query, because the entry would store them",
        ));
    }
    let path = match uri.path() {
        "" | "/" => "/mcp",
        path => path.trim_end_matches('/'),
    };
    Ok(format!("{scheme}://{authority}{path}"))
}

fn is_local(url: &str) -> bool {
    let uri = url.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}

fn text(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CommandError::usage(format!(
            "{} is not UTF-8, and a client's file cannot contain it",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SETTINGS;

    #[test]
    fn an_address_is_completed_and_secrets_are_refused() {
        for (given, expected) in [
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080/mcp")),
            ("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080/mcp")),
            ("https://stoa.example/mcp/quotes/", Some("https://stoa.example/mcp/quotes")),
            ("stoa.example", None),
            ("ftp://stoa.example/mcp", None),
            ("https://me:hunter2@stoa.example/mcp", None),
            ("https://stoa.example/mcp?key=hunter2", None),
            ("", None),
        ] {
            assert_eq!(endpoint(given).ok().as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/mcp", true),
            ("http://localhost/mcp", true),
            ("http://[::1]:1/mcp", true),
            ("http://10.0.0.1/mcp", false),
            ("https://stoa.example/mcp", false),
        ] {
            assert_eq!(is_local(url), expected, "{url}");
        }
    }

    #[test]
    fn every_setting_that_is_not_in_an_entry_exists() {
        for key in NOT_IN_ENTRY {
            assert!(SETTINGS.iter().any(|setting| setting.key == key), "{key}");
        }
    }
}
