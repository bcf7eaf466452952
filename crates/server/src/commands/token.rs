//! `stoa token`: capability tokens. They are read from stdin or `STOA_TOKEN`, never from arguments.

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
/// What a token for a user may do unless `--scope` says otherwise.
const USER_SCOPE: &str = "read,write";
/// How long a token for a user lives unless `--ttl` says otherwise.
const USER_TTL: &str = "30d";
const USER_TTL_MAX: Duration = Duration::from_secs(366 * 86_400);

pub(crate) async fn run(command: TokenCommand, config: Config) -> Result<(), CommandError> {
    let now = SystemClock.now().0 / 1000;
    match command {
        TokenCommand::Mint(args) => mint(args, &config, now).await,
        TokenCommand::Attenuate(args) => attenuate(args, &config, now),
        TokenCommand::Inspect => inspect(&config, now).await,
        TokenCommand::List => list(&config, now).await,
        TokenCommand::Revoke { id: Some(id) } => revoke_listed(&id, &config, now).await,
        TokenCommand::Revoke { id: None } => {
            let id = authority(&config).await?.revoke(given(&config)?.reveal()).await?;
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
    let (usual_scope, usual_ttl) = match args.user {
        Some(_) => (USER_SCOPE, USER_TTL),
        None => ("", "1h"),
    };
    let mut request = MintRequest {
        subject: args.subject,
        scopes: ScopeSet::parse_known(args.scope.as_deref().unwrap_or(usual_scope))?,
        ttl: parse_ttl(args.ttl.as_deref().unwrap_or(usual_ttl))?,
        limits: limits(args.limits),
    };
    let db = open_store(config).await?;
    let authority = authority_in(&db, config)?;
    if let Some(name) = &args.user {
        if request.ttl > USER_TTL_MAX {
            let message = "a token for a user lives at most 366d; choose a shorter --ttl";
            return Err(CommandError::usage(message));
        }
        request.subject = user_session(&db, name, &request, now).await?;
        let service = request.limits.service.take();
        request.limits.service = service.or_else(|| Some(vec![archive::SERVICE.to_owned()]));
    }
    let token = authority.mint(&request, now)?;
    let inspection = auth::inspect(token.reveal())?;
    TokenRecords::new(db).insert(&inspection, args.user.as_deref(), now).await?;
    print(&format!("{}\n", token.reveal()))
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
        return print("there are no minted tokens; `stoa token mint` makes one\n");
    }
    let bearer = |it: &TokenRecord| match &it.username {
        Some(name) => format!("user {name}"),
        None => it.subject.clone(),
    };
    let width = records.iter().map(|it| bearer(it).chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for it in &records {
        let expires = Millis(it.expires_at.saturating_mul(1000)).to_rfc3339();
        let state = if it.revoked { "revoked" } else { "until" };
        let (id, bearer, scopes) = (&it.id, bearer(it), &it.scopes);
        _ = writeln!(text, "{id}  {bearer:<width$}  {state:<7} {expires}  {scopes}");
    }
    print(&text)
}

async fn revoke_listed(id: &str, config: &Config, now: i64) -> Result<(), CommandError> {
    let db = open_store(config).await?;
    let records = TokenRecords::new(db.clone()).list(now).await?;
    let Some(found) = records.into_iter().find(|record| record.id == id) else {
        let shown: String = id.chars().take(64).collect();
        let message = format!("no minted token has the id {shown:?}; see `stoa token list`");
        return Err(CommandError::usage(message));
    };
    authority_in(&db, config)?.revoke_id(found.revocation_id, found.expires_at).await?;
    print(&format!("revoked {}\n", found.revocation_id))
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
