//! The location of each client's configuration.

use std::path::PathBuf;

use crate::cli::Client;
use crate::exit::CommandError;

pub(super) struct Places {
    pub(super) home: Option<PathBuf>,
    /// The project folder, for clients with a file in each project.
    pub(super) here: PathBuf,
    /// Codex has a variable for another location.
    pub(super) codex: Option<PathBuf>,
}

impl Places {
    pub(super) fn of_user() -> Result<Self, CommandError> {
        Ok(Self {
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            here: std::env::current_dir()?,
            codex: std::env::var_os("CODEX_HOME").filter(|it| !it.is_empty()).map(PathBuf::from),
        })
    }

    pub(super) fn file(&self, client: Client) -> Result<PathBuf, CommandError> {
        let home = || {
            let refuse = || CommandError::usage("there is no home folder; set HOME");
            self.home.clone().ok_or_else(refuse)
        };
        Ok(match client {
            Client::ClaudeCode => self.here.join(".mcp.json"),
            Client::Vscode => self.here.join(".vscode/mcp.json"),
            Client::Cursor => home()?.join(".cursor/mcp.json"),
            Client::ClaudeDesktop => {
                let folder = match cfg!(target_os = "macos") {
                    true => "Library/Application Support/Claude",
                    false => ".config/Claude",
                };
                home()?.join(folder).join("claude_desktop_config.json")
            }
            Client::Codex => match &self.codex {
                Some(codex) => codex.join("config.toml"),
                None => home()?.join(".codex/config.toml"),
            },
        })
    }
}
