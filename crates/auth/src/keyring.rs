//! The signing keys and the file they live in.
//!
//! Made on first start, readable by the owner alone. The text is
//! `stoa-token-key 1`, then `current HEX`, then `previous HEX` after a rotation.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};

use crate::secret::{from_hex, to_hex};

/// The key's file name inside the data folder.
pub const KEY_FILE: &str = "token.key";
const HEADER: &str = "stoa-token-key 1";
/// A whole key file is far smaller; anything longer is not one.
const FILE_MAX: u64 = 4096;

/// The key that signs, and the one before it, which still verifies.
#[derive(Clone)]
pub struct Keyring {
    current: [u8; 32],
    previous: Option<[u8; 32]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(***)")
    }
}

impl Keyring {
    /// A fresh key that lives in memory alone.
    pub fn generate() -> Result<Self, Fault> {
        let mut current = [0; 32];
        getrandom::fill(&mut current).map_err(Fault::internal)?;
        Ok(Self { current, previous: None })
    }

    /// Opens `<data>/token.key`, making it if there is none. Of several processes that start
    /// together one makes it and all read the same key.
    pub fn open(data: &Path) -> Result<Self, Fault> {
        let path = data.join(KEY_FILE);
        if let Some(keys) = read(&path)? {
            return Ok(keys);
        }
        let draft = Self::generate()?.write_draft(data)?;
        // A hard link, unlike a rename, never replaces a key that another process has just created.
        let linked = fs::hard_link(&draft, &path);
        discard(&draft);
        if let Err(error) = linked
            && error.kind() != ErrorKind::AlreadyExists
        {
            return Err(unusable(&path, "cannot be made", error));
        }
        sync_folder(data)?;
        read(&path)?.ok_or_else(|| unusable(&path, "vanished", ErrorKind::NotFound.into()))
    }

    /// Puts a new key in front. Tokens of the key before verify until the next rotation.
    pub fn rotate(data: &Path) -> Result<Self, Fault> {
        let path = data.join(KEY_FILE);
        let before = Self::open(data)?;
        let keys = Self { previous: Some(before.current), ..Self::generate()? };
        let draft = keys.write_draft(data)?;
        fs::rename(&draft, &path).map_err(|error| {
            discard(&draft);
            unusable(&path, "cannot be replaced", error)
        })?;
        sync_folder(data)?;
        Ok(keys)
    }

    pub(crate) fn current(&self) -> &[u8; 32] {
        &self.current
    }

    pub(crate) fn previous(&self) -> Option<&[u8; 32]> {
        self.previous.as_ref()
    }

    /// Writes the whole file under a unique name, so that no reader ever sees half of it.
    fn write_draft(&self, data: &Path) -> Result<PathBuf, Fault> {
        let mut tag = [0; 8];
        getrandom::fill(&mut tag).map_err(Fault::internal)?;
        let draft = data.join(format!("{KEY_FILE}.{}", to_hex(&tag)));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&draft).and_then(|mut file| {
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()
        });
        match written {
            Ok(()) => Ok(draft),
            Err(error) => {
                discard(&draft);
                Err(unusable(&draft, "cannot be written", error))
            }
        }
    }

    fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\ncurrent {}\n", to_hex(&self.current));
        if let Some(previous) = &self.previous {
            text.push_str(&format!("previous {}\n", to_hex(previous)));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        if lines.next()? != HEADER {
            return None;
        }
        let current = from_hex(lines.next()?.strip_prefix("current ")?)?;
        let previous = match lines.next() {
            None => None,
            Some(line) => Some(from_hex(line.strip_prefix("previous ")?)?),
        };
        lines.next().is_none().then_some(Self { current, previous })
    }
}

/// Removes the temporary file. One that stays behind is as private as the key itself.
fn discard(draft: &Path) {
    drop(fs::remove_file(draft));
}

/// The keys in a file, or nothing if there is no such file.
fn read(path: &Path) -> Result<Option<Keyring>, Fault> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, "cannot be read", error)),
    };
    refuse_readable_by_others(path, &file)?;
    let mut text = String::new();
    file.take(FILE_MAX)
        .read_to_string(&mut text)
        .map_err(|error| unusable(path, "cannot be read", error))?;
    Keyring::parse(&text).map(Some).ok_or_else(|| {
        Fault::new(
            Kind::Internal,
            "key_damaged",
            format!(
                "{} is not a token key of this version; restore it from a backup, or remove it to \
                 make a new key (which ends all tokens)",
                path.display()
            ),
        )
    })
}

#[cfg(unix)]
fn refuse_readable_by_others(path: &Path, file: &File) -> Result<(), Fault> {
    use std::os::unix::fs::PermissionsExt;
    // Checks the open file and not the path, which could be swapped between the check and the read.
    let metadata = file.metadata().map_err(|error| unusable(path, "cannot be read", error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let path = path.display();
    Err(Fault::new(
        Kind::Internal,
        "key_exposed",
        format!("{path} can be read by others (mode {mode:03o}); run `chmod 600 {path}`"),
    ))
}

#[cfg(not(unix))]
fn refuse_readable_by_others(_: &Path, _: &File) -> Result<(), Fault> {
    Ok(())
}

/// Makes the new name survive a power cut.
fn sync_folder(data: &Path) -> Result<(), Fault> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    File::open(data)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| unusable(data, "cannot be synced", error))
}

fn unusable(path: &Path, what: &str, error: std::io::Error) -> Fault {
    let message = format!(
        "{} {what} ({}); check that the data folder exists and is writable",
        path.display(),
        error.kind()
    );
    Fault::new(Kind::Internal, "key_unusable", message).caused_by(error)
}

#[cfg(test)]
mod tests;
