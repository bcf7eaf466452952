//! Links that install Stoa in a client when they are opened. They never hold a token.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::commands::install::NAME;
use crate::commands::install::clients::{JsonForm, Link};
use crate::commands::install::json;
use crate::commands::install::launch::Launch;

/// What JavaScript's `encodeURIComponent` leaves as it is.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// `None` for an entry with a token: links are shared and stay in histories.
pub(super) fn link(link: Link, form: &JsonForm, launch: &Launch) -> Option<String> {
    let entry = json::entry(form, launch).ok().filter(|_| !launch.holds_token)?;
    let encoded = |text: &str| utf8_percent_encode(text, COMPONENT).to_string();
    let config = || encoded(&STANDARD.encode(entry.to_string()));
    Some(match link {
        Link::Cursor => {
            format!(
                "cursor://anysphere.cursor-deeplink/mcp/install?name={NAME}&config={}",
                config()
            )
        }
        Link::LmStudio => format!("lmstudio://add_mcp?name={NAME}&config={}", config()),
        Link::Vscode => {
            let mut named = Map::from_iter([("name".to_owned(), json!(NAME))]);
            named.extend(entry.as_object().cloned().unwrap_or_default());
            format!("vscode:mcp/install?{}", encoded(&Value::Object(named).to_string()))
        }
    })
}
