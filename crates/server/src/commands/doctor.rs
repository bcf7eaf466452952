//! `stoa doctor`: finds problems of this machine and configuration, and says how to fix them.
//!
//! Every check is a function that returns findings. A failed check does not stop the others, and no
//! finding shows a secret.

mod exposure;
mod folder;
mod limits;
mod model;
mod moex;
mod port;
mod sandboxing;
mod tools;
mod venue;

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use crate::app;
use crate::commands::print;
use crate::config::{Config, ConfigFile};
use crate::exit::CommandError;

pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    let findings = run_checks(&config).await;
    print(&report(&findings, is_coloured()))?;
    match findings.iter().filter(|it| it.level == Level::Fail).count() {
        0 => Ok(()),
        1 => Err(CommandError::other("one check failed; its line says how to fix it")),
        many => Err(CommandError::other(format!(
            "{many} checks failed; their lines say how to fix them"
        ))),
    }
}

async fn run_checks(config: &Config) -> Vec<Finding> {
    let mut storage = vec![folder::check(&config.data)];
    if none_failed(&storage) {
        storage.push(folder::check_key(&config.data));
        storage.push(check_store(config).await);
    }
    let (mut venues, moex, model) =
        tokio::join!(venue::check(config), moex::check(config), model::check(config));
    venues.extend(moex);
    // The tool call is skipped after a failed check, because it would fail for the same reason.
    let tools = match none_failed(&storage) && none_failed(&venues) {
        true => tools::check(config).await,
        false => Vec::new(),
    };
    let mut findings = vec![check_build(), check_config_file(&config.file)];
    findings.extend(storage);
    findings.push(port::check(config.listen).await);
    findings.extend(exposure::check(config));
    findings.push(exposure::surfaces(config.surfaces));
    findings.push(limits::check(config.connections_max));
    findings.push(limits::streams(config.stream_limits));
    findings.extend(sandboxing::check());
    findings.extend(venues);
    findings.extend(model);
    findings.extend(tools);
    findings
}

fn none_failed(findings: &[Finding]) -> bool {
    findings.iter().all(|it| it.level != Level::Fail)
}

fn check_build() -> Finding {
    let version = format!("stoa {} ({})", app::VERSION, app::commit());
    match cfg!(debug_assertions) {
        false => Finding::ok("program", version),
        true => Finding::warn("program", format!("{version}, a debug build and slow"))
            .fix("build it with `cargo build --release`"),
    }
}

/// The configuration file in use, and a warning on a file that is not read.
fn check_config_file(file: &ConfigFile) -> Finding {
    let used = file.used.as_ref().map_or_else(
        || "no file; defaults, the environment and flags".to_owned(),
        |used| used.display().to_string(),
    );
    match file.advice() {
        None => Finding::ok("settings", used),
        Some(advice) => Finding::warn("settings", used).fix(advice),
    }
}

/// Opens the store as a server would, which also applies the migrations.
async fn check_store(config: &Config) -> Finding {
    let what = if config.database_url.is_some() { "PostgreSQL" } else { "SQLite" };
    match app::open_store(config).await {
        Ok(db) => {
            db.close().await;
            Finding::ok(what, "opens, and its tables are up to date")
        }
        Err(failure) if config.database_url.is_some() => Finding::fail(what, failure.to_string())
            .fix("check DATABASE_URL, and that the database server runs and accepts this user"),
        Err(failure) => Finding::fail(what, failure.to_string())
            .fix("stop other programs that use the folder, restore a backup, or choose another with --data"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Ok,
    Warn,
    Fail,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    level: Level,
    what: &'static str,
    detail: String,
    /// How to fix it.
    fix: Option<String>,
}

impl Finding {
    fn new(level: Level, what: &'static str, detail: impl Into<String>) -> Self {
        Self { level, what, detail: detail.into(), fix: None }
    }

    fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Self::new(Level::Ok, what, detail)
    }

    fn warn(what: &'static str, detail: impl Into<String>) -> Self {
        Self::new(Level::Warn, what, detail)
    }

    fn fail(what: &'static str, detail: impl Into<String>) -> Self {
        Self::new(Level::Fail, what, detail)
    }

    fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Whether a person reads the report who has not asked for plain text (`NO_COLOR`).
fn is_coloured() -> bool {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !is_plain
}

/// One line for each finding; colours mark the level alone.
fn report(findings: &[Finding], is_coloured: bool) -> String {
    let mut text = String::new();
    for finding in findings {
        let (level, colour) = match finding.level {
            Level::Ok => ("ok", 32),
            Level::Warn => ("warn", 33),
            Level::Fail => ("FAIL", 31),
        };
        let level = match is_coloured {
            true => format!("\x1b[{colour}m{level:<4}\x1b[0m"),
            false => format!("{level:<4}"),
        };
        let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!(" / {fix}"));
        let line = format!("{:<12}  - {}{fix}", finding.what, finding.detail);
        // Details may quote texts of other programs, which may have several lines.
        let line = line.replace(char::is_control, " ");
        _ = writeln!(text, "{level}  {}", telemetry::redact(&line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn a_finding_is_one_line_without_secrets() {
        let findings = [
            Finding::ok("port", "free"),
            Finding::fail("PostgreSQL", "no\nanswer, password=hunter2").fix("start it"),
        ];
        let coloured = report(&findings, true);
        assert!(coloured.starts_with("\x1b[32mok  \x1b[0m  port  "), "{coloured:?}");
        assert!(coloured.contains("\n\x1b[31mFAIL\x1b[0m  PostgreSQL"), "{coloured:?}");
        let text = report(&findings, false);
        assert_eq!(text.lines().next(), Some("ok    port          - free"));
        let second = text.lines().nth(1).unwrap();
        assert!(second.starts_with("FAIL  PostgreSQL    - no answer"), "{second}");
        assert!(second.ends_with(" / start it"), "{second}");
        assert!(!text.contains("hunter2"));
        assert_eq!(text.lines().count(), 2);
    }

    async fn findings_with(database_url: Option<&str>) -> Vec<Finding> {
        let data = testkit::TempFolder::new();
        let settings = Settings {
            data: Some(data.path().to_owned()),
            listen: Some("127.0.0.1:0".to_owned()),
            database_url: database_url.map(auth::Secret::new),
            ..Settings::default()
        };
        run_checks(&Config::resolve(settings).unwrap()).await
    }

    #[tokio::test]
    async fn no_check_fails_on_a_new_machine() {
        let findings = findings_with(None).await;
        assert!(none_failed(&findings), "{findings:#?}");
        for expected in ["quotes.live says: BTCUSDT", "get_security_snapshot says: SBER"] {
            assert!(
                findings.iter().any(|it| it.detail.contains(expected)),
                "{expected}: {findings:#?}"
            );
        }
    }

    #[tokio::test]
    async fn an_unreachable_store_is_one_finding_without_its_password() {
        let findings = findings_with(Some("postgres://me:hunter2@127.0.0.1:1/stoa")).await;
        let failed: Vec<_> =
            findings.iter().filter(|it| it.level == Level::Fail).map(|it| it.what).collect();
        assert_eq!(failed, ["PostgreSQL"]);
        assert!(!format!("{findings:?}").contains("hunter2"));
    }
}
