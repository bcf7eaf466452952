//! Writers of small files, each as simple as its format allows, for tests here and elsewhere.
#![allow(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

pub mod doc;
pub mod docx;
pub mod msg;
pub mod pdf;

pub fn deflate(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut to = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(data).unwrap();
    to.finish().unwrap()
}

pub fn zlib(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut to = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(data).unwrap();
    to.finish().unwrap()
}

/// A TIFF of as many pages, each one black dot.
pub fn tiff(pages: usize) -> Vec<u8> {
    let mut tiff = b"II\x2a\0\x08\0\0\0".to_vec();
    for page in 0..pages {
        let start = tiff.len() as u32;
        let rows = [
            (256_u16, 1_u32),
            (257, 1),
            (258, 1),
            (259, 1),
            (262, 1),
            (273, start + 90),
            (278, 1),
            (279, 1),
        ];
        tiff.extend((rows.len() as u16).to_le_bytes());
        for (tag, value) in rows {
            tiff.extend(tag.to_le_bytes());
            tiff.extend(4_u16.to_le_bytes());
            tiff.extend(1_u32.to_le_bytes());
            tiff.extend(value.to_le_bytes());
        }
        // Directory 2 + 8 * 12, the next directory's place 4, one byte of pixels, one of padding.
        let next = if page + 1 < pages { start + 104 } else { 0 };
        tiff.extend(next.to_le_bytes());
        tiff.extend([0, 0]);
    }
    tiff
}
