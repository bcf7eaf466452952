//! The hint at the end of a text: the call that usually comes next, as a model can send it.

use serde_json::Value;

/// A line that names a tool and its arguments; arguments that are null are left out.
pub fn next_step(tool: &str, args: &Value) -> String {
    let mut args = args.clone();
    if let Some(args) = args.as_object_mut() {
        args.retain(|_, value| !value.is_null());
    }
    format!("\nnext: {tool} {args}")
}
