//! The collector over MCP: authentication and its messages, the limits of tokens, and durability.

use std::time::Duration;

use serde_json::{Value, json};

use crate::contract_examples::every_scope;
use crate::process::{Folder, Server, http, mcp_call, mcp_headers, mcp_post, run, stoa};

fn minted(folder: &Folder, args: &[&str]) -> String {
    let (code, token, err) = run(stoa(folder.path()).args(["token", "mint"]).args(args));
    assert_eq!(code, 0, "{err}");
    token.trim().to_owned()
}

/// The result, or the error object.
/// The token comes first: of a body over 64 KiB it must be within the first 64 KiB.
async fn call(server: &Server, tool: &str, more: Value, token: &str) -> Result<Value, Value> {
    let mut args = json!({ "capability_token": token });
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = mcp_call(server, "/mcp/collector", tool, &args).await;
    let result = &answer["result"];
    match result["isError"].as_bool().unwrap_or(false) {
        false => Ok(result["structuredContent"].clone()),
        true => Err(result["content"][0]["text"].as_str().unwrap().parse().unwrap()),
    }
}

/// The message with which a token is refused; the arguments are invalid too, and the message does
/// not mention them.
async fn refused(server: &Server, token: &str) -> String {
    let error = call(server, "ingest_tick", json!({ "d": 5 }), token).await.unwrap_err();
    assert_eq!((&error["ok"], &error["error"]), (&json!(false), &json!("auth_error")), "{error}");
    let text = error.to_string();
    assert!(token.len() < 10 || !text.contains(token), "{text}");
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn each_invalid_token_is_refused_with_its_own_message_before_the_arguments_are_checked() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let good = minted(&folder, &["--scope", "write"]);
    let reply = mcp_call(&server, "/mcp/collector", "ingest_tick", &json!({ "d": 5 })).await;
    assert!(
        reply["result"]["content"][0]["text"].as_str().unwrap().contains("no capability token")
    );
    assert!(refused(&server, "rubbish").await.contains("cannot be read"));
    let elsewhere = minted(&Folder::new(), &["--scope", "write"]);
    assert!(refused(&server, &elsewhere).await.contains("not signed by this server"));
    let brief = minted(&folder, &["--scope", "write", "--ttl", "1s"]);
    let gone = async {
        loop {
            let error = call(&server, "ingest_tick", json!({ "d": 5 }), &brief).await.unwrap_err();
            if error["error"] == "auth_error" {
                return error["message"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let gone = tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
    assert!(gone.contains("expired"), "{gone}");
    let reader = minted(&folder, &["--scope", "read"]);
    assert!(refused(&server, &reader).await.contains("needs the scope \"write\""));
    // With a good token the error names the invalid arguments.
    let error = call(&server, "ingest_tick", json!({ "d": 5 }), &good).await.unwrap_err();
    assert_eq!(
        (&error["error"], &error["details"][0]["field"]),
        (&json!("validation_error"), &json!("d"))
    );
    let (code, _, err) =
        run(stoa(folder.path()).args(["token", "revoke"]).env("STOA_TOKEN", &good));
    assert_eq!(code, 0, "{err}");
    let revoked = async {
        loop {
            let error = call(&server, "ingest_tick", json!({ "d": 5 }), &good).await.unwrap_err();
            if error["error"] == "auth_error" {
                return error["message"].as_str().unwrap().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let revoked = tokio::time::timeout(Duration::from_secs(30), revoked).await.unwrap();
    assert!(revoked.contains("revoked"), "{revoked}");
    let admin = minted(&folder, &["--scope", "admin"]);
    let reply = call(&server, "auth_metrics", json!({}), &admin).await.unwrap();
    let metrics = &reply["result"]["metrics"];
    assert_eq!((&metrics["missing_tokens"], &metrics["invalid_tokens"]), (&json!(1), &json!(2)));
    assert_eq!((&metrics["scope_denials"], &metrics["revoked_tokens"]), (&json!(1), &json!(1)));
    for secret in [&good, &reader, &brief, &elsewhere, &admin] {
        assert!(!server.log().contains(secret.as_str()));
    }
}

#[tokio::test]
async fn a_bearer_header_is_accepted_on_the_common_endpoint() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    let params = json!({ "name": "fetch_market_features", "arguments": { "sku": "A" } });
    let request = http().post(server.url("/mcp")).bearer_auth(&token);
    let answer = mcp_headers(request, "tools/call", params.clone()).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["result"]["structuredContent"]["sample_count"], 0, "{answer}");
    let (_, without) = mcp_post(&server.url("/mcp"), "tools/call", params).await;
    assert_eq!(without["result"]["isError"], true, "{without}");
}

#[tokio::test]
async fn a_limited_token_reaches_only_its_skus() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let scopes = "read,write,collect,import";
    let limited = minted(&folder, &["--scope", scopes, "--sku-prefix", "OWN-", "--market", "EU"]);
    let all = every_scope(folder.path());
    let outside = [
        ("ingest_tick", json!({ "d": { "sku": "X", "our_price": 1, "market": "EU" } })),
        ("ingest_tick", json!({ "d": { "sku": "OWN-1", "our_price": 1 } })),
        ("fetch_market_features", json!({ "sku": "OWN-1", "market": "US" })),
        ("fetch_market_features", json!({ "sku": "X", "market": "EU" })),
        ("start_collection", json!({ "sku": "X", "market": "EU" })),
        ("start_collection", json!({ "sku": "OWN-1", "market": "EU", "connector": "file" })),
        ("import_product_catalog", json!({ "rows": [{ "sku": "OWN-1" }, { "sku": "X" }] })),
    ];
    for (tool, args) in outside {
        let error = call(&server, tool, args.clone(), &limited).await.unwrap_err();
        assert_eq!(error["error"], "auth_error", "{tool} {args}: {error}");
    }
    let own = json!({ "d": { "sku": "OWN-1", "our_price": 1, "market": "EU" } });
    call(&server, "ingest_tick", own, &limited).await.unwrap();
    // A job beyond the token's limits looks like one that does not exist.
    let started = call(&server, "start_collection", json!({ "sku": "X" }), &all).await.unwrap();
    let job = json!({ "job_id": started["job_id"] });
    call(&server, "get_job_status", job.clone(), &all).await.unwrap();
    let error = call(&server, "get_job_status", job, &limited).await.unwrap_err();
    assert_eq!(error["error"], "job_not_found");
}

#[tokio::test]
async fn acknowledged_ticks_survive_a_kill_and_the_next_server_finishes_the_job() {
    let folder = Folder::new();
    let token = every_scope(folder.path());
    let mut jobs = Vec::new();
    for round in 0..3 {
        let server = Server::start(folder.path(), &[]);
        let d =
            json!({ "sku": "KEPT", "our_price": 10 + round, "ts": 1_750_000_000_000_i64 + round });
        call(&server, "ingest_tick", json!({ "d": d }), &token).await.unwrap();
        let ask = json!({ "sku": format!("JOB-{round}"), "depth": 3 });
        let started = call(&server, "start_collection", ask, &token).await.unwrap();
        jobs.push(started["job_id"].clone());
        server.kill();
    }
    let server = Server::start(folder.path(), &[]);
    let args = json!({ "sku": "KEPT", "time_window": "P99999D" });
    let reply = call(&server, "fetch_market_features", args, &token).await.unwrap();
    assert_eq!((&reply["sample_count"], &reply["our_price"]), (&json!(3), &json!(12.0)), "{reply}");
    for job in jobs {
        let done = async {
            loop {
                let reply = call(&server, "get_job_status", json!({ "job_id": job }), &token).await;
                let reply = reply.unwrap();
                if reply["job"]["status"] == "DONE" {
                    return reply;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let done = tokio::time::timeout(Duration::from_secs(60), done).await.unwrap();
        assert!(done["job"]["collected"].as_u64().unwrap() >= 9, "{done}");
        let sku = &done["job"]["sku"];
        let reply =
            call(&server, "fetch_market_features", json!({ "sku": sku }), &token).await.unwrap();
        // Collected once or twice, stored once.
        assert_eq!(reply["sample_count"], done["job"]["collected"], "{reply}");
    }
}

#[tokio::test]
async fn many_rows_are_ingested_in_one_call() {
    let folder = Folder::new();
    let server = Server::start(folder.path(), &[]);
    let token = every_scope(folder.path());
    // Larger than the body limit of other services.
    let name = "A thing of many words. ".repeat(20);
    let rows: Vec<Value> = (0..10_000)
        .map(|it| json!({ "sku": format!("SKU-{it:06}"), "name": name, "price": 9.99, "cost": 5 }))
        .collect();
    let done =
        call(&server, "import_product_catalog", json!({ "rows": rows }), &token).await.unwrap();
    assert_eq!((&done["count"], &done["total_input"]), (&json!(10_000), &json!(10_000)));
}

#[test]
fn a_catalogue_is_imported_from_a_file() {
    let folder = Folder::new();
    let file = folder.path().join("goods.csv");
    let import = |text: &str| {
        std::fs::write(&file, text).unwrap();
        run(stoa(folder.path()).args(["import", "catalog"]).arg(&file))
    };
    let (code, out, err) = import("sku;price;cost\nA;10,50;6\nB;cheap;1\nC;0;1\n");
    assert_eq!((code, out.as_str()), (5, "1 product imported\n"));
    let refused = "stoa: 2 rows refused\n  \
        line 3, column \"price\": expected a number, not \"cheap\"\n  \
        line 4, column \"price\": expected a number more than 0\n";
    assert!(err.ends_with(refused), "{err}");
    let (code, _, err) = import("sku,price\nA,\"1,290\"\n");
    assert!(code == 2 && err.contains("--decimal point or --decimal comma"), "{code}: {err}");
    let (code, out, err) =
        import("Handle,Title,Variant SKU,Variant Price,Cost per item\nm,Mug,M-1,9.90,4\n");
    assert_eq!((code, out.as_str()), (0, "1 product imported\n"), "{err}");
    let (code, _, err) = import("sku,price\n,1\n");
    assert!(code == 5 && err.contains("the file has no product"), "{code}: {err}");
    let (code, _, err) = import("name,price\nA,1\n");
    assert!(err.contains("sku") && code != 0, "{code}: {err}");
    let (code, _, err) = run(stoa(folder.path()).args(["import", "catalog", "missing.csv"]));
    assert!(code == 2 && err.contains("missing.csv"), "{code}: {err}");
}
