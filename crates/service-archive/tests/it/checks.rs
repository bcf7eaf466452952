//! Integrity tests of insights against their sources.

use std::sync::Arc;

use llm::Model;
use llm::testing::{ScriptedModel, reply};
use serde_json::{Value, json};

use crate::fixture::{COMPLAINT, Fixture, User, on_sqlite};

/// A processed file with one insight that its text supports and one that it contradicts.
async fn tested(user: &User<'_>) -> (String, Vec<String>) {
    let file = user.file("a.txt", COMPLAINT.as_bytes(), json!({})).await;
    user.processed(&file, json!({ "extractionMode": "standard" })).await;
    let mut ids = Vec::new();
    for content in ["Defendant failed to pay $50,000.", "Defendant failed to pay $90,000."] {
        let insight = json!({ "title": "Debt", "content": content, "sourceLLM": "m" });
        let args = json!({ "fileId": file, "insight": insight });
        let stored = user.ok("arkiver_store_insight", args).await;
        ids.push(stored["insightId"].as_str().unwrap().to_owned());
    }
    (file, ids)
}

fn statuses(results: &Value) -> Vec<&str> {
    let details = results["details"].as_array().unwrap();
    details.iter().map(|it| it["status"].as_str().unwrap()).collect()
}

pub(crate) fn rules_test_insights_at_once() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let unread = user.file("b.txt", b"Nothing has been read of this.", json!({})).await;
        let args = json!({ "testType": "bias", "fileId": unread, "llmSource": "local" });
        let reply = user.ok("arkiver_integrity_test", args).await;
        assert_eq!(reply["results"]["insightsTested"], 0);
        assert!(reply["results"]["method"].as_str().unwrap().contains("process it"), "{reply}");
        let (file, ids) = tested(&user).await;
        let args = json!({ "testType": "fact_check", "insightIds": ids, "llmSource": "local" });
        let mut elsewhere = args.clone();
        elsewhere["fileId"] = json!("00000000-0000-7000-8000-000000000000");
        let (code, _) = user.refused("arkiver_integrity_test", elsewhere).await;
        assert_eq!(code, "FILE_NOT_FOUND");
        let (reply, text) = user.call("arkiver_integrity_test", args).await.unwrap();
        assert_eq!(reply["status"], "completed");
        let results = &reply["results"];
        assert_eq!(statuses(results), ["passed", "failed"], "{results}");
        assert_eq!((&results["passed"], &results["failed"]), (&json!(1), &json!(1)));
        let wrong = &results["details"][1];
        assert!(wrong["issues"].to_string().contains("$90,000"), "{wrong}");
        assert!(!wrong["recommendations"].as_array().unwrap().is_empty());
        assert!(text.contains("$90,000"), "{text}");
        // The job stores the results that the call returned.
        let kept = user.ok("arkiver_job_status", json!({ "jobId": reply["testId"] })).await;
        assert_eq!((&kept["status"], &kept["fileId"]), (&json!("completed"), &json!(file)));
        assert_eq!(&kept["result"]["integrity"], results);
        let kept = user.waited(reply["testId"].as_str().unwrap()).await;
        assert_eq!(&kept["result"]["integrity"], results);
        for test in ["opinion_drift", "bias", "honesty", "ten_rules"] {
            let args = json!({ "testType": test, "insightIds": [], "fileId": file,
                "llmSource": "local" });
            let reply = user.ok("arkiver_integrity_test", args).await;
            let results = &reply["results"];
            assert_eq!(results["testType"], test);
            assert!(results["insightsTested"].as_u64().unwrap() > 5, "{results}");
            let count = |name: &str| results[name].as_u64().unwrap();
            let all = count("passed") + count("failed") + count("warnings");
            assert_eq!(all, count("insightsTested"));
        }
        fixture.close().await;
    });
}

pub(crate) fn large_tests_are_jobs() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let page =
            |at: usize| format!("Smith v. Jones, {at} U.S. {} (1990), holds it.\n", at + 100);
        let text: String = (1..=400).map(page).collect();
        let file = user.file("many.txt", text.as_bytes(), json!({})).await;
        let reply = user.processed(&file, json!({ "extractionMode": "standard" })).await;
        let made = reply["result"]["insightsTotal"].as_u64().unwrap();
        assert!(made > 200, "{made}");
        assert_eq!(reply["result"]["insights"].as_array().unwrap().len(), 50);
        let more = reply["result"]["more"].as_str().unwrap();
        assert!(
            more.starts_with("arkiver_job_status ") && more.contains(r#""offset":50"#),
            "{more}"
        );
        let args = json!({ "testType": "fact_check", "fileId": file, "llmSource": "local" });
        let queued = user.ok("arkiver_integrity_test", args).await;
        assert_eq!(queued["status"], "queued", "{queued}");
        assert!(queued.get("results").is_none());
        let reply = user.waited(queued["testId"].as_str().unwrap()).await;
        assert_eq!(reply["status"], "completed", "{reply}");
        assert_eq!(reply["result"]["insights"], json!([]));
        let results = &reply["result"]["integrity"];
        assert_eq!(results["insightsTested"].as_u64().unwrap(), made);
        assert_eq!(results["detailsTotal"].as_u64().unwrap(), made);
        fixture.close().await;
    });
}

pub(crate) fn all_insights_are_tested_in_parts() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let test = "arkiver_integrity_test";
        let all = json!({ "testType": "bias", "llmSource": "local" });
        // Nothing to test is no error.
        let none = ann.ok(test, all.clone()).await;
        assert_eq!(
            (&none["status"], &none["results"]["insightsTested"]),
            (&json!("completed"), &json!(0))
        );
        assert!(none["results"]["method"].as_str().unwrap().contains("process a file"), "{none}");
        let line =
            |at: usize| format!("Smith v. Jones, {at} U.S. {} (1990), holds it.\n", at + 100);
        let text: String = (1..=1100).map(line).collect();
        let file = ann.file("many.txt", text.as_bytes(), json!({})).await;
        let reply = ann.processed(&file, json!({ "extractionMode": "standard" })).await;
        let made = reply["result"]["insightsTotal"].as_u64().unwrap();
        assert!((1001..1200).contains(&made), "{made}");
        let (queued, text) = ann.call(test, all.clone()).await.unwrap();
        assert_eq!(queued["status"], "queued", "{queued}");
        let next = json!({ "testType": "bias", "llmSource": "local",
            "parameters": { "offset": 1000 } });
        let next = format!("arkiver_integrity_test {next}");
        assert!(text.contains(&format!("1000 of {made} insights")), "{text}");
        assert!(text.contains(&next), "{text}");
        let reply = ann.waited(queued["testId"].as_str().unwrap()).await;
        let results = &reply["result"]["integrity"];
        assert_eq!(
            (&results["insightsTested"], &results["insightsTotal"]),
            (&json!(1000), &json!(made))
        );
        assert_eq!(results["next"], next, "{results}");
        // The rest, by the call that the answer named.
        let (_, call) = next.split_once(' ').unwrap();
        let rest = ann.ok(test, call.parse().unwrap()).await;
        let results = &rest["results"];
        assert_eq!(results["insightsTested"].as_u64().unwrap(), made - 1000, "{rest}");
        assert!(results.get("next").is_none() && results["insightsTotal"] == made, "{results}");
        let mut beyond = all.clone();
        beyond["parameters"] = json!({ "offset": 5000, "topic": "x" });
        assert_eq!(ann.ok(test, beyond).await["results"]["insightsTested"], 0);
        // Of a file: the call names it.
        let of_file = json!({ "testType": "bias", "llmSource": "local", "fileId": file });
        let queued = ann.ok(test, of_file).await;
        assert!(queued["message"].as_str().unwrap().contains(&file), "{queued}");
        assert_eq!(bob.ok(test, all).await["results"]["insightsTested"], 0);
        fixture.close().await;
    });
}

pub(crate) fn a_model_judges_beside_the_rules() {
    on_sqlite(async |db| {
        let good = || Ok(reply("{\"score\": 1.0, \"issues\": [\"none\"]}", Vec::new()));
        let answers = [good(), good(), good(), good(), Ok(reply("?", Vec::new()))];
        let model = Arc::new(ScriptedModel::new(answers));
        let fixture = Fixture::with(db, "worker", vec![Arc::clone(&model) as Arc<dyn Model>]).await;
        let user = fixture.user("ann").await;
        let (_, ids) = tested(&user).await;
        let args = json!({ "testType": "fact_check", "insightIds": ids, "llmSource": "scripted" });
        let queued = user.ok("arkiver_integrity_test", args).await;
        assert_eq!(queued["status"], "queued");
        let reply = user.waited(queued["testId"].as_str().unwrap()).await;
        let results = &reply["result"]["integrity"];
        // The model's judgement does not change the verdict of the rules.
        assert_eq!(statuses(results), ["passed", "failed"], "{results}");
        assert_eq!(results["model"], "local and scripted");
        let runs: u64 = results["details"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["model"]["scores"].as_array().unwrap().len() as u64)
            .sum();
        assert_eq!(runs, 4, "four answers could be read: {results}");
        assert_eq!(model.requests().len(), 6, "three runs for each insight");
        fixture.close().await;
    });
}

pub(crate) fn a_test_reads_only_files_its_caller_may_read() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let (file, _) = tested(&ann).await;
        // An insight in a shared case about a file that is not in the case.
        let insight = json!({ "title": "Debt", "content": "Defendant failed to pay $70,000.",
            "sourceLLM": "m", "caseId": "Shared" });
        let args = json!({ "fileId": file, "insight": insight });
        let id = ann.ok("arkiver_store_insight", args).await["insightId"].clone();
        let share = json!({ "caseId": "Shared", "username": "bob", "access": "read" });
        ann.ok("arkiver_share_case", share).await;
        let args = json!({ "testType": "fact_check", "insightIds": [id], "llmSource": "local" });
        let reply = bob.ok("arkiver_integrity_test", args.clone()).await;
        assert!(!reply.to_string().contains("50,000"), "{reply}");
        assert_eq!(statuses(&reply["results"]), ["warning"]);
        let reply = ann.ok("arkiver_integrity_test", args).await;
        assert!(reply.to_string().contains("50,000"), "{reply}");
        fixture.close().await;
    });
}
