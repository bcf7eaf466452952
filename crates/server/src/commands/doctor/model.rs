//! Checks a configured language model: it is reachable, accepts the key and has the configured
//! name. The check sends no message, so it costs nothing.

use std::time::Duration;

use fault::Fault;
use llm::ModelPresence;

use super::Finding;
use crate::config::Config;

const WHAT: &str = "model";
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most model names listed when the configured one is unknown.
const NAMES_MAX: usize = 8;

pub(super) async fn check(config: &Config) -> Option<Finding> {
    let model = config.language_model.as_ref()?;
    let shown = model.shown();
    let client = match model.client() {
        Ok(client) => client,
        Err(failure) => {
            let fix = "write LLM_BASE_URL like https://api.openai.com/v1 or \
                       https://api.anthropic.com, without user and password";
            return Some(Finding::fail(WHAT, failure.to_string()).fix(fix));
        }
    };
    Some(match client.probe(TIMEOUT).await {
        Ok(ModelPresence::Known) => Finding::ok(WHAT, format!("{shown} is available")),
        Ok(ModelPresence::NoList) => {
            Finding::warn(WHAT, format!("{shown}: the endpoint answers, but lists no models"))
                .fix("ask the analyst something; its answer says whether the model wrote it")
        }
        Ok(ModelPresence::Unknown(names)) => {
            let some: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
            let more = if names.len() > NAMES_MAX { ", ..." } else { "" };
            Finding::fail(WHAT, format!("{shown}: the endpoint has no model {:?}", model.model()))
                .fix(format!("set LLM_MODEL to one of: {}{more}", some.join(", ")))
        }
        Err(fault) => explain(&shown, &fault),
    })
}

/// The finding for a fault of the provider. It fails, because the analyst would answer by rules although
/// a model is configured.
fn explain(shown: &str, fault: &Fault) -> Finding {
    let fix = match fault.code() {
        "llm_auth" => "set LLM_API_KEY to a key of this provider",
        "llm_timeout" | "llm_unreachable" => {
            "check that it runs, LLM_BASE_URL, the network and its firewall; proxies are not used"
        }
        "llm_rate_limited" | "llm_overloaded" => "wait, or check the account at the provider",
        "llm_bad_answer" => {
            "another server answers there: LLM_BASE_URL is not the address of such an API, or \
             LLM_API names the other one"
        }
        _ => "try again later, or unset LLM_BASE_URL and LLM_MODEL to do without a model",
    };
    Finding::fail(WHAT, format!("{shown}: {fault}")).fix(fix)
}

#[cfg(test)]
mod tests {
    use llm::Api;
    use llm::testing::LoopbackProvider;

    use super::super::Level;
    use super::*;
    use crate::config::Settings;

    async fn found(url: String, model: &str, key: &str, api: &str) -> (Level, String) {
        let settings = Settings {
            data: Some("/data".into()),
            llm_base_url: Some(url),
            llm_model: Some(model.to_owned()),
            llm_api_key: Some(auth::Secret::new(key)),
            llm_api: Some(api.to_owned()),
            ..Settings::default()
        };
        let found = check(&Config::resolve(settings).unwrap()).await.unwrap();
        (found.level, found.detail + &found.fix.unwrap_or_default())
    }

    #[tokio::test]
    async fn a_model_is_available_or_the_finding_says_what_to_do() {
        let server = LoopbackProvider::start([]).await.unwrap();
        for (api, word) in [(Api::OpenAi, "openai"), (Api::Anthropic, "anthropic")] {
            let url = server.base_url(api);
            let elsewhere = format!("{url}/elsewhere");
            for (url, model, key, level, expected) in [
                (
                    url.clone(),
                    "loopback",
                    "hunter2",
                    Level::Ok,
                    "loopback at 127.0.0.1 is available",
                ),
                (url.clone(), "gone", "hunter2", Level::Fail, "one of: loopback, another"),
                (url.clone(), "loopback", "hunter2-bad-key", Level::Fail, "LLM_API_KEY"),
                (elsewhere, "loopback", "hunter2", Level::Warn, "lists no models"),
                ("http://127.0.0.1:1/v1".to_owned(), "m", "hunter2", Level::Fail, "firewall"),
                ("no address".to_owned(), "m", "hunter2", Level::Fail, "LLM_BASE_URL like"),
            ] {
                let (found, text) = found(url.clone(), model, key, word).await;
                assert_eq!(found, level, "{url}: {text}");
                assert!(text.contains(expected) && !text.contains("hunter2"), "{url}: {text}");
            }
        }
        assert!(server.requests().is_empty(), "no message was sent to the model");
    }

    #[tokio::test]
    async fn without_a_model_there_is_no_finding() {
        let settings = Settings { data: Some("/data".into()), ..Settings::default() };
        assert!(check(&Config::resolve(settings).unwrap()).await.is_none());
    }
}
