//! Receives one file. Nothing here is a record yet: dropping it leaves nothing on the disk.

use archive_extract::Format;
use fault::Fault;
use store::{BlobWriter, StagedBlob};
use tokio::task::spawn_blocking;

use crate::{kind, outline};

/// Receives the bytes of one file. After a cancelled call it can only be dropped.
pub struct FileReceiver {
    pub(crate) name: String,
    pub(crate) writer: BlobWriter,
    pub(crate) bytes_max: u64,
}

impl FileReceiver {
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.writer.length().saturating_add(bytes.len() as u64) > self.bytes_max {
            let (name, limit) = (&self.name, megabytes(self.bytes_max));
            let message =
                format!("the file {name:?} is larger than {limit} (archive_file_bytes_max)");
            return Err(Fault::invalid("file_too_large", message));
        }
        self.writer.write(bytes).await
    }

    pub fn received_bytes(&self) -> u64 {
        self.writer.length()
    }

    /// The cleaned name.
    pub fn file_name(&self) -> &str {
        &self.name
    }

    /// Syncs the file and checks its type. The bytes survive a crash from here on, but without a
    /// record the next sweep removes them.
    pub async fn finish(self) -> Result<ReceivedFile, Fault> {
        let (staged, name) = (self.writer.finish().await?, self.name);
        let path = staged.path().to_owned();
        let found = spawn_blocking({
            let name = name.clone();
            move || outline::detect(&name, &path)
        });
        let found = match found.await {
            Ok(found) => found.map_err(|error| {
                Fault::unavailable("blobs_unavailable", "the file that was received is unreadable")
                    .caused_by(error)
            })?,
            // A container that makes the parser panic fails only this upload.
            Err(error) => {
                tracing::warn!(%error, "judging the type of a file failed");
                let message = "the file is damaged; save it again and send it";
                Err(archive_extract::ReadProblem::new(
                    archive_extract::ProblemCode::Malformed,
                    message,
                ))
            }
        };
        let kind = kind::check_kind(&name, found)?;
        Ok(ReceivedFile { name, kind, staged })
    }
}

/// A complete file of a supported type, without a record yet. Dropping it removes the bytes.
pub struct ReceivedFile {
    pub(crate) name: String,
    pub(crate) kind: Format,
    pub(crate) staged: StagedBlob,
}

impl ReceivedFile {
    pub fn file_name(&self) -> &str {
        &self.name
    }

    pub fn size(&self) -> u64 {
        self.staged.length()
    }

    /// SHA-256 in lower-case hex.
    pub fn hash(&self) -> String {
        self.staged.hash().to_string()
    }

    pub fn kind(&self) -> Format {
        self.kind
    }
}

pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{bytes} bytes"),
        _ => format!("{} MB", bytes >> 20),
    }
}
