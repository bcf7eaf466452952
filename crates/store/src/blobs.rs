//! Bytes kept under the hash of their content. On disk here; other places implement [`Blobs`].
//!
//! Whether a blob is still wanted is not known here: owners delete what they put.
//!
//! [`Blobs::put`] keeps a blob at once. Who must decide first whether it is kept (all files of a
//! batch, or none) takes it in with [`DiskBlobs::begin`] and settles it afterwards.

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
    /// Tells apart the temporary files of this writer from those of others, in processes that may
    /// have the same number in containers of their own.
    own: u64,
    /// Tells apart its own.
    next: AtomicU64,
}

impl DiskBlobs {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        // Not a secret: the standard library's own randomness will do.
        let own = RandomState::new().build_hasher().finish();
        Self { root: root.into(), own, next: AtomicU64::new(0) }
    }

    /// Where a blob is, or would be.
    pub fn path(&self, hash: BlobHash) -> PathBuf {
        let name = hash.to_string();
        self.root.join(&name[..2]).join(name)
    }

    fn incoming(&self) -> PathBuf {
        self.root.join("incoming")
    }

    /// Takes in a blob of at most `length_max` bytes, to be published when it is decided upon.
    pub async fn begin(&self, length_max: u64) -> Result<BlobWriter, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:016x}-{number}", self.own);
        BlobWriter::new(self.incoming(), name, length_max).await
    }

    /// Gives blobs their names. Once it returns, they survive a crash under them; on a fault some
    /// may have been published and others not.
    pub async fn publish(&self, staged: &[StagedBlob]) -> Result<(), Fault> {
        let root = self.root.clone();
        let moves: Vec<(PathBuf, PathBuf)> =
            staged.iter().map(|it| (it.path().to_owned(), self.path(it.hash()))).collect();
        let moved = spawn_blocking(move || rename_all(&root, &moves)).await;
        moved.map_err(Fault::internal)?.map_err(disk)
    }

    /// Takes a blob from under its name, if it is there; it is gone when what is returned is
    /// dropped. One step without an await, for owners that decide under a lock: a removal that was
    /// begun and then left alone could otherwise hit a blob that came after the lock was given up.
    pub fn withdraw(&self, hash: BlobHash) -> Result<Option<WithdrawnBlob>, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let incoming = self.incoming();
        // A folder that is missing, as after a restore, must not pass for a blob that is missing.
        std::fs::create_dir_all(&incoming).map_err(disk)?;
        let path = incoming.join(format!("{:016x}-{number}", self.own));
        match std::fs::rename(self.path(hash), &path) {
            Ok(()) => Ok(Some(WithdrawnBlob::at(path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk(error)),
        }
    }

    /// For reading a part of a blob, or all of it in pieces.
    pub async fn open(&self, hash: BlobHash) -> Result<fs::File, Fault> {
        fs::File::open(self.path(hash)).await.map_err(|error| unreadable(error, hash))
    }

    /// Removes what writers that died left in `incoming/`, and says how many files that were. The
    /// files of the living are safe from it, in whatever process they are.
    pub async fn delete_abandoned_uploads(&self) -> Result<u64, Fault> {
        let incoming = self.incoming();
        let swept = spawn_blocking(move || writer::sweep(&incoming)).await;
        swept.map_err(Fault::internal)?.map_err(disk)
    }

    /// The blobs whose hash begins with this byte, so that all can be walked in 256 steps.
    pub async fn hashes_with_first_byte(&self, first: u8) -> Result<Vec<BlobHash>, Fault> {
        let folder = self.root.join(hex(&[first]));
        let listed = spawn_blocking(move || list(&folder)).await;
        listed.map_err(Fault::internal)?.map_err(disk)
    }
}

/// A rename is the data of the folder, so the folders go to the disk as well. A blob that is there
/// already is replaced by its equal, which mends one that the disk has spoilt.
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
        // Anything else in the folder is not ours to judge.
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
