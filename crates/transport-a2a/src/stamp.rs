//! Times and names as the protocol writes them. The time itself comes from whoever serves.

use jiff::Timestamp;

/// `2025-10-28T10:30:00.000Z`.
pub(crate) fn written(unix_ms: i64) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// Milliseconds of any time that ISO 8601 and the protocol allow, rounded up: what is asked to be
/// no older than it is not older.
pub(crate) fn read(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    let floor = time.as_millisecond();
    Some(floor + i64::from(time.subsec_nanosecond().rem_euclid(1_000_000) > 0))
}

/// A fresh id in the form of a random UUID.
pub(crate) fn fresh_id() -> String {
    let mut bytes = [0_u8; 16];
    // The system's randomness does not fail once the process runs; a name that repeats would be
    // refused by the store.
    if getrandom::fill(&mut bytes).is_err() {
        tracing::error!("the system has no randomness");
    }
    let [.., version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_and_come_back() {
        assert_eq!(written(1_761_647_400_000), "2025-10-28T10:30:00.000Z");
        assert_eq!(read("2025-10-28T10:30:00.000Z"), Some(1_761_647_400_000));
        assert_eq!(read("2025-10-28T10:30:00Z"), Some(1_761_647_400_000));
        assert_eq!(read("2025-10-28T10:30:00.0001Z"), Some(1_761_647_400_001));
        assert_eq!(read("yesterday"), None);
    }

    #[test]
    fn ids_are_random_uuids() {
        let (one, other) = (fresh_id(), fresh_id());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(matches!(one.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{one}");
    }
}
