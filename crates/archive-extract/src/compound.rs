//! Compound files, the container of DOC and MSG: streams by path, each within bounds.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::work::{Step, Work};
use crate::{Code, Kind, Problem};

pub(crate) struct Compound<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
}

/// A child of a storage.
pub(crate) struct Child {
    pub(crate) name: String,
    pub(crate) is_storage: bool,
}

impl<'a> Compound<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Step<Self> {
        let file = CompoundFile::open(Cursor::new(bytes)).map_err(|error| {
            let cut = error.kind() == std::io::ErrorKind::UnexpectedEof;
            let code = if cut { Code::Truncated } else { Code::Malformed };
            Problem::new(code, format!("the file is damaged ({error}); save it again"))
        })?;
        Ok(Self { file })
    }

    /// A stream's content; nothing if it is absent or unreadable.
    pub(crate) fn stream(&mut self, work: &mut Work<'_>, path: &str) -> Step<Option<Vec<u8>>> {
        let Ok(stream) = self.file.open_stream(path) else { return Ok(None) };
        let max = work.stream_max() as u64;
        let mut data = Vec::new();
        // What could be read of a damaged stream is better than nothing of it.
        if stream.take(max).read_to_end(&mut data).is_err() && data.is_empty() {
            return Ok(None);
        }
        work.unpack(data.len())?;
        Ok(Some(data))
    }

    pub(crate) fn children(&self, path: &str, max: usize) -> Vec<Child> {
        let Ok(entries) = self.file.read_storage(path) else { return Vec::new() };
        entries
            .take(max)
            .map(|it| Child { name: it.name().to_owned(), is_storage: it.is_storage() })
            .collect()
    }
}

/// Which document a compound file is.
pub(crate) fn kind(bytes: &[u8]) -> Result<Kind, Problem> {
    let names = Compound::open(bytes)?.children("/", 10_000);
    let has = |name: &str| names.iter().any(|it| it.name == name);
    if has("WordDocument") {
        return Ok(Kind::Doc);
    }
    if has("__properties_version1.0") {
        return Ok(Kind::Msg);
    }
    if has("EncryptedPackage") || has("EncryptionInfo") {
        return Err(Problem::new(
            Code::Encrypted,
            "the document is encrypted; remove the password and send it again",
        ));
    }
    let what = if has("Workbook") || has("Book") {
        "a spreadsheet; save it as PDF"
    } else if has("PowerPoint Document") {
        "a presentation; save it as PDF"
    } else {
        "a compound file that is neither a Word document nor a message"
    };
    Err(Problem::new(Code::Unsupported, what))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}
