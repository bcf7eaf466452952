//! Reads the entries of a ZIP archive by its central directory, each within bounds.
//! It does not read ZIP64, which no document within the size limit needs.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::work::{Step, Work};
use crate::{Code, Kind, Problem};

/// Below this an entry may be as compressible as it likes.
const RATIO_FREE: u64 = 8 << 20;

pub(crate) struct Entry {
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

/// The archive's entries, or nothing if its directory is missing. At most `max` are listed.
pub(crate) fn entries(bytes: &[u8], max: usize) -> Option<Vec<Entry>> {
    let from = bytes.len().saturating_sub(66_000);
    let end = bytes[from..].windows(4).rposition(|it| it == b"PK\x05\x06")? + from;
    let mut at = u32_at(bytes, end + 16)?;
    let mut entries = Vec::new();
    while entries.len() < max && bytes.get(at..at + 4)? == b"PK\x01\x02" {
        let name_len = usize::from(u16_at(bytes, at + 28)?);
        let extra = usize::from(u16_at(bytes, at + 30)?) + usize::from(u16_at(bytes, at + 32)?);
        let name = bytes.get(at + 46..at + 46 + name_len)?;
        entries.push(Entry {
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

/// Unpacks one entry; bombs are stopped by ratio and by size.
pub(crate) fn unpack(work: &mut Work<'_>, bytes: &[u8], entry: &Entry) -> Step<Vec<u8>> {
    if entry.encrypted {
        return Err(Problem::new(Code::Encrypted, "the archive is encrypted; remove the password"));
    }
    let cut = || Problem::new(Code::Truncated, "the file is cut short; send it again");
    let name_len = usize::from(u16_at(bytes, entry.header + 26).ok_or_else(cut)?);
    let extra_len = usize::from(u16_at(bytes, entry.header + 28).ok_or_else(cut)?);
    let start = entry.header + 30 + name_len + extra_len;
    let packed = bytes.get(start..start.saturating_add(entry.packed)).ok_or_else(cut)?;
    let by_ratio = (packed.len() as u64).saturating_mul(work.limits.ratio).max(RATIO_FREE);
    let max = work.stream_max().min(usize::try_from(by_ratio).unwrap_or(usize::MAX));
    let (data, whole) = match entry.method {
        0 => (packed.to_vec(), true),
        8 => inflate(packed, false, max),
        _ => {
            return Err(Problem::new(
                Code::Unsupported,
                "the archive uses a compression that Word does not; save the file again",
            ));
        }
    };
    work.unpack(data.len())?;
    if whole {
        return Ok(data);
    }
    if data.len() >= max {
        return Err(Problem::new(
            Code::TooLarge,
            format!(
                "part {:?} unpacks to more than {} MB: a decompression bomb",
                entry.name,
                max >> 20
            ),
        ));
    }
    Err(Problem::malformed(format!("part {:?} is damaged; save the file again", entry.name)))
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

/// Which document an archive is.
pub(crate) fn kind(bytes: &[u8]) -> Result<Kind, Problem> {
    let Some(entries) = entries(bytes, 10_000) else {
        return Err(Problem::new(Code::Truncated, "the end of the file is missing; send it again"));
    };
    let has = |start: &str| entries.iter().any(|it| it.name.starts_with(start));
    if has("word/document") {
        return Ok(Kind::Docx);
    }
    let what = if has("xl/") {
        "a spreadsheet; save it as PDF"
    } else if has("ppt/") {
        "a presentation; save it as PDF"
    } else if has("content.xml") {
        "an OpenDocument file; save it as DOCX or PDF"
    } else {
        "an archive; send the documents themselves"
    };
    Err(Problem::new(Code::Unsupported, what))
}
