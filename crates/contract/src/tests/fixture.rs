//! Small services with real schemas, and an authenticator whose token is the scope it grants.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::{Fault, Kind};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    Authenticator, Call, CallRecord, Caller, Catalog, Concurrency, Contract, Credential, Cx,
    Envelope, ErrorTable, FailureContext, Meter, Pipeline, Reply, Schema, Scope, Service, ToolSpec,
    Tools,
};

#[derive(Deserialize)]
pub(crate) struct Args {
    pub(crate) n: i64,
}

pub(crate) struct Echo(pub(crate) Value);

impl Reply for Echo {
    fn result(&self) -> Value {
        self.0.clone()
    }

    fn text(&self) -> String {
        self.0.to_string()
    }
}

pub(crate) struct Plain;

impl Envelope for Plain {
    fn tool_error(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "type": cx.row.r#type, "code": fault.code(), "id": cx.request_id,
            "message": fault.message() })
    }

    fn http_body(&self, fault: &Fault, cx: &FailureContext<'_>) -> Value {
        json!({ "error": self.tool_error(fault, cx) })
    }
}

fn object() -> Value {
    json!({ "type": "object" })
}

pub(crate) fn contract(service: &str, tools: &[&str]) -> Contract {
    let input = json!({ "type": "object", "required": ["n"], "additionalProperties": false,
        "properties": { "n": { "type": "integer", "minimum": 0 },
            "timeoutMs": { "type": "integer", "minimum": 5, "maximum": 20 } } });
    let output = json!({ "type": "object", "required": ["n"] });
    let tool = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        title: String::new(),
        description: String::new(),
        input: Schema::compile(input.clone()).unwrap(),
        relaxed: None,
        output: Schema::compile(output.clone()).unwrap(),
        annotations: Value::Null,
        read_only: !name.contains("write"),
        http: None,
        http_only: false,
        timeout: None,
        concurrency: None,
        task: None,
        host: crate::HostTool::default(),
    };
    Contract {
        service: service.to_owned(),
        title: String::new(),
        version: String::new(),
        summary: String::new(),
        instructions: String::new(),
        host: crate::HostSpec::default(),
        documents: Vec::new(),
        streams: Vec::new(),
        uploads: Vec::new(),
        downloads: Vec::new(),
        resources: Vec::new(),
        access: crate::AccessRules::default(),
        body_bytes: None,
        body_scope: None,
        agent: None,
        tools: tools.iter().map(tool).collect(),
        errors: Arc::new(ErrorTable::of_kinds(object())),
    }
}

/// 7 waits for ever, 8 breaks the contract, 9 fails, any other number is echoed.
async fn answer(_cx: Cx<()>, args: Args) -> Result<Echo, Fault> {
    match args.n {
        7 => std::future::pending().await,
        8 => Ok(Echo(json!({ "m": 8 }))),
        9 => Err(Fault::new(Kind::NotFound, "nine", "there is no nine")),
        n => Ok(Echo(json!({ "n": n }))),
    }
}

pub(crate) fn table(names: &[&'static str]) -> Tools<()> {
    names.iter().fold(Tools::of(Arc::new(())), |tools, name| tools.tool(name, Scope::Read, answer))
}

pub(crate) fn service(name: &str, tools: &[&'static str]) -> Service {
    table(tools).bind(contract(name, tools), Plain).unwrap()
}

pub(crate) fn bind(rows: &[&'static str], promised: &[&str]) -> Result<Service, String> {
    table(rows).bind(contract("s", promised), Plain).map_err(|error| error.to_string())
}

pub(crate) struct ScopeAuthenticator;

/// The token is the scope it grants; "bad" is invalid.
#[async_trait]
impl Authenticator for ScopeAuthenticator {
    async fn authenticate(&self, credential: &Credential, _service: &str) -> Result<Caller, Fault> {
        let scope = match credential {
            Credential::Bearer(text) if !matches!(&**text, "bad" | "") => text.to_string(),
            _ => return Err(Fault::new(Kind::Unauthenticated, "who", "who are you")),
        };
        Ok(Caller::new("t", [scope]))
    }
}

pub(crate) struct NoMeter;

impl Meter for NoMeter {
    fn record(&self, _record: &CallRecord<'_>) {}
}

fn pipeline_of(service: Service, timeout: Duration) -> Pipeline {
    let catalog = Catalog::new(vec![service]).unwrap();
    Pipeline::new(catalog, Arc::new(ScopeAuthenticator), Arc::new(NoMeter), timeout)
}

/// A pipeline whose one contract carries the credential in this argument.
pub(crate) fn pipeline_with_credential_argument(argument: &str) -> Pipeline {
    let mut contract = contract("s", &["a.b"]);
    contract.access.credential_argument = Some(argument.to_owned());
    for tool in &mut contract.tools {
        let mut json = tool.input.json().clone();
        json["required"] = json!([argument, "n"]);
        json["properties"][argument] = json!({ "type": "string" });
        tool.input = Schema::compile(json).unwrap();
        tool.relaxed = contract.access.without_required_credential(&tool.input);
    }
    let service = table(&["a.b"]).bind(contract, Plain).unwrap();
    let catalog = Catalog::new(vec![service]).unwrap();
    Pipeline::new(catalog, Arc::new(ScopeAuthenticator), Arc::new(NoMeter), Duration::from_secs(1))
}

pub(crate) fn pipeline() -> Pipeline {
    pipeline_of(service("s", &["a.b"]), Duration::from_millis(50))
}

/// A pipeline whose tool runs `max` calls at once and queues `queue`, with a timeout of a minute.
pub(crate) fn narrow(max: usize, queue: usize) -> Pipeline {
    let service = service("s", &["a.b"]).with_default_concurrency(Concurrency { max, queue });
    pipeline_of(service, Duration::from_mins(1))
}

pub(crate) fn call(credential: &str, n: Value) -> Call {
    let mut call = Call::new(Map::from_iter([("n".to_owned(), n)]));
    call.meta.credential = Credential::Bearer(credential.into());
    call
}
