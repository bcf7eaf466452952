//! Whether a model is there, found out without asking it anything: providers list their models.

use std::time::Duration;

use fault::Fault;
use serde::Deserialize;
use tokio::time::Instant;

use crate::attempt::{Answer, Patience};
use crate::failure::Failure;
use crate::{Api, Client};

/// Names that are kept of a long list.
const NAMES_MAX: usize = 500;

/// What a provider says about the model that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Known,
    /// It has others, of which these are some.
    Unknown(Vec<String>),
    /// It answers, but has no list.
    NoList,
}

/// `{"object":"list","data":[{"id":"gpt-5","object":"model"}]}`; Anthropic adds `display_name`.
#[derive(Debug, Deserialize)]
struct List {
    data: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    id: String,
}

impl Client {
    /// Asks once whether the provider is there, lets us in, and has the model.
    pub async fn look(&self, patience: Duration) -> Result<Presence, Fault> {
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
        let patience = Patience::new("list its models", patience, Instant::now() + patience);
        let answer = Answer::of(shared, shared.http.get(url), patience).await;
        let mut answer = match answer {
            Ok(answer) => answer,
            // Servers of one model often serve nothing but the conversation.
            Err(Failure { fault, .. }) if fault.code() == "llm_refused" => {
                return Ok(Presence::NoList);
            }
            Err(failure) => return Err(failure.fault),
        };
        let body = answer.whole(patience).await.map_err(|failure| failure.fault)?;
        let Ok(list) = serde_json::from_slice::<List>(&body) else {
            return Err(Failure::bad("its list of models is none").fault);
        };
        let mut names: Vec<String> = list.data.into_iter().map(|it| it.id).collect();
        if names.contains(&shared.config.model) {
            return Ok(Presence::Known);
        }
        names.truncate(NAMES_MAX);
        Ok(Presence::Unknown(names))
    }
}
