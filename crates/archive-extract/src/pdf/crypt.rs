//! Decrypts PDF files whose user password is empty: their owner restricts printing, not reading.
//! RC4, AES-128 and AES-256 (revisions 2 to 6). A file that needs a password is not opened.

mod cipher;

use md5::{Digest, Md5};

use super::file::PdfFile;
use super::object::{Dict, Object};
use cipher::{aes_cbc, password_hash, rc4, unwrap_key};

/// What takes the place of an empty password in revisions 2 to 4.
const PADDING: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum CipherMethod {
    Plain,
    Rc4,
    Aes128,
    Aes256,
}

/// Decrypts the streams of one file.
pub(super) struct Decryptor {
    key: Vec<u8>,
    method: CipherMethod,
}

impl Decryptor {
    /// `None` if the file needs a password or uses an unknown scheme.
    pub(super) fn open(file: &PdfFile<'_>, encrypt: &Dict) -> Option<Self> {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        match (number("V")?, number("R")?) {
            (version @ 1..=4, revision @ 2..=4) => Self::open_md5(file, encrypt, version, revision),
            (5, revision @ 5..=6) => Self::open_sha2(file, encrypt, revision),
            _ => None,
        }
    }

    /// Revisions 5 and 6: the user entry holds a hash of the password and two salts.
    fn open_sha2(file: &PdfFile<'_>, encrypt: &Dict, revision: i64) -> Option<Self> {
        let user = bytes_of(file, encrypt, "U")?;
        let (hash, salts) = user.get(..48)?.split_at(32);
        let (validation_salt, key_salt) = salts.split_at(8);
        if password_hash(revision, validation_salt) != *hash {
            return None;
        }
        let wrapped = bytes_of(file, encrypt, "UE")?;
        let key = unwrap_key(&password_hash(revision, key_salt), wrapped.get(..32)?);
        Some(Self { key, method: method(file, encrypt)? })
    }

    /// Revisions 2 to 4: the key is a hash of the password and of the file's identity.
    fn open_md5(file: &PdfFile<'_>, encrypt: &Dict, version: i64, revision: i64) -> Option<Self> {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        let method = if version == 4 { method(file, encrypt)? } else { CipherMethod::Rc4 };
        let bits = if version == 4 { 128 } else { number("Length").unwrap_or(40) };
        let length = if revision == 2 { 5 } else { usize::try_from(bits / 8).ok()?.clamp(5, 16) };
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
        hash.update(bytes_of(file, encrypt, "O")?.get(..32)?);
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
        let user = bytes_of(file, encrypt, "U")?;
        (check(&key, revision, &identity) == user.get(..16)?).then_some(Self { key, method })
    }

    /// The data of the stream of an object. AES-256 uses the file's key as it is; the older
    /// ciphers derive one for each object.
    pub(super) fn decrypt(&self, data: &[u8], number: u32, generation: u32) -> Vec<u8> {
        match self.method {
            CipherMethod::Plain => data.to_vec(),
            CipherMethod::Rc4 => rc4(&self.object_key(number, generation, b""), data),
            CipherMethod::Aes128 => aes_cbc(&self.object_key(number, generation, b"sAlT"), data),
            CipherMethod::Aes256 => aes_cbc(&self.key, data),
        }
    }

    fn object_key(&self, number: u32, generation: u32, salt: &[u8]) -> Vec<u8> {
        let mut hash = Md5::new();
        hash.update(&self.key);
        hash.update(&number.to_le_bytes()[..3]);
        hash.update(&generation.to_le_bytes()[..2]);
        hash.update(salt);
        hash.finalize()[..(self.key.len() + 5).min(16)].to_vec()
    }
}

fn bytes_of(file: &PdfFile<'_>, dict: &Dict, key: &str) -> Option<Vec<u8>> {
    match file.get(dict, key).as_deref() {
        Some(Object::Text(bytes)) => Some(bytes.clone()),
        _ => None,
    }
}

/// The first 16 bytes of the user entry if the key is right, in revisions 2 to 4.
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

fn method(file: &PdfFile<'_>, encrypt: &Dict) -> Option<CipherMethod> {
    let name = file.get(encrypt, "StmF");
    let name = name.as_deref().and_then(Object::name).unwrap_or("Identity");
    if name == "Identity" {
        return Some(CipherMethod::Plain);
    }
    let filters = file.get(encrypt, "CF")?;
    let filter = file.get(filters.dict()?, name)?;
    let method = file.get(filter.dict()?, "CFM")?;
    match method.name()? {
        "V2" => Some(CipherMethod::Rc4),
        "AESV2" => Some(CipherMethod::Aes128),
        "AESV3" => Some(CipherMethod::Aes256),
        "None" => Some(CipherMethod::Plain),
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
        let crypt = Decryptor { key, method: CipherMethod::Rc4 };
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
            crate::read_all("a.pdf", bytes, &crate::ReadLimits::default(), &crate::NoOcr)
        };
        assert_eq!(read(&locked("open to all", false)).pages[0].page.text, "open to all");
        let refused = read(&locked("open to all", true));
        assert_eq!(refused.problems[0].code, crate::ProblemCode::Encrypted);
        assert!(refused.pages.is_empty());
    }
}
