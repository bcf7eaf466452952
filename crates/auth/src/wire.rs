//! The encoding of a token: its text, the framing of its blocks, and the JSON of the blocks.
//!
//! `stoa1_` + base64url( { length: u16 big endian, block: JSON } 1..17 times, signature: 32 bytes ).
//! This module verifies nothing: it reads what a token claims.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use fault::Fault;
use serde::{Deserialize, Serialize};

use crate::faults::token_malformed;
use crate::grant::TokenLimits;
use crate::scope::ScopeSet;
use crate::secret::from_hex;

/// The start of every token of this version; log redaction searches for it.
pub const TOKEN_PREFIX: &str = "stoa1_";
/// The most bytes of a token before base64.
pub(crate) const TOKEN_BYTES_MAX: usize = 4096;
/// The most narrowing blocks after the root.
pub(crate) const NARROWINGS_MAX: usize = 16;
/// The length of a token of `TOKEN_BYTES_MAX` bytes; longer texts are refused before they are decoded.
const TEXT_BYTES_MAX: usize = TOKEN_PREFIX.len() + TOKEN_BYTES_MAX.div_ceil(3) * 4;
const SIGNATURE_BYTES: usize = 32;

/// The root block. An unknown field of a block is refused, because it may be a restriction.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RootBlock {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) issued: i64,
    pub(crate) expires: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<LimitsBlock>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NarrowingBlock {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scopes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limits: Option<LimitsBlock>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsBlock {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sku_prefix: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) market: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) service: Option<Vec<String>>,
}

impl From<LimitsBlock> for TokenLimits {
    fn from(block: LimitsBlock) -> Self {
        Self { sku_prefix: block.sku_prefix, market: block.market, service: block.service }
    }
}

impl LimitsBlock {
    /// `None` if there are no limits.
    pub(crate) fn from_limits(limits: &TokenLimits) -> Option<Self> {
        (*limits != TokenLimits::default()).then(|| Self {
            sku_prefix: limits.sku_prefix.clone(),
            market: limits.market.clone(),
            service: limits.service.clone(),
        })
    }
}

/// The blocks of a token, not parsed yet, and its last signature.
#[derive(Clone)]
pub(crate) struct TokenFrames {
    /// Root first; never empty.
    pub(crate) blocks: Vec<Vec<u8>>,
    pub(crate) last_signature: [u8; SIGNATURE_BYTES],
}

impl TokenFrames {
    pub(crate) fn decode(text: &str) -> Result<Self, Fault> {
        let body = text
            .strip_prefix(TOKEN_PREFIX)
            .ok_or_else(|| token_malformed("it does not begin with stoa1_"))?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(token_malformed("it is too long"));
        }
        // The decoder refuses padding and non-zero trailing bits, so each token has one encoding.
        let bytes = BASE64_URL_SAFE_NO_PAD
            .decode(body)
            .map_err(|_| token_malformed("it is not base64url"))?;
        if bytes.len() > TOKEN_BYTES_MAX {
            return Err(token_malformed("it is too long"));
        }
        Self::split_frames(&bytes).ok_or_else(|| token_malformed("it is cut short or damaged"))
    }

    fn split_frames(bytes: &[u8]) -> Option<Self> {
        let (mut rest, last_signature) = bytes.split_last_chunk::<SIGNATURE_BYTES>()?;
        let mut blocks = Vec::new();
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<2>()?;
            let (block, after) =
                after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            blocks.push(block.to_vec());
            rest = after;
        }
        let has_valid_count = (1..=1 + NARROWINGS_MAX).contains(&blocks.len());
        has_valid_count.then_some(Self { blocks, last_signature: *last_signature })
    }

    pub(crate) fn encode(&self) -> Result<String, Fault> {
        let too_large = || {
            Fault::invalid(
                "token_too_large",
                format!(
                    "the token would be too large: at most {TOKEN_BYTES_MAX} bytes and \
                     {NARROWINGS_MAX} narrowings"
                ),
            )
        };
        let mut bytes = Vec::new();
        for block in &self.blocks {
            let length = u16::try_from(block.len()).map_err(|_| too_large())?;
            bytes.extend(length.to_be_bytes());
            bytes.extend(block);
        }
        bytes.extend(self.last_signature);
        if bytes.len() > TOKEN_BYTES_MAX || self.blocks.len() > 1 + NARROWINGS_MAX {
            return Err(too_large());
        }
        Ok(format!("{TOKEN_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Parses the blocks and applies the narrowings to the root.
    pub(crate) fn claims(&self) -> Result<Claims, Fault> {
        let (root, narrowings) =
            self.blocks.split_first().ok_or_else(|| token_malformed("it is empty"))?;
        let root: RootBlock = parse_block(root)?;
        if from_hex::<16>(&root.id).is_none() {
            return Err(token_malformed("its id is not 32 hexadecimal digits"));
        }
        let mut claims = Claims {
            id: root.id,
            subject: root.subject,
            issued_at: root.issued,
            expires_at: root.expires,
            scopes: parse_scopes(&root.scopes)?,
            limits: root.limits.map(TokenLimits::from).unwrap_or_default(),
            notes: Vec::new(),
        };
        for block in narrowings {
            claims.narrow(parse_block(block)?)?;
        }
        Ok(claims)
    }
}

/// What a token claims, with all narrowings applied.
pub(crate) struct Claims {
    pub(crate) id: String,
    pub(crate) subject: String,
    pub(crate) issued_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) scopes: ScopeSet,
    pub(crate) limits: TokenLimits,
    pub(crate) notes: Vec<String>,
}

impl Claims {
    fn narrow(&mut self, block: NarrowingBlock) -> Result<(), Fault> {
        if let Some(scopes) = block.scopes {
            self.scopes = self.scopes.intersect(&parse_scopes(&scopes)?);
        }
        if let Some(expires) = block.expires {
            self.expires_at = self.expires_at.min(expires);
        }
        if let Some(limits) = block.limits {
            self.limits = self.limits.intersect(&limits.into());
        }
        self.notes.extend(block.note);
        Ok(())
    }
}

fn parse_block<'a, T: Deserialize<'a>>(block: &'a [u8]) -> Result<T, Fault> {
    // The message of the parser may quote the block, so it is dropped.
    serde_json::from_slice(block)
        .map_err(|_| token_malformed("it has a block that this version does not understand"))
}

fn parse_scopes(words: &[String]) -> Result<ScopeSet, Fault> {
    ScopeSet::from_words(words.iter().map(String::as_str))
        .map_err(|_| token_malformed("it has a scope that is not a lower-case word"))
}

pub(crate) fn encode_block(block: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(block).map_err(Fault::internal)
}
