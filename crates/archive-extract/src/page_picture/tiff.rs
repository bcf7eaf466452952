//! A page of a TIFF file as a PDF file that `pdftoppm` can draw. The pixels are not decoded: PDF has
//! a filter for each common compression of TIFF, and every strip becomes one picture of the page.

use std::collections::{BTreeSet, HashMap};

/// Directories of a file, values of a tag and strips of a page that are read.
const DIRECTORIES_MAX: usize = 100_000;
const VALUES_MAX: usize = 70_000;
const STRIPS_MAX: usize = 20_000;
/// The longest side of the PDF page, in points.
const SIDE_MAX: f64 = 10_000.0;

/// The page with this index from 0; `None` if it is not there or is stored in a rare way (tiles,
/// planes, more than 8 bits, JPEG with shared tables).
pub(super) fn page_as_pdf(bytes: &[u8], index: usize) -> Option<Vec<u8>> {
    let tags = Directory::read(bytes, index)?;
    let (width, height) = (tags.one(256, 0), tags.one(257, 0));
    let is_plain = tags.one(266, 1) == 1 && tags.one(284, 1) == 1 && !tags.0.contains_key(&347);
    if width == 0 || height == 0 || !is_plain {
        return None;
    }
    let picture = format!("/Subtype /Image /Width {width} {}", tags.picture()?);
    let rows = tags.one(278, height).clamp(1, height);
    let (offsets, counts) = (tags.0.get(&273)?, tags.0.get(&279)?);
    let scale = (SIDE_MAX / width.max(height) as f64).min(1.0);
    let mut pdf = PdfWriter::default();
    let (mut content, mut names) = (String::new(), String::new());
    for (at, (offset, count)) in offsets.iter().zip(counts).take(STRIPS_MAX).enumerate() {
        let top = at.checked_mul(rows).filter(|it| *it < height)?;
        let high = rows.min(height - top);
        let data = bytes.get(*offset..offset.checked_add(*count)?)?;
        let strip = pdf.stream(&picture.replace("$ROWS", &high.to_string()), data);
        names.push_str(&format!("/S{at} {strip} 0 R "));
        let (wide, tall) = (width as f64 * scale, high as f64 * scale);
        let below = (height - top - high) as f64 * scale;
        content.push_str(&format!("q {wide:.4} 0 0 {tall:.4} 0 {below:.4} cm /S{at} Do Q\n"));
    }
    let content = pdf.stream("", content.as_bytes());
    let (wide, tall) = (width as f64 * scale, height as f64 * scale);
    let tree = pdf.objects.len() + 2;
    let page = pdf.add(
        format!(
            "<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {wide:.4} {tall:.4}] /Contents \
             {content} 0 R /Resources << /XObject << {names}>> >> >>"
        )
        .into_bytes(),
    );
    pdf.add(format!("<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>").into_bytes());
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>").into_bytes());
    Some(pdf.finish(root))
}

/// The values of each tag.
struct Directory(HashMap<usize, Vec<usize>>);

impl Directory {
    fn read(bytes: &[u8], index: usize) -> Option<Self> {
        let big_endian = bytes.starts_with(b"MM");
        let number = |at: usize, size: usize| {
            let raw = bytes.get(at..at.checked_add(size)?)?;
            let fold = |sum: usize, it: &u8| sum << 8 | usize::from(*it);
            Some(if big_endian { raw.iter().fold(0, fold) } else { raw.iter().rev().fold(0, fold) })
        };
        let (mut at, mut seen) = (number(4, 4)?, BTreeSet::new());
        for _ in 0..index {
            if at == 0 || !seen.insert(at) || seen.len() > DIRECTORIES_MAX {
                return None;
            }
            at = number(at + 2 + number(at, 2)? * 12, 4)?;
        }
        if at == 0 {
            return None;
        }
        let mut tags = HashMap::new();
        for entry in (0..number(at, 2)?).map(|it| at + 2 + it * 12) {
            let size = match number(entry + 2, 2)? {
                1 | 7 => 1,
                3 => 2,
                4 => 4,
                _ => continue,
            };
            let count = number(entry + 4, 4)?.min(VALUES_MAX);
            let first = if size * count <= 4 { entry + 8 } else { number(entry + 8, 4)? };
            let values = (0..count).map(|it| number(first + it * size, size));
            tags.insert(number(entry, 2)?, values.collect::<Option<Vec<usize>>>()?);
        }
        Some(Self(tags))
    }

    fn one(&self, tag: usize, default: usize) -> usize {
        self.0.get(&tag).and_then(|it| it.first()).copied().unwrap_or(default)
    }

    /// Colours, bits and filter of a strip with `$ROWS` rows.
    fn picture(&self) -> Option<String> {
        let (width, bits, samples) = (self.one(256, 0), self.one(258, 1), self.one(277, 1));
        let (compression, photometric) = (self.one(259, 1), self.one(262, 0));
        let colours = match (photometric, samples) {
            (0 | 1, 1) => "/ColorSpace /DeviceGray".to_owned(),
            (2, 3) => "/ColorSpace /DeviceRGB".to_owned(),
            (6, 3) if compression == 7 => "/ColorSpace /DeviceRGB".to_owned(),
            (3, 1) => self.palette(bits)?,
            _ => return None,
        };
        if !matches!(bits, 1 | 2 | 4 | 8) {
            return None;
        }
        let fax = |k: i32, aligned: bool| {
            format!(
                "/Filter /CCITTFaxDecode /DecodeParms << /K {k} /Columns {width} /Rows $ROWS \
                 /BlackIs1 {} /EncodedByteAlign {aligned} >>",
                photometric == 1
            )
        };
        let predicted = |filter: &str| {
            let predictor = self.one(317, 1);
            format!(
                "/Filter /{filter} /DecodeParms << /Predictor {predictor} /Colors {samples} \
                 /BitsPerComponent {bits} /Columns {width} >>"
            )
        };
        let filter = match compression {
            1 => String::new(),
            2 => fax(0, true),
            3 => fax((self.one(292, 0) & 1) as i32, self.one(292, 0) & 4 != 0),
            4 => fax(-1, false),
            5 => predicted("LZWDecode"),
            7 => "/Filter /DCTDecode".to_owned(),
            8 | 32_946 => predicted("FlateDecode"),
            32_773 => "/Filter /RunLengthDecode".to_owned(),
            _ => return None,
        };
        // In TIFF 0 may be white; fax data say so by their own parameter.
        let is_inverted = photometric == 0 && !matches!(compression, 2..=4);
        let decode = if is_inverted { "/Decode [1 0]" } else { "" };
        Some(format!("/Height $ROWS /BitsPerComponent {bits} {colours} {decode} {filter}"))
    }

    fn palette(&self, bits: usize) -> Option<String> {
        let map = self.0.get(&320)?;
        let count = 1_usize.checked_shl(u32::try_from(bits).ok()?)?;
        if bits > 8 || map.len() < count * 3 {
            return None;
        }
        let level = |at: usize| map[at] >> 8;
        let hex = (0..count).map(|it| {
            let [red, green, blue] = [it, count + it, 2 * count + it].map(level);
            format!("{red:02x}{green:02x}{blue:02x}")
        });
        Some(format!(
            "/ColorSpace [/Indexed /DeviceRGB {} <{}>]",
            count - 1,
            hex.collect::<String>()
        ))
    }
}

/// Objects of a PDF file; their numbers count from 1.
#[derive(Default)]
struct PdfWriter {
    objects: Vec<Vec<u8>>,
}

impl PdfWriter {
    fn add(&mut self, body: Vec<u8>) -> usize {
        self.objects.push(body);
        self.objects.len()
    }

    fn stream(&mut self, dict: &str, data: &[u8]) -> usize {
        let head = format!("<< {dict} /Length {} >>\nstream\n", data.len());
        self.add([head.as_bytes(), data, b"\nendstream"].concat())
    }

    fn finish(self, root: usize) -> Vec<u8> {
        let mut file = b"%PDF-1.4\n".to_vec();
        let mut table = String::new();
        for (at, body) in self.objects.iter().enumerate() {
            table.push_str(&format!("{:010} 00000 n \n", file.len()));
            file.extend(format!("{} 0 obj\n", at + 1).bytes());
            file.extend(body);
            file.extend(b"\nendobj\n");
        }
        let (start, size) = (file.len(), self.objects.len() + 1);
        let end = format!(
            "xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root {root} 0 R \
             >>\nstartxref\n{start}\n%%EOF\n"
        );
        file.extend(end.bytes());
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grey file of one page for each pair of sides, in strips of two rows.
    fn tiff(pages: &[(u32, u32)], photometric: u32) -> Vec<u8> {
        let mut file = b"II*\0\0\0\0\0".to_vec();
        let mut link = 4;
        for (wide, high) in pages {
            let data = file.len();
            file.extend(vec![0x80; (wide * high) as usize]);
            let strips: Vec<u32> = (0..high.div_ceil(2)).collect();
            let offsets = file.len();
            let put = |file: &mut Vec<u8>, it: u32| file.extend(it.to_le_bytes());
            strips.iter().for_each(|it| put(&mut file, data as u32 + it * 2 * wide));
            let counts = file.len();
            strips.iter().for_each(|it| put(&mut file, wide * 2_u32.min(high - it * 2)));
            let directory = file.len();
            file[link..link + 4].copy_from_slice(&(directory as u32).to_le_bytes());
            let many = strips.len() as u32;
            let tags = [
                (256, 1, *wide),
                (257, 1, *high),
                (258, 1, 8),
                (262, 1, photometric),
                (273, many, if many == 1 { data as u32 } else { offsets as u32 }),
                (278, 1, 2),
                (279, many, if many == 1 { wide * high } else { counts as u32 }),
            ];
            file.extend((tags.len() as u16).to_le_bytes());
            for (tag, count, value) in tags {
                file.extend((tag as u16).to_le_bytes());
                file.extend(4_u16.to_le_bytes());
                put(&mut file, count);
                put(&mut file, value);
            }
            link = file.len();
            put(&mut file, 0);
        }
        file
    }

    #[test]
    fn each_strip_is_a_picture_of_the_page() {
        let file = tiff(&[(10, 2), (20, 5)], 0);
        let pdf = page_as_pdf(&file, 1).unwrap();
        let pdf = String::from_utf8_lossy(&pdf);
        assert_eq!(pdf.matches("/Subtype /Image /Width 20").count(), 3, "{pdf}");
        assert_eq!(pdf.matches("/Decode [1 0]").count(), 3);
        assert!(pdf.contains("/MediaBox [0 0 20.0000 5.0000]"));
        assert!(pdf.contains("q 20.0000 0 0 1.0000 0 0.0000 cm /S2 Do Q"), "{pdf}");
        let first = page_as_pdf(&file, 0).unwrap();
        assert!(String::from_utf8_lossy(&first).contains("/Width 10 /Height 2"));
        assert!(page_as_pdf(&file, 2).is_none());
        assert!(page_as_pdf(&tiff(&[(10, 2)], 5), 0).is_none());
        assert!(page_as_pdf(b"II*\0\x08\0\0\0\xff\xff", 0).is_none());
        assert!(page_as_pdf(b"", 0).is_none());
    }

    #[test]
    fn a_chain_of_directories_that_loops_ends() {
        let mut file = tiff(&[(10, 2)], 1);
        let directory = file[4..8].to_vec();
        let end = file.len() - 4;
        file[end..].copy_from_slice(&directory);
        assert!(page_as_pdf(&file, 9).is_none());
    }
}
