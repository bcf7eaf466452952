//! Scopes: lower-case words that name the rights of a token.
//!
//! A token may have any word, because a later version may have more scopes; only minting refuses a word
//! that no tool needs. No scope implies another, not even `admin`.

use std::borrow::Cow;
use std::fmt;

use fault::Fault;

/// The longest scope, in bytes.
const WORD_BYTES_MAX: usize = 32;
/// The most scopes of one token.
const SCOPES_MAX: usize = 32;

/// Every scope that a tool needs, with what it allows.
pub const KNOWN_SCOPES: [(&str, &str); 8] = [
    ("read", "read everything that a tool can show: prices, indicators, documents, proposals"),
    ("write", "change the archive's files and insights; add prices and set pricing policies"),
    ("collect", "collect competitors' prices"),
    ("import", "import the product catalogue"),
    ("propose", "propose prices and simulate them"),
    ("explain", "read why a price was proposed"),
    ("apply", "apply, cancel and revert proposals: this sets prices"),
    ("admin", "stop all pricing, and read the counters of the pricing services"),
];

/// One permission, such as `read`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeName(Cow<'static, str>);

impl ScopeName {
    pub const READ: Self = Self(Cow::Borrowed("read"));
    pub const WRITE: Self = Self(Cow::Borrowed("write"));
    pub const COLLECT: Self = Self(Cow::Borrowed("collect"));
    pub const IMPORT: Self = Self(Cow::Borrowed("import"));
    pub const PROPOSE: Self = Self(Cow::Borrowed("propose"));
    pub const EXPLAIN: Self = Self(Cow::Borrowed("explain"));
    pub const APPLY: Self = Self(Cow::Borrowed("apply"));
    pub const ADMIN: Self = Self(Cow::Borrowed("admin"));

    /// Accepts a letter followed by letters, digits, `_` or `-`, all lower case.
    pub fn new(word: &str) -> Result<Self, Fault> {
        let starts_well = word.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
        let rest_is_plain = word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
        if starts_well && rest_is_plain && word.len() <= WORD_BYTES_MAX {
            return Ok(Self(Cow::Owned(word.to_owned())));
        }
        let shown: String = word.chars().take(WORD_BYTES_MAX).collect();
        Err(Fault::invalid(
            "invalid_scope",
            format!("scope {shown:?} is not a lower-case word such as read, write or admin"),
        ))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScopeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A small sorted set of scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeSet(Vec<ScopeName>);

impl ScopeSet {
    /// Parses a list such as `read,write`; ignores spaces around words and refuses an empty list.
    pub fn parse(list: &str) -> Result<Self, Fault> {
        Self::from_words(list.split(',').map(str::trim))
    }

    /// Like [`ScopeSet::parse`], and refuses scopes that no tool needs.
    pub fn parse_known(list: &str) -> Result<Self, Fault> {
        let scopes = Self::parse(list)?;
        let is_known = |scope: &ScopeName| KNOWN_SCOPES.iter().any(|(word, _)| scope.0 == *word);
        match scopes.0.iter().find(|scope| !is_known(scope)) {
            None => Ok(scopes),
            Some(unknown) => {
                let known: Vec<&str> = KNOWN_SCOPES.iter().map(|(word, _)| *word).collect();
                let known = known.join(", ");
                let message = format!("there is no scope {:?}; known: {known}", unknown.as_str());
                Err(Fault::invalid("invalid_scope", message))
            }
        }
    }

    pub(crate) fn from_words<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, Fault> {
        let mut scopes = Vec::new();
        for word in words {
            if scopes.len() == SCOPES_MAX {
                return Err(Fault::invalid(
                    "invalid_scope",
                    format!("a token has at most {SCOPES_MAX} scopes"),
                ));
            }
            scopes.push(ScopeName::new(word)?);
        }
        Ok(scopes.into_iter().collect())
    }

    pub fn contains(&self, word: &str) -> bool {
        self.0.iter().any(|scope| scope.as_str() == word)
    }

    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|scope| other.contains(scope.as_str())).cloned().collect())
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().all(|scope| other.contains(scope.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &ScopeName> {
        self.0.iter()
    }
}

impl FromIterator<ScopeName> for ScopeSet {
    fn from_iter<I: IntoIterator<Item = ScopeName>>(scopes: I) -> Self {
        let mut scopes: Vec<_> = scopes.into_iter().collect();
        scopes.sort();
        scopes.dedup();
        Self(scopes)
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, scope) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: Option<&str>) {
        let read = ScopeSet::parse(list).ok().map(|scopes| scopes.to_string());
        assert_eq!(read.as_deref(), expected, "{list:?}");
    }

    #[test]
    fn lists_are_sorted_checked_and_bounded() {
        check("read", Some("read"));
        check("write, read", Some("read,write"));
        check("read,read", Some("read"));
        check("a-b_2", Some("a-b_2"));
        check("", None);
        check("read,", None);
        check("Read", None);
        check("2read", None);
        check("read write", None);
        check("чтение", None);
        check(&"a".repeat(32), Some(&"a".repeat(32)));
        check(&"a".repeat(33), None);
        check(&vec!["read"; 33].join(","), None);
    }

    #[track_caller]
    fn check_known(list: &str, refused: Option<&str>) {
        let fault = ScopeSet::parse_known(list).err();
        let message = fault.as_ref().map(Fault::message).unwrap_or_default();
        assert_eq!(fault.is_some(), refused.is_some(), "{list:?} {message}");
        assert!(message.contains(refused.unwrap_or_default()), "{message}");
    }

    #[test]
    fn minting_refuses_a_word_that_no_tool_needs() {
        check_known("read,write,collect,import,propose,explain,apply,admin", None);
        check_known("read,foo", Some("there is no scope \"foo\"; known: read, write, collect"));
        check_known("open", Some("there is no scope \"open\""));
        check_known("Read", Some("\"Read\""));
    }

    #[test]
    fn the_known_scopes_are_those_of_the_contracts_and_of_the_documentation() {
        let page = include_str!("../../../docs/tokens.md");
        for (word, allows) in KNOWN_SCOPES {
            let scope: contract::Scope = serde_json::from_value(word.into()).unwrap();
            assert_eq!(scope.as_str(), word);
            assert!(page.contains(&format!("| `{word}` | {allows} |")), "{word}: {allows}");
        }
    }

    #[test]
    fn admin_implies_nothing() {
        let admin: ScopeSet = [ScopeName::ADMIN].into_iter().collect();
        assert!(admin.contains("admin"));
        assert!(!admin.contains("read"));
        assert!(!admin.contains("adm"));
    }
}
