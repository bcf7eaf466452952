//! The two ciphers of older PDF files, for reading only: nothing is protected with them here.

pub(super) fn rc4(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut state: [u8; 256] = std::array::from_fn(|it| (it & 0xff) as u8);
    let mut other = 0_u8;
    for at in 0..256 {
        other = other.wrapping_add(state[at]).wrapping_add(key[at % key.len()]);
        state.swap(at, usize::from(other));
    }
    let (mut at, mut other) = (0_u8, 0_u8);
    data.iter()
        .map(|it| {
            at = at.wrapping_add(1);
            other = other.wrapping_add(state[usize::from(at)]);
            state.swap(usize::from(at), usize::from(other));
            let sum = state[usize::from(at)].wrapping_add(state[usize::from(other)]);
            it ^ state[usize::from(sum)]
        })
        .collect()
}

/// The first block of the data is the vector; the last byte says how much is padding.
pub(super) fn aes_128_cbc(key: &[u8], data: &[u8]) -> Vec<u8> {
    let Ok(key) = <[u8; 16]>::try_from(key) else { return Vec::new() };
    let aes = Aes::new(key);
    let mut out = Vec::with_capacity(data.len());
    for (above, block) in data.chunks_exact(16).zip(data.chunks_exact(16).skip(1)) {
        let mut plain = [0; 16];
        plain.copy_from_slice(block);
        aes.decrypt(&mut plain);
        out.extend(plain.iter().zip(above).map(|(a, b)| a ^ b));
    }
    let padding = out.last().map_or(0, |it| usize::from(*it));
    if (1..=16).contains(&padding) {
        out.truncate(out.len() - padding);
    }
    out
}

struct Aes {
    inverse: [u8; 256],
    keys: [[u8; 16]; 11],
}

/// Product in the field of AES.
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

fn boxes() -> ([u8; 256], [u8; 256]) {
    let (mut forward, mut inverse) = ([0; 256], [0; 256]);
    let (mut power, mut reciprocal) = (1_u8, 1_u8);
    loop {
        // Three generates the field, and its inverse undoes it, so both walk together.
        power = times(power, 3);
        reciprocal = times(reciprocal, 0xf6);
        let turned = (1..5).fold(reciprocal, |sum, by| sum ^ reciprocal.rotate_left(by)) ^ 0x63;
        forward[usize::from(power)] = turned;
        inverse[usize::from(turned)] = power;
        if power == 1 {
            break;
        }
    }
    forward[0] = 0x63;
    inverse[0x63] = 0;
    (forward, inverse)
}

impl Aes {
    fn new(key: [u8; 16]) -> Self {
        let (forward, inverse) = boxes();
        let mut keys = [key; 11];
        let mut round = 1_u8;
        for at in 1..11 {
            let before = keys[at - 1];
            let mut word = [before[13], before[14], before[15], before[12]];
            word.iter_mut().for_each(|it| *it = forward[usize::from(*it)]);
            word[0] ^= round;
            round = times(round, 2);
            for byte in 0..16 {
                let left = if byte < 4 { word[byte] } else { keys[at][byte - 4] };
                keys[at][byte] = before[byte] ^ left;
            }
        }
        Self { inverse, keys }
    }

    fn decrypt(&self, block: &mut [u8; 16]) {
        let add = |block: &mut [u8; 16], key: &[u8; 16]| {
            block.iter_mut().zip(key).for_each(|(a, b)| *a ^= b);
        };
        add(block, &self.keys[10]);
        for round in (0..10).rev() {
            let from = *block;
            for (at, byte) in block.iter_mut().enumerate() {
                // Row r was shifted left by r columns.
                let source = (at + 16 - 4 * (at % 4)) % 16;
                *byte = self.inverse[usize::from(from[source])];
            }
            add(block, &self.keys[round]);
            if round > 0 {
                for column in block.chunks_exact_mut(4) {
                    let from = [column[0], column[1], column[2], column[3]];
                    for (row, to) in column.iter_mut().enumerate() {
                        *to = (0..4).fold(0, |sum, it| {
                            sum ^ times(from[(row + it) % 4], [14, 11, 13, 9][it])
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_examples_hold() {
        assert_eq!(
            rc4(b"Key", b"Plaintext"),
            [0xbb, 0xf3, 0x16, 0xe8, 0xd9, 0x40, 0xaf, 0x0a, 0xd3]
        );
        // FIPS 197, appendix C.1.
        let key: [u8; 16] = std::array::from_fn(|it| it as u8);
        let mut block = [
            0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4,
            0xc5, 0x5a,
        ];
        Aes::new(key).decrypt(&mut block);
        let plain: [u8; 16] = std::array::from_fn(|it| (it * 0x11) as u8);
        assert_eq!(block, plain);
    }

    #[test]
    fn padding_and_vector_are_taken_off() {
        assert_eq!(aes_128_cbc(&[0; 16], &[1; 15]), b"");
        assert_eq!(aes_128_cbc(&[0; 5], &[1; 64]), b"");
        assert_eq!(aes_128_cbc(&[0; 16], &[1; 40]).len() / 17, 0);
    }
}
