//! Bytes named by the hash of their content, as files; other storage can implement [`Blobs`]. The owner
//! of a blob deletes it.
//!
//! [`Blobs::put`] stores a blob at once. A caller that decides later, such as for all files of a batch
//! or none, writes it with [`DiskBlobs::begin`] and calls [`DiskBlobs::publish`].

mod writer;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use data_encoding::HEXLOWER;
use fault::Fault;
use tokio::fs;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::spawn_blocking;

pub use writer::{BlobWriter, StagedBlob, WithdrawnBlob};

/// The SHA-256 of a blob, which is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobHash([u8; 32]);

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl FromStr for BlobHash {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let refuse = || Fault::invalid("invalid_hash", "a blob's hash is 64 lower-case hex digits");
        let hash = HEXLOWER.decode(text.as_bytes()).map_err(|_| refuse())?;
        Ok(Self(hash.try_into().map_err(|_| refuse())?))
    }
}

/// The bytes of a blob that is to be stored.
pub type BlobReader<'a> = Pin<&'a mut (dyn AsyncRead + Send)>;

/// A store of blobs.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores the bytes and returns their hash and length. Once it returns, the blob survives a crash.
    /// More than `length_max` bytes are refused and nothing is stored.
    async fn put(&self, bytes: BlobReader<'_>, length_max: u64) -> Result<(BlobHash, u64), Fault>;

    /// All bytes of a blob; `no_such_blob` where there is none.
    async fn get(&self, hash: BlobHash) -> Result<Vec<u8>, Fault>;

    /// Whether the blob exists.
    async fn exists(&self, hash: BlobHash) -> Result<bool, Fault>;

    /// Deletes a blob; deleting one that does not exist succeeds.
    async fn delete(&self, hash: BlobHash) -> Result<(), Fault>;
}

/// Blobs as files, in 256 folders by the first byte of their hash.
pub struct DiskBlobs {
    root: PathBuf,
    /// Distinguishes the temporary files of this process from those of others; process ids may repeat
    /// in containers.
    own: u64,
    /// Numbers the temporary files of this process.
    next: AtomicU64,
}

impl DiskBlobs {
    /// Blobs below the folder `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        // Not a secret, so the standard library's randomness is enough.
        let own = RandomState::new().build_hasher().finish();
        Self { root: root.into(), own, next: AtomicU64::new(0) }
    }

    /// The path of a blob, whether it exists or not.
    pub fn path(&self, hash: BlobHash) -> PathBuf {
        let name = hash.to_string();
        self.root.join(&name[..2]).join(name)
    }

    fn incoming(&self) -> PathBuf {
        self.root.join("incoming")
    }

    /// Begins to write a blob of at most `length_max` bytes; see [`DiskBlobs::publish`].
    pub async fn begin(&self, length_max: u64) -> Result<BlobWriter, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:016x}-{number}", self.own);
        BlobWriter::new(self.incoming(), name, length_max).await
    }

    /// Moves written blobs to their names. Once it returns, they survive a crash; on a fault some may
    /// have been moved and others not.
    pub async fn publish(&self, staged: &[StagedBlob]) -> Result<(), Fault> {
        let root = self.root.clone();
        let moves: Vec<(PathBuf, PathBuf)> =
            staged.iter().map(|it| (it.path().to_owned(), self.path(it.hash()))).collect();
        let moved = spawn_blocking(move || rename_all(&root, &moves)).await;
        moved.map_err(Fault::internal)?.map_err(disk)
    }

    /// Renames a blob to a temporary file, if it exists; dropping the result deletes the file. It does
    /// not await, so an owner can decide and withdraw under one lock: an interrupted removal could
    /// otherwise delete a blob that was published after the lock was released.
    pub fn withdraw(&self, hash: BlobHash) -> Result<Option<WithdrawnBlob>, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let incoming = self.incoming();
        // Without the folder, as after a restore, the rename would report the blob as missing.
        std::fs::create_dir_all(&incoming).map_err(disk)?;
        let path = incoming.join(format!("{:016x}-{number}", self.own));
        match std::fs::rename(self.path(hash), &path) {
            Ok(()) => Ok(Some(WithdrawnBlob::at(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk(error)),
        }
    }

    /// Opens a blob for reading in parts.
    pub async fn open(&self, hash: BlobHash) -> Result<fs::File, Fault> {
        fs::File::open(self.path(hash)).await.map_err(|error| unreadable(error, hash))
    }

    /// Deletes the files of dead writers in `incoming/` and returns their number. Files of writers that
    /// live, in any process, are locked and stay.
    pub async fn delete_abandoned_uploads(&self) -> Result<u64, Fault> {
        let incoming = self.incoming();
        let swept = spawn_blocking(move || writer::sweep(&incoming)).await;
        swept.map_err(Fault::internal)?.map_err(disk)
    }

    /// The blobs whose hash begins with this byte, so that all can be walked in 256 steps.
    pub async fn hashes_with_first_byte(&self, first: u8) -> Result<Vec<BlobHash>, Fault> {
        let folder = self.root.join(HEXLOWER.encode(&[first]));
        let listed = spawn_blocking(move || list(&folder)).await;
        listed.map_err(Fault::internal)?.map_err(disk)
    }
}

/// A rename changes the folder, so the folders are synced too. An existing blob is replaced by its
/// equal, which repairs a damaged file.
fn rename_all(root: &Path, moves: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    let mut changed = BTreeSet::new();
    for (from, to) in moves {
        let folder = to.parent().unwrap_or(root);
        if changed.insert(folder) {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::rename(from, to)?;
    }
    for folder in changed.into_iter().chain([root]).chain(root.parent()) {
        std::fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn list(folder: &Path) -> io::Result<Vec<BlobHash>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut hashes = Vec::new();
    for entry in entries {
        // Other files in the folder are ignored.
        if let Some(hash) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            hashes.push(hash);
        }
    }
    Ok(hashes)
}

#[async_trait]
impl Blobs for DiskBlobs {
    async fn put(
        &self,
        mut bytes: BlobReader<'_>,
        length_max: u64,
    ) -> Result<(BlobHash, u64), Fault> {
        let mut writer = self.begin(length_max).await?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = bytes.read(&mut buffer).await.map_err(disk)?;
            if read == 0 {
                break;
            }
            writer.write(&buffer[..read]).await?;
        }
        let staged = [writer.finish().await?];
        self.publish(&staged).await?;
        Ok((staged[0].hash(), staged[0].length()))
    }

    async fn get(&self, hash: BlobHash) -> Result<Vec<u8>, Fault> {
        fs::read(self.path(hash)).await.map_err(|error| unreadable(error, hash))
    }

    async fn exists(&self, hash: BlobHash) -> Result<bool, Fault> {
        fs::try_exists(self.path(hash)).await.map_err(disk)
    }

    async fn delete(&self, hash: BlobHash) -> Result<(), Fault> {
        match fs::remove_file(self.path(hash)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(disk(error)),
            _ => Ok(()),
        }
    }
}

fn too_large(length_max: u64) -> Fault {
    Fault::invalid("blob_too_large", format!("the file is larger than {length_max} bytes"))
}

fn unreadable(error: io::Error, hash: BlobHash) -> Fault {
    if error.kind() == io::ErrorKind::NotFound {
        return Fault::not_found("no_such_blob", format!("there is no blob {hash}"));
    }
    disk(error)
}

fn disk(error: io::Error) -> Fault {
    let message = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; free space and try again"
        }
        _ => "the blob folder cannot be read or written",
    };
    Fault::unavailable("blobs_unavailable", message).caused_by(error)
}
