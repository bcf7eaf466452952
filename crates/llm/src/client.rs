//! The client of both APIs: checks a request, charges the budget, sends it, and retries where a
//! retry can help. The modules named after the providers write and read the JSON.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::attempt::{RequestTimeout, SuccessResponse};
use crate::budget::{TokenReservation, estimate_tokens};
use crate::failure::AttemptFailure;
use crate::reply_builder::ReplyBuilder;
use crate::reply_stream::ReplyStream;
use crate::{Api, Model, ModelConfig, ModelEvents, ModelReply, ModelRequest, anthropic, openai};

/// A model behind an HTTP API.
#[derive(Debug, Clone)]
pub struct ModelClient(Arc<ModelConnection>);

#[derive(Debug)]
pub(crate) struct ModelConnection {
    pub(crate) http: reqwest::Client,
    pub(crate) endpoint: reqwest::Url,
    pub(crate) config: ModelConfig,
    /// Limits the number of concurrent requests.
    permits: Arc<Semaphore>,
}

impl ModelClient {
    pub fn new(config: ModelConfig) -> Result<Self, Fault> {
        let endpoint = config.endpoint()?;
        if config.model.trim().is_empty() {
            return Err(Fault::invalid("invalid_llm_model", "no model is named")
                .problem("model", "the name of a model"));
        }
        let http = http_client::builder("stoa")
            .connect_timeout(config.timeouts.connect)
            .tcp_nodelay(true)
            .default_headers(headers(&config));
        let http = http.build().map_err(|error| {
            Fault::unavailable("llm_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        let permits = Arc::new(Semaphore::new(config.concurrency_max.max(1)));
        Ok(Self(Arc::new(ModelConnection { http, endpoint, config, permits })))
    }

    pub(crate) fn shared(&self) -> &ModelConnection {
        &self.0
    }
}

fn headers(config: &ModelConfig) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if config.api == Api::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    }
    let key = config.key.as_ref();
    let (name, value) = match config.api {
        Api::OpenAi => (AUTHORIZATION, key.and_then(|it| it.header("Bearer "))),
        Api::Anthropic => (HeaderName::from_static("x-api-key"), key.and_then(|it| it.header(""))),
    };
    if let Some(value) = value {
        headers.insert(name, value);
    }
    headers
}

/// A call that has a permit and a reservation in the budget.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) body: Value,
    pub(crate) input_estimate: u64,
    pub(crate) reservation: TokenReservation,
    /// The deadline of the whole call, with all its attempts.
    pub(crate) end: Instant,
    _permit: OwnedSemaphorePermit,
}

impl ModelConnection {
    pub(crate) async fn admit(&self, request: &ModelRequest, stream: bool) -> Result<Call, Fault> {
        request.check(&self.config.bounds)?;
        let end = request.budget.deadline().min(Instant::now() + self.config.timeouts.whole);
        let input_estimate = estimate_tokens(request.bytes());
        let reservation = request.budget.reserve(input_estimate, request.output_tokens_max)?;
        let waiting = RequestTimeout::new("get to this request", self.config.timeouts.whole, end);
        let permit = waiting.over(Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit.map_err(|failure| failure.fault)?.map_err(Fault::internal)?;
        let (model, output) = (&self.config.model, reservation.output);
        let host = self.endpoint.host_str().unwrap_or_default();
        let body = match self.config.api {
            Api::OpenAi => openai::body(request, model, host, output, stream),
            Api::Anthropic => anthropic::body(request, model, output, stream),
        };
        Ok(Call { body, input_estimate, reservation, end, _permit: permit })
    }

    pub(crate) fn read(
        &self,
        body: &[u8],
        builder: &mut ReplyBuilder,
    ) -> Result<(), AttemptFailure> {
        match self.config.api {
            Api::OpenAi => openai::read(body, builder),
            Api::Anthropic => anthropic::read(body, builder),
        }
    }

    pub(crate) fn event(
        &self,
        data: &str,
        builder: &mut ReplyBuilder,
    ) -> Result<(), AttemptFailure> {
        match self.config.api {
            Api::OpenAi => openai::event(data, builder),
            Api::Anthropic => anthropic::event(data, builder),
        }
    }

    /// Waits before the next attempt; returns the fault where no attempt is left.
    pub(crate) async fn wait(
        &self,
        failure: AttemptFailure,
        attempt: u32,
        end: Instant,
    ) -> Result<(), Fault> {
        self.note(&failure, attempt);
        if !failure.again || attempt >= self.config.retries {
            return Err(failure.fault);
        }
        let own = http_client::jitter(attempt, self.config.retry_wait, self.config.retry_wait_max);
        // Waits up to a quarter longer than the provider asked, so that clients with the same wait
        // do not return at once.
        let wait = failure
            .fault
            .retry_wait()
            .map_or(own, |retry_after| retry_after + own.min(retry_after / 4));
        let longest = self.config.retry_wait_max.max(Duration::from_millis(1));
        if failure.fault.retry_wait().is_some_and(|retry_after| retry_after > longest)
            || Instant::now() + wait >= end
        {
            return Err(failure.fault);
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn note(&self, failure: &AttemptFailure, attempt: u32) {
        let fault = &failure.fault;
        let cause = std::error::Error::source(fault).map(ToString::to_string);
        let (model, code) = (self.config.model.as_str(), fault.code());
        tracing::warn!(model, attempt, code, %fault, cause, "the model did not answer well");
    }

    async fn attempt(&self, call: &mut Call) -> Result<ModelReply, AttemptFailure> {
        let timeout = RequestTimeout::new("answer", self.config.timeouts.whole, call.end);
        let mut answer = SuccessResponse::begin(self, &call.body, timeout).await?;
        call.reservation.charge_started(0);
        let kind = answer.content_type();
        if kind != "application/json" {
            return Err(AttemptFailure::bad("it is not JSON"));
        }
        let body = answer.whole(timeout).await?;
        let mut builder = ReplyBuilder::new(&self.config);
        self.read(&body, &mut builder)?;
        builder.finish(call.input_estimate)
    }
}

#[async_trait]
impl Model for ModelClient {
    fn name(&self) -> &str {
        &self.0.config.model
    }

    async fn complete(&self, request: ModelRequest) -> Result<ModelReply, Fault> {
        let mut call = self.0.admit(&request, false).await?;
        let mut attempt = 0;
        loop {
            match self.0.attempt(&mut call).await {
                Ok(reply) => {
                    call.reservation.settle(reply.usage);
                    return Ok(reply);
                }
                Err(failure) => self.0.wait(failure, attempt, call.end).await?,
            }
            attempt += 1;
        }
    }

    fn stream(&self, request: ModelRequest) -> ModelEvents {
        let reply_stream = ReplyStream::new(Arc::clone(&self.0), request);
        futures_util::stream::unfold(reply_stream, |mut reply_stream| async move {
            let event = reply_stream.next().await?;
            Some((event, reply_stream))
        })
        .boxed()
    }
}
