//! Refused and failed calls, and their errors.

use std::path::Path;
use std::time::Duration;

use contract::MemoryParts;
use jobs::{JobState, NewJob};
use serde_json::{Value, json};
use testkit::TempFolder;

use crate::fixture::{COMPLAINT, Fixture, User, block_on, on_sqlite, open};

pub(crate) fn an_unreadable_file_reports_the_reason() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let damaged = b"%PDF-1.7\nthis is not what it says".as_slice();
        let picture = archive_extract::testing::tiff(3);
        let files: [(&str, &[u8], Value, &str); 2] = [
            ("damaged.pdf", damaged, json!({ "extractionMode": "standard" }), ""),
            (
                "scan.tiff",
                &picture,
                json!({ "extractionMode": "standard", "enableOCR": false }),
                "enableOCR",
            ),
        ];
        for (name, bytes, settings, words) in files {
            let file = user.file(name, bytes, json!({})).await;
            let reply = user.processed(&file, settings).await;
            assert_eq!(reply["status"], "failed", "{reply}");
            assert_eq!(reply["error"]["code"], "PROCESSING_FAILED");
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.contains("could not be read") && message.contains(words), "{message}");
            assert!(reply.get("result").is_none());
            let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
            assert_eq!(status["file"]["status"], "failed");
            assert_eq!(status["file"]["error"], json!(message));
        }
        assert!(fixture.scratch_is_empty());
        fixture.close().await;
    });
}

pub(crate) fn a_running_job_is_cancelled() {
    on_sqlite(async |db| {
        let fixture = Fixture::with(db, "hang", Vec::new()).await;
        let user = fixture.user("ann").await;
        let file = user.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
        let settings = json!({ "extractionMode": "fast" });
        let args = json!({ "fileId": file, "processingSettings": settings });
        let job = user.ok("arkiver_process_file", args.clone()).await;
        let id = job["jobId"].as_str().unwrap();
        // A second call with the same settings gets the same job; other settings are refused.
        assert_eq!(user.ok("arkiver_process_file", args).await["jobId"], json!(id));
        let other = json!({ "fileId": file, "processingSettings": { "extractionMode": "deep" } });
        let (code, message) = user.refused("arkiver_process_file", other).await;
        assert!(code == "INVALID_INPUT" && message.contains(id), "{message}");
        let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(status["file"]["status"], "processing");
        while fixture.jobs.get(id).await.unwrap().state != JobState::Running {
            let seen = fixture.jobs.get(id).await.unwrap().revision;
            fixture.jobs.wait_change(id, seen, Duration::from_secs(10)).await.unwrap();
        }
        let reply = user.ok("arkiver_job_status", json!({ "jobId": id })).await;
        assert_eq!(reply["status"], "processing");
        user.ok("arkiver_cancel_job", json!({ "jobId": id })).await;
        let reply = user.waited(id).await;
        assert_eq!(reply["status"], "failed");
        assert_eq!(reply["error"]["details"]["reason"], "cancelled");
        let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(status["file"]["status"], "uploaded");
        let (code, _) = user.refused("arkiver_cancel_job", json!({ "jobId": id })).await;
        assert_eq!(code, "JOB_ALREADY_COMPLETED");
        fixture.close().await;
    });
}

pub(crate) fn missing_and_foreign_files_and_jobs_are_refused() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let file = ann.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
        let settings = json!({ "extractionMode": "fast" });
        let job = ann.processed(&file, settings.clone()).await["jobId"].clone();
        let insight = json!({ "title": "t", "content": "c", "sourceLLM": "m" });
        let unknown = "00000000-0000-7000-8000-000000000000";
        for (tool, file_args) in [
            ("arkiver_process_file", json!({ "processingSettings": settings })),
            ("arkiver_store_insight", json!({ "insight": insight })),
            ("arkiver_file_status", json!({})),
            ("arkiver_delete_file", json!({})),
            ("arkiver_integrity_test", json!({ "testType": "bias", "llmSource": "local" })),
        ] {
            for (id, code) in [
                (file.as_str(), "AUTHORIZATION_FAILED"),
                (unknown, "FILE_NOT_FOUND"),
                ("../../etc/passwd", "FILE_NOT_FOUND"),
            ] {
                let mut args = file_args.clone();
                args["fileId"] = json!(id);
                assert_eq!(bob.refused(tool, args.clone()).await.0, code, "{tool} {args}");
                let (nobody, _) = fixture.anonymous().refused(tool, args).await;
                assert_eq!(nobody, "AUTHENTICATION_FAILED");
            }
        }
        for tool in ["arkiver_file_content", "arkiver_export_file"] {
            let (status, error) = bob.download(tool, &file).await.unwrap_err();
            assert_eq!((status, &error["error"]["code"]), (403, &json!("AUTHORIZATION_FAILED")));
            assert_eq!(bob.download(tool, unknown).await.unwrap_err().0, 404);
        }
        // Jobs of other services do not exist for the archive.
        let pricing = NewJob::new("pricing.collect", &json!({})).unwrap().owner("x");
        let pricing = fixture.jobs.push(pricing).await.unwrap().job.id;
        for tool in ["arkiver_job_status", "arkiver_cancel_job"] {
            for (id, code) in [
                (job.as_str().unwrap(), "AUTHORIZATION_FAILED"),
                (unknown, "JOB_NOT_FOUND"),
                ("nonsense", "JOB_NOT_FOUND"),
                (&pricing, "JOB_NOT_FOUND"),
            ] {
                let (received, _) = bob.refused(tool, json!({ "jobId": id })).await;
                assert_eq!(received, code, "{tool} {id}");
            }
        }
        let (code, _) = ann.refused("arkiver_cancel_job", json!({ "jobId": job })).await;
        assert_eq!(code, "JOB_ALREADY_COMPLETED");
        let listed = bob.ok("arkiver_list_files", json!({})).await;
        assert_eq!(listed["total"], 0);
        let all = bob.ok("arkiver_query_insights", json!({ "filters": { "fileId": file } })).await;
        assert_eq!(all["total"], 0);
        fixture.close().await;
    });
}

pub(crate) fn invalid_input_names_the_field() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
        let insight = |more: Value| {
            let mut insight = json!({ "title": "t", "content": "c", "sourceLLM": "m" });
            insight.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "fileId": file, "insight": insight })
        };
        let store = "arkiver_store_insight";
        let early = insight(json!({ "quote": "supply contract" }));
        let (code, message) = user.refused(store, early).await;
        assert!(code == "INVALID_INPUT" && message.contains("process it"), "{message}");
        user.processed(&file, json!({ "extractionMode": "standard" })).await;
        let query = "arkiver_query_insights";
        let test = "arkiver_integrity_test";
        let with = |more: Value| {
            let mut args = json!({ "testType": "bias", "llmSource": "local", "fileId": file });
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            args
        };
        let unknown = "00000000-0000-7000-8000-000000000000";
        let rows = [
            (store, insight(json!({ "quote": "never message" })), "insight.quote"),
            (store, insight(json!({ "pageNumber": 2 })), "insight.pageNumber"),
            (store, insight(json!({ "pageNumber": 1e300 })), "insight.pageNumber"),
            (store, insight(json!({ "confidence": 2 })), "insight.confidence"),
            (store, insight(json!({ "title": "t".repeat(501) })), "insight.title"),
            (store, insight(json!({ "caseId": "c".repeat(201) })), "insight.caseId"),
            (
                store,
                insight(json!({ "entities": { "x": "y".repeat(70_000) } })),
                "insight.entities",
            ),
            (query, json!({ "pagination": { "limit": 0.5 } }), "pagination.limit"),
            (query, json!({ "pagination": { "limit": 101 } }), "pagination.limit"),
            (
                query,
                json!({ "filters": { "dateRange": { "start": "x" } } }),
                "filters.dateRange.start",
            ),
            (
                query,
                json!({ "filters": { "dateRange": {
                    "start": "2025-01-02T00:00:00Z", "end": "2025-01-01T00:00:00Z" } } }),
                "filters.dateRange.end",
            ),
            (test, with(json!({ "llmSource": "gpt-9" })), "llmSource"),
            (test, with(json!({ "parameters": { "runs": 9 } })), "parameters.runs"),
            (test, with(json!({ "parameters": { "offset": -1 } })), "parameters.offset"),
            (test, with(json!({ "insightIds": [unknown] })), unknown),
            ("auth", json!({ "action": "login", "username": "ann" }), "password"),
            ("auth", json!({ "action": "register" }), "username"),
            ("auth", json!({ "action": "refresh" }), "refreshToken"),
            ("arkiver_upload_progress", json!({ "uploadId": "none" }), "none"),
        ];
        for (tool, args, named) in rows {
            let (code, message) = user.refused(tool, args.clone()).await;
            assert_eq!(code, "INVALID_INPUT", "{tool} {args} {message}");
            assert!(message.contains(named), "{tool} {args} {message}");
        }
        fixture.close().await;
    });
}

pub(crate) fn a_deleted_file_is_gone() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
        let reply = user.processed(&file, json!({ "extractionMode": "standard" })).await;
        let gone = user.ok("arkiver_delete_file", json!({ "fileId": file })).await;
        assert_eq!(gone["insightsDeleted"], reply["result"]["insightsTotal"]);
        let (code, _) = user.refused("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(code, "FILE_NOT_FOUND");
        let found = user.ok("arkiver_query_insights", json!({})).await;
        assert_eq!(found["total"], 0);
        let blobs = std::fs::read_dir(fixture.folder.path().join("files")).unwrap();
        let left: usize = blobs.map(|it| files_below(&it.unwrap().path())).sum();
        assert_eq!(left, 0, "the content is still on the disk");
        // The job still exists and says that its file was deleted.
        let reply = user.waited(reply["jobId"].as_str().unwrap()).await;
        assert!(reply["message"].as_str().unwrap().contains("deleted"), "{reply}");
        fixture.close().await;
    });
}

fn files_below(path: &Path) -> usize {
    if path.is_file() {
        return 1;
    }
    let entries = std::fs::read_dir(path).unwrap();
    entries.map(|it| files_below(&it.unwrap().path())).sum()
}

pub(crate) fn words_of_a_deleted_file_are_not_on_the_disk() {
    block_on(async {
        let folder = TempFolder::new();
        let db = open(folder.path()).await;
        let fixture = Fixture::new(&db).await;
        let user = fixture.user("ann").await;
        let kept = user.file("kept.txt", COMPLAINT.as_bytes(), json!({})).await;
        user.processed(&kept, json!({ "extractionMode": "standard" })).await;
        let secret = COMPLAINT.replace("ACME", "QUIZZACIOUS").replace("supply", "quizzacious");
        let file = user.file("secret.txt", secret.as_bytes(), json!({})).await;
        user.processed(&file, json!({ "extractionMode": "deep" })).await;
        let insight = json!({ "title": "Quizzacious", "content": "Quizzacious Corporation failed \
            to pay $90,000.", "sourceLLM": "m", "tags": ["quizzacious"] });
        user.ok("arkiver_store_insight", json!({ "fileId": file, "insight": insight })).await;
        let mut tests = Vec::new();
        for test in ["fact_check", "bias", "opinion_drift"] {
            let args = json!({ "testType": test, "fileId": file, "llmSource": "local" });
            let reply = user.ok("arkiver_integrity_test", args).await;
            tests.push(reply["testId"].clone());
        }
        assert!(
            occurs(folder.path(), "quizzacious") && occurs(fixture.folder.path(), "quizzacious")
        );
        user.ok("arkiver_delete_file", json!({ "fileId": file })).await;
        for test in tests {
            let (code, _) = user.refused("arkiver_job_status", json!({ "jobId": test })).await;
            assert_eq!(code, "JOB_NOT_FOUND");
        }
        for gone in [folder.path(), fixture.folder.path()] {
            assert!(!occurs(gone, "quizzacious"), "there are words left in {}", gone.display());
        }
        let found = json!({ "filters": { "keywords": "acme" } });
        let found = user.ok("arkiver_query_insights", found).await;
        assert!(found["total"].as_u64().unwrap() > 0, "what was not deleted is still found");
        fixture.close().await;
        db.close().await;
    });
}

/// Whether any file below the folder contains the word, ignoring case.
fn occurs(folder: &Path, word: &str) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.any(|path| {
        if path.is_dir() {
            return occurs(&path, word);
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(word.len()).any(|it| it.eq_ignore_ascii_case(word.as_bytes()))
    })
}

pub(crate) fn one_owner_leaves_a_slot_for_the_others() {
    on_sqlite(async |db| {
        let fixture = Fixture::with(db, "hang", Vec::new()).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let settings = json!({ "extractionMode": "fast" });
        // The clock does not advance, because the leases of the hanging jobs would expire.
        let send = async |user: &User<'_>, text: String| {
            let parts = MemoryParts::new().file("file", "a.txt", None, [text.as_bytes()]);
            user.upload(parts).await.unwrap()["fileId"].clone()
        };
        let mut jobs = Vec::new();
        for at in 0..6 {
            let file = send(&ann, format!("text {at}")).await;
            let args = json!({ "fileId": file, "processingSettings": settings });
            let job = ann.ok("arkiver_process_file", args).await["jobId"].clone();
            let id = job.as_str().unwrap().to_owned();
            // The first two jobs start at once and hang.
            while at < 2 && fixture.jobs.get(&id).await.unwrap().state != JobState::Running {
                let seen = fixture.jobs.get(&id).await.unwrap().revision;
                fixture.jobs.wait_change(&id, seen, Duration::from_secs(10)).await.unwrap();
            }
            jobs.push(id);
        }
        let file = send(&bob, "another text".to_owned()).await;
        let args = json!({ "fileId": file, "processingSettings": settings });
        let job = bob.ok("arkiver_process_file", args).await["jobId"].clone();
        let job = job.as_str().unwrap();
        // Ann holds two of the three slots and may not take the third.
        while fixture.jobs.get(job).await.unwrap().state != JobState::Running {
            let seen = fixture.jobs.get(job).await.unwrap().revision;
            fixture.jobs.wait_change(job, seen, Duration::from_secs(10)).await.unwrap();
        }
        for id in &jobs[2..] {
            assert_eq!(fixture.jobs.get(id).await.unwrap().state, JobState::Queued);
        }
        fixture.close().await;
    });
}
