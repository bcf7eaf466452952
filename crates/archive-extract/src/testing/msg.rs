//! Outlook messages, nested ones too.

use std::io::{Cursor, Write};

type File = cfb::CompoundFile<Cursor<Vec<u8>>>;

#[derive(Default)]
pub struct Msg<'a> {
    pub subject: &'a str,
    pub sender: &'a str,
    /// The type and the name of each recipient; type 1 is "to", 2 is "cc".
    pub recipients: Vec<(u32, &'a str)>,
    pub body: Body<'a>,
    /// Ticks of 100 ns since 1601.
    pub sent: u64,
    pub files: Vec<(&'a str, Vec<u8>)>,
    pub messages: Vec<Msg<'a>>,
}

#[derive(Default)]
pub enum Body<'a> {
    #[default]
    None,
    Wide(&'a str),
    /// A code page, and text in it.
    Narrow(u32, Vec<u8>),
    Rich(&'a str),
    /// Rich text that is compressed already.
    Packed(&'a [u8]),
    Html(&'a str),
}

fn stream(file: &mut File, path: &str, data: &[u8]) {
    file.create_stream(path).unwrap().write_all(data).unwrap();
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn row(tag: u32, value: u64) -> Vec<u8> {
    [tag.to_le_bytes(), 6_u32.to_le_bytes()]
        .concat()
        .into_iter()
        .chain(value.to_le_bytes())
        .collect()
}

/// Rich text in its compressed form, all of it literal.
pub fn packed(text: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for chunk in text.as_bytes().chunks(8) {
        body.push(0);
        body.extend(chunk);
    }
    let mut packed = (body.len() as u32 + 12).to_le_bytes().to_vec();
    packed.extend((text.len() as u32).to_le_bytes());
    packed.extend(b"LZFu\0\0\0\0");
    packed.extend(body);
    packed
}

impl Msg<'_> {
    pub fn finish(&self) -> Vec<u8> {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        self.write(&mut file, "/", 32);
        file.flush().unwrap();
        file.into_inner().into_inner()
    }

    fn write(&self, file: &mut File, at: &str, header: usize) {
        let mut rows = vec![0; header];
        if self.sent > 0 {
            rows.extend(row(0x0039_0040, self.sent));
        }
        stream(file, &format!("{at}__substg1.0_0037001F"), &wide(self.subject));
        stream(file, &format!("{at}__substg1.0_0C1A001F"), &wide(self.sender));
        match &self.body {
            Body::None => {}
            Body::Wide(text) => stream(file, &format!("{at}__substg1.0_1000001F"), &wide(text)),
            Body::Narrow(page, text) => {
                rows.extend(row(0x3ffd_0003, u64::from(*page)));
                stream(file, &format!("{at}__substg1.0_1000001E"), text);
            }
            Body::Rich(text) => {
                stream(file, &format!("{at}__substg1.0_10090102"), &packed(text));
            }
            Body::Packed(data) => stream(file, &format!("{at}__substg1.0_10090102"), data),
            Body::Html(text) => {
                stream(file, &format!("{at}__substg1.0_10130102"), text.as_bytes());
            }
        }
        stream(file, &format!("{at}__properties_version1.0"), &rows);
        for (index, (kind, name)) in self.recipients.iter().enumerate() {
            let at = format!("{at}__recip_version1.0_#{index:08X}/");
            file.create_storage(&at).unwrap();
            let rows = [vec![0; 8], row(0x0c15_0003, u64::from(*kind))].concat();
            stream(file, &format!("{at}__properties_version1.0"), &rows);
            stream(file, &format!("{at}__substg1.0_3001001F"), &wide(name));
        }
        for (index, (name, data)) in self.files.iter().enumerate() {
            let at = format!("{at}__attach_version1.0_#{index:08X}/");
            file.create_storage(&at).unwrap();
            stream(file, &format!("{at}__properties_version1.0"), &[0; 8]);
            stream(file, &format!("{at}__substg1.0_3707001F"), &wide(name));
            stream(file, &format!("{at}__substg1.0_37010102"), data);
        }
        for (index, message) in self.messages.iter().enumerate() {
            let at = format!("{at}__attach_version1.0_#{:08X}/", 100 + index);
            file.create_storage(&at).unwrap();
            stream(file, &format!("{at}__properties_version1.0"), &[0; 8]);
            stream(file, &format!("{at}__substg1.0_3001001F"), &wide(message.subject));
            let inner = format!("{at}__substg1.0_3701000D/");
            file.create_storage(&inner).unwrap();
            message.write(file, &inner, 24);
        }
    }
}
