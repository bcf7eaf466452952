//! Small font programs: TrueType, CFF and Type 1.

pub(crate) const FONT_WORDS: &[&str] = &[
    "cmap",
    "post",
    "CFF ",
    "OTTO",
    "true",
    "/Encoding",
    "dup 65 /A put",
    "eexec",
    "\x7f",
    "\u{0}",
];

/// A file of tables, each with its name.
fn tables(version: &[u8; 4], tables: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut file = version.to_vec();
    file.extend((tables.len() as u16).to_be_bytes());
    file.extend([0; 6]);
    let mut at = 12 + tables.len() * 16;
    for (name, data) in tables {
        file.extend(*name);
        file.extend([0; 4]);
        file.extend((at as u32).to_be_bytes());
        file.extend((data.len() as u32).to_be_bytes());
        at += data.len();
    }
    for (_, data) in tables {
        file.extend(data);
    }
    file
}

fn words(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_be_bytes()).collect()
}

/// Codes A to C, as a Macintosh table and as a Unicode table.
fn cmap() -> Vec<u8> {
    let trimmed = words(&[6, 16, 0, 65, 3, 1, 2, 3]);
    // The difference of -64 makes the glyphs 1 to 3 of the codes 65 to 67.
    let segments = words(&[4, 32, 0, 4, 4, 1, 0, 67, 0xffff, 0, 65, 0xffff, 0xffc0, 1, 0, 0]);
    let mut table = words(&[0, 2, 1, 0, 0, 20, 3, 1, 0, 20 + trimmed.len() as u16]);
    table.extend(trimmed);
    table.extend(segments);
    table
}

/// Four glyphs, of which two have names of their own.
fn post() -> Vec<u8> {
    let mut table = words(&[2, 0]);
    table.resize(32, 0);
    table.extend(words(&[4, 0, 36, 258, 259]));
    table.extend(b"\x06eacute\x07uni0414");
    table
}

/// A program with one name and an encoding for two codes.
fn compact() -> Vec<u8> {
    let mut data = vec![1, 0, 4, 1, 0, 1, 1, 1, 2, b'A'];
    // The DICT has the places of the encoding, the glyph names and the glyphs.
    data.extend([0, 1, 1, 1, 7, 169, 16, 173, 15, 177, 17]);
    data.extend([0, 0, 0, 0]);
    data.resize(30, 0);
    data.extend([0, 2, 65, 97, 0, 0, 34, 0, 0, 3, 1, 1, 2, 3, 4, 14, 14, 14]);
    data
}

pub(crate) fn pdf_font_programs() -> Vec<Vec<u8>> {
    vec![
        tables(&[0, 1, 0, 0], &[(b"cmap", cmap()), (b"post", post())]),
        tables(b"OTTO", &[(b"CFF ", compact())]),
        compact(),
        b"%!PS-AdobeFont-1.0\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
          dup 65 /B put\ndup 8#102 /afii10017 put\nreadonly def\ncurrentfile eexec \x01\x02"
            .to_vec(),
    ]
}
