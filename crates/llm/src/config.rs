//! The client's configuration. This module does not read the environment.

use std::time::Duration;

use fault::Fault;
use reqwest::header::HeaderValue;

/// The wire format of the endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Chat completions, as `OpenAI` and many others serve them.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
}

impl Api {
    /// The named API, or the API that the address implies.
    pub fn choose(named: Option<&str>, base_url: &str) -> Result<Self, Fault> {
        match named {
            Some("openai") => Ok(Self::OpenAi),
            Some("anthropic") => Ok(Self::Anthropic),
            Some(_) => Err(Fault::invalid("invalid_llm_api", "the model's API is not known")
                .problem("api", "openai or anthropic")),
            None => {
                let url = reqwest::Url::parse(base_url).ok();
                let host = url.as_ref().and_then(|it| it.host_str()).unwrap_or_default();
                let anthropic = host == "anthropic.com" || host.ends_with(".anthropic.com");
                Ok(if anthropic { Self::Anthropic } else { Self::OpenAi })
            }
        }
    }
}

/// A provider's key. Neither `Debug` nor an error shows it.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        if text.is_empty() || HeaderValue::from_str(text).is_err() {
            let message = "the model's key is empty or has characters no key has";
            return Err(Fault::invalid("invalid_api_key", message));
        }
        Ok(Self(text.to_owned()))
    }

    /// A header value that is marked as sensitive, so it is not logged.
    pub(crate) fn header(&self, prefix: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text with this key removed, for errors in which the provider repeats it.
    pub(crate) fn removed_from(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(***)")
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    pub connect: Duration,
    /// The time until the first event of a stream. A whole answer arrives only when it is finished,
    /// so only `whole` limits it.
    pub first_byte: Duration,
    pub between_chunks: Duration,
    /// The call with all its attempts and waits.
    pub whole: Duration,
}

/// Size limits of requests and answers.
#[derive(Debug, Clone, Copy)]
pub struct SizeLimits {
    pub request_bytes_max: usize,
    /// All bytes of one answer, with its framing.
    pub body_bytes_max: usize,
    pub text_bytes_max: usize,
    pub tool_calls_max: usize,
    pub arguments_bytes_max: usize,
}

#[derive(Debug, Clone)]
pub struct ModelConfig {
    pub api: Api,
    /// `https://api.openai.com/v1`, `https://api.anthropic.com`, or a compatible server.
    pub base_url: String,
    pub key: Option<ApiKey>,
    pub model: String,
    pub timeouts: Timeouts,
    pub bounds: SizeLimits,
    /// Attempts after the first one.
    pub retries: u32,
    /// The first retry waits up to this long, each further one up to twice the one before.
    pub retry_wait: Duration,
    /// If the provider asks for a longer wait, the call fails instead.
    pub retry_wait_max: Duration,
    pub concurrency_max: usize,
}

impl ModelConfig {
    pub fn new(api: Api, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            api,
            base_url: base_url.into(),
            key: None,
            model: model.into(),
            timeouts: Timeouts {
                connect: Duration::from_secs(5),
                first_byte: Duration::from_mins(1),
                between_chunks: Duration::from_secs(30),
                whole: Duration::from_mins(3),
            },
            bounds: SizeLimits {
                request_bytes_max: 2 << 20,
                body_bytes_max: 8 << 20,
                text_bytes_max: 256 << 10,
                tool_calls_max: 32,
                arguments_bytes_max: 64 << 10,
            },
            retries: 2,
            retry_wait: Duration::from_millis(500),
            retry_wait_max: Duration::from_secs(20),
            concurrency_max: 8,
        }
    }

    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The URL of the requests.
    pub(crate) fn endpoint(&self) -> Result<reqwest::Url, Fault> {
        let refuse = |expected: &str| {
            Fault::invalid("invalid_llm_url", "the model's address is not valid")
                .problem("base_url", expected)
        };
        let base = self.base_url.trim().trim_end_matches('/');
        let url = reqwest::Url::parse(base).map_err(|_| refuse("a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(refuse("an http or https URL"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("a URL without query and fragment"));
        }
        // Addresses are shown in logs and reports, so they must not contain passwords.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("a URL without user and password"));
        }
        let path = match self.api {
            Api::OpenAi => "/chat/completions",
            Api::Anthropic if base.ends_with("/v1") => "/messages",
            Api::Anthropic => "/v1/messages",
        };
        reqwest::Url::parse(&format!("{base}{path}")).map_err(|_| refuse("a URL"))
    }
}
