//! The commands of the binary, one file each.

mod archive;
mod call;
mod completions;
mod doctor;
mod import;
mod install;
mod mcp;
pub(crate) mod names;
mod notice;
mod serve;
mod sim;
mod token;
mod tools;
mod user;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::cli::{Cli, Command, ToolsetArgs};
use crate::config::{Config, ConfigFile, Settings};
use crate::exit::CommandError;
use notice::Notices;
use telemetry::LogFormat;

/// The number of threads for disk access and long computations. Without this limit twenty large
/// uploads would start more than a hundred.
const BLOCKING_THREADS: usize = 32;

pub(crate) fn run(cli: Cli) -> Result<(), CommandError> {
    if let Command::Completions { shell } = cli.command {
        return completions::run(shell);
    }
    let mut settings = Settings::read(&cli, toolset(&cli.command))?;
    if let Command::Serve(args) = &cli.command {
        settings.insecure = args.insecure;
        if let Some(listen) = &args.listen {
            settings.set_listen(listen);
        }
    }
    settings.one_shot =
        !matches!(cli.command, Command::Serve(_) | Command::Mcp(_) | Command::Sim(_));
    let warnings = warnings(&cli.command, &settings);
    let file = settings.file.clone();
    let config = Config::resolve(settings);
    let format = config.as_ref().map_or(LogFormat::Pretty, |config| config.log.format);
    let notices = Notices::new(format);
    for warning in &warnings {
        notices.warn(warning);
    }
    name_config_file(notices, &cli.command, &file);
    let config = config?;
    // Kept until the end, because its drop writes the queued log lines.
    let _logs =
        telemetry::init(&config.log).map_err(|error| CommandError::usage(error.to_string()))?;
    install_crypto();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()?;
    let result = runtime.block_on(dispatch(cli.command, config));
    // A blocking read of stdin must not keep a finished process alive.
    runtime.shutdown_background();
    result
}

/// Problems of the settings that do not stop the command.
fn warnings(command: &Command, settings: &Settings) -> Vec<String> {
    let mut warnings = settings.warnings.clone();
    if matches!(command, Command::Serve(_)) && settings.is_unreachable() {
        warnings.push(
            "nothing outside this container reaches a port on loopback; with MCP_HTTP_TOKEN set, a \
             port alone means every address"
                .to_owned(),
        );
    }
    warnings
}

/// Names the configuration file in use for commands that do not show it otherwise, and a file that is
/// not read.
fn name_config_file(notices: Notices, command: &Command, file: &ConfigFile) {
    if let (
        Command::Mcp(_) | Command::Archive(_) | Command::Call(_) | Command::Ask(_),
        Some(used),
    ) = (command, &file.used)
    {
        notices.info(&format!("settings are read from {}", used.display()));
    }
    if let Some(advice) = file.advice() {
        notices.info(&advice);
    }
}

async fn dispatch(command: Command, config: Config) -> Result<(), CommandError> {
    match command {
        Command::Serve(args) => serve::run(args, config).await,
        Command::Mcp(_) => mcp::run(config).await,
        Command::Sim(args) => sim::run(args, config).await,
        Command::Import(command) => import::run(command, config).await,
        Command::Token(command) => token::run(command, config).await,
        Command::User(command) => user::run(command, config).await,
        Command::Archive(command) => archive::run(command, config).await,
        Command::Tools(args) => tools::run(args, config).await,
        Command::Call(args) => call::run(args, config).await,
        Command::Ask(args) => call::ask(args, config).await,
        Command::Doctor => doctor::run(config).await,
        Command::Install(args) => install::run(args, &config).await,
        Command::Completions { shell } => completions::run(shell),
        Command::ExtractWorker | Command::AnalysisWorker => {
            Err(CommandError::usage("this command only runs as a child process of the archive"))
        }
    }
}

fn toolset(command: &Command) -> Option<&ToolsetArgs> {
    match command {
        Command::Serve(args) => Some(&args.toolset),
        Command::Mcp(args) => Some(args),
        Command::Tools(args) => Some(&args.toolset),
        _ => None,
    }
}

/// Installs ring as the TLS provider. A second call fails, which is harmless.
fn install_crypto() {
    _ = rustls::crypto::ring::default_provider().install_default();
}

/// The address at which a client on this machine reaches a server that listens here: loopback if the
/// server listens on every address.
pub(crate) fn client_address(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// Prints a command's result to stdout, with a line end. Everything else goes to stderr.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    let written = written.and_then(|()| out.flush());
    match written {
        // The reader has closed the pipe.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(CommandError::other),
    }
}
