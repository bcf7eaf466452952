//! The compressed rich text of messages (`LZFu`), an LZ77 with a dictionary that starts full.

use crate::compound::u32_at;

const WINDOW: usize = 4_096;
const START: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// The rich text, at most `max` bytes of it; what could be read if it is damaged.
pub(crate) fn unpack(packed: &[u8], max: usize) -> Option<Vec<u8>> {
    let raw_size = usize::try_from(u32_at(packed, 4)?).ok()?.min(max);
    let body = packed.get(16..)?;
    match &packed[8..12] {
        b"MELA" => return Some(body[..body.len().min(raw_size)].to_vec()),
        b"LZFu" => {}
        _ => return None,
    }
    let mut window = [b' '; WINDOW];
    window[..START.len()].copy_from_slice(START);
    let mut write = START.len();
    let mut text = Vec::new();
    let mut bytes = body.iter().copied();
    'runs: while let Some(control) = bytes.next() {
        for bit in 0..8 {
            if text.len() >= raw_size {
                break 'runs;
            }
            let Some(first) = bytes.next() else { break 'runs };
            if control >> bit & 1 == 0 {
                text.push(first);
                window[write] = first;
                write = (write + 1) % WINDOW;
                continue;
            }
            let Some(second) = bytes.next() else { break 'runs };
            let token = usize::from(first) << 8 | usize::from(second);
            let from = token >> 4;
            if from == write {
                break 'runs;
            }
            for step in 0..(token & 0xf) + 2 {
                let byte = window[(from + step) % WINDOW];
                text.push(byte);
                window[write] = byte;
                write = (write + 1) % WINDOW;
            }
        }
    }
    text.truncate(raw_size);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(raw_size: u32, body: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        packed.extend((body.len() as u32 + 12).to_le_bytes());
        packed.extend(raw_size.to_le_bytes());
        packed.extend(b"LZFu\0\0\0\0");
        packed.extend(body);
        packed
    }

    #[test]
    fn references_reach_the_dictionary_and_the_text() {
        assert_eq!(START.len(), 207);
        // Five bytes from the dictionary's start, then two literals, then both again.
        let body = [0b0000_1001, 0, 3, b'a', b'b', (212_u16 >> 4) as u8, (212_u16 << 4) as u8];
        let text = unpack(&packed(9, &body), 1_000).unwrap();
        assert_eq!(text, b"{\\rtfabab");
    }

    #[test]
    fn a_bound_holds() {
        let body = [0_u8, b'a', b'b', b'c', b'd', b'e', b'f', b'g', b'h'];
        assert_eq!(unpack(&packed(8, &body), 3).unwrap(), b"abc");
    }
}
