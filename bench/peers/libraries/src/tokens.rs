//! Tokens of `biscuit-auth` with the rights of ours: scopes, an expiry, a limit of SKUs and a limit
//! of services.

use std::time::Duration;

use biscuit_auth::builder::{AuthorizerBuilder, BlockBuilder};
use biscuit_auth::macros::{authorizer, biscuit, block};
use biscuit_auth::{AuthorizerLimits, Biscuit, KeyPair, UnverifiedBiscuit};
use cpu_time::ThreadTime;

use crate::Outcome;

const NOW: i64 = 1_800_000_000;

fn mint(keys: &KeyPair, number: usize) -> Outcome<String> {
    let (subject, expires) = (format!("client-{number}"), NOW + 86_400);
    let token = biscuit!(
        r#"subject({subject}); right("read"); right("propose"); right("apply");
           check if time($now), $now < {expires};"#
    );
    Ok(token.build(keys)?.to_base64()?)
}

/// The first narrowing takes scopes away, the second one restricts SKUs and services.
fn narrowings() -> [BlockBuilder; 2] {
    let expires = NOW + 3_600;
    [
        block!(
            r#"check if operation($it), ["read", "propose"].contains($it);
               check if time($now), $now < {expires};"#
        ),
        block!(
            r#"check if sku($it), $it.starts_with("MUG-");
               check if service($it), ["optimizer"].contains($it);"#
        ),
    ]
}

fn narrowed(token: &str, block: BlockBuilder) -> Outcome<String> {
    Ok(UnverifiedBiscuit::from_base64(token)?.append(block)?.to_base64()?)
}

fn request() -> AuthorizerBuilder {
    authorizer!(
        r#"time({NOW}); operation("read"); sku("MUG-1"); service("optimizer");
           allow if operation($it), right($it);"#
    )
}

pub(crate) fn verify(count: usize) -> Outcome<f64> {
    let keys = KeyPair::new();
    let token = |number| {
        let [scopes, limits] = narrowings();
        narrowed(&narrowed(&mint(&keys, number)?, scopes)?, limits)
    };
    let tokens = (0..count).map(token).collect::<Outcome<Vec<_>>>()?;
    let start = ThreadTime::now();
    for token in &tokens {
        let token = Biscuit::from_base64(token, keys.public())?;
        // The default allows 1 ms, which a busy machine may exceed.
        let limits = AuthorizerLimits { max_time: Duration::from_secs(1), ..Default::default() };
        std::hint::black_box(request().build(&token)?.authorize_with_limits(limits)?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / count as f64)
}

pub(crate) fn narrow(count: usize) -> Outcome<f64> {
    let keys = KeyPair::new();
    let tokens = (0..count).map(|it| mint(&keys, it)).collect::<Outcome<Vec<_>>>()?;
    let start = ThreadTime::now();
    for token in &tokens {
        let [scopes, _] = narrowings();
        std::hint::black_box(narrowed(token, scopes)?);
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / count as f64)
}
