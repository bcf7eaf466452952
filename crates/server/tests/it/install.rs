//! `stoa install`: a client's file, a token in it, and the way back.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::process::{Folder, run, stoa};

/// The user's home is the folder too.
fn install(folder: &Path, args: &[&str]) -> (i32, String, String) {
    run(stoa(folder).arg("install").args(args))
}

#[test]
fn an_entry_with_a_token_is_written_privately_and_removed_again() {
    let folder = Folder::new();
    let file = folder.path().join(".cursor/mcp.json");
    std::fs::create_dir(folder.path().join(".cursor")).unwrap();
    let before =
        "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"url\": \"http://a\" }\n  }\n}\n";
    std::fs::write(&file, before).unwrap();
    let cursor = ["--client", "cursor"];
    let (code, out, err) = install(folder.path(), &[&cursor[..], &["--write", "--token"]].concat());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let text = std::fs::read_to_string(&file).unwrap();
    let written: Value = text.replace("// mine", "").parse().unwrap();
    let token = written["mcpServers"]["stoa"]["env"]["STOA_TOKEN"].as_str().unwrap();
    assert!(!err.contains(token), "a token on stderr");
    for name in ["mcp.json", "mcp.json.bak"] {
        let path = file.with_file_name(name);
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let (_, shown, _) =
        run(stoa(folder.path()).args(["token", "inspect"]).env("STOA_TOKEN", token));
    assert!(shown.contains("propose") && !shown.contains("admin"), "{shown}");
    let (code, _, err) = install(folder.path(), &[&cursor[..], &["--uninstall"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn clients_are_found_and_listed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join(".cursor")).unwrap();
    let (code, out, err) = install(folder.path(), &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let cursor = out.lines().find(|line| line.starts_with("cursor ")).unwrap();
    assert!(cursor.contains(".cursor/mcp.json") && cursor.ends_with("would be created"), "{out}");
    assert!(out.contains("not found: claude-code"), "{out}");
}

/// Every client that is found gets its entry, one broken file notwithstanding, and loses it again.
#[test]
fn all_clients_are_installed_and_uninstalled_at_once() {
    let folder = Folder::new();
    let home = folder.path();
    for client in [".cursor", ".gemini", ".codex", ".lmstudio"] {
        std::fs::create_dir(home.join(client)).unwrap();
    }
    std::fs::write(home.join(".gemini/settings.json"), "not JSON").unwrap();
    let (code, _, err) = install(home, &["--all", "--write"]);
    assert_eq!(code, 5, "{err}");
    let has_entry = |file: &str| {
        std::fs::read_to_string(home.join(file)).is_ok_and(|text| text.contains("stoa"))
    };
    let files = [".cursor/mcp.json", ".codex/config.toml", ".lmstudio/mcp.json"];
    for file in files {
        assert!(has_entry(file), "{file} {err}");
    }
    assert!(err.contains("settings.json was left as it is"), "{err}");
    std::fs::remove_file(home.join(".gemini/settings.json")).unwrap();
    let (code, _, err) = install(home, &["--all", "--uninstall"]);
    assert_eq!(code, 0, "{err}");
    for file in files {
        assert!(!has_entry(file), "{file} {err}");
    }
}

#[test]
fn a_wrong_combination_is_refused_with_what_to_do() {
    let folder = Folder::new();
    for (args, expected) in [
        (&["--write"][..], "name the client with"),
        (&["--all"], "add --write or --uninstall"),
        (&["--client", "vscode", "--write", "--token"], "add --user"),
        (&["--client", "cursor", "--token"], "add --write"),
        (&["--client", "claude-desktop", "--http"], "leave out --http"),
        (&["--client", "cursor", "--http", "stoa.example"], "must be the URL of a server"),
        (&["--client", "cursor", "--bundle", "x.mcpb"], "only claude-desktop"),
        (&["--client", "windsurf", "--project"], "has no file for --project"),
        (
            &["--client", "cursor", "--write", "--token", "--http", "https://stoa.example"],
            "put it into STOA_TOKEN",
        ),
    ] {
        let (code, out, err) = install(folder.path(), args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}
