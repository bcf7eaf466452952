//! `stoa token`: capability tokens. They are read from stdin or `STOA_TOKEN`, never from arguments.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;

use auth::{
    Authority, Keyring, MintRequest, Narrowing, ScopeSet, Secret, SqlRevocations, TokenLimits,
    parse_ttl,
};
use clock::{Clock as _, Millis, SystemClock};

use crate::app::open_store;
use crate::cli::{LimitArgs, MintArgs, NarrowArgs, TokenCommand};
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: u64 = 16 * 1024;

pub(crate) async fn run(command: TokenCommand, config: Config) -> Result<(), CommandError> {
    let now = SystemClock.now().0 / 1000;
    match command {
        TokenCommand::Mint(args) => mint(args, &config, now).await,
        TokenCommand::Attenuate(args) => attenuate(args, &config, now),
        TokenCommand::Inspect => inspect(&config, now).await,
        TokenCommand::Revoke => {
            let id = authority(&config).await?.revoke(given(&config)?.reveal()).await?;
            print(&format!("revoked {id}\n"))
        }
    }
}

async fn authority(config: &Config) -> Result<Authority, CommandError> {
    let db = open_store(config).await?;
    Ok(Authority::new(Keyring::open(&config.data)?, Arc::new(SqlRevocations::new(db))))
}

fn limits(args: LimitArgs) -> TokenLimits {
    TokenLimits { sku_prefix: args.sku_prefix, market: args.market, service: args.service }
}

async fn mint(args: MintArgs, config: &Config, now: i64) -> Result<(), CommandError> {
    let request = MintRequest {
        subject: args.subject,
        scopes: ScopeSet::parse(&args.scope)?,
        ttl: parse_ttl(&args.ttl)?,
        limits: limits(args.limits),
    };
    let token = authority(config).await?.mint(&request, now)?;
    print(&format!("{}\n", token.reveal()))
}

fn attenuate(args: NarrowArgs, config: &Config, now: i64) -> Result<(), CommandError> {
    let expires_at = match &args.ttl {
        Some(ttl) => {
            let seconds = i64::try_from(parse_ttl(ttl)?.as_secs()).unwrap_or(i64::MAX);
            Some(now.saturating_add(seconds))
        }
        None => None,
    };
    let narrowing = Narrowing {
        scopes: args.scope.as_deref().map(ScopeSet::parse).transpose()?,
        expires_at,
        limits: limits(args.limits),
        note: args.note,
    };
    let token = auth::attenuate(given(config)?.reveal(), &narrowing)?;
    print(&format!("{}\n", token.reveal()))
}

async fn inspect(config: &Config, now: i64) -> Result<(), CommandError> {
    let token = given(config)?;
    let seen = auth::inspect(token.reveal())?;
    let holds = match authority(config).await?.verify(token.reveal(), now).await {
        Ok(_) => "yes".to_owned(),
        Err(fault) => format!("no: {fault}"),
    };
    let scopes: Vec<&str> = seen.scopes.iter().map(auth::ScopeName::as_str).collect();
    let mut text = String::new();
    for (name, value) in [
        ("id", seen.id.clone()),
        ("subject", seen.subject.clone()),
        ("scopes", scopes.join(",")),
        ("issued", Millis(seen.issued_at.saturating_mul(1000)).to_rfc3339()),
        ("expires", Millis(seen.expires_at.saturating_mul(1000)).to_rfc3339()),
        ("sku prefixes", shown(seen.limits.sku_prefix.as_deref())),
        ("markets", shown(seen.limits.market.as_deref())),
        ("services", shown(seen.limits.service.as_deref())),
        ("narrowed", format!("{} times", seen.narrowings)),
        ("notes", seen.notes.join("; ")),
        ("revocation id", seen.revocation_id.to_string()),
        ("holds here", holds),
    ] {
        _ = writeln!(text, "{name:<14} {value}");
    }
    print(&text)
}

fn shown(limit: Option<&[String]>) -> String {
    limit.map_or_else(|| "any".to_owned(), |list| list.join(","))
}

fn given(config: &Config) -> Result<Secret, CommandError> {
    if let Some(token) = &config.token {
        return Ok(token.clone());
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(CommandError::usage("pipe the token in, or set STOA_TOKEN"));
    }
    let mut text = String::new();
    stdin.lock().take(TOKEN_BYTES_MAX).read_to_string(&mut text)?;
    match text.trim() {
        "" => Err(CommandError::usage("there is no token on stdin and none in STOA_TOKEN")),
        token => Ok(Secret::new(token)),
    }
}
