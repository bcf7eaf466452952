//! The printed and the merged configuration of each client, by table and for any file.

mod formats;
mod json_files;
mod toml_files;
mod yaml_files;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::cli::{Client, ToolsetArgs};
use crate::commands::install::clients::CLIENTS;
use crate::config::Settings;

fn row_of(client: Client) -> &'static ClientRow {
    clients::row(client).unwrap()
}

fn settings() -> Settings {
    Settings { data: Some("/data".into()), ..Settings::default() }
}

fn launch_of(settings: Settings, toolset: &ToolsetArgs) -> Launch {
    let config = Config::resolve(settings).unwrap();
    Launch::stdio(Path::new("/opt/stoa"), toolset, &config).unwrap()
}

fn launch() -> Launch {
    launch_of(settings(), &ToolsetArgs::default())
}

/// With settings of the environment.
fn launch_with(variables: &[(&str, &str)]) -> Launch {
    let variables = [&[("STOA_DATA", "/data")], variables].concat();
    launch_of(Settings::of_variables(&variables).unwrap(), &ToolsetArgs::default())
}

fn live() -> Launch {
    launch_with(&[("PROVIDER", "binance")])
}

fn over_http(url: Option<&str>, settings: Settings) -> Launch {
    let config = Config::resolve(settings).unwrap();
    Launch::http(url, &ToolsetArgs::default(), &config).unwrap()
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn text_of(client: Client, launch: &Launch) -> String {
    file_text(row_of(client), launch).unwrap()
}

fn env_of(launch: &Launch) -> Vec<(&str, &launch::EntryValue)> {
    let Transport::Stdio { env, .. } = &launch.transport else { panic!("no command") };
    env.iter().map(|(name, value)| (name.as_str(), value)).collect()
}

#[test]
fn the_printed_configuration_is_what_each_client_reads() {
    let entry = json!({ "command": "/opt/stoa", "args": ["mcp", "--data", "/data"] });
    for client in [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::Windsurf,
        Client::GeminiCli,
        Client::Cline,
        Client::Jetbrains,
        Client::LmStudio,
    ] {
        assert_eq!(read(&text_of(client, &launch())), json!({ "mcpServers": { "stoa": entry } }));
    }
    let typed =
        json!({ "type": "stdio", "command": "/opt/stoa", "args": ["mcp", "--data", "/data"] });
    assert_eq!(read(&text_of(Client::Vscode, &launch())), json!({ "servers": { "stoa": typed } }));
    let zed = json!({ "context_servers": { "stoa": entry } });
    assert_eq!(read(&text_of(Client::Zed, &launch())), zed);
    assert_eq!(
        text_of(Client::Codex, &launch()),
        "[mcp_servers.stoa]\ncommand = \"/opt/stoa\"\nargs = [\"mcp\", \"--data\", \"/data\"]\n"
    );
}

#[test]
fn every_client_has_a_row_and_the_documentation_names_it() {
    use clap::ValueEnum as _;
    let page = include_str!("../../../../../docs/clients.md");
    for client in Client::value_variants() {
        let name = client.to_possible_value().unwrap().get_name().to_owned();
        assert!(clients::row(*client).is_some(), "{name}");
        assert!(page.contains(&format!("`{name}`")), "docs/clients.md lacks {name}");
    }
    assert_eq!(CLIENTS.len(), Client::value_variants().len());
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let page = include_str!("../../../../../docs/clients.md");
    let configured =
        Settings { data: Some("/home/you/.local/share/stoa".into()), ..Settings::default() };
    let config = Config::resolve(configured).unwrap();
    let program = Path::new("/usr/local/bin/stoa");
    let launch = Launch::stdio(program, &ToolsetArgs::default(), &config).unwrap();
    for client in [Client::ClaudeCode, Client::Vscode, Client::Codex, Client::Zed, Client::Goose] {
        let text = file_text(row_of(client), &launch).unwrap();
        assert!(page.contains(&text), "{client:?}: {text}");
    }
    let closed = Settings { http_token: Some(auth::Secret::new("t")), ..settings() };
    let http = over_http(None, closed);
    for client in [Client::ClaudeCode, Client::Cursor, Client::Windsurf, Client::Codex] {
        let text = file_text(row_of(client), &http).unwrap();
        assert!(page.contains(&text), "{client:?}: {text}");
    }
}

#[test]
fn a_file_that_a_project_shares_has_no_path_of_this_machine() {
    let toolset = ToolsetArgs { read_only: true, ..ToolsetArgs::default() };
    let launch = launch_of(settings(), &toolset);
    for row in CLIENTS {
        let text = file_text(row, &launch.for_file(Reach::Project)).unwrap();
        assert!(!text.contains("/data") && !text.contains("/opt"), "{text}");
        assert!(text.contains("--read-only"), "{text}");
        assert_eq!(file_text(row, &launch.for_file(Reach::User)), file_text(row, &launch));
    }
}

#[test]
fn flags_win_over_settings() {
    let toolset =
        ToolsetArgs { services: Some(vec!["quotes".to_owned()]), tools: None, read_only: true };
    let configured = || Settings {
        services: Some(vec!["archive".to_owned()]),
        tools: Some(vec!["quotes.live".to_owned(), "quotes_historical".to_owned()]),
        ..settings()
    };
    let Transport::Stdio { args, .. } = launch_of(configured(), &toolset).transport else {
        panic!("no command");
    };
    let flags = ["--services", "quotes", "--tools", "quotes.live,quotes_historical", "--read-only"];
    assert_eq!(args[3..], flags);
    let config = Config::resolve(configured()).unwrap();
    let http = Launch::http(None, &toolset, &config).unwrap();
    let entry = read(&text_of(Client::Cursor, &http))["mcpServers"]["stoa"].clone();
    let headers = json!({
        "X-Stoa-Services": "quotes", "X-Stoa-Tools": "quotes.live,quotes_historical",
        "X-Stoa-Read-Only": "true",
    });
    assert_eq!(entry, json!({ "url": "http://127.0.0.1:8080/mcp", "headers": headers }));
}

#[test]
fn every_setting_of_the_environment_travels_and_a_secret_only_by_its_name() {
    use launch::EntryValue::{Text, Variable};
    let text = |text: &str| Text(text.to_owned());
    let launch = launch_with(&[
        ("PROVIDER", "binance"),
        ("BINANCE_REST_URL", "https://me:hunter2@proxy.example"),
        ("BINANCE_API_KEY", "hunter2"),
        ("MOEX_PROVIDER", "iss"),
        ("LLM_BASE_URL", "http://127.0.0.1:11434/v1"),
        ("LLM_MODEL", "qwen3"),
        ("LLM_API_KEY", "hunter2"),
        ("STOA_SIM_SEED", "7"),
        ("STOA_TOOL_QUEUE", "9"),
        ("DATABASE_URL", "postgres://stoa:hunter2@db/stoa"),
        ("ARCHE_API_URL", "https://arche.example/?key=hunter2"),
        ("ARCHE_API_TOKEN", "hunter2"),
        // These belong to a server over HTTP, or to the caller.
        ("PORT", "9000"),
        ("MCP_HTTP_TOKEN", "hunter2"),
        ("STOA_RATE_BURST", "1"),
        ("STOA_TOKEN", "hunter2"),
        ("STOA_READ_ONLY", "true"),
    ]);
    let variable = |name: &'static str| Variable { prefix: "", name };
    let expected = [
        ("DATABASE_URL", variable("DATABASE_URL")),
        ("PROVIDER", text("binance")),
        ("BINANCE_REST_URL", variable("BINANCE_REST_URL")),
        ("BINANCE_API_KEY", variable("BINANCE_API_KEY")),
        ("MOEX_PROVIDER", text("iss")),
        ("LLM_BASE_URL", text("http://127.0.0.1:11434/v1")),
        ("LLM_MODEL", text("qwen3")),
        ("LLM_API_KEY", variable("LLM_API_KEY")),
        ("STOA_SIM_SEED", text("7")),
        ("STOA_TOOL_QUEUE", text("9")),
        ("ARCHE_API_URL", variable("ARCHE_API_URL")),
        ("ARCHE_API_TOKEN", variable("ARCHE_API_TOKEN")),
    ];
    let expected: Vec<_> = expected.iter().map(|(name, value)| (*name, value)).collect();
    assert_eq!(env_of(&launch), expected);
    for row in CLIENTS {
        let text = file_text(row, &launch).unwrap();
        assert!(!text.contains("hunter2"), "{}: {text}", row.title);
        let noted = notes(row, None, &launch).join("\n");
        assert!(noted.contains("LLM_API_KEY is a secret"), "{}: {noted}", row.title);
        let by_name = noted.contains("LLM_API_KEY is a secret: set it");
        assert_eq!(text.contains("LLM_API_KEY"), by_name, "{}: {text}", row.title);
    }
    let of = |client| text_of(client, &launch);
    assert!(of(Client::ClaudeCode).contains(r#""LLM_API_KEY": "${LLM_API_KEY}""#));
    assert!(of(Client::Cursor).contains(r#""LLM_API_KEY": "${env:LLM_API_KEY}""#));
    assert!(of(Client::Codex).contains("env_vars = [\"DATABASE_URL\", \"BINANCE_REST_URL\""));
    assert!(of(Client::Goose).contains("env_keys: [\"DATABASE_URL\",\"BINANCE_REST_URL\""));
    let manifest = bundle::manifest(&launch).unwrap();
    let env = &manifest["server"]["mcp_config"]["env"];
    assert_eq!(env["LLM_API_KEY"], "${user_config.llm_api_key}");
    assert_eq!(manifest["user_config"]["llm_api_key"]["sensitive"], true);
    assert!(!manifest.to_string().contains("hunter2"));
}

#[test]
fn the_configuration_file_in_use_is_named_by_its_whole_path() {
    let mut configured = settings();
    configured.file.used = Some("/home/ann/.config/stoa/stoa.toml".into());
    let launch = launch_of(configured, &ToolsetArgs::default());
    let Transport::Stdio { args, .. } = launch.transport else { panic!("no command") };
    let expected = ["mcp", "--data", "/data", "--config", "/home/ann/.config/stoa/stoa.toml"];
    assert_eq!(args, expected);
}

#[test]
fn a_token_is_placed_where_the_client_sends_it_from() {
    let token = auth::Secret::new("stoa1_x");
    let mut stdio = launch();
    stdio.place_token(&token);
    let mut http = over_http(Some("https://stoa.example"), settings());
    assert_eq!(http.named_variables(), ["STOA_TOKEN"]);
    http.place_token(&token);
    assert!(stdio.holds_token && http.holds_token && http.named_variables().is_empty());
    for row in CLIENTS {
        assert!(file_text(row, &stdio).unwrap().contains("stoa1_x"), "{}", row.title);
        assert!(!notes(row, None, &stdio).join("\n").contains("stoa1_x"), "a link with a token");
        if let Ok(text) = file_text(row, &http) {
            assert!(text.contains("Bearer stoa1_x"), "{}: {text}", row.title);
        }
    }
    let entry = read(&text_of(Client::Cursor, &stdio))["mcpServers"]["stoa"].clone();
    assert_eq!(entry["env"]["STOA_TOKEN"], "stoa1_x");
    let (user, project) = (Reach::User, Reach::Project);
    let at = |reach| ClientFile { file: "/f".into(), reach };
    let row = row_of(Client::Cursor);
    assert!(check_token_file(row, Some(&at(user)), true).is_ok());
    assert!(check_token_file(row, Some(&at(user)), false).is_err());
    assert!(
        check_token_file(row, Some(&at(project)), true).unwrap_err().to_string().contains("--user")
    );
    assert!(check_token_file(row, None, true).is_err());
}

#[track_caller]
fn check(client: Client, before: &str, expected: &str) {
    let row = row_of(client);
    let after = merged(row, before, &launch()).unwrap();
    assert_eq!(after, expected);
    assert_eq!(merged(row, &after, &launch()).unwrap(), after, "a second time changes it");
}

/// What was added can be taken away again, and nothing else.
#[track_caller]
fn check_round_trip(client: Client, before: &str) {
    let row = row_of(client);
    for launch in [launch(), live()] {
        let after = merged(row, before, &launch).unwrap();
        assert_eq!(removed(row, &after).unwrap().as_deref(), Some(before), "{client:?}: {after}");
    }
    assert_eq!(removed(row, before).unwrap(), None);
}

#[test]
fn an_empty_file_gets_the_whole_configuration() {
    for row in CLIENTS {
        check(row.client, "", &file_text(row, &launch()).unwrap());
    }
    for blank in [" \n", "\u{feff}"] {
        check(Client::Cursor, blank, &text_of(Client::Cursor, &launch()));
    }
}

#[test]
fn each_client_has_its_files() {
    let environment = |variables: &[(&str, &str)]| UserEnvironment {
        home: Some("/home/a".into()),
        here: "/project".into(),
        variables: variables.iter().map(|(a, b)| ((*a).to_owned(), PathBuf::from(b))).collect(),
        programs: Vec::new(),
    };
    let (user, project) = (Some(Reach::User), Some(Reach::Project));
    let file = |client, reach, variables: &[(&str, &str)]| {
        environment(variables).file(row_of(client), reach).unwrap().unwrap().file
    };
    let of_system = |linux: &str, macos: &str| match cfg!(target_os = "macos") {
        true => format!("/home/a/Library/Application Support/{macos}"),
        false => format!("/home/a/.config/{linux}"),
    };
    let desktop =
        of_system("Claude/claude_desktop_config.json", "Claude/claude_desktop_config.json");
    let vscode = of_system("Code/User/mcp.json", "Code/User/mcp.json");
    for (client, reach, expected) in [
        (Client::ClaudeCode, None, "/project/.mcp.json"),
        (Client::ClaudeCode, user, "/home/a/.claude.json"),
        (Client::ClaudeDesktop, None, &desktop),
        (Client::Cursor, None, "/home/a/.cursor/mcp.json"),
        (Client::Cursor, project, "/project/.cursor/mcp.json"),
        (Client::Vscode, None, "/project/.vscode/mcp.json"),
        (Client::Vscode, user, &vscode),
        (Client::Codex, None, "/home/a/.codex/config.toml"),
        (Client::Windsurf, None, "/home/a/.codeium/windsurf/mcp_config.json"),
        (Client::Zed, None, "/home/a/.config/zed/settings.json"),
        (Client::GeminiCli, None, "/home/a/.gemini/settings.json"),
        (Client::Cline, None, "/home/a/.cline/data/settings/cline_mcp_settings.json"),
        (Client::Goose, None, "/home/a/.config/goose/config.yaml"),
        (Client::LmStudio, None, "/home/a/.lmstudio/mcp.json"),
    ] {
        assert_eq!(file(client, reach, &[]), Path::new(expected), "{client:?}");
    }
    let codex = file(Client::Codex, None, &[("CODEX_HOME", "/codex")]);
    assert_eq!(codex, Path::new("/codex/config.toml"));
    let cline = file(Client::Cline, None, &[("CLINE_DATA_DIR", "/cline")]);
    assert_eq!(cline, Path::new("/cline/settings/cline_mcp_settings.json"));
    let claude = file(Client::ClaudeCode, user, &[("CLAUDE_CONFIG_DIR", "/claude")]);
    assert_eq!(claude, Path::new("/claude/.claude.json"));
    assert!(environment(&[]).file(row_of(Client::Jetbrains), None).unwrap().is_none());
    assert!(environment(&[]).file(row_of(Client::Windsurf), project).is_err());
    let homeless = UserEnvironment { home: None, ..environment(&[]) };
    assert!(homeless.file(row_of(Client::Cursor), None).is_err());
    assert!(homeless.file(row_of(Client::Vscode), None).is_ok());
}

#[test]
fn clients_of_this_machine_are_listed_with_what_would_happen() {
    let home = testkit::TempFolder::new();
    let path = |below: &str| home.path().join(below);
    std::fs::create_dir_all(path(".cursor")).unwrap();
    std::fs::create_dir_all(path(".lmstudio")).unwrap();
    std::fs::create_dir_all(path(".codeium/windsurf")).unwrap();
    let merged_text = text_of(Client::LmStudio, &launch());
    std::fs::write(path(".lmstudio/mcp.json"), merged_text).unwrap();
    std::fs::write(path(".codeium/windsurf/mcp_config.json"), "{\"mcpServers\": 1}").unwrap();
    let environment = UserEnvironment {
        home: Some(home.path().to_owned()),
        here: home.path().to_owned(),
        variables: Vec::new(),
        programs: Vec::new(),
    };
    let table = survey::table(&environment, &launch());
    let line = |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("cursor ").contains(".cursor/mcp.json"), "{table}");
    assert!(line("cursor ").ends_with("the file would be created"), "{table}");
    assert!(line("lm-studio ").ends_with("has the entry already"), "{table}");
    assert!(line("windsurf ").contains("cannot be written: its \"mcpServers\""), "{table}");
    assert!(line("not found: ").contains("zed") && !table.contains("\nzed"), "{table}");
}
