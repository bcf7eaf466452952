//! The command line. Secrets have no flags: every user of a machine can read argument lists.
//! The help of a flag that is a setting comes from the table of settings.

#![expect(
    clippy::doc_markdown,
    reason = "these comments are the program's help, shown as they are"
)]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::help;

/// The heading of options that every command takes.
const GLOBAL: &str = "Global options";

#[derive(Debug, Parser)]
#[command(name = "stoa", version = crate::app::version(), about = "Markets, prices and documents for AI agents")]
#[command(after_help = "Start with `stoa serve`: it needs no configuration and no network.")]
pub(crate) struct Cli {
    /// Configuration file [env: STOA_CONFIG] [default: stoa.toml in the data folder, or in
    /// ~/.config/stoa]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub(crate) config: Option<PathBuf>,
    #[arg(long, global = true, value_name = "DIR", help = help("data"), help_heading = GLOBAL)]
    pub(crate) data: Option<PathBuf>,
    #[arg(long, global = true, value_name = "FILTER", help = help("log"), help_heading = GLOBAL)]
    pub(crate) log: Option<String>,
    #[arg(long, global = true, value_name = "FORMAT", help = help("log_format"), help_heading = GLOBAL)]
    pub(crate) log_format: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP, REST and the documentation over HTTP
    Serve(ServeArgs),
    /// Serve the same tools over stdio, for clients that start a command
    Mcp(ToolsetArgs),
    /// Run the simulated exchange alone
    Sim(SimArgs),
    /// Import bars or the pricing catalogue from files
    #[command(subcommand)]
    Import(ImportCommand),
    /// Mint, narrow, read and revoke capability tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Manage the accounts of the archive
    #[command(subcommand)]
    User(UserCommand),
    /// Fill the document archive
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// List the tools with their size in tokens, or show one with its arguments and an example
    Tools(ToolsArgs),
    /// Call one tool and print its result
    Call(CallArgs),
    /// Ask the market analyst a question, in Russian or English
    Ask(AskArgs),
    /// Check this machine and configuration, and say how to fix what is wrong
    Doctor,
    /// Connect a client: list the clients here, print the configuration of one, or write it
    Install(InstallArgs),
    /// Print completions for a shell, such as `stoa completions bash > ~/.local/share/bash-completion/completions/stoa`
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Read one file for the archive, in a process of its own
    #[command(name = crate::archive::READER, hide = true)]
    ExtractWorker,
    /// Analyse the text of one file for the archive, in a process of its own
    #[command(name = crate::archive::ANALYSER, hide = true)]
    AnalysisWorker,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[arg(long, value_name = "ADDR", help = help("listen"))]
    pub(crate) listen: Option<String>,
    /// Listen beyond loopback without a token; a token that is set is still required
    #[arg(long)]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) toolset: ToolsetArgs,
    /// Serve the protocol test fixtures at /conformance instead of hiding them
    #[arg(long, hide = true)]
    pub(crate) conformance_fixtures: bool,
}

/// Which tools are served. Requests can only narrow this further.
#[derive(Debug, Args, Clone, Default)]
pub(crate) struct ToolsetArgs {
    #[arg(long, value_name = "NAME", value_delimiter = ',', help = help("services"))]
    pub(crate) services: Option<Vec<String>>,
    #[arg(long, value_name = "NAME", value_delimiter = ',', help = help("tools"))]
    pub(crate) tools: Option<Vec<String>>,
    #[arg(long, help = help("read_only"))]
    pub(crate) read_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8090")]
    pub(crate) listen: String,
    #[arg(long, help = help("sim_seed"))]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import OHLCV bars from CSV or Parquet; they are then quoted as FILE:NAME
    Bars(ImportBarsArgs),
    /// Import the pricing catalogue from CSV: a line of names with `sku` among them, or an export
    /// of Shopify or WooCommerce
    Catalog(ImportCatalogArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ImportCatalogArgs {
    /// A CSV file of up to 128 MiB
    pub(crate) file: PathBuf,
    /// The decimal mark, if the file does not decide it
    #[arg(long, value_enum)]
    pub(crate) decimal: Option<Decimal>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportBarsArgs {
    /// A CSV or Parquet file with a row for each bar
    pub(crate) file: PathBuf,
    /// Ticker of all rows; needed if the file has no column for it
    #[arg(long, value_name = "NAME")]
    pub(crate) ticker: Option<String>,
    /// How long a bar is: 1m, 1h, 1d, ...
    #[arg(long, default_value = "1d")]
    pub(crate) interval: String,
    /// Currency of the prices
    #[arg(long, default_value = "USD")]
    pub(crate) currency: String,
    /// What comes first in dates such as 03/04/2024, if the file does not decide it
    #[arg(long, value_enum)]
    pub(crate) dates: Option<Dates>,
    /// The decimal mark, if the file does not decide it
    #[arg(long, value_enum)]
    pub(crate) decimal: Option<Decimal>,
    /// What to do with a row that cannot be read
    #[arg(long, value_enum, default_value = "stop")]
    pub(crate) on_bad_row: BadRow,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Dates {
    /// Day, month, year
    Dmy,
    /// Month, day, year
    Mdy,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Decimal {
    Point,
    Comma,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum BadRow {
    /// Stop at the row; the rows before it stay imported
    Stop,
    /// Skip the row, and list the first 20
    Skip,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Print a new token and nothing else
    Mint(MintArgs),
    /// Narrow a token (from stdin or STOA_TOKEN); this needs no key
    Attenuate(NarrowArgs),
    /// Show what a token (from stdin or STOA_TOKEN) claims, and whether this server accepts it
    Inspect,
    /// List the minted tokens that have not expired; the tokens themselves are not stored
    List,
    /// Revoke a token (by its id, or from stdin or STOA_TOKEN) and everything narrowed from it
    Revoke {
        /// The id that `stoa token list` shows
        id: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user and print their id; the password is a line on stdin
    Add {
        /// 3 to 64 letters, digits or . _ - @
        name: String,
        /// Their address; nothing is sent to it
        #[arg(long)]
        email: Option<String>,
    },
    /// List the users with their live sessions
    List,
    /// Remove a user and end their sessions; their files and cases stay
    Remove {
        /// The user's name
        name: String,
    },
    /// Set a user's password (a line on stdin) and end their sessions
    Password {
        /// The user's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// Add files, and the files of folders, to the archive; works without a server
    Add(ArchiveAddArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveAddArgs {
    /// Files, and folders with all that is in them
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Case that the files belong to; an unknown name makes a new case
    #[arg(long, value_name = "NAME")]
    pub(crate) case: Option<String>,
    /// Read each file as well, and wait for what is found
    #[arg(long)]
    pub(crate) process: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MintArgs {
    #[arg(long, required_unless_present = "user", help = scope_help())]
    pub(crate) scope: Option<String>,
    /// Lifetime: 90s, 30m, 1h, 7d [default: 1h; with --user 30d, at most 366d]
    #[arg(long)]
    pub(crate) ttl: Option<String>,
    /// Subject of the token; shown in logs and audits
    #[arg(long, default_value = "cli")]
    pub(crate) subject: String,
    /// Act for this user of the archive: with the scopes read and write and in the archive alone,
    /// unless --scope and --service say otherwise
    #[arg(long, value_name = "NAME", conflicts_with = "subject")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The help of `--scope`, with what each scope allows.
fn scope_help() -> String {
    let rows = auth::KNOWN_SCOPES.iter().map(|(scope, allows)| format!("\n  {scope:<8} {allows}"));
    format!("What the bearer may do, such as read,write:{}", rows.collect::<String>())
}

#[derive(Debug, Args)]
pub(crate) struct NarrowArgs {
    /// Keep only these scopes
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Shorten the lifetime
    #[arg(long)]
    pub(crate) ttl: Option<String>,
    /// A note on the purpose; every holder of the token can read it
    #[arg(long)]
    pub(crate) note: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    /// Only SKUs that begin with one of these
    #[arg(long, value_delimiter = ',')]
    pub(crate) sku_prefix: Option<Vec<String>>,
    /// Only these markets
    #[arg(long, value_delimiter = ',')]
    pub(crate) market: Option<Vec<String>>,
    /// Only these services, such as archive
    #[arg(long, value_delimiter = ',')]
    pub(crate) service: Option<Vec<String>>,
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool's name, with a dot or an underscore
    pub(crate) tool: String,
    /// Its arguments: a JSON object, - for one on stdin, or words like tickers=BTCUSDT,ETHUSDT
    pub(crate) arguments: Vec<String>,
    /// Print the text form instead of the JSON
    #[arg(long)]
    pub(crate) text: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question, or - for one on stdin
    #[arg(required = true)]
    pub(crate) question: Vec<String>,
    /// Print the whole answer as JSON, with its tables and tool calls
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Show only these tools, with their arguments, an example and the schema
    pub(crate) tool: Vec<String>,
    #[command(flatten)]
    pub(crate) toolset: ToolsetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which client; without it, the clients on this machine are listed
    #[arg(long, value_enum)]
    pub(crate) client: Option<Client>,
    /// Every client on this machine, each with the file for all your projects; with --write or
    /// --uninstall
    #[arg(long, conflicts_with_all = ["client", "project", "bundle"])]
    pub(crate) all: bool,
    /// Write the entry into the client's file; the old file is kept with .bak at its end
    #[arg(long)]
    pub(crate) write: bool,
    /// Remove what --write added
    #[arg(long, conflicts_with_all = ["write", "token", "bundle"])]
    pub(crate) uninstall: bool,
    /// Use the file for all your projects
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// Use the file of the project in the current folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Let the client call a running server instead of starting one [default: the address of stoa
    /// serve]
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    pub(crate) http: Option<Option<String>>,
    /// Mint a token for the tools that the entry shows, and put it into the file
    #[arg(long)]
    pub(crate) token: bool,
    /// Scopes of the token, such as read,propose; implies --token
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Lifetime of the token: 12h, 30d
    #[arg(long, default_value = "30d")]
    pub(crate) ttl: String,
    /// Write a bundle (.mcpb) for Claude Desktop to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "token", "scope", "http"])]
    pub(crate) bundle: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) toolset: ToolsetArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Windsurf,
    Zed,
    GeminiCli,
    Cline,
    Jetbrains,
    Goose,
    LmStudio,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn check(command: &clap::Command, path: &str) {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            assert!(arg.get_help().is_some(), "{path}: {} has no help", arg.get_id());
        }
        for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            assert!(inner.get_about().is_some(), "{path} {} has no help", inner.get_name());
            check(inner, &format!("{path} {}", inner.get_name()));
        }
    }

    #[test]
    fn every_command_and_every_argument_is_described() {
        let command = Cli::command();
        command.clone().debug_assert();
        check(&command, "stoa");
    }

    #[test]
    fn global_options_are_listed_apart() {
        let mut command = Cli::command();
        command.build();
        let call = command.find_subcommand_mut("call").unwrap();
        let help = call.render_long_help().to_string();
        let (own, global) = help.split_once("Global options:").unwrap();
        assert!(own.contains("--text") && !own.contains("--data"), "{help}");
        assert!(global.contains("--data") && global.contains("--log-format"), "{help}");
    }
}
