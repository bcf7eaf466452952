//! The archive's whole job without curl: from a chat over stdio, by upload link over HTTP, and from
//! a terminal.

use std::path::Path;

use serde_json::{Value, json};

use crate::archive::{COMPLAINT, Person};
use crate::process::{Folder, Pipes, Server, http, mcp_headers, run, stoa};

/// A chat that calls tools one after another.
struct Chat {
    pipes: Pipes,
    calls: u32,
}

impl Chat {
    fn start(data: &Path) -> Self {
        let mut pipes = Pipes::start(data);
        pipes.initialize();
        Self { pipes, calls: 0 }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.calls += 1;
        self.pipes.call(self.calls, &json!({ "name": tool, "arguments": arguments }))
    }

    /// The structured content and the text of a call that succeeds.
    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.len() < 32_000 && !text.starts_with('{'), "{tool}: {text}");
        (result["structuredContent"].clone(), text)
    }

    /// The error of a call that fails.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let error: Value = result["content"][0]["text"].as_str().unwrap().parse().unwrap();
        error["error"].clone()
    }
}

#[test]
fn a_chat_does_the_whole_job_without_a_login() {
    let folder = Folder::new();
    let path = folder.path().join("complaint.txt");
    std::fs::write(&path, COMPLAINT).unwrap();
    let mut chat = Chat::start(folder.path());
    let add = json!({ "path": path, "caseId": "Roe", "process": true });
    let (added, text) = chat.ok("arkiver_add_file", add);
    let file = added["fileId"].clone();
    let next = text.lines().last().unwrap().strip_prefix("next: arkiver_job_status ").unwrap();
    let (job, text) = chat.ok("arkiver_job_status", next.parse().unwrap());
    assert_eq!(job["status"], "completed", "{job}");
    let one = json!({ "filters": { "fileId": file }, "pagination": { "limit": 1 } });
    let (first, page) = chat.ok("arkiver_query_insights", one);
    let next = page.lines().find_map(|line| line.strip_prefix("next: arkiver_query_insights "));
    let (second, _) = chat.ok("arkiver_query_insights", next.unwrap().parse().unwrap());
    assert_eq!((&second["total"], &second["pagination"]["offset"]), (&first["total"], &json!(1)));
    assert_ne!(second["insights"][0]["insightId"], first["insights"][0]["insightId"]);
    assert!(text.contains("[deadline]"), "{text}");
    let (listed, _) = chat.ok("arkiver_list_files", json!({ "caseId": "Roe", "name": "COMPL" }));
    assert_eq!(listed["files"][0]["fileId"], file);
    let (_, text) = chat.ok("arkiver_read_page", json!({ "fileId": file }));
    assert!(text.contains("zanzibar agreement"), "{text}");
    let deadline = json!({ "filters": { "category": "deadline" } });
    let (found, _) = chat.ok("arkiver_query_insights", deadline.clone());
    let insight = found["insights"][0]["insightId"].clone();
    let change =
        json!({ "insightId": insight, "title": "Answer due 22 May 2024", "confidence": 1 });
    let (changed, _) = chat.ok("arkiver_update_insight", change);
    assert_eq!(changed["insight"]["correctedBy"], "local", "{changed}");
    let (export, text) = chat.ok("arkiver_export", json!({ "fileId": file }));
    assert_eq!((&export["file"]["fileId"], &export["next"]), (&file, &json!("insight.0")));
    let next = text.lines().last().unwrap().strip_prefix("next: arkiver_export ").unwrap();
    let (_, text) = chat.ok("arkiver_export", next.parse().unwrap());
    assert!(text.contains("Answer due 22 May 2024"), "{text}");
    chat.ok("arkiver_delete_insight", json!({ "insightId": insight }));
    assert_eq!(chat.ok("arkiver_query_insights", deadline).0["total"], 0);
    for (arguments, code, word) in [
        (json!({ "path": "/dev/zero" }), "INVALID_INPUT", "regular"),
        (json!({ "path": folder.path() }), "INVALID_INPUT", "stoa archive add"),
        (json!({ "path": "no such file" }), "INVALID_INPUT", "full path"),
        (json!({ "filename": "a.txt" }), "INVALID_INPUT", "path"),
        (json!({ "path": path, "filename": "a.pdf" }), "UNSUPPORTED_FILE_TYPE", "PDF"),
    ] {
        let error = chat.refused("arkiver_add_file", arguments.clone());
        assert_eq!(error["code"], code, "{arguments} {error}");
        assert!(error.to_string().contains(word), "{arguments} {error}");
    }
    // The next process of the same user goes on where this one was.
    drop(chat);
    let call = |args: &[&str]| run(stoa(folder.path()).arg("call").args(args));
    let (code, out, err) = call(&["arkiver_list_files", "--text"]);
    assert!(code == 0 && out.contains("complaint.txt"), "{out}{err}");
    let (code, _, err) =
        call(&["arkiver_delete_file", &json!({ "fileId": file }).to_string(), "--text"]);
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = call(&["arkiver_list_files"]);
    assert_eq!(out.parse::<Value>().unwrap()["total"], 0);
}

#[tokio::test]
async fn a_link_takes_the_bytes_of_one_file_without_another_credential() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let ada = Person::register(&server, "ada").await;
    let tool = async |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = mcp_headers(http().post(server.url("/mcp")), "tools/call", params);
        let request = request.bearer_auth(&ada.token);
        request.send().await.unwrap().json::<Value>().await.unwrap()["result"].take()
    };
    let link = async || {
        let open = tool("arkiver_add_file", json!({ "filename": "a.txt" })).await;
        let open = open["structuredContent"].clone();
        let url = open["uploadUrl"].as_str().unwrap_or_else(|| panic!("{open}")).to_owned();
        (url, open["uploadId"].clone())
    };
    let answered = async |request: reqwest::RequestBuilder| {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    // The file as it is, as `curl -T` sends it.
    let (url, upload) = link().await;
    assert!(url.starts_with(&server.base), "{url}");
    let (status, sent) = answered(http().put(&url).body(COMPLAINT)).await;
    assert_eq!((status, &sent["fileName"]), (200, &json!("a.txt")), "{sent}");
    let state = tool("arkiver_add_file", json!({ "uploadId": upload })).await;
    assert_eq!(state["structuredContent"]["fileId"], sent["fileId"], "{state}");
    let (status, again) = answered(http().put(&url).body(COMPLAINT)).await;
    assert_eq!((status, &again["error"]["code"]), (404, &json!("INVALID_INPUT")), "{again}");
    // The same as a form, as `curl -F` sends it.
    let (url, _) = link().await;
    let form = format!(
        "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"b.txt\"\r\n\r\n\
         {COMPLAINT}\r\n--x--\r\n"
    );
    let form =
        http().post(&url).header("content-type", "multipart/form-data; boundary=x").body(form);
    let (status, sent) = answered(form).await;
    assert_eq!((status, &sent["fileName"]), (200, &json!("a.txt")), "{sent}");
    // The token of a link opens nothing else, and a user's token is no link.
    let (url, upload) = link().await;
    let (place, token) = url.rsplit_once('/').unwrap();
    for path in ["/api/arkiver/files", "/api/arkiver/cases/x/share"] {
        let request = http().get(server.url(path)).bearer_auth(token);
        assert_ne!(request.send().await.unwrap().status().as_u16(), 200, "{path}");
    }
    let wrong = [format!("{place}/{}", ada.token), format!("{place}/x"), format!("{url}x")];
    for url in wrong {
        let (status, error) = answered(http().put(&url).body(COMPLAINT)).await;
        assert_eq!((status, &error["error"]["code"]), (401, &json!("AUTHENTICATION_FAILED")));
    }
    let (status, error) = answered(http().put(&url).body("\x7fELF\x02\x01\x01\0\0\0")).await;
    assert_eq!((status, &error["error"]["code"]), (400, &json!("UNSUPPORTED_FILE_TYPE")));
    let state = tool("arkiver_add_file", json!({ "uploadId": upload })).await;
    assert_eq!(state["structuredContent"]["status"], "open", "{state}");
    let refused = tool("arkiver_add_file", json!({ "path": "/etc/hostname" })).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("INVALID_INPUT"), "{refused}");
    assert!(!server.log().contains(token), "a token is in the log");
}

#[test]
fn a_folder_is_added_from_a_terminal() {
    let (data, papers) = (Folder::new(), Folder::new());
    let write = |name: &str, bytes: &[u8]| {
        let path = papers.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    // More than clients over HTTP may send in a minute.
    for at in 0..12 {
        write(&format!("more/{at:02}.txt"), format!("Order {at} of May 1, 2024.").as_bytes());
    }
    write("complaint.txt", COMPLAINT.as_bytes());
    let add = |args: &[&str]| {
        let mut command = stoa(data.path());
        run(command.args(["archive", "add"]).args(args).arg(papers.path()))
    };
    let (code, out, err) = add(&["--case", "Roe"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with("added ")).count(), 13, "{out}");
    assert!(out.ends_with("13 files added\n"), "{out}");
    write("program.exe", b"\x7fELF\x02\x01\x01\0\0\0\0\0");
    write("empty.txt", b"");
    std::fs::remove_dir_all(papers.path().join("more")).unwrap();
    let (code, out, err) = add(&["--process"]);
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.contains("1 page, ") && out.contains("1 file added, 1 read, "), "{out}");
    assert!(err.contains("2 files refused") && err.contains("program.exe: "), "{err}");
    let list = json!({ "caseId": "Roe", "limit": 1 }).to_string();
    let (_, out, _) = run(stoa(data.path()).args(["call", "arkiver_list_files", &list]));
    assert_eq!(out.parse::<Value>().unwrap()["total"], 13);
    let missing = papers.path().join("none");
    let mut command = stoa(data.path());
    let (code, _, err) = run(command.args(["archive", "add"]).arg(&missing));
    assert!(code == 2 && err.contains("none"), "{code} {err}");
    let mut command = stoa(data.path());
    command.args(["archive", "add"]).arg(papers.path()).env("STOA_TOKEN", "stoa1_bad");
    assert_eq!(run(&mut command).0, 4);
}

#[tokio::test]
async fn a_token_for_the_local_user_lasts_longer_than_a_day() {
    let folder = Folder::new();
    let add = json!({ "filename": "a.txt", "content": COMPLAINT }).to_string();
    let (code, _, err) = run(stoa(folder.path()).args(["call", "arkiver_add_file", &add]));
    assert_eq!(code, 0, "{err}");
    let mint = ["token", "mint", "--user", "local", "--ttl", "30d"];
    let (code, token, err) = run(stoa(folder.path()).args(mint));
    assert_eq!(code, 0, "{err}");
    let token = token.trim();
    let (_, seen, _) = run(stoa(folder.path()).args(["token", "inspect"]).env("STOA_TOKEN", token));
    let day = |name: &str| {
        let line = seen.lines().find(|line| line.starts_with(name));
        let time = line.and_then(|line| line.split_whitespace().last());
        let date = time.and_then(|time| clock::parse_date(time.get(..10)?));
        clock::Millis::start_of(date.unwrap_or_else(|| panic!("{seen}"))).0 / clock::DAY_MS
    };
    assert_eq!(day("expires") - day("issued"), 30, "{seen}");
    let server = Server::start(folder.path(), &[]);
    let files = http().get(server.url("/api/arkiver/files")).bearer_auth(token);
    let files: Value = files.send().await.unwrap().json().await.unwrap();
    assert_eq!(files["total"], 1, "the local user's file: {files}");
    // Over HTTP a caller without a token is not the local user.
    let files = http().get(server.url("/api/arkiver/files")).send().await.unwrap();
    assert_eq!(files.status(), 401);
}
