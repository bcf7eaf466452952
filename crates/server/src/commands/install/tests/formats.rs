//! Each client's format as its documentation describes it, as a JSON Schema: what we write must
//! match it. Unknown members are refused, because a client ignores them or fails on them.

use contract::Schema;

use super::*;

fn words() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn texts() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object", "required": required, "properties": properties,
        "additionalProperties": false,
    })
}

/// The schema of one server, by command and by URL; the second is `None` where there is none.
fn server(client: Client) -> (Value, Option<Value>) {
    let stdio = |more: Value| {
        let mut members =
            json!({ "command": { "type": "string" }, "args": words(), "env": texts() });
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object(&["command"], members)
    };
    let http = |url: &str, kind: Option<&str>| {
        let mut members = json!({ url: { "type": "string", "format": "uri" }, "headers": texts() });
        let mut required = vec![url];
        if let Some(kind) = kind {
            members["type"] = json!({ "const": kind });
            required.push("type");
        }
        Some(object(&required, members))
    };
    match client {
        // https://code.claude.com/docs/en/mcp: `type` is optional for a command.
        Client::ClaudeCode => {
            (stdio(json!({ "type": { "const": "stdio" } })), http("url", Some("http")))
        }
        // https://modelcontextprotocol.io/docs/develop/connect-local-servers
        Client::ClaudeDesktop => (stdio(json!({})), None),
        // https://cursor.com/docs/mcp, and LM Studio takes the same notation.
        Client::Cursor | Client::LmStudio => {
            (stdio(json!({ "type": { "const": "stdio" } })), http("url", None))
        }
        // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
        Client::Vscode => {
            let members = json!({
                "type": { "const": "stdio" }, "command": { "type": "string" }, "args": words(),
                "env": texts(), "envFile": { "type": "string" },
            });
            (object(&["type", "command"], members), http("url", Some("http")))
        }
        // https://developers.openai.com/codex/mcp
        Client::Codex => {
            let members = json!({
                "url": { "type": "string", "format": "uri" }, "http_headers": texts(),
                "bearer_token_env_var": { "type": "string" },
            });
            (stdio(json!({ "env_vars": words() })), Some(object(&["url"], members)))
        }
        // https://docs.windsurf.com/windsurf/cascade/mcp
        Client::Windsurf => (stdio(json!({})), http("serverUrl", None)),
        // https://zed.dev/docs/ai/mcp
        Client::Zed => (stdio(json!({})), http("url", None)),
        // https://geminicli.com/docs/tools/mcp-server
        Client::GeminiCli => (stdio(json!({})), http("httpUrl", None)),
        // https://docs.cline.bot/mcp/configuring-mcp-servers
        Client::Cline => (stdio(json!({})), http("url", Some("streamableHttp"))),
        // https://www.jetbrains.com/help/ai-assistant/mcp.html
        Client::Jetbrains => (stdio(json!({})), http("url", None)),
        // Its file is YAML; `yaml_files` has its text.
        Client::Goose => (json!({}), None),
    }
}

fn section(client: Client) -> &'static str {
    match client {
        Client::Vscode => "servers",
        Client::Zed => "context_servers",
        Client::Codex => "mcp_servers",
        _ => "mcpServers",
    }
}

#[track_caller]
fn check_format(client: Client, schema: Value, launch: &Launch) {
    let text = text_of(client, launch);
    let value = match client {
        Client::Codex => serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap(),
        _ => read(&text),
    };
    let servers = object(&["stoa"], json!({ "stoa": schema }));
    let file = object(&[section(client)], json!({ section(client): servers }));
    let checked = Schema::compile(file).unwrap().check(&value);
    assert!(checked.is_ok(), "{client:?}: {}: {text}", checked.unwrap_err());
}

#[test]
fn what_is_written_matches_the_documented_format_of_each_client() {
    let rich =
        launch_with(&[("LLM_MODEL", "m"), ("LLM_BASE_URL", "http://m"), ("LLM_API_KEY", "k")]);
    let token = auth::Secret::new("stoa1_x");
    for row in CLIENTS.iter().filter(|row| row.client != Client::Goose) {
        let (by_command, by_url) = server(row.client);
        let mut with_token = rich.clone();
        with_token.place_token(&token);
        for launch in [&launch(), &rich, &with_token] {
            check_format(row.client, by_command.clone(), launch);
        }
        let open = over_http(None, settings());
        let closed = over_http(Some("https://stoa.example/mcp"), settings());
        let mut with_token = closed.clone();
        with_token.place_token(&token);
        for launch in [&open, &closed, &with_token] {
            match &by_url {
                Some(schema) => check_format(row.client, schema.clone(), launch),
                None => assert!(file_text(row, launch).is_err(), "{}", row.title),
            }
        }
    }
}

/// <https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md>, version 0.3
#[test]
fn the_manifest_of_a_bundle_matches_its_specification() {
    let text = || json!({ "type": "string", "minLength": 1 });
    let option = object(
        &["type", "title", "description"],
        json!({
            "type": { "enum": ["string", "number", "boolean", "directory", "file"] },
            "title": text(), "description": text(), "sensitive": { "type": "boolean" },
            "required": { "type": "boolean" },
        }),
    );
    let start =
        object(&["command", "args"], json!({ "command": text(), "args": words(), "env": texts() }));
    let server = object(
        &["type", "entry_point", "mcp_config"],
        json!({
            "type": { "enum": ["node", "python", "binary", "uv"] }, "entry_point": text(),
            "mcp_config": start,
        }),
    );
    let tool = object(&["name"], json!({ "name": text(), "description": text() }));
    let platforms = json!({ "items": { "enum": ["darwin", "win32", "linux"] } });
    let manifest = object(
        &["manifest_version", "name", "version", "description", "author", "server"],
        json!({
            "manifest_version": { "const": "0.3" }, "name": text(), "display_name": text(),
            "version": text(), "description": text(), "license": text(),
            "author": object(&["name"], json!({ "name": text() })),
            "server": server, "tools": { "type": "array", "items": tool },
            "user_config": { "type": "object", "additionalProperties": option },
            "compatibility": object(&[], json!({ "platforms": platforms })),
        }),
    );
    let made = bundle::manifest(&launch_with(&[("BINANCE_API_KEY", "k")])).unwrap();
    let checked = Schema::compile(manifest).unwrap().check(&made);
    assert!(checked.is_ok(), "{}: {made:#}", checked.unwrap_err());
}

#[test]
fn a_link_leads_to_the_same_entry() {
    use base64::Engine as _;
    let of = |client: Client| {
        let row = row_of(client);
        let Notation::Json(form) = &row.notation else { panic!("no JSON") };
        links::link(row.link.unwrap(), form, &launch()).unwrap()
    };
    let decode =
        |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
    let entry = json!({ "command": "/opt/stoa", "args": ["mcp", "--data", "/data"] });
    for (client, start) in [
        (Client::Cursor, "cursor://anysphere.cursor-deeplink/mcp/install?name=stoa&config="),
        (Client::LmStudio, "lmstudio://add_mcp?name=stoa&config="),
    ] {
        let link = of(client);
        let config = link.strip_prefix(start).unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(decode(config)).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), entry, "{link}");
    }
    let link = of(Client::Vscode);
    let config = read(&decode(link.strip_prefix("vscode:mcp/install?").unwrap()));
    assert_eq!((&config["name"], &config["type"]), (&json!("stoa"), &json!("stdio")));
    assert_eq!(config["command"], entry["command"]);
}
