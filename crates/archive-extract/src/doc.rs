//! Word 97-2003 documents: the piece table of the `WordDocument` stream to pages.
//!
//! The header of the stream says which table stream holds the piece table, and how many
//! characters belong to the body, the notes, the headers and the boxes, one after the other.
//! Comments are left out, as are hidden and deleted text (`doc/hidden.rs`).

mod hidden;

use encoding_rs::WINDOWS_1252;

use crate::compound::{Compound, u16_at, u32_at, usize_at};
use crate::context::{ReadContext, ReadResult};
use crate::{ProblemCode, ReadProblem, plain};

/// Where the header's pairs of position and length start.
const PAIRS: usize = 0x9a;

pub(crate) fn read(context: &mut ReadContext<'_>, bytes: &[u8]) -> ReadResult {
    let mut file = Compound::open(bytes)?;
    let main = file
        .stream(context, "/WordDocument")?
        .ok_or_else(|| ReadProblem::malformed("the document stream cannot be read"))?;
    let cut = || ReadProblem::new(ProblemCode::Truncated, "the document stream is cut short");
    let flags = u16_at(&main, 0x0a).ok_or_else(cut)?;
    if flags & 0x0100 != 0 {
        return Err(ReadProblem::new(
            ProblemCode::Encrypted,
            "the document is encrypted; passwords are taken for PDF only: open it in Word, remove its \
             password (File, Info, Protect Document) and send it again",
        ));
    }
    if u16_at(&main, 2).is_some_and(|version| version < 0xc1) {
        return before_97(context, &main);
    }
    let table = if flags & 0x0200 != 0 { "/1Table" } else { "/0Table" };
    let table = file.stream(context, table)?.ok_or_else(cut)?;
    let document = Doc { main: &main, table: &table };
    let units = document.units(context)?;
    document.pages(context, &units)
}

/// Word 6 and 95 keep 8-bit text in one place.
fn before_97(context: &mut ReadContext<'_>, main: &[u8]) -> ReadResult {
    let range = usize_at(main, 0x18).zip(usize_at(main, 0x1c));
    let text = range.and_then(|(from, to)| main.get(from..to.min(main.len())));
    let text = text.ok_or_else(|| ReadProblem::malformed("the document's text cannot be found"))?;
    let units: Vec<u16> = plain::decode(text).encode_utf16().collect();
    for page in split_pages(&units) {
        context.page(shown(page).trim_end().to_owned())?;
    }
    Ok(())
}

struct Doc<'a> {
    main: &'a [u8],
    table: &'a [u8],
}

impl Doc<'_> {
    /// A table that the header points at.
    fn table(&self, index: usize) -> Option<&[u8]> {
        let from = usize_at(self.main, PAIRS + index * 8)?;
        let length = usize_at(self.main, PAIRS + index * 8 + 4)?;
        self.table.get(from..from.checked_add(length)?).filter(|it| !it.is_empty())
    }

    fn count(&self, at: usize) -> usize {
        usize_at(self.main, at).unwrap_or(0)
    }

    /// All characters in order, as UTF-16; hidden ones become 0, so that positions stay the same.
    fn units(&self, context: &mut ReadContext<'_>) -> ReadResult<Vec<u16>> {
        let damaged = || ReadProblem::malformed("the document's piece table is damaged");
        let pieces = self.table(33).and_then(piece_table).ok_or_else(damaged)?;
        let hidden = hidden::ranges(context, self.main, self.table(12))?;
        let count = pieces.len().saturating_sub(4) / 12;
        let mut units: Vec<u16> = Vec::new();
        for piece in 0..count {
            context.tick()?;
            let from = usize_at(pieces, piece * 4).ok_or_else(damaged)?;
            let to = usize_at(pieces, piece * 4 + 4).ok_or_else(damaged)?;
            let at = u32_at(pieces, (count + 1) * 4 + piece * 8 + 2).ok_or_else(damaged)?;
            let length = to.checked_sub(from).ok_or_else(damaged)?;
            let narrow = at & 0x4000_0000 != 0;
            let start = (at & 0x3fff_ffff) as usize;
            let (start, width) = if narrow { (start / 2, 1) } else { (start, 2) };
            let end = start.saturating_add(length.saturating_mul(width)).min(self.main.len());
            let bytes = self.main.get(start..end).unwrap_or_default();
            // Pieces may overlap, so their sum can be far more than the file.
            context.unpack(bytes.len())?;
            let before = units.len();
            if narrow {
                let text = WINDOWS_1252.decode_without_bom_handling(bytes).0;
                units.extend(text.encode_utf16());
            } else {
                units.extend(bytes.chunks_exact(2).map(|it| u16::from_le_bytes([it[0], it[1]])));
            }
            hidden.blank(&mut units[before..], start, width);
        }
        Ok(units)
    }

    fn pages(&self, context: &mut ReadContext<'_>, units: &[u16]) -> ReadResult {
        let mut rest = units;
        let mut take = |at: usize| {
            let (part, after) = rest.split_at(self.count(at).min(rest.len()));
            rest = after;
            part
        };
        let body = take(0x4c);
        let footnotes = take(0x50);
        let margins = take(0x54);
        take(0x58);
        take(0x5c);
        let endnotes = take(0x60);
        let boxes = take(0x64);
        let mut pages: Vec<String> = Vec::new();
        let mut ends = Vec::new();
        let mut at = 0;
        for page in split_pages(body) {
            at += page.len() + 1;
            pages.push(shown(page).trim_end().to_owned());
            ends.push(at);
        }
        let mut number = 0;
        for (references, texts, story) in [(2, 3, footnotes), (46, 47, endnotes)] {
            for (position, note) in self.notes(references, texts, story) {
                number += 1;
                let page = ends.partition_point(|end| *end <= position).min(pages.len() - 1);
                pages[page].push_str(&format!("\n[{number}] {note}"));
            }
        }
        let mut margin_lines: Vec<String> = Vec::new();
        for line in shown(margins).lines().map(str::trim).take(2_000) {
            if line.chars().any(char::is_alphanumeric) && !margin_lines.iter().any(|it| it == line)
            {
                margin_lines.push(line.to_owned());
            }
        }
        // As in DOCX, headers and footers are added once, to page 1, and text boxes to the last
        // page.
        for (page, extra) in [(0, margin_lines.join("\n")), (pages.len() - 1, shown(boxes))] {
            if !extra.trim().is_empty() {
                pages[page].push('\n');
                pages[page].push_str(extra.trim());
            }
        }
        context.total(u32::try_from(pages.len()).unwrap_or(u32::MAX));
        pages.into_iter().try_for_each(|page| context.page(page))
    }

    /// The position of each reference to a note, and the text of the note.
    fn notes(&self, references: usize, texts: usize, story: &[u16]) -> Vec<(usize, String)> {
        let references = self.table(references).unwrap_or_default();
        let texts = self.table(texts).unwrap_or_default();
        let count = references.len().saturating_sub(4) / 6;
        let mut notes = Vec::new();
        for note in 0..count {
            let range = usize_at(texts, note * 4).zip(usize_at(texts, note * 4 + 4));
            let Some((from, to)) = range else { break };
            let Some(text) = story.get(from..to.min(story.len())) else { break };
            let position = usize_at(references, note * 4).unwrap_or(0);
            notes.push((position, shown(text).trim().to_owned()));
        }
        notes
    }
}

/// The piece table, which is the last part of its structure, after the formatting.
fn piece_table(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        match bytes.first()? {
            1 => bytes = bytes.get(3 + usize::from(u16_at(bytes, 1)?)..)?,
            2 => return bytes.get(5..5_usize.checked_add(usize_at(bytes, 1)?)?),
            _ => return None,
        }
    }
}

fn split_pages(units: &[u16]) -> impl Iterator<Item = &[u16]> {
    // A page break at the end of the document does not begin another page.
    let body = units.strip_suffix(&[0x0c]).unwrap_or(units);
    body.split(|it| *it == 0x0c)
}

/// The visible text: of a field its result, not its code.
fn shown(units: &[u16]) -> String {
    let mut text = String::with_capacity(units.len());
    let mut fields: Vec<bool> = Vec::new();
    let mut in_code = 0_usize;
    for it in char::decode_utf16(units.iter().copied()) {
        let it = it.unwrap_or(char::REPLACEMENT_CHARACTER);
        match it {
            '\u{13}' => {
                fields.push(true);
                in_code += 1;
            }
            '\u{14}' | '\u{15}' => {
                if fields.last() == Some(&true) {
                    in_code -= 1;
                    if let Some(last) = fields.last_mut() {
                        *last = false;
                    }
                }
                if it == '\u{15}' {
                    fields.pop();
                }
            }
            _ if in_code > 0 => {}
            '\r' | '\u{b}' => text.push('\n'),
            '\u{7}' => text.push('\t'),
            '\u{1e}' => text.push('-'),
            '\t' | '\n' => text.push(it),
            '\u{0}'..='\u{1f}' => {}
            _ => text.push(it),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn fields_show_their_results() {
        let units: Vec<u16> = "see \u{13}PAGEREF \u{13}x\u{14}y\u{15}\u{14}page 3\u{15}.\rnext"
            .encode_utf16()
            .collect();
        assert_eq!(shown(&units), "see page 3.\nnext");
    }
}
