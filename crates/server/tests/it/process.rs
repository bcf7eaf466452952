//! A running `stoa` with its own data folder; it ends with the test.

use parking_lot::Mutex;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

/// The data folder of a test.
pub(crate) use testkit::TempFolder as Folder;

/// The program under test: the one of this build, or the one that `STOA_TEST_BINARY` names, so that
/// the attacks can be measured on a shipped build.
fn binary() -> OsString {
    std::env::var_os("STOA_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_stoa").into())
}

/// The binary with a clean environment, so that the machine's own settings do not reach it.
pub(crate) fn stoa(data: &Path) -> Command {
    let mut command = Command::new(binary());
    command.env_clear().env("HOME", data).env("STOA_DATA", data).current_dir(data);
    command.env("STOA_LOG", "warn");
    command
}

pub(crate) fn run(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// What stands before the address in the line of a server that is ready.
const MCP: &str = "\"mcp\":\"";

/// `stoa serve` on its own port.
pub(crate) struct Server {
    child: Child,
    pub(crate) base: String,
    pub(crate) pid: u32,
    log: Arc<Mutex<String>>,
}

impl Server {
    pub(crate) fn start(data: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_with(data, settings, &[])
    }

    pub(crate) fn start_with(data: &Path, settings: &[(&str, &str)], flags: &[&str]) -> Self {
        let mut command = stoa(data);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
        command.envs(settings.iter().copied()).stderr(Stdio::piped()).stdin(Stdio::null());
        Self::spawn(command, MCP)
    }

    /// Starts `stoa serve` with only these settings.
    pub(crate) fn start_by_settings(data: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = stoa(data);
        command.arg("serve").envs(settings.iter().copied());
        command.stderr(Stdio::piped()).stdin(Stdio::null());
        Self::spawn(command, MCP)
    }

    /// Starts `stoa serve` from a shell that ignores hang-ups, as `nohup` does.
    pub(crate) fn start_ignoring_hangups(data: &Path) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' HUP; exec \"$0\" serve --listen 127.0.0.1:0"]);
        command.arg(binary()).env("STOA_DATA", data).env("HOME", data);
        command.current_dir(data).stderr(Stdio::piped()).stdin(Stdio::null());
        Self::spawn(command, MCP)
    }

    /// `stoa sim` on its own port.
    pub(crate) fn start_sim(data: &Path) -> Self {
        let mut command = stoa(data);
        command.args(["sim", "--listen", "127.0.0.1:0"]);
        command.stderr(Stdio::piped()).stdin(Stdio::null());
        Self::spawn(command, " is at ")
    }

    /// Starts a server and reads the address that it prints after `mark`.
    fn spawn(mut command: Command, mark: &str) -> Self {
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut printed = String::new();
        let base = loop {
            let line = lines.next().unwrap_or_else(|| panic!("no address: {printed}")).unwrap();
            printed.push_str(&line);
            printed.push('\n');
            // Where logs are readable, the banner is a table.
            let found = line.split_once(mark).or_else(|| line.split_once("  MCP      "));
            if let Some((_, rest)) = found {
                let address = rest.split('"').next().unwrap();
                break address.trim_end_matches("/mcp").to_owned();
            }
        };
        // The rest of stderr is drained, so that the server never blocks on it.
        let log = Arc::new(Mutex::new(printed));
        let log_copy = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut log = log_copy.lock();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let pid = child.id();
        Self { child, base, pid, log }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The lines on stderr so far.
    pub(crate) fn log(&self) -> String {
        self.log.lock().clone()
    }

    pub(crate) fn address(&self) -> String {
        self.base.trim_start_matches("http://").to_owned()
    }

    /// Kills the process as a crash would: no signal handler runs, nothing is flushed.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Resident memory in megabytes.
    pub(crate) fn memory_mb(&self) -> u64 {
        self.status_mb("VmRSS:")
    }

    /// The most resident memory so far, in megabytes.
    pub(crate) fn peak_memory_mb(&self) -> u64 {
        self.status_mb("VmHWM:")
    }

    fn status_mb(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client without TLS; the library needs a provider all the same.
pub(crate) fn http() -> reqwest::Client {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        drop(rustls::crypto::ring::default_provider().install_default());
        // Every test has its own runtime, so connections cannot outlive a request.
        reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap()
    });
    CLIENT.clone()
}

/// One MCP request of the modern protocol over HTTP; returns status and body.
pub(crate) async fn mcp_post(url: &str, method: &str, params: Value) -> (u16, Value) {
    let response = mcp_headers(http().post(url), method, params).send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap_or(Value::Null))
}

/// The same for a request with its own headers.
pub(crate) fn mcp_headers(
    request: reqwest::RequestBuilder,
    method: &str,
    mut params: Value,
) -> reqwest::RequestBuilder {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "it", "version": "1" });
    let able = &mut meta["io.modelcontextprotocol/clientCapabilities"];
    if able.is_null() {
        *able = json!({});
    }
    let mut request = request
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = ["name", "uri", "taskId"].iter().find_map(|it| params[it].as_str()) {
        request = request.header("mcp-name", name);
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    request.json(&body)
}

pub(crate) async fn mcp_call(server: &Server, path: &str, tool: &str, args: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": args });
    let (_, body) = mcp_post(&server.url(path), "tools/call", params).await;
    body
}

/// `stoa mcp` with its pipes.
pub(crate) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    pub(crate) fn start_with(data: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = stoa(data);
        command.envs(settings.iter().copied());
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    pub(crate) fn send(&mut self, line: &[u8]) {
        use std::io::Write as _;
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The next message; anything on stdout that is not one fails the test.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line:?}"))
    }

    /// The handshake of the older protocol.
    pub(crate) fn initialize(&mut self) -> Value {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "it", "version": "1" } } });
        self.send(hello.to_string().as_bytes());
        let answer = self.receive();
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, id: u32, params: &Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.send(call.to_string().as_bytes());
        self.receive()["result"].take()
    }

    /// The result of one call by a client with this token.
    pub(crate) fn start_and_call(data: &Path, token: &str, params: &Value) -> Value {
        let mut pipes = Self::start_with(data, &[("STOA_TOKEN", token)]);
        pipes.initialize();
        pipes.call(1, params)
    }

    /// Closes the input and returns the remaining output and the exit code.
    pub(crate) fn finish(mut self) -> (String, i32) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        (rest, self.child.wait().unwrap().code().unwrap_or(-1))
    }
}
