//! Measures the time from the start of a stdio server until it has listed its tools.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::options::Options;
use crate::servers::{Binaries, Folder, stop};
use crate::table::{Target, median, print_starts};

pub(crate) fn measure(options: &Options, binaries: &Binaries, folder: &Folder) -> Outcome<Target> {
    let (mut stoa, mut fastmcp) = (Vec::new(), Vec::new());
    for _ in 0..options.starts {
        stoa.push(start(&mut binaries.stoa_stdio(folder))?);
        fastmcp.push(start(&mut binaries.fastmcp_stdio(folder))?);
    }
    println!("\nfrom start to tools/list over stdio, {} starts each", options.starts);
    print_starts(&[("stoa", &stoa), ("FastMCP", &fastmcp)]);
    let ratio = median(&fastmcp).as_secs_f64() / median(&stoa).as_secs_f64();
    Ok(Target::at_least("tools/list after start, times sooner than FastMCP (median)", ratio, 20.0))
}

fn start(command: &mut Command) -> Outcome<Duration> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let listed = list_tools(&mut child);
    let elapsed = started.elapsed();
    stop(&mut child);
    let listed = listed.map_err(|error| format!("{command:?}: {error}"))?;
    match listed["result"]["tools"].as_array() {
        Some(tools) if !tools.is_empty() => Ok(elapsed),
        _ => Err(format!("{command:?} listed no tools: {listed}").into()),
    }
}

/// The handshake of current clients, then the list.
fn list_tools(child: &mut Child) -> Outcome<Value> {
    let mut to = child.stdin.take().ok_or("no stdin")?;
    let mut from = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let client = json!({ "name": "bench", "version": "0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    say(&mut to, &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))?;
    answer(&mut from, 1)?;
    say(&mut to, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    say(&mut to, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    answer(&mut from, 2)
}

fn say(to: &mut ChildStdin, message: &Value) -> Outcome<()> {
    to.write_all(format!("{message}\n").as_bytes())?;
    Ok(to.flush()?)
}

fn answer(from: &mut BufReader<ChildStdout>, id: u64) -> Outcome<Value> {
    let mut line = String::new();
    while from.read_line(&mut line)? > 0 {
        let message: Value = serde_json::from_str(&line)?;
        if message["id"] == id {
            return Ok(message);
        }
        line.clear();
    }
    Err("it ended without an answer".into())
}
