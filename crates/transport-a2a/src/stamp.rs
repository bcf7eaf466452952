//! Timestamps and ids of the protocol.

use jiff::Timestamp;

/// `2025-10-28T10:30:00.000Z`.
pub(crate) fn format_ms(unix_ms: i64) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// Milliseconds of an ISO 8601 time, rounded up, so that a filter by it returns no older task.
pub(crate) fn parse_ms(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    let floor = time.as_millisecond();
    Some(floor + i64::from(time.subsec_nanosecond().rem_euclid(1_000_000) > 0))
}

/// A new random UUID.
pub(crate) fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_and_come_back() {
        assert_eq!(format_ms(1_761_647_400_000), "2025-10-28T10:30:00.000Z");
        assert_eq!(parse_ms("2025-10-28T10:30:00.000Z"), Some(1_761_647_400_000));
        assert_eq!(parse_ms("2025-10-28T10:30:00Z"), Some(1_761_647_400_000));
        assert_eq!(parse_ms("2025-10-28T10:30:00.0001Z"), Some(1_761_647_400_001));
        assert_eq!(parse_ms("yesterday"), None);
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
