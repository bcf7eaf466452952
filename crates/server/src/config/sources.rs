//! Reads the settings from `stoa.toml`, the environment and the flags; a later source overrides an
//! earlier one. Records where each value came from, so that an error names the line or the variable.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::config_file::{ConfigFile, Folders};
use super::listen::{CONTAINER_VARIABLES, has_container_file};
use super::table::{CONFIG_VARIABLE, SETTINGS, Setting, Settings, setting};
use super::value::RawValue;
use crate::cli::{Cli, ToolsetArgs};
use crate::exit::CommandError;

/// Where the value of a setting came from.
#[derive(Debug, Clone)]
enum Source {
    File { path: PathBuf, line: usize },
    Variable(&'static str),
    Flag(&'static str),
}

/// The sources of all values that are not defaults, each with the value as it was written.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    values: HashMap<&'static str, (Source, Option<String>)>,
    pub(super) variables: Vec<VariableSetting>,
}

/// A setting that an environment variable sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariableSetting {
    pub(crate) key: &'static str,
    pub(crate) variable: &'static str,
    /// `None` for a secret.
    pub(crate) value: Option<String>,
}

impl Sources {
    /// `written` is shown in errors unless the setting is a secret.
    fn record(&mut self, setting: &Setting, source: Source, written: &str) {
        let written = (!setting.secret).then(|| written.to_owned());
        self.values.insert(setting.key, (source, written));
    }

    /// Whether the file, the environment or a flag sets `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The error for a value of `key` that is not what the setting expects.
    pub(crate) fn bad_value(&self, key: &str) -> CommandError {
        let expected = setting(key).map_or("valid", |setting| setting.expected);
        let Some((source, written)) = self.values.get(key) else {
            return CommandError::usage(format!("{key} must be {expected}"));
        };
        let subject = match source {
            Source::File { path, line } => format!("{}, line {line}: {key}", path.display()),
            Source::Variable(variable) => (*variable).to_owned(),
            Source::Flag(flag) => (*flag).to_owned(),
        };
        let not = written.as_ref().map_or_else(String::new, |written| format!(", not {written}"));
        CommandError::usage(format!("{subject} must be {expected}{not}"))
    }
}

impl Settings {
    pub(crate) fn read(cli: &Cli, toolset: Option<&ToolsetArgs>) -> Result<Self, CommandError> {
        let environment = Environment::of_process();
        let named =
            cli.config.clone().or_else(|| environment.text(CONFIG_VARIABLE).map(PathBuf::from));
        let current = std::env::current_dir().map_err(|error| {
            CommandError::usage(format!(
                "the path of the current folder cannot be read: {error}; change to another folder"
            ))
        })?;
        let folders = environment.folders(cli.data.as_deref(), &current);
        let file = ConfigFile::find(named.as_deref(), &folders, &current);
        let mut settings = Self {
            home: environment.home(),
            file,
            warnings: environment.unknown(),
            in_container: environment.is_container() || has_container_file(),
            ..Self::default()
        };
        settings.read_file()?;
        settings.read_environment(&environment)?;
        settings.read_flags(cli, toolset);
        Ok(settings)
    }

    fn read_file(&mut self) -> Result<(), CommandError> {
        let Some(path) = self.file.used.clone() else { return Ok(()) };
        match std::fs::read_to_string(&path) {
            Ok(text) => self.read_toml(&path, &text),
            Err(error) => {
                Err(CommandError::usage(format!("{} cannot be read: {error}", path.display())))
            }
        }
    }

    fn read_toml(&mut self, path: &Path, text: &str) -> Result<(), CommandError> {
        let line_at = |offset: usize| {
            let before = text.get(..offset).unwrap_or(text);
            let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
            (line, format!("{}, line {line}", path.display()))
        };
        let values: BTreeMap<Spanned<String>, Spanned<toml::Value>> = toml::from_str(text)
            .map_err(|error| {
                // The full message of the library quotes the line, which may contain a secret.
                let (_, place) = line_at(error.span().map_or(0, |span| span.start));
                CommandError::usage(format!("{place}: {}", error.message()))
            })?;
        for (key, value) in values {
            let (line, place) = line_at(key.span().start);
            let known = SETTINGS.iter().filter(|setting| setting.in_file);
            let Some(setting) = known.clone().find(|setting| setting.key == key.as_ref()) else {
                let near = did_you_mean(key.as_ref(), known.map(|setting| setting.key));
                return Err(CommandError::usage(format!(
                    "{place}: there is no setting {}{near}",
                    key.as_ref()
                )));
            };
            let value = value.into_inner();
            let source = Source::File { path: path.to_owned(), line };
            self.sources.record(setting, source, &value.to_string());
            self.apply(setting, &RawValue::Toml(&value))?;
        }
        Ok(())
    }

    fn read_environment(&mut self, environment: &Environment) -> Result<(), CommandError> {
        for setting in SETTINGS {
            let Some(text) = environment.text(setting.variable) else {
                if setting.key == "http_token" && environment.is_blank(setting.variable) {
                    self.sources.record(setting, Source::Variable(setting.variable), "");
                    return Err(self.sources.bad_value(setting.key));
                }
                continue;
            };
            self.sources.record(setting, Source::Variable(setting.variable), &format!("{text:?}"));
            self.apply(setting, &RawValue::Text(&text))?;
            let Setting { key, variable, secret, .. } = *setting;
            let value = (!secret).then_some(text);
            self.sources.variables.push(VariableSetting { key, variable, value });
        }
        Ok(())
    }

    fn apply(&mut self, setting: &Setting, raw: &RawValue<'_>) -> Result<(), CommandError> {
        if self.set(setting.key, raw) { Ok(()) } else { Err(self.sources.bad_value(setting.key)) }
    }

    fn read_flags(&mut self, cli: &Cli, toolset: Option<&ToolsetArgs>) {
        if let Some(data) = &cli.data {
            self.data = Some(data.clone());
        }
        if let Some(log) = &cli.log {
            self.log.clone_from(log);
            self.record_flag("log", log);
        }
        if let Some(format) = &cli.log_format {
            self.log_format.clone_from(format);
            self.record_flag("log_format", format);
        }
        let Some(toolset) = toolset else { return };
        if let Some(services) = &toolset.services {
            self.services = Some(services.clone());
        }
        if let Some(tools) = &toolset.tools {
            self.tools = Some(tools.clone());
        }
        self.read_only |= toolset.read_only;
    }

    /// The flag of `stoa serve`.
    pub(crate) fn set_listen(&mut self, listen: &str) {
        self.listen = Some(listen.to_owned());
        self.record_flag("listen", listen);
    }

    /// Whether a port was given alone in a container, where only a token makes it reachable.
    pub(crate) fn is_unreachable(&self) -> bool {
        self.in_container
            && self.http_token.is_none()
            && self.listen.is_none()
            && self.sources.has("port")
    }

    fn record_flag(&mut self, key: &str, value: &str) {
        if let Some(setting) = setting(key) {
            // The table has `serve --listen`; the error names the flag alone.
            let flag = setting.flag.rsplit(' ').next().unwrap_or_default();
            self.sources.record(setting, Source::Flag(flag), &format!("{value:?}"));
        }
    }
}

#[cfg(test)]
impl Settings {
    /// The settings of an environment with these variables.
    pub(crate) fn of_variables(pairs: &[(&str, &str)]) -> Result<Self, CommandError> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut settings = Self::default();
        settings.read_environment(&Environment(pairs.collect())).map(|()| settings)
    }
}

/// `; did you mean x?` for the known name nearest to `name`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = market::closest_codes(name, known, 1);
    near.first().map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

/// The most unknown variables that are named.
const UNKNOWN_MAX: usize = 16;

/// Whether Kubernetes makes this variable in every pod for a Service whose name begins with `stoa`:
/// `STOA_SERVICE_HOST`, `STOA_SERVICE_PORT`, `STOA_SERVICE_PORT_HTTP`, `STOA_PORT=tcp://…` and
/// `STOA_PORT_8080_TCP` with `_PROTO`, `_PORT` and `_ADDR`.
fn is_service_link(name: &str, value: &str) -> bool {
    let has_protocol = |text: &str| {
        ["tcp", "udp", "sctp"].iter().any(|it| text.split('_').any(|part| part == *it))
    };
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|it| value.starts_with(it));
    let port = name.split_once("_PORT_").map(|(_, rest)| rest.to_lowercase());
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || (name.ends_with("_PORT") && is_address)
        || port.is_some_and(|rest| {
            rest.starts_with(|it: char| it.is_ascii_digit()) && has_protocol(&rest)
        })
}

/// The environment as it was at start.
pub(crate) struct Environment(Vec<(String, String)>);

impl Environment {
    fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(text).collect())
    }

    /// A warning for each variable `STOA_…` that is not a setting. It is not an error, because another
    /// program may use the variable.
    fn unknown(&self) -> Vec<String> {
        let variables = || SETTINGS.iter().map(|it| it.variable).chain([CONFIG_VARIABLE]);
        let unknown = |name: &str, value: &str| {
            name.starts_with("STOA_")
                && !name.starts_with("STOA_TEST_")
                && variables().all(|known| known != name)
                && !is_service_link(name, value)
        };
        let unknown = self.0.iter().filter(|(name, value)| unknown(name, value));
        let sentence = |(name, _): &(String, String)| {
            let without_prefix =
                variables().find(|known| name.strip_prefix("STOA_") == Some(known));
            let near = without_prefix.map_or_else(
                || did_you_mean(name, variables()),
                |known| format!("; did you mean {known}?"),
            );
            format!("the environment sets {name}, which is not a setting and has no effect{near}")
        };
        unknown.take(UNKNOWN_MAX).map(sentence).collect()
    }

    /// Whether a variable of a container platform is set.
    fn is_container(&self) -> bool {
        CONTAINER_VARIABLES.iter().any(|name| self.text(name).is_some())
    }

    /// The trimmed value; an empty one counts as absent.
    fn text(&self, name: &str) -> Option<String> {
        let set = self.0.iter().find(|(it, _)| it == name).map(|(_, value)| value.trim());
        set.filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Whether the variable is set to white space only.
    fn is_blank(&self, name: &str) -> bool {
        self.0.iter().any(|(it, value)| it == name && !value.is_empty() && value.trim().is_empty())
    }

    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn home(&self) -> Option<PathBuf> {
        let home = || self.folder("HOME").map(|home| home.join(".local/share"));
        self.folder("XDG_DATA_HOME").or_else(home)
    }

    /// The folders in which a configuration file is searched. The setting `data` of a file cannot move
    /// them, so only the flag, the variable and the home of the user count.
    fn folders(&self, data: Option<&Path>, current: &Path) -> Folders {
        let data = data.map(Path::to_owned).or_else(|| self.text("STOA_DATA").map(PathBuf::from));
        let data = data.map(|data| current.join(data));
        let config = || self.folder("HOME").map(|home| home.join(".config"));
        let config = self.folder("XDG_CONFIG_HOME").or_else(config);
        Folders {
            data: data.or_else(|| self.home().map(|home| home.join("stoa"))),
            config: config.map(|folder| folder.join("stoa")),
        }
    }
}

#[cfg(test)]
mod tests;
