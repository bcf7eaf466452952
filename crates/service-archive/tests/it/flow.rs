//! From an uploaded file to its insights.

use std::sync::Arc;

use llm::Model;
use llm::testing::{ScriptedModel, reply};
use serde_json::{Value, json};
use testkit::on_every_engine;

use crate::fixture::{COMPLAINT, Fixture, User, block_on, on_sqlite, sources_stand};

pub(crate) fn standard() -> Value {
    json!({ "extractionMode": "standard" })
}

fn categories(insights: &Value) -> Vec<&str> {
    insights.as_array().unwrap().iter().map(|it| it["category"].as_str().unwrap()).collect()
}

pub(crate) fn a_file_is_uploaded_processed_and_found() {
    block_on(on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let metadata = json!({ "caseId": "Smith", "tags": ["filed"], "description": "the first" });
        let file = user.file("complaint.txt", COMPLAINT.as_bytes(), metadata).await;
        let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
        assert_eq!(status["file"]["status"], "uploaded");
        assert_eq!(status["file"]["caseId"], "Smith");
        let settings = json!({ "extractionMode": "standard", "categories": ["pleadings"] });
        let reply = user.processed(&file, settings).await;
        assert_eq!((&reply["status"], &reply["progress"]), (&json!("completed"), &json!(100)));
        assert_eq!(reply["fileId"], json!(file));
        let result = &reply["result"];
        let metadata = &result["metadata"];
        assert_eq!(metadata["pageCount"], 1, "{metadata}");
        assert_eq!(metadata["extractorsUsed"], json!(["text"]));
        assert!(metadata["wordCount"].as_u64().unwrap() > 40);
        let found = categories(&result["insights"]);
        for category in ["summary", "party", "court", "case_number", "citation", "money", "event"] {
            assert!(found.contains(&category), "{category} of {found:?}");
        }
        let first = &result["insights"][0];
        assert_eq!((&first["category"], &first["sourceLLM"]), (&json!("summary"), &json!("local")));
        assert!(first["tags"].as_array().unwrap().contains(&json!("pleadings")));
        assert_eq!(first["caseId"], "Smith");
        assert_eq!(result["insightsTotal"], found.len());
        sources_stand(&user.export(&file).await);
        let status = user.ok("arkiver_file_status", json!({ "fileId": file })).await;
        let status = &status["file"];
        assert_eq!((&status["status"], &status["pageCount"]), (&json!("processed"), &json!(1)));
        assert_eq!(status["processingJobId"], reply["jobId"]);
        assert_eq!(status["insightCount"], found.len());
        stored_and_found(&user, &file).await;
        assert!(fixture.scratch_is_empty());
        fixture.close().await;
    }));
}

async fn stored_and_found(user: &User<'_>, file: &str) {
    let insight = json!({ "title": "Unpaid", "content": "Acme failed to pay the zebra invoice.",
        "sourceLLM": "claude", "tags": ["money"], "confidence": 0.9, "pageNumber": 1,
        "quote": "failed to pay\n$50,000", "category": "finding", "citations": ["28 U.S.C. 1332"],
        "entities": { "party": "Acme" } });
    let args = json!({ "fileId": file, "insight": insight });
    let stored = user.ok("arkiver_store_insight", args).await;
    assert_eq!(stored["message"], "Insight stored successfully");
    assert_eq!(stored["sources"][0]["quote"], "failed to pay $50,000");
    // A query finds the insight at once and marks its words.
    let (found, text) = user
        .call("arkiver_query_insights", json!({ "filters": { "keywords": "zebra" } }))
        .await
        .unwrap();
    assert_eq!(found["total"], 1, "{found}");
    let one = &found["insights"][0];
    assert_eq!(one["insightId"], stored["insightId"]);
    assert!(one["snippet"].as_str().unwrap().contains("**zebra**"), "{one}");
    assert_eq!((&one["pageNumber"], &one["caseId"]), (&json!(1), &json!("Smith")));
    assert_eq!(one["entities"], json!({ "party": "Acme" }));
    assert!(text.contains("Unpaid"));
    sources_stand(&user.export(file).await);
}

pub(crate) fn processing_again_replaces_what_processing_made() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("complaint.txt", COMPLAINT.as_bytes(), json!({})).await;
        let first = user.processed(&file, standard()).await;
        let made = first["result"]["insightsTotal"].as_u64().unwrap();
        let insight = json!({ "title": "t", "content": "c", "sourceLLM": "me" });
        user.ok("arkiver_store_insight", json!({ "fileId": file, "insight": insight })).await;
        let settings = json!({ "extractionMode": "standard", "extractCitations": false,
            "caseId": "Moved" });
        let again = user.processed(&file, settings).await;
        let fewer = again["result"]["insightsTotal"].as_u64().unwrap();
        assert!(fewer > 0 && fewer < made, "{fewer} of {made}");
        assert!(!categories(&again["result"]["insights"]).contains(&"citation"));
        let all = json!({ "filters": { "fileId": file, "caseId": "Moved" } });
        let all = user.ok("arkiver_query_insights", all).await;
        assert_eq!(all["total"].as_u64().unwrap(), fewer + 1, "what was stored stays, and moves");
        // The insights of the first job were replaced, and its status says so.
        let before = user.waited(first["jobId"].as_str().unwrap()).await;
        assert_eq!(before["result"]["insights"], json!([]));
        assert!(before["message"].as_str().unwrap().contains("processed again"), "{before}");
        fixture.close().await;
    });
}

pub(crate) fn a_message_is_read_with_its_attachments() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let mail = format!(
            "From: Ann <ann@example.com>\r\nTo: Bob <bob@example.com>\r\nSubject: Filing\r\n\
             Message-ID: <1@example.com>\r\nMIME-Version: 1.0\r\n\
             Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\
             Content-Type: text/plain\r\n\r\nThe complaint is attached.\r\n--x\r\n\
             Content-Type: text/plain; name=complaint.txt\r\n\
             Content-Disposition: attachment; filename=complaint.txt\r\n\r\n{COMPLAINT}\r\n--x--\r\n"
        );
        let file = user.file("filing.eml", mail.as_bytes(), json!({})).await;
        let reply = user.processed(&file, standard()).await;
        assert_eq!(reply["result"]["metadata"]["pageCount"], 2, "{reply}");
        assert_eq!(reply["result"]["metadata"]["extractorsUsed"], json!(["eml", "text"]));
        let export = user.export(&file).await;
        sources_stand(&export);
        assert_eq!(export["pages"][1]["part"], "complaint.txt");
        let cited =
            export["insights"].as_array().unwrap().iter().find(|it| it["category"] == "citation");
        let source = &cited.unwrap()["sources"][0];
        assert_eq!((&source["page"], &source["part"]), (&json!(2), &json!("complaint.txt")));
        fixture.close().await;
    });
}

pub(crate) fn deep_processing_compares_files_and_asks_a_model() {
    on_sqlite(async |db| {
        let said = "Smith sued Acme Corporation over $50,000. The contract is of March 1, 2024.";
        let model = Arc::new(ScriptedModel::new([Ok(reply(said, Vec::new()))]));
        let fixture = Fixture::with(db, "worker", vec![Arc::clone(&model) as Arc<dyn Model>]).await;
        let user = fixture.user("ann").await;
        let case = json!({ "caseId": "Smith" });
        let first = user.file("complaint.txt", COMPLAINT.as_bytes(), case.clone()).await;
        user.processed(&first, standard()).await;
        let other = COMPLAINT.replace("ACME CORPORATION", "GLOBEX LIMITED");
        let second = user.file("amended.txt", other.as_bytes(), case).await;
        let reply = user.processed(&second, json!({ "extractionMode": "deep" })).await;
        let insights = reply["result"]["insights"].as_array().unwrap();
        let summary = insights.iter().find(|it| it["sourceLLM"] == "scripted");
        let summary = summary.unwrap_or_else(|| panic!("{reply}"));
        assert_eq!((&summary["content"], &summary["category"]), (&json!(said), &json!("summary")));
        let across = insights.iter().find(|it| it["entities"]["otherFileId"] == json!(first));
        let across = across.unwrap_or_else(|| panic!("{reply}"));
        assert!(across["content"].as_str().unwrap().to_lowercase().contains("globex"), "{across}");
        assert_eq!(across["category"], "conflict");
        sources_stand(&user.export(&second).await);
        // The model's script is over: a missing summary does not fail the job.
        let again = user.processed(&second, json!({ "extractionMode": "deep" })).await;
        assert_eq!(again["status"], "completed");
        let problems = again["result"]["metadata"]["problems"].to_string();
        assert!(problems.contains("scripted"), "{problems}");
        fixture.close().await;
    });
}

pub(crate) fn extraction_modes_differ() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let page = |at: usize| format!("Page {at}. See {at} U.S. {} (1990).\n", 100 + at);
        let pages: Vec<String> = (1..=20).map(page).collect();
        let texts: Vec<&str> = pages.iter().map(String::as_str).collect();
        let pdf = archive_extract::testing::pdf::text(&texts);
        let file = user.file("brief.pdf", &pdf, json!({})).await;
        let cited = |reply: &Value| {
            let found = categories(&reply["result"]["insights"]);
            found.iter().filter(|it| **it == "citation").count()
        };
        let fast = user.processed(&file, json!({ "extractionMode": "fast" })).await;
        let metadata = &fast["result"]["metadata"];
        assert_eq!((&metadata["pagesRead"], &metadata["pageCount"]), (&json!(12), &json!(20)));
        assert_eq!((cited(&fast), &metadata["extractionMode"]), (12, &json!("fast")));
        let whole = user.processed(&file, standard()).await;
        assert_eq!(whole["result"]["metadata"]["pagesRead"], 20);
        assert_eq!(cited(&whole), 20);
        // Deep processing reports progress too.
        let args = json!({ "fileId": file, "processingSettings": { "extractionMode": "deep" } });
        let job = user.ok("arkiver_process_file", args).await;
        let reports = user.progress_reports(job["jobId"].as_str().unwrap()).await;
        assert!(reports.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{reports:?}");
        assert_eq!(reports.last().map(|it| it.0), Some(100.0), "{reports:?}");
        fixture.close().await;
    });
}

pub(crate) fn queries_apply_their_filters() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let file = user.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
        for (at, (model, confidence)) in [("m1", 0.2), ("m2", 0.9), ("m1", 0.6)].iter().enumerate()
        {
            fixture.clock.advance(std::time::Duration::from_secs(60));
            let insight = json!({ "title": format!("t{at}"), "content": "long ".repeat(500),
                "sourceLLM": model, "confidence": confidence, "caseId": format!("c{at}"),
                "tags": ["x", format!("y{at}")] });
            user.ok("arkiver_store_insight", json!({ "fileId": file, "insight": insight })).await;
        }
        let titles = async |args: Value| {
            let found = user.ok("arkiver_query_insights", args).await;
            let list = found["insights"].as_array().unwrap().clone();
            let titles: Vec<String> =
                list.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect();
            (titles.join(" "), found["total"].as_u64().unwrap(), found["pagination"].clone())
        };
        assert_eq!(titles(json!({})).await.0, "t2 t1 t0");
        let sorted = json!({ "sort": { "field": "confidence", "order": "asc" } });
        assert_eq!(titles(sorted).await.0, "t0 t2 t1");
        let model = json!({ "filters": { "sourceLLM": "m1", "minConfidence": 0.5 } });
        assert_eq!(titles(model).await.0, "t2");
        assert_eq!(titles(json!({ "filters": { "tags": ["x", "y1"] } })).await.0, "t1");
        assert_eq!(titles(json!({ "filters": { "caseId": "c0" } })).await.0, "t0");
        assert_eq!(titles(json!({ "filters": { "caseId": "nobody's" } })).await.1, 0);
        let late = json!({ "filters": { "dateRange": { "start": "2030-01-01T00:00:00Z" } } });
        assert_eq!(titles(late).await.1, 0);
        let (shown, total, pagination) =
            titles(json!({ "pagination": { "limit": 1, "offset": 1 } })).await;
        assert_eq!((shown.as_str(), total), ("t1", 3));
        assert_eq!(pagination, json!({ "limit": 1, "offset": 1, "hasMore": true }));
        let (shown, total, pagination) = titles(json!({ "pagination": { "offset": 9 } })).await;
        assert_eq!((shown.as_str(), total, &pagination["hasMore"]), ("", 3, &json!(false)));
        fixture.close().await;
    });
}

pub(crate) fn an_export_is_one_document() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        // Characters that JSON escapes, also at the ends of chunks.
        let text = "\"quoted\" \\ line\n\t\u{1f600}\n".repeat(20_000);
        let file = user.file("odd.txt", text.as_bytes(), json!({})).await;
        let export = user.export(&file).await;
        assert_eq!((&export["pages"], &export["insights"]), (&json!([]), &json!([])));
        user.processed(&file, standard()).await;
        let export = user.export(&file).await;
        let joined: String = export["pages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        assert_eq!(joined, text);
        assert_eq!(export["file"]["fileName"], "odd.txt");
        let (bytes, kind, length) = user.download("arkiver_file_content", &file).await.unwrap();
        assert_eq!((bytes.len() as u64, kind.as_str()), (length.unwrap(), "text/plain"));
        assert_eq!(bytes, text.as_bytes());
        fixture.close().await;
    });
}
