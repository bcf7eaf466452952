//! Word 97 documents: a header, text in pieces, and the tables that describe it.

use std::io::{Cursor, Write};

#[derive(Default)]
pub struct Doc {
    pub body: String,
    /// Position in the body, and text.
    pub notes: Vec<(u32, String)>,
    pub margins: String,
    /// Characters from and to that are hidden.
    pub hidden: Option<(u32, u32)>,
    pub narrow: bool,
    pub encrypted: bool,
}

const TEXT: usize = 0x800;

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

impl Doc {
    fn parts(&self) -> [String; 3] {
        let notes = self.notes.iter().map(|it| format!("\u{2} {}\r", it.1)).collect();
        [self.body.clone(), notes, self.margins.clone()]
    }

    pub fn finish(&self) -> Vec<u8> {
        let parts = self.parts();
        let counts = parts.clone().map(|it| it.encode_utf16().count() as u32);
        let total: u32 = counts.iter().sum();
        let mut main = vec![0; TEXT];
        let text = parts.concat();
        let width = if self.narrow { 1 } else { 2 };
        if self.narrow {
            main.extend(encoding_rs::WINDOWS_1252.encode(&text).0.iter());
        } else {
            main.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
        main[..2].copy_from_slice(&0xa5ec_u16.to_le_bytes());
        main[2..4].copy_from_slice(&0xc1_u16.to_le_bytes());
        let flags: u16 = 0x0200 | if self.encrypted { 0x0100 } else { 0 };
        main[10..12].copy_from_slice(&flags.to_le_bytes());
        for (at, count) in [0x4c, 0x50, 0x54].into_iter().zip(counts) {
            put(&mut main, at, count);
        }
        let mut table = Vec::new();
        let mut add = |main: &mut Vec<u8>, index: usize, data: &[u8]| {
            put(main, 0x9a + index * 8, table.len() as u32);
            put(main, 0x9a + index * 8 + 4, data.len() as u32);
            table.extend(data);
        };
        let place = if self.narrow { (TEXT as u32 * 2) | 0x4000_0000 } else { TEXT as u32 };
        let mut pieces = vec![2];
        pieces.extend(16_u32.to_le_bytes());
        pieces.extend([0_u32, total].iter().flat_map(|it| it.to_le_bytes()));
        pieces.extend([0, 0]);
        pieces.extend(place.to_le_bytes());
        pieces.extend([0, 0]);
        add(&mut main, 33, &pieces);
        let end = self.body.encode_utf16().count() as u32;
        let mut references: Vec<u8> = self.notes.iter().flat_map(|it| it.0.to_le_bytes()).collect();
        references.extend(end.to_le_bytes());
        references.extend(vec![0; self.notes.len() * 2]);
        let mut starts = vec![0_u32];
        for (_, text) in &self.notes {
            starts.push(starts[starts.len() - 1] + text.encode_utf16().count() as u32 + 3);
        }
        if !self.notes.is_empty() {
            add(&mut main, 2, &references);
            add(&mut main, 3, &starts.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
        }
        if let Some((from, to)) = self.hidden {
            main.resize(main.len().next_multiple_of(512), 0);
            let number = (main.len() / 512) as u32;
            let at = |it: u32| TEXT as u32 + it * width;
            let mut page = vec![0; 512];
            put(&mut page, 0, at(from));
            put(&mut page, 4, at(to));
            page[8] = 200;
            // Three bytes: the property of being hidden, and yes.
            page[400..404].copy_from_slice(&[3, 0x3c, 0x08, 1]);
            page[511] = 1;
            main.extend(page);
            let bins = [at(0), at(total), number];
            add(&mut main, 12, &bins.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
        }
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream("/WordDocument").unwrap().write_all(&main).unwrap();
        file.create_stream("/1Table").unwrap().write_all(&table).unwrap();
        file.flush().unwrap();
        file.into_inner().into_inner()
    }
}
