//! PDF files that are made to take long: reading them is linear in their size, and another user's
//! file is processed meanwhile.

use std::time::Duration;

use serde_json::{Value, json};

use crate::archive::Person;
use crate::process::{Folder, Server};

/// Both files and the other user's one are processed within this time by a debug build. With a
/// search to the end of the file at each object, each of the two took many minutes.
const ALL_MAX: Duration = Duration::from_mins(4);

/// Streams without an end, each of which claims 100 MB.
fn endless_streams() -> Vec<u8> {
    let objects = (1..=50_000)
        .map(|at| format!("{at} 0 obj<</Type/ObjStm/N 9/First 9/Length 99999999>>stream\nxx\n"));
    format!("%PDF-1.7\n{}", objects.collect::<String>()).into_bytes()
}

/// Trailers that do not end.
fn many_trailers() -> Vec<u8> {
    format!("%PDF-1.7\n{}", "trailer<</A[[[[[[[[[[\n".repeat(400_000)).into_bytes()
}

async fn processed(user: &Person<'_>, name: &str, bytes: &[u8]) -> Value {
    let (status, uploaded) = user.upload(name, None, bytes).await;
    assert_eq!(status, 200, "{uploaded}");
    let file = uploaded["fileId"].as_str().unwrap();
    user.processed(file, json!({ "extractionMode": "standard" })).await
}

#[tokio::test]
async fn crafted_pdfs_do_not_keep_the_file_of_another_user_waiting() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let mallory = Person::register(&server, "mallory").await;
    let victim = Person::register(&server, "victim").await;
    let (streams, trailers) = (endless_streams(), many_trailers());
    let all = async {
        tokio::join!(
            processed(&mallory, "streams.pdf", &streams),
            processed(&mallory, "trailers.pdf", &trailers),
            processed(&victim, "note.txt", b"One line of text."),
        )
    };
    let (streams, trailers, note) = tokio::time::timeout(ALL_MAX, all).await.unwrap();
    assert_eq!(note["status"], "completed", "{note}");
    for job in [streams, trailers] {
        assert!(["completed", "failed"].contains(&job["status"].as_str().unwrap()), "{job}");
    }
}
