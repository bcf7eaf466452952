//! Parses server-sent events from bytes that arrive in any pieces. Only the data is kept, because
//! both providers repeat the event's name in it.

use crate::failure::AttemptFailure;

/// The state of one parser.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    /// A line whose end has not arrived; bytes, because a character may be split between two
    /// pieces.
    line: Vec<u8>,
    data: String,
    has_data: bool,
    after_return: bool,
}

impl SseParser {
    /// Adds bytes and hands out the data of the events they complete. What is kept never exceeds
    /// the bound on the whole body, which the caller counts.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        mut event: impl FnMut(&str) -> Result<(), AttemptFailure>,
    ) -> Result<(), AttemptFailure> {
        for &byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => self.end_line(&mut event)?,
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// Ends the stream. An event without its final blank line counts, because some servers omit it.
    pub(crate) fn finish(
        &mut self,
        mut event: impl FnMut(&str) -> Result<(), AttemptFailure>,
    ) -> Result<(), AttemptFailure> {
        if !self.line.is_empty() {
            self.end_line(&mut event)?;
        }
        self.end_event(&mut event)
    }

    fn end_line(
        &mut self,
        event: &mut impl FnMut(&str) -> Result<(), AttemptFailure>,
    ) -> Result<(), AttemptFailure> {
        if self.line.is_empty() {
            return self.end_event(event);
        }
        let line = std::mem::take(&mut self.line);
        let line =
            std::str::from_utf8(&line).map_err(|_| AttemptFailure::bad("it is not UTF-8"))?;
        if let Some(data) = line.strip_prefix("data:") {
            if self.has_data {
                self.data.push('\n');
            }
            self.has_data = true;
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        Ok(())
    }

    fn end_event(
        &mut self,
        event: &mut impl FnMut(&str) -> Result<(), AttemptFailure>,
    ) -> Result<(), AttemptFailure> {
        if std::mem::take(&mut self.has_data) {
            event(&std::mem::take(&mut self.data))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let (mut frames, mut events) = (SseParser::default(), Vec::new());
        let mut keep = |data: &str| {
            events.push(data.to_owned());
            Ok(())
        };
        for piece in pieces {
            frames.push(piece, &mut keep).unwrap();
        }
        frames.finish(&mut keep).unwrap();
        events
    }

    const SAMPLE: &str = "\u{feff}: hello\n\nevent: x\r\ndata: один\r\n\r\ndata:a\ndata: b\n\n\
                          id: 1\n\ndata: {\"тест\":\"🦀\"}\rdata:\r\rdata: last";

    #[test]
    fn lines_and_events_end_as_in_the_sse_standard() {
        let events = read(&[SAMPLE.as_bytes()]);
        assert_eq!(events, ["один", "a\nb", "{\"тест\":\"🦀\"}\n", "last"]);
        assert!(SseParser::default().push(b"data: \xff\n", |_| Ok(())).is_err());
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_the_events(cut in 0..SAMPLE.len(), more in 0..SAMPLE.len()) {
            let bytes = SAMPLE.as_bytes();
            let (first, second) = (cut.min(more), cut.max(more));
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
