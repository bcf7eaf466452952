//! The signature chain: minting, narrowing, verifying and inspecting tokens.
//!
//! `sig0 = HMAC(key, root)`, `sigN = HMAC(sigN-1, blockN)`, and a token contains only the last one.
//! Narrowing and inspecting need no key, and neither of them verifies a token.

use std::fmt;

use fault::Fault;
use hmac::Mac;

use crate::faults::{scope_missing, token_missing, token_signature};
use crate::grant::TokenLimits;
use crate::revocation::RevocationId;
use crate::scope::ScopeSet;
use crate::secret::{Secret, hmac_with_key, sign};
pub use crate::wire::TOKEN_PREFIX;
use crate::wire::{LimitsBlock, NarrowingBlock, RootBlock, TokenFrames, encode_block};

/// The longest note, in characters.
const NOTE_CHARS_MAX: usize = 128;

/// How a token is restricted; `None` restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// The scopes that remain.
    pub scopes: Option<ScopeSet>,
    /// Unix seconds; an expiry later than the token's own changes nothing.
    pub expires_at: Option<i64>,
    /// Limits in addition to those of the token.
    pub limits: TokenLimits,
    /// A remark that every holder of the token can read.
    pub note: Option<String>,
}

/// Narrows a token without a key and without the server.
pub fn narrow(token: &str, narrowing: &Narrowing) -> Result<Secret, Fault> {
    let frames = decode(token)?;
    let claims = frames.claims()?;
    // The intersection would drop a scope that the token does not have without an error.
    if let Some(scopes) = &narrowing.scopes
        && let Some(absent) = scopes.iter().find(|scope| !claims.scopes.contains(scope.as_str()))
    {
        return Err(scope_missing(absent.as_str()));
    }
    append_narrowing(&frames, narrowing)
}

/// Appends a narrowing block without checking its scopes against those of the token.
pub(crate) fn append_narrowing(
    frames: &TokenFrames,
    narrowing: &Narrowing,
) -> Result<Secret, Fault> {
    let note = narrowing.note.as_deref();
    if note.is_some_and(|note| note.chars().count() > NOTE_CHARS_MAX) {
        let message = format!("a note has at most {NOTE_CHARS_MAX} characters");
        return Err(Fault::invalid("invalid_note", message));
    }
    let scopes = narrowing.scopes.as_ref();
    let block = encode_block(&NarrowingBlock {
        scopes: scopes.map(|scopes| scopes.iter().map(ToString::to_string).collect()),
        expires: narrowing.expires_at,
        limits: LimitsBlock::from_limits(&narrowing.limits),
        note: note.map(str::to_owned),
    })?;
    let mut narrowed = frames.clone();
    narrowed.last_signature = sign(&frames.last_signature, &block);
    narrowed.blocks.push(block);
    narrowed.encode().map(Secret::new)
}

pub(crate) fn mint(key: &[u8; 32], root: &RootBlock) -> Result<Secret, Fault> {
    let block = encode_block(root)?;
    let last_signature = sign(key, &block);
    TokenFrames { blocks: vec![block], last_signature }.encode().map(Secret::new)
}

pub(crate) fn decode(token: &str) -> Result<TokenFrames, Fault> {
    if token.is_empty() {
        return Err(token_missing(None));
    }
    TokenFrames::decode(token)
}

/// Verifies the last signature in constant time; returns the revocation ids of all blocks, root
/// first.
pub(crate) fn verify_chain(
    frames: &TokenFrames,
    key: &[u8; 32],
) -> Result<Vec<RevocationId>, Fault> {
    let mut chain = Vec::with_capacity(frames.blocks.len());
    let mut signature = *key;
    for block in &frames.blocks {
        signature = sign(&signature, block);
        chain.push(RevocationId::of_signature(&signature));
    }
    // Compares HMACs of both signatures, because `verify_slice` compares in constant time.
    let expected = sign(key, &signature);
    hmac_with_key(key)
        .chain_update(frames.last_signature)
        .verify_slice(&expected)
        .map(|()| chain)
        .map_err(|_| token_signature())
}

/// What a token claims. Its signature was **not** verified: it may be forged or revoked.
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
    /// The id that revokes this token and every token narrowed from it.
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
        revocation_id: RevocationId::of_signature(&frames.last_signature),
    })
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "id          {}", self.id)?;
        // A forged token may contain control characters, which are escaped.
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
