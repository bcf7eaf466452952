//! Request ids and W3C trace context: the caller's when well formed, else new ones.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use data_encoding::HEXLOWER;

const REQUEST_ID_MAX: usize = 128;

/// Identifies one request in logs, answers and upstream calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// The caller's id if it is 1 to 128 characters of `A-Z a-z 0-9 - _ . : @`, which cannot break a
    /// log line or a response header.
    pub fn parse(text: &str) -> Option<Self> {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.:@".contains(&b);
        let is_valid = (1..=REQUEST_ID_MAX).contains(&text.len()) && text.bytes().all(is_allowed);
        is_valid.then(|| Self(text.to_owned()))
    }

    /// A new id in the form of a version 4 UUID.
    pub fn make() -> Self {
        Self(uuid::Builder::from_random_bytes(random_128()).into_uuid().to_string())
    }

    /// The caller's id, else the id of its trace, else a new one.
    pub fn accept(given: Option<&str>, trace: Option<&TraceContext>) -> Self {
        given
            .and_then(Self::parse)
            .or_else(|| trace.map(|trace| Self(trace.trace_id())))
            .unwrap_or_else(Self::make)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A `traceparent`, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    trace: [u8; 16],
    parent: [u8; 8],
    flags: u8,
}

impl TraceContext {
    /// The flags that version 00 defines (sampled, random); all others are sent on as zero.
    const FLAGS_KNOWN: u8 = 0b11;

    /// Parses a header strictly; the standard asks to ignore one that breaks any rule.
    pub fn parse(header: &str) -> Option<Self> {
        let bytes = header.as_bytes();
        let (head, rest) = bytes.split_first_chunk::<55>()?;
        let [version] = hex(&head[..2])?;
        // A later version may append fields after another dash; version 00 may not.
        let end_is_valid = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.first().is_none_or(|&b| b == b'-'),
        };
        let dashes = head[2] == b'-' && head[35] == b'-' && head[52] == b'-';
        let trace = hex::<16>(&head[3..35])?;
        let parent = hex::<8>(&head[36..52])?;
        let [flags] = hex(&head[53..])?;
        let ids_are_nonzero = trace != [0; 16] && parent != [0; 8];
        let flags = flags & Self::FLAGS_KNOWN;
        (end_is_valid && dashes && ids_are_nonzero).then_some(Self { trace, parent, flags })
    }

    /// The first context of a new trace, not sampled.
    pub fn make() -> Self {
        Self { trace: nonzero(random_128()), parent: nonzero(random_64()), flags: 0 }
    }

    /// A context in the trace with this id, not sampled.
    pub fn in_trace(trace: [u8; 16]) -> Self {
        Self { trace: nonzero(trace), ..Self::make() }
    }

    /// The context for an upstream call: the same trace with a new parent id.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { parent: nonzero(random_64()), ..*self }
    }

    pub fn trace_id(&self) -> String {
        HEXLOWER.encode(&self.trace)
    }

    pub fn parent_id(&self) -> String {
        HEXLOWER.encode(&self.parent)
    }

    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

/// Writes the header.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id(), self.parent_id(), self.flags)
    }
}

/// A unique number that need not be secret: a keyed hash of a counter, which needs no system call. The
/// keys come from the operating system once per process.
fn random_64() -> [u8; 8] {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    KEYS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
}

fn random_128() -> [u8; 16] {
    let mut bytes = [0; 16];
    let (high, low) = bytes.split_at_mut(8);
    high.copy_from_slice(&random_64());
    low.copy_from_slice(&random_64());
    bytes
}

/// All zeros means "no id" in a trace context.
fn nonzero<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    if bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

/// Lower case only: the standard forbids upper case here.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    HEXLOWER.decode(digits).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[track_caller]
    fn check_id(text: &str, is_valid: bool) {
        assert_eq!(RequestId::parse(text).is_some(), is_valid, "{text:?}");
    }

    #[test]
    fn request_ids_are_plain_and_bounded() {
        check_id("a", true);
        check_id("req-1_2.3:4@host", true);
        check_id(&"x".repeat(128), true);
        check_id(&"x".repeat(129), false);
        check_id("", false);
        check_id("a b", false);
        check_id("a\nb", false);
        check_id("a/b", false);
        check_id("идентификатор", false);
    }

    #[test]
    fn the_callers_id_comes_first_then_the_trace_then_a_new_one() {
        let trace = TraceContext::make();
        assert_eq!(RequestId::accept(Some("mine"), Some(&trace)).as_str(), "mine");
        assert_eq!(RequestId::accept(Some("no good"), Some(&trace)).as_str(), trace.trace_id());
        let made = RequestId::accept(Some("no good"), None);
        let shape: Vec<usize> = made.as_str().split('-').map(str::len).collect();
        assert_eq!(shape, [8, 4, 4, 4, 12]);
        assert_eq!(&made.as_str()[14..15], "4");
        assert!("89ab".contains(&made.as_str()[19..20]));
        assert!(RequestId::parse(made.as_str()).is_some());
    }

    #[test]
    fn made_ids_do_not_repeat() {
        let ids: HashSet<String> = (0..10_000).map(|_| RequestId::make().to_string()).collect();
        assert_eq!(ids.len(), 10_000);
    }

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[track_caller]
    fn check_trace(header: &str, expected: Option<&str>) {
        let written = TraceContext::parse(header).map(|it| it.to_string());
        assert_eq!(written.as_deref(), expected, "{header:?}");
    }

    #[test]
    fn trace_context_is_parsed_strictly() {
        check_trace(GOOD, Some(GOOD));
        check_trace(&GOOD.replace("-01", "-00"), Some(&GOOD.replace("-01", "-00")));
        // Unknown flags are dropped, later versions are read as far as they are known.
        check_trace(&GOOD.replace("-01", "-fd"), Some(GOOD));
        check_trace(&GOOD.replacen("00-", "cc-", 1), Some(GOOD));
        check_trace(&format!("{}-what-next", GOOD.replacen("00-", "01-", 1)), Some(GOOD));
        check_trace(&format!("{}.what", GOOD.replacen("00-", "01-", 1)), None);
        check_trace(&format!("{GOOD}-more"), None);
        check_trace(&GOOD.replacen("00-", "ff-", 1), None);
        check_trace(&GOOD.replacen("00-", "0x-", 1), None);
        check_trace(&GOOD.to_uppercase(), None);
        check_trace("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None);
        check_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", None);
        check_trace(&GOOD[..54], None);
        check_trace(&GOOD.replace('-', "_"), None);
        check_trace(&GOOD.replace("-01", "-0g"), None);
        check_trace(&format!(" {GOOD}"), None);
        check_trace("", None);
        check_trace(&"ж".repeat(40), None);
    }

    #[test]
    fn a_child_keeps_the_trace_and_the_decision_to_sample() {
        let parent = TraceContext::parse(GOOD).unwrap();
        let child = parent.child();
        assert_eq!((child.trace_id(), child.is_sampled()), (parent.trace_id(), true));
        assert_ne!(child.parent_id(), parent.parent_id());
        assert_eq!(TraceContext::parse(&child.to_string()), Some(child));
        let made = TraceContext::make();
        assert_eq!(TraceContext::parse(&made.to_string()), Some(made));
        let named = TraceContext::in_trace([7; 16]);
        assert_eq!((named.trace_id(), named.is_sampled()), ("07".repeat(16), false));
        assert!(TraceContext::parse(&TraceContext::in_trace([0; 16]).to_string()).is_some());
    }
}
