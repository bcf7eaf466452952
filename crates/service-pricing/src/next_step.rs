//! The hint at the end of a text: the call that usually comes next, as a model can send it.

use serde_json::Value;

/// A line that names a tool and its arguments.
pub(crate) fn next_step(tool: &str, args: &Value) -> String {
    format!("\nNext: {tool} {args}")
}
