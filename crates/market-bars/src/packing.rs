//! The bytes of a chunk: variable-length integers and compressed number sequences. Reading checks
//! every length.

use pco::data_types::Number;
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

/// The bytes are not those of a valid chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// The caller encodes differences already, so the compressor does not search for any, which makes it
/// four times as fast. Levels above 4 do not make the chunks smaller.
fn compressor_config() -> ChunkConfig {
    ChunkConfig::default()
        .with_compression_level(4)
        .with_mode_spec(ModeSpec::Classic)
        .with_delta_spec(DeltaSpec::NoOp)
        .with_paging_spec(PagingSpec::EqualPagesUpTo(usize::from(u16::MAX)))
}

#[derive(Default)]
pub(crate) struct ByteWriter(pub(crate) Vec<u8>);

impl ByteWriter {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Writes seven bits per byte, the lowest first.
    pub(crate) fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Writes a zigzag-encoded number, so that small negative numbers are short.
    pub(crate) fn signed(&mut self, value: i64) {
        self.unsigned(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Fails only for a sequence longer than the compressor takes; chunks are far shorter.
    pub(crate) fn sequence<T: Number>(
        &mut self,
        values: &[T],
    ) -> Result<(), pco::errors::PcoError> {
        let packed = pco::standalone::simple_compress(values, &compressor_config())?;
        self.unsigned(packed.len() as u64);
        self.0.extend_from_slice(&packed);
        Ok(())
    }
}

pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(crate) fn byte(&mut self) -> Result<u8, Damaged> {
        let (&byte, rest) = self.0.split_first().ok_or(Damaged)?;
        self.0 = rest;
        Ok(byte)
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64, Damaged> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Damaged> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Damaged> {
        let length = usize::try_from(length).map_err(|_| Damaged)?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads exactly `count` numbers. Allocates for `count` and not for the length the bytes claim.
    pub(crate) fn sequence<T: Number>(&mut self, count: usize) -> Result<Vec<T>, Damaged> {
        let length = self.unsigned()?;
        let packed = self.take(length)?;
        let mut values = vec![T::default(); count];
        let progress = pco::standalone::simple_decompress_into(packed, &mut values);
        match progress {
            Ok(progress) if progress.finished && progress.n_processed == count => Ok(values),
            _ => Err(Damaged),
        }
    }
}
