//! Writes and hashes a blob in chunks on blocking threads, without holding it in memory.
//!
//! Until it is published, a blob is a file in `incoming/` that is deleted with its writer. The writer
//! locks the file, so a sweep can find the files of dead writers.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fault::Fault;
use sha2::{Digest as _, Sha256};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{BlobHash, disk, too_large};

/// The size of a buffer; one is filled while another is written.
const BUFFER: usize = 256 * 1024;
/// How often a new file may be swept before it is locked.
const TRIES: u32 = 100;

/// Writes one blob. Dropping it deletes the file. After a call that failed or was cancelled it can only
/// be dropped.
pub struct BlobWriter {
    /// `None` during a call.
    sink: Option<Pending>,
    buffer: Vec<u8>,
    length: u64,
    length_max: u64,
    temporary: Temporary,
}

enum Pending {
    Idle(Box<Sink>),
    Busy(JoinHandle<io::Result<Box<Sink>>>),
}

struct Sink {
    file: File,
    hasher: Sha256,
    /// The last written buffer, reused for its capacity.
    spare: Vec<u8>,
}

impl Sink {
    fn take(mut self: Box<Self>, bytes: Vec<u8>) -> io::Result<Box<Self>> {
        self.file.write_all(&bytes)?;
        self.hasher.update(&bytes);
        self.spare = bytes;
        self.spare.clear();
        Ok(self)
    }
}

/// A complete blob that is on the disk and not published yet. Dropping it deletes the file.
pub struct StagedBlob {
    hash: BlobHash,
    length: u64,
    temporary: Temporary,
    /// Holds the lock that protects the file from a sweep.
    _lock: File,
}

impl StagedBlob {
    /// The hash of the bytes.
    pub fn hash(&self) -> BlobHash {
        self.hash
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The path of the temporary file.
    pub fn path(&self) -> &Path {
        &self.temporary.0
    }
}

/// A blob that was renamed to a temporary file. Dropping it deletes the file, which may block.
#[must_use]
pub struct WithdrawnBlob(#[expect(dead_code, reason = "it acts when it is dropped")] Temporary);

impl WithdrawnBlob {
    pub(super) fn at(path: PathBuf) -> Self {
        Self(Temporary(path))
    }
}

struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        match std::fs::remove_file(&self.0) {
            // Published or swept.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(path = %self.0.display(), %error, "a temporary blob could not be deleted");
            }
            Ok(()) => {}
        }
    }
}

impl BlobWriter {
    /// The name must be unique for ever: files are deleted by name.
    pub(super) async fn new(
        incoming: PathBuf,
        name: String,
        length_max: u64,
    ) -> Result<Self, Fault> {
        let made = spawn_blocking(move || create(&incoming, &name)).await;
        let (file, temporary) = made.map_err(Fault::internal)?.map_err(disk)?;
        let sink = Box::new(Sink { file, hasher: Sha256::new(), spare: Vec::new() });
        let (sink, buffer) = (Some(Pending::Idle(sink)), Vec::new());
        Ok(Self { sink, buffer, length: 0, length_max, temporary })
    }

    /// The number of bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Adds bytes; more than the limit are refused with `blob_too_large`.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        self.length = self.length.saturating_add(bytes.len() as u64);
        if self.length > self.length_max {
            self.sink = None;
            return Err(too_large(self.length_max));
        }
        while !bytes.is_empty() {
            if self.buffer.len() >= BUFFER {
                self.flush().await?;
            }
            let room = BUFFER.saturating_sub(self.buffer.len()).min(bytes.len());
            let (now, later) = bytes.split_at(room);
            self.buffer.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        let mut sink = self.rest().await?;
        let full = std::mem::replace(&mut self.buffer, std::mem::take(&mut sink.spare));
        self.sink = Some(Pending::Busy(spawn_blocking(move || sink.take(full))));
        Ok(())
    }

    /// The sink, after it has written its buffer.
    async fn rest(&mut self) -> Result<Box<Sink>, Fault> {
        match self.sink.take() {
            Some(Pending::Idle(sink)) => Ok(sink),
            Some(Pending::Busy(task)) => task.await.map_err(Fault::internal)?.map_err(disk),
            None => Err(Fault::internal("a blob was written to after it had failed")),
        }
    }

    /// Ends the blob. Once it returns, the bytes are on the disk.
    pub async fn finish(mut self) -> Result<StagedBlob, Fault> {
        let sink = self.rest().await?;
        let last = std::mem::take(&mut self.buffer);
        let done = spawn_blocking(move || {
            let sink = sink.take(last)?;
            sink.file.sync_all()?;
            Ok((sink.hasher.finalize().into(), sink.file))
        });
        let (hash, file) = done.await.map_err(Fault::internal)?.map_err(disk)?;
        let (length, temporary) = (self.length, self.temporary);
        Ok(StagedBlob { hash: BlobHash(hash), length, temporary, _lock: file })
    }
}

fn create(incoming: &Path, name: &str) -> io::Result<(File, Temporary)> {
    std::fs::create_dir_all(incoming)?;
    for number in 0..TRIES {
        let path = incoming.join(format!("{name}-{number}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // Where files cannot be locked, no file is ever swept.
        if let Err(error) = file.lock() {
            tracing::debug!(%error, "the blob folder has no locks");
        }
        // A sweep may have deleted the file before it was locked.
        if path.try_exists()? {
            return Ok((file, Temporary(path)));
        }
    }
    Err(io::Error::other("files in the blob folder vanish as soon as they are made"))
}

/// Deletes the files that no writer has locked.
pub(super) fn sweep(incoming: &Path) -> io::Result<u64> {
    let entries = match std::fs::read_dir(incoming) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let path = entry?.path();
        // Its writer may publish or delete it at any moment.
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() && std::fs::remove_file(&path).is_ok() {
            removed += 1;
        }
    }
    Ok(removed)
}
