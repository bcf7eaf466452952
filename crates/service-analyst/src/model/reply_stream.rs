//! Hearing a model out: its reply as it comes, told as calls and lengths, never as words.

use fault::Fault;
use futures_util::StreamExt as _;
use llm::{Model, ModelEvent, ModelReply, ModelRequest, ToolCall};

/// Letters between two reports of how much there is.
const REPORT_CHARS: usize = 250;
/// More than any answer has; the rest is not waited for.
const CHARS_MAX: usize = 60_000;

/// What is told of a reply while it comes.
pub(super) enum ReplyProgress<'a> {
    Call(&'a ToolCall),
    /// Letters so far.
    Text(usize),
}

/// The whole reply. One that breaks off is asked for once more, since nobody has read it yet.
pub(super) async fn stream_reply(
    model: &dyn Model,
    request: ModelRequest,
    on_progress: &(dyn Fn(ReplyProgress<'_>) + Send + Sync),
) -> Result<ModelReply, Fault> {
    match stream_once(model, request.clone(), on_progress).await {
        Err(fault) if fault.code() == "llm_cut_short" => {
            stream_once(model, request, on_progress).await
        }
        reply => reply,
    }
}

async fn stream_once(
    model: &dyn Model,
    request: ModelRequest,
    on_progress: &(dyn Fn(ReplyProgress<'_>) + Send + Sync),
) -> Result<ModelReply, Fault> {
    let mut events = model.stream(request);
    let (mut chars, mut reported) = (0, 0);
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::Done(reply) => return Ok(reply),
            ModelEvent::ToolCall(call) => on_progress(ReplyProgress::Call(&call)),
            ModelEvent::Text(text) => {
                chars += text.chars().count();
                if chars > CHARS_MAX {
                    let message = "the model does not stop writing";
                    return Err(Fault::unavailable("llm_bad_answer", message));
                }
                if chars >= reported + REPORT_CHARS {
                    reported = chars;
                    on_progress(ReplyProgress::Text(chars));
                }
            }
        }
    }
    Err(Fault::unavailable("llm_cut_short", "the model's answer was cut short"))
}
