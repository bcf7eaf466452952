//! Documents that are made to cost the server memory: a child process analyses their text, so the
//! server process does not grow.

use serde_json::{Value, json};

use crate::archive::Person;
use crate::process::{Folder, Server};

/// The most memory that a process ever had, in megabytes.
fn peak_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// A text of short citations alone once took 240 times its size in the server.
#[tokio::test]
async fn a_text_of_citations_costs_the_server_little_memory() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let mallory = Person::register(&server, "mallory").await;
    let before = peak_mb(server.pid);
    let file = mallory.file("id.txt", None, &"Id. ".repeat(2 << 20)).await;
    let settings = json!({ "extractionMode": "standard" });
    let done = mallory.processed(&file, settings).await;
    assert_eq!(done["status"], "completed", "{done}");
    let problems = done["result"]["metadata"]["problems"].as_array().unwrap();
    let is_cut = |it: &Value| it.as_str().unwrap().contains("only the first 200000 citations");
    assert!(problems.iter().any(is_cut), "{done}");
    let grown = peak_mb(server.pid) - before;
    assert!(grown < 400, "8 MB of text took {grown} MB in the server");
}
