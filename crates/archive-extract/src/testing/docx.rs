//! ZIP archives and DOCX packages.

use super::deflate;

/// An archive of deflated entries.
pub fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let packed: Vec<(&str, Vec<u8>, usize)> =
        entries.iter().map(|(name, data)| (*name, deflate(data), data.len())).collect();
    zip_packed(&packed)
}

pub fn zip_packed(entries: &[(&str, Vec<u8>, usize)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for (name, packed, size) in entries {
        let at = file.len() as u32;
        let mut shared = Vec::new();
        for word in [20_u16, 0, 8, 0, 0] {
            shared.extend(word.to_le_bytes());
        }
        for word in [0_u32, packed.len() as u32, *size as u32] {
            shared.extend(word.to_le_bytes());
        }
        shared.extend((name.len() as u16).to_le_bytes());
        shared.extend(0_u16.to_le_bytes());
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
    let at = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

pub fn document(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><w:document xmlns:w=\"w\" xmlns:mc=\"mc\"><w:body>{body}</w:body></w:document>"
    )
}

/// A package with this body and these other parts.
pub fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let main = document(body);
    let mut entries: Vec<(&str, &[u8])> =
        vec![("[Content_Types].xml", b"<Types/>"), ("word/document.xml", main.as_bytes())];
    entries.extend(parts.iter().map(|(name, data)| (*name, data.as_bytes())));
    zip(&entries)
}

pub fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}
