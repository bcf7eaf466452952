//! The tool table as the analyst calls it: through the same pipeline as every client, on behalf of
//! the analyst's caller.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use contract::{Call, Caller, Pipeline};
use serde_json::{Map, Value};
use service_analyst::{ToolAnswer, ToolCaller, ToolFailure};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The analyst is itself in the table that the pipeline holds, so it gets the pipeline afterwards,
/// and does not keep it alive.
#[derive(Default)]
pub(crate) struct PipelineToolCaller(OnceLock<Weak<Pipeline>>);

impl PipelineToolCaller {
    pub(crate) fn open(&self, pipeline: &Arc<Pipeline>) {
        self.0.get_or_init(|| Arc::downgrade(pipeline));
    }
}

#[async_trait]
impl ToolCaller for PipelineToolCaller {
    async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        args: Map<String, Value>,
        cancel: &CancellationToken,
        deadline: Instant,
    ) -> Result<ToolAnswer, ToolFailure> {
        let failure = |code: &str, message: &str| ToolFailure {
            code: code.to_owned(),
            message: message.to_owned(),
        };
        let pipeline = self.0.get().and_then(Weak::upgrade);
        let pipeline = pipeline.ok_or_else(|| failure("closing", "the server is stopping"))?;
        let found = pipeline.catalog().find(None, tool);
        let tool = found.ok_or_else(|| failure("unknown_tool", "there is no such tool"))?;
        let mut call = Call::new(args);
        call.transport = "agent";
        call.cancel = cancel.child_token();
        match timeout_at(deadline, pipeline.call_for(caller, tool, call)).await {
            Err(_) => Err(failure("deadline", "no answer in time")),
            Ok(Ok(reply)) => Ok(ToolAnswer { result: reply.result(), meta: reply.meta() }),
            Ok(Err(refused)) => Err(failure(refused.code, &message(&refused.tool_error))),
        }
    }
}

/// The sentence in a contract's error object, wherever the contract puts it.
fn message(error: &Value) -> String {
    let places = ["/error/message", "/message"];
    let found = places.iter().find_map(|place| error.pointer(place)?.as_str());
    found.unwrap_or("the tool failed").to_owned()
}
