//! The schemas of the real contracts: all of them compile, and none is compiled before it is used.

use serde_json::json;

use crate::{Contract, Schema, file_paths};

fn contracts() -> Vec<Contract> {
    let services = file_paths().filter_map(|path| path.strip_suffix("/contract.json"));
    services.map(|service| Contract::load(service).unwrap()).collect()
}

/// Every schema of a contract, with the name of what it belongs to.
fn schemas(contract: &Contract) -> Vec<(&str, &Schema)> {
    let mut all: Vec<(&str, &Schema)> = vec![
        ("the envelope", &contract.errors.envelope),
        ("the envelope over HTTP", &contract.errors.http_envelope),
    ];
    for tool in &contract.tools {
        let body = tool.http.as_ref().map(|http| &http.body);
        let of_tool = [Some(&tool.input), tool.relaxed.as_ref(), Some(&tool.output), body];
        all.extend(of_tool.into_iter().flatten().map(|schema| (tool.name.as_str(), schema)));
    }
    for stream in &contract.streams {
        let query = stream.sse.as_ref().map(|sse| &sse.query);
        let of_stream = [Some(&stream.input), Some(&stream.event), query];
        all.extend(of_stream.into_iter().flatten().map(|schema| (stream.name.as_str(), schema)));
    }
    for upload in &contract.uploads {
        all.extend([&upload.form, &upload.output].map(|schema| (upload.name.as_str(), schema)));
    }
    all.extend(contract.downloads.iter().map(|it| (it.name.as_str(), &it.input)));
    all
}

#[test]
fn every_schema_of_every_contract_compiles() {
    for contract in contracts() {
        for (name, schema) in schemas(&contract) {
            let compiled = schema.validator();
            assert!(compiled.is_ok(), "{} of {}: {compiled:?}", name, contract.service);
        }
    }
}

#[test]
fn a_loaded_contract_has_compiled_nothing() {
    for contract in contracts() {
        for (name, schema) in schemas(&contract) {
            assert!(!schema.is_compiled(), "{} of {}", name, contract.service);
        }
    }
}

#[test]
fn a_schema_that_does_not_compile_fails_its_first_check() {
    let broken = json!({ "type": "nothing" });
    assert!(Schema::compile(broken.clone()).is_err());
    let fault = Schema::new(broken).check(&json!({})).unwrap_err();
    assert_eq!(fault.code(), "internal");
}
