//! The messages between parent and child.

use std::io::{self, Write};
use std::path::PathBuf;

use sandbox::send;
use serde::{Deserialize, Serialize};

use crate::page_picture::PictureRequest;
use crate::{Password, ReadEvent, ReadLimits};

/// Longer text is sent in pieces; JSON may make a piece six times as long.
const TEXT_MAX: usize = 1 << 20;

/// What a child is asked to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkerRequest {
    Read(ReadRequest),
    /// Draw a page.
    Picture(PictureRequest),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReadRequest {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) limits: ReadLimits,
    pub(crate) scratch: PathBuf,
    /// `None`: no OCR.
    pub(crate) languages: Option<Vec<String>>,
    pub(crate) password: Option<Password>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ChildMessage {
    Event(ReadEvent),
    /// The file was read to its end.
    Done,
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
        let page = ExtractedPage { page, source: TextSource::TextLayer, problems: Vec::new() };
        let mut pipe = Vec::new();
        send_event(&mut pipe, ReadEvent::Page(page.clone())).unwrap();
        let mut from = pipe.as_slice();
        let mut draft = DocumentBuilder::default();
        let mut frames = 0;
        while let Some(ChildMessage::Event(event)) = sandbox::receive(&mut from).unwrap() {
            draft.apply(event);
            frames += 1;
        }
        assert!(frames > 2);
        assert_eq!(draft.finish().pages, [page]);
    }
}
