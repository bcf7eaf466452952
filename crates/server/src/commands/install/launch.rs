//! How a client starts this program: the path, the arguments, and the settings without a flag.

use std::path::Path;

use crate::cli::ToolsetArgs;
use crate::commands::install::NAME;
use crate::commands::names;
use crate::config::{Config, MoexProvider, Provider, Settings};
use crate::exit::CommandError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    /// Settings that are not secret. A client does not inherit the environment of this shell, so
    /// they are written into its entry.
    pub(super) env: Vec<(&'static str, String)>,
    notes: Vec<&'static str>,
}

impl Launch {
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
        Self::new(&program, toolset, config)
    }

    pub(super) fn new(
        program: &Path,
        toolset: &ToolsetArgs,
        config: &Config,
    ) -> Result<Self, CommandError> {
        // A client starts this program in any folder.
        let data = std::path::absolute(&config.data)?;
        let mut args = vec!["mcp".to_owned(), "--data".to_owned(), text(&data)?];
        if let Some(file) = &config.file.used {
            args.extend(["--config".to_owned(), text(file)?]);
        }
        let chosen = |flag: &Option<Vec<String>>, setting: &Option<Vec<String>>| {
            flag.clone().or_else(|| setting.clone()).unwrap_or_default()
        };
        let services = chosen(&toolset.services, &config.view.services);
        let tools = chosen(&toolset.tools, &config.view.tools);
        names::check(&services, &tools)?;
        for (flag, names) in [("--services", services), ("--tools", tools)] {
            if !names.is_empty() {
                args.extend([flag.to_owned(), names.join(",")]);
            }
        }
        if toolset.read_only || config.view.read_only {
            args.push("--read-only".to_owned());
        }
        let (env, mut notes) = settings(config);
        notes.push(
            "for tools that need a token, put STOA_TOKEN into this entry's env yourself \
             (`stoa token mint --scope read --ttl 7d`); it is never written here",
        );
        Ok(Self { command: text(program)?, args, env, notes })
    }

    /// Notes for the user beside the configuration.
    pub(super) fn notes(&self) -> &[&'static str] {
        &self.notes
    }

    /// The same as a command of Claude Code. The name comes first, because `--env` takes everything
    /// up to the dashes.
    pub(super) fn claude_line(&self) -> String {
        let command = ["claude", "mcp", "add", NAME, "--scope", "user"];
        let mut words: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
        for (name, value) in &self.env {
            words.extend(["--env".to_owned(), format!("{name}={value}")]);
        }
        words.extend(["--".to_owned(), self.command.clone()]);
        words.extend(self.args.iter().cloned());
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// The settings that are written, and notes about those that are not.
fn settings(config: &Config) -> (Vec<(&'static str, String)>, Vec<&'static str>) {
    let (mut env, mut notes) = (Vec::new(), Vec::new());
    let mut address = |name: &'static str, url: &str, refused: &'static str| {
        // An address may contain a password, or a key in its query.
        match url.contains(['@', '?']) {
            true => notes.push(refused),
            false => env.push((name, url.to_owned())),
        }
    };
    if let Provider::Binance(site) = &config.provider {
        address(
            "BINANCE_REST_URL",
            &site.rest_url,
            "BINANCE_REST_URL may hold a secret and is not written; put it into the entry's env",
        );
        if let Some(url) = &site.ws_url {
            address(
                "BINANCE_WS_URL",
                url,
                "BINANCE_WS_URL may hold a secret and is not written; put it into the entry's env",
            );
        }
    }
    if let MoexProvider::Iss(url) = &config.moex {
        address(
            "MOEX_ISS_URL",
            url,
            "MOEX_ISS_URL may hold a secret and is not written; put it into the entry's env",
        );
    }
    if let Some(url) = &config.arche_api_url {
        address(
            "ARCHE_API_URL",
            url,
            "ARCHE_API_URL may hold a secret and is not written; put it into the entry's env",
        );
    }
    match &config.provider {
        Provider::Binance(_) => env.insert(0, ("PROVIDER", "binance".to_owned())),
        Provider::Simulated if is_usual_seed(config.sim_seed) => {}
        Provider::Simulated => env.push(("STOA_SIM_SEED", config.sim_seed.to_string())),
    }
    if matches!(config.moex, MoexProvider::Iss(_)) {
        env.insert(0, ("MOEX_PROVIDER", "iss".to_owned()));
    }
    if matches!(&config.provider, Provider::Binance(site) if site.api_key.is_some()) {
        notes.push("BINANCE_API_KEY is a secret and is not written; put it into the entry's env");
    }
    if config.database_url.is_some() {
        notes.push("DATABASE_URL is a secret and is not written; put it into the entry's env");
    }
    if config.arche_api_token.is_some() {
        notes.push("ARCHE_API_TOKEN is a secret and is not written; put it into the entry's env");
    }
    (env, notes)
}

fn is_usual_seed(seed: u64) -> bool {
    Settings::default().sim_seed == seed
}

fn text(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        CommandError::usage(format!("{} is not UTF-8, which no client can hold", path.display()))
    })
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:,+@%".contains(it);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (word, expected) in [
            ("/opt/stoa", "/opt/stoa"),
            ("/a b/it's", r"'/a b/it'\''s'"),
            ("", "''"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
