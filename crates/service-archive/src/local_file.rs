//! Opens a file of this machine that the local caller names. Only regular files are opened: opening
//! a device can have an effect, and a pipe has no end.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use fault::Fault;
use tokio::task::spawn_blocking;

const FIELD: &str = "path";

/// The last component of a path, and the opened file. No message repeats the path.
pub(crate) async fn open(path: &str) -> Result<(String, tokio::fs::File), Fault> {
    let path = path.to_owned();
    let opened = spawn_blocking(move || {
        let path = Path::new(&path);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        // The type is checked before the file is opened, because opening a device can have an
        // effect.
        let metadata = std::fs::metadata(path).map_err(|error| open_error(&error))?;
        check(&metadata)?;
        let file = open_without_waiting(path).map_err(|error| open_error(&error))?;
        // Another file may have taken the place of the checked one.
        check(&file.metadata().map_err(|error| open_error(&error))?)?;
        Ok((name.unwrap_or_default(), tokio::fs::File::from_std(file)))
    });
    opened.await.map_err(Fault::internal)?
}

/// A pipe that took the place of the file must not make the opening wait for a writer.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NONBLOCK | libc::O_NOCTTY,
    );
    options.open(path)
}

/// Refuses folders, special files and empty files. Files of the kernel, such as those in `/proc`,
/// have the length 0.
fn check(metadata: &Metadata) -> Result<(), Fault> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        let message = "the path is a folder; `stoa archive add` takes folders";
        return Err(refused(message, "the path of a file"));
    }
    if !kind.is_file() {
        let message = "the path is no regular file but a device, a pipe or a socket";
        return Err(refused(message, "the path of a regular file"));
    }
    match metadata.len() {
        0 => {
            Err(Fault::invalid("empty_file", "the file is empty")
                .problem(FIELD, "a file with bytes"))
        }
        _ => Ok(()),
    }
}

fn open_error(error: &io::Error) -> Fault {
    let expected = "the full path of a file that this program may read";
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            refused("there is no file at this path; give the full path", expected)
        }
        io::ErrorKind::PermissionDenied => {
            refused("this program may not read the file at this path", expected)
        }
        _ if error.raw_os_error() == Some(libc::ELOOP) => {
            refused("the links at this path lead in a circle", expected)
        }
        _ => refused("the file at this path cannot be opened", expected),
    }
}

fn refused(message: &str, expected: &str) -> Fault {
    Fault::invalid("invalid_path", message).problem(FIELD, expected)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use testkit::TempFolder;

    #[track_caller]
    fn check_refused(opened: Result<(String, tokio::fs::File), Fault>, code: &str, word: &str) {
        let fault = opened.unwrap_err();
        assert_eq!(fault.code(), code, "{fault}");
        assert!(fault.message().contains(word), "{fault}");
        assert_eq!(fault.problems()[0].field, "path");
    }

    #[tokio::test]
    async fn only_regular_files_are_opened() {
        let folder = TempFolder::new();
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::write(at("a.txt"), "words").unwrap();
        std::fs::write(at("empty.txt"), "").unwrap();
        symlink(at("a.txt"), at("link.txt")).unwrap();
        symlink(at("circle"), at("circle")).unwrap();
        symlink("/dev/zero", at("zero.txt")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(at("pipe.txt")).status().unwrap();
        assert!(pipe.success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket.txt")).unwrap();
        assert_eq!(open(&at("a.txt")).await.unwrap().0, "a.txt");
        assert_eq!(open(&at("link.txt")).await.unwrap().0, "link.txt");
        for (path, code, word) in [
            (at("empty.txt"), "empty_file", "empty"),
            (at("circle"), "invalid_path", "circle"),
            (at("zero.txt"), "invalid_path", "device"),
            (at("pipe.txt"), "invalid_path", "pipe"),
            (at("socket.txt"), "invalid_path", "socket"),
            (at("none.txt"), "invalid_path", "no file"),
            (at("a.txt/x"), "invalid_path", "no file"),
            (at(""), "invalid_path", "folder"),
            ("/proc/self/environ".to_owned(), "empty_file", ""),
            ("a\0b".to_owned(), "invalid_path", "cannot be opened"),
            (String::new(), "invalid_path", "no file"),
            ("x".repeat(10_000), "invalid_path", ""),
        ] {
            check_refused(open(&path).await, code, word);
        }
    }

    #[test]
    fn a_pipe_without_a_writer_does_not_hold_the_opening() {
        let folder = TempFolder::new();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(open_without_waiting(&path).is_ok());
    }
}
