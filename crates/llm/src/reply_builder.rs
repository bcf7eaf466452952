//! Builds a reply: joins the pieces, checks them against the limits, and emits events.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use crate::budget::estimate_tokens;
use crate::failure::AttemptFailure;
use crate::{
    ApiKey, ModelConfig, ModelEvent, ModelReply, SizeLimits, StopReason, TokenUsage, ToolCall,
};

const WORD_BYTES_MAX: usize = 256;

#[derive(Debug)]
pub(crate) struct ReplyBuilder {
    bounds: SizeLimits,
    /// Removed from error messages.
    pub(crate) key: Option<ApiKey>,
    text: String,
    /// Calls whose arguments are incomplete, by the provider's index.
    open: BTreeMap<u64, OpenCall>,
    calls: Vec<ToolCall>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    argument_bytes: usize,
    pub(crate) events: VecDeque<ModelEvent>,
    /// The provider has marked the end of the reply.
    pub(crate) ended: bool,
}

#[derive(Debug, Default)]
struct OpenCall {
    id: String,
    name: String,
    arguments: String,
}

impl ReplyBuilder {
    pub(crate) fn new(config: &ModelConfig) -> Self {
        Self {
            bounds: config.bounds,
            key: config.key.clone(),
            text: String::new(),
            open: BTreeMap::new(),
            calls: Vec::new(),
            stop: None,
            input_tokens: None,
            output_tokens: None,
            argument_bytes: 0,
            events: VecDeque::new(),
            ended: false,
        }
    }

    pub(crate) fn add_text(&mut self, piece: &str) -> Result<(), AttemptFailure> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text.len() + piece.len() > self.bounds.text_bytes_max {
            return Err(AttemptFailure::too_large("bytes", self.bounds.text_bytes_max));
        }
        self.text.push_str(piece);
        self.events.push_back(ModelEvent::Text(piece.to_owned()));
        Ok(())
    }

    /// Adds a piece of a call. Some servers do not number calls; their calls begin with an id.
    pub(crate) fn call(
        &mut self,
        number: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Result<(), AttemptFailure> {
        let last = self.open.keys().next_back().copied();
        let number = match (number, id.filter(|it| !it.is_empty()), last) {
            (Some(number), _, _) => number,
            (None, None, Some(last)) => last,
            (None, Some(id), Some(last)) if self.open.get(&last).is_some_and(|it| it.id == id) => {
                last
            }
            (None, _, last) => last.map_or(0, |it| it.saturating_add(1)),
        };
        let known = self.open.contains_key(&number);
        if !known && self.open.len() + self.calls.len() >= self.bounds.tool_calls_max {
            return Err(AttemptFailure::too_large("tool calls", self.bounds.tool_calls_max));
        }
        let call = self.open.entry(number).or_default();
        for (stored, piece) in [(&mut call.id, id), (&mut call.name, name)] {
            // Some servers repeat the id and the name in every piece.
            if stored.is_empty() {
                stored.push_str(piece.unwrap_or_default());
            }
            if stored.len() > WORD_BYTES_MAX {
                return Err(AttemptFailure::bad("a tool call's name is too long"));
            }
        }
        if call.arguments.len() + arguments.len() > self.bounds.arguments_bytes_max {
            let max = self.bounds.arguments_bytes_max;
            return Err(AttemptFailure::too_large("bytes of arguments in a tool call", max));
        }
        call.arguments.push_str(arguments);
        self.argument_bytes += arguments.len();
        Ok(())
    }

    /// Marks the call with this index as complete.
    pub(crate) fn close(&mut self, number: u64) -> Result<(), AttemptFailure> {
        let Some(open) = self.open.remove(&number) else { return Ok(()) };
        let at = self.calls.len();
        if open.name.is_empty() {
            return Err(AttemptFailure::bad("a tool call has no name"));
        }
        let id = if open.id.is_empty() { format!("call_{at}") } else { open.id };
        let arguments = parse(&open.arguments)
            .map_err(|expected| AttemptFailure::bad_arguments(at, &open.name, expected))?;
        let call = ToolCall { id, name: open.name, arguments };
        self.events.push_back(ModelEvent::ToolCall(call.clone()));
        self.calls.push(call);
        Ok(())
    }

    /// Our estimate of the output tokens so far.
    pub(crate) fn tokens_seen(&self) -> u64 {
        self.output_tokens.unwrap_or(0).max(estimate_tokens(self.text.len() + self.argument_bytes))
    }

    /// The whole reply, which is also the last event.
    pub(crate) fn finish(&mut self, input_estimate: u64) -> Result<ModelReply, AttemptFailure> {
        let open: Vec<u64> = self.open.keys().copied().collect();
        for number in open {
            self.close(number)?;
        }
        let stop = match self.stop.take() {
            // Some servers report a normal stop where the reply waits for tool results.
            Some(StopReason::End) | None if !self.calls.is_empty() => StopReason::ToolCalls,
            Some(stop) => stop,
            None => StopReason::Other(String::new()),
        };
        let usage = TokenUsage {
            input_tokens: self.input_tokens.unwrap_or(input_estimate),
            output_tokens: self.output_tokens.unwrap_or_else(|| self.tokens_seen()),
            estimated: self.input_tokens.is_none() || self.output_tokens.is_none(),
        };
        let text = std::mem::take(&mut self.text);
        let reply = ModelReply { text, tool_calls: std::mem::take(&mut self.calls), stop, usage };
        self.events.push_back(ModelEvent::Done(reply.clone()));
        Ok(reply)
    }
}

/// An unknown stop reason, cut to a short text.
pub(crate) fn other(word: &str) -> StopReason {
    StopReason::Other(word.chars().take(64).collect())
}

fn parse(text: &str) -> Result<Map<String, Value>, String> {
    // Models often call a tool without arguments with an empty text.
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("a JSON object".to_owned()),
        Err(error) => Err(format!(
            "a JSON object; line {}, column {} is not JSON",
            error.line(),
            error.column()
        )),
    }
}
