//! Forms with files, good and bad.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use contract::{MemoryParts, PartHead, PartSource, Upload};
use fault::{Fault, Kind};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::fixture::{COMPLAINT, Fixture, on_sqlite};

fn parts() -> MemoryParts {
    MemoryParts::new()
}

pub(crate) fn uploads_are_whole_or_nothing() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let text = COMPLAINT.as_bytes();
        let program = b"\x7fELF\x02\x01\x01\0\0\0\0\0".as_slice();
        let cut = || Fault::new(Kind::Cancelled, "body_cut_off", "the body was cut off");
        let rows: [(MemoryParts, &str, &str); 7] = [
            (parts(), "INVALID_INPUT", "file"),
            (parts().file("document", "a.txt", None, [text]), "INVALID_INPUT", "document"),
            (parts().file("file", "", None, [text]), "INVALID_INPUT", "name"),
            (parts().file("file", "a.txt", None, []), "INVALID_INPUT", "empty"),
            (parts().file("file", "a.exe", None, [program]), "UNSUPPORTED_FILE_TYPE", "a.exe"),
            (
                parts().field("metadata", "{\"tags\": 5}").file("file", "a.txt", None, [text]),
                "INVALID_INPUT",
                "tags",
            ),
            (
                parts().file("file", "a.txt", None, [text]).file("file", "b.pdf", None, [text]),
                "UNSUPPORTED_FILE_TYPE",
                "b.pdf",
            ),
        ];
        for (parts, code, named) in rows {
            fixture.clock.advance(std::time::Duration::from_secs(60));
            let (_, error) = user.upload(parts).await.unwrap_err();
            assert_eq!(error["error"]["code"], code, "{error}");
            assert!(error["error"].to_string().contains(named), "{error}");
        }
        let broken = parts().file("file", "a.txt", None, [text]).ending_with(cut());
        user.upload(broken).await.unwrap_err();
        let (status, _) = fixture.anonymous().upload(parts()).await.unwrap_err();
        assert_eq!(status, 401);
        assert_eq!(user.ok("arkiver_list_files", json!({})).await["total"], 0);
        let both = parts()
            .file("file", "a.txt", None, [&text[..9], &text[9..]])
            .file("file", "b.txt", None, [text])
            .field("metadata", "{\"caseId\": \"New\", \"tags\": [\"t\"]}");
        let reply = user.upload(both).await.unwrap();
        assert_eq!((&reply["fileName"], &reply["caseId"]), (&json!("a.txt"), &json!("New")));
        assert_eq!(reply["files"].as_array().map(Vec::len), Some(2));
        assert_eq!(reply["files"][0]["fileId"], reply["fileId"]);
        assert_eq!(reply["mimeType"], "text/plain");
        assert_eq!(reply["fileSize"].as_u64().unwrap(), text.len() as u64);
        // Some browsers send the field as a file with a content type.
        let blob = b"{\"tags\": [\"from a blob\"]}".as_slice();
        let typed = parts().file("metadata", "blob", Some("application/json"), [blob]);
        let reply = user.upload(typed.file("file", "c.txt", None, [text])).await.unwrap();
        assert_eq!(reply["tags"], json!(["from a blob"]));
        let listed = user.ok("arkiver_list_files", json!({ "caseId": "New", "limit": 1 })).await;
        assert_eq!((&listed["total"], &listed["pagination"]["hasMore"]), (&json!(2), &json!(true)));
        too_many(&fixture).await;
        fixture.close().await;
    });
}

/// The eleventh upload within a minute is refused with a time to wait.
async fn too_many(fixture: &Fixture) {
    let user = fixture.user("eager").await;
    let mut refused: Option<Value> = None;
    for at in 0..11 {
        let name = format!("{at}.txt");
        let sent = user.upload(parts().file("file", &name, None, [b"words".as_slice()])).await;
        match sent {
            Ok(_) => assert!(at < 10, "the eleventh was taken"),
            Err((status, error)) => {
                assert_eq!((at, status), (10, 429), "{error}");
                refused = Some(error);
            }
        }
    }
    let error = refused.unwrap();
    assert_eq!(error["error"]["code"], "RATE_LIMIT_EXCEEDED");
    assert!(error["error"]["details"]["retryAfterSeconds"].as_u64().unwrap() > 0, "{error}");
    // Eleven files in one form always exceed the limit, so the form is invalid instead.
    let user = fixture.user("together").await;
    let many = (0..11).fold(parts(), |parts, at| {
        parts.file("file", &format!("{at}.txt"), None, [b"words".as_slice()])
    });
    let (status, error) = user.upload(many).await.unwrap_err();
    assert_eq!((status, &error["error"]["code"]), (400, &json!("INVALID_INPUT")), "{error}");
}

pub(crate) fn uploads_report_their_progress() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let upload = |parts| {
            Upload::new(parts).with_id(Some("up-1".to_owned())).with_announced_bytes(Some(500))
        };
        let good = parts().file("file", "a.txt", None, [COMPLAINT.as_bytes()]);
        let reply = ann.upload_as(upload(good)).await.unwrap();
        let progress = ann.ok("arkiver_upload_progress", json!({ "uploadId": "up-1" })).await;
        assert_eq!((&progress["done"], &progress["totalBytes"]), (&json!(true), &json!(500)));
        assert_eq!(progress["files"], json!([reply["fileId"]]));
        assert_eq!(progress["receivedBytes"].as_u64().unwrap(), COMPLAINT.len() as u64);
        // The upload of another user does not exist, and a failed upload is forgotten.
        let asked = json!({ "uploadId": "up-1" });
        assert_eq!(bob.refused("arkiver_upload_progress", asked).await.0, "INVALID_INPUT");
        bob.upload_as(upload(parts())).await.unwrap_err();
        let asked = json!({ "uploadId": "up-1" });
        assert_eq!(bob.refused("arkiver_upload_progress", asked).await.0, "INVALID_INPUT");
        fixture.close().await;
    });
}

/// A form whose file arrives only after `go` is sent.
struct DelayedParts {
    parts: MemoryParts,
    asked: Option<oneshot::Sender<()>>,
    go: oneshot::Receiver<()>,
    is_open: bool,
}

impl PartSource for DelayedParts {
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Fault>> {
        self.parts.poll_head(context)
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        if let Some(asked) = self.asked.take() {
            asked.send(()).unwrap();
        }
        if !self.is_open {
            ready!(Pin::new(&mut self.go).poll(context)).unwrap();
            self.is_open = true;
        }
        self.parts.poll_chunk(context)
    }
}

pub(crate) fn an_upload_ends_with_its_session() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let ((asked, reached), (let_go, go)) = (oneshot::channel(), oneshot::channel());
        let parts = parts().file("file", "a.txt", None, [COMPLAINT.as_bytes()]);
        let held = DelayedParts { parts, asked: Some(asked), go, is_open: false };
        let ended = async {
            reached.await.unwrap();
            user.ok("auth", json!({ "action": "logout" })).await;
            let_go.send(()).unwrap();
        };
        let (sent, ()) = tokio::join!(user.upload_as(Upload::new(held)), ended);
        let (status, error) = sent.unwrap_err();
        assert_eq!((status, &error["error"]["code"]), (401, &json!("AUTHENTICATION_FAILED")));
        fixture.close().await;
    });
}
