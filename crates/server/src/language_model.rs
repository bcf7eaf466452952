//! The language model of the analyst: its settings, its client, and the analyst built on it.

use std::sync::Arc;
use std::time::Duration;

use auth::Secret;
use clock::Clock;
use llm::{Api, ApiKey, Model, ModelClient};
use service_analyst::{Analyst, ModelPlanner, ModelTools, ModelWriter, ToolCaller};

use crate::config::Sources;
use crate::exit::CommandError;

/// How long one request may take unless `llm_timeout_s` is set.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Address, name and key of a language model.
#[derive(Debug, Clone)]
pub(crate) struct ModelSettings {
    base_url: String,
    model: String,
    key: Option<Secret>,
    api: Api,
    timeout: Duration,
}

impl ModelSettings {
    /// `None` if nothing is set. A part alone is an error, because it would have no effect.
    pub(crate) fn new(
        base_url: Option<String>,
        key: Option<Secret>,
        model: Option<String>,
        api: Option<&str>,
        timeout_s: Option<f64>,
        sources: &Sources,
    ) -> Result<Option<Self>, CommandError> {
        let (base_url, model) = match (base_url, model) {
            (Some(base_url), Some(model)) => (base_url, model),
            (None, None) if key.is_none() && api.is_none() && timeout_s.is_none() => {
                return Ok(None);
            }
            _ => {
                return Err(CommandError::usage(
                    "a language model needs both llm_base_url and llm_model (LLM_BASE_URL, \
                     LLM_MODEL); set neither, nor a key, to do without one",
                ));
            }
        };
        let api = Api::choose(api, &base_url).map_err(|_| sources.bad_value("llm_api"))?;
        let timeout = Duration::try_from_secs_f64(timeout_s.unwrap_or(TIMEOUT.as_secs_f64()))
            .ok()
            .filter(|it| !it.is_zero())
            .ok_or_else(|| sources.bad_value("llm_timeout_s"))?;
        Ok(Some(Self { base_url, model, key, api, timeout }))
    }

    /// The model's name and the host of its provider.
    pub(crate) fn shown(&self) -> String {
        let uri = self.base_url.parse::<http::Uri>().ok();
        let host = uri.as_ref().and_then(http::Uri::host).unwrap_or("an invalid address");
        format!("{} at {host}", self.model)
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn client(&self) -> Result<ModelClient, CommandError> {
        let mut config = llm::ModelConfig::new(self.api, &self.base_url, &self.model);
        config.timeouts.whole = self.timeout;
        config.timeouts.first_byte = config.timeouts.first_byte.min(self.timeout);
        if let Some(key) = &self.key {
            config = config.key(ApiKey::new(key.reveal())?);
        }
        Ok(ModelClient::new(config)?)
    }
}

/// The analyst: by rules, or with a model and the rules as its fallback.
pub(crate) fn analyst(
    set: Option<&ModelSettings>,
    tools: Arc<dyn ToolCaller>,
    clock: Arc<dyn Clock>,
) -> Result<Analyst, CommandError> {
    let Some(set) = set else { return Ok(Analyst::local(tools, clock)) };
    let model: Arc<dyn Model> = Arc::new(set.client()?);
    let model_tools = Arc::new(ModelTools::moex()?);
    let planner = Arc::new(ModelPlanner::new(Arc::clone(&model), Arc::clone(&model_tools)));
    let writer = Arc::new(ModelWriter::new(model, model_tools));
    Ok(Analyst::with(tools, clock, planner, writer, &format!("model:{}", set.model)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(parts: [Option<&str>; 4]) -> Result<Option<ModelSettings>, String> {
        let [base_url, key, model, api] = parts;
        let own = |it: Option<&str>| it.map(str::to_owned);
        let key = key.map(Secret::new);
        let sources = Sources::default();
        let set = ModelSettings::new(own(base_url), key, own(model), api, None, &sources);
        set.map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_model_is_set_whole_or_not_at_all() {
        let url = Some("http://127.0.0.1:9/v1");
        assert!(set([None; 4]).unwrap().is_none());
        for parts in [
            [url, None, None, None],
            [None, None, Some("m"), None],
            [None, Some("hunter2"), None, None],
            [None, None, None, Some("openai")],
            [url, Some("hunter2"), Some("m"), Some("telepathy")],
        ] {
            let refused = set(parts).unwrap_err();
            assert!(refused.contains("llm_") && !refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn the_api_is_named_or_follows_from_the_address_and_the_key_never_shows() {
        let api = |url, api| {
            let set = set([Some(url), Some("hunter2"), Some("m"), api]).unwrap().unwrap();
            assert!(!format!("{set:?} {:?}", set.client().unwrap()).contains("hunter2"));
            set.api
        };
        assert_eq!(api("https://api.anthropic.com", None), Api::Anthropic);
        assert_eq!(api("https://api.openai.com/v1", None), Api::OpenAi);
        assert_eq!(api("http://127.0.0.1:9", Some("anthropic")), Api::Anthropic);
        for timeout_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let (url, model) = (Some("u".into()), Some("m".into()));
            let sources = Sources::default();
            let set = ModelSettings::new(url, None, model, None, Some(timeout_s), &sources);
            assert!(set.is_err(), "{timeout_s}");
        }
        let bad = set([Some("not a url"), None, Some("m"), None]).unwrap().unwrap();
        assert!(bad.client().is_err());
    }
}
