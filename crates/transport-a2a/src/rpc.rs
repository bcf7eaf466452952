//! The JSON-RPC binding: one path, eleven methods.

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

use crate::error::{A2aError, ErrorReason};
use crate::handler::{AuthenticatedCaller, RequestHandler, SendOutcome, history_length};
use crate::http_checks;
use crate::sse::{self, EventFormat};
use crate::wire::{ListParams, PushConfig, PushParams, SendParams, StreamResponse, TaskParams};

/// A larger body is parsed on a blocking thread.
const INLINE_PARSE_BYTES: usize = 256 * 1024;

/// A JSON-RPC request.
#[derive(Deserialize)]
struct RpcRequest {
    jsonrpc: Option<Value>,
    #[serde(default)]
    id: Value,
    method: Option<Value>,
    params: Option<Value>,
}

pub(crate) async fn serve(
    State(handler): State<Arc<RequestHandler>>,
    Extension(meta): Extension<RequestMeta>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(error) = http_checks::check_body_type(&headers) {
        return refused(&Value::Null, &error);
    }
    let request = match read(body).await {
        Ok(request) => request,
        Err(error) => return refused(&Value::Null, &error),
    };
    let id = request.id.clone();
    let answered = async {
        let (method, params) = checked(request)?;
        http_checks::check_version(&headers, query.as_deref())?;
        if !METHODS.contains(&method.as_str()) {
            let shown: String = method.chars().take(64).collect();
            let message = format!("there is no method {shown:?}");
            return Err(A2aError::new(ErrorReason::MethodNotFound, message));
        }
        let caller = handler.enter(meta).await?;
        call(&handler, &caller, &headers, &method, params, &id).await
    };
    match answered.await {
        Ok(response) => response,
        Err(error) => refused(&id, &error),
    }
}

/// A large body is parsed on a blocking thread, so that other requests are answered meanwhile.
async fn read(body: Bytes) -> Result<RpcRequest, A2aError> {
    let parsed: Option<Value> = match body.len() <= INLINE_PARSE_BYTES {
        true => serde_json::from_slice(&body).ok(),
        false => {
            let parse = move || serde_json::from_slice(&body).ok();
            tokio::task::spawn_blocking(parse).await.ok().flatten()
        }
    };
    let not_json = || A2aError::new(ErrorReason::ParseError, "the body is not JSON");
    let json = parsed.ok_or_else(not_json)?;
    let wrong = |why: &str| A2aError::new(ErrorReason::InvalidRequest, why);
    if json.is_array() {
        return Err(wrong("one request at a time; batches are not taken"));
    }
    let request: RpcRequest =
        serde_json::from_value(json).map_err(|_| wrong("the body is not a request"))?;
    match request.id {
        Value::String(_) | Value::Number(_) => Ok(request),
        _ => Err(wrong("`id` must be a text or a number")),
    }
}

fn checked(request: RpcRequest) -> Result<(String, Value), A2aError> {
    let wrong = |why: &str| A2aError::new(ErrorReason::InvalidRequest, why);
    if request.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    let Some(Value::String(method)) = request.method else {
        return Err(wrong("`method` must be a text"));
    };
    match request.params {
        None | Some(Value::Null) => Ok((method, json!({}))),
        Some(params @ Value::Object(_)) => Ok((method, params)),
        Some(_) => Err(A2aError::params("", "an object")),
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
    handler: &Arc<RequestHandler>,
    caller: &AuthenticatedCaller,
    headers: &HeaderMap,
    method: &str,
    params: Value,
    id: &Value,
) -> Result<Response, A2aError> {
    let result = match method {
        "SendMessage" => json!(send(handler, caller, given(params)?).await?),
        "SendStreamingMessage" => {
            let params: SendParams = given(params)?;
            let length = params.configuration.as_ref().and_then(|it| it.history_length);
            let outcome = handler.send(caller, params).await?;
            let format = EventFormat::Rpc(id.clone());
            return Ok(sse::of_message(handler, outcome, format, history_length(length)?));
        }
        "GetTask" => json!(handler.get(caller, &given(params)?).await?),
        "ListTasks" => json!(handler.list(caller, given::<ListParams>(params)?).await?),
        "CancelTask" => {
            let params: TaskParams = given(params)?;
            json!(handler.cancel(caller, &params.id).await?)
        }
        "SubscribeToTask" => {
            let params: TaskParams = given(params)?;
            let subscription = handler.subscribe(caller, &params.id).await?;
            return Ok(sse::of_task(handler, subscription, EventFormat::Rpc(id.clone())));
        }
        "CreateTaskPushNotificationConfig" => {
            json!(handler.create_push_config(caller, given::<PushConfig>(params)?).await?)
        }
        "GetTaskPushNotificationConfig" => {
            json!(handler.get_push_config(caller, &given(params)?).await?)
        }
        "ListTaskPushNotificationConfigs" => {
            let params: PushParams = given(params)?;
            json!({ "configs": handler.list_push_configs(caller, &params.task_id).await? })
        }
        "DeleteTaskPushNotificationConfig" => {
            handler.delete_push_config(caller, &given(params)?).await?;
            json!({})
        }
        _ => handler.extended_card(headers),
    };
    Ok(response(StatusCode::OK, &json!({ "jsonrpc": "2.0", "id": id, "result": result })))
}

/// Sends a message and waits for its result, unless `returnImmediately` is set.
pub(crate) async fn send(
    handler: &Arc<RequestHandler>,
    caller: &AuthenticatedCaller,
    params: SendParams,
) -> Result<StreamResponse, A2aError> {
    let configuration = params.configuration.as_ref();
    let length = history_length(configuration.and_then(|it| it.history_length))?;
    let immediately = configuration.and_then(|it| it.return_immediately).unwrap_or_default();
    Ok(match handler.send(caller, params).await? {
        SendOutcome::Message(message) => StreamResponse::Message(*message),
        SendOutcome::Task(subscription) => {
            let task =
                if immediately { subscription.task } else { subscription.settled(handler).await };
            StreamResponse::Task(task.with_history(length))
        }
    })
}

/// The parameters of an operation.
pub(crate) fn given<T: DeserializeOwned>(params: Value) -> Result<T, A2aError> {
    serde_json::from_value(params).map_err(|error| {
        // The error of serde names the field and the type, and repeats at most a literal of the data.
        let text_of: String = error.to_string().chars().take(200).collect();
        A2aError::params("", text_of)
    })
}

pub(crate) fn refused(id: &Value, error: &A2aError) -> Response {
    // JSON-RPC errors have status 200; these also set the HTTP status, for proxies and clients that
    // do not read the body.
    let status = match error.reason {
        ErrorReason::Unauthenticated
        | ErrorReason::Forbidden
        | ErrorReason::RateLimited
        | ErrorReason::Unavailable
        | ErrorReason::BodyTypeNotSupported => error.http_status(),
        _ => StatusCode::OK,
    };
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error.rpc() });
    let mut response = response(status, &body);
    http_wire::add_refusal_headers(&mut response, error.retry_after);
    response
}

fn response(status: StatusCode, body: &Value) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (status, headers, body.to_string()).into_response()
}
