//! Papers as files: PDF with a text layer, DOCX, e-mail with an attachment. Only what a file needs.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

use crate::Outcome;

/// Characters in a line and lines on a page of a PDF, in a font of eleven points.
const LINE: usize = 88;
pub(crate) const LINES: usize = 46;

/// The paper's lines as they would stand on paper.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_inclusive(' ') {
            if line.len() + word.len() > LINE {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A file with these lines, a fixed number on each page.
pub(crate) fn pdf(lines: &[String]) -> Outcome<Vec<u8>> {
    let pages: Vec<&[String]> = lines.chunks(LINES).collect();
    let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    // The first three objects are the catalogue, the tree and the font; then two for each page.
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    let tree = format!("<< /Type /Pages /Count {} /Kids [{}] >>", pages.len(), kids.join(" "));
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    for body in ["<< /Type /Catalog /Pages 2 0 R >>", &tree, font] {
        object(&mut file, &mut places, body.as_bytes())?;
    }
    for page in pages {
        let stream = places.len() + 2;
        let head = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {stream} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        );
        object(&mut file, &mut places, head.as_bytes())?;
        let packed = zlib(&drawn(page))?;
        let mut body =
            format!("<< /Filter /FlateDecode /Length {} >>\nstream\n", packed.len()).into_bytes();
        body.extend(packed);
        body.extend(b"\nendstream");
        object(&mut file, &mut places, &body)?;
    }
    let (at, size) = (file.len(), places.len() + 1);
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n")?;
    for place in places {
        writeln!(file, "{place:010} 00000 n ")?;
    }
    write!(file, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n")?;
    Ok(file)
}

fn object(file: &mut Vec<u8>, places: &mut Vec<usize>, body: &[u8]) -> Outcome<()> {
    places.push(file.len());
    writeln!(file, "{} 0 obj", places.len())?;
    file.extend_from_slice(body);
    file.extend_from_slice(b"\nendobj\n");
    Ok(())
}

/// Operators that draw the lines from the top of the page.
fn drawn(lines: &[String]) -> Vec<u8> {
    let mut content = b"BT /F1 11 Tf 14 TL 72 730 Td\n".to_vec();
    for line in lines {
        content.push(b'(');
        for byte in line.bytes() {
            if b"()\\".contains(&byte) {
                content.push(b'\\');
            }
            content.push(byte);
        }
        content.extend_from_slice(b") Tj T*\n");
    }
    content.extend_from_slice(b"ET\n");
    content
}

/// A Word document with a paragraph for each line.
pub(crate) fn docx(text: &str) -> Outcome<Vec<u8>> {
    let mut body = String::new();
    for line in text.lines() {
        let line = line.replace('&', "&amp;").replace('<', "&lt;");
        body.push_str(&format!("<w:p><w:r><w:t xml:space=\"preserve\">{line}</w:t></w:r></w:p>"));
    }
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><w:document \
         xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:body>{body}</w:body></w:document>"
    );
    let types = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Types \
        xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
        <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
        <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/>\
        </Types>";
    let relations = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Relationships \
        xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
        Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
        Target=\"word/document.xml\"/></Relationships>";
    zip(&[
        ("[Content_Types].xml", types),
        ("_rels/.rels", relations),
        ("word/document.xml", &document),
    ])
}

fn zip(entries: &[(&str, &str)]) -> Outcome<Vec<u8>> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let at = u32::try_from(file.len())?;
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
        packer.write_all(content.as_bytes())?;
        let packed = packer.finish()?;
        let mut sum = flate2::Crc::new();
        sum.update(content.as_bytes());
        // Version, flags, deflated, time, date; then what was packed, and the name.
        let mut shared: Vec<u8> =
            [20_u16, 0, 8, 0, 33].iter().flat_map(|it| it.to_le_bytes()).collect();
        for number in [sum.sum(), u32::try_from(packed.len())?, u32::try_from(content.len())?] {
            shared.extend(number.to_le_bytes());
        }
        shared.extend(u16::try_from(name.len())?.to_le_bytes());
        shared.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&shared);
        file.extend(name.as_bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&shared);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, count) = (u32::try_from(file.len())?, u16::try_from(entries.len())?.to_le_bytes());
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count);
    file.extend(count);
    file.extend(u32::try_from(directory.len())?.to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    Ok(file)
}

/// A message with the text as its body and one file attached.
pub(crate) fn eml(text: &str, name: &str, attached: &[u8]) -> Vec<u8> {
    let encoded = STANDARD.encode(attached);
    let rows: Vec<&str> = (0..encoded.len())
        .step_by(76)
        .filter_map(|at| encoded.get(at..encoded.len().min(at + 76)))
        .collect();
    format!(
        "From: Ada Harlow <ada@example.org>\r\nTo: Boris Quayle <boris@example.org>\r\n\
         Subject: The papers\r\nDate: Mon, 4 Mar 2024 10:15:00 +0000\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"part\"\r\n\r\n\
         --part\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{}\r\n\
         --part\r\nContent-Type: application/octet-stream\r\n\
         Content-Disposition: attachment; filename=\"{name}\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n--part--\r\n",
        text.replace('\n', "\r\n"),
        rows.join("\r\n"),
    )
    .into_bytes()
}

fn zlib(content: &[u8]) -> Outcome<Vec<u8>> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(content)?;
    Ok(packer.finish()?)
}
