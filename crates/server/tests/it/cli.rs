//! Commands: their output, their refusals and their exit codes.

use serde_json::Value;

use crate::process::{Folder, run, stoa};

#[track_caller]
fn check(args: &[&str], settings: &[(&str, &str)], code: i32, expected: &str) {
    let folder = Folder::new();
    let mut command = stoa(folder.path());
    let (actual, out, err) = run(command.args(args).envs(settings.iter().copied()));
    assert_eq!(actual, code, "{args:?}: {out}{err}");
    assert!(
        format!("{out}{err}").contains(expected),
        "{args:?} does not say {expected:?}: {out}{err}"
    );
}

#[test]
fn invalid_usage_prints_a_sentence_and_an_exit_code() {
    check(
        &["serve", "--listen", "nowhere"],
        &[],
        2,
        "--listen must be an address and a port, such as 127.0.0.1:8080, or a port, not \"nowhere\"",
    );
    check(&["serve", "--listen", "0.0.0.0:0"], &[], 2, "set MCP_HTTP_TOKEN, or say --insecure");
    check(&["serve"], &[("PORT", "eighty")], 2, "PORT must be a port number");
    check(&["sim", "--listen", "nowhere"], &[], 2, "must be like 127.0.0.1:8090");
    check(
        &["serve"],
        &[("PROVIDER", "kraken")],
        2,
        "PROVIDER must be sim or binance, not \"kraken\"",
    );
    check(&["serve", "--services", "stocks"], &[], 2, "there is no service \"stocks\"");
    check(&["tools", "--tools", "quotes.dead"], &[], 2, "there is no tool");
    check(&["tools", "--config", "missing.toml"], &[], 2, "missing.toml cannot be read");
    check(&["tools"], &[("STOA_LOG", "loud=9")], 2, "log filter");
    check(&["call", "quotes.live", "[1]"], &[], 2, "must be a JSON object");
    check(&["call", "nothing"], &[], 2, "there is no tool");
    check(&["call", "quote_live"], &[], 2, "did you mean quotes_live?");
    check(&["tools", "quote_live"], &[], 2, "did you mean quotes_live?");
    check(&["call", "quotes.live", "ticker=X"], &[], 2, "did you mean tickers?");
    check(&["call", "quotes.live", "{\"tickers\":[\"NOPE\"]}"], &[], 5, "NOT_FOUND");
    check(&["token", "mint", "--scope", "no spaces!"], &[], 2, "scope");
    check(
        &["token", "mint", "--scope", "read,foo"],
        &[],
        2,
        "there is no scope \"foo\"; known: read",
    );
    check(&["token", "mint"], &[], 2, "--scope");
    check(&["token", "mint", "--help"], &[], 0, "explain  read why a price was proposed");
    check(&["token", "mint", "--user", "nina"], &[], 5, "there is no user \"nina\"");
    check(&["token", "mint", "--user", "nina", "--ttl", "400d"], &[], 2, "at most 366d");
    check(&["token", "revoke", "0000"], &[], 2, "no minted token has the id \"0000\"");
    check(&["token", "mint", "--scope", "read", "--ttl", "soon"], &[], 2, "soon");
    check(&["token", "inspect"], &[("STOA_TOKEN", "rubbish")], 4, "token");
    check(&["import", "bars", "missing.csv", "--ticker", "X"], &[], 2, "missing.csv");
    check(&["frobnicate"], &[], 2, "unrecognized subcommand");
}

#[test]
fn an_unknown_variable_is_a_warning_and_the_command_goes_on() {
    let listne = &[("STOA_LISTNE", "x")];
    check(
        &["tools"],
        listne,
        0,
        "warning: the environment sets STOA_LISTNE, which is not a setting",
    );
    check(&["tools"], listne, 0, "did you mean STOA_LISTEN?");
    let folder = Folder::new();
    let service = [("STOA_SERVICE_HOST", "10.0.0.1"), ("STOA_PORT", "tcp://10.0.0.1:8080")];
    let (code, _, err) = run(stoa(folder.path()).arg("tools").envs(service));
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn without_a_home_the_data_folder_must_be_named() {
    let folder = Folder::new();
    let homeless = || {
        let mut command = stoa(folder.path());
        command.env_remove("HOME").env_remove("STOA_DATA").arg("tools");
        command
    };
    let (code, _, err) = run(&mut homeless());
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("HOME is not set; set HOME, or name a folder with --data DIR"), "{err}");
    assert!(!folder.path().join("stoa-data").exists());
    let (code, _, err) = run(homeless().arg("--data").arg(folder.path().join("d")));
    assert_eq!(code, 0, "{err}");
}

#[test]
fn the_version_names_the_commit() {
    let folder = Folder::new();
    let (code, out, _) = run(stoa(folder.path()).arg("--version"));
    assert_eq!(code, 0);
    let version = out.strip_prefix(concat!("stoa ", env!("CARGO_PKG_VERSION"), " (")).unwrap();
    let commit = version.strip_suffix(")\n").unwrap();
    let is_commit = commit.len() == 12 && commit.bytes().all(|it| it.is_ascii_hexdigit());
    assert!(is_commit || commit == "unknown", "{out}");
}

#[test]
fn a_config_file_with_an_unknown_key_is_refused_without_quoting_it() {
    let folder = Folder::new();
    let secret = "http_token = \"hush-hush\"\nprot = 1\n";
    std::fs::write(folder.path().join("stoa.toml"), secret).unwrap();
    let (code, _, err) = run(stoa(folder.path()).arg("tools"));
    assert_eq!(code, 2);
    assert!(
        err.contains("line 2: there is no setting prot; did you mean port?")
            && !err.contains("hush"),
        "{err}"
    );
}

/// The exit codes of docs/configuration.md, for calls that fail.
#[test]
fn a_failed_call_has_the_exit_code_of_its_error() {
    let unreachable = &[("PROVIDER", "binance"), ("BINANCE_REST_URL", "http://127.0.0.1:1")];
    let live = |args: &[&str], settings: &[(&str, &str)], code: i32, expected: &str| {
        check(&[&["call", "quotes.live"], args].concat(), settings, code, expected);
    };
    live(&["tickers=BTCUSDT"], &[], 0, "BTCUSDT");
    live(&["{}"], &[], 2, "VALIDATION_ERROR");
    live(&["{}", "--text"], &[], 2, "stoa: invalid input: tickers: expected");
    live(&["tickers=BTCUSDT"], unreachable, 3, "UPSTREAM");
    live(&["tickers=BTCUSDT", "--text"], unreachable, 3, "`stoa doctor`");
    live(&["tickers=NOPE", "--text"], &[], 5, "stoa: ");
    let propose = ["call", "propose_price", "sku=A", "our_price=10", "--text"];
    check(&propose, &[], 4, "stoa: ");
    check(&propose, &[("STOA_TOKEN", "rubbish")], 4, "stoa: ");
    let folder = Folder::new();
    let (_, token, _) = run(stoa(folder.path()).args(["token", "mint", "--scope", "read"]));
    let (code, out, err) = run(stoa(folder.path()).args(propose).env("STOA_TOKEN", token.trim()));
    assert_eq!((code, out.as_str()), (4, ""), "a token without the scope: {err}");
    assert!(err.contains("scope"), "{err}");
}

/// A person sees one sentence, and a program one JSON object; neither has logs before it.
#[test]
fn a_failed_call_says_one_thing() {
    let folder = Folder::new();
    let failed = |text: bool| {
        let mut command = stoa(folder.path());
        command.args(["call", "quotes.live", "tickers=BTCUSDT"]).env_remove("STOA_LOG");
        command.envs([("PROVIDER", "binance"), ("BINANCE_REST_URL", "http://127.0.0.1:1")]);
        let (code, out, err) = run(command.args(text.then_some("--text")));
        assert_eq!((code, out.as_str()), (3, ""), "{err}");
        err
    };
    let sentence = failed(true);
    assert!(sentence.starts_with("stoa: ") && !sentence.contains('{'), "{sentence}");
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    let object: Value = failed(false).parse().unwrap();
    assert!(object["message"].is_string(), "{object}");
}

#[test]
fn arguments_are_words_json_or_stdin() {
    let folder = Folder::new();
    let same = |args: &[&str], stdin: &str| {
        let mut command = stoa(folder.path());
        let mut child = command
            .args(["call", "quotes.historical"])
            .args(args)
            .args(["--text"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json = r#"{"tickers":["BTCUSDT"],"from":"2024-01-01","to":"2024-01-09","interval":"1d","page_size":2}"#;
    let expected = same(&[json], "");
    assert!(expected.contains("page 1: 2 of 9 bars") && expected.ends_with('\n'), "{expected}");
    assert_eq!(same(&["-"], json), expected);
    let words =
        ["tickers=BTCUSDT", "from=2024-01-01", "to=2024-01-09", "interval=1d", "page_size=2"];
    assert_eq!(same(&words, ""), expected);
    assert_eq!(
        same(&["-", "page_size=2"], &json.replace("\"page_size\":2", "\"page_size\":5")),
        expected
    );
}

#[test]
fn a_tool_is_shown_with_its_arguments_an_example_and_its_schema() {
    let folder = Folder::new();
    let (code, out, err) = run(stoa(folder.path()).args(["tools", "quotes.live"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for expected in [
        "quotes_live: ",
        "service quotes, scope read, changes nothing",
        "list of string, required",
        "stoa call quotes_live tickers=ethusdt,BTCUSDT\n",
        "stoa call quotes_live '{\"tickers\":[\"ethusdt\",\"BTCUSDT\"]}'\n",
        "input schema\n{",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    // Every column of the list begins at the same place, however long a name is.
    let (_, list, _) = run(stoa(folder.path()).arg("tools"));
    let start = list.lines().next().unwrap().find("service").unwrap();
    let longest = list.lines().find(|it| it.starts_with("get_index_constituents_metrics")).unwrap();
    assert!(longest[start..].starts_with("moex "), "{list}");
}

#[test]
fn the_analyst_is_asked_in_plain_words() {
    let folder = Folder::new();
    let question = ["ask", "сравни", "Лукойл и Роснефть", "за год"];
    let (code, out, err) = run(stoa(folder.path()).args(question));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("LKOH") && out.contains("ROSN") && out.ends_with('\n'), "{out}");
    let (code, out, _) = run(stoa(folder.path()).args(question).arg("--json"));
    let answer: Value = out.parse().unwrap();
    assert!(code == 0 && answer["output"]["text"].as_str().unwrap().contains("LKOH"), "{out}");
}

#[test]
fn tokens_are_printed_alone_and_narrow() {
    let folder = Folder::new();
    let (code, token, err) =
        run(stoa(folder.path()).args(["token", "mint", "--scope", "read,write", "--ttl", "1h"]));
    assert_eq!((code, err.as_str(), token.lines().count()), (0, "", 1));
    let token = token.trim();
    let with = |args: &[&str]| run(stoa(folder.path()).args(args).env("STOA_TOKEN", token));
    let (code, narrow, _) = with(&["token", "attenuate", "--scope", "read", "--note", "for ci"]);
    assert_eq!(code, 0);
    let (code, _, err) = with(&["token", "attenuate", "--scope", "admin"]);
    assert_eq!(code, 4, "{err}");
    let (_, shown, _) =
        run(stoa(folder.path()).args(["token", "inspect"]).env("STOA_TOKEN", narrow.trim()));
    for expected in ["scopes         read\n", "for ci", "valid here     yes"] {
        assert!(shown.contains(expected), "{shown}");
    }
    let key = folder.path().join("token.key");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(key).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn minted_tokens_are_listed_without_their_text_and_revoked_by_id() {
    let folder = Folder::new();
    let stoa = |args: &[&str]| {
        let (code, out, err) = run(stoa(folder.path()).args(args));
        assert_eq!(code, 0, "{args:?}: {err}");
        out
    };
    assert!(stoa(&["token", "list"]).starts_with("there are no minted tokens"));
    let token = stoa(&["token", "mint", "--scope", "read,collect", "--subject", "nightly"]);
    let listed = stoa(&["token", "list"]);
    assert!(listed.contains("  nightly  until   20") && listed.contains("  collect,read"));
    assert!(!listed.contains("stoa1_"), "{listed}");
    let (id, _) = listed.split_once(' ').unwrap();
    assert!(stoa(&["token", "revoke", id]).starts_with("revoked "));
    assert!(stoa(&["token", "list"]).contains("  nightly  revoked "));
    let (_, shown, _) = run(super::process::stoa(folder.path())
        .args(["token", "inspect"])
        .env("STOA_TOKEN", token.trim()));
    assert!(shown.contains("was revoked"), "{shown}");
}

#[test]
fn one_call_needs_no_server() {
    let folder = Folder::new();
    let args = r#"{"tickers":["BTCUSDT"]}"#;
    let (code, out, err) = run(stoa(folder.path()).args(["call", "quotes.live", args]));
    assert_eq!(code, 0, "{err}");
    let result: Value = out.parse().unwrap();
    assert_eq!(result["quotes"][0]["ticker"], "BTCUSDT");
    let (_, text, _) = run(stoa(folder.path()).args(["call", "quotes.live", args, "--text"]));
    assert!(text.starts_with("BTCUSDT "), "{text}");
}

#[test]
fn imported_bars_are_quoted_and_paged() {
    let folder = Folder::new();
    let csv = "Date,Open,High,Low,Close,Volume\n\
        2024-01-01,1.10,1.30,1.00,1.25,1000\n\
        2024-01-02,1.25,1.50,1.20,1.4999,2000.5\n\
        2024-01-03,1.4999,1.6,1.4,1.55,\n";
    std::fs::write(folder.path().join("bars.csv"), csv).unwrap();
    let import = ["import", "bars", "bars.csv", "--ticker", "mine", "--interval", "1d"];
    for _ in 0..2 {
        let (code, out, err) = run(stoa(folder.path()).args(import));
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("3 bars"), "{out}");
    }
    let args = r#"{"tickers":["FILE:MINE"],"from":"2024-01-01","to":"2024-12-31","interval":"1d"}"#;
    let (code, out, err) = run(stoa(folder.path()).args(["call", "quotes.historical", args]));
    assert_eq!(code, 0, "{err}");
    let result: Value = out.parse().unwrap();
    assert_eq!(result["total"], 3);
    assert_eq!(result["items"][0]["high"], "1.30");
    assert_eq!(result["items"][1]["volume"], "2000.5");
    assert_eq!(result["items"][2]["volume"], Value::Null);
    let live = r#"{"tickers":["file:mine"]}"#;
    let (_, out, err) = run(stoa(folder.path()).args(["call", "quotes.live", live]));
    let result: Value = out.parse().unwrap_or_else(|_| panic!("{err}"));
    assert_eq!(result["quotes"][0]["price"], "1.55");
}

#[test]
fn a_bad_row_is_named_by_its_line() {
    let folder = Folder::new();
    let csv = "timestamp,open,high,low,close,volume\n\
        2024-01-01,1,2,0.5,1.5,10\n\
        2024-01-02,1,2,abc,1.5,10\n\
        2024-01-03,1,2,0.5,1.5,10\n";
    std::fs::write(folder.path().join("bad.csv"), csv).unwrap();
    let import = ["import", "bars", "bad.csv", "--ticker", "B"];
    let (code, out, err) = run(stoa(folder.path()).args(import));
    assert_eq!(code, 5, "{out}{err}");
    assert!(err.contains("line 3"), "{err}");
    let (code, out, err) = run(stoa(folder.path()).args(import).args(["--on-bad-row", "skip"]));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("2 bars") && out.contains("1 skipped"), "{out}");
}

#[test]
fn an_import_says_what_it_needs() {
    let folder = Folder::new();
    let import = |csv: &str, args: &[&str]| {
        std::fs::write(folder.path().join("b.csv"), csv).unwrap();
        run(stoa(folder.path()).args(["import", "bars", "b.csv"]).args(args))
    };
    let bar = "date;open;high;low;close\n03.01.2024;271,9;274,5;270,1;274,2\n";
    let (code, _, err) = import(bar, &[]);
    assert!(code == 2 && err.contains("--ticker NAME"), "{code}: {err}");
    let (code, out, err) = import(bar, &["--ticker", "X"]);
    assert_eq!((code, out.as_str()), (0, "1 bar of 1 series imported\n"), "{err}");
    let american = "date,open,high,low,close\n03/01/2024,1,2,1,2\n";
    let (code, _, err) = import(american, &["--ticker", "X"]);
    assert!(code == 2 && err.contains("--dates dmy or --dates mdy"), "{code}: {err}");
    let (code, _, err) = import(american, &["--ticker", "X", "--dates", "mdy"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = import("date;first;last\n2024-01-01;1;2\n", &["--ticker", "X"]);
    assert!(code == 2 && err.contains("open may be named open, o"), "{code}: {err}");
}

#[test]
fn completions_and_tools_print_only_their_output() {
    let folder = Folder::new();
    let (code, out, _) = run(stoa(folder.path()).args(["completions", "bash"]));
    assert_eq!(code, 0);
    for name in ["get_index_constituents_metrics", "collector_auth_metrics", "indicators"] {
        assert!(out.contains(name), "{name}");
    }
    let (code, out, _) = run(stoa(folder.path()).arg("tools"));
    assert_eq!(code, 0);
    assert!(out.contains("quotes_live") && out.contains("tokens"), "{out}");
}

/// README blocks that show a call about the past match the program's output.
#[test]
fn the_readme_shows_the_actual_output() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let folder = Folder::new();
    let mut shown = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let (command, printed) = block.split_once('\n').unwrap();
        let Some(call) = command.strip_prefix("$ stoa call ") else { continue };
        let Some((tool, args)) = call.split_once(" '").filter(|_| call.ends_with("--text")) else {
            continue;
        };
        let args = args.trim_end_matches("' --text");
        let (code, out, err) = run(stoa(folder.path()).args(["call", tool, args, "--text"]));
        assert_eq!((code, out.as_str()), (0, printed), "{command}: {err}");
        shown += 1;
    }
    assert!(shown >= 2, "the README shows no calls");
}

/// Cargo passes the variables of the build script to the programs that it runs; none of them may
/// look like a misspelt setting.
#[test]
fn variables_of_cargo_run_are_not_settings() {
    let folder = Folder::new();
    let mut command = stoa(folder.path());
    // The commit, where the build has set it.
    let cargo: Vec<_> = std::env::vars().filter(|it| it.1.len() == 40).collect();
    let (code, _, error) = run(command.envs(cargo).arg("tools"));
    assert_eq!(code, 0, "{error}");
}
