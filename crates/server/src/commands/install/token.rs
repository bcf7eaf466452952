//! The token of a client's entry: a new one with the scopes of the tools that the entry shows, or, for
//! a server on another machine, the one in `STOA_TOKEN`.

use std::collections::BTreeSet;

use auth::{MintRequest, ScopeSet, Secret, TokenLimits, parse_ttl};
use clock::{Clock as _, SystemClock};
use contract::View;

use crate::app::{App, open_store};
use crate::cli::InstallArgs;
use crate::commands::token::mint_recorded;
use crate::config::Config;
use crate::exit::CommandError;

/// Scopes that a token gets only through `--scope`: `admin`, and `open`, which is not a right.
const ONLY_ON_REQUEST: [&str; 2] = ["admin", "open"];

pub(super) async fn mint(
    args: &InstallArgs,
    is_local: bool,
    subject: &str,
    config: &Config,
) -> Result<Secret, CommandError> {
    if !is_local {
        return config.token.clone().ok_or_else(|| {
            CommandError::usage(
                "a token for a server on another machine is minted there; put it into STOA_TOKEN",
            )
        });
    }
    let scopes = match &args.scope {
        Some(scopes) => scopes.clone(),
        None => default_scopes(args, config).await?,
    };
    let request = MintRequest {
        subject: subject.to_owned(),
        scopes: ScopeSet::parse_known(&scopes)?,
        ttl: parse_ttl(&args.ttl)?,
        limits: TokenLimits::default(),
    };
    let db = open_store(config).await?;
    let now = SystemClock.now().0 / 1000;
    let token = mint_recorded(&db, config, &request, None, now).await;
    db.close().await;
    token
}

/// The scopes of the tools that the client will see.
async fn default_scopes(args: &InstallArgs, config: &Config) -> Result<String, CommandError> {
    let app = App::start(config).await?;
    let flags = &args.toolset;
    let view = View {
        services: flags.services.clone().or_else(|| config.view.services.clone()),
        tools: flags.tools.clone().or_else(|| config.view.tools.clone()),
        read_only: flags.read_only || config.view.read_only,
        ..View::default()
    };
    let scopes: BTreeSet<&str> =
        app.pipeline.catalog().list(&view).map(|it| it.tool.scope.as_str()).collect();
    app.stop().await;
    let wanted: Vec<&str> =
        scopes.into_iter().filter(|scope| !ONLY_ON_REQUEST.contains(scope)).collect();
    Ok(wanted.join(","))
}
