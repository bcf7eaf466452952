//! The HTTP+JSON binding: the same operations at addresses of their own.

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

use crate::desk::{Desk, Visitor, history_length};
use crate::door;
use crate::problem::{Problem, Reason};
use crate::rpc::{given, send};
use crate::sse::{self, Wrapping};
use crate::wire::{ListParams, PushConfig, PushParams, SendParams, TaskParams};

/// The routes under `base`.
pub(crate) fn routes(base: &str, desk: &Arc<Desk>) -> Router {
    let at = |path: &str| format!("{base}{path}");
    Router::new()
        .route(&at("/message:send"), post(send_message))
        .route(&at("/message:stream"), post(stream_message))
        .route(&at("/tasks"), get(list_tasks))
        // The router knows no text behind a parameter, so what to do is told apart inside.
        .route(&at("/tasks/{id}"), get(one_task).post(one_task))
        .route(&at("/tasks/{id}/pushNotificationConfigs"), get(webhooks).post(create_webhook))
        .route(
            &at("/tasks/{id}/pushNotificationConfigs/{webhook}"),
            get(webhook).delete(delete_webhook),
        )
        .route(&at("/extendedAgentCard"), get(extended_card))
        .with_state(Arc::clone(desk))
}

/// A request before its operation: what every one of them needs.
struct Asked {
    desk: Arc<Desk>,
    arrival: RequestMeta,
    query: Option<String>,
    headers: HeaderMap,
}

impl<S> FromRequestParts<S> for Asked
where
    S: Send + Sync,
    Arc<Desk>: FromRef<S>,
{
    type Rejection = StatusCode;

    async fn from_request_parts(
        parts: &mut http::request::Parts,
        state: &S,
    ) -> Result<Self, Self::Rejection> {
        let arrival = parts.extensions.get::<RequestMeta>().cloned();
        Ok(Self {
            desk: <Arc<Desk> as FromRef<S>>::from_ref(state),
            // The edge puts one into every request.
            arrival: arrival.ok_or(StatusCode::INTERNAL_SERVER_ERROR)?,
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers.clone(),
        })
    }
}

impl Asked {
    async fn enter(&self) -> Result<Visitor, Problem> {
        door::check_version(&self.headers, self.query.as_deref())?;
        self.desk.enter(self.arrival.clone()).await
    }

    fn answer(&self, answer: Result<Value, Problem>) -> Response {
        let (status, body, refused) = match &answer {
            Ok(body) => (StatusCode::OK, body.to_string(), None),
            Err(problem) => (problem.http_status(), problem.http().to_string(), Some(problem)),
        };
        let kind = [(CONTENT_TYPE, door::answer_type(&self.headers))];
        let mut response = (status, kind, body).into_response();
        match refused {
            Some(problem) => door::mark(&mut response, problem.retry_after),
            None => {
                let unkept = http::HeaderValue::from_static("no-store");
                response.headers_mut().insert(CACHE_CONTROL, unkept);
            }
        }
        response
    }

    fn streamed(&self, streamed: Result<Response, Problem>) -> Response {
        streamed.unwrap_or_else(|problem| self.answer(Err(problem)))
    }

    /// The body as an object; what it lacks is for the operation to say.
    fn body(&self, body: &[u8]) -> Result<Value, Problem> {
        door::check_body_type(&self.headers)?;
        let json: Value = serde_json::from_slice(body)
            .map_err(|_| Problem::new(Reason::ParseError, "the body is not JSON"))?;
        match json.is_object() {
            true => Ok(json),
            false => Err(Problem::params("", "an object")),
        }
    }
}

async fn send_message(asked: Asked, body: Bytes) -> Response {
    let answer = async {
        let params: SendParams = {
            door::check_version(&asked.headers, asked.query.as_deref())?;
            given(asked.body(&body)?)?
        };
        let visitor = asked.enter().await?;
        Ok(json!(send(&asked.desk, &visitor, params).await?))
    };
    asked.answer(answer.await)
}

async fn stream_message(asked: Asked, body: Bytes) -> Response {
    let streamed = async {
        door::check_version(&asked.headers, asked.query.as_deref())?;
        let params: SendParams = given(asked.body(&body)?)?;
        let visitor = asked.enter().await?;
        let length = params.configuration.as_ref().and_then(|it| it.history_length);
        let length = history_length(length)?;
        let begun = asked.desk.begin(&visitor, params).await?;
        Ok(sse::of_message(&asked.desk, begun, Wrapping::None, length))
    };
    asked.streamed(streamed.await)
}

async fn list_tasks(asked: Asked, params: Result<Query<ListParams>, QueryRejection>) -> Response {
    let answer = async {
        let visitor = asked.enter().await?;
        let Query(params) = params.map_err(|rejection| unreadable(&rejection))?;
        Ok(json!(asked.desk.list(&visitor, params).await?))
    };
    asked.answer(answer.await)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneTask {
    history_length: Option<i64>,
}

/// What an address names. Bytes that are no text name nothing.
struct Named<T>(T);

impl<S, T> FromRequestParts<S> for Named<T>
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
            let problem = Problem::params("id", "a name in UTF-8");
            let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
            (problem.http_status(), headers, problem.http().to_string()).into_response()
        })
    }
}

/// A task, or what follows its id: `:cancel`, `:subscribe`.
async fn one_task(
    asked: Asked,
    method: Method,
    Named(name): Named<String>,
    params: Result<Query<OneTask>, QueryRejection>,
) -> Response {
    let (id, verb) = name.rsplit_once(':').unwrap_or((&name, ""));
    let reads = method != Method::POST;
    let streamed = async {
        let visitor = asked.enter().await?;
        match (verb, reads) {
            ("", true) => {
                let Query(params) = params.map_err(|rejection| unreadable(&rejection))?;
                let params =
                    TaskParams { id: id.to_owned(), history_length: params.history_length };
                let task = asked.desk.get(&visitor, &params).await?;
                Ok(asked.answer(Ok(json!(task))))
            }
            ("cancel", false) => {
                Ok(asked.answer(Ok(json!(asked.desk.cancel(&visitor, id).await?))))
            }
            // The protocol's text has one method and its service definition the other.
            ("subscribe", _) => {
                let watch = asked.desk.subscribe(&visitor, id).await?;
                Ok(sse::of_task(&asked.desk, watch, Wrapping::None))
            }
            _ => Err(Problem::new(Reason::MethodNotFound, "a task has no such operation")),
        }
    };
    asked.streamed(streamed.await)
}

async fn webhooks(asked: Asked, Named(task): Named<String>) -> Response {
    let answer = async {
        let visitor = asked.enter().await?;
        Ok(json!({ "configs": asked.desk.webhooks(&visitor, &task).await? }))
    };
    asked.answer(answer.await)
}

async fn create_webhook(asked: Asked, Named(task): Named<String>, body: Bytes) -> Response {
    let answer = async {
        door::check_version(&asked.headers, asked.query.as_deref())?;
        let push: PushConfig = given(asked.body(&body)?)?;
        let visitor = asked.enter().await?;
        let push = PushConfig { task_id: task, ..push };
        Ok(json!(asked.desk.create_webhook(&visitor, push).await?))
    };
    asked.answer(answer.await)
}

async fn webhook(asked: Asked, Named((task_id, id)): Named<(String, String)>) -> Response {
    let answer = async {
        let visitor = asked.enter().await?;
        Ok(json!(asked.desk.webhook(&visitor, &PushParams { task_id, id }).await?))
    };
    asked.answer(answer.await)
}

async fn delete_webhook(asked: Asked, Named((task_id, id)): Named<(String, String)>) -> Response {
    let answer = async {
        let visitor = asked.enter().await?;
        asked.desk.delete_webhook(&visitor, &PushParams { task_id, id }).await?;
        Ok(json!({}))
    };
    asked.answer(answer.await)
}

async fn extended_card(asked: Asked) -> Response {
    let answer = async {
        asked.enter().await?;
        Ok(asked.desk.extended_card(&asked.headers))
    };
    asked.answer(answer.await)
}

fn unreadable(rejection: &QueryRejection) -> Problem {
    let words: String = rejection.body_text().chars().take(200).collect();
    Problem::params("", words)
}
