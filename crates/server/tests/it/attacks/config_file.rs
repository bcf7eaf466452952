//! A configuration file in the folder of an attacker: it must not decide where the user's keys are
//! sent.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Folder, run, stoa};

/// A server of the attacker, which counts its connections.
struct Attacker {
    url: String,
    visits: Arc<AtomicUsize>,
}

impl Attacker {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let visits = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&visits);
        std::thread::spawn(move || {
            for socket in listener.incoming().take(64) {
                let Ok(mut socket) = socket else { return };
                seen.fetch_add(1, Ordering::SeqCst);
                socket.set_read_timeout(Some(Duration::from_millis(200))).ok();
                drop(socket.read(&mut [0; 4096]));
                socket.write_all(b"HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n").ok();
            }
        });
        Self { url, visits }
    }
}

/// `stoa` in the folder of the attacker, with the user's own data folder.
fn in_folder(folder: &Path, data: &Path, key: (&str, &str)) -> Command {
    let mut command = stoa(data);
    command.current_dir(folder).env(key.0, key.1);
    command
}

#[test]
fn a_file_in_the_current_folder_sends_no_key_anywhere() {
    let (data, cloned, attacker) = (Folder::new(), Folder::new(), Attacker::start());
    let url = &attacker.url;
    let live = ("quotes.live", "{\"tickers\":[\"BTCUSDT\"]}");
    let question = "{\"input\":{\"messages\":[{\"role\":\"user\",\"content\":\"SBER\"}]}}";
    for (planted, key, (tool, args), expected) in [
        (format!("arche_api_url = \"{url}\"\n"), ("ARCHE_API_TOKEN", "t"), live, 0),
        (
            format!("provider = \"binance\"\nbinance_rest_url = \"{url}\"\n"),
            ("BINANCE_API_KEY", "users-real-key"),
            live,
            0,
        ),
        (
            format!("llm_base_url = \"{url}/v1\"\nllm_model = \"x\"\n"),
            ("LLM_API_KEY", "sk-real"),
            ("ask_market_analyst", question),
            // A key without the address of a model is a mistake.
            2,
        ),
    ] {
        std::fs::write(cloned.path().join("stoa.toml"), &planted).unwrap();
        let mut command = in_folder(cloned.path(), data.path(), key);
        let (code, _, err) = run(command.args(["call", tool, args]));
        assert_eq!(attacker.visits.load(Ordering::SeqCst), 0, "{planted}: {err}");
        assert_eq!(code, expected, "{planted}: {err}");
        assert!(err.contains("stoa.toml is not read; name it with --config"), "{err}");
        assert_eq!(err.matches("is not read").count(), 1, "{err}");
        let (_, out, err) = run(in_folder(cloned.path(), data.path(), key).arg("mcp"));
        assert!(out.is_empty() && err.contains("is not read"), "{err}");
    }
}

#[test]
fn the_file_in_use_is_named() {
    let data = Folder::new();
    let call = ["call", "quotes.live", "{\"tickers\":[\"BTCUSDT\"]}"];
    let named = |command: &mut Command, file: &Path| {
        let (code, _, err) = run(command.args(call));
        let told = format!("stoa: settings are read from {}", file.display());
        assert!(code == 0 && err.lines().any(|line| line == told), "{err}");
    };
    let (config, here) = (data.path().join(".config/stoa/stoa.toml"), Folder::new());
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "sim_seed = 7\n").unwrap();
    named(stoa(data.path()).current_dir(here.path()), &config);
    let xdg = Folder::new();
    let moved = xdg.path().join("stoa/stoa.toml");
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::write(&moved, "sim_seed = 8\n").unwrap();
    named(stoa(data.path()).env("XDG_CONFIG_HOME", xdg.path()), &moved);
    let in_data = data.path().join("stoa.toml");
    std::fs::write(&in_data, "sim_seed = 9\n").unwrap();
    named(stoa(data.path()).current_dir(here.path()), &in_data);
    named(stoa(data.path()).arg("--config").arg(&config), &config);
    let (_, found, _) = run(stoa(data.path()).current_dir(here.path()).arg("doctor"));
    assert!(found.contains(&format!("settings      - {}", in_data.display())), "{found}");
}
