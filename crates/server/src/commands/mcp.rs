//! `stoa mcp`: the same tools over stdio. The user who starts the process may read without a token,
//! and is a user of the archive; other scopes need a token in `STOA_TOKEN`.

use std::sync::Arc;

use transport_mcp::{McpServer, ServerOptions, serve_stdio};

use crate::app::{App, VERSION};
use crate::commands::serve::{simulation_notice, stop_signal};
use crate::config::Config;
use crate::exit::CommandError;

pub(crate) async fn run(config: Config) -> Result<(), CommandError> {
    let app = App::start(&config).await?;
    let credential = app.own_credential(&config).await;
    let notice = simulation_notice(&config);
    let options = ServerOptions { notice, ..ServerOptions::stdio(VERSION, credential) };
    let server = McpServer::new(Arc::clone(&app.pipeline), app.view.clone(), options);
    let stop = app.stop.clone();
    let served = serve_stdio(server, tokio::io::stdin(), tokio::io::stdout(), stop);
    let ended = tokio::select! {
        ended = served => ended,
        () = stop_signal() => Ok(()),
    };
    app.stop().await;
    ended.map_err(CommandError::other)
}
