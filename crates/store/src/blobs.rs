//! Bytes kept under the hash of their content. On disk here; other places implement [`Blobs`].
//!
//! Whether a blob is still wanted is not known here: owners delete what they put.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use fault::Fault;
use sha2::{Digest as _, Sha256};
use tokio::fs;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// The SHA-256 of a blob, which is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobHash([u8; 32]);

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for BlobHash {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let refuse = || Fault::invalid("invalid_hash", "a blob's hash is 64 lower-case hex digits");
        let mut hash = [0; 32];
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(refuse());
        }
        for (at, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| refuse())?;
        }
        Ok(Self(hash))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a String cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// A stream of bytes on its way into the store.
pub type BlobReader<'a> = Pin<&'a mut (dyn AsyncRead + Send)>;

#[async_trait]
pub trait Blobs: Send + Sync {
    /// Keeps what the reader gives and returns its name and length. Once it returns, the blob
    /// survives a crash. More than `length_max` bytes are refused and nothing is kept.
    async fn put(&self, bytes: BlobReader<'_>, length_max: u64) -> Result<(BlobHash, u64), Fault>;

    async fn get(&self, hash: BlobHash) -> Result<Vec<u8>, Fault>;

    async fn exists(&self, hash: BlobHash) -> Result<bool, Fault>;

    /// Deleting what is not there is no failure.
    async fn delete(&self, hash: BlobHash) -> Result<(), Fault>;
}

/// Blobs as files, in folders by the first byte of their names.
pub struct DiskBlobs {
    root: PathBuf,
    /// Tells apart the temporary files of concurrent writers in this process.
    next: AtomicU64,
}

impl DiskBlobs {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), next: AtomicU64::new(0) }
    }

    fn path(&self, hash: BlobHash) -> PathBuf {
        let name = hash.to_string();
        self.root.join(&name[..2]).join(name)
    }

    async fn receive(
        &self,
        mut bytes: BlobReader<'_>,
        length_max: u64,
        into: &Path,
    ) -> Result<(BlobHash, u64), Fault> {
        let mut file = fs::File::create_new(into).await.map_err(disk)?;
        let (mut hasher, mut length) = (Sha256::new(), 0_u64);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = bytes.read(&mut buffer).await.map_err(disk)?;
            if read == 0 {
                break;
            }
            length += read as u64;
            if length > length_max {
                let message = format!("the file is larger than {length_max} bytes");
                return Err(Fault::invalid("blob_too_large", message));
            }
            hasher.update(&buffer[..read]);
            file.write_all(&buffer[..read]).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        file.sync_all().await.map_err(disk)?;
        Ok((BlobHash(hasher.finalize().into()), length))
    }

    /// The rename must be on the disk too, and that is the folder's data.
    async fn settle(&self, temporary: &Path, hash: BlobHash) -> Result<(), Fault> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.root).to_owned();
        fs::create_dir_all(&folder).await.map_err(disk)?;
        fs::rename(temporary, &path).await.map_err(disk)?;
        for changed in [&folder, &self.root] {
            fs::File::open(changed).await.map_err(disk)?.sync_all().await.map_err(disk)?;
        }
        Ok(())
    }
}

#[async_trait]
impl Blobs for DiskBlobs {
    async fn put(&self, bytes: BlobReader<'_>, length_max: u64) -> Result<(BlobHash, u64), Fault> {
        let incoming = self.root.join("incoming");
        fs::create_dir_all(&incoming).await.map_err(disk)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let temporary = incoming.join(format!("{}-{number}", std::process::id()));
        let received = match self.receive(bytes, length_max, &temporary).await {
            Ok(received) => self.settle(&temporary, received.0).await.map(|()| received),
            Err(fault) => Err(fault),
        };
        if received.is_err() && fs::remove_file(&temporary).await.is_err() {
            tracing::warn!(path = %temporary.display(), "a partial blob could not be removed");
        }
        received
    }

    async fn get(&self, hash: BlobHash) -> Result<Vec<u8>, Fault> {
        match fs::read(self.path(hash)).await {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Fault::not_found("no_such_blob", format!("there is no blob {hash}")))
            }
            Err(error) => Err(disk(error)),
        }
    }

    async fn exists(&self, hash: BlobHash) -> Result<bool, Fault> {
        fs::try_exists(self.path(hash)).await.map_err(disk)
    }

    async fn delete(&self, hash: BlobHash) -> Result<(), Fault> {
        match fs::remove_file(self.path(hash)).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(disk(error)),
            _ => Ok(()),
        }
    }
}

fn disk(error: std::io::Error) -> Fault {
    let message = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "the disk is full; free space and try again"
        }
        _ => "the blob folder cannot be read or written",
    };
    Fault::unavailable("blobs_unavailable", message).caused_by(error)
}
