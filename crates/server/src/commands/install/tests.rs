//! The printed and the merged configuration of each client, by table and for any file.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cli::ToolsetArgs;
use crate::config::Settings;

const JSON_CLIENTS: [Client; 4] =
    [Client::ClaudeCode, Client::ClaudeDesktop, Client::Cursor, Client::Vscode];

fn settings() -> Settings {
    Settings { data: Some("/data".into()), ..Settings::default() }
}

fn launch_of(settings: Settings, toolset: &ToolsetArgs) -> Launch {
    let config = Config::resolve(settings).unwrap();
    Launch::new(Path::new("/opt/stoa"), toolset, &config).unwrap()
}

fn launch() -> Launch {
    launch_of(settings(), &ToolsetArgs::default())
}

fn live() -> Launch {
    let provider = "binance".to_owned();
    launch_of(Settings { provider, ..settings() }, &ToolsetArgs::default())
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_printed_configuration_is_what_each_client_reads() {
    let entry = json!({ "command": "/opt/stoa", "args": ["mcp", "--data", "/data"] });
    for client in [Client::ClaudeCode, Client::ClaudeDesktop, Client::Cursor] {
        assert_eq!(read(&shown(client, &launch())), json!({ "mcpServers": { "stoa": entry } }));
    }
    let typed =
        json!({ "type": "stdio", "command": "/opt/stoa", "args": ["mcp", "--data", "/data"] });
    assert_eq!(read(&shown(Client::Vscode, &launch())), json!({ "servers": { "stoa": typed } }));
    assert_eq!(
        shown(Client::Codex, &launch()),
        "[mcp_servers.stoa]\ncommand = \"/opt/stoa\"\nargs = [\"mcp\", \"--data\", \"/data\"]\n"
    );
}

#[test]
fn the_documentation_shows_what_is_printed() {
    let page = include_str!("../../../../../docs/clients.md");
    let configured =
        Settings { data: Some("/home/you/.local/share/stoa".into()), ..Settings::default() };
    let config = Config::resolve(configured).unwrap();
    let program = Path::new("/usr/local/bin/stoa");
    let launch = Launch::new(program, &ToolsetArgs::default(), &config).unwrap();
    for client in [Client::ClaudeCode, Client::Vscode, Client::Codex] {
        assert!(page.contains(&shown(client, &launch)), "{client:?}");
    }
    assert!(page.contains(&launch.claude_line()));
}

#[test]
fn flags_win_over_settings_and_settings_travel() {
    let toolset =
        ToolsetArgs { services: Some(vec!["quotes".to_owned()]), tools: None, read_only: true };
    let configured = Settings {
        services: Some(vec!["archive".to_owned()]),
        tools: Some(vec!["quotes.live".to_owned(), "quotes_historical".to_owned()]),
        sim_seed: 7,
        ..settings()
    };
    let launch = launch_of(configured, &toolset);
    let flags = ["--services", "quotes", "--tools", "quotes.live,quotes_historical", "--read-only"];
    assert_eq!(launch.args[3..], flags);
    assert_eq!(launch.env, [("STOA_SIM_SEED", "7".to_owned())]);
    assert_eq!(live().env[0], ("PROVIDER", "binance".to_owned()));
    assert_eq!(
        live().claude_line(),
        "claude mcp add stoa --scope user --env PROVIDER=binance \
         --env BINANCE_REST_URL=https://data-api.binance.vision -- /opt/stoa mcp --data /data"
    );
}

#[test]
fn the_configuration_file_in_use_is_named_by_its_whole_path() {
    let mut configured = settings();
    configured.file.used = Some("/home/ann/.config/stoa/stoa.toml".into());
    let launch = launch_of(configured, &ToolsetArgs::default());
    let expected = ["mcp", "--data", "/data", "--config", "/home/ann/.config/stoa/stoa.toml"];
    assert_eq!(launch.args, expected);
}

#[test]
fn no_secret_is_written() {
    let secret = |text: &str| Some(auth::Secret::new(text));
    let text = |text: &str| Some(text.to_owned());
    let configured = Settings {
        provider: "binance".to_owned(),
        binance_rest_url: "https://user:hunter2@proxy.example".to_owned(),
        binance_ws_url: text("wss://user:hunter2@proxy.example"),
        binance_api_key: secret("hunter2"),
        arche_api_url: text("https://arche.example/?key=hunter2"),
        arche_api_token: secret("hunter2"),
        database_url: secret("postgres://stoa:hunter2@db/stoa"),
        http_token: secret("hunter2"),
        token: secret("hunter2"),
        ..settings()
    };
    let launch = launch_of(configured, &ToolsetArgs::default());
    for client in [Client::ClaudeCode, Client::Vscode, Client::Codex] {
        assert!(!shown(client, &launch).contains("hunter2"));
    }
    assert!(!launch.claude_line().contains("hunter2"));
    for left in [
        "BINANCE_REST_URL",
        "BINANCE_WS_URL",
        "BINANCE_API_KEY",
        "ARCHE_API_URL",
        "ARCHE_API_TOKEN",
        "DATABASE_URL",
    ] {
        assert!(launch.notes().iter().any(|note| note.contains(left)), "{left}");
    }
}

#[track_caller]
fn check(client: Client, before: &str, expected: &str) {
    let after = merged(client, before, &launch()).unwrap();
    assert_eq!(after, expected);
    assert_eq!(merged(client, &after, &launch()).unwrap(), after, "a second time changes it");
}

#[test]
fn an_empty_file_gets_the_whole_configuration() {
    for client in JSON_CLIENTS.into_iter().chain([Client::Codex]) {
        check(client, "", &shown(client, &launch()));
    }
    for blank in [" \n", "\u{feff}"] {
        check(Client::Cursor, blank, &shown(Client::Cursor, &launch()));
    }
}

#[test]
fn json_keeps_everything_else_to_the_byte() {
    let entry = |indent: &str| {
        let lines = [
            "{",
            "  \"command\": \"/opt/stoa\",",
            "  \"args\": [",
            "    \"mcp\",",
            "    \"--data\",",
            "    \"/data\"",
            "  ]",
            "}",
        ];
        lines.join(&format!("\n{indent}"))
    };
    check(
        Client::Cursor,
        "{\n    \"n\": 1.10,\n    \"mcpServers\": {\n        \"a\": {\"x\":  1e3}\n    }\n}\n",
        &format!(
            "{{\n    \"n\": 1.10,\n    \"mcpServers\": {{\n        \"a\": {{\"x\":  1e3}},\n        \
             \"stoa\": {}\n    }}\n}}\n",
            entry("        ")
        ),
    );
    check(
        Client::Cursor,
        "{\n  \"mcpServers\": {}\n}",
        &format!("{{\n  \"mcpServers\": {{\n    \"stoa\": {}\n  }}\n}}", entry("    ")),
    );
    check(
        Client::Cursor,
        "{\"theme\":\"dark\"}",
        "{\"theme\":\"dark\", \"mcpServers\": \
         {\"stoa\":{\"command\":\"/opt/stoa\",\"args\":[\"mcp\",\"--data\",\"/data\"]}}}",
    );
    check(
        Client::Cursor,
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"stoa\": {\"command\": \"old\"}, \"z\": 0\r\n\t}\r\n}",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"stoa\": {\r\n\t\t\t\"command\": \
         \"/opt/stoa\",\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"mcp\",\r\n\t\t\t\t\"--data\",\r\n\t\t\t\t\
         \"/data\"\r\n\t\t\t]\r\n\t\t}, \"z\": 0\r\n\t}\r\n}",
    );
}

#[test]
fn what_a_user_added_to_our_entry_stays() {
    let before = json!({ "mcpServers": { "stoa": {
        "command": "/old", "args": [], "disabled": true,
        "env": { "STOA_TOKEN": "kept", "PROVIDER": "sim" },
    } } });
    let after = read(&merged(Client::Cursor, &before.to_string(), &live()).unwrap());
    let entry = &after["mcpServers"]["stoa"];
    assert_eq!(entry["env"]["STOA_TOKEN"], "kept");
    assert_eq!(entry["env"]["PROVIDER"], "binance");
    assert_eq!(entry["disabled"], true);
    assert_eq!(entry["command"], "/opt/stoa");

    let by_url = json!({ "mcpServers": { "stoa": { "url": "http://localhost:8080/mcp" } } });
    let after = read(&merged(Client::Cursor, &by_url.to_string(), &launch()).unwrap());
    assert!(after["mcpServers"]["stoa"].get("url").is_none(), "two transports in one entry");
}

#[test]
fn json_that_cannot_be_kept_is_refused() {
    for (before, reason) in [
        ("{ // mine\n \"servers\": {} }", "line 1: comments"),
        ("{\n \"servers\": {},\n}", "line 3: comments"),
        ("{\n \"servers\": {", "not plain JSON"),
        ("[]", "not plain JSON"),
        ("{\"servers\": null}", "not an object"),
        ("{\"servers\": [1]}", "not an object"),
        ("{\"a\": 1} {}", "not plain JSON"),
    ] {
        let refused = merged(Client::Vscode, before, &launch()).unwrap_err();
        assert!(refused.contains(reason), "{before}: {refused}");
    }
}

const OURS: &str =
    "[mcp_servers.stoa]\ncommand = \"/opt/stoa\"\nargs = [\"mcp\", \"--data\", \"/data\"]\n";

#[test]
fn toml_keeps_everything_else_to_the_byte() {
    let others = "# mine\nmodel = 'o'  # best\n\n[mcp_servers.a]\ncommand = \"a\"\n";
    check(Client::Codex, others, &format!("{others}\n{OURS}"));
    check(Client::Codex, others.trim_end(), &format!("{others}\n{OURS}"));
    let before = "text = '''\n[mcp_servers.stoa]\n'''\n\n[mcp_servers.stoa] # ours\n\
                  startup_timeout_sec = 9\ncommand = \"old\" # why\n\n[z]\nq = 1.0\n";
    let after = "text = '''\n[mcp_servers.stoa]\n'''\n\n[mcp_servers.stoa] # ours\n\
                 startup_timeout_sec = 9\ncommand = \"/opt/stoa\" # why\n\
                 args = [\"mcp\", \"--data\", \"/data\"]\n\n[z]\nq = 1.0\n";
    check(Client::Codex, before, after);
    check(
        Client::Codex,
        "[mcp_servers]\nstoa = { args = [\n 'x', # gone\n], command = 'old' }",
        "[mcp_servers]\nstoa = { args = [\"mcp\", \"--data\", \"/data\"], command = \"/opt/stoa\" }",
    );
}

#[test]
fn settings_reach_toml_without_losing_a_token() {
    let before = format!("{OURS}env = {{ STOA_TOKEN = 'kept' }}\n");
    let after: toml::Table = merged(Client::Codex, &before, &live()).unwrap().parse().unwrap();
    let env = &after["mcp_servers"]["stoa"]["env"];
    assert_eq!(env["STOA_TOKEN"].as_str(), Some("kept"));
    assert_eq!(env["PROVIDER"].as_str(), Some("binance"));
    let added: toml::Table = merged(Client::Codex, OURS, &live()).unwrap().parse().unwrap();
    assert_eq!(added["mcp_servers"]["stoa"]["env"]["PROVIDER"].as_str(), Some("binance"));
}

#[test]
fn toml_that_cannot_be_kept_is_refused() {
    let headed = format!("{OURS}\n[mcp_servers.stoa.env]\nSTOA_TOKEN = 'kept'\n");
    assert_eq!(merged(Client::Codex, &headed, &launch()).unwrap(), headed);
    for (before, reason) in [
        (headed.as_str(), "lacks PROVIDER"),
        ("a = 1\nb = hunter2", "line 2"),
        ("mcp_servers = {}", "cannot be changed safely"),
        ("mcp_servers = 1", "cannot be changed safely"),
        ("mcp_servers.stoa = 1", "not a table"),
        ("[mcp_servers.stoa]\nurl = 'http://x/mcp'", "remove it first"),
        ("mcp_servers = { stoa = { command = 'x' } }", "cannot be changed safely"),
    ] {
        let refused = merged(Client::Codex, before, &live()).unwrap_err();
        assert!(refused.contains(reason), "{before}: {refused}");
        assert!(!refused.contains("hunter2"), "the file's own text is in the message");
    }
}

#[test]
fn each_client_has_its_file() {
    let places = |codex: Option<&str>| Places {
        home: Some("/home/a".into()),
        here: "/project".into(),
        codex: codex.map(PathBuf::from),
    };
    let desktop = match cfg!(target_os = "macos") {
        true => "/home/a/Library/Application Support/Claude/claude_desktop_config.json",
        false => "/home/a/.config/Claude/claude_desktop_config.json",
    };
    for (client, codex, file) in [
        (Client::ClaudeCode, None, "/project/.mcp.json"),
        (Client::Vscode, None, "/project/.vscode/mcp.json"),
        (Client::Cursor, None, "/home/a/.cursor/mcp.json"),
        (Client::ClaudeDesktop, None, desktop),
        (Client::Codex, None, "/home/a/.codex/config.toml"),
        (Client::Codex, Some("/codex"), "/codex/config.toml"),
    ] {
        assert_eq!(places(codex).file(client).unwrap(), Path::new(file));
    }
    let homeless = Places { home: None, ..places(None) };
    assert!(homeless.file(Client::Cursor).is_err());
    assert!(homeless.file(Client::Vscode).is_ok());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|it| json!(it)),
        any::<bool>().prop_map(|it| json!(it)),
        ".{0,6}".prop_map(|it| json!(it)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name = prop_oneof!["[a-z{}\"\\\\]{0,4}", Just("stoa".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|it| json!(it)),
            prop::collection::vec((name, inner), 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    /// Everything else in the file, and its layout, is unchanged afterwards.
    #[test]
    fn nothing_else_changes(
        root in prop::collection::vec(("[a-z]{1,3}", any_json()), 0..4),
        servers in prop::option::of(
            prop::collection::vec(("(stoa|[a-z]{1,3})", any_json()), 0..4)
        ),
        over_lines in any::<bool>(),
    ) {
        let mut before = Value::from_iter(root);
        if let Some(servers) = servers {
            before["mcpServers"] = Value::from_iter(servers);
        }
        let text = match over_lines {
            true => serde_json::to_string_pretty(&before).unwrap(),
            false => before.to_string(),
        };
        let after = merged(Client::Cursor, &text, &launch()).unwrap();
        prop_assert_eq!(&merged(Client::Cursor, &after, &launch()).unwrap(), &after);
        let mut after = read(&after);
        prop_assert_eq!(&after["mcpServers"]["stoa"]["command"], "/opt/stoa");
        for value in [&mut before, &mut after] {
            let servers = value.as_object_mut().unwrap().entry("mcpServers").or_insert(json!({}));
            servers.as_object_mut().unwrap().remove("stoa");
        }
        prop_assert_eq!(before, after);
    }
}
