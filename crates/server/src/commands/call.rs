//! `stoa call`: one tool call from the command line, through the same pipeline as any other.

use std::sync::Arc;

use contract::{Call, Credential};
use serde_json::Value;

use crate::app::App;
use crate::cli::CallArgs;
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

pub(crate) async fn run(args: CallArgs, config: Config) -> Result<(), CommandError> {
    let arguments = match serde_json::from_str(&args.arguments) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(_) => return Err(CommandError::usage("the arguments must be a JSON object")),
        Err(error) => {
            return Err(CommandError::usage(format!("the arguments are not JSON: {error}")));
        }
    };
    let app = App::start(&config, true).await?;
    let mut call = Call::new(arguments);
    if let Some(token) = &config.token {
        call.meta.credential = Credential::Bearer(Arc::from(token.reveal()));
    }
    let outcome = app.pipeline.call_by_name(&args.tool, call).await;
    app.stop().await;
    match outcome {
        None => Err(CommandError::usage(format!(
            "there is no tool {:?}; `stoa tools` lists them",
            args.tool
        ))),
        Some(Err(failure)) => Err(CommandError::data(pretty(&failure.tool_error))),
        Some(Ok(reply)) if args.text => print(&reply.text()),
        Some(Ok(reply)) => print(&(pretty(&reply.result()) + "\n")),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
