//! Decrypts PDF files with the empty password, whose owner restricts printing and not reading, or
//! with a given user or owner password. RC4, AES-128 and AES-256 (revisions 2 to 6).

mod cipher;

use md5::{Digest, Md5};

use super::file::PdfFile;
use super::object::{Dict, Object};
use cipher::{aes_cbc, password_hash, rc4, unwrap_key};

/// What fills up a password of less than 32 bytes in revisions 2 to 4.
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
    /// Whether the method and the revision of an encryption dictionary are supported.
    pub(super) fn is_supported(file: &PdfFile<'_>, encrypt: &Dict) -> bool {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        matches!((number("V"), number("R")), (Some(1..=4), Some(2..=4)) | (Some(5), Some(5..=6)))
    }

    /// `None` if the password is neither the user's nor the owner's, or the encryption is not
    /// supported.
    pub(super) fn open(file: &PdfFile<'_>, encrypt: &Dict, password: &str) -> Option<Self> {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        match (number("V")?, number("R")?) {
            (version @ 1..=4, revision @ 2..=4) => {
                let input = Md5KeyInput::read(file, encrypt, version, revision)?;
                let forms = password_forms(password);
                forms
                    .iter()
                    .find_map(|it| input.open_as_user(it).or_else(|| input.open_as_owner(it)))
            }
            (5, revision @ 5..=6) => {
                let bytes = password.as_bytes();
                let bytes = &bytes[..bytes.len().min(crate::Password::BYTES_MAX)];
                Self::open_sha2(file, encrypt, revision, bytes)
            }
            _ => None,
        }
    }

    /// Revisions 5 and 6: the user and owner entries hold a hash of the password and two salts. The
    /// owner's hashes also cover the user entry.
    fn open_sha2(
        file: &PdfFile<'_>,
        encrypt: &Dict,
        revision: i64,
        password: &[u8],
    ) -> Option<Self> {
        let user = bytes_of(file, encrypt, "U")?;
        let user = user.get(..48)?;
        let owner = bytes_of(file, encrypt, "O").unwrap_or_default();
        let method = method(file, encrypt)?;
        for (entry, covered, key) in
            [(user, [].as_slice(), "UE"), (owner.get(..48).unwrap_or_default(), user, "OE")]
        {
            let Some((hash, salts)) = entry.split_at_checked(32) else { continue };
            let (validation_salt, key_salt) = salts.split_at(8);
            if password_hash(revision, password, validation_salt, covered) == *hash {
                let wrapped = bytes_of(file, encrypt, key)?;
                let hash = password_hash(revision, password, key_salt, covered);
                return Some(Self { key: unwrap_key(&hash, wrapped.get(..32)?), method });
            }
        }
        None
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

/// What the key of revisions 2 to 4 is derived from, besides the password.
struct Md5KeyInput {
    revision: i64,
    method: CipherMethod,
    /// Bytes of the key.
    length: usize,
    identity: Vec<u8>,
    permissions: [u8; 4],
    open_metadata: bool,
    owner: Vec<u8>,
    user: Vec<u8>,
}

impl Md5KeyInput {
    fn read(file: &PdfFile<'_>, encrypt: &Dict, version: i64, revision: i64) -> Option<Self> {
        let number = |key: &str| file.get(encrypt, key).and_then(|it| it.integer());
        let bits = if version == 4 { 128 } else { number("Length").unwrap_or(40) };
        let identity = match file.get(&file.trailer, "ID").as_deref() {
            Some(Object::Array(items)) => match items.first() {
                Some(Object::Text(bytes)) => bytes.clone(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let [a, b, c, d, ..] = number("P")?.to_le_bytes();
        Some(Self {
            revision,
            method: if version == 4 { method(file, encrypt)? } else { CipherMethod::Rc4 },
            length: if revision == 2 { 5 } else { usize::try_from(bits / 8).ok()?.clamp(5, 16) },
            identity,
            permissions: [a, b, c, d],
            open_metadata: file
                .get(encrypt, "EncryptMetadata")
                .is_some_and(|it| *it == Object::Bool(false)),
            owner: bytes_of(file, encrypt, "O")?.get(..32)?.to_vec(),
            user: bytes_of(file, encrypt, "U")?.get(..16)?.to_vec(),
        })
    }

    /// The key is a hash of the user password and of the file's identity.
    fn open_as_user(&self, password: &[u8]) -> Option<Decryptor> {
        let mut hash = Md5::new();
        hash.update(padded(password));
        hash.update(&self.owner);
        hash.update(self.permissions);
        hash.update(&self.identity);
        if self.revision >= 4 && self.open_metadata {
            hash.update([0xff; 4]);
        }
        let mut key = hash.finalize().to_vec();
        if self.revision >= 3 {
            for _ in 0..50 {
                key = Md5::digest(&key[..self.length]).to_vec();
            }
        }
        key.truncate(self.length);
        let is_right = user_entry_of(&key, self.revision, &self.identity) == self.user;
        is_right.then_some(Decryptor { key, method: self.method })
    }

    /// The owner entry is the user password, encrypted with the owner password.
    fn open_as_owner(&self, password: &[u8]) -> Option<Decryptor> {
        let mut key = Md5::digest(padded(password)).to_vec();
        let steps = if self.revision >= 3 { 19 } else { 0 };
        if self.revision >= 3 {
            for _ in 0..50 {
                key = Md5::digest(&key).to_vec();
            }
        }
        key.truncate(self.length);
        let mut user = self.owner.clone();
        for step in (0..=steps).rev() {
            let turned: Vec<u8> = key.iter().map(|it| it ^ step).collect();
            user = rc4(&turned, &user);
        }
        self.open_as_user(&user)
    }
}

/// The first 32 bytes of the password, filled up.
fn padded(password: &[u8]) -> [u8; 32] {
    let mut padded = [0; 32];
    let bytes = password.iter().chain(&PADDING);
    padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    padded
}

/// Programs before AES-256 write a password in Windows-1252, in the code page of the machine, or in
/// UTF-8.
fn password_forms(password: &str) -> Vec<Vec<u8>> {
    let encodings = [encoding_rs::WINDOWS_1252, encoding_rs::WINDOWS_1251, encoding_rs::UTF_8];
    let forms = encodings.map(|it| it.encode(password));
    let mut forms: Vec<Vec<u8>> =
        forms.into_iter().filter(|it| !it.2).map(|it| it.0.into_owned()).collect();
    forms.dedup();
    forms
}

fn bytes_of(file: &PdfFile<'_>, dict: &Dict, key: &str) -> Option<Vec<u8>> {
    match file.get(dict, key).as_deref() {
        Some(Object::Text(bytes)) => Some(bytes.clone()),
        _ => None,
    }
}

/// The first 16 bytes of the user entry if the key is right, in revisions 2 to 4.
fn user_entry_of(key: &[u8], revision: i64, identity: &[u8]) -> Vec<u8> {
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

    /// A file with one page whose text is encrypted with a key from a user password.
    fn locked(text: &str, password: &[u8], spoiled: bool) -> Vec<u8> {
        let owner = [7_u8; 32];
        let identity = [9_u8; 16];
        let permissions = -44_i32;
        let mut key = Md5::digest(
            [&padded(password)[..], &owner, &permissions.to_le_bytes(), &identity].concat(),
        )
        .to_vec();
        for _ in 0..50 {
            key = Md5::digest(&key[..16]).to_vec();
        }
        let mut user = user_entry_of(&key, 3, &identity);
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
        let open = locked("open to all", b"", false);
        assert_eq!(read(&open).pages[0].page.text, "open to all");
        let refused = read(&locked("open to all", b"", true));
        assert_eq!(refused.problems[0].code, crate::ProblemCode::PasswordRequired);
        assert!(refused.pages.is_empty());
    }

    #[test]
    fn a_password_opens_in_the_code_pages_of_its_time() {
        let cyrillic = encoding_rs::WINDOWS_1251.encode("пароль").0;
        for (written, given) in
            [(&b"secret"[..], "secret"), (b"caf\xe9", "café"), (&cyrillic, "пароль")]
        {
            let file = locked("for you", written, false);
            let password = crate::Password::new(given.to_owned());
            let mut builder = crate::DocumentBuilder::default();
            let limits = crate::ReadLimits::default();
            let mut emit = |event| builder.apply(event);
            crate::read_with_password(
                "a.pdf",
                &file,
                Some(&password),
                &limits,
                &crate::NoOcr,
                &mut emit,
            );
            assert_eq!(builder.finish().pages[0].page.text, "for you", "{given}");
        }
    }
}
