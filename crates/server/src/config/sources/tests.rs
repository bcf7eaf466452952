//! Every source sets the same keys, later sources win, and errors name the line or the variable.

use super::*;
use crate::config::Config;
use crate::config::table::{help, markdown};
use telemetry::LogFormat;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    Environment(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
}

fn from_toml(text: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    let read = settings.read_toml(Path::new("stoa.toml"), text);
    read.map(|()| settings).map_err(|error| error.to_string())
}

fn from_environment(pairs: &[(&str, &str)]) -> Result<Settings, String> {
    Settings::of_variables(pairs).map_err(|error| error.to_string())
}

#[test]
fn later_sources_win() {
    let mut settings = from_toml("port = 1\nprovider = \"binance\"").unwrap();
    let later = environment(&[("PORT", "2"), ("STOA_SERVICES", "quotes, moex"), ("STOA_LOG", " ")]);
    settings.read_environment(&later).unwrap();
    assert_eq!((settings.port, settings.provider.as_str()), (2, "binance"));
    assert_eq!(settings.services.unwrap(), ["quotes", "moex"]);
    assert_eq!(settings.log, Settings::default().log, "an empty variable is not set");
}

#[test]
fn every_type_is_read_from_toml() {
    let text = "services = [\"quotes\"]\nrate_per_second = 5\ncall_timeout_s = 0.5\n\
                read_only = true\ndata = \"/d\"\nhttp_token = \"t\"";
    let settings = from_toml(text).unwrap();
    assert_eq!(settings.services.unwrap(), ["quotes"]);
    assert_eq!((settings.rate_per_second, settings.call_timeout_s), (5.0, 0.5));
    assert!(settings.read_only && settings.data == Some("/d".into()));
    assert_eq!(settings.http_token.unwrap().reveal(), "t");
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_key() {
    for (text, expected) in [
        (
            "listen = \"a\"\n\nprot = 1",
            "stoa.toml, line 3: there is no setting prot; did you mean port?",
        ),
        ("token = \"hunter2\"", "stoa.toml, line 1: there is no setting token"),
        ("[server]\nport = 1", "stoa.toml, line 1: there is no setting server"),
    ] {
        let error = from_toml(text).unwrap_err();
        assert!(error.starts_with(expected) && !error.contains("hunter2"), "{error}");
    }
}

#[track_caller]
fn check_unknown(name: &str, value: &str, expected: &str) {
    let found = environment(&[(name, value)]).unknown();
    assert_eq!(found.is_empty(), expected.is_empty(), "{name}={value}: {found:?}");
    assert!(found.concat().contains(expected), "{name}={value}: {found:?}");
}

#[test]
fn an_unknown_variable_is_a_warning_with_the_nearest_name() {
    check_unknown("STOA_LISTNE", "x", "sets STOA_LISTNE, which is not a setting");
    check_unknown("STOA_LISTNE", "x", "did you mean STOA_LISTEN?");
    check_unknown("STOA_FOO", "1", "sets STOA_FOO, which is not a setting");
    check_unknown("STOA_TEST_POSTGRES", "x", "");
    check_unknown("OTHER", "x", "");
    let many: Vec<String> = (0..99).map(|it| format!("STOA_X{it}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|it| (it.as_str(), "1")).collect();
    assert_eq!(environment(&many).unknown().len(), UNKNOWN_MAX);
}

#[test]
fn variables_that_kubernetes_makes_for_a_service_are_ignored() {
    for (name, value) in [
        ("STOA_SERVICE_HOST", "10.96.0.7"),
        ("STOA_SERVICE_PORT", "8080"),
        ("STOA_SERVICE_PORT_HTTP", "8080"),
        ("STOA_PORT", "tcp://10.96.0.7:8080"),
        ("STOA_PORT_8080_TCP", "tcp://10.96.0.7:8080"),
        ("STOA_PORT_8080_TCP_PROTO", "tcp"),
        ("STOA_PORT_8080_TCP_PORT", "8080"),
        ("STOA_PORT_8080_TCP_ADDR", "10.96.0.7"),
        ("STOA_POSTGRESQL_SERVICE_HOST", "10.96.0.8"),
        ("STOA_POSTGRESQL_PORT_5432_TCP_ADDR", "10.96.0.8"),
    ] {
        check_unknown(name, value, "");
    }
    check_unknown("STOA_PORT", "8080", "did you mean PORT?");
    check_unknown("STOA_PORT_NUMBER", "8080", "not a setting");
}

#[test]
fn a_port_alone_is_open_to_the_network_only_in_a_container_with_a_token() {
    let listen = |in_container: bool, pairs: &[(&str, &str)]| {
        let settings = from_environment(pairs).unwrap();
        let settings = Settings { data: Some("/data".into()), in_container, ..settings };
        let unreachable = settings.is_unreachable();
        (Config::resolve(settings).unwrap().listen.to_string(), unreachable)
    };
    let (port, token) = (("PORT", "80"), ("MCP_HTTP_TOKEN", "t"));
    for (in_container, pairs, address, unreachable) in [
        (false, &[port][..], "127.0.0.1:80", false),
        (false, &[port, token], "127.0.0.1:80", false),
        (true, &[port], "127.0.0.1:80", true),
        (true, &[port, token], "0.0.0.0:80", false),
        (true, &[token], "127.0.0.1:8080", false),
        (true, &[token, ("STOA_LISTEN", ":81")], "0.0.0.0:81", false),
        (true, &[token, ("STOA_LISTEN", "localhost:81")], "127.0.0.1:81", false),
        (true, &[("STOA_LISTEN", "81")], "127.0.0.1:81", false),
    ] {
        let found = listen(in_container, pairs);
        assert_eq!((found.0.as_str(), found.1), (address, unreachable), "{pairs:?}");
    }
    for name in CONTAINER_VARIABLES {
        assert!(environment(&[(name, "x")]).is_container());
    }
    assert!(!environment(&[port]).is_container());
}

#[test]
fn a_command_that_ends_by_itself_logs_warnings_as_plain_lines() {
    let log = |one_shot: bool, pairs: &[(&str, &str)]| {
        let settings = from_environment(pairs).unwrap();
        let settings = Settings { data: Some("/data".into()), one_shot, ..settings };
        let log = Config::resolve(settings).unwrap().log;
        (log.filter.split(',').next().unwrap().to_owned(), log.format)
    };
    let text = str::to_owned;
    assert_eq!(log(false, &[]), (text("info"), LogFormat::Auto));
    assert_eq!(log(true, &[]), (text("warn"), LogFormat::Pretty));
    assert_eq!(log(true, &[("STOA_LOG", "debug")]), (text("debug"), LogFormat::Pretty));
    assert_eq!(log(true, &[("STOA_LOG_FORMAT", "json")]), (text("warn"), LogFormat::Json));
}

#[test]
fn without_a_home_the_data_folder_must_be_named() {
    let error = Config::resolve(Settings::default()).unwrap_err().to_string();
    assert!(error.contains("HOME is not set") && error.contains("--data DIR"), "{error}");
    let home = Settings { home: Some("/home/a/.local/share".into()), ..Settings::default() };
    assert_eq!(Config::resolve(home).unwrap().data, Path::new("/home/a/.local/share/stoa"));
}

#[test]
fn a_bad_value_is_named_with_its_place_and_what_was_expected() {
    for (text, expected) in [
        ("\nport = 70000", "stoa.toml, line 2: port must be a port number, not 70000"),
        ("read_only = \"yes\"", "stoa.toml, line 1: read_only must be true or false, not \"yes\""),
        ("tools = [1]", "stoa.toml, line 1: tools must be a list of names, not [1]"),
        ("http_token = 12345", "stoa.toml, line 1: http_token must be text"),
        ("port = 1\nport = 2", "stoa.toml, line 2: "),
    ] {
        let error = from_toml(text).unwrap_err();
        assert!(error.starts_with(expected) && !error.contains("12345"), "{error}");
    }
    let error = from_environment(&[("MCP_HTTP_TOKEN", "  ")]).unwrap_err();
    assert_eq!(error, "MCP_HTTP_TOKEN must be text that is not blank");
    assert!(from_environment(&[("MCP_HTTP_TOKEN", "")]).unwrap().http_token.is_none());
    let error = from_environment(&[("PORT", "eighty")]).unwrap_err();
    assert_eq!(error, "PORT must be a port number, not \"eighty\"");
    let resolved = |text: &str| {
        let settings = Settings { data: Some("/data".into()), ..from_toml(text).unwrap() };
        Config::resolve(settings).unwrap_err().to_string()
    };
    for (text, expected) in [
        (
            "provider = \"kraken\"",
            "stoa.toml, line 1: provider must be sim or binance, not \"kraken\"",
        ),
        ("http_token = \"\"", "stoa.toml, line 1: http_token must be text that is not blank"),
        (
            "call_timeout_s = 0",
            "stoa.toml, line 1: call_timeout_s must be a positive number of seconds, not 0",
        ),
        (
            "stream_queue_max = 1",
            "stoa.toml, line 1: stream_queue_max must be a whole number from 16 to 100000, not 1",
        ),
    ] {
        assert_eq!(resolved(text), expected);
    }
}

#[test]
fn every_setting_is_read_from_its_variable_and_its_key() {
    for setting in SETTINGS {
        assert!(environment(&[(setting.variable, "1")]).unknown().is_empty());
        let bad = from_environment(&[(setting.variable, "1")]);
        assert!(bad.is_ok() || setting.expected == "true or false", "{bad:?}");
        let line = format!("{} = \"x\"", setting.key);
        let unknown = from_toml(&line).is_err_and(|error| error.contains("there is no setting"));
        assert_eq!(unknown, !setting.in_file, "{}", setting.key);
    }
}

#[test]
fn help_names_the_variable_and_the_default() {
    assert_eq!(help("data"), "The data folder [env: STOA_DATA] [default: ~/.local/share/stoa]");
}

/// Run with `STOA_TEST_UPDATE_DOCS=1` to write the page.
#[test]
fn the_documentation_lists_every_setting_as_the_table_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let start = page.find("| `stoa.toml` |").unwrap();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    if std::env::var_os("STOA_TEST_UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{}{}{}", &page[..start], markdown(), &page[end..])).unwrap();
        return;
    }
    assert!(
        page[start..end] == markdown(),
        "docs/configuration.md is stale: run this test with STOA_TEST_UPDATE_DOCS=1"
    );
}
