//! Reads the entries of a ZIP archive by its central directory, each within bounds.
//! It does not read ZIP64, which no document within the size limit needs.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::context::{ReadContext, ReadResult};
use crate::{ProblemCode, ReadProblem};

/// Below this an entry may be as compressible as it likes.
const RATIO_FREE: u64 = 8 << 20;

pub(crate) struct ZipEntry {
    pub(crate) name: String,
    method: u16,
    encrypted: bool,
    packed: usize,
    header: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?);
    usize::try_from(word).ok()
}

/// At most `max` entries of the archive; `None` if its directory is missing.
pub(crate) fn entries(bytes: &[u8], max: usize) -> Option<Vec<ZipEntry>> {
    let from = bytes.len().saturating_sub(66_000);
    let end = bytes[from..].windows(4).rposition(|it| it == b"PK\x05\x06")? + from;
    let mut at = u32_at(bytes, end + 16)?;
    let mut entries = Vec::new();
    while entries.len() < max && bytes.get(at..at + 4)? == b"PK\x01\x02" {
        let name_len = usize::from(u16_at(bytes, at + 28)?);
        let extra = usize::from(u16_at(bytes, at + 30)?) + usize::from(u16_at(bytes, at + 32)?);
        let name = bytes.get(at + 46..at + 46 + name_len)?;
        entries.push(ZipEntry {
            name: String::from_utf8_lossy(name).replace('\\', "/"),
            method: u16_at(bytes, at + 10)?,
            encrypted: u16_at(bytes, at + 8)? & 1 != 0,
            packed: u32_at(bytes, at + 20)?,
            header: u32_at(bytes, at + 42)?,
        });
        at += 46 + name_len + extra;
    }
    Some(entries)
}

/// Unpacks one entry; limits on its ratio and its size stop decompression bombs.
pub(crate) fn unpack(
    context: &mut ReadContext<'_>,
    bytes: &[u8],
    entry: &ZipEntry,
) -> ReadResult<Vec<u8>> {
    if entry.encrypted {
        return Err(ReadProblem::new(
            ProblemCode::Encrypted,
            "the archive is encrypted; remove the password",
        ));
    }
    let cut = || ReadProblem::new(ProblemCode::Truncated, "the file is cut short; send it again");
    let name_len = usize::from(u16_at(bytes, entry.header + 26).ok_or_else(cut)?);
    let extra_len = usize::from(u16_at(bytes, entry.header + 28).ok_or_else(cut)?);
    let start = entry.header + 30 + name_len + extra_len;
    let packed = bytes.get(start..start.saturating_add(entry.packed)).ok_or_else(cut)?;
    let by_ratio = (packed.len() as u64).saturating_mul(context.limits.ratio).max(RATIO_FREE);
    let max = context.stream_max().min(usize::try_from(by_ratio).unwrap_or(usize::MAX));
    let (data, whole) = match entry.method {
        0 => (packed.to_vec(), true),
        8 => inflate(packed, false, max),
        _ => {
            return Err(ReadProblem::new(
                ProblemCode::Unsupported,
                "the archive uses a compression that Word does not; save the file again",
            ));
        }
    };
    context.unpack(data.len())?;
    if whole {
        return Ok(data);
    }
    if data.len() >= max {
        return Err(ReadProblem::new(
            ProblemCode::TooLarge,
            format!(
                "part {:?} unpacks to more than {} MB: a decompression bomb",
                entry.name,
                max >> 20
            ),
        ));
    }
    Err(ReadProblem::malformed(format!("part {:?} is damaged; save the file again", entry.name)))
}

/// Inflates at most `max` bytes; says whether the stream ended well.
pub(crate) fn inflate(packed: &[u8], zlib: bool, max: usize) -> (Vec<u8>, bool) {
    let mut data = Vec::new();
    let limit = max as u64;
    let outcome = if zlib {
        ZlibDecoder::new(packed).take(limit).read_to_end(&mut data)
    } else {
        DeflateDecoder::new(packed).take(limit).read_to_end(&mut data)
    };
    let whole = outcome.is_ok() && data.len() < max;
    (data, whole)
}

pub(crate) fn has_signature(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}
