//! Registration, login, sessions, and which files and cases a user sees.

use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, PASSWORD, User, on_sqlite};

pub(crate) fn sessions_begin_and_end() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let nobody = fixture.anonymous();
        let register = json!({ "action": "register", "username": "ann", "password": PASSWORD,
            "email": "ann@example.com" });
        let first = nobody.ok("auth", register.clone()).await;
        assert_eq!((&first["tokenType"], &first["expiresIn"]), (&json!("Bearer"), &json!(86_400)));
        assert_eq!(first["user"]["email"], "ann@example.com");
        let (code, message) = nobody.refused("auth", register).await;
        assert!(code == "INVALID_INPUT" && message.contains("taken"), "{message}");
        let wrong = json!({ "action": "login", "username": "ann", "password": "no such word" });
        let (code, message) = nobody.refused("auth", wrong).await;
        assert!(code == "AUTHENTICATION_FAILED" && !message.contains("no such word"), "{message}");
        let login = json!({ "action": "login", "username": "ann", "password": PASSWORD });
        let session = nobody.ok("auth", login).await;
        let user = User { fixture: &fixture, token: session["token"].as_str().map(str::to_owned) };
        user.ok("arkiver_list_files", json!({})).await;
        let refresh = json!({ "action": "refresh", "refreshToken": session["refreshToken"] });
        let next = nobody.ok("auth", refresh).await;
        assert_ne!(next["refreshToken"], session["refreshToken"]);
        // A logout without a token and without a refresh token names no session.
        let (code, _) = nobody.refused("auth", json!({ "action": "logout" })).await;
        assert_eq!(code, "INVALID_INPUT");
        user.ok("auth", json!({ "action": "logout" })).await;
        let (code, _) = user.refused("arkiver_list_files", json!({})).await;
        assert_eq!(code, "AUTHENTICATION_FAILED");
        let refresh = json!({ "action": "refresh", "refreshToken": next["refreshToken"] });
        assert_eq!(nobody.refused("auth", refresh).await.0, "AUTHENTICATION_FAILED");
        // The first session is still alive, and its refresh token ends it.
        let other = User { fixture: &fixture, token: first["token"].as_str().map(str::to_owned) };
        other.ok("arkiver_list_files", json!({})).await;
        let logout = json!({ "action": "logout", "refreshToken": first["refreshToken"] });
        nobody.ok("auth", logout).await;
        let (code, _) = other.refused("arkiver_list_files", json!({})).await;
        assert_eq!(code, "AUTHENTICATION_FAILED");
        // A token of the operator without a session is a separate owner.
        let machine = User { fixture: &fixture, token: Some("token-of crawler".to_owned()) };
        assert_eq!(machine.ok("arkiver_list_files", json!({})).await["total"], 0);
        fixture.close().await;
    });
}

pub(crate) fn cases_are_shared() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let file = ann.file("a.txt", COMPLAINT.as_bytes(), json!({ "caseId": "Smith" })).await;
        let settings = json!({ "extractionMode": "standard" });
        let job = ann.processed(&file, settings.clone()).await;
        let share =
            |access: &str| json!({ "caseId": "Smith", "username": "bob", "access": access });
        let insight = json!({ "title": "t", "content": "c", "sourceLLM": "m" });
        let store = json!({ "fileId": file, "insight": insight });
        let process = json!({ "fileId": file, "processingSettings": settings });
        let shared = ann.ok("arkiver_share_case", share("read")).await;
        assert_eq!(shared["members"], json!([{ "username": "bob", "access": "read" }]));
        let reply = bob.ok("arkiver_job_status", json!({ "jobId": job["jobId"] })).await;
        assert_eq!(reply["result"]["insightsTotal"], job["result"]["insightsTotal"]);
        let found = bob.ok("arkiver_query_insights", json!({ "filters": { "caseId": "Smith" } }));
        assert_eq!(found.await["total"], job["result"]["insightsTotal"]);
        assert_eq!(bob.export(&file).await["file"]["caseId"], "Smith");
        for (tool, args) in [
            ("arkiver_store_insight", store.clone()),
            ("arkiver_process_file", process.clone()),
            ("arkiver_delete_file", json!({ "fileId": file })),
            ("arkiver_cancel_job", json!({ "jobId": job["jobId"] })),
            (
                "arkiver_share_case",
                json!({ "caseId": "Smith", "username": "ann", "access": "read" }),
            ),
        ] {
            let (code, message) = bob.refused(tool, args).await;
            assert_eq!(code, "AUTHORIZATION_FAILED", "{tool} {message}");
        }
        ann.ok("arkiver_share_case", share("write")).await;
        bob.ok("arkiver_store_insight", store).await;
        bob.ok("arkiver_process_file", process).await;
        let (code, _) = bob.refused("arkiver_delete_file", json!({ "fileId": file })).await;
        assert_eq!(code, "AUTHORIZATION_FAILED");
        // A member may not move a file into an own case either.
        let theft = json!({ "extractionMode": "fast", "caseId": "Mine" });
        let theft = json!({ "fileId": file, "processingSettings": theft });
        let status = ann.ok("arkiver_file_status", json!({ "fileId": file })).await;
        ann.waited(status["file"]["processingJobId"].as_str().unwrap()).await;
        assert_eq!(bob.refused("arkiver_process_file", theft).await.0, "AUTHORIZATION_FAILED");
        ann.ok("arkiver_share_case", share("none")).await;
        let (code, _) = bob.refused("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(code, "AUTHORIZATION_FAILED");
        let nobody = json!({ "caseId": "Smith", "username": "carol", "access": "read" });
        assert_eq!(ann.refused("arkiver_share_case", nobody).await.0, "INVALID_INPUT");
        fixture.close().await;
    });
}

pub(crate) fn cases_are_listed_with_their_contents() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let list = "arkiver_list_cases";
        let empty = ann.ok(list, json!({})).await;
        assert_eq!((&empty["cases"], &empty["total"]), (&json!([]), &json!(0)));
        for (name, case) in [("a.txt", "Roe"), ("b.txt", "Roe"), ("c.txt", "Smith")] {
            ann.file(name, name.as_bytes(), json!({ "caseId": case })).await;
        }
        let file = ann.file("d.txt", b"in no case", json!({})).await;
        for (title, case) in [("one", "Roe"), ("two", "Roe"), ("three", "Later")] {
            let insight =
                json!({ "title": title, "content": "c", "sourceLLM": "m", "caseId": case });
            let args = json!({ "fileId": file, "insight": insight });
            ann.ok("arkiver_store_insight", args).await;
        }
        bob.file("e.txt", b"of bob", json!({ "caseId": "Bob's" })).await;
        for (case, access) in [("Roe", "read"), ("Smith", "write")] {
            let share = json!({ "caseId": case, "username": "bob", "access": access });
            ann.ok("arkiver_share_case", share).await;
        }
        let row = |case: &Value| {
            let word = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| case[name].as_u64().unwrap();
            assert_eq!(case["own"], case["access"] == "owner", "{case}");
            let counts = (number("fileCount"), number("insightCount"), number("sharedWith"));
            (word("caseId"), word("access"), word("owner"), counts)
        };
        let rows = |reply: &Value| reply["cases"].as_array().unwrap().iter().map(row).collect();
        let case = |name: &str, access: &str, owner: &str, counts: (u64, u64, u64)| {
            (name.to_owned(), access.to_owned(), owner.to_owned(), counts)
        };
        let hers: Vec<_> = rows(&ann.ok(list, json!({})).await);
        let later = case("Later", "owner", "ann", (0, 1, 0));
        let roe = case("Roe", "owner", "ann", (2, 2, 1));
        assert_eq!(hers, [later, roe, case("Smith", "owner", "ann", (1, 0, 1))]);
        let shared =
            [case("Roe", "read", "ann", (2, 2, 1)), case("Smith", "write", "ann", (1, 0, 1))];
        let his: Vec<_> = rows(&bob.ok(list, json!({ "access": "shared" })).await);
        assert_eq!(his, shared);
        let own = bob.ok(list, json!({ "access": "own" })).await;
        assert_eq!((&own["total"], &own["cases"][0]["caseId"]), (&json!(1), &json!("Bob's")));
        // Pages make the whole.
        let (first, text) = bob.call(list, json!({ "limit": 2 })).await.unwrap();
        assert!(text.contains("Roe (read): 2 files, 2 insights"), "{text}");
        assert_eq!(first["pagination"], json!({ "limit": 2, "offset": 0, "hasMore": true }));
        let last = bob.ok(list, json!({ "limit": 2, "offset": 2 })).await;
        assert_eq!((&last["total"], &last["pagination"]["hasMore"]), (&json!(3), &json!(false)));
        let both = [&first, &last].into_iter().flat_map(|it| it["cases"].as_array().unwrap());
        let names: Vec<&str> = both.map(|it| it["caseId"].as_str().unwrap()).collect();
        assert_eq!(names, ["Bob's", "Roe", "Smith"]);
        let beyond = bob.ok(list, json!({ "offset": 1_000_000_000_000_u64 })).await;
        assert_eq!((&beyond["cases"], &beyond["total"]), (&json!([]), &json!(3)));
        let (code, _) = fixture.anonymous().refused(list, json!({})).await;
        assert_eq!(code, "AUTHENTICATION_FAILED");
        fixture.close().await;
    });
}
