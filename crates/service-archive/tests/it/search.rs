//! Searching the text of documents.

use archive_search::Search;
use serde_json::{Value, json};
use store::{Db, sql};
use testkit::on_every_engine;

use crate::fixture::{COMPLAINT, Fixture, User, block_on, on_sqlite};

fn standard() -> Value {
    json!({ "extractionMode": "standard" })
}

async fn found(user: &User<'_>, args: Value) -> Value {
    user.ok("arkiver_search_documents", args).await
}

async fn total(user: &User<'_>, query: &str) -> u64 {
    found(user, json!({ "query": query })).await["total"].as_u64().unwrap()
}

pub(crate) fn pages_are_found_with_their_words() {
    block_on(on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let metadata = json!({ "caseId": "Smith", "tags": ["urgent"], "description": "the zebra" });
        let file = user.file("complaint.txt", COMPLAINT.as_bytes(), metadata).await;
        // The name, the tags and the description are found before the text is read.
        for query in ["complaint", "urgent", "zebra"] {
            let reply = found(&user, json!({ "query": query })).await;
            assert_eq!(
                (&reply["total"], &reply["hits"][0]["matched"]),
                (&json!(1), &json!("file"))
            );
        }
        assert_eq!(total(&user, "parties signed").await, 0);
        user.processed(&file, standard()).await;
        let ask = json!({ "query": "28 USC 1332 \"supply contract\"", "caseId": "Smith",
            "fileId": file, "fileType": "txt", "tags": ["urgent"],
            "dateRange": { "start": "2000-01-01T00:00:00Z" } });
        let (reply, text) = user.call("arkiver_search_documents", ask).await.unwrap();
        assert_eq!(reply["total"], 1, "{reply}");
        let hit = &reply["hits"][0];
        assert_eq!((&hit["pageNumber"], &hit["caseId"]), (&json!(1), &json!("Smith")));
        assert!(hit["snippet"].as_str().unwrap().contains("**supply contract**"), "{hit}");
        assert!(text.contains("complaint.txt, page 1"), "{text}");
        let export = user.export(&file).await;
        let page: Vec<char> = export["pages"][0]["text"].as_str().unwrap().chars().collect();
        let highlights = hit["highlights"].as_array().unwrap();
        assert!(!highlights.is_empty());
        for it in highlights {
            let (start, end) = (it["start"].as_u64().unwrap(), it["end"].as_u64().unwrap());
            let words: String = page[start as usize..end as usize].iter().collect();
            assert_eq!(it["text"], json!(words));
        }
        // Every filter excludes what it should.
        for filter in [
            json!({ "caseId": "nobody's" }),
            json!({ "fileId": "another" }),
            json!({ "fileType": "pdf" }),
            json!({ "tags": ["urgent", "red"] }),
            json!({ "dateRange": { "end": "2000-01-01T00:00:00Z" } }),
        ] {
            let mut args = json!({ "query": "contract" });
            args.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
            assert_eq!(found(&user, args).await["total"], 0, "{filter}");
        }
        let flat = json!({ "query": "contract", "from": "2000-01-01T00:00:00Z" });
        assert_eq!(user.ok("arkiver_search_pages", flat).await["total"], 1);
        let insight = json!({ "title": "Unpaid", "content": "an okapi", "sourceLLM": "m" });
        user.ok("arkiver_store_insight", json!({ "fileId": file, "insight": insight })).await;
        let insights = json!({ "filters": { "keywords": "okapi" } });
        assert_eq!(user.ok("arkiver_query_insights", insights).await["total"], 1);
        fixture.close().await;
    }));
}

pub(crate) fn papers_are_filtered_by_type_and_date() {
    block_on(on_every_engine(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let order = "UNITED STATES DISTRICT COURT\nEASTERN DISTRICT OF MICHIGAN\n\nORDER\n\nThe motion \
            about the supply contract is DENIED.\n\nDated: May 6, 2024\n\nSO ORDERED.\n";
        for (name, text) in [("complaint.txt", COMPLAINT), ("order.txt", order)] {
            let file = user.file(name, text.as_bytes(), json!({})).await;
            user.processed(&file, standard()).await;
        }
        assert_filters(&user).await;
        let flat =
            json!({ "query": "contract", "documentType": "order", "documentTo": "2024-05-06" });
        assert_eq!(user.ok("arkiver_search_pages", flat).await["total"], 1);
        for wrong in [
            json!({ "query": "m", "documentDate": { "start": "2024-02-30" } }),
            json!({ "query": "m", "eventDate": { "end": "May" } }),
            json!({ "query": "m", "documentType": "" }),
        ] {
            let (code, _) = user.refused("arkiver_search_documents", wrong).await;
            assert_eq!(code, "INVALID_INPUT");
        }
        let token = user.token.clone();
        fixture.close().await;
        // The facts of files of an earlier version are added after the start.
        db.execute(sql("UPDATE search_file SET has_facts = FALSE")).await.unwrap();
        let none = sql("UPDATE search_segment SET facts = $1").bind(Vec::<u8>::new());
        db.execute(none).await.unwrap();
        let fixture = Fixture::new(db).await;
        let user = User { fixture: &fixture, token };
        while found(&user, json!({ "query": "contract" })).await.get("indexing").is_some() {
            tokio::task::yield_now().await;
        }
        assert_filters(&user).await;
        fixture.close().await;
    }));
}

async fn assert_filters(user: &User<'_>) {
    let may = json!({ "start": "2024-05-01", "end": "2024-05-31" });
    let march = json!({ "start": "2024-03-01", "end": "2024-03-01" });
    for (filter, names) in [
        (json!({}), &["complaint.txt", "order.txt"][..]),
        (json!({ "documentType": "order" }), &["order.txt"]),
        (json!({ "documentType": "Complaint" }), &["complaint.txt"]),
        (json!({ "documentType": "lease" }), &[]),
        (json!({ "documentDate": may }), &["order.txt"]),
        (json!({ "documentDate": march }), &[]),
        (json!({ "eventDate": march }), &["complaint.txt"]),
        (json!({ "eventDate": { "start": "2030-01-01" } }), &[]),
    ] {
        let mut args = json!({ "query": "contract" });
        args.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let reply = found(user, args).await;
        let hits = reply["hits"].as_array().unwrap().iter();
        let mut shown: Vec<&str> = hits.map(|it| it["fileName"].as_str().unwrap()).collect();
        shown.sort_unstable();
        assert_eq!(shown, names, "{filter}");
    }
}

pub(crate) fn unreadable_queries_name_the_place() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        for (args, part) in [
            (json!({ "query": "motion AND (denied" }), "character 12"),
            (json!({ "query": "" }), "query"),
            (json!({ "query": "-motion" }), "query"),
            (json!({ "query": "m", "offset": 10_001 }), "offset"),
            (json!({ "query": "m", "fileType": "exe" }), "fileType"),
            (
                json!({ "query": "m", "dateRange": { "start": "2024-02-30T00:00:00Z" } }),
                "dateRange",
            ),
        ] {
            let (code, message) = user.refused("arkiver_search_documents", args.clone()).await;
            assert!(code == "INVALID_INPUT" && message.contains(part), "{args}: {message}");
        }
        let (code, _) =
            fixture.anonymous().refused("arkiver_search_documents", json!({ "query": "m" })).await;
        assert_eq!(code, "AUTHENTICATION_FAILED");
        fixture.close().await;
    });
}

pub(crate) fn pages_follow_their_file() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let (ann, bob) = (fixture.user("ann").await, fixture.user("bob").await);
        let file = ann.file("a.txt", COMPLAINT.as_bytes(), json!({ "caseId": "Smith" })).await;
        ann.processed(&file, standard()).await;
        assert_eq!((total(&ann, "contract").await, total(&bob, "contract").await), (1, 0));
        let share =
            |access: &str| json!({ "caseId": "Smith", "username": "bob", "access": access });
        ann.ok("arkiver_share_case", share("read")).await;
        assert_eq!(total(&bob, "contract").await, 1);
        // Moved into a case that is not shared.
        let moved = json!({ "extractionMode": "fast", "caseId": "Private" });
        ann.processed(&file, moved).await;
        assert_eq!((total(&ann, "contract").await, total(&bob, "contract").await), (1, 0));
        assert_eq!(found(&bob, json!({ "query": "contrakt" })).await.get("corrections"), None);
        let private = found(&ann, json!({ "query": "contract", "caseId": "Private" })).await;
        assert_eq!(private["total"], 1);
        ann.ok("arkiver_delete_file", json!({ "fileId": file })).await;
        assert_eq!((total(&ann, "contract").await, total(&ann, "txt").await), (0, 0));
        fixture.close().await;
    });
}

pub(crate) fn files_of_an_earlier_version_are_added_after_the_start() {
    on_sqlite(async |db| {
        let fixture = Fixture::new(db).await;
        let user = fixture.user("ann").await;
        let mut files = Vec::new();
        for at in 0..10 {
            let text = format!("{COMPLAINT}\nNumber word{at}x.");
            files.push(user.file(&format!("{at}.txt"), text.as_bytes(), json!({})).await);
        }
        user.processed(&files[3], standard()).await;
        let token = user.token.clone();
        fixture.close().await;
        forget_index(db, &files).await;
        let fixture = Fixture::new(db).await;
        let user = User { fixture: &fixture, token };
        // The task adds the files one after another; the answer says when all are there.
        loop {
            let reply = found(&user, json!({ "query": "word3x OR 7" })).await;
            if reply.get("indexing").is_none() {
                assert_eq!(reply["total"], 2, "{reply}");
                break;
            }
            tokio::task::yield_now().await;
        }
        fixture.close().await;
    });
}

/// The database as a version without the page index leaves it.
async fn forget_index(db: &Db, files: &[String]) {
    for table in ["search_block", "search_dictionary", "search_segment", "search_file"] {
        db.execute(store::sql_built(format!("DELETE FROM {table}"))).await.unwrap();
    }
    assert!(Search::new(db.clone()).indexed(files).await.unwrap().is_empty());
    assert!(db.fetch_all(sql("SELECT id FROM search_segment")).await.unwrap().is_empty());
}
