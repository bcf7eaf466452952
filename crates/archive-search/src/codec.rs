//! Writes and reads the blobs of the index: unsigned numbers with seven bits in each byte, the low
//! bits first, and byte strings after their length.

use fault::Fault;

pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads a blob from its start. A blob that ends too early is a fault: the database is damaged.
pub(crate) struct BlobCursor<'a>(&'a [u8]);

impl<'a> BlobCursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, Fault> {
        let (mut number, mut shift) = (0_u64, 0_u32);
        for (at, &byte) in self.0.iter().enumerate() {
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Ok(number);
            }
            shift += 7;
            if shift > 63 {
                break;
            }
        }
        Err(damaged_blob())
    }

    /// Reads a number of at most 32 bits.
    #[inline]
    pub(crate) fn number_u32(&mut self) -> Result<u32, Fault> {
        u32::try_from(self.number()?).map_err(|_| damaged_blob())
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(damaged_blob)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.number()?;
        self.take(usize::try_from(count).map_err(|_| damaged_blob())?)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Fault> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged_blob())
    }

    /// Skips numbers and returns their bytes.
    pub(crate) fn skip(&mut self, numbers: u32) -> Result<&'a [u8], Fault> {
        let (mut left, mut at) = (numbers, 0);
        while left > 0 {
            left -= u32::from(*self.0.get(at).ok_or_else(damaged_blob)? < 0x80);
            at += 1;
        }
        self.take(at)
    }
}

pub(crate) fn damaged_blob() -> Fault {
    Fault::internal("a blob of the search index is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX];
        let mut out = Vec::new();
        numbers.iter().for_each(|&it| put_number(&mut out, it));
        put_bytes(&mut out, "ж".as_bytes());
        let mut cursor = BlobCursor::new(&out);
        for number in numbers {
            assert_eq!(cursor.number().unwrap(), number);
        }
        assert_eq!(cursor.text().unwrap(), "ж");
        assert!(cursor.is_empty() && cursor.number().is_err());
        assert!(BlobCursor::new(&[0xff; 20]).number().is_err());
        assert!(BlobCursor::new(&[5, 1]).bytes().is_err());
        assert!(BlobCursor::new(&[0x80]).skip(1).is_err());
    }
}
