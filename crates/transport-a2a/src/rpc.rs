//! The JSON-RPC binding: one address, eleven methods.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use contract::RequestMeta;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::desk::{Begun, Desk, Visitor, history_length};
use crate::door;
use crate::problem::{Problem, Reason};
use crate::sse::{self, Wrapping};
use crate::wire::{ListParams, PushConfig, PushParams, SendParams, StreamResponse, TaskParams};

/// What every message of the binding looks like.
#[derive(Deserialize)]
struct Request {
    jsonrpc: Option<Value>,
    #[serde(default)]
    id: Value,
    method: Option<Value>,
    params: Option<Value>,
}

pub(crate) async fn serve(
    State(desk): State<Arc<Desk>>,
    Extension(arrival): Extension<RequestMeta>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(problem) = door::check_body_type(&headers) {
        return refused(&Value::Null, &problem);
    }
    let request = match read(&body) {
        Ok(request) => request,
        Err(problem) => return refused(&Value::Null, &problem),
    };
    let id = request.id.clone();
    let answered = async {
        let (method, params) = checked(request)?;
        door::check_version(&headers, query.as_deref())?;
        if !METHODS.contains(&method.as_str()) {
            let shown: String = method.chars().take(64).collect();
            let message = format!("there is no method {shown:?}");
            return Err(Problem::new(Reason::MethodNotFound, message));
        }
        let visitor = desk.enter(arrival).await?;
        call(&desk, &visitor, &headers, &method, params, &id).await
    };
    match answered.await {
        Ok(response) => response,
        Err(problem) => refused(&id, &problem),
    }
}

fn read(body: &[u8]) -> Result<Request, Problem> {
    let json: Value = serde_json::from_slice(body)
        .map_err(|_| Problem::new(Reason::ParseError, "the body is not JSON"))?;
    let wrong = |why: &str| Problem::new(Reason::InvalidRequest, why);
    if json.is_array() {
        return Err(wrong("one request at a time; batches are not taken"));
    }
    let request: Request =
        serde_json::from_value(json).map_err(|_| wrong("the body is not a request"))?;
    match request.id {
        Value::String(_) | Value::Number(_) => Ok(request),
        _ => Err(wrong("`id` must be a text or a number")),
    }
}

fn checked(request: Request) -> Result<(String, Value), Problem> {
    let wrong = |why: &str| Problem::new(Reason::InvalidRequest, why);
    if request.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    let Some(Value::String(method)) = request.method else {
        return Err(wrong("`method` must be a text"));
    };
    match request.params {
        None | Some(Value::Null) => Ok((method, json!({}))),
        Some(params @ Value::Object(_)) => Ok((method, params)),
        Some(_) => Err(Problem::params("", "an object")),
    }
}

const METHODS: [&str; 11] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
];

async fn call(
    desk: &Arc<Desk>,
    visitor: &Visitor,
    headers: &HeaderMap,
    method: &str,
    params: Value,
    id: &Value,
) -> Result<Response, Problem> {
    let result = match method {
        "SendMessage" => json!(send(desk, visitor, given(params)?).await?),
        "SendStreamingMessage" => {
            let asked: SendParams = given(params)?;
            let length = asked.configuration.as_ref().and_then(|it| it.history_length);
            let begun = desk.begin(visitor, asked).await?;
            let wrapping = Wrapping::Rpc(id.clone());
            return Ok(sse::of_message(desk, begun, wrapping, history_length(length)?));
        }
        "GetTask" => json!(desk.get(visitor, &given(params)?).await?),
        "ListTasks" => json!(desk.list(visitor, given::<ListParams>(params)?).await?),
        "CancelTask" => {
            let asked: TaskParams = given(params)?;
            json!(desk.cancel(visitor, &asked.id).await?)
        }
        "SubscribeToTask" => {
            let asked: TaskParams = given(params)?;
            let watch = desk.subscribe(visitor, &asked.id).await?;
            return Ok(sse::of_task(desk, watch, Wrapping::Rpc(id.clone())));
        }
        "CreateTaskPushNotificationConfig" => {
            json!(desk.create_webhook(visitor, given::<PushConfig>(params)?).await?)
        }
        "GetTaskPushNotificationConfig" => json!(desk.webhook(visitor, &given(params)?).await?),
        "ListTaskPushNotificationConfigs" => {
            let asked: PushParams = given(params)?;
            json!({ "configs": desk.webhooks(visitor, &asked.task_id).await? })
        }
        "DeleteTaskPushNotificationConfig" => {
            desk.delete_webhook(visitor, &given(params)?).await?;
            json!({})
        }
        _ => desk.extended_card(headers),
    };
    Ok(response(StatusCode::OK, &json!({ "jsonrpc": "2.0", "id": id, "result": result })))
}

/// Sends a message and, unless the client is in a hurry, waits for what comes of it.
pub(crate) async fn send(
    desk: &Arc<Desk>,
    visitor: &Visitor,
    asked: SendParams,
) -> Result<StreamResponse, Problem> {
    let configuration = asked.configuration.as_ref();
    let length = history_length(configuration.and_then(|it| it.history_length))?;
    let hurry = configuration.and_then(|it| it.return_immediately).unwrap_or_default();
    Ok(match desk.begin(visitor, asked).await? {
        Begun::Message(message) => StreamResponse::Message(*message),
        Begun::Task(watch) => {
            let task = if hurry { watch.task } else { watch.settled().await };
            StreamResponse::Task(task.with_history(length))
        }
    })
}

/// Parameters as an operation reads them.
pub(crate) fn given<T: DeserializeOwned>(params: Value) -> Result<T, Problem> {
    serde_json::from_value(params).map_err(|error| {
        // The library's words name the field and the type, and none of the data but a literal.
        let words: String = error.to_string().chars().take(200).collect();
        Problem::params("", words)
    })
}

fn refused(id: &Value, problem: &Problem) -> Response {
    // The binding answers with 200; a few refusals are for those who read no bodies.
    let status = match problem.reason {
        Reason::Unauthenticated
        | Reason::Forbidden
        | Reason::RateLimited
        | Reason::Unavailable
        | Reason::BodyTypeNotSupported => problem.http_status(),
        _ => StatusCode::OK,
    };
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": problem.rpc() });
    let mut response = response(status, &body);
    door::mark(&mut response, problem.retry_after);
    response
}

fn response(status: StatusCode, body: &Value) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (status, headers, body.to_string()).into_response()
}
