//! The client of both APIs: a request is checked, paid for, sent, and repeated where that can help.
//! How it is spelled is for the modules named after the providers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fault::Fault;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::attempt::{Answer, Patience};
use crate::budget::{Holding, guess};
use crate::draft::Draft;
use crate::failure::Failure;
use crate::live::Live;
use crate::{Api, Config, Events, Model, Reply, Request, anthropic, openai};

/// A model at the other end of a network.
#[derive(Debug, Clone)]
pub struct Client(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) http: reqwest::Client,
    pub(crate) endpoint: reqwest::Url,
    pub(crate) config: Config,
    /// Bounds the requests under way.
    seats: Arc<Semaphore>,
}

impl Client {
    pub fn new(config: Config) -> Result<Self, Fault> {
        let endpoint = config.endpoint()?;
        if config.model.trim().is_empty() {
            return Err(Fault::invalid("invalid_llm_model", "no model is named")
                .problem("model", "the name of a model"));
        }
        // Fails only where a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut http = reqwest::Client::builder()
            .connect_timeout(config.timeouts.connect)
            .redirect(Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent("stoa")
            .default_headers(headers(&config));
        if endpoint.scheme() == "http" {
            // A machine without certificates can still talk to a model of its own.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|error| {
            Fault::unavailable("llm_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        let seats = Arc::new(Semaphore::new(config.concurrency_max.max(1)));
        Ok(Self(Arc::new(Shared { http, endpoint, config, seats })))
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }
}

fn headers(config: &Config) -> HeaderMap {
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

/// A call that has been let in.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) body: Value,
    pub(crate) input_guess: u64,
    pub(crate) holding: Holding,
    /// When the whole call ends, whatever it is doing.
    pub(crate) end: Instant,
    _seat: OwnedSemaphorePermit,
}

impl Shared {
    pub(crate) async fn let_in(&self, request: &Request, stream: bool) -> Result<Call, Fault> {
        request.check(&self.config.bounds)?;
        let end = request.budget.deadline().min(Instant::now() + self.config.timeouts.whole);
        let input_guess = guess(request.bytes());
        let holding = request.budget.hold(input_guess, request.output_tokens_max)?;
        let waiting = Patience::new("get to this request", self.config.timeouts.whole, end);
        let seat = waiting.over(Arc::clone(&self.seats).acquire_owned()).await;
        let seat = seat.map_err(|failure| failure.fault)?.map_err(Fault::internal)?;
        let (model, output) = (&self.config.model, holding.output);
        let host = self.endpoint.host_str().unwrap_or_default();
        let body = match self.config.api {
            Api::OpenAi => openai::body(request, model, host, output, stream),
            Api::Anthropic => anthropic::body(request, model, output, stream),
        };
        Ok(Call { body, input_guess, holding, end, _seat: seat })
    }

    pub(crate) fn read(&self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        match self.config.api {
            Api::OpenAi => openai::read(body, draft),
            Api::Anthropic => anthropic::read(body, draft),
        }
    }

    pub(crate) fn event(&self, data: &str, draft: &mut Draft) -> Result<(), Failure> {
        match self.config.api {
            Api::OpenAi => openai::event(data, draft),
            Api::Anthropic => anthropic::event(data, draft),
        }
    }

    /// Waits before the next attempt, or gives the fault back if there is none.
    pub(crate) async fn wait(
        &self,
        failure: Failure,
        attempt: u32,
        end: Instant,
    ) -> Result<(), Fault> {
        self.note(&failure, attempt);
        if !failure.again || attempt >= self.config.retries {
            return Err(failure.fault);
        }
        let own = http_client::jitter(attempt, self.config.retry_wait, self.config.retry_wait_max);
        // A little more than told, so that those who were told the same do not return together.
        let wait = failure.fault.retry_wait().map_or(own, |told| told + own.min(told / 4));
        let longest = self.config.retry_wait_max.max(Duration::from_millis(1));
        if failure.fault.retry_wait().is_some_and(|told| told > longest)
            || Instant::now() + wait >= end
        {
            return Err(failure.fault);
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn note(&self, failure: &Failure, attempt: u32) {
        let fault = &failure.fault;
        let cause = std::error::Error::source(fault).map(ToString::to_string);
        let (model, code) = (self.config.model.as_str(), fault.code());
        tracing::warn!(model, attempt, code, %fault, cause, "the model did not answer well");
    }

    async fn attempt(&self, call: &mut Call) -> Result<Reply, Failure> {
        let patience = Patience::new("answer", self.config.timeouts.whole, call.end);
        let mut answer = Answer::begin(self, &call.body, patience).await?;
        call.holding.began(0);
        let kind = answer.content_type();
        if kind != "application/json" {
            return Err(Failure::bad("it is not JSON"));
        }
        let body = answer.whole(patience).await?;
        let mut draft = Draft::new(&self.config);
        self.read(&body, &mut draft)?;
        draft.finish(call.input_guess)
    }
}

#[async_trait]
impl Model for Client {
    fn name(&self) -> &str {
        &self.0.config.model
    }

    async fn complete(&self, request: Request) -> Result<Reply, Fault> {
        let mut call = self.0.let_in(&request, false).await?;
        let mut attempt = 0;
        loop {
            match self.0.attempt(&mut call).await {
                Ok(reply) => {
                    call.holding.settle(reply.usage);
                    return Ok(reply);
                }
                Err(failure) => self.0.wait(failure, attempt, call.end).await?,
            }
            attempt += 1;
        }
    }

    fn stream(&self, request: Request) -> Events {
        let live = Live::new(Arc::clone(&self.0), request);
        futures_util::stream::unfold(live, |mut live| async move {
            let event = live.next().await?;
            Some((event, live))
        })
        .boxed()
    }
}
