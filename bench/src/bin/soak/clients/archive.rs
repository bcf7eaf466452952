//! A client of the archive: it registers users, uploads small documents, has them processed and
//! stores insights.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::acknowledged::AckedUser;
use crate::clients::{Client, RequestFailure};
use crate::http::Request;

/// A user may upload ten files a minute.
const UPLOADS_PER_USER: u32 = 8;
const INSIGHTS_PER_FILE: u32 = 5;
/// Questions about one job before the client turns to its next file; whether the job ends is
/// checked at the end of the run.
const POLLS_MAX: u32 = 20;
const BOUNDARY: &str = "----stoa-soak";

pub(crate) async fn run(mut client: Client) {
    let mut users = 0;
    while user(&mut client, users).await != Err(RequestFailure::LoadOver) {
        users += 1;
    }
}

/// One user from registration to the last file.
async fn user(client: &mut Client, serial: u32) -> Result<(), RequestFailure> {
    let name = format!("soak-{}-{serial}", client.number);
    let password = format!("a long enough secret {}", client.rng.next_u64());
    let ask = json!({ "action": "register", "username": name, "password": password });
    let made = client.request("register", &Request::post("/api/arkiver/auth", &ask)).await?.json();
    let mut token = text(&made, "token");
    let user = AckedUser { name: name.clone(), password: password.clone(), token: token.clone() };
    let user = client.shared.acknowledged.add_user(user);
    for at in 0..UPLOADS_PER_USER {
        match file(client, user, &token, at).await {
            Err(RequestFailure::LoadOver) => return Err(RequestFailure::LoadOver),
            // The next file is independent of this one.
            Ok(()) | Err(RequestFailure::Unknown | RequestFailure::Refused) => {}
        }
    }
    let ask = json!({ "action": "login", "username": name, "password": password });
    let made = client.request("login", &Request::post("/api/arkiver/auth", &ask)).await?.json();
    token = text(&made, "token");
    file(client, user, &token, UPLOADS_PER_USER).await
}

/// One file from its upload to its insights.
async fn file(
    client: &mut Client,
    user: usize,
    token: &str,
    at: u32,
) -> Result<(), RequestFailure> {
    let paper = paper(client, at);
    let request = upload(&format!("paper-{at}.txt"), paper.as_bytes()).token(token);
    let kept = client.request("upload", &request).await?.json();
    let (id, sha256) = (text(&kept, "fileId"), hex(&Sha256::digest(paper.as_bytes())));
    let number = client.shared.acknowledged.add_file(user, &id, &sha256);
    let ask = json!({ "fileId": id, "processingSettings": { "extractionMode": "standard" } });
    let request = Request::post("/api/arkiver/process", &ask).token(token);
    let job = text(&client.request("process", &request).await?.json(), "jobId");
    client.shared.acknowledged.set_job(number, &job);
    let status = Request::get(format!("/api/arkiver/jobs/{job}")).token(token);
    for _ in 0..POLLS_MAX {
        match client.request("job status", &status).await {
            Ok(answer)
                if ["completed", "failed"].contains(&text(&answer.json(), "status").as_str()) =>
            {
                break;
            }
            Ok(_) | Err(RequestFailure::Unknown | RequestFailure::Refused) => {}
            Err(RequestFailure::LoadOver) => return Err(RequestFailure::LoadOver),
        }
    }
    for at in 0..INSIGHTS_PER_FILE {
        let title = format!("Finding {at} of client {}: {}", client.number, client.rng.next_u64());
        let insight = json!({ "fileId": id, "insight": {
            "title": title, "content": format!("{title}, as the paper says."), "sourceLLM": "soak",
            "tags": ["soak"], "confidence": 0.5,
        }});
        let request = Request::post("/api/arkiver/insights", &insight).token(token);
        match client.request("store insight", &request).await {
            Ok(kept) => {
                let id = text(&kept.json(), "insightId");
                client.shared.acknowledged.add_insight(number, &id, title);
            }
            Err(RequestFailure::LoadOver) => return Err(RequestFailure::LoadOver),
            Err(RequestFailure::Unknown | RequestFailure::Refused) => {}
        }
    }
    let ask = json!({ "filters": { "fileId": id, "keywords": "finding" } });
    let request = Request::post("/api/arkiver/insights/query", &ask).token(token);
    client.request("query insights", &request).await.map(drop)
}

/// A short court paper; the random numbers in it make its content unique.
fn paper(client: &mut Client, at: u32) -> String {
    let docket = client.rng.below(90_000) + 10_000;
    let mut paper = format!(
        "UNITED STATES DISTRICT COURT\nSOUTHERN DISTRICT OF NEW YORK\n\nJane Roe, Plaintiff,\nv.\n\
         Acme Logistics, Inc., Defendant.\n\nCase No. 2:24-cv-{docket}\n\nCOMPLAINT\n\n\
         Paper {at} of client {} with the number {}.\n",
        client.number,
        client.rng.next_u64()
    );
    for _ in 0..10 + client.rng.below(30) {
        let (page, sum) = (1 + client.rng.below(900), 1_000 + client.rng.below(90_000));
        paper.push_str(&format!(
            "Plaintiff paid ${sum} on May 1, 2024. See Ashcroft v. Iqbal, 556 U.S. {page} (2009). \
             The answer is due within 21 days after service.\n"
        ));
    }
    paper
}

pub(crate) fn upload(name: &str, content: &[u8]) -> Request {
    let opening = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         content-type: application/octet-stream\r\n\r\n"
    );
    let closing = format!("\r\n--{BOUNDARY}--\r\n");
    Request {
        method: "POST",
        path: "/api/arkiver/upload".to_owned(),
        headers: format!("content-type: multipart/form-data; boundary={BOUNDARY}\r\n"),
        body: [opening.as_bytes(), content, closing.as_bytes()].concat(),
    }
}

pub(crate) fn text(answer: &Value, field: &str) -> String {
    answer[field].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
