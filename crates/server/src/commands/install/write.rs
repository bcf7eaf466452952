//! Changes a file of another program: completely or not at all, with a backup of the old text.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The largest configuration file; a larger file is not one.
const FILE_MAX: u64 = 8 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Unchanged,
    Written(Kept),
}

/// What happened to the old text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There was no file.
    Nothing,
    Copy(PathBuf),
}

/// The text of a file; empty if there is no file.
pub(super) fn text(file: &Path) -> Result<String, String> {
    Ok(read(&real(file)?)?.map_or_else(String::new, |(text, _)| text))
}

/// The file behind a symbolic link: many users keep these files elsewhere, and a rename would
/// replace the link.
fn real(file: &Path) -> Result<PathBuf, String> {
    match fs::canonicalize(file) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => {
            Ok(file.to_path_buf())
        }
        Err(error) => Err(format!("it cannot be read ({})", error.kind())),
    }
}

/// Replaces a file's text by the result of `edit`; a missing file is an empty text. A file that
/// cannot be read, or that `edit` refuses, is not changed. Where `private` is set, only the user may
/// read the file and its copy afterwards.
pub(super) fn change(
    file: &Path,
    private: bool,
    edit: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Outcome, String> {
    let file = real(file)?;
    let alone = private.then(|| Permissions::from_mode(0o600));
    let Some((before, permissions)) = read(&file)? else {
        let after = edit("")?;
        if let Some(folder) = file.parent() {
            let refuse = |error: std::io::Error| {
                format!("the folder {} cannot be made ({})", folder.display(), error.kind())
            };
            fs::create_dir_all(folder).map_err(refuse)?;
        }
        replace(&file, &after, alone.as_ref())?;
        return Ok(Outcome::Written(Kept::Nothing));
    };
    let after = edit(&before)?;
    if after == before {
        return Ok(Outcome::Unchanged);
    }
    let permissions = alone.unwrap_or(permissions);
    let copy = beside(&file, "", ".bak");
    replace(&copy, &before, Some(&permissions))?;
    replace(&file, &after, Some(&permissions))?;
    Ok(Outcome::Written(Kept::Copy(copy)))
}

fn read(file: &Path) -> Result<Option<(String, Permissions)>, String> {
    let refuse = |error: std::io::Error| format!("it cannot be read ({})", error.kind());
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(error)),
    };
    // Reading a pipe would block for ever.
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(refuse)?;
    opened.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(format!("it is larger than {FILE_MAX} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Some((text, metadata.permissions())))
}

/// Replaces the file by a rename, so that no client ever reads half of it.
fn replace(file: &Path, text: &str, permissions: Option<&Permissions>) -> Result<(), String> {
    let draft = beside(file, ".", &format!(".{}.tmp", std::process::id()));
    let written = write_draft(&draft, text, permissions).and_then(|()| fs::rename(&draft, file));
    written.map_err(|error| {
        // A failure to remove the temporary file is ignored, because the first error matters more.
        drop(fs::remove_file(&draft));
        format!("{} cannot be written ({})", file.display(), error.kind())
    })
}

fn write_draft(draft: &Path, text: &str, permissions: Option<&Permissions>) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Private until it has the mode of the file it replaces, which may hold other servers' secrets.
    if permissions.is_some() {
        options.mode(0o600);
    }
    let mut opened = options.open(draft)?;
    opened.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        opened.set_permissions(permissions.clone())?;
    }
    opened.sync_all()
}

/// A temporary name in the same folder, derived from the file's name.
fn beside(file: &Path, before: &str, after: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(before);
    name.push(file.file_name().unwrap_or_default());
    name.push(after);
    file.with_file_name(name)
}

#[cfg(test)]
mod tests;
