//! One question to the exchange: paced, guarded by the breaker, repeated where that can help.
//! What an answer means is for the modules beside it.

use std::sync::Arc;

use fault::{Fault, Kind};
use market::Clock;
use reqwest::redirect::Policy;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use upstream::{Breaker, Failure, Retry, jitter};

use crate::MoexConfig;
use crate::answer::{Answer, RawAnswer};
use crate::observer::Observer;
use crate::pace::Pace;

/// What is asked for: a kind for those who count, a path below the address, and a query.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) kind: &'static str,
    /// Without the suffix; its parts are known to need no encoding.
    path: String,
    query: Vec<(&'static str, String)>,
}

impl Question {
    /// Asks for these blocks only, and not for the description of their columns.
    pub(crate) fn new(kind: &'static str, path: impl Into<String>, blocks: &str) -> Self {
        let query = vec![("iss.meta", "off".to_owned()), ("iss.only", blocks.to_owned())];
        Self { kind, path: path.into(), query }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }
}

pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    config: MoexConfig,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn Observer>,
    pub(crate) pace: Pace,
    pub(crate) breaker: Breaker,
    /// Bounds the connections we open.
    seats: Semaphore,
}

impl Client {
    pub(crate) fn new(
        config: &MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        let base = config.base()?;
        // Fails only where a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut http = reqwest::Client::builder()
            .connect_timeout(config.connect_timeout)
            .redirect(Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .user_agent("stoa");
        if base.starts_with("http:") {
            // A machine without certificates can still talk to the simulated exchange.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|error| {
            Fault::unavailable("upstream_unreachable", "the HTTP client could not be set up")
                .caused_by(error)
        })?;
        Ok(Self {
            http,
            base,
            clock,
            observer,
            pace: Pace::new(config.requests_per_second, config.burst),
            breaker: Breaker::new(config.breaker_failures, config.breaker_rest),
            seats: Semaphore::new(config.concurrency_max.max(1)),
            config: config.clone(),
        })
    }

    pub(crate) async fn ask(&self, question: &Question) -> Result<Answer, Fault> {
        let mut last: Option<Fault> = None;
        for attempt in 0..=self.config.retries {
            let failure = match self.attempt(question).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            note(question, attempt, &failure);
            match failure.retry {
                // An earlier attempt knows better what went wrong than the breaker it opened.
                Retry::Refused => return Err(last.unwrap_or(failure.fault)),
                Retry::Never => return Err(failure.fault),
                Retry::Again if attempt < self.config.retries => {
                    let (first, longest) = (self.config.retry_wait, self.config.retry_wait_max);
                    tokio::time::sleep(jitter(attempt, first, longest)).await;
                }
                // The pace knows how long to wait, and whether that is worth it.
                Retry::Again | Retry::WhenUnblocked => {}
            }
            last = Some(failure.fault);
        }
        Err(last.unwrap_or_else(|| Fault::internal("no attempt was made")))
    }

    async fn attempt(&self, question: &Question) -> Result<Answer, Failure> {
        let wait = self.pace.reserve(self.clock.now(), self.config.patience);
        tokio::time::sleep(wait.map_err(Failure::held_back)?).await;
        let _seat = self.seats.acquire().await.map_err(|error| Failure {
            fault: Fault::internal(error),
            retry: Retry::Never,
            broken: false,
        })?;
        let permit = self.breaker.admit(self.clock.now()).map_err(Failure::resting)?;
        let started = Instant::now();
        let asked = self.send(question);
        let answered = match tokio::time::timeout(self.config.request_timeout, asked).await {
            Ok(answered) => answered,
            Err(_) => Err(Failure::timeout(self.config.request_timeout)),
        };
        let now = self.clock.now();
        let outcome = answered.and_then(RawAnswer::into_answer);
        match &outcome {
            Err(failure) => {
                // Whoever says when to come back means it.
                if let Some(wait) = failure.fault.retry_wait() {
                    self.pace.block(now, wait);
                }
                if failure.broken { permit.failed(now) } else { permit.succeeded() }
            }
            Ok(_) => permit.succeeded(),
        }
        let word = outcome.as_ref().map_or_else(|failure| failure.fault.code(), |_| "ok");
        self.observer.upstream(question.kind, word, started.elapsed());
        outcome
    }

    async fn send(&self, question: &Question) -> Result<RawAnswer, Failure> {
        let url = format!("{}/{}.json", self.base, question.path);
        let sent = self.http.get(url).query(&question.query).send().await;
        let mut response = sent.map_err(Failure::transport)?;
        let mut answer = RawAnswer::new(response.status(), response.headers());
        while let Some(chunk) = response.chunk().await.map_err(Failure::cut_short)? {
            if answer.body.len() + chunk.len() > self.config.body_bytes_max {
                return Err(Failure::too_large(self.config.body_bytes_max));
            }
            answer.body.extend_from_slice(&chunk);
        }
        Ok(answer)
    }
}

/// Logs a failure once. Requests that were never sent are the caller's to log, and a page that does
/// not exist is nobody's failure.
fn note(question: &Question, attempt: u32, failure: &Failure) {
    let fault = &failure.fault;
    if failure.retry == Retry::Refused || fault.kind() == Kind::NotFound {
        return;
    }
    let cause = std::error::Error::source(fault).map(ToString::to_string);
    tracing::warn!(
        endpoint = question.kind,
        attempt,
        code = fault.code(),
        %fault,
        cause,
        "the exchange did not answer well"
    );
}
