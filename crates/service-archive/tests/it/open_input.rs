//! Inputs that the contract leaves open: unknown keys, empty texts and numbers that are not whole.

use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, User, on_sqlite};

/// Calls a tool, checks which keys the answer names as ignored, and returns the answer.
async fn check(user: &User<'_>, tool: &str, args: Value, ignored: &[&str]) -> Value {
    let (reply, text) = match user.call(tool, args.clone()).await {
        Ok(answered) => answered,
        Err(error) => panic!("{tool} {args}: {error:?}"),
    };
    let named = reply.get("ignored").cloned().unwrap_or_else(|| json!([]));
    assert_eq!(named, json!(ignored), "{tool} {args}");
    for key in ignored {
        assert!(text.contains(key), "{text}");
    }
    reply
}

pub(crate) fn what_the_contract_leaves_open_is_answered() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let metadata = json!({ "caseId": "", "tags": [""], "mood": "calm" });
        let file = user.file("a.txt", COMPLAINT.as_bytes(), metadata).await;
        let settings = json!({ "extractionMode": "standard", "categories": [""], "caseId": " ",
            "ocr": true });
        let args = json!({ "fileId": file, "processingSettings": settings, "priority": 1 });
        let ignored = ["priority", "processingSettings.ocr"];
        let started = check(&user, "arkiver_process_file", args, &ignored).await;
        let job = json!({ "jobId": started["jobId"], "waitSeconds": 60, "verbose": true });
        assert_eq!(user.ok("arkiver_job_status", job).await["status"], "completed");
        let store = "arkiver_store_insight";
        let insight = |more: Value| {
            let mut insight = json!({ "title": "", "content": "", "sourceLLM": "" });
            insight.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "fileId": file, "insight": insight })
        };
        check(&user, store, insight(json!({})), &[]).await;
        check(&user, store, insight(json!({ "page": 1 })), &["insight.page"]).await;
        check(&user, store, insight(json!({ "tags": [""], "citations": [""] })), &[]).await;
        check(&user, store, insight(json!({ "entities": { "any": { "thing": 1 } } })), &[]).await;
        let whole = check(&user, store, insight(json!({ "pageNumber": 1.0 })), &[]).await;
        assert!(whole.get("note").is_none(), "{whole}");
        for number in [json!(0), json!(-3), json!(1.5)] {
            let args = insight(json!({ "pageNumber": number }));
            let stored = check(&user, store, args, &[]).await;
            assert!(stored["note"].as_str().unwrap().contains(&number.to_string()), "{stored}");
        }
        let query = "arkiver_query_insights";
        let filters = json!({ "filters": { "sourceLLM": "", "keyword": "x" }, "page": 2 });
        let found = check(&user, query, filters, &["filters.keyword", "page"]).await;
        assert_eq!(found["total"], 8, "{found}");
        let pages = found["insights"].as_array().unwrap().iter().filter(|it| it["pageNumber"] == 1);
        assert_eq!(pages.count(), 1);
        let limit = json!({ "pagination": { "limit": 2.9, "offset": 1.9 } });
        let found = check(&user, query, limit, &[]).await;
        assert_eq!(found["insights"].as_array().unwrap().len(), 2);
        assert_eq!(found["pagination"], json!({ "limit": 2, "offset": 1, "hasMore": true }));
        let far = json!({ "pagination": { "offset": 1e300 } });
        assert_eq!(check(&user, query, far, &[]).await["insights"], json!([]));
        let long = "x".repeat(5_000);
        let unknown = json!({ "filters": { "fileId": long, "caseId": long, "sourceLLM": long } });
        assert_eq!(check(&user, query, unknown, &[]).await["total"], 0);
        let test = json!({ "testType": "honesty", "llmSource": "local", "strict": true });
        let tested = check(&user, "arkiver_integrity_test", test, &["strict"]).await;
        assert!(tested["results"]["insightsTested"].as_u64().unwrap() > 8, "{tested}");
        for (tool, key, code) in
            [("arkiver_job_status", "jobId", "JOB_NOT_FOUND"), (store, "fileId", "FILE_NOT_FOUND")]
        {
            for id in ["", long.as_str()] {
                let mut args = insight(json!({}));
                args[key] = json!(id);
                let (refused, message) = user.refused(tool, args).await;
                assert_eq!(refused, code);
                assert!(message.len() < 400, "{message}");
            }
        }
        fixture.close().await;
    });
}
