//! One question to the exchange: paced, and put over the line to it, which guards and repeats.
//! What an answer means is for the modules beside it.

use std::sync::Arc;
use std::time::Duration;

use clock::Clock;
use fault::Fault;
use http_client::{HttpTransport, RequestFailure};
use reqwest::header::HeaderMap;
use tokio::time::Instant;

use crate::MoexConfig;
use crate::answer::{self, Answer};
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
    pub(crate) line: HttpTransport,
    pub(crate) pace: Pace,
    /// How long a request may be held back by the pace.
    patience: Duration,
    clock: Arc<dyn Clock>,
    pub(crate) observer: Arc<dyn Observer>,
}

impl Client {
    pub(crate) fn new(
        config: &MoexConfig,
        clock: Arc<dyn Clock>,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Fault> {
        let base = http_client::base_url("iss_url", &config.iss_url)?;
        Ok(Self {
            line: HttpTransport::new(
                base,
                config.http.clone(),
                HeaderMap::new(),
                Arc::clone(&clock),
            )?,
            pace: Pace::new(config.requests_per_second, config.burst),
            patience: config.http.rate_limit_wait_max,
            clock,
            observer,
        })
    }

    pub(crate) async fn ask(&self, question: &Question) -> Result<Answer, Fault> {
        self.line.with_retries(question.kind, || self.attempt(question)).await
    }

    async fn attempt(&self, question: &Question) -> Result<Answer, RequestFailure> {
        let wait = self.pace.reserve(self.clock.now(), self.patience);
        tokio::time::sleep(wait.map_err(RequestFailure::locally_limited)?).await;
        let mut started = None;
        let outcome = self
            .line
            .attempt(async {
                started = Some(Instant::now());
                let path = format!("{}.json", question.path);
                answer::read(self.line.get(&path, &question.query).await?)
            })
            .await;
        // What was not sent says nothing about the exchange.
        let Some(started) = started else { return outcome };
        // Whoever says when to come back means it.
        if let Some(wait) = outcome.as_ref().err().and_then(|failure| failure.fault.retry_wait()) {
            self.pace.block(self.clock.now(), wait);
        }
        let word = outcome.as_ref().map_or_else(|failure| failure.fault.code(), |_| "ok");
        self.observer.upstream(question.kind, word, started.elapsed());
        outcome
    }
}
