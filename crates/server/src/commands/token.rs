//! `stoa token`: mints, narrows, inspects, lists and revokes capability tokens. A token is read
//! from stdin or `STOA_TOKEN`, never from an argument.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;
use std::time::Duration;

use archive_accounts::{Accounts, RegistrationPolicy};
use auth::{
    Authority, Keyring, MintRequest, Narrowing, ScopeSet, Secret, SqlRevocations, TokenLimits,
    TokenRecord, TokenRecords, parse_ttl,
};
use clock::{Clock as _, Millis, SystemClock};
use store::Db;

use crate::app::open_store;
use crate::archive;
use crate::cli::{LimitArgs, MintArgs, NarrowArgs, TokenCommand};
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

/// The most bytes of a token.
const TOKEN_BYTES_MAX: u64 = 16 * 1024;
/// The scopes of a token for a user without `--scope`.
const USER_SCOPE: &str = "read,write";
/// The lifetime of a token for a user without `--ttl`.
const USER_TTL: &str = "30d";
/// The longest lifetime of a token for a user.
const USER_TTL_MAX: Duration = Duration::from_secs(366 * 86_400);

pub(crate) async fn run(command: TokenCommand, config: Config) -> Result<(), CommandError> {
    let now = SystemClock.now().0 / 1000;
    match command {
        TokenCommand::Mint(args) => mint(args, &config, now).await,
        TokenCommand::Attenuate(args) => narrow(args, &config, now),
        TokenCommand::Inspect => inspect(&config, now).await,
        TokenCommand::List => list(&config, now).await,
        TokenCommand::Revoke { id: Some(id) } => revoke_listed(&id, &config, now).await,
        TokenCommand::Revoke { id: None } => {
            let id = authority(&config).await?.revoke(read_token(&config)?.reveal()).await?;
            print(&format!("revoked {id}\n"))
        }
    }
}

async fn authority(config: &Config) -> Result<Authority, CommandError> {
    authority_in(&open_store(config).await?, config)
}

fn authority_in(db: &Db, config: &Config) -> Result<Authority, CommandError> {
    let revocations = Arc::new(SqlRevocations::new(db.clone()));
    Ok(Authority::new(Keyring::open(&config.data)?, revocations))
}

fn limits(args: LimitArgs) -> TokenLimits {
    TokenLimits { sku_prefix: args.sku_prefix, market: args.market, service: args.service }
}

async fn mint(args: MintArgs, config: &Config, now: i64) -> Result<(), CommandError> {
    let (default_scope, default_ttl) = match args.user {
        Some(_) => (USER_SCOPE, USER_TTL),
        None => ("", "1h"),
    };
    let mut request = MintRequest {
        subject: args.subject,
        scopes: ScopeSet::parse_known(args.scope.as_deref().unwrap_or(default_scope))?,
        ttl: parse_ttl(args.ttl.as_deref().unwrap_or(default_ttl))?,
        limits: limits(args.limits),
    };
    let db = open_store(config).await?;
    if let Some(name) = &args.user {
        if request.ttl > USER_TTL_MAX {
            let message = "a token for a user lives at most 366d; choose a shorter --ttl";
            return Err(CommandError::usage(message));
        }
        request.subject = user_session(&db, name, &request, now).await?;
        let service = request.limits.service.take();
        request.limits.service = service.or_else(|| Some(vec![archive::SERVICE.to_owned()]));
    }
    let token = mint_recorded(&db, config, &request, args.user.as_deref(), now).await?;
    print(&format!("{}\n", token.reveal()))
}

/// Mints a token and records it for `stoa token list`; `user` is the user for whom it acts.
pub(crate) async fn mint_recorded(
    db: &Db,
    config: &Config,
    request: &MintRequest,
    user: Option<&str>,
    now: i64,
) -> Result<Secret, CommandError> {
    let token = authority_in(db, config)?.mint(request, now)?;
    TokenRecords::new(db.clone()).insert(&auth::inspect(token.reveal())?, user, now).await?;
    Ok(token)
}

/// The subject of a token for a user: a session of that user, which ends with the token.
async fn user_session(
    db: &Db,
    name: &str,
    request: &MintRequest,
    now: i64,
) -> Result<String, CommandError> {
    let life = i64::try_from(request.ttl.as_secs()).unwrap_or(i64::MAX);
    let expires_at = Millis(now.saturating_add(life).saturating_mul(1000));
    let rules = RegistrationPolicy { registration_open: false };
    let accounts = Accounts::new(db.clone(), Arc::new(SystemClock), rules);
    let (_, subject) = accounts.start_for_token(name, expires_at).await?;
    Ok(subject)
}

async fn list(config: &Config, now: i64) -> Result<(), CommandError> {
    let records = TokenRecords::new(open_store(config).await?).list(now).await?;
    if records.is_empty() {
        return print("there are no minted tokens; `stoa token mint` mints one\n");
    }
    let holder = |it: &TokenRecord| match &it.username {
        Some(name) => format!("user {name}"),
        None => it.subject.clone(),
    };
    let width = records.iter().map(|it| holder(it).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for it in &records {
        let expires = Millis(it.expires_at.saturating_mul(1000)).to_rfc3339();
        let state = if it.revoked { "revoked" } else { "until" };
        let (id, holder, scopes) = (&it.id, holder(it), &it.scopes);
        _ = writeln!(text, "{id}  {holder:<width$}  {state:<7} {expires}  {scopes}");
    }
    print(&text)
}

async fn revoke_listed(id: &str, config: &Config, now: i64) -> Result<(), CommandError> {
    let db = open_store(config).await?;
    let records = TokenRecords::new(db.clone()).list(now).await?;
    let Some(found) = records.into_iter().find(|record| record.id == id) else {
        let id: String = id.chars().take(64).collect();
        let message = format!("no minted token has the id {id:?}; see `stoa token list`");
        return Err(CommandError::usage(message));
    };
    authority_in(&db, config)?.revoke_id(found.revocation_id, found.expires_at).await?;
    print(&format!("revoked {}\n", found.revocation_id))
}

fn narrow(args: NarrowArgs, config: &Config, now: i64) -> Result<(), CommandError> {
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
    let token = auth::narrow(read_token(config)?.reveal(), &narrowing)?;
    print(&format!("{}\n", token.reveal()))
}

async fn inspect(config: &Config, now: i64) -> Result<(), CommandError> {
    let token = read_token(config)?;
    let inspection = auth::inspect(token.reveal())?;
    let validity = match authority(config).await?.verify(token.reveal(), now).await {
        Ok(_) => "yes".to_owned(),
        Err(fault) => format!("no: {fault}"),
    };
    let scopes: Vec<&str> = inspection.scopes.iter().map(auth::ScopeName::as_str).collect();
    let mut text = String::new();
    for (name, value) in [
        ("id", inspection.id.clone()),
        ("subject", inspection.subject.clone()),
        ("scopes", scopes.join(",")),
        ("issued", Millis(inspection.issued_at.saturating_mul(1000)).to_rfc3339()),
        ("expires", Millis(inspection.expires_at.saturating_mul(1000)).to_rfc3339()),
        ("sku prefixes", limit_text(inspection.limits.sku_prefix.as_deref())),
        ("markets", limit_text(inspection.limits.market.as_deref())),
        ("services", limit_text(inspection.limits.service.as_deref())),
        ("narrowed", format!("{} times", inspection.narrowings)),
        ("notes", inspection.notes.join("; ")),
        ("revocation id", inspection.revocation_id.to_string()),
        ("valid here", validity),
    ] {
        _ = writeln!(text, "{name:<14} {value}");
    }
    print(&text)
}

fn limit_text(limit: Option<&[String]>) -> String {
    limit.map_or_else(|| "any".to_owned(), |list| list.join(","))
}

/// The token of `STOA_TOKEN` or stdin.
fn read_token(config: &Config) -> Result<Secret, CommandError> {
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
