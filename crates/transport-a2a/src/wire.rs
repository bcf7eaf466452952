//! The objects of the protocol: the JSON of `a2a.proto` 1.0.
//!
//! Reading accepts both spellings of a field's name, as protobuf does, and ignores unknown fields.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TaskState {
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
}

impl TaskState {
    /// All states.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// The protocol's name of the state.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::Rejected => "TASK_STATE_REJECTED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether the task never changes again.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the task waits for the client.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// Whether the task is queued or runs.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Submitted | Self::Working)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    #[serde(rename = "ROLE_USER")]
    User,
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// One piece of content; exactly one of the first four is set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Any JSON, null included.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    #[serde(alias = "media_type", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// Reads a null as a value, not as an absent field.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub fn data(data: Value) -> Self {
        let media_type = Some("application/json".to_owned());
        Self { data: Some(data), media_type, ..Self::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    #[serde(alias = "message_id")]
    pub message_id: String,
    #[serde(alias = "context_id", skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    #[serde(alias = "task_id", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    pub role: Role,
    pub parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    #[serde(alias = "reference_task_ids", skip_serializing_if = "Option::is_none")]
    pub reference_task_ids: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub artifact_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    pub state: TaskState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    pub timestamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub id: String,
    pub context_id: String,
    pub status: TaskStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Vec<Artifact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Message>>,
}

impl Task {
    /// The task with its newest `length` messages, as `historyLength` asks.
    #[must_use]
    pub fn with_history(mut self, length: Option<usize>) -> Self {
        match length {
            None => {}
            Some(0) => self.history = None,
            Some(length) => {
                if let Some(history) = &mut self.history {
                    history.drain(..history.len().saturating_sub(length));
                }
            }
        }
        self
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusUpdate {
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    pub(crate) status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArtifactUpdate {
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    pub(crate) artifact: Artifact,
    pub(crate) append: bool,
    pub(crate) last_chunk: bool,
}

/// An event of a stream, the body of a notification, or the result of `SendMessage`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamResponse {
    Task(Task),
    Message(Message),
    StatusUpdate(StatusUpdate),
    ArtifactUpdate(ArtifactUpdate),
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushAuthentication {
    pub scheme: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub credentials: String,
}

/// A webhook. The token and the credentials are secrets of the client, so `Debug` hides them.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushConfig {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, alias = "task_id", skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<PushAuthentication>,
}

impl PushConfig {
    /// The webhook as it is shown after it was set: without its token and its credentials.
    pub(crate) fn without_secrets(mut self) -> Self {
        self.token = None;
        if let Some(authentication) = &mut self.authentication {
            authentication.credentials.clear();
        }
        self
    }
}

impl std::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushConfig").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Configuration {
    #[serde(alias = "accepted_output_modes")]
    pub(crate) accepted_output_modes: Option<Vec<String>>,
    #[serde(alias = "task_push_notification_config")]
    pub(crate) task_push_notification_config: Option<PushConfig>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<i64>,
    #[serde(alias = "return_immediately")]
    pub(crate) return_immediately: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SendParams {
    pub(crate) message: Message,
    #[serde(default)]
    pub(crate) configuration: Option<Configuration>,
    #[serde(default)]
    pub(crate) metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskParams {
    pub(crate) id: String,
    #[serde(default, alias = "history_length")]
    pub(crate) history_length: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListParams {
    #[serde(alias = "context_id")]
    pub(crate) context_id: Option<String>,
    pub(crate) status: Option<String>,
    #[serde(alias = "page_size")]
    pub(crate) page_size: Option<i64>,
    #[serde(alias = "page_token")]
    pub(crate) page_token: Option<String>,
    #[serde(alias = "history_length")]
    pub(crate) history_length: Option<i64>,
    #[serde(alias = "status_timestamp_after")]
    pub(crate) status_timestamp_after: Option<String>,
    #[serde(alias = "include_artifacts")]
    pub(crate) include_artifacts: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskList {
    pub(crate) tasks: Vec<Task>,
    pub(crate) next_page_token: String,
    pub(crate) page_size: usize,
    pub(crate) total_size: u64,
}

/// Names a webhook of a task; `id` is empty where all are meant.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushParams {
    #[serde(alias = "task_id")]
    pub(crate) task_id: String,
    #[serde(default)]
    pub(crate) id: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_one_is_written() {
        let snake = json!({ "message_id": "m", "context_id": "c", "role": "ROLE_USER",
            "parts": [{ "text": "t", "media_type": "text/plain", "unknown": 1 }] });
        let message: Message = serde_json::from_value(snake).unwrap();
        let camel = json!({ "messageId": "m", "contextId": "c", "role": "ROLE_USER",
            "parts": [{ "text": "t", "mediaType": "text/plain" }] });
        assert_eq!(serde_json::to_value(&message).unwrap(), camel);
    }

    #[test]
    fn a_null_of_data_is_data() {
        let part: Part = serde_json::from_value(json!({ "data": null })).unwrap();
        assert_eq!(part.data, Some(Value::Null));
        let part: Part = serde_json::from_value(json!({ "text": "t" })).unwrap();
        assert_eq!(part.data, None);
    }

    #[test]
    fn state_names_are_those_of_the_protocol() {
        for state in TaskState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), json!(state.as_str()));
            assert_eq!(TaskState::parse(state.as_str()), Some(state));
        }
    }

    #[track_caller]
    fn check_history(length: Option<usize>, expected: Option<usize>) {
        let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [] });
        let task: Task = serde_json::from_value(json!({ "id": "t", "contextId": "c",
            "status": { "state": "TASK_STATE_WORKING", "timestamp": "" },
            "history": [message, message, message] }))
        .unwrap();
        let left = task.with_history(length).history.map(|history| history.len());
        assert_eq!(left, expected, "{length:?}");
    }

    #[test]
    fn history_is_cut_from_its_old_end() {
        check_history(None, Some(3));
        check_history(Some(0), None);
        check_history(Some(2), Some(2));
        check_history(Some(9), Some(3));
    }
}
