//! Files encrypted so that anyone may read them but not everyone may print: the key comes from the
//! empty password. Files that need a password, and the newest scheme (AES-256), are not opened.

mod cipher;

use md5::{Digest, Md5};

use super::file::File;
use super::object::{Dict, Object};
use cipher::{aes_128_cbc, rc4};

const PADDING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Method {
    Plain,
    Rc4,
    Aes,
}

/// What decrypts a file's streams.
pub(super) struct Crypt {
    key: Vec<u8>,
    method: Method,
}

impl Crypt {
    /// Nothing, if the file needs a password or a scheme that is not known.
    pub(super) fn open(file: &File<'_>, encrypt: &Dict) -> Option<Self> {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        let (version, revision) = (number("V")?, number("R")?);
        if !(1..=4).contains(&version) || !(2..=4).contains(&revision) {
            return None;
        }
        let method = if version == 4 { method(file, encrypt)? } else { Method::Rc4 };
        let bits = if version == 4 { 128 } else { number("Length").unwrap_or(40) };
        let length = if revision == 2 { 5 } else { usize::try_from(bits / 8).ok()?.clamp(5, 16) };
        let bytes = |key: &str| match file.get(encrypt, key).as_deref() {
            Some(Object::Text(bytes)) => Some(bytes.clone()),
            _ => None,
        };
        let identity = match file.get(&file.trailer, "ID").as_deref() {
            Some(Object::Array(items)) => match items.first() {
                Some(Object::Text(bytes)) => bytes.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let permissions = number("P")?.to_le_bytes();
        let open_metadata =
            file.get(encrypt, "EncryptMetadata").is_some_and(|it| *it == Object::Bool(false));
        let mut hash = Md5::new();
        hash.update(PADDING);
        hash.update(bytes("O")?.get(..32)?);
        hash.update(&permissions[..4]);
        hash.update(&identity);
        if revision >= 4 && open_metadata {
            hash.update([0xff; 4]);
        }
        let mut key = hash.finalize().to_vec();
        if revision >= 3 {
            for _ in 0..50 {
                key = Md5::digest(&key[..length]).to_vec();
            }
        }
        key.truncate(length);
        (check(&key, revision, &identity) == bytes("U")?.get(..16)?).then_some(Self { key, method })
    }

    /// The data of the stream of an object.
    pub(super) fn decrypt(&self, data: &[u8], number: u32, generation: u32) -> Vec<u8> {
        let mut hash = Md5::new();
        hash.update(&self.key);
        hash.update(&number.to_le_bytes()[..3]);
        hash.update(&generation.to_le_bytes()[..2]);
        if self.method == Method::Aes {
            hash.update(b"sAlT");
        }
        let key = hash.finalize();
        let key = &key[..(self.key.len() + 5).min(16)];
        match self.method {
            Method::Plain => data.to_vec(),
            Method::Rc4 => rc4(key, data),
            Method::Aes => aes_128_cbc(key, data),
        }
    }
}

/// What the file must say if the key is right: its first 16 bytes.
fn check(key: &[u8], revision: i64, identity: &[u8]) -> Vec<u8> {
    if revision == 2 {
        let mut check = rc4(key, &PADDING);
        check.truncate(16);
        return check;
    }
    let mut hash = Md5::new();
    hash.update(PADDING);
    hash.update(identity);
    let mut check = rc4(key, &hash.finalize());
    for step in 1..=19 {
        let turned: Vec<u8> = key.iter().map(|it| it ^ step).collect();
        check = rc4(&turned, &check);
    }
    check
}

fn method(file: &File<'_>, encrypt: &Dict) -> Option<Method> {
    let name = file.get(encrypt, "StmF");
    let name = name.as_deref().and_then(Object::name).unwrap_or("Identity");
    if name == "Identity" {
        return Some(Method::Plain);
    }
    let filters = file.get(encrypt, "CF")?;
    let filter = file.get(filters.dict()?, name)?;
    let method = file.get(filter.dict()?, "CFM")?;
    match method.name()? {
        "V2" => Some(Method::Rc4),
        "AESV2" => Some(Method::Aes),
        "None" => Some(Method::Plain),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one page whose text is encrypted with a key from the empty password.
    fn locked(text: &str, spoiled: bool) -> Vec<u8> {
        let owner = [7_u8; 32];
        let identity = [9_u8; 16];
        let permissions = -44_i32;
        let mut key =
            Md5::digest([&PADDING[..], &owner, &permissions.to_le_bytes(), &identity].concat())
                .to_vec();
        for _ in 0..50 {
            key = Md5::digest(&key[..16]).to_vec();
        }
        let mut user = check(&key, 3, &identity);
        user[0] ^= u8::from(spoiled);
        let crypt = Crypt { key, method: Method::Rc4 };
        let content = format!("BT /F 9 Tf 9 9 Td ({text}) Tj ET");
        let data = crypt.decrypt(content.as_bytes(), 3, 0);
        let hex = |it: &[u8]| it.iter().map(|it| format!("{it:02x}")).collect::<String>();
        let mut file = format!(
            "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages << /Kids [2 0 R] >> >> endobj\n\
             2 0 obj << /Type /Page /Contents 3 0 R /Resources << /Font << /F << /Subtype /Type1 >> >> >> >> endobj\n\
             trailer << /Root 1 0 R /ID [<{}>] /Encrypt << /V 2 /R 3 /Length 128 /P {permissions} /O <{}> /U <{}> >> >>\n\
             3 0 obj << /Length {} >>\nstream\n",
            hex(&identity),
            hex(&owner),
            hex(&user),
            data.len()
        )
        .into_bytes();
        file.extend(data);
        file.extend(b"\nendstream endobj\n");
        file
    }

    #[test]
    fn the_empty_password_opens_what_it_locked() {
        let read = |bytes: &[u8]| {
            crate::read_all("a.pdf", bytes, &crate::Limits::default(), &crate::NoOcr)
        };
        assert_eq!(read(&locked("open to all", false)).pages[0].page.text, "open to all");
        let refused = read(&locked("open to all", true));
        assert_eq!(refused.problems[0].code, crate::Code::Encrypted);
        assert!(refused.pages.is_empty());
    }
}
