//! `stoa doctor`: finds problems of this machine and configuration, and says how to fix them.
//!
//! Every check is a function that returns findings; none stops the others, and none shows a secret.

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

use crate::app;
use crate::commands::print;
use crate::config::{Config, ConfigFile};
use crate::exit::CommandError;

pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    let findings = look(&config).await;
    print(&report(&findings))?;
    match findings.iter().filter(|it| it.level == Level::Fail).count() {
        0 => Ok(()),
        1 => Err(CommandError::other("one check failed; the fix is behind it")),
        many => {
            Err(CommandError::other(format!("{many} checks failed; the fixes are behind them")))
        }
    }
}

async fn look(config: &Config) -> Vec<Finding> {
    let mut ground = vec![folder::check(&config.data)];
    if is_sound(&ground) {
        ground.push(folder::check_key(&config.data));
        ground.push(store(config).await);
    }
    let (mut venue, moex, model) =
        tokio::join!(venue::check(config), moex::check(config), model::check(config));
    venue.extend(moex);
    // The tool call is skipped after a failed check, because it would fail for the same reason.
    let tools = match is_sound(&ground) && is_sound(&venue) {
        true => tools::check(config).await,
        false => Vec::new(),
    };
    let mut findings = vec![build(), settings(&config.file)];
    findings.extend(ground);
    findings.push(port::check(config.listen).await);
    findings.extend(exposure::check(config));
    findings.push(exposure::surfaces(config.surfaces));
    findings.push(limits::check(config.connections_max));
    findings.push(limits::streams(config.stream_limits));
    findings.extend(sandboxing::check());
    findings.extend(venue);
    findings.extend(model);
    findings.extend(tools);
    findings
}

fn is_sound(findings: &[Finding]) -> bool {
    findings.iter().all(|it| it.level != Level::Fail)
}

fn build() -> Finding {
    let version = format!("stoa {} ({})", app::VERSION, app::commit());
    match cfg!(debug_assertions) {
        false => Finding::ok("program", version),
        true => Finding::warn("program", format!("{version}, a debug build and slow"))
            .fix("build it with `cargo build --release`"),
    }
}

/// The configuration file in use, and one that is not.
fn settings(file: &ConfigFile) -> Finding {
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
async fn store(config: &Config) -> Finding {
    let what = if config.database_url.is_some() { "PostgreSQL" } else { "SQLite" };
    match app::open_store(config).await {
        Ok(db) => {
            db.close().await;
            Finding::ok(what, "opens, and its tables are up to date")
        }
        Err(failure) if config.database_url.is_some() => Finding::fail(what, failure.to_string())
            .fix("check DATABASE_URL, and that the server runs and lets you in"),
        Err(failure) => Finding::fail(what, failure.to_string())
            .fix("stop what else uses the folder, restore a backup, or choose another with --data"),
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

/// One line for each finding.
fn report(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let level = match finding.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!(" / {fix}"));
        let line = format!("{level:<4}  {:<12}  - {}{fix}", finding.what, finding.detail);
        // Details may quote foreign texts of several lines.
        let line = line.replace(char::is_control, " ");
        _ = writeln!(text, "{}", telemetry::redact(&line));
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
        let text = report(&findings);
        assert_eq!(text.lines().next(), Some("ok    port          - free"));
        let second = text.lines().nth(1).unwrap();
        assert!(second.starts_with("FAIL  PostgreSQL    - no answer"), "{second}");
        assert!(second.ends_with(" / start it"), "{second}");
        assert!(!text.contains("hunter2"));
        assert_eq!(text.lines().count(), 2);
    }

    async fn look_with(name: &str, database_url: Option<&str>) -> Vec<Finding> {
        let data = std::env::temp_dir().join(format!("stoa-look-{name}-{}", std::process::id()));
        let settings = Settings {
            data: Some(data.clone()),
            listen: Some("127.0.0.1:0".to_owned()),
            database_url: database_url.map(auth::Secret::new),
            ..Settings::default()
        };
        let findings = look(&Config::resolve(settings).unwrap()).await;
        std::fs::remove_dir_all(data).unwrap();
        findings
    }

    #[tokio::test]
    async fn a_new_machine_is_well() {
        let findings = look_with("new", None).await;
        assert!(is_sound(&findings), "{findings:#?}");
        for told in ["quotes.live says: BTCUSDT", "get_security_snapshot says: SBER"] {
            assert!(findings.iter().any(|it| it.detail.contains(told)), "{told}: {findings:#?}");
        }
    }

    #[tokio::test]
    async fn a_store_that_is_not_there_is_told_once_and_without_its_password() {
        let findings = look_with("lost", Some("postgres://me:hunter2@127.0.0.1:1/stoa")).await;
        let failed: Vec<_> =
            findings.iter().filter(|it| it.level == Level::Fail).map(|it| it.what).collect();
        assert_eq!(failed, ["PostgreSQL"]);
        assert!(!format!("{findings:?}").contains("hunter2"));
    }
}
