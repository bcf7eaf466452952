//! Codex's `config.toml`.

use super::*;

const OURS: &str =
    "[mcp_servers.stoa]\ncommand = \"/opt/stoa\"\nargs = [\"mcp\", \"--data\", \"/data\"]\n";

fn codex_merged(before: &str, launch: &Launch) -> Result<String, String> {
    merged(row_of(Client::Codex), before, launch)
}

#[test]
fn toml_keeps_everything_else_to_the_byte() {
    let others = "# mine\nmodel = 'o'  # best\n\n[mcp_servers.a]\ncommand = \"a\"\n";
    check(Client::Codex, others, &format!("{others}\n{OURS}"));
    check(Client::Codex, others.trim_end(), &format!("{others}\n{OURS}"));
    check_round_trip(Client::Codex, others);
    check_round_trip(Client::Codex, "model = 'o'\n");
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
fn a_table_is_removed_with_those_below_it() {
    let row = row_of(Client::Codex);
    let before = format!("a = 1\n\n{OURS}\n[mcp_servers.stoa.env]\nX = 'y'\n\n[z]\nq = 1\n");
    assert_eq!(removed(row, &before).unwrap().unwrap(), "a = 1\n[z]\nq = 1\n");
    assert_eq!(removed(row, "[mcp_servers.a]\ncommand = 'x'\n").unwrap(), None);
    // The text inside a string looks like a table.
    let tricky = format!("text = '''\n[mcp_servers.stoa]\n'''\n\n{OURS}");
    assert!(removed(row, &tricky).is_err());
    assert!(removed(row, "[mcp_servers]\nstoa = { command = 'x' }\n").is_err());
}

#[test]
fn settings_reach_toml_without_losing_a_token() {
    let before = format!("{OURS}env = {{ STOA_TOKEN = 'kept' }}\n");
    let after: toml::Table = codex_merged(&before, &live()).unwrap().parse().unwrap();
    let env = &after["mcp_servers"]["stoa"]["env"];
    assert_eq!(env["STOA_TOKEN"].as_str(), Some("kept"));
    assert_eq!(env["PROVIDER"].as_str(), Some("binance"));
    let added: toml::Table = codex_merged(OURS, &live()).unwrap().parse().unwrap();
    assert_eq!(added["mcp_servers"]["stoa"]["env"]["PROVIDER"].as_str(), Some("binance"));
}

#[test]
fn toml_that_cannot_be_kept_is_refused() {
    let headed = format!("{OURS}\n[mcp_servers.stoa.env]\nSTOA_TOKEN = 'kept'\n");
    assert_eq!(codex_merged(&headed, &launch()).unwrap(), headed);
    for (before, reason) in [
        (headed.as_str(), "env lacks some of PROVIDER"),
        ("a = 1\nb = hunter2", "line 2"),
        ("mcp_servers = {}", "cannot be changed safely"),
        ("mcp_servers = 1", "cannot be changed safely"),
        ("mcp_servers.stoa = 1", "not a table"),
        ("[mcp_servers.stoa]\nurl = 'http://x/mcp'", "remove it first"),
        ("mcp_servers = { stoa = { command = 'x' } }", "cannot be changed safely"),
    ] {
        let refused = codex_merged(before, &live()).unwrap_err();
        assert!(refused.contains(reason), "{before}: {refused}");
        assert!(!refused.contains("hunter2") && !refused.contains("kept"), "{refused}");
    }
}
