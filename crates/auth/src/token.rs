//! The signature chain: minting, narrowing, checking and reading tokens.
//!
//! `sig0 = HMAC(key, root)`, `sigN = HMAC(sigN-1, blockN)`, and a token carries only the last one.
//! Narrowing and inspecting need no key; neither says anything about whether a token is genuine.

use std::fmt;

use fault::Fault;
use hmac::Mac;

use crate::faults::{scope_missing, token_missing, token_signature};
use crate::grant::TokenLimits;
use crate::revocation::RevocationId;
use crate::scope::ScopeSet;
use crate::secret::{Secret, keyed, sign};
pub use crate::wire::TOKEN_PREFIX;
use crate::wire::{LimitsBlock, NarrowingBlock, RootBlock, TokenFrames, write};

/// Longest note, in characters.
const NOTE_MAX: usize = 128;

/// What to take away from a token; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// Only these scopes remain.
    pub scopes: Option<ScopeSet>,
    /// Unix seconds; an expiry later than the token's own changes nothing.
    pub expires_at: Option<i64>,
    /// Applied on top of the token's own limits.
    pub limits: TokenLimits,
    /// Why, or for whom; readable by everybody who holds the token.
    pub note: Option<String>,
}

/// Narrows a token offline. The result works wherever the original did, for less.
pub fn attenuate(token: &str, narrowing: &Narrowing) -> Result<Secret, Fault> {
    let frames = decode(token)?;
    let claims = frames.claims()?;
    // The intersection would drop such a scope silently, and the surprise would come much later.
    if let Some(scopes) = &narrowing.scopes
        && let Some(absent) = scopes.iter().find(|scope| !claims.scopes.contains(scope.as_str()))
    {
        return Err(scope_missing(absent.as_str()));
    }
    append(&frames, narrowing)
}

/// The narrowing itself, for any scopes at all.
pub(crate) fn append(frames: &TokenFrames, narrowing: &Narrowing) -> Result<Secret, Fault> {
    let note = narrowing.note.as_deref();
    if note.is_some_and(|note| note.chars().count() > NOTE_MAX) {
        let message = format!("a note has at most {NOTE_MAX} characters");
        return Err(Fault::invalid("invalid_note", message));
    }
    let scopes = narrowing.scopes.as_ref();
    let block = write(&NarrowingBlock {
        scopes: scopes.map(|scopes| scopes.iter().map(ToString::to_string).collect()),
        expires: narrowing.expires_at,
        limits: LimitsBlock::from_limits(&narrowing.limits),
        note: note.map(str::to_owned),
    })?;
    let mut narrowed = frames.clone();
    narrowed.tail = sign(&frames.tail, &block);
    narrowed.blocks.push(block);
    narrowed.encode().map(Secret::new)
}

pub(crate) fn mint(key: &[u8; 32], root: &RootBlock) -> Result<Secret, Fault> {
    let block = write(root)?;
    let tail = sign(key, &block);
    TokenFrames { blocks: vec![block], tail }.encode().map(Secret::new)
}

pub(crate) fn decode(token: &str) -> Result<TokenFrames, Fault> {
    if token.is_empty() {
        return Err(token_missing(None));
    }
    TokenFrames::decode(token)
}

/// Checks the chain in constant time and gives the revocation id of every level, root first.
pub(crate) fn check(frames: &TokenFrames, key: &[u8; 32]) -> Result<Vec<RevocationId>, Fault> {
    let mut chain = Vec::with_capacity(frames.blocks.len());
    let mut signature = *key;
    for block in &frames.blocks {
        signature = sign(&signature, block);
        chain.push(RevocationId::of_signature(&signature));
    }
    // Comparing codes of both signatures keeps the comparison itself in the hands of the crate
    // that promises constant time.
    let expected = sign(key, &signature);
    keyed(key)
        .chain_update(frames.tail)
        .verify_slice(&expected)
        .map(|()| chain)
        .map_err(|_| token_signature())
}

/// What a token says of itself. Its signature was **not** checked: it may be forged or revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    pub id: String,
    pub subject: String,
    pub scopes: ScopeSet,
    pub issued_at: i64,
    pub expires_at: i64,
    pub limits: TokenLimits,
    /// The notes of the narrowings that have one, oldest first.
    pub notes: Vec<String>,
    /// How many times it was narrowed.
    pub narrowings: usize,
    /// Revokes this token and whatever is narrowed from it.
    pub revocation_id: RevocationId,
}

/// Reads a token without verifying it.
pub fn inspect(token: &str) -> Result<Inspection, Fault> {
    let frames = decode(token)?;
    let claims = frames.claims()?;
    Ok(Inspection {
        id: claims.id,
        subject: claims.subject,
        scopes: claims.scopes,
        issued_at: claims.issued_at,
        expires_at: claims.expires_at,
        limits: claims.limits,
        notes: claims.notes,
        narrowings: frames.blocks.len() - 1,
        revocation_id: RevocationId::of_signature(&frames.tail),
    })
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "id          {}", self.id)?;
        // A forged token may hold anything, so its text is shown with control characters escaped.
        writeln!(f, "subject     {}", self.subject.escape_debug())?;
        writeln!(f, "scopes      {}", self.scopes)?;
        writeln!(f, "issued      {}", self.issued_at)?;
        writeln!(f, "expires     {}", self.expires_at)?;
        if let Some(prefixes) = &self.limits.sku_prefix {
            writeln!(f, "sku prefix  {prefixes:?}")?;
        }
        if let Some(markets) = &self.limits.market {
            writeln!(f, "market      {markets:?}")?;
        }
        if let Some(services) = &self.limits.service {
            writeln!(f, "service     {services:?}")?;
        }
        for note in &self.notes {
            writeln!(f, "note        {}", note.escape_debug())?;
        }
        writeln!(f, "narrowed    {} times", self.narrowings)?;
        writeln!(f, "revocation  {}", self.revocation_id)?;
        f.write_str("signature   not checked")
    }
}

#[cfg(test)]
mod tests;
