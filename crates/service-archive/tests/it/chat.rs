//! The calls that a user makes from a chat: a file is added in every way, its pages are read,
//! insights are corrected, deleted and exported.

use contract::{MemoryParts, Upload};
use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, User, on_sqlite, result_of};
use crate::flow::standard;

/// A call of the user who started the process.
async fn local(user: &User<'_>, tool: &str, args: Value) -> Result<(Value, String), (u16, Value)> {
    let mut call = user.call_of(args);
    call.meta.is_local = true;
    result_of(user.fixture.pipeline.call(user.tool(tool), call).await)
}

pub(crate) fn a_file_is_added_by_path_by_the_local_caller_only() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let path = fixture.folder.path().join("complaint.txt");
        std::fs::write(&path, COMPLAINT).unwrap();
        let path = path.to_str().unwrap();
        let (code, error) = user.refused("arkiver_add_file", json!({ "path": path })).await;
        assert_eq!(code, "INVALID_INPUT");
        assert!(error.contains("stdio") && !error.contains(path), "{error}");
        let args = json!({ "path": path, "caseId": "Roe", "tags": ["t"], "process": true });
        let (added, text) = local(&user, "arkiver_add_file", args).await.unwrap();
        assert_eq!(
            (&added["status"], &added["fileName"]),
            (&json!("uploaded"), &json!("complaint.txt"))
        );
        assert_eq!((&added["caseId"], &added["tags"]), (&json!("Roe"), &json!(["t"])));
        assert!(text.contains("next: arkiver_job_status"), "{text}");
        let job = user.waited(added["jobId"].as_str().unwrap()).await;
        assert_eq!(job["status"], "completed", "{job}");
        // The limit of ten a minute is for clients over HTTP.
        for _ in 0..11 {
            local(&user, "arkiver_add_file", json!({ "path": path })).await.unwrap();
        }
        let rows = [
            (json!({ "path": "/dev/zero" }), "INVALID_INPUT", "regular"),
            (json!({ "path": fixture.folder.path() }), "INVALID_INPUT", "folder"),
            (json!({ "path": "/none/at all" }), "INVALID_INPUT", "no file"),
            (json!({ "path": path, "content": "x" }), "INVALID_INPUT", "content"),
            (json!({ "path": path, "uploadId": "x" }), "INVALID_INPUT", "uploadId"),
            (json!({ "path": path, "filename": "a.pdf" }), "UNSUPPORTED_FILE_TYPE", "a.pdf"),
            (json!({ "filename": "a.txt" }), "INVALID_INPUT", "path"),
            (json!({}), "INVALID_INPUT", "path"),
        ];
        for (args, code, word) in rows {
            let (_, error) = local(&user, "arkiver_add_file", args.clone()).await.unwrap_err();
            assert_eq!(error["error"]["code"], code, "{args} {error}");
            assert!(error["error"].to_string().contains(word), "{args} {error}");
        }
        fixture.close().await;
    });
}

pub(crate) fn a_file_is_added_in_pieces() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let whole = json!({ "filename": "a.txt", "content": COMPLAINT });
        assert_eq!(ann.ok("arkiver_add_file", whole).await["status"], "uploaded");
        let (first, second) = COMPLAINT.split_at(100);
        let args = json!({ "filename": "b.txt", "content": first, "last": false, "process": true });
        let open = ann.ok("arkiver_add_file", args).await;
        assert_eq!((&open["status"], &open["receivedBytes"]), (&json!("open"), &json!(100)));
        let id = open["uploadId"].as_str().unwrap().to_owned();
        let piece = |content: &str, offset: u64, last: bool| json!({ "uploadId": id, "content": content, "offset": offset, "last": last });
        // A repeated call is the same call; another piece at its place is not.
        assert_eq!(ann.ok("arkiver_add_file", piece(first, 0, false)).await["receivedBytes"], 100);
        for (args, word) in [(piece("other", 0, false), "100"), (piece(second, 99, false), "100")] {
            let (code, error) = ann.refused("arkiver_add_file", args).await;
            assert!(code == "INVALID_INPUT" && error.contains(word), "{error}");
        }
        let state = ann.ok("arkiver_add_file", json!({ "uploadId": id })).await;
        assert_eq!((&state["status"], &state["receivedBytes"]), (&json!("open"), &json!(100)));
        // The upload of another user does not exist.
        let (code, _) = bob.refused("arkiver_add_file", json!({ "uploadId": id })).await;
        assert_eq!(code, "INVALID_INPUT");
        let added = ann.ok("arkiver_add_file", piece(second, 100, true)).await;
        assert_eq!(added["fileSize"].as_u64().unwrap(), COMPLAINT.len() as u64);
        assert!(added["jobId"].is_string(), "{added}");
        let again = ann.ok("arkiver_add_file", piece(second, 100, true)).await;
        assert_eq!(again["fileId"], added["fileId"]);
        let (bytes, _, _) =
            ann.download("arkiver_file_content", added["fileId"].as_str().unwrap()).await.unwrap();
        assert_eq!(bytes, COMPLAINT.as_bytes());
        // An upload that is not continued expires.
        let args = json!({ "filename": "c.txt", "content": first, "last": false });
        let open = ann.ok("arkiver_add_file", args).await;
        fixture.clock.advance(std::time::Duration::from_secs(3601));
        let (code, _) =
            ann.refused("arkiver_add_file", json!({ "uploadId": open["uploadId"] })).await;
        assert_eq!(code, "INVALID_INPUT");
        fixture.close().await;
    });
}

pub(crate) fn an_upload_link_works_once_for_its_file() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let args = json!({ "filename": "a.txt", "caseId": "Roe", "process": true });
        let open = user.ok("arkiver_add_file", args).await;
        let url = open["uploadUrl"].as_str().unwrap();
        let (id, token) = url
            .strip_prefix("http://archive.test/api/arkiver/uploads/")
            .unwrap()
            .split_once('/')
            .unwrap();
        assert_eq!(open["uploadId"], id);
        let send = async |id: &str, token: &str, parts: MemoryParts| {
            let path = [("uploadId", id), ("token", token)];
            let path = path.map(|(name, text)| (name.to_owned(), text.to_owned()));
            let upload = Upload::new(parts).with_path(path.into());
            let call = fixture.anonymous().call_of(json!({}));
            result_of(fixture.upload("arkiver_upload_by_link", call, upload).await).map(|it| it.0)
        };
        let file = || MemoryParts::new().file("file", "", None, [COMPLAINT.as_bytes()]);
        let refused = async |id: &str, token: &str, parts: MemoryParts, expected: (u16, &str)| {
            let (status, error) = send(id, token, parts).await.unwrap_err();
            let code = error["error"]["code"].as_str().unwrap();
            assert_eq!((status, code), expected, "{error}");
        };
        refused(id, "made-up", file(), (401, "AUTHENTICATION_FAILED")).await;
        let other = user.ok("arkiver_add_file", json!({ "filename": "b.txt" })).await;
        let other = other["uploadId"].as_str().unwrap().to_owned();
        refused(&other, token, file(), (401, "AUTHENTICATION_FAILED")).await;
        refused(id, token, MemoryParts::new(), (400, "INVALID_INPUT")).await;
        let two = file().file("file", "", None, [b"x".as_slice()]);
        refused(id, token, two, (400, "INVALID_INPUT")).await;
        let sent = send(id, token, file()).await.unwrap();
        assert_eq!((&sent["fileName"], &sent["caseId"]), (&json!("a.txt"), &json!("Roe")));
        refused(id, token, file(), (404, "INVALID_INPUT")).await;
        let state = user.ok("arkiver_add_file", json!({ "uploadId": id })).await;
        assert_eq!((&state["fileId"], &state["status"]), (&sent["fileId"], &json!("uploaded")));
        let job = user.waited(sent["jobId"].as_str().unwrap()).await;
        assert_eq!(job["status"], "completed");
        // A link ends with its time and with the session that asked for it.
        let late = user.ok("arkiver_add_file", json!({ "filename": "c.txt" })).await;
        fixture.clock.advance(std::time::Duration::from_secs(901));
        let late = late["uploadUrl"].as_str().unwrap().to_owned();
        let (id, token) = late
            .strip_prefix("http://archive.test/api/arkiver/uploads/")
            .unwrap()
            .split_once('/')
            .unwrap();
        refused(id, token, file(), (404, "INVALID_INPUT")).await;
        user.ok("auth", json!({ "action": "logout" })).await;
        refused(id, token, file(), (401, "AUTHENTICATION_FAILED")).await;
        fixture.close().await;
    });
}

pub(crate) fn pages_are_read_in_parts_that_join_to_the_text() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let text = "Суд решил: \u{1f600} да.\n".repeat(8_000);
        let file = user.file("long.txt", text.as_bytes(), json!({})).await;
        let (code, error) = user.refused("arkiver_read_page", json!({ "fileId": file })).await;
        assert!(code == "INVALID_INPUT" && error.contains("arkiver_process_file"), "{error}");
        user.processed(&file, standard()).await;
        let export = user.export(&file).await;
        let (mut args, mut read) = (json!({ "fileId": file, "lastPage": 1_000 }), String::new());
        loop {
            let (part, text) = user.call("arkiver_read_page", args).await.unwrap();
            for page in part["pages"].as_array().unwrap() {
                let words = page["text"].as_str().unwrap();
                let span = page["end"].as_u64().unwrap() - page["start"].as_u64().unwrap();
                assert_eq!(span, words.chars().count() as u64);
                read.push_str(words);
            }
            assert!(part.to_string().len() < 32_000);
            if part["next"].is_null() {
                break;
            }
            let next = text.lines().last().unwrap().strip_prefix("next: arkiver_read_page ");
            args = next.unwrap().parse().unwrap();
            assert_eq!(part["next"], args);
        }
        let pages = export["pages"].as_array().unwrap();
        let whole: String = pages.iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert_eq!(read, whole);
        // The tool exports the same as the address, in parts.
        let (mut args, mut parts) = (json!({ "fileId": file }), (String::new(), Vec::new()));
        loop {
            let part = user.ok("arkiver_export", args).await;
            for page in part["pages"].as_array().into_iter().flatten() {
                parts.0.push_str(page["text"].as_str().unwrap());
            }
            parts.1.extend(part["insights"].as_array().into_iter().flatten().cloned());
            if part["next"].is_null() {
                break;
            }
            args = json!({ "fileId": file, "cursor": part["next"] });
        }
        assert_eq!((parts.0, Value::from(parts.1)), (whole, export["insights"].clone()));
        for (args, word) in [
            (json!({ "fileId": file, "page": 1_000_000 }), "page"),
            (json!({ "fileId": file, "page": 2, "lastPage": 1 }), "age"),
            (json!({ "fileId": file, "page": 0 }), "page"),
        ] {
            let (code, error) = user.refused("arkiver_read_page", args).await;
            assert!(code == "INVALID_INPUT" && error.contains(word), "{error}");
        }
        let bad = json!({ "fileId": file, "cursor": "page.one" });
        assert_eq!(user.refused("arkiver_export", bad).await.0, "INVALID_INPUT");
        let nobody = fixture.user("bob").await;
        for tool in ["arkiver_read_page", "arkiver_export"] {
            let (code, _) = nobody.refused(tool, json!({ "fileId": file })).await;
            assert_eq!(code, "AUTHORIZATION_FAILED");
        }
        fixture.close().await;
    });
}

async fn titles(user: &User<'_>, filters: Value) -> Vec<String> {
    let args = json!({ "filters": filters, "pagination": { "limit": 100 } });
    let found = user.ok("arkiver_query_insights", args).await;
    let list = found["insights"].as_array().unwrap();
    list.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn a_finding_is_corrected_rejected_and_deleted() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let file = ann.file("a.txt", COMPLAINT.as_bytes(), json!({ "caseId": "Roe" })).await;
        let job = ann.processed(&file, standard()).await;
        let insights = job["result"]["insights"].as_array().unwrap().clone();
        let id = |at: usize| insights[at]["insightId"].clone();
        let title = |at: usize| insights[at]["title"].as_str().unwrap().to_owned();
        let change = json!({ "insightId": id(0), "title": "A zanzibar title", "confidence": 1.0 });
        let changed = ann.ok("arkiver_update_insight", change.clone()).await;
        assert_eq!(changed["insight"]["correctedBy"], "ann");
        assert!(changed["insight"]["correctedAt"].is_string(), "{changed}");
        assert_eq!(changed["insight"]["sources"], insights[0]["sources"]);
        assert_eq!(titles(&ann, json!({ "keywords": "zanzibar" })).await, ["A zanzibar title"]);
        let reject = json!({ "insightId": id(1), "rejected": true });
        assert_eq!(ann.ok("arkiver_update_insight", reject).await["insight"]["rejected"], true);
        assert!(!titles(&ann, json!({})).await.contains(&title(1)));
        assert_eq!(titles(&ann, json!({ "rejected": true })).await, [title(1)]);
        let none = json!({ "rejected": true, "keywords": "zanzibar" });
        assert!(titles(&ann, none).await.is_empty());
        // Processing the file again undoes neither.
        ann.processed(&file, standard()).await;
        let after = titles(&ann, json!({})).await;
        assert!(!after.contains(&title(0)) && !after.contains(&title(1)), "{after:?}");
        assert!(after.contains(&"A zanzibar title".to_owned()), "{after:?}");
        assert_eq!(after.len(), insights.len() - 1);
        // A user who may read the case may not change it; a stranger sees nothing.
        assert_eq!(bob.refused("arkiver_update_insight", change.clone()).await.0, "INVALID_INPUT");
        let share = json!({ "caseId": "Roe", "username": "bob", "access": "read" });
        ann.ok("arkiver_share_case", share).await;
        assert_eq!(bob.refused("arkiver_update_insight", change).await.0, "AUTHORIZATION_FAILED");
        let delete = json!({ "insightId": id(0) });
        let refused = bob.refused("arkiver_delete_insight", delete.clone()).await;
        assert_eq!(refused.0, "AUTHORIZATION_FAILED");
        let test = json!({ "testType": "fact_check", "llmSource": "local", "insightIds": [id(0)] });
        let test = ann.ok("arkiver_integrity_test", test).await["testId"].clone();
        ann.ok("arkiver_delete_insight", delete.clone()).await;
        let (code, _) = ann.refused("arkiver_job_status", json!({ "jobId": test })).await;
        assert_eq!(code, "JOB_NOT_FOUND");
        assert!(titles(&ann, json!({ "keywords": "zanzibar" })).await.is_empty());
        assert_eq!(ann.refused("arkiver_delete_insight", delete).await.0, "INVALID_INPUT");
        let back = json!({ "insightId": id(1), "rejected": false });
        ann.ok("arkiver_update_insight", back).await;
        assert!(titles(&ann, json!({})).await.contains(&title(1)));
        let nothing = json!({ "insightId": id(1) });
        assert_eq!(ann.refused("arkiver_update_insight", nothing).await.0, "INVALID_INPUT");
        // Deleting the file deletes what was corrected as well.
        ann.ok("arkiver_delete_file", json!({ "fileId": file })).await;
        assert!(titles(&ann, json!({})).await.is_empty());
        fixture.close().await;
    });
}

pub(crate) fn lists_and_results_have_pages() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let rows = [("Brief one.txt", "x"), ("ЖАЛОБА.txt", "y"), ("50%_brief.txt", "y")];
        for (name, tag) in rows {
            user.file(name, name.as_bytes(), json!({ "tags": [tag, "all"] })).await;
        }
        let names = async |filter: Value| {
            let listed = user.ok("arkiver_list_files", filter).await;
            let files = listed["files"].as_array().unwrap().clone();
            let name = |it: &Value| it["fileName"].as_str().unwrap().to_owned();
            files.iter().map(name).collect::<Vec<String>>().join(", ")
        };
        assert_eq!(names(json!({ "name": "BRIEF" })).await, "50%_brief.txt, Brief one.txt");
        assert_eq!(names(json!({ "name": "жалоба" })).await, "ЖАЛОБА.txt");
        assert_eq!(names(json!({ "name": "50%_" })).await, "50%_brief.txt");
        assert_eq!(names(json!({ "name": "0__" })).await, "");
        assert_eq!(names(json!({ "tag": "y" })).await, "50%_brief.txt, ЖАЛОБА.txt");
        assert_eq!(names(json!({ "tag": "y", "name": "brief" })).await, "50%_brief.txt");
        assert_eq!(names(json!({ "tag": "al" })).await, "");
        let file = user.file("c.txt", COMPLAINT.as_bytes(), json!({})).await;
        let job = user.processed(&file, standard()).await;
        let all = job["result"]["insights"].as_array().unwrap().clone();
        let mut read = Vec::new();
        for offset in (0..all.len()).step_by(3) {
            let args = json!({ "jobId": job["jobId"], "offset": offset, "limit": 3 });
            let (part, text) = user.call("arkiver_job_status", args).await.unwrap();
            let result = &part["result"];
            read.extend(result["insights"].as_array().unwrap().clone());
            let has_more = read.len() < all.len();
            assert_eq!(result["pagination"]["hasMore"], has_more);
            assert_eq!(text.contains("next: arkiver_job_status"), has_more, "{text}");
        }
        assert_eq!(read, all);
        let past = json!({ "jobId": job["jobId"], "offset": 1_000 });
        assert_eq!(user.ok("arkiver_job_status", past).await["result"]["insights"], json!([]));
        fixture.close().await;
    });
}
