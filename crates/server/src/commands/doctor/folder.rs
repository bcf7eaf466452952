//! Checks that the data folder and its key file can be created and used, and that no other user can
//! read the key.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use auth::{KEY_FILE, Keyring};

use super::Finding;

const WHAT: &str = "data folder";
const KEY: &str = "token key";
/// The permission bits of all users except the owner.
const OTHERS: u32 = 0o077;

/// Creates the folder if it is missing, as the server would.
pub(super) fn check(data: &Path) -> Finding {
    let path = data.display();
    let created = match fs::metadata(data) {
        Ok(found) if !found.is_dir() => {
            return Finding::fail(WHAT, format!("{path} is not a folder"))
                .fix("choose another with --data DIR or STOA_DATA");
        }
        Ok(_) => "",
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Err(error) = DirBuilder::new().recursive(true).mode(0o700).create(data) {
                return Finding::fail(WHAT, format!("{path} cannot be created ({})", error.kind()))
                    .fix("choose another with --data DIR or STOA_DATA");
            }
            ", new"
        }
        Err(error) => {
            return Finding::fail(WHAT, format!("{path} cannot be read ({})", error.kind()))
                .fix("choose another with --data DIR or STOA_DATA");
        }
    };
    if let Err(error) = write_probe(data) {
        return Finding::fail(WHAT, format!("{path} cannot be written to ({})", error.kind())).fix(
            format!("make it yours (`chown -R \"$USER\" {path}`), or free space on its disk"),
        );
    }
    match mode(data) {
        Some(mode) if mode & OTHERS != 0 => {
            Finding::warn(WHAT, format!("{path} is open to others (mode {mode:03o})"))
                .fix(format!("chmod 700 {path}"))
        }
        _ => Finding::ok(WHAT, format!("{path} is writable and private{created}")),
    }
}

/// Whether a file can be created, written and removed; a full disk still allows creating one.
fn write_probe(data: &Path) -> std::io::Result<()> {
    let file = data.join(format!(".doctor.{}", std::process::id()));
    let opened = OpenOptions::new().write(true).create(true).truncate(true).open(&file);
    let written = opened.and_then(|mut opened| {
        std::io::Write::write_all(&mut opened, &[0; 4096])?;
        opened.sync_all()
    });
    let removed = fs::remove_file(&file);
    written.and(removed)
}

/// Creates the key if it is missing, as the server would.
pub(super) fn check_key(data: &Path) -> Finding {
    let file = data.join(KEY_FILE);
    let path = file.display();
    match mode(&file) {
        Some(mode) if mode & OTHERS != 0 => {
            return Finding::fail(KEY, format!("{path} can be read by others (mode {mode:03o})"))
                .fix(format!(
                    "chmod 600 {path}, and mint new tokens if another user may have read it"
                ));
        }
        _ => {}
    }
    match Keyring::open(data) {
        Ok(_) => Finding::ok(KEY, format!("{path} is readable by its owner alone")),
        Err(fault) => Finding::fail(KEY, fault.to_string()),
    }
}

fn mode(path: &Path) -> Option<u32> {
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use testkit::TempFolder;

    use super::super::Level;
    use super::*;

    #[test]
    fn a_missing_folder_is_created_private() {
        let folder = TempFolder::new();
        let data = folder.path().join("a/b");
        assert_eq!(check(&data).level, Level::Ok);
        assert_eq!(mode(&data), Some(0o700));
        assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "the probe stayed");
    }

    #[test]
    fn files_that_other_users_can_read_are_found() {
        let folder = TempFolder::new();
        let data = folder.path().join("data");
        assert_eq!(check(&data).level, Level::Ok);
        fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
        let finding = check(&data);
        assert_eq!(finding.level, Level::Warn);
        assert!(finding.fix.unwrap().starts_with("chmod 700 "));

        assert_eq!(check_key(&data).level, Level::Ok);
        let key = data.join(KEY_FILE);
        fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(check_key(&data).level, Level::Fail);
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        fs::write(&key, "not a key").unwrap();
        assert_eq!(check_key(&data).level, Level::Fail);
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_found() {
        let folder = TempFolder::new();
        let file = folder.path().join("data");
        fs::write(&file, "").unwrap();
        assert_eq!(check(&file).level, Level::Fail);
        assert_eq!(check(&file.join("below")).level, Level::Fail);
    }
}
