//! The signing keys and their file.
//!
//! The first start creates the file, which only its owner can read. It has the lines
//! `stoa-token-key 1`, `current HEX`, and after a rotation `previous HEX`.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};

use crate::secret::{from_hex, to_hex};

/// The name of the key file in the data folder.
pub const KEY_FILE: &str = "token.key";
const HEADER: &str = "stoa-token-key 1";
/// How many bytes of the key file are read; a valid file is far shorter.
const FILE_BYTES_MAX: u64 = 4096;

/// The current key, which signs and verifies, and the previous key, which only verifies.
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
    /// A new key that is not written to a file.
    pub fn generate() -> Result<Self, Fault> {
        let mut current = [0; 32];
        getrandom::fill(&mut current).map_err(Fault::internal)?;
        Ok(Self { current, previous: None })
    }

    /// Reads `<data>/token.key`, and creates it if it does not exist. If several processes start
    /// together, one of them creates it and all read the same key.
    pub fn open(data: &Path) -> Result<Self, Fault> {
        let path = data.join(KEY_FILE);
        if let Some(keys) = read(&path)? {
            return Ok(keys);
        }
        let temporary = Self::generate()?.write_temporary(data)?;
        // A hard link, unlike a rename, never replaces a key that another process has just created.
        let linked = fs::hard_link(&temporary, &path);
        remove_temporary(&temporary);
        if let Err(error) = linked
            && error.kind() != ErrorKind::AlreadyExists
        {
            return Err(unusable(&path, "cannot be created", error));
        }
        sync_folder(data)?;
        read(&path)?.ok_or_else(|| unusable(&path, "vanished", ErrorKind::NotFound.into()))
    }

    /// Makes a new current key. Tokens of the key before it stay valid until the next rotation.
    pub fn rotate(data: &Path) -> Result<Self, Fault> {
        let path = data.join(KEY_FILE);
        let old = Self::open(data)?;
        let keys = Self { previous: Some(old.current), ..Self::generate()? };
        let temporary = keys.write_temporary(data)?;
        fs::rename(&temporary, &path).map_err(|error| {
            remove_temporary(&temporary);
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

    /// Writes the file under a unique temporary name, so that no reader sees a part of it.
    fn write_temporary(&self, data: &Path) -> Result<PathBuf, Fault> {
        let mut tag = [0; 8];
        getrandom::fill(&mut tag).map_err(Fault::internal)?;
        let temporary = data.join(format!("{KEY_FILE}.{}", to_hex(&tag)));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&temporary).and_then(|mut file| {
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()
        });
        match written {
            Ok(()) => Ok(temporary),
            Err(error) => {
                remove_temporary(&temporary);
                Err(unusable(&temporary, "cannot be written", error))
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

/// Removes the temporary file. If that fails, the file that stays has the same mode as the key file.
fn remove_temporary(path: &Path) {
    drop(fs::remove_file(path));
}

/// The keys in a file; `None` if the file does not exist.
fn read(path: &Path) -> Result<Option<Keyring>, Fault> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, "cannot be read", error)),
    };
    refuse_readable_by_others(path, &file)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| unusable(path, "cannot be read", error))?;
    Keyring::parse(&text).map(Some).ok_or_else(|| {
        Fault::new(
            Kind::Internal,
            "key_damaged",
            format!(
                "{} is not a token key of this version; restore it from a backup, or remove it to \
                 create a new key, which makes all tokens invalid",
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

/// Syncs the folder, so that the new file name survives a power failure.
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
