//! Filters, both formats and masking.

use parking_lot::Mutex;
use std::sync::Arc;

use super::*;

#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl io::Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log output of `work`.
fn written(json: bool, colours: bool, filter: &str, work: impl FnOnce()) -> String {
    let buffer = SharedBuffer::default();
    let out = buffer.clone();
    let filter = parse_filter(filter).unwrap();
    let subscriber = subscriber(json, colours, filter, move || Masked(out.clone()));
    tracing::subscriber::with_default(subscriber, work);
    let bytes = buffer.0.lock().clone();
    String::from_utf8(bytes).unwrap()
}

fn log_secrets() {
    let span = tracing::info_span!("call", request_id = "r-1", api_key = "hunter2-key");
    let _entered = span.enter();
    tracing::info!(
        authorization = "Bearer hunter2-a",
        capability_token = "hunter2-b",
        n = 1,
        "one"
    );
    tracing::info!(password = %"hunter2-c hunter2-d", tool = "quotes.live", "two");
    tracing::warn!(url = "postgres://ann:hunter2@db/x", "three stoa1_hunter2 and Bearer hunter2");
    tracing::warn!(body = r#"{"password":"hunter2"}"#, headers = ?[("cookie", 1)], "four");
    tracing::error!("sent password=hunter2&x=1");
}

#[test]
fn secrets_are_masked_in_every_format() {
    for (json, colours) in [(true, false), (false, false), (false, true)] {
        let text = written(json, colours, "info", log_secrets);
        assert!(!text.contains("hunter2"), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
        for kept in ["r-1", "quotes.live", "one", "two", "three", "four", "stoa1_***", "@db/x"] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        for line in text.lines().filter(|_| json) {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        }
    }
}

#[test]
fn text_of_a_client_cannot_forge_a_line_or_control_the_terminal() {
    for json in [true, false] {
        let text = written(json, false, "info", || {
            tracing::info!(name = %"a\nERROR forged", "hello \u{1b}[2J\nERROR forged");
        });
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn the_filter_selects_levels_and_modules() {
    let work = || {
        tracing::debug!("small");
        tracing::warn!(target: "hyper", "noise");
        tracing::warn!("large");
    };
    let text = written(false, false, "info,hyper=off", work);
    assert!(text.contains("large") && !text.contains("small") && !text.contains("noise"), "{text}");
}

#[track_caller]
fn check_filter(text: &str, good: bool) {
    match parse_filter(text) {
        Ok(_) => assert!(good, "{text:?} was accepted"),
        Err(error) => {
            assert!(!good, "{text:?} was refused");
            assert!(error.to_string().contains("write off, error, warn"), "{error}");
        }
    }
}

#[test]
fn a_bad_filter_is_refused_with_the_fix() {
    check_filter("info", true);
    check_filter("INFO", true);
    check_filter("info,hyper=warn", true);
    check_filter("warn, stoa=debug", true);
    check_filter("verbose", false);
    check_filter("info,hyper", false);
    check_filter("hyper=loud", false);
    check_filter("", false);
    check_filter("info,", false);
    check_filter("a=b=info", false);
    check_filter("[span{", false);
}
