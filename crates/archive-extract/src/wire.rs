//! The messages between parent and child: JSON frames with a 4-byte length.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{ReadEvent, ReadLimits};

/// Longer text is sent in pieces; JSON may make a piece six times as long.
const TEXT_MAX: usize = 1 << 20;
const FRAME_MAX: u32 = 16 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReadRequest {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) limits: ReadLimits,
    pub(crate) scratch: PathBuf,
    /// `None`: no OCR.
    pub(crate) languages: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ChildMessage {
    Event(ReadEvent),
    /// The file was read to its end.
    Done,
}

pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let frame = serde_json::to_vec(message)?;
    let length = u32::try_from(frame.len()).ok().filter(|it| *it <= FRAME_MAX);
    let length = length.ok_or_else(|| io::Error::other("frame too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&frame)
}

/// The next message; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > FRAME_MAX {
        return Err(io::Error::other("frame too long"));
    }
    let mut frame = vec![0; length as usize];
    from.read_exact(&mut frame)?;
    Ok(Some(serde_json::from_slice(&frame)?))
}

/// Sends an event; a page over 1 MiB goes in pieces.
pub(crate) fn send_event(to: &mut impl Write, mut event: ReadEvent) -> io::Result<()> {
    let mut rest = String::new();
    if let ReadEvent::Page(page) = &mut event
        && page.page.text.len() > TEXT_MAX
    {
        let text = &mut page.page.text;
        rest = text.split_off(text.floor_char_boundary(TEXT_MAX));
    }
    send(to, &ChildMessage::Event(event))?;
    let mut rest = rest.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT_MAX));
        send(to, &ChildMessage::Event(ReadEvent::More(piece.to_owned())))?;
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use archive_text::Page;

    use super::*;
    use crate::{DocumentBuilder, ExtractedPage, TextSource};

    #[test]
    fn long_pages_travel_in_pieces() {
        let text = "я\u{1}".repeat(1_200_000);
        let page = Page { number: 1, text };
        let page = ExtractedPage { page, source: TextSource::TextLayer, problem: None };
        let mut pipe = Vec::new();
        send_event(&mut pipe, ReadEvent::Page(page.clone())).unwrap();
        let mut from = pipe.as_slice();
        let mut draft = DocumentBuilder::default();
        let mut frames = 0;
        while let Some(ChildMessage::Event(event)) = receive(&mut from).unwrap() {
            draft.apply(event);
            frames += 1;
        }
        assert!(frames > 2);
        assert_eq!(draft.finish().pages, [page]);
    }

    #[test]
    fn an_oversized_or_cut_frame_is_refused() {
        let mut from: &[u8] = &[0xff, 0xff, 0xff, 0xff, 1];
        assert!(receive::<ChildMessage>(&mut from).is_err());
        let mut cut: &[u8] = &[4, 0, 0, 0, b'"'];
        assert!(receive::<ChildMessage>(&mut cut).is_err());
    }
}
