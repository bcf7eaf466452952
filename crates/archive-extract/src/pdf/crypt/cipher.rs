//! The ciphers of encrypted PDF files and the key hash of AES-256 files, for reading only.

use aes::cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit,
    KeyIvInit, StreamCipher,
};
use aes::{Aes128, Aes256};
use rc4::Rc4;
use sha2::{Digest, Sha256, Sha384, Sha512};

const BLOCK: usize = 16;
/// How often a round of the key hash repeats the hash before it.
const REPEATS: usize = 64;

/// Decrypts with RC4; nothing for a key that RC4 does not take.
pub(super) fn rc4(key: &[u8], data: &[u8]) -> Vec<u8> {
    let Ok(mut cipher) = Rc4::new_from_slice(key) else { return Vec::new() };
    let mut data = data.to_vec();
    cipher.apply_keystream(&mut data);
    data
}

/// Decrypts a stream with AES-128 or AES-256, by the length of the key. The first block of the
/// data is the initialization vector. Writers are careless about the end: an incomplete last
/// block is dropped, and padding that is none stays.
pub(super) fn aes_cbc(key: &[u8], data: &[u8]) -> Vec<u8> {
    let Some((iv, data)) = data.split_at_checked(BLOCK) else { return Vec::new() };
    let mut plain = match key.len() {
        16 => decrypt::<Aes128>(key, iv, data),
        32 => decrypt::<Aes256>(key, iv, data),
        _ => return Vec::new(),
    };
    let padding = plain.last().map_or(0, |it| usize::from(*it));
    if (1..=BLOCK).contains(&padding) {
        plain.truncate(plain.len() - padding);
    }
    plain
}

/// Decrypts the key of a file, which has no padding and a zero vector.
pub(super) fn unwrap_key(key: &[u8], wrapped: &[u8]) -> Vec<u8> {
    decrypt::<Aes256>(key, &[0; BLOCK], wrapped)
}

fn decrypt<C: BlockCipherDecrypt + KeyInit>(key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
    let Ok(mut cipher) = cbc::Decryptor::<C>::new_from_slices(key, iv) else { return Vec::new() };
    let mut data = data.to_vec();
    data.truncate(data.len() - data.len() % BLOCK);
    cipher.decrypt_blocks(Array::slice_as_chunks_mut(&mut data).0);
    data
}

fn encrypt<C: BlockCipherEncrypt + KeyInit>(key: &[u8], iv: &[u8], data: &mut [u8]) {
    if let Ok(mut cipher) = cbc::Encryptor::<C>::new_from_slices(key, iv) {
        cipher.encrypt_blocks(Array::slice_as_chunks_mut(data).0);
    }
}

/// The hash of a password with a salt and, for the owner's, the user entry: plain SHA-256 in revision
/// 5, and algorithm 2.B of ISO 32000-2 in revision 6. That algorithm ends after 64 to 287 rounds.
pub(super) fn password_hash(
    revision: i64,
    password: &[u8],
    salt: &[u8],
    covered: &[u8],
) -> [u8; 32] {
    let mut hash = Sha256::digest([password, salt, covered].concat()).to_vec();
    let mut last = u8::MAX;
    let mut round = 0_usize;
    while revision > 5 && (round < 64 || usize::from(last) + 32 > round) {
        let (key, iv) = (hash[..16].to_vec(), hash[16..32].to_vec());
        let mut data = [password, &hash, covered].concat().repeat(REPEATS);
        encrypt::<Aes128>(&key, &iv, &mut data);
        // 256 is 1 modulo 3, so the number modulo 3 is the sum of its bytes modulo 3.
        let remainder = data[..BLOCK].iter().map(|it| u32::from(*it)).sum::<u32>() % 3;
        hash = match remainder {
            0 => Sha256::digest(&data).to_vec(),
            1 => Sha384::digest(&data).to_vec(),
            _ => Sha512::digest(&data).to_vec(),
        };
        last = data.last().copied().unwrap_or_default();
        round += 1;
    }
    let mut out = [0; 32];
    out.copy_from_slice(&hash[..32]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_examples_hold() {
        assert_eq!(
            rc4(b"Key", b"Plaintext"),
            [0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3]
        );
        // FIPS 197, appendix C.1; one block with a zero vector is the block cipher itself.
        let key: [u8; 16] = std::array::from_fn(|it| it as u8);
        let block = [
            0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4,
            0xc5, 0x5a,
        ];
        let plain: [u8; 16] = std::array::from_fn(|it| (it * 0x11) as u8);
        assert_eq!(decrypt::<Aes128>(&key, &[0; 16], &block), plain);
    }

    #[test]
    fn short_data_and_wrong_keys_give_nothing() {
        assert_eq!(aes_cbc(&[0; 16], &[1; 15]), b"");
        assert_eq!(aes_cbc(&[0; 5], &[1; 64]), b"");
        assert!(aes_cbc(&[0; 16], &[1; 40]).len() <= 16);
        assert_eq!(rc4(&[], b"a"), b"");
    }
}
