//! Detects the type of a file in constant memory: from its first 64 KiB, and for containers from a
//! small copy with the same table of contents.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use archive_extract::{Format, ProblemCode, ReadProblem};

/// Bytes that tell text from binary data.
const HEAD: u64 = 64 * 1024;
/// Where the end record of a ZIP archive can be: the longest comment plus the record.
const ZIP_TAIL: u64 = 66_000;
/// No document has a larger ZIP directory.
const ZIP_DIRECTORY_MAX: u64 = 4 << 20;
const COMPOUND_NAMES_MAX: usize = 10_000;

const ZIP: [u8; 4] = *b"PK\x03\x04";
const COMPOUND: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// The type by content. Blocks on file I/O.
pub(crate) fn detect(name: &str, path: &Path) -> io::Result<Result<Format, ReadProblem>> {
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    (&mut file).take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(&ZIP) {
        return Ok(match zip(&mut file)? {
            Some(outline) => archive_extract::detect(name, &outline),
            None => Err(ReadProblem::new(
                ProblemCode::Truncated,
                "the archive's directory is missing or too large; save the file again",
            )),
        });
    }
    if head.starts_with(&COMPOUND) {
        return Ok(match compound(file) {
            Ok(outline) => archive_extract::detect(name, &outline),
            Err(_) => Err(ReadProblem::new(
                ProblemCode::Malformed,
                "the file is damaged; save it again and send it",
            )),
        });
    }
    Ok(archive_extract::detect(name, &head))
}

/// The signature, the directory and the end record, with the directory offset corrected.
fn zip(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(ZIP_TAIL);
    let tail = read_at(file, from, ZIP_TAIL)?;
    let Some(at) = tail.windows(4).rposition(|it| it == b"PK\x05\x06") else { return Ok(None) };
    let Some(offset) = tail.get(at + 16..at + 20).and_then(|it| it.try_into().ok()) else {
        return Ok(None);
    };
    let start = u64::from(u32::from_le_bytes(offset));
    let end = from + at as u64;
    if start > end || end - start > ZIP_DIRECTORY_MAX {
        return Ok(None);
    }
    let mut outline = ZIP.to_vec();
    outline.extend(read_at(file, start, end - start)?);
    outline.extend_from_slice(&tail[at..at + 16]);
    outline.extend_from_slice(&(ZIP.len() as u32).to_le_bytes());
    outline.extend_from_slice(&[0, 0]);
    Ok(Some(outline))
}

fn read_at(file: &mut File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Empty streams with the names of the root storage.
fn compound(mut file: File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let source = cfb::CompoundFile::open(BufReader::new(file))?;
    let mut outline = cfb::CompoundFile::create(Cursor::new(Vec::new()))?;
    for entry in source.read_root_storage().take(COMPOUND_NAMES_MAX) {
        outline.create_stream(Path::new("/").join(entry.name()))?;
    }
    outline.flush()?;
    Ok(outline.into_inner().into_inner())
}
