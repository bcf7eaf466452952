//! Answers that need several rounds: the server asks, the client calls again with what it was
//! asked for, and what the server must remember travels with the client under a seal.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, RequestStateCodec,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::fixtures::{Fixtures, Script};
use super::talk;

pub(super) struct Rounds {
    seal: RequestStateCodec,
}

impl Rounds {
    /// The key lives as long as the process: nothing is kept behind these fixtures.
    pub(super) fn new() -> Self {
        let mut key = [0_u8; 32];
        if getrandom::fill(&mut key).is_err() {
            tracing::debug!("there is no randomness, so the seal can be guessed");
        }
        Self { seal: RequestStateCodec::new_unchecked(key) }
    }

    pub(super) fn call(
        &self,
        fixtures: &Fixtures,
        script: &Script,
        request: &CallToolRequestParams,
        cx: &Cx<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let declared = cx.client_capabilities().unwrap_or_default();
        let (state, responses) = (&request.request_state, &request.input_responses);
        if let Some(more) = self.next(fixtures, script, state, responses, &declared)? {
            return Ok(more.into());
        }
        let heard = json!(responses.clone().unwrap_or_default());
        Ok(talk::text(format!("state-ok: {heard}")).into())
    }

    /// What still has to be asked, or nothing.
    pub(super) fn next(
        &self,
        fixtures: &Fixtures,
        script: &Script,
        state: &Option<String>,
        responses: &Option<InputResponses>,
        declared: &ClientCapabilities,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        let mut round = self.round(state.as_deref())?;
        let known = state.is_some() || !script.sealed;
        let asked = |round: usize| script.rounds.get(round).into_iter().flatten();
        let answered = |key: &String| {
            responses.as_ref().and_then(|it| it.get(key)).is_some_and(Value::is_object)
        };
        let complete = match script.declared_only {
            true => responses.is_some(),
            false => asked(round).all(answered),
        };
        if known && complete {
            round += 1;
        }
        let mut requests = InputRequests::new();
        for key in asked(round) {
            let question = fixtures.question(key);
            let wanted =
                question.filter(|question| !script.declared_only || declares(declared, question));
            requests.extend(wanted.map(|question| (key.clone(), question)));
        }
        if requests.is_empty() {
            return Ok(None);
        }
        let state = match script.sealed {
            true => Some(self.seal.seal_json(&round).map_err(unsealed)?),
            false => None,
        };
        Ok(Some(InputRequiredResult::new(Some(requests), state)))
    }

    /// The round the client is in. What it echoes is not to be trusted until the seal holds.
    fn round(&self, state: Option<&str>) -> Result<usize, ErrorData> {
        state.map_or(Ok(0), |sealed| self.seal.open_json(sealed).map_err(unsealed))
    }
}

fn unsealed<E>(_: E) -> ErrorData {
    ErrorData::invalid_params("the request state is not one that this server sealed", None)
}

fn declares(declared: &ClientCapabilities, question: &InputRequest) -> bool {
    match question {
        InputRequest::CreateMessage(_) => declared.sampling.is_some(),
        InputRequest::Elicitation(_) => declared.elicitation.is_some(),
        InputRequest::ListRoots(_) => declared.roots.is_some(),
        _ => false,
    }
}
