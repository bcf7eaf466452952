//! A token for a client's entry: minted with the scopes of the tools that the entry shows, or, for a
//! server on another machine, the caller's own.

use std::collections::BTreeSet;
use std::sync::Arc;

use auth::{
    Authority, Keyring, MintRequest, ScopeSet, Secret, SqlRevocations, TokenLimits, TokenRecords,
    parse_ttl,
};
use clock::{Clock as _, SystemClock};
use contract::View;

use crate::app::{App, open_store};
use crate::cli::InstallArgs;
use crate::config::Config;
use crate::exit::CommandError;

/// Scopes that no client gets unless they are asked for: everything, and none.
const NEVER_USUAL: [&str; 2] = ["admin", "open"];

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
        None => usual_scopes(args, config).await?,
    };
    let request = MintRequest {
        subject: subject.to_owned(),
        scopes: ScopeSet::parse_known(&scopes)?,
        ttl: parse_ttl(&args.ttl)?,
        limits: TokenLimits::default(),
    };
    let db = open_store(config).await?;
    let keys = Keyring::open(&config.data)?;
    let authority = Authority::new(keys, Arc::new(SqlRevocations::new(db.clone())));
    let now = SystemClock.now().0 / 1000;
    let token = authority.mint(&request, now)?;
    TokenRecords::new(db.clone()).insert(&auth::inspect(token.reveal())?, None, now).await?;
    db.close().await;
    Ok(token)
}

/// The scopes of the tools that the client will see.
async fn usual_scopes(args: &InstallArgs, config: &Config) -> Result<String, CommandError> {
    let app = App::start(config, true).await?;
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
        scopes.into_iter().filter(|scope| !NEVER_USUAL.contains(scope)).collect();
    Ok(wanted.join(","))
}
