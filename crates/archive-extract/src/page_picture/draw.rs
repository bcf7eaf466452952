//! Marks words on a drawn page and writes it as PNG. The page comes as a portable pixmap from
//! `pdftoppm`.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::boxes::PageWord;

/// A pixel is multiplied with this colour under a mark, so black letters stay black.
const MARK: [u8; 3] = [255, 232, 64];
/// Pixels whose colours differ by no more are grey.
const GREY_TOLERANCE: u8 = 8;

/// A page as pixels of three bytes.
#[derive(Debug)]
pub(super) struct Pixmap {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<u8>,
    marked: Vec<bool>,
}

impl Pixmap {
    /// Reads `P6` with 255 levels; `None` if it is something else or cut short.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut at = 0;
        let mut field = || {
            let rest = bytes.get(at..)?;
            let start = rest.iter().position(|it| !it.is_ascii_whitespace())?;
            let length = rest[start..].iter().position(u8::is_ascii_whitespace)?;
            at += start + length;
            std::str::from_utf8(&rest[start..start + length]).ok()
        };
        if field()? != "P6" {
            return None;
        }
        let (width, height): (usize, usize) = (field()?.parse().ok()?, field()?.parse().ok()?);
        if field()? != "255" {
            return None;
        }
        let count = width.checked_mul(height).filter(|it| *it > 0)?;
        let pixels = bytes.get(at + 1..(at + 1).checked_add(count.checked_mul(3)?)?)?.to_vec();
        Some(Self { width, height, pixels, marked: vec![false; count] })
    }

    /// Marks a rectangle, in pixels; what is outside of the page is cut off.
    pub(super) fn mark(&mut self, x: f64, y: f64, w: f64, h: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let clamp = |it: f64, most: usize| it.round().clamp(0.0, most as f64) as usize;
        let columns = clamp(x, self.width)..clamp(x + w, self.width);
        for row in clamp(y, self.height)..clamp(y + h, self.height) {
            let start = row * self.width;
            self.marked[start + columns.start..start + columns.end].fill(true);
        }
    }

    /// The page as PNG: grey pages with a palette, which takes a third of the bytes.
    pub(super) fn png(&self) -> std::io::Result<Vec<u8>> {
        let pixels = self.pixels.chunks_exact(3);
        let is_grey = |it: &[u8]| {
            let most = it.iter().max().copied().unwrap_or(0);
            most - it.iter().min().copied().unwrap_or(0) <= GREY_TOLERANCE
        };
        if pixels.clone().all(is_grey) {
            let rows = self.pixels.chunks_exact(self.width * 3).zip(self.marked.chunks(self.width));
            let rows = rows.map(|(row, marked)| {
                let levels = row.chunks_exact(3).map(|it| it[1] >> 1);
                levels.zip(marked).map(|(level, marked)| level | u8::from(*marked) << 7).collect()
            });
            return write_png(self.width, self.height, Some(&palette()), 0, rows);
        }
        let coloured: Vec<u8> = pixels
            .zip(&self.marked)
            .flat_map(|(it, marked)| match marked {
                true => [0, 1, 2].map(|at| multiplied(it[at], MARK[at])),
                false => [it[0], it[1], it[2]],
            })
            .collect();
        let width = self.width * 3;
        let rows = (0..self.height).map(|row| {
            let here = &coloured[row * width..(row + 1) * width];
            match row.checked_sub(1) {
                // Each byte is stored as its difference to the byte above.
                Some(above) => {
                    let above = &coloured[above * width..row * width];
                    here.iter().zip(above).map(|(a, b)| a.wrapping_sub(*b)).collect()
                }
                None => here.to_vec(),
            }
        });
        write_png(self.width, self.height, None, 2, rows)
    }
}

fn multiplied(value: u8, by: u8) -> u8 {
    u8::try_from(u16::from(value) * u16::from(by) / 255).unwrap_or(u8::MAX)
}

/// 128 levels of grey, and the same under a mark.
fn palette() -> Vec<u8> {
    let level = |it: u8| it << 1 | it >> 6;
    let grey = (0..128).flat_map(|it| [level(it); 3]);
    let marked = (0..128).flat_map(|it| MARK.map(|by| multiplied(level(it), by)));
    grey.chain(marked).collect()
}

fn write_png(
    width: usize,
    height: usize,
    palette: Option<&[u8]>,
    filter: u8,
    rows: impl Iterator<Item = Vec<u8>>,
) -> std::io::Result<Vec<u8>> {
    let size = |it: usize| u32::try_from(it).map_err(std::io::Error::other).map(u32::to_be_bytes);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let colours = if palette.is_some() { 3 } else { 2 };
    let head = [&size(width)?[..], &size(height)?, &[8, colours, 0, 0, 0]].concat();
    chunk(&mut png, b"IHDR", &head)?;
    if let Some(palette) = palette {
        chunk(&mut png, b"PLTE", palette)?;
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in rows {
        packed.write_all(&[filter])?;
        packed.write_all(&row)?;
    }
    chunk(&mut png, b"IDAT", &packed.finish()?)?;
    chunk(&mut png, b"IEND", &[])?;
    Ok(png)
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(data.len()).map_err(std::io::Error::other)?;
    png.extend(length.to_be_bytes());
    let start = png.len();
    png.extend(name);
    png.extend(data);
    let mut sum = flate2::Crc::new();
    sum.update(&png[start..]);
    png.extend(sum.sum().to_be_bytes());
    Ok(())
}

/// The rectangles of the marked words; marked words beside each other on a line have one.
pub(super) fn rectangles(words: &[PageWord]) -> Vec<[f64; 4]> {
    let mut found: Vec<[f64; 4]> = Vec::new();
    let mut was_marked = false;
    for word in words {
        let (right, bottom) = (word.x + word.w, word.y + word.h);
        match found.last_mut() {
            Some(last) if word.marked && was_marked && continues(last, word) => {
                last[1] = last[1].min(word.y);
                (last[2], last[3]) = (right, last[3].max(bottom));
            }
            _ if word.marked => found.push([word.x, word.y, right, bottom]),
            _ => {}
        }
        was_marked = word.marked;
    }
    found.into_iter().map(|[x, y, right, bottom]| [x, y, right - x, bottom - y]).collect()
}

/// Whether a word follows a rectangle on its line, at most one and a half heights to the right.
fn continues([_, top, right, bottom]: &[f64; 4], word: &PageWord) -> bool {
    let overlap = bottom.min(word.y + word.h) - top.max(word.y);
    let gap = word.x - right;
    overlap > word.h / 2.0 && gap > -word.h / 2.0 && gap < word.h * 1.5
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn pixmap(width: usize, height: usize, pixel: [u8; 3]) -> Pixmap {
        let mut bytes = format!("P6\n{width} {height}\n255\n").into_bytes();
        bytes.extend(pixel.repeat(width * height));
        Pixmap::read(&bytes).unwrap()
    }

    /// The chunks of a PNG, and the bytes of its rows; also checks the sums.
    fn unpacked(png: &[u8]) -> (Vec<String>, Vec<u8>) {
        let (mut at, mut names, mut rows) = (8, Vec::new(), Vec::new());
        while at < png.len() {
            let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
            let (name, data) = png[at + 4..at + 8 + length].split_at(4);
            let mut sum = flate2::Crc::new();
            sum.update(&png[at + 4..at + 8 + length]);
            assert_eq!(sum.sum().to_be_bytes(), png[at + 8 + length..at + 12 + length]);
            names.push(String::from_utf8(name.to_vec()).unwrap());
            if name == b"IDAT" {
                flate2::read::ZlibDecoder::new(data).read_to_end(&mut rows).unwrap();
            }
            at += 12 + length;
        }
        (names, rows)
    }

    #[test]
    fn a_grey_page_has_a_palette_and_marks_in_it() {
        let mut page = pixmap(4, 2, [200, 202, 201]);
        page.mark(1.0, -5.0, 2.0, 6.0);
        let (names, rows) = unpacked(&page.png().unwrap());
        assert_eq!(names, ["IHDR", "PLTE", "IDAT", "IEND"]);
        assert_eq!(rows, [0, 101, 229, 229, 101, 0, 101, 101, 101, 101]);
        let palette = palette();
        assert_eq!(palette.len(), 768);
        assert_eq!(palette[127 * 3..128 * 3], [255, 255, 255]);
        assert_eq!(palette[255 * 3..], MARK);
    }

    #[test]
    fn a_coloured_page_keeps_its_colours() {
        let mut page = pixmap(2, 2, [255, 0, 100]);
        page.mark(0.0, 0.0, 1.0, 1.0);
        let (names, rows) = unpacked(&page.png().unwrap());
        assert_eq!(names, ["IHDR", "IDAT", "IEND"]);
        let marked = [255, 0, multiplied(100, 64)];
        let first = [marked, [255, 0, 100]].concat();
        assert_eq!(rows[..7], [&[2], &first[..]].concat());
        assert_eq!(rows[7..], [2, 0, 0, 100 - marked[2], 0, 0, 0]);
    }

    #[test]
    fn other_and_cut_files_are_no_pages() {
        for bytes in [&b"P5\n1 1\n255\n\0\0\0"[..], b"P6\n2 2\n255\nxyz", b"", b"P6\n0 1\n255\n"] {
            assert!(Pixmap::read(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn marked_words_of_a_line_are_one_rectangle() {
        let word = |x: f64, y: f64, marked| PageWord {
            text: "w".to_owned(),
            x,
            y,
            w: 30.0,
            h: 10.0,
            marked,
        };
        let words = [
            word(0.0, 0.0, true),
            word(35.0, 1.0, true),
            word(70.0, 0.0, false),
            word(105.0, 0.0, true),
            word(0.0, 12.0, true),
            word(300.0, 12.0, true),
        ];
        let expected = [
            [0.0, 0.0, 65.0, 11.0],
            [105.0, 0.0, 30.0, 10.0],
            [0.0, 12.0, 30.0, 10.0],
            [300.0, 12.0, 30.0, 10.0],
        ];
        assert_eq!(rectangles(&words), expected);
    }
}
