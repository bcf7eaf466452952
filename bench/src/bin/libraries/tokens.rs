//! Capability tokens against `biscuit-auth`: verifying one that was narrowed twice, and narrowing
//! one. Each token is verified once, so that our cache of verified tokens answers none of them.

use std::sync::Arc;
use std::time::Duration;

use auth::{Authority, Keyring, MemoryRevocations, MintRequest, Narrowing, ScopeSet, TokenLimits};
use cpu_time::ThreadTime;
use futures_util::FutureExt as _;

use crate::peer::Peer;
use crate::{Outcome, turns};

const TOKENS: usize = 2_000;
const NOW: i64 = 1_800_000_000;

pub(crate) fn compare(peer: &Peer, rounds: usize) -> Outcome<()> {
    for (what, name, ours) in [
        (
            "verifying a token that was narrowed twice",
            "token-verify",
            verify as fn() -> Outcome<f64>,
        ),
        ("narrowing a token", "token-narrow", narrow as fn() -> Outcome<f64>),
    ] {
        let theirs = || peer.figure(&[name, &TOKENS.to_string()]);
        let (ours, theirs) = turns(rounds, ours, theirs)?;
        println!(
            "| {what} (`biscuit-auth`) | {:.1} µs | {:.1} µs | {:.3} |",
            ours / 1e3,
            theirs / 1e3,
            ours / theirs
        );
    }
    Ok(())
}

fn authority() -> Outcome<Authority> {
    Ok(Authority::new(Keyring::generate()?, Arc::new(MemoryRevocations::new(16))))
}

fn mint(authority: &Authority, number: usize) -> Outcome<String> {
    let request = MintRequest {
        subject: format!("client-{number}"),
        scopes: ScopeSet::parse("read,propose,apply")?,
        ttl: Duration::from_hours(24),
        limits: TokenLimits::default(),
    };
    Ok(authority.mint(&request, NOW)?.reveal().to_owned())
}

/// The first narrowing takes scopes away, the second one restricts SKUs and services.
fn narrowings() -> Outcome<[Narrowing; 2]> {
    let list = |word: &str| Some(vec![word.to_owned()]);
    let limits = TokenLimits { sku_prefix: list("MUG-"), service: list("optimizer"), market: None };
    Ok([
        Narrowing {
            scopes: Some(ScopeSet::parse("read,propose")?),
            expires_at: Some(NOW + 3_600),
            ..Narrowing::default()
        },
        Narrowing { limits, ..Narrowing::default() },
    ])
}

fn verify() -> Outcome<f64> {
    let authority = authority()?;
    let [scopes, limits] = narrowings()?;
    let token = |number| -> Outcome<String> {
        let token = auth::narrow(&mint(&authority, number)?, &scopes)?;
        Ok(auth::narrow(token.reveal(), &limits)?.reveal().to_owned())
    };
    let tokens = (0..TOKENS).map(token).collect::<Outcome<Vec<_>>>()?;
    let start = ThreadTime::now();
    for token in &tokens {
        let grant = authority.verify(token, NOW).now_or_never().ok_or("verifying waited")??;
        grant.require("read")?;
        grant.require_sku("MUG-1")?;
        std::hint::black_box(grant.limits.allow_service("optimizer"));
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / TOKENS as f64)
}

fn narrow() -> Outcome<f64> {
    let (authority, [scopes, _]) = (authority()?, narrowings()?);
    let tokens = (0..TOKENS).map(|it| mint(&authority, it)).collect::<Outcome<Vec<_>>>()?;
    let start = ThreadTime::now();
    for token in &tokens {
        std::hint::black_box(auth::narrow(token, &scopes)?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / TOKENS as f64)
}
