//! Files in JSON: the rest of the file stays, to the byte.

use proptest::prelude::*;

use super::*;

fn entry(indent: &str) -> String {
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
}

#[test]
fn json_keeps_everything_else_to_the_byte() {
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
fn comments_and_trailing_commas_stay() {
    check(
        Client::Zed,
        "// mine\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {\n    // theirs\n    \
         \"a\": {}, // first\n  },\n}\n",
        &format!(
            "// mine\n{{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {{\n    // theirs\n    \
             \"a\": {{}},\n    \"stoa\": {}, // first\n  }},\n}}\n",
            entry("    ")
        ),
    );
    check(
        Client::Zed,
        "{\n  // nothing yet\n}\n",
        &format!(
            "{{\n  // nothing yet\n  \"context_servers\": {{\n    \"stoa\": {}\n  }}\n}}\n",
            entry("    ")
        ),
    );
}

#[test]
fn an_entry_is_removed_and_nothing_else() {
    for before in [
        "{\"theme\":\"dark\"}",
        "{\n    \"n\": 1.10,\n    \"mcpServers\": {\n        \"a\": {\"x\":  1e3}\n    }\n}\n",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"z\": 0\r\n\t}\r\n}",
        "{\n  \"a\": 1, // one\n  \"mcpServers\": {\n    \"b\": {},\n  },\n}\n",
    ] {
        check_round_trip(Client::Cursor, before);
    }
    let row = row_of(Client::Cursor);
    let gone = |text: &str| removed(row, text).unwrap();
    assert_eq!(
        gone("{\"mcpServers\": {\"stoa\": 1, \"b\": 2}}").unwrap(),
        "{\"mcpServers\": { \"b\": 2}}"
    );
    assert_eq!(gone("{\"mcpServers\": {\"stoa\": 1,}}").unwrap(), "{}");
    assert_eq!(gone("{\"mcpServers\": {}}"), None);
    assert_eq!(gone(""), None);
    assert!(removed(row, "{\"mcpServers\": {\"stoa\": 1, \"stoa\": 2, \"b\": 3}}").is_err());
}

#[test]
fn what_a_user_added_to_our_entry_stays() {
    let before = json!({ "mcpServers": { "stoa": {
        "command": "/old", "args": [], "disabled": true,
        "env": { "STOA_TOKEN": "kept", "PROVIDER": "sim" },
    } } });
    let row = row_of(Client::Cursor);
    let after = read(&merged(row, &before.to_string(), &live()).unwrap());
    let entry = &after["mcpServers"]["stoa"];
    assert_eq!(entry["env"]["STOA_TOKEN"], "kept");
    assert_eq!(entry["env"]["PROVIDER"], "binance");
    assert_eq!(entry["disabled"], true);
    assert_eq!(entry["command"], "/opt/stoa");

    let by_url = json!({ "mcpServers": { "stoa": { "url": "http://localhost:8080/mcp" } } });
    let after = read(&merged(row, &by_url.to_string(), &launch()).unwrap());
    assert!(after["mcpServers"]["stoa"].get("url").is_none(), "two transports in one entry");
    let http = over_http(None, settings());
    let after = read(&merged(row, &before.to_string(), &http).unwrap());
    let expected = json!({ "url": "http://127.0.0.1:8080/mcp" });
    assert_eq!(after["mcpServers"]["stoa"], expected);
}

#[test]
fn json_that_cannot_be_kept_is_refused() {
    for (before, reason) in [
        ("{\n \"servers\": {", "not valid JSON (line 2)"),
        ("{ /* open", "not valid JSON"),
        ("[]", "not valid JSON"),
        ("// only a comment", "not valid JSON"),
        ("{\"servers\": null}", "not an object"),
        ("{\"servers\": [1]}", "not an object"),
        ("{\"a\": 1} {}", "not valid JSON"),
    ] {
        let refused = merged(row_of(Client::Vscode), before, &launch()).unwrap_err();
        assert!(refused.contains(reason), "{before}: {refused}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|it| json!(it)),
        any::<bool>().prop_map(|it| json!(it)),
        ".{0,6}".prop_map(|it| json!(it)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name = prop_oneof!["[a-z{}\"\\\\/]{0,4}", Just("stoa".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|it| json!(it)),
            prop::collection::vec((name, inner), 0..4).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    /// Everything else in the file, and its layout, is unchanged afterwards; what was added can be
    /// removed.
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
        let row = row_of(Client::Cursor);
        let after = merged(row, &text, &launch()).unwrap();
        prop_assert_eq!(&merged(row, &after, &launch()).unwrap(), &after);
        let servers = before["mcpServers"].as_object();
        if servers.is_some_and(|it| !it.is_empty() && !it.contains_key("stoa")) {
            let gone = removed(row, &after).unwrap();
            prop_assert_eq!(gone.as_deref(), Some(text.as_str()));
        }
        let mut after = read(&after);
        prop_assert_eq!(&after["mcpServers"]["stoa"]["command"], "/opt/stoa");
        for value in [&mut before, &mut after] {
            let servers = value.as_object_mut().unwrap().entry("mcpServers").or_insert(json!({}));
            servers.as_object_mut().unwrap().remove("stoa");
        }
        prop_assert_eq!(before, after);
    }
}
