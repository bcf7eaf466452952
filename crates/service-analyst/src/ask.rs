//! The arguments of a question and their limits.

use fault::Fault;
use serde::Deserialize;

use crate::number::Language;

pub(crate) const MESSAGES_MAX: usize = 100;
pub(crate) const MESSAGE_CHARS_MAX: usize = 8_000;

#[derive(Debug, Clone, Deserialize)]
pub struct AskArgs {
    pub input: Input,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Input {
    pub messages: Vec<ChatMessage>,
    #[serde(default)]
    pub metadata: Metadata,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ChatMessage {
    pub role: String,
    pub content: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct Metadata {
    pub locale: Option<String>,
    pub user_role: Option<String>,
}

/// The user's messages, the earliest first. Messages of other roles are left out, because answers
/// repeat external data, and data must not become a question.
#[derive(Debug, Clone, Default)]
pub struct Question {
    pub messages: Vec<String>,
    pub locale: Option<Language>,
}

impl Question {
    pub fn new(args: AskArgs) -> Result<Self, Fault> {
        let messages = args.input.messages;
        if messages.len() > MESSAGES_MAX {
            let expected = format!("at most {MESSAGES_MAX} messages");
            return Err(Fault::invalid(
                "too_many_messages",
                format!("input.messages: expected {expected}"),
            )
            .problem("input.messages", expected));
        }
        if messages
            .iter()
            // Messages of other roles are not read, so their length does not matter.
            .any(|it| it.role == "user" && it.content.chars().count() > MESSAGE_CHARS_MAX)
        {
            let expected = format!("at most {MESSAGE_CHARS_MAX} characters in a message");
            return Err(Fault::invalid(
                "message_too_long",
                format!("input.messages: expected {expected}"),
            )
            .problem("input.messages", expected));
        }
        let messages: Vec<String> =
            messages.into_iter().filter(|it| it.role == "user").map(|it| it.content).collect();
        let locale = args.input.metadata.locale.as_deref().and_then(|it| {
            let it = it.trim().to_lowercase();
            if it.starts_with("ru") {
                Some(Language::Russian)
            } else {
                it.starts_with("en").then_some(Language::English)
            }
        });
        Ok(Self { messages, locale })
    }

    /// Reports whether the user said anything; the contract allows a list without messages.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the last message, which is the one to answer.
    pub fn text(&self) -> &str {
        self.messages.last().map_or("", String::as_str)
    }
}
