//! Names and views.

use super::fixture::{Plain, bind, contract, service, table};
use crate::{Catalog, View};

fn listed(catalog: &Catalog, view: &View) -> Vec<String> {
    catalog.list(view).map(|it| it.name.to_owned()).collect()
}

fn two() -> Catalog {
    Catalog::new(vec![
        service("left", &["left.read", "left.write", "health"]),
        service("right", &["look", "health"]),
    ])
    .unwrap()
}

#[test]
fn a_table_and_its_contract_must_agree() {
    assert!(bind(&["a"], &["a", "b"]).is_err_and(|error| error.contains("no handler")));
    assert!(bind(&["a", "b"], &["a"]).is_err_and(|error| error.contains("not in the contract")));
    assert!(bind(&["b", "a"], &["a", "b"]).is_ok());
}

#[test]
fn dots_become_underscores_and_shared_names_get_their_service() {
    let names = listed(&two(), &View::default());
    assert_eq!(names, ["left_read", "left_write", "left_health", "look", "right_health"]);
}

#[test]
fn one_service_alone_has_the_contracts_names() {
    let alone = View::of_service(&two().services()[0].name);
    assert_eq!(listed(&two(), &alone), ["left.read", "left.write", "health"]);
}

#[track_caller]
fn check(service: Option<&str>, name: &str, found: Option<(&str, &str)>) {
    let catalog = two();
    let tool = catalog.find(service, name);
    let tool = tool.map(|it| (&*it.service().name, it.row().spec.name.as_str()));
    assert_eq!(tool, found, "{service:?} {name}");
}

#[test]
fn every_spelling_finds_its_tool_and_an_ambiguous_one_none() {
    check(None, "left_read", Some(("left", "left.read")));
    check(None, "left.read", Some(("left", "left.read")));
    check(None, "right_health", Some(("right", "health")));
    check(None, "health", None);
    check(Some("right"), "health", Some(("right", "health")));
    check(Some("left"), "left_read", Some(("left", "left.read")));
    check(Some("left"), "look", None);
    check(Some("middle"), "look", None);
}

/// `status` of the first service has a name of its own beside other services.
#[test]
fn a_name_for_hosts_is_listed_on_the_whole_server_and_every_spelling_is_callable() {
    let mut contract = contract("left", &["status", "look"]);
    contract.tools[0].host.name = Some("left_status".to_owned());
    let left = table(&["status", "look"]).bind(contract, Plain).unwrap();
    let catalog = Catalog::new(vec![left, service("right", &["read"])]).unwrap();
    assert_eq!(listed(&catalog, &View::default()), ["left_status", "look", "read"]);
    let alone = View::of_service(&catalog.services()[0].name);
    assert_eq!(listed(&catalog, &alone), ["status", "look"]);
    for (service, name) in [
        (None, "status"),
        (None, "left_status"),
        (Some("left"), "status"),
        (Some("left"), "left_status"),
    ] {
        assert_eq!(catalog.find(service, name).unwrap().row().spec.name, "status", "{name}");
    }
    for name in ["status", "left_status"] {
        let tools = Some(vec![name.to_owned()]);
        let view = View { tools, ..View::default() };
        assert_eq!(listed(&catalog, &view), ["left_status"], "{name}");
    }
}

#[test]
fn views_only_narrow() {
    let catalog = two();
    let words = |list: &[&str]| Some(list.iter().map(|it| (*it).to_owned()).collect());
    let read_only = View { read_only: true, ..View::default() };
    let some = View { tools: words(&["left.read", "left_write"]), ..View::default() };
    let right = View { services: words(&["right"]), ..View::default() };
    assert_eq!(listed(&catalog, &some), ["left_read", "left_write"]);
    assert_eq!(listed(&catalog, &some.narrowed(&read_only)), ["left_read"]);
    assert_eq!(listed(&catalog, &right), ["look", "right_health"]);
    assert!(listed(&catalog, &some.narrowed(&right)).is_empty());
    let other = View { tools: words(&["left_read", "look"]), ..View::default() };
    assert_eq!(listed(&catalog, &some.narrowed(&other)), ["left_read"]);
    // Asking for everything gives back what there was.
    assert_eq!(listed(&catalog, &some.narrowed(&View::default())), listed(&catalog, &some));
}

fn resource(read: &str, watch: Option<&str>, complete: &[(&str, &str)]) -> crate::ResourceSpec {
    let complete = complete.iter().map(|(name, at)| ((*name).to_owned(), (*at).to_owned()));
    crate::ResourceSpec {
        template: "klines://{symbol}/{interval}".to_owned(),
        name: String::new(),
        title: String::new(),
        description: String::new(),
        read: read.to_owned(),
        watch: watch.map(ToOwned::to_owned),
        complete: complete.collect(),
    }
}

#[track_caller]
fn check_references(resource: crate::ResourceSpec, missing: Option<&str>) {
    let mut contract = contract("s", &["a", "b"]);
    contract.resources.push(resource);
    let error = contract.check_references().err().map(|error| error.to_string());
    assert_eq!(error.is_some(), missing.is_some(), "{error:?}");
    let found = error.unwrap_or_default();
    assert!(missing.is_none_or(|missing| found.contains(missing)), "{found}");
}

#[test]
fn a_resource_refers_only_to_what_the_contract_has() {
    check_references(resource("a", None, &[("symbol", "b#/list")]), None);
    check_references(resource("c", None, &[]), Some("no tool c"));
    check_references(resource("a", Some("live"), &[]), Some("no stream live"));
    check_references(resource("a", None, &[("symbol", "c#/list")]), Some("no tool c"));
    check_references(resource("a", None, &[("symbol", "b")]), Some("no tool"));
}

#[track_caller]
fn check_template(uri: &str, expected: Option<serde_json::Value>) {
    let spec = resource("", None, &[]);
    assert_eq!(spec.arguments(uri).map(serde_json::Value::Object), expected, "{uri}");
}

#[test]
fn a_resource_s_address_carries_its_arguments() {
    let args = |symbol, interval| Some(serde_json::json!({"symbol": symbol, "interval": interval}));
    check_template("klines://BTCUSDT/1m", args("BTCUSDT", "1m"));
    check_template("klines://BINANCE:BTCUSDT/1M", args("BINANCE:BTCUSDT", "1M"));
    check_template("klines://BTC/USDT/1m", args("BTC/USDT", "1m"));
    for bad in ["klines://BTCUSDT", "klines:///1m", "klines://BTCUSDT/", "quotes://A/1m", ""] {
        check_template(bad, None);
    }
}
