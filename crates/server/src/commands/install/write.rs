//! Changes a client's file, completely or not at all, with a copy of the old text beside it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The largest file that is changed.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Unchanged,
    Written(Backup),
}

/// The copy of the old text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Backup {
    /// There was no file before.
    None,
    Copy(PathBuf),
}

/// The text of a file; empty if there is no file.
pub(super) fn read_text(file: &Path) -> Result<String, String> {
    Ok(read(&resolve_link(file)?)?.map_or_else(String::new, |(text, _)| text))
}

/// The file that a symbolic link names. Many users keep these files elsewhere, and a rename would
/// replace the link.
fn resolve_link(file: &Path) -> Result<PathBuf, String> {
    match fs::canonicalize(file) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => {
            Ok(file.to_path_buf())
        }
        Err(error) => Err(format!("it cannot be read ({})", error.kind())),
    }
}

/// Replaces a file's text by the result of `edit`; a missing file is an empty text. A file that
/// cannot be read, or that `edit` refuses, is not changed. With `private`, only the user may read the
/// file and its copy afterwards.
pub(super) fn edit_file(
    file: &Path,
    private: bool,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Outcome, String> {
    let file = resolve_link(file)?;
    let private_mode = private.then(|| Permissions::from_mode(0o600));
    let Some((before, permissions)) = read(&file)? else {
        let after = edit("")?;
        if let Some(folder) = file.parent() {
            let refuse = |error: std::io::Error| {
                format!("the folder {} cannot be created ({})", folder.display(), error.kind())
            };
            fs::create_dir_all(folder).map_err(refuse)?;
        }
        replace(&file, &after, private_mode.as_ref())?;
        return Ok(Outcome::Written(Backup::None));
    };
    let after = edit(&before)?;
    if after == before {
        return Ok(Outcome::Unchanged);
    }
    let permissions = private_mode.unwrap_or(permissions);
    let copy = sibling(&file, "", ".bak");
    replace(&copy, &before, Some(&permissions))?;
    replace(&file, &after, Some(&permissions))?;
    Ok(Outcome::Written(Backup::Copy(copy)))
}

fn read(file: &Path) -> Result<Option<(String, Permissions)>, String> {
    let refuse = |error: std::io::Error| format!("it cannot be read ({})", error.kind());
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(error)),
    };
    // Reading a named pipe could block for ever.
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(refuse)?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Some((text, metadata.permissions())))
}

/// Replaces the file by a rename, so that no client reads a part of it.
fn replace(file: &Path, text: &str, permissions: Option<&Permissions>) -> Result<(), String> {
    let temporary = sibling(file, ".", &format!(".{}.tmp", std::process::id()));
    let written =
        write_temporary(&temporary, text, permissions).and_then(|()| fs::rename(&temporary, file));
    written.map_err(|error| {
        // A failure to remove the temporary file is ignored, because the first error matters more.
        drop(fs::remove_file(&temporary));
        format!("{} cannot be written ({})", file.display(), error.kind())
    })
}

fn write_temporary(
    temporary: &Path,
    text: &str,
    permissions: Option<&Permissions>,
) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Private until it gets the mode of the file that it replaces, which may contain secrets.
    if permissions.is_some() {
        options.mode(0o600);
    }
    let mut opened = options.open(temporary)?;
    opened.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        opened.set_permissions(permissions.clone())?;
    }
    opened.sync_all()
}

/// A path in the same folder: the name of the file with a prefix and a suffix.
fn sibling(file: &Path, prefix: &str, suffix: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(prefix);
    name.push(file.file_name().unwrap_or_default());
    name.push(suffix);
    file.with_file_name(name)
}

#[cfg(test)]
mod tests;
