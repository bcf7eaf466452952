//! Maps a failed request to a fault, and says whether a retry can help.
//!
//! A provider's own message goes only to the log, shortened and without the key.

use std::time::Duration;

use fault::{Fault, Kind};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use crate::ApiKey;

const WORDS_CHARS_MAX: usize = 200;
const CODE_CHARS_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct AttemptFailure {
    pub(crate) fault: Fault,
    pub(crate) again: bool,
}

impl AttemptFailure {
    pub(crate) fn last(fault: Fault) -> Self {
        Self { fault, again: false }
    }

    fn passing(fault: Fault) -> Self {
        Self { fault, again: true }
    }

    pub(crate) fn timeout(doing: &str, after: Duration) -> Self {
        let message = format!("the model did not {doing} within {} s", after.as_secs_f32());
        Self::passing(Fault::new(Kind::Timeout, "llm_timeout", message))
    }

    /// No answer arrived. The cause leaves the address out.
    pub(crate) fn transport(error: reqwest::Error) -> Self {
        let fault = if error.is_timeout() {
            Fault::new(Kind::Timeout, "llm_timeout", "the model could not be reached in time")
        } else {
            Fault::unavailable("llm_unreachable", "the model could not be reached")
        };
        Self::passing(fault.caused_by(error.without_url()))
    }

    pub(crate) fn cut_short() -> Self {
        Self::passing(Fault::unavailable("llm_cut_short", "the model's answer was cut short"))
    }

    pub(crate) fn bad(what: impl std::fmt::Display) -> Self {
        let message = format!("the model's answer is not understood: {what}");
        Self::last(Fault::unavailable("llm_bad_answer", message))
    }

    pub(crate) fn too_large(what: &str, max: usize) -> Self {
        let message = format!("the model's answer has more than {max} {what}");
        Self::last(Fault::unavailable("llm_bad_answer", message))
    }

    /// The model wrote invalid arguments; it can correct them if the caller sends it this fault.
    pub(crate) fn bad_arguments(at: usize, tool: &str, expected: String) -> Self {
        let tool: String = tool.chars().take(CODE_CHARS_MAX).collect();
        let message = format!("the model called {tool:?} with arguments that are not valid JSON");
        let fault = Fault::invalid("llm_bad_answer", message);
        Self::last(fault.problem(format!("tool_calls[{at}].arguments"), expected))
    }
}

/// An error as both providers write it:
/// `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` and
/// `{"error":{"message":"…","type":"insufficient_quota","code":"insufficient_quota"}}`.
#[derive(Debug, Deserialize)]
struct ErrorBody {
    error: ProviderError,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ProviderError {
    #[serde(default, rename = "type")]
    kind: Option<serde_json::Value>,
    #[serde(default)]
    code: Option<serde_json::Value>,
    #[serde(default)]
    message: Option<serde_json::Value>,
}

impl ProviderError {
    pub(crate) fn from_body(body: &[u8]) -> Self {
        serde_json::from_slice::<ErrorBody>(body).map(|it| it.error).unwrap_or_default()
    }

    /// The provider's error code, if it looks like one.
    fn code(&self) -> &str {
        let plain = |it: &str| {
            !it.is_empty()
                && it.len() <= CODE_CHARS_MAX
                && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        };
        let words = [&self.code, &self.kind].into_iter().flatten();
        words.filter_map(serde_json::Value::as_str).find(|it| plain(it)).unwrap_or_default()
    }

    /// The provider's message, for the log.
    fn words(&self, key: Option<&ApiKey>) -> String {
        let text = self.message.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
        let text = key.map_or_else(|| text.to_owned(), |key| key.removed_from(text));
        text.chars().filter(|it| !it.is_control()).take(WORDS_CHARS_MAX).collect()
    }

    /// The fault for an error inside an answer that began with a success status. Some servers give
    /// a status as the code; without a status or a known code the fault is the provider's.
    pub(crate) fn amid_success(&self, key: Option<&ApiKey>) -> AttemptFailure {
        let status = self.code.as_ref().and_then(serde_json::Value::as_u64);
        let status = status.and_then(|it| u16::try_from(it).ok());
        self.failure(status.filter(|it| (400..600).contains(it)).unwrap_or(500), None, key)
    }

    /// The fault for a status with this error body.
    pub(crate) fn failure(
        &self,
        status: u16,
        wait: Option<Duration>,
        key: Option<&ApiKey>,
    ) -> AttemptFailure {
        let code = self.code();
        let named = |text: &str| {
            if code.is_empty() { format!("{text} ({status})") } else { format!("{text} ({code})") }
        };
        let (fault, again) = match (status, code) {
            (401 | 403, _) | (_, "authentication_error" | "permission_error") => {
                // A provider may repeat part of a refused key, so the message is not logged.
                let message = "the model's provider does not accept our key";
                return AttemptFailure::last(Fault::unavailable("llm_auth", message));
            }
            (_, "insufficient_quota" | "billing_error") => {
                let message = named("the account with the model's provider is used up");
                (Fault::new(Kind::RateLimited, "llm_rate_limited", message), false)
            }
            (429, _) | (_, "rate_limit_error" | "rate_limit_exceeded") => {
                let message = named("the model's provider says we ask too much");
                (Fault::new(Kind::RateLimited, "llm_rate_limited", message), true)
            }
            (503 | 529, _) | (_, "overloaded_error") => {
                (Fault::unavailable("llm_overloaded", named("the model is overloaded")), true)
            }
            (408, _) => {
                let message = named("the model's provider gave up waiting");
                (Fault::new(Kind::Timeout, "llm_timeout", message), true)
            }
            (409 | 500.., _) => {
                (Fault::unavailable("llm_failed", named("the model's provider failed")), true)
            }
            (400..500, _) => {
                let message = named("the model's provider refused the request");
                (Fault::invalid("llm_refused", message), false)
            }
            _ => (Fault::unavailable("llm_bad_answer", named("the answer is no answer")), false),
        };
        let fault = match wait {
            Some(wait) => fault.retry_after(wait),
            None => fault,
        };
        let words = self.words(key);
        AttemptFailure {
            fault: if words.is_empty() { fault } else { fault.caused_by(words) },
            again,
        }
    }
}

/// The fault for an answer whose status is no success.
pub(crate) fn refused(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    key: Option<&ApiKey>,
) -> AttemptFailure {
    let words = ProviderError::from_body(body);
    let mut failure = words.failure(status.as_u16(), retry_after(headers), key);
    match headers.get("x-should-retry").and_then(|it| it.to_str().ok()) {
        Some("true") => failure.again = true,
        Some("false") => failure.again = false,
        _ => {}
    }
    failure
}

/// How long the provider asks the client to wait. Dates are ignored, because they need both clocks
/// to agree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number =
        |name: &str| -> Option<f64> { headers.get(name)?.to_str().ok()?.trim().parse().ok() };
    let seconds = number("retry-after-ms").map(|it| it / 1_000.0).or_else(|| number("retry-after"));
    Duration::try_from_secs_f64(seconds?).ok()
}
