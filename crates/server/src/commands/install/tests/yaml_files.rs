//! Goose's `config.yaml`.

use super::*;

const OURS: &str = "  stoa:\n    enabled: true\n    name: stoa\n    envs: {}\n    env_keys: []\n    \
    type: stdio\n    cmd: \"/opt/stoa\"\n    args: [\"mcp\",\"--data\",\"/data\"]\n    timeout: 300\n";

#[test]
fn yaml_keeps_every_other_line() {
    let other = "  developer:\n    enabled: true\n    args:\n    - x\n    type: builtin\n";
    let before = format!("GOOSE_MODEL: qwen # best\nextensions:\n{other}\nGOOSE_MODE: auto\n");
    let after = format!("GOOSE_MODEL: qwen # best\nextensions:\n{OURS}{other}\nGOOSE_MODE: auto\n");
    check(Client::Goose, &before, &after);
    check_round_trip(Client::Goose, &before);
    check(Client::Goose, "A: 1", &format!("A: 1\nextensions:\n{OURS}"));
    check_round_trip(Client::Goose, "A: 1\n");
    // An entry is replaced whole, wherever it stands.
    let old = "  stoa:\n    cmd: old\n    envs:\n      A: b\n";
    check(
        Client::Goose,
        &format!("extensions:\n{other}{old}\n# end\n"),
        &format!("extensions:\n{other}{OURS}\n# end\n"),
    );
    check_round_trip(Client::Goose, "extensions:\n    a:\n        type: builtin\n");
}

#[test]
fn yaml_that_cannot_be_kept_is_refused() {
    for before in [
        "extensions: {}\n",
        "extensions: { a: { type: builtin } }\n",
        "extensions:\n  - name: a\n",
        "extensions: &x\n  a: 1\n",
        "extensions:\n    a: 1\n  b: 2\n",
        "extensions:\n  a: 1\nextensions:\n  b: 2\n",
    ] {
        let refused = merged(row_of(Client::Goose), before, &launch()).unwrap_err();
        assert!(refused.contains("its extensions are"), "{before}: {refused}");
    }
}

#[test]
fn values_are_quoted() {
    let launch = launch_with(&[("STOA_LOG", "a: \"b\" # c")]);
    let text = text_of(Client::Goose, &launch);
    assert!(text.contains("    envs:\n      \"STOA_LOG\": \"a: \\\"b\\\" # c\"\n"), "{text}");
    let http = over_http(None, settings());
    let text = text_of(Client::Goose, &http);
    assert!(
        text.contains("    headers: {}\n    type: streamable_http\n    uri: \"http://"),
        "{text}"
    );
}
