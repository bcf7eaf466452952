//! What could not be read, or was read badly, is shown with the job, the file and the search.

use archive_extract::testing::pdf::{self, HELVETICA};
use jobs::NewJob;
use serde_json::{Value, json};

use crate::fixture::{Fixture, User, on_sqlite};

pub(crate) fn problems_of_pages_are_shown_everywhere() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let mut redacted = pdf::lines("Statement of Lutsenko");
        redacted.extend(b"70 715 200 20 re f");
        let pages = [redacted, Vec::new(), pdf::lines("Clean words"), Vec::new()];
        let bytes = pdf::pages(&pages, HELVETICA, true);
        let file = user.file("redacted.pdf", &bytes, json!({})).await;
        let settings = json!({ "extractionMode": "standard", "enableOCR": false });
        let reply = user.processed(&file, settings).await;
        let problems = &reply["result"]["metadata"]["problems"];
        let hidden = problems[0].as_str().unwrap();
        assert!(hidden.starts_with("page 1: text lies under a black box"), "{problems}");
        let blank = problems[1].as_str().unwrap();
        assert!(blank.starts_with("pages 2, 4: the page is blank"), "{problems}");

        let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(status["file"]["problems"], *problems);
        let (list, text) = user.call("arkiver_list_files", json!({})).await.unwrap();
        assert_eq!(list["files"][0]["problems"], *problems);
        assert!(text.contains("problem: page 1: text lies"), "{text}");
        assert!(text.contains("(and 1 more in problems)"), "{text}");

        let ask = json!({ "query": "Lutsenko" });
        let (found, text) = user.call("arkiver_search_documents", ask).await.unwrap();
        let problem = &found["hits"][0]["problems"][0];
        assert!(problem.as_str().unwrap().starts_with("text lies under"), "{found}");
        assert!(text.contains("problem: text lies under"), "{text}");
        let found = user.ok("arkiver_search_documents", json!({ "query": "clean" })).await;
        assert_eq!(found["total"], 1);
        assert!(found["hits"][0].get("problems").is_none(), "{found}");
        fixture.close().await;
    });
}

/// Opens with `secret`; its page says `Readable by all`.
const LOCKED: &[u8] =
    include_bytes!("../../../archive-extract/tests/it/encrypted/aes-256-r6-password.pdf");

async fn processed(user: &User<'_>, file: &str, password: Option<&str>) -> Value {
    let settings = json!({ "extractionMode": "standard" });
    let mut args = json!({ "fileId": file, "processingSettings": settings });
    if let Some(password) = password {
        args["password"] = json!(password);
    }
    let started = user.ok("arkiver_process_file", args).await;
    user.waited(started["jobId"].as_str().unwrap()).await
}

pub(crate) fn a_password_opens_a_file_and_is_kept_nowhere() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("locked.pdf", LOCKED, json!({})).await;
        for (password, reason, words) in [
            (None, "password_required", "process the file again with password"),
            (Some("sEcret-guess"), "wrong_password", "the password does not open the PDF"),
        ] {
            let reply = processed(&user, &file, password).await;
            assert_eq!(reply["error"]["code"], "PROCESSING_FAILED", "{reply}");
            assert_eq!(reply["error"]["details"]["reason"], reason, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(words), "{reply}");
            assert!(!reply.to_string().contains("sEcret-guess"));
        }
        let reply = processed(&user, &file, Some("secret")).await;
        assert_eq!(reply["status"], "completed", "{reply}");
        let found = user.ok("arkiver_search_documents", json!({ "query": "readable" })).await;
        assert_eq!(found["total"], 1);
        let id = reply["jobId"].as_str().unwrap();
        let payload = format!("{:?}", fixture.jobs.get(id).await.unwrap());
        assert!(payload.contains("hasPassword") && !payload.contains("secret"), "{payload}");

        // Added and processed in one call.
        let content = base64(LOCKED);
        let args = json!({ "filename": "again.pdf", "content": content, "encoding": "base64",
            "process": true, "password": "owner" });
        let added = user.ok("arkiver_add_file", args).await;
        let reply = user.waited(added["jobId"].as_str().unwrap()).await;
        assert_eq!(reply["status"], "completed", "{reply}");
        let args = json!({ "filename": "again.pdf", "password": "owner", "process": true });
        let (code, message) = user.refused("arkiver_add_file", args).await;
        assert!(code == "INVALID_INPUT" && message.contains("not stored"), "{message}");
        let long = json!({ "fileId": file, "password": "q".repeat(128),
            "processingSettings": { "extractionMode": "fast" } });
        let (code, message) = user.refused("arkiver_process_file", long).await;
        assert!(code == "INVALID_INPUT" && !message.contains("qqq"), "{message}");
        fixture.close().await;
    });
}

/// A job that a restart has cut off from its password asks for it again.
pub(crate) fn a_password_is_asked_for_again_after_a_restart() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("locked.pdf", LOCKED, json!({})).await;
        let payload = json!({ "fileId": file, "hasPassword": true,
            "settings": { "extractionMode": "standard" } });
        let job = NewJob::new("archive.process", &payload).unwrap().owner("x");
        let id = fixture.jobs.push(job).await.unwrap().job.id;
        let reply = user.waited(&id).await;
        assert_eq!(reply["error"]["details"]["reason"], "password_lost", "{reply}");
        fixture.close().await;
    });
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
