//! Opaque cursors over lists that never change while the process runs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;

/// The first index of the page that a cursor names, in a list of `len` items.
pub(crate) fn start(kind: &str, cursor: Option<&str>, len: usize) -> Result<usize, ErrorData> {
    let Some(cursor) = cursor else { return Ok(0) };
    let at = decode(kind, cursor).filter(|at| (1..len).contains(at));
    at.ok_or_else(|| {
        let message = format!("the cursor is not one that {kind}/list gave out; start without one");
        ErrorData::invalid_params(message, None)
    })
}

/// The cursor of the page after `start..start + size`; `None` on the last page.
pub(crate) fn next(kind: &str, start: usize, size: usize, len: usize) -> Option<String> {
    let at = start.saturating_add(size.max(1));
    (at < len).then(|| URL_SAFE_NO_PAD.encode(format!("{kind}:{at}")))
}

fn decode(kind: &str, cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    text.strip_prefix(kind)?.strip_prefix(':')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn following_cursors_visits_every_item_once(len in 0_usize..200, size in 1_usize..60) {
            let (mut seen, mut cursor) = (Vec::new(), None);
            loop {
                let at = start("tools", cursor.as_deref(), len).unwrap();
                seen.extend(at..len.min(at + size));
                cursor = next("tools", at, size, len);
                if cursor.is_none() { break }
            }
            prop_assert_eq!(seen, (0..len).collect::<Vec<_>>());
        }

        #[test]
        fn a_foreign_cursor_is_refused(cursor in ".{0,40}") {
            let outcome = start("tools", Some(&cursor), 100);
            prop_assert!(outcome.is_err() || decode("tools", &cursor).is_some());
        }
    }

    #[track_caller]
    fn check_refused(cursor: &str) {
        let error = start("tools", Some(cursor), 100).unwrap_err();
        assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{cursor}");
    }

    #[test]
    fn cursors_of_other_lists_and_positions_are_refused() {
        check_refused("");
        check_refused("not base64!");
        check_refused(&URL_SAFE_NO_PAD.encode("resources:50"));
        check_refused(&URL_SAFE_NO_PAD.encode("tools:100"));
        check_refused(&URL_SAFE_NO_PAD.encode("tools:0"));
        check_refused(&URL_SAFE_NO_PAD.encode("tools:-1"));
    }
}
