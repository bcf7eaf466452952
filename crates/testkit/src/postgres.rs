//! A real PostgreSQL for tests: one cluster for all test processes, one database for each test.
//!
//! `STOA_TEST_POSTGRES_URL` names a cluster that is running already (`scripts/postgres-for-tests`
//! starts one); otherwise the first test that needs a cluster makes it in the temporary folder,
//! where a watchdog stops it soon after the last test process has gone, killed ones included.
//! `STOA_TEST_POSTGRES=require` turns a missing PostgreSQL into a failure.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The address of a new, empty database; `None`, with a warning on stderr, if PostgreSQL is not
/// available.
pub fn database() -> Option<String> {
    static CLUSTER: OnceLock<Result<String, String>> = OnceLock::new();
    let server = match CLUSTER.get_or_init(server) {
        Ok(server) => server,
        Err(reason) => {
            if std::env::var("STOA_TEST_POSTGRES").is_ok_and(|want| want == "require") {
                panic!("PostgreSQL is required and not available: {reason}");
            }
            eprintln!("*** NOT TESTED ON POSTGRESQL: {reason} ***");
            return None;
        }
    };
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("stoa_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let bin = binaries().expect("the cluster was created with these programs");
    let created = Command::new(bin.join("psql"))
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &format!("{server}/postgres")])
        .args(["-c", &format!("DROP DATABASE IF EXISTS {name}")])
        .args(["-c", &format!("CREATE DATABASE {name}")])
        .output();
    checked(created, "CREATE DATABASE").expect("a new database for the test");
    Some(format!("{server}/{name}"))
}

fn server() -> Result<String, String> {
    if let Ok(url) = std::env::var("STOA_TEST_POSTGRES_URL") {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    Cluster::new()?.join()
}

/// The folder with PostgreSQL's programs.
fn binaries() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut debian: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    debian.sort();
    folders.extend(debian.into_iter().rev());
    folders
        .into_iter()
        .find(|folder| ["initdb", "pg_ctl", "psql"].iter().all(|name| folder.join(name).exists()))
        .ok_or_else(|| "initdb, pg_ctl and psql are not installed".to_owned())
}

/// The cluster of this user, shared by every test process.
struct Cluster {
    bin: PathBuf,
    root: PathBuf,
    /// The user and group that the server runs as if this process is root, which PostgreSQL
    /// refuses.
    user: Option<(u32, u32)>,
}

/// Stops the cluster after ten seconds in which no process that joined it was alive. The wait
/// covers the pause between two test processes.
const WATCHDOG: &str = r#"
idle=0
while [ $idle -lt 10 ] && [ -d "$1/data" ]; do
  sleep 1; idle=$((idle + 1))
  for user in "$1"/users/*; do
    if kill -0 "${user##*/}" 2>/dev/null || [ -d "/proc/${user##*/}" ]; then idle=0; else rm -f "$user"; fi
  done
done
"$2/pg_ctl" -D "$1/data" -m immediate -s stop
rm -rf "$1/data" "$1/socket"
"#;

impl Cluster {
    fn new() -> Result<Self, String> {
        let bin = binaries()?;
        let temporary = std::env::temp_dir();
        let probe = fs::metadata("/proc/self").map_err(|error| error.to_string())?;
        let user = if probe.uid() == 0 { Some(postgres_user()?) } else { None };
        let root = temporary.join(format!("stoa-test-postgres-{}", probe.uid()));
        for folder in [root.clone(), root.join("users")] {
            fs::create_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))
                .and_then(|()| user.map_or(Ok(()), |(u, g)| chown(&folder, Some(u), Some(g))))
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Ok(Self { bin, root, user })
    }

    /// Registers this process and returns the address of the running server. The lock lets one
    /// process at a time decide whether a server must be started.
    fn join(&self) -> Result<String, String> {
        let lock = File::create(self.root.join("lock")).map_err(|error| error.to_string())?;
        lock.lock().map_err(|error| error.to_string())?;
        let ticket = self.root.join("users").join(std::process::id().to_string());
        File::create(ticket).map_err(|error| error.to_string())?;
        let status = self.command("pg_ctl").args(["-s", "status", "-D"]).arg(self.data()).output();
        if !status.is_ok_and(|status| status.status.success()) {
            self.start()?;
        }
        let port = fs::read_to_string(self.root.join("port")).map_err(|error| error.to_string())?;
        Ok(format!("postgres://postgres@127.0.0.1:{}", port.trim()))
    }

    fn start(&self) -> Result<(), String> {
        fs::remove_dir_all(self.data()).ok();
        let made = self
            .command("initdb")
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N", "-D"])
            .arg(self.data())
            .output();
        checked(made, "initdb")?;
        let port = free_port()?;
        let options = format!(
            "-p {port} -k {} -c listen_addresses=127.0.0.1 -c max_connections=300 -c fsync=off \
             -c synchronous_commit=off -c full_page_writes=off",
            self.root.display()
        );
        let started = self
            .command("pg_ctl")
            .args(["-w", "-s", "-o", &options, "-l"])
            .arg(self.root.join("log"))
            .arg("-D")
            .arg(self.data())
            .arg("start")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !started.is_ok_and(|status| status.success()) {
            let log = fs::read_to_string(self.root.join("log")).unwrap_or_default();
            return Err(format!("pg_ctl start failed: {log}"));
        }
        fs::write(self.root.join("port"), port.to_string()).map_err(|error| error.to_string())?;
        self.watch()
    }

    /// In a process group of its own, so that neither a Ctrl-C nor a test runner's clean-up takes
    /// the watchdog away with the tests it watches.
    fn watch(&self) -> Result<(), String> {
        let mut watchdog = self.as_user(Command::new("sh"));
        watchdog.args(["-c", WATCHDOG, "watchdog"]).arg(&self.root).arg(&self.bin);
        watchdog.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        watchdog.process_group(0).spawn().map(drop).map_err(|error| error.to_string())
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    fn command(&self, program: &str) -> Command {
        self.as_user(Command::new(self.bin.join(program)))
    }

    fn as_user(&self, mut command: Command) -> Command {
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.current_dir(&self.root);
        command
    }
}

/// `postgres:x:101:104:…` in `/etc/passwd`.
fn postgres_user() -> Result<(u32, u32), String> {
    let users = fs::read_to_string(Path::new("/etc/passwd")).map_err(|error| error.to_string())?;
    let line = users.lines().find_map(|line| line.strip_prefix("postgres:"));
    let mut fields = line.into_iter().flat_map(|line| line.split(':').skip(1));
    match (fields.next().map(str::parse), fields.next().map(str::parse)) {
        (Some(Ok(user)), Some(Ok(group))) => Ok((user, group)),
        _ => {
            Err("running as root, and there is no user postgres to start the server as".to_owned())
        }
    }
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(|e| e.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

fn checked(output: std::io::Result<Output>, what: &str) -> Result<(), String> {
    let output = output.map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    std::io::stderr().flush().ok();
    Err(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
