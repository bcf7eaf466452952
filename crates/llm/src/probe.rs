//! Checks that a model is available without sending it a message: providers list their models.

use std::time::Duration;

use fault::Fault;
use serde::Deserialize;
use tokio::time::Instant;

use crate::attempt::{RequestTimeout, SuccessResponse};
use crate::failure::AttemptFailure;
use crate::{Api, ModelClient};

/// The most model names that are kept of a list.
const NAMES_MAX: usize = 500;

/// The provider's answer about the configured model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelPresence {
    Known,
    /// The provider lacks the model; these are some of its models.
    Unknown(Vec<String>),
    /// The provider answers but has no list of models.
    NoList,
}

/// `{"object":"list","data":[{"id":"gpt-5","object":"model"}]}`; Anthropic adds `display_name`.
#[derive(Debug, Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Debug, Deserialize)]
struct ListedModel {
    id: String,
}

impl ModelClient {
    /// Asks the provider once whether it accepts the key and has the model.
    pub async fn probe(&self, timeout: Duration) -> Result<ModelPresence, Fault> {
        let shared = self.shared();
        let mut url = shared.endpoint.clone();
        let cut = match shared.config.api {
            Api::OpenAi => "/chat/completions",
            Api::Anthropic => "/messages",
        };
        let path = url.path().trim_end_matches(cut).to_owned() + "/models";
        url.set_path(&path);
        if shared.config.api == Api::Anthropic {
            url.set_query(Some("limit=1000"));
        }
        let timeout = RequestTimeout::new("list its models", timeout, Instant::now() + timeout);
        let answer = SuccessResponse::of(shared, shared.http.get(url), timeout).await;
        let mut answer = match answer {
            Ok(answer) => answer,
            // Servers of a single model often serve only the chat endpoint.
            Err(AttemptFailure { fault, .. }) if fault.code() == "llm_refused" => {
                return Ok(ModelPresence::NoList);
            }
            Err(failure) => return Err(failure.fault),
        };
        let body = answer.whole(timeout).await.map_err(|failure| failure.fault)?;
        let Ok(list) = serde_json::from_slice::<ModelList>(&body) else {
            return Err(AttemptFailure::bad("its list of models is none").fault);
        };
        let mut names: Vec<String> = list.data.into_iter().map(|it| it.id).collect();
        if names.contains(&shared.config.model) {
            return Ok(ModelPresence::Known);
        }
        names.truncate(NAMES_MAX);
        Ok(ModelPresence::Unknown(names))
    }
}
