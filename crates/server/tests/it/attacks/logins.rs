//! Attempts to lock users of the archive out of their login: floods of logins and registrations
//! from other addresses, and of made-up names from the same one.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::process::{Folder, Server, run, stoa};

const PASSWORD: &str = "the right password";
/// Requests of one flood, in all.
const FLOOD_MAX: usize = 2_000;
/// Requests of one flood at once, more than the server hashes of one address.
const AT_ONCE: usize = 24;

/// A client at an address of this machine.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    fn at(server: &Server, address: [u8; 4]) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().local_address(IpAddr::from(address));
        let url = server.url("/api/arkiver/auth");
        Self { http: http.build().unwrap(), url }
    }

    async fn auth(&self, action: &str, name: &str, password: &str) -> (u16, Value) {
        let body = json!({ "action": action, "username": name, "password": password });
        let response = self.http.post(&self.url).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Sends `request(n)` for n from 0 on, until `stop` or [`FLOOD_MAX`].
    fn flood(
        &self,
        stop: &Arc<AtomicBool>,
        request: impl Fn(usize) -> (&'static str, String) + Clone + Send + 'static,
    ) -> JoinSet<()> {
        let made = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..AT_ONCE {
            let (client, stop, made) = (self.clone(), Arc::clone(stop), Arc::clone(&made));
            let request = request.clone();
            tasks.spawn(async move {
                loop {
                    let number = made.fetch_add(1, Ordering::SeqCst);
                    if number >= FLOOD_MAX || stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let (action, name) = request(number);
                    client.auth(action, &name, "a wrong password").await;
                }
            });
        }
        tasks
    }
}

fn add_user(folder: &Folder, name: &str) {
    use std::io::Write as _;
    let mut command = stoa(folder.path());
    command.args(["user", "add", name]).stdin(std::process::Stdio::piped());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// The victim's logins from its own address while two other addresses flood the server.
async fn check(flood: impl Fn(usize) -> (&'static str, String) + Clone + Send + 'static) {
    let folder = Folder::new();
    add_user(&folder, "victim");
    let server = Server::start(folder.path(), &[("STOA_RATE_PER_SECOND", "0")]);
    let stop = Arc::new(AtomicBool::new(false));
    let floods: Vec<JoinSet<()>> = [[127, 0, 0, 2], [127, 0, 0, 3]]
        .map(|from| Client::at(&server, from).flood(&stop, flood.clone()))
        .into();
    // The flood is under way.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let victim = Client::at(&server, [127, 0, 0, 1]);
    for attempt in 0..5 {
        let (status, told) = victim.auth("login", "victim", PASSWORD).await;
        assert_eq!(status, 200, "attempt {attempt}: {told}");
    }
    stop.store(true, Ordering::SeqCst);
    for flood in floods {
        flood.join_all().await;
    }
}

#[tokio::test]
async fn logins_with_invented_names_from_elsewhere_lock_no_user_out() {
    check(|number| ("login", format!("nobody-{number}"))).await;
}

#[tokio::test]
async fn logins_as_the_user_from_elsewhere_do_not_lock_the_user_out() {
    check(|_| ("login", "victim".to_owned())).await;
}

#[tokio::test]
async fn registrations_from_elsewhere_lock_no_user_out() {
    check(|number| ("register", format!("new-{number}-{}", std::process::id()))).await;
}

#[tokio::test]
async fn a_user_at_the_address_of_a_flood_can_log_in() {
    let folder = Folder::new();
    for name in ["victim", "regular"] {
        add_user(&folder, name);
    }
    let server = Server::start(folder.path(), &[("STOA_RATE_PER_SECOND", "0")]);
    let here = Client::at(&server, [127, 0, 0, 1]);
    assert_eq!(here.auth("login", "regular", PASSWORD).await.0, 200);
    let stop = Arc::new(AtomicBool::new(false));
    let flood = here.flood(&stop, |number| ("login", format!("nobody-{number}")));
    tokio::time::sleep(Duration::from_secs(2)).await;
    // A user who has logged in from this address before has a limit apart from the flood.
    let (status, told) = here.auth("login", "regular", PASSWORD).await;
    assert_eq!(status, 200, "{told}");
    // A user who has not waits as long as each refusal says, and a few times at most.
    let mut refusals = 0;
    loop {
        let (status, told) = here.auth("login", "victim", PASSWORD).await;
        if status == 200 {
            break;
        }
        refusals += 1;
        assert!(matches!(status, 429 | 503) && refusals <= 30, "{status} {told}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    stop.store(true, Ordering::SeqCst);
    flood.join_all().await;
}

#[test]
fn a_password_of_blanks_is_refused() {
    use std::io::Write as _;
    let folder = Folder::new();
    let mut command = stoa(folder.path());
    command.args(["user", "add", "ann"]).stdin(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&[0; 8]).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("not only blanks or control characters"), "{told}");
    assert!(run(stoa(folder.path()).args(["user", "list"])).1.contains("there are no users"));
}
