//! Downloads, and arguments in the path.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::fixture::TestServer;

#[tokio::test]
async fn a_file_is_sent_as_an_attachment() {
    let server = TestServer::open().await;
    let name = "%D0%B4%D0%B5%D0%BB%D0%BE%20%E2%84%961%20%22x%22.pdf";
    let path = format!("GET /api/files/{name}/content");
    let answer = server.ask(&path, "Accept-Encoding: gzip\r\n", b"").await;
    assert_eq!((answer.status, answer.body.len()), (200, 5_000));
    for line in [
        "content-type: text/html",
        "content-length: 5000",
        "x-content-type-options: nosniff",
        "content-security-policy: sandbox",
        "cache-control: no-store",
    ] {
        answer.has(line);
    }
    let exact = name.to_lowercase();
    answer.has(&format!(
        "content-disposition: attachment; filename=\"____ _1 _x_.pdf\"; filename*=utf-8''{exact}"
    ));
}

#[tokio::test]
async fn a_head_request_gets_only_the_headers() {
    let server = TestServer::open().await;
    let answer = server.ask("HEAD /api/files/a/content", "", b"").await;
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    answer.has("content-length: 5000");
}

#[tokio::test]
async fn a_failure_before_the_first_byte_has_an_error_status() {
    let server = TestServer::open().await;
    for (file, status) in [("none", 404), ("unreadable", 500), (&*"x".repeat(33), 400)] {
        let answer = server.ask(&format!("GET /api/files/{file}/content"), "", b"").await;
        assert_eq!(answer.status, status, "{file}");
        assert!(answer.json()["error"].is_object());
    }
    let answer = server.ask("GET /api/files/empty/content", "", b"").await;
    answer.has("content-length: 0");
    let answer = server.ask("GET /api/files/parts/content", "", b"").await;
    assert_eq!(answer.status, 200);
    answer.has("transfer-encoding: chunked");
    assert!(answer.body.ends_with(b"0\r\n\r\n"));
    let mut stream = server.connect().await;
    let asked = "GET /api/files/breaks/content HTTP/1.1\r\nHost: localhost\r\n\
                 Authorization: Bearer good\r\nConnection: close\r\n\r\n";
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut broken = Vec::new();
    stream.read_to_end(&mut broken).await.unwrap();
    assert!(!broken.ends_with(b"0\r\n\r\n"), "a broken download must not look complete");
}

#[tokio::test]
async fn arguments_come_from_the_path() {
    let server = TestServer::open().await;
    let check = async |line: &str, body: &str, status: u16, expected: Value| {
        let answer = server.ask(line, "Content-Type: application/json\r\n", body.as_bytes()).await;
        let json = answer.json();
        let result =
            if status == 200 { json } else { json["error"]["details"][0]["field"].clone() };
        assert_eq!((answer.status, result), (status, expected), "{line}");
    };
    let given = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let seven = json!({ "fileId": "7" });
    check("GET /api/files/7", "", 200, given("status", seven.clone())).await;
    check("GET /api/v1/files/7", "", 200, given("status", seven.clone())).await;
    check("DELETE /api/files/7", "", 200, given("remove", seven.clone())).await;
    check("PUT /api/files/7", "{}", 200, given("change", seven.clone())).await;
    check("GET /api/files/7?fileId=7", "", 200, given("status", seven)).await;
    let more = json!({ "pages": 2, "fileId": "a/b c+d" });
    check("GET /api/files/a%2Fb%20c+d?pages=2", "", 200, given("status", more.clone())).await;
    check("POST /api/v1/files/a%2Fb%20c+d/share", "{\"pages\":2}", 200, given("share", more)).await;
    check("GET /api/files/7?fileId=8", "", 400, json!("fileId")).await;
    check("POST /api/files/7/share", "{\"fileId\":8}", 400, json!("fileId")).await;
    check(&format!("GET /api/files/{}", "x".repeat(33)), "", 400, json!("fileId")).await;
    check("GET /api/files/%ff", "", 400, Value::Null).await;
}

#[tokio::test]
async fn an_unknown_method_gets_the_list_of_allowed_ones() {
    let server = TestServer::open().await;
    for (line, allow) in [
        ("POST /api/files/7", "allow: get, head, delete, put"),
        ("GET /api/v1/files/7/share", "allow: post"),
        ("DELETE /api/files/7/content", "allow: get, head"),
        ("GET /api/upload", "allow: post"),
    ] {
        let answer = server.ask(line, "", b"").await;
        assert_eq!(answer.status, 405, "{line}");
        answer.has(allow);
        assert!(answer.json()["error"].is_object());
    }
}

#[tokio::test]
async fn openapi_and_docs_list_files_and_path_arguments() {
    let server = TestServer::open().await;
    let openapi = server.ask("GET /openapi.json", "", b"").await.json();
    let at = |path: &str, method: &str| openapi["paths"][path][method].clone();
    let get = at("/api/files/{fileId}", "get");
    assert_eq!(get["parameters"][0]["in"], "path");
    assert_eq!(get["parameters"][0]["required"], true);
    assert_eq!(get["parameters"][1]["name"], "pages");
    assert_eq!(get["parameters"][2], Value::Null);
    assert_eq!(at("/api/files/{fileId}", "delete")["operationId"], "remove");
    assert_eq!(at("/api/v1/files/{fileId}", "delete")["operationId"], "remove_2");
    let share = at("/api/files/{fileId}/share", "post");
    assert_eq!(share["parameters"][0]["name"], "fileId");
    let body = &share["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!((&body["required"], &body["properties"]["fileId"]), (&json!([]), &Value::Null));
    let form = &at("/api/v1/upload", "post")["requestBody"]["content"]["multipart/form-data"];
    assert_eq!(form["schema"]["properties"]["file"]["format"], "binary");
    assert_eq!(form["encoding"]["tags"]["contentType"], "application/json");
    assert_eq!(at("/api/files/{fileId}/content", "get")["parameters"][0]["in"], "path");
    for (name, media, schema) in [
        ("content", "*/*", json!({ "type": "string", "format": "binary" })),
        ("export", "application/json", json!({ "type": "object" })),
        ("prices", "text/csv", json!({ "type": "string" })),
    ] {
        let get = at(&format!("/api/files/{{fileId}}/{name}"), "get");
        let content = json!({ media: { "schema": schema } });
        assert_eq!(get["responses"]["200"]["content"], content, "{name}");
    }
    for (path, is_required) in
        [("collect", true), ("search", false), ("files/{fileId}/share", false)]
    {
        let post = at(&format!("/api/{path}"), "post");
        assert_eq!(post["requestBody"]["required"], is_required, "{path}");
    }
    assert_eq!(server.ask("POST /api/search", "", b"").await.json()["tool"], "search");
    let docs = server.ask("GET /docs", "", b"").await;
    let page = String::from_utf8(docs.body).unwrap();
    for shown in
        ["DELETE /api/v1/files/{fileId}", "POST /api/upload", "GET /api/files/{fileId}/content"]
    {
        assert!(page.contains(shown), "{shown}");
    }
}
