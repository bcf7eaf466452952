//! The HTTP+JSON binding: one path for each operation.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRef, FromRequestParts, Path, Query};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use bytes::Bytes;
use contract::RequestMeta;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{A2aError, ErrorReason};
use crate::handler::{AuthenticatedCaller, RequestHandler, history_length};
use crate::http_checks;
use crate::rpc::{given, send};
use crate::sse::{self, EventFormat};
use crate::wire::{ListParams, PushConfig, PushParams, SendParams, TaskParams};

/// The routes under `base`.
pub(crate) fn routes(base: &str, handler: &Arc<RequestHandler>) -> Router {
    let at = |path: &str| format!("{base}{path}");
    Router::new()
        .route(&at("/message:send"), post(send_message))
        .route(&at("/message:stream"), post(stream_message))
        .route(&at("/tasks"), get(list_tasks))
        // The router cannot match `:cancel` after a parameter, so `one_task` splits the path.
        .route(&at("/tasks/{id}"), get(one_task).post(one_task))
        .route(
            &at("/tasks/{id}/pushNotificationConfigs"),
            get(list_push_configs).post(create_push_config),
        )
        .route(
            &at("/tasks/{id}/pushNotificationConfigs/{config}"),
            get(get_push_config).delete(delete_push_config),
        )
        .route(&at("/extendedAgentCard"), get(extended_card))
        .with_state(Arc::clone(handler))
}

/// The parts of a request that every operation needs.
struct RestRequest {
    handler: Arc<RequestHandler>,
    meta: RequestMeta,
    query: Option<String>,
    headers: HeaderMap,
}

impl<S> FromRequestParts<S> for RestRequest
where
    S: Send + Sync,
    Arc<RequestHandler>: FromRef<S>,
{
    type Rejection = StatusCode;

    async fn from_request_parts(
        parts: &mut http::request::Parts,
        state: &S,
    ) -> Result<Self, Self::Rejection> {
        let meta = parts.extensions.get::<RequestMeta>().cloned();
        Ok(Self {
            handler: <Arc<RequestHandler> as FromRef<S>>::from_ref(state),
            // The edge inserts it into every request.
            meta: meta.ok_or(StatusCode::INTERNAL_SERVER_ERROR)?,
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers.clone(),
        })
    }
}

impl RestRequest {
    async fn enter(&self) -> Result<AuthenticatedCaller, A2aError> {
        http_checks::check_version(&self.headers, self.query.as_deref())?;
        self.handler.enter(self.meta.clone()).await
    }

    fn answer(&self, answer: Result<Value, A2aError>) -> Response {
        let (status, body, refused) = match &answer {
            Ok(body) => (StatusCode::OK, body.to_string(), None),
            Err(error) => (error.http_status(), error.http().to_string(), Some(error)),
        };
        let kind = [(CONTENT_TYPE, http_checks::response_type(&self.headers))];
        let mut response = (status, kind, body).into_response();
        match refused {
            Some(error) => http_wire::add_refusal_headers(&mut response, error.retry_after),
            None => {
                let no_store = http::HeaderValue::from_static("no-store");
                response.headers_mut().insert(CACHE_CONTROL, no_store);
            }
        }
        response
    }

    fn streamed(&self, streamed: Result<Response, A2aError>) -> Response {
        streamed.unwrap_or_else(|error| self.answer(Err(error)))
    }

    /// The body as a JSON object; the operation checks its fields.
    fn body(&self, body: &[u8]) -> Result<Value, A2aError> {
        http_checks::check_body_type(&self.headers)?;
        let json: Value = serde_json::from_slice(body)
            .map_err(|_| A2aError::new(ErrorReason::ParseError, "the body is not JSON"))?;
        match json.is_object() {
            true => Ok(json),
            false => Err(A2aError::params("", "an object")),
        }
    }
}

async fn send_message(request: RestRequest, body: Bytes) -> Response {
    let answer = async {
        let params: SendParams = {
            http_checks::check_version(&request.headers, request.query.as_deref())?;
            given(request.body(&body)?)?
        };
        let caller = request.enter().await?;
        Ok(json!(send(&request.handler, &caller, params).await?))
    };
    request.answer(answer.await)
}

async fn stream_message(request: RestRequest, body: Bytes) -> Response {
    let streamed = async {
        http_checks::check_version(&request.headers, request.query.as_deref())?;
        let params: SendParams = given(request.body(&body)?)?;
        let caller = request.enter().await?;
        let length = params.configuration.as_ref().and_then(|it| it.history_length);
        let length = history_length(length)?;
        let outcome = request.handler.send(&caller, params).await?;
        Ok(sse::of_message(&request.handler, outcome, EventFormat::None, length))
    };
    request.streamed(streamed.await)
}

async fn list_tasks(
    request: RestRequest,
    params: Result<Query<ListParams>, QueryRejection>,
) -> Response {
    let answer = async {
        let caller = request.enter().await?;
        let Query(params) = params.map_err(|rejection| unreadable(&rejection))?;
        Ok(json!(request.handler.list(&caller, params).await?))
    };
    request.answer(answer.await)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskQuery {
    history_length: Option<i64>,
}

/// The parameters of a path; bytes that are not UTF-8 are refused.
struct PathParams<T>(T);

impl<S, T> FromRequestParts<S> for PathParams<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut http::request::Parts,
        state: &S,
    ) -> Result<Self, Response> {
        let named = Path::from_request_parts(parts, state).await;
        named.map(|Path(named)| Self(named)).map_err(|_| {
            let error = A2aError::params("id", "a name in UTF-8");
            let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
            (error.http_status(), headers, error.http().to_string()).into_response()
        })
    }
}

/// `GET /tasks/{id}` and the operations `:cancel` and `:subscribe` behind the id.
async fn one_task(
    request: RestRequest,
    method: Method,
    PathParams(name): PathParams<String>,
    params: Result<Query<TaskQuery>, QueryRejection>,
) -> Response {
    let (id, verb) = name.rsplit_once(':').unwrap_or((&name, ""));
    let reads = method != Method::POST;
    let streamed = async {
        let caller = request.enter().await?;
        match (verb, reads) {
            ("", true) => {
                let Query(params) = params.map_err(|rejection| unreadable(&rejection))?;
                let params =
                    TaskParams { id: id.to_owned(), history_length: params.history_length };
                let task = request.handler.get(&caller, &params).await?;
                Ok(request.answer(Ok(json!(task))))
            }
            ("cancel", false) => {
                Ok(request.answer(Ok(json!(request.handler.cancel(&caller, id).await?))))
            }
            // The specification and its protobuf definition name different methods; both are accepted.
            ("subscribe", _) => {
                let subscription = request.handler.subscribe(&caller, id).await?;
                Ok(sse::of_task(&request.handler, subscription, EventFormat::None))
            }
            _ => Err(A2aError::new(ErrorReason::MethodNotFound, "a task has no such operation")),
        }
    };
    request.streamed(streamed.await)
}

async fn list_push_configs(request: RestRequest, PathParams(task): PathParams<String>) -> Response {
    let answer = async {
        let caller = request.enter().await?;
        Ok(json!({ "configs": request.handler.list_push_configs(&caller, &task).await? }))
    };
    request.answer(answer.await)
}

async fn create_push_config(
    request: RestRequest,
    PathParams(task): PathParams<String>,
    body: Bytes,
) -> Response {
    let answer = async {
        http_checks::check_version(&request.headers, request.query.as_deref())?;
        let push: PushConfig = given(request.body(&body)?)?;
        let caller = request.enter().await?;
        let push = PushConfig { task_id: task, ..push };
        Ok(json!(request.handler.create_push_config(&caller, push).await?))
    };
    request.answer(answer.await)
}

async fn get_push_config(
    request: RestRequest,
    PathParams((task_id, id)): PathParams<(String, String)>,
) -> Response {
    let answer = async {
        let caller = request.enter().await?;
        Ok(json!(request.handler.get_push_config(&caller, &PushParams { task_id, id }).await?))
    };
    request.answer(answer.await)
}

async fn delete_push_config(
    request: RestRequest,
    PathParams((task_id, id)): PathParams<(String, String)>,
) -> Response {
    let answer = async {
        let caller = request.enter().await?;
        request.handler.delete_push_config(&caller, &PushParams { task_id, id }).await?;
        Ok(json!({}))
    };
    request.answer(answer.await)
}

async fn extended_card(request: RestRequest) -> Response {
    let answer = async {
        request.enter().await?;
        Ok(request.handler.extended_card(&request.headers))
    };
    request.answer(answer.await)
}

fn unreadable(rejection: &QueryRejection) -> A2aError {
    let text: String = rejection.body_text().chars().take(200).collect();
    A2aError::params("", text)
}
