//! Reads a model's streamed reply and reports its progress as tool calls and text lengths, never as
//! text.

use fault::Fault;
use futures_util::StreamExt as _;
use llm::{Model, ModelEvent, ModelReply, ModelRequest, ToolCall};

/// Number of characters between two progress reports.
const REPORT_CHARS: usize = 250;
/// The reader gives up on a reply longer than this many characters.
const CHARS_MAX: usize = 60_000;

/// One progress report about a reply that is still streaming.
pub(super) enum ReplyProgress<'a> {
    Call(&'a ToolCall),
    /// Number of characters received so far.
    Text(usize),
}

/// Returns the whole reply. If the stream breaks off, the request is sent once more; this is safe
/// because no partial text has been shown.
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
