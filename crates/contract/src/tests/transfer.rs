//! Uploads and downloads take the steps of a call, and open tools identify their callers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fault::{Fault, Kind};
use futures_util::{StreamExt as _, stream};
use serde_json::{Map, Value, json};

use super::fixture::{Args, Echo, NoMeter, Plain, ScopeAuthenticator, contract};
use crate::{
    Call, Catalog, Contract, Credential, Cx, Download, DownloadSpec, HttpBinding, MemoryParts,
    Pipeline, Schema, Scope, Service, Tools, Upload, UploadPart, UploadSpec, View,
};

fn schema(json: Value) -> Schema {
    Schema::compile(json).unwrap()
}

fn files(name: &str) -> Contract {
    let form = json!({ "type": "object", "required": ["n"], "additionalProperties": false,
        "properties": { "n": { "type": "integer", "minimum": 0 } } });
    let upload = UploadSpec {
        name: "send".to_owned(),
        title: String::new(),
        description: String::new(),
        path: "/send".to_owned(),
        also: vec!["/v1/send".to_owned()],
        file_bytes: 4,
        batch_bytes: 8,
        raw: false,
        form: schema(form.clone()),
        output: schema(json!({ "type": "object", "required": ["n"] })),
        concurrency: None,
    };
    let download = DownloadSpec {
        name: "fetch".to_owned(),
        title: String::new(),
        description: String::new(),
        path: "/files/{n}".to_owned(),
        also: Vec::new(),
        input: schema(form),
        media: None,
    };
    Contract { uploads: vec![upload], downloads: vec![download], ..contract(name, &["who"]) }
}

/// As in the fixture, the form's number selects the result: 7 never ends, 8 breaks the contract.
async fn receive(_cx: Cx<()>, mut upload: Upload) -> Result<Echo, Fault> {
    while let Some(part) = upload.next().await? {
        if let UploadPart::File(mut file) = part {
            while file.chunk().await?.is_some() {}
        }
    }
    match upload.form::<Args>()?.n {
        7 => std::future::pending().await,
        8 => Ok(Echo(json!({}))),
        n => Ok(Echo(json!({ "n": n }))),
    }
}

async fn fetch(_cx: Cx<()>, args: Args) -> Result<Download, Fault> {
    let broken = || Err(io::Error::other("gone"));
    let chunks: Vec<io::Result<Bytes>> = match args.n {
        0 => Vec::new(),
        7 => return Ok(Download::new("a/b", stream::pending())),
        8 => vec![broken()],
        9 => return Err(Fault::not_found("nine", "there is no nine")),
        _ => vec![Ok(Bytes::from("one")), Ok(Bytes::from("two")), broken()],
    };
    Ok(Download::new("a/b", stream::iter(chunks)))
}

async fn who(cx: Cx<()>, _args: Args) -> Result<Echo, Fault> {
    Ok(Echo(json!({ "n": 0, "who": &*cx.caller.subject })))
}

fn service(contract: Contract, scope: Scope) -> Service {
    Tools::of(Arc::new(()))
        .tool("who", scope, who)
        .upload("send", Scope::Write, receive)
        .download("fetch", Scope::Read, fetch)
        .bind(contract, Plain)
        .unwrap()
}

fn pipeline(service: Service) -> Pipeline {
    let catalog = Catalog::new(vec![service]).unwrap();
    Pipeline::new(catalog, Arc::new(ScopeAuthenticator), Arc::new(NoMeter), Duration::from_secs(1))
}

fn call(credential: &str, n: Option<i64>) -> Call {
    let args = n.map(|n| ("n".to_owned(), json!(n)));
    let mut call = Call::new(Map::from_iter(args));
    if !credential.is_empty() {
        call.meta.credential = Credential::Bearer(credential.into());
    }
    call
}

fn parts(n: &str, bytes: usize) -> MemoryParts {
    MemoryParts::new().file("file", "a", None, [vec![0; bytes].as_slice()]).field("n", n)
}

#[tokio::test(start_paused = true)]
async fn an_upload_passes_every_step() {
    let pipeline = pipeline(service(files("s"), Scope::Open));
    let view = View::default();
    let send = pipeline.catalog().uploads(&view).next().unwrap();
    let left = call("write", None);
    left.cancel.cancel();
    let cut = Fault::new(Kind::Cancelled, "body_cut_off", "cut off");
    for (call, parts, expected) in [
        (call("write", None), parts("1", 4), None),
        (call("bad", None), parts("x", 5), Some("who")),
        (call("read", None), parts("x", 5), Some("scope_missing")),
        (call("write", None), parts("x", 5), Some("file_too_large")),
        (call("write", None), parts("x", 4), Some("invalid_input")),
        (call("write", None), parts("8", 4), Some("internal")),
        (call("write", None), parts("7", 4), Some("deadline")),
        (left, parts("7", 4), Some("cancelled")),
        (call("write", None), MemoryParts::new().ending_with(cut), Some("body_cut_off")),
    ] {
        let outcome = pipeline.upload(send, call, Upload::new(parts)).await;
        assert_eq!(outcome.err().map(|failure| failure.code), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_download_is_a_call_until_its_first_byte() {
    let pipeline = pipeline(service(files("s"), Scope::Open));
    let view = View::default();
    let fetch = pipeline.catalog().downloads(&view).next().unwrap();
    for (credential, n, expected) in [
        ("read", 0, Ok("")),
        ("read", 1, Ok("onetwo!")),
        ("bad", 1, Err("who")),
        ("write", 1, Err("scope_missing")),
        ("read", -1, Err("invalid_input")),
        ("read", 7, Err("deadline")),
        ("read", 8, Err("internal")),
        ("read", 9, Err("nine")),
    ] {
        let outcome = match pipeline.download(fetch, call(credential, Some(n))).await {
            Err(failure) => Err(failure.code),
            Ok(file) => {
                let text = |chunk: io::Result<Bytes>| {
                    chunk.map_or("!".to_owned(), |it| String::from_utf8_lossy(&it).into_owned())
                };
                Ok(file.body.map(text).collect::<Vec<_>>().await.concat())
            }
        };
        assert_eq!(outcome, expected.map(str::to_owned), "{credential} {n}");
    }
}

#[tokio::test]
async fn an_open_tool_knows_who_calls_where_the_contract_wants_it() {
    for (recognise, credential, expected) in [
        (true, "read", "t"),
        (true, "bad", "anonymous"),
        (true, "", "anonymous"),
        (false, "read", "anonymous"),
    ] {
        let mut contract = files("s");
        contract.access.identifies_callers = recognise;
        let pipeline = pipeline(service(contract, Scope::Open));
        let reply =
            pipeline.call_by_name("who", call(credential, Some(1))).await.unwrap().ok().unwrap();
        assert_eq!(reply.result()["who"], expected, "{recognise} {credential}");
    }
}

#[test]
fn a_view_hides_files_as_it_hides_tools() {
    let catalog = Catalog::new(vec![service(files("s"), Scope::Open)]).unwrap();
    let only = |name: &str| Some(vec![name.to_owned()]);
    for (view, uploads, downloads) in [
        (View::default(), 1, 1),
        (View { read_only: true, ..View::default() }, 0, 1),
        (View { tools: only("fetch"), ..View::default() }, 0, 1),
        (View { services: only("other"), ..View::default() }, 0, 0),
        (View { services: only("s"), ..View::default() }, 1, 1),
    ] {
        let seen = (catalog.uploads(&view).count(), catalog.downloads(&view).count());
        assert_eq!(seen, (uploads, downloads), "{view:?}");
    }
}

#[test]
fn nothing_answers_twice_at_one_address() {
    let check = |method: &str, path: &str, good: bool| {
        let mut contract = files("s");
        contract.tools[0].http = Some(HttpBinding {
            method: method.to_owned(),
            path: "/here".to_owned(),
            also: vec![path.to_owned()],
            body: schema(json!({})),
            partial: false,
        });
        let made = Catalog::new(vec![service(contract, Scope::Open)]);
        assert_eq!(made.is_ok(), good, "{method} {path}");
    };
    check("GET", "/there", true);
    check("GET", "/v1/send", true);
    check("POST", "/v1/send", false);
    check("DELETE", "/files/{n}", true);
    check("GET", "/files/{n}", false);
    check("GET", "/here", false);
}

#[test]
fn a_contract_without_its_handlers_is_refused() {
    let bare = Tools::of(Arc::new(())).tool("who", Scope::Open, who);
    assert!(bare.bind(files("s"), Plain).is_err());
}
