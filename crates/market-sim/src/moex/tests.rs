//! The wire protocol, request by request, and the laws that hold between its answers.

mod laws;
mod protocol;

use std::collections::BTreeMap;

use axum::http::{HeaderMap, Request};
use clock::Millis;
use http_body_util::BodyExt;
use serde_json::Value;
use testkit::FakeClock;
use tower::ServiceExt;

use super::*;
use crate::{Sim, SimConfig};

/// An exchange whose clock stands still at a moment of Moscow's time.
fn sim_at(moscow: &str) -> Sim {
    sim_of(7, moscow)
}

fn sim_of(seed: u64, moscow: &str) -> Sim {
    let at: jiff::Timestamp = format!("{}+03:00", moscow.replace(' ', "T")).parse().unwrap();
    Sim::new(SimConfig::new(seed, Arc::new(FakeClock::new(Millis(at.as_millisecond())))))
}

/// A Thursday afternoon, a quarter of an hour and twenty seconds after twenty past two.
const THURSDAY: &str = "2026-11-12 14:35:20";

async fn ask(sim: &Sim, path: &str) -> (u16, HeaderMap, String) {
    let path = path.replace(' ', "%20");
    let encoded: String = path
        .bytes()
        .map(|byte| match byte {
            0x80.. => format!("%{byte:02X}"),
            byte => char::from(byte).to_string(),
        })
        .collect();
    let request = Request::get(format!("/iss/{encoded}")).body(Body::empty()).unwrap();
    let response = sim.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).unwrap())
}

async fn json(sim: &Sim, path: &str) -> Value {
    let (status, _, body) = ask(sim, path).await;
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{path}: {error}: {body}"))
}

type Row = BTreeMap<String, Value>;

/// The rows of one block by the names of their columns.
async fn rows(sim: &Sim, path: &str, block: &str) -> Vec<Row> {
    let answer = json(sim, path).await;
    let columns =
        answer[block]["columns"].as_array().unwrap_or_else(|| panic!("{path}: no {block}"));
    let named = |row: &Value| {
        let names = columns.iter().map(|name| name.as_str().unwrap().to_owned());
        names.zip(row.as_array().unwrap().iter().cloned()).collect()
    };
    answer[block]["data"].as_array().unwrap().iter().map(named).collect()
}

/// All pages of candles, each asked for by its first row.
async fn candles(sim: &Sim, board: &str, secid: &str, query: &str) -> Vec<Row> {
    let market = if board == "TQBR" { "shares" } else { "index" };
    let path =
        format!("engines/stock/markets/{market}/boards/{board}/securities/{secid}/candles.json");
    let mut all = Vec::new();
    loop {
        let page = rows(sim, &format!("{path}?{query}&start={}", all.len()), "candles").await;
        let last = page.len() < candles::PAGE;
        all.extend(page);
        if last {
            return all;
        }
    }
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row:?}"))
}

fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_else(|| panic!("{name} of {row:?}"))
}

#[track_caller]
fn check_near(left: f64, right: f64, what: &str) {
    assert!((left - right).abs() <= 1e-6 * right.abs().max(1.0), "{what}: {left} and {right}");
}
