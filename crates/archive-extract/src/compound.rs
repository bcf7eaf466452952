//! Compound files, the container of DOC and MSG: streams by path, each within bounds.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::context::{ReadContext, ReadResult};
use crate::{ProblemCode, ReadProblem};

pub(crate) struct Compound<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
}

/// A child of a storage.
pub(crate) struct CompoundEntry {
    pub(crate) name: String,
    pub(crate) is_storage: bool,
}

impl<'a> Compound<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> ReadResult<Self> {
        let file = CompoundFile::open(Cursor::new(bytes)).map_err(|error| {
            let cut = error.kind() == std::io::ErrorKind::UnexpectedEof;
            let code = if cut { ProblemCode::Truncated } else { ProblemCode::Malformed };
            ReadProblem::new(code, format!("the file is damaged ({error}); save it again"))
        })?;
        Ok(Self { file })
    }

    /// A stream's content; nothing if it is absent or unreadable.
    pub(crate) fn stream(
        &mut self,
        context: &mut ReadContext<'_>,
        path: &str,
    ) -> ReadResult<Option<Vec<u8>>> {
        let Ok(stream) = self.file.open_stream(path) else { return Ok(None) };
        let max = context.stream_max() as u64;
        let mut data = Vec::new();
        // What could be read of a damaged stream is better than nothing of it.
        if stream.take(max).read_to_end(&mut data).is_err() && data.is_empty() {
            return Ok(None);
        }
        context.unpack(data.len())?;
        Ok(Some(data))
    }

    pub(crate) fn children(&self, path: &str, max: usize) -> Vec<CompoundEntry> {
        let Ok(entries) = self.file.read_storage(path) else { return Vec::new() };
        entries
            .take(max)
            .map(|it| CompoundEntry { name: it.name().to_owned(), is_storage: it.is_storage() })
            .collect()
    }
}

pub(crate) fn has_signature(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
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
