//! What could not be read, or was read badly, is shown with the job, the file and the search.

use archive_extract::testing::pdf::{self, HELVETICA};
use serde_json::json;

use crate::fixture::{Fixture, on_sqlite};

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
