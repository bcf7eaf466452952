//! `stoa tools`: the tools that a client sees, and their size in the model's tokens.

use std::fmt::Write as _;

use serde_json::json;

use crate::app::App;
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

/// A token is about four characters of JSON; the exact number depends on the model.
const CHARACTERS_PER_TOKEN: usize = 4;

pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    let app = App::start(&config, true).await?;
    let mut text = format!(
        "{:<28} {:<12} {:<8} {:>6}  {}\n",
        "tool", "service", "scope", "tokens", "what it does"
    );
    let mut total = 0;
    for listed in app.pipeline.catalog().list(&app.view) {
        let spec = &listed.tool.spec;
        let shown = json!({
            "name": listed.name, "description": spec.description, "inputSchema": spec.input.json(),
        });
        let tokens = shown.to_string().len().div_ceil(CHARACTERS_PER_TOKEN);
        total += tokens;
        _ = writeln!(
            text,
            "{:<28} {:<12} {:<8} {tokens:>6}  {}",
            listed.name,
            listed.service.name,
            listed.tool.scope.as_str(),
            spec.title,
        );
    }
    _ = writeln!(text, "{:<50} {total:>6}  (about four characters each)", "all");
    app.stop().await;
    print(&text)
}
