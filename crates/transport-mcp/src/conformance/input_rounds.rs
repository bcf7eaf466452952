//! Answers that need several rounds of input: the server asks, the client calls again with the input,
//! and the client carries the server's signed state.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, RequestStateCodec,
};
use rmcp::service::RequestContext as Cx;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::fixtures::{Fixtures, Script};
use super::messages;

pub(super) struct InputRounds {
    codec: RequestStateCodec,
}

impl InputRounds {
    /// With a random key that lives as long as the process.
    pub(super) fn new() -> Self {
        let mut key = [0_u8; 32];
        if getrandom::fill(&mut key).is_err() {
            tracing::debug!("no randomness, so the signature can be guessed");
        }
        Self { codec: RequestStateCodec::new_unchecked(key) }
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
        let received = json!(responses.clone().unwrap_or_default());
        Ok(messages::text(format!("state-ok: {received}")).into())
    }

    /// The questions of the next round; `None` when all are answered.
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
            true => Some(self.codec.seal_json(&round).map_err(invalid_state)?),
            false => None,
        };
        Ok(Some(InputRequiredResult::new(Some(requests), state)))
    }

    /// The client's round, after its signature was verified.
    fn round(&self, state: Option<&str>) -> Result<usize, ErrorData> {
        state.map_or(Ok(0), |sealed| self.codec.open_json(sealed).map_err(invalid_state))
    }
}

fn invalid_state<E>(_: E) -> ErrorData {
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
