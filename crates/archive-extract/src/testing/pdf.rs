//! PDF files: objects, a table, and pages of lines.

#[derive(Default)]
pub struct Pdf {
    pub objects: Vec<Vec<u8>>,
}

impl Pdf {
    /// Adds an object; its number.
    pub fn add(&mut self, body: impl Into<Vec<u8>>) -> usize {
        self.objects.push(body.into());
        self.objects.len()
    }

    pub fn stream(&mut self, dict: &str, data: &[u8]) -> usize {
        let mut body = format!("<< {dict} /Length {} >>\nstream\n", data.len()).into_bytes();
        body.extend(data);
        body.extend(b"\nendstream");
        self.add(body)
    }

    /// The file, with `extra` in its trailer.
    pub fn finish(&self, root: usize, extra: &str) -> Vec<u8> {
        let mut file = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut places = Vec::new();
        for (index, body) in self.objects.iter().enumerate() {
            places.push(file.len());
            file.extend(format!("{} 0 obj\n", index + 1).bytes());
            file.extend(body);
            file.extend(b"\nendobj\n");
        }
        let at = file.len();
        file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).bytes());
        for place in &places {
            file.extend(format!("{place:010} 00000 n \n").bytes());
        }
        let size = places.len() + 1;
        file.extend(
            format!(
                "trailer\n<< /Size {size} /Root {root} 0 R {extra} >>\nstartxref\n{at}\n%%EOF\n"
            )
            .bytes(),
        );
        file
    }
}

/// Operators that draw lines in font F1 from the top of the page.
pub fn lines(text: &str) -> Vec<u8> {
    let mut content = b"BT /F1 12 Tf 14 TL 72 720 Td\n".to_vec();
    for line in text.lines() {
        content.push(b'(');
        for it in encoding_rs::WINDOWS_1252.encode(line).0.iter() {
            if b"()\\".contains(it) {
                content.push(b'\\');
            }
            content.push(*it);
        }
        content.extend(b") Tj T*\n");
    }
    content.extend(b"ET\n");
    content
}

/// A file whose pages have these contents and share these resources.
pub fn pages(contents: &[Vec<u8>], resources: &str, packed: bool) -> Vec<u8> {
    let mut pdf = Pdf::default();
    pages_into(&mut pdf, contents, resources, packed)
}

pub fn pages_into(pdf: &mut Pdf, contents: &[Vec<u8>], resources: &str, packed: bool) -> Vec<u8> {
    let first = pdf.objects.len() + 1;
    let tree = first + contents.len() * 2;
    let mut kids = String::new();
    for content in contents {
        let stream = if packed {
            pdf.stream("/Filter /FlateDecode", &super::zlib(content))
        } else {
            pdf.stream("", content)
        };
        let [left, bottom, right, top] = page_box(content);
        let page = pdf.add(format!(
            "<< /Type /Page /Parent {tree} 0 R /MediaBox [{left} {bottom} {right} {top}] \
             /Contents {stream} 0 R >>"
        ));
        kids.push_str(&format!("{page} 0 R "));
    }
    let count = contents.len();
    let tree = pdf.add(format!(
        "<< /Type /Pages /Kids [{kids}] /Count {count} /Resources << {resources} >> >>"
    ));
    let root = pdf.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    pdf.finish(root, "")
}

/// A page of US letter size, or one that has room for all that [`lines`] drew.
fn page_box(content: &[u8]) -> [i64; 4] {
    if !content.starts_with(b"BT /F1 12 Tf 14 TL") {
        return [0, 0, 612, 792];
    }
    let lines = content.split(|it| *it == b'\n');
    let longest = lines.clone().map(<[u8]>::len).max().unwrap_or(0) as i64;
    [0, (700 - 14 * lines.count() as i64).min(0), (72 + 12 * longest).max(612), 792]
}

pub const HELVETICA: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>";

/// A file with one page for each text.
pub fn text(texts: &[&str]) -> Vec<u8> {
    let contents: Vec<Vec<u8>> = texts.iter().map(|it| lines(it)).collect();
    pages(&contents, HELVETICA, true)
}
