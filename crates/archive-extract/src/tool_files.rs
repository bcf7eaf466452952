//! The files that the child and its tools may open: the document, the scratch folder, and the
//! system's programs, libraries, fonts and OCR data. The server's data folder is not among them.

use std::env;
use std::path::{Path, PathBuf};

use sandbox::FileAccess;

/// The folders of Linux systems with programs, libraries and fonts.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/var/cache/fontconfig",
    "/nix/store",
    "/gnu/store",
    "/dev/urandom",
    "/dev/zero",
];

/// The programs that the child starts.
const TOOLS: [&str; 4] = ["tesseract", "pdftoppm", "pdftotext", "pdfinfo"];

pub(crate) fn access(document: &Path, scratch: &Path, with_tools: bool) -> FileAccess {
    let mut files = FileAccess { read: vec![document.to_owned()], write: vec![scratch.to_owned()] };
    if with_tools {
        files.read.extend(SYSTEM.map(PathBuf::from));
        files.read.extend(installed_elsewhere());
        files.write.push(PathBuf::from("/dev/null"));
    }
    files
}

/// The folders of tools that are installed outside [`SYSTEM`], and of their libraries and data.
fn installed_elsewhere() -> Vec<PathBuf> {
    let folders =
        |name: &str| env::var_os(name).map(|it| env::split_paths(&it).collect::<Vec<_>>());
    let mut paths = folders("LD_LIBRARY_PATH").unwrap_or_default();
    paths.extend(env::var_os("TESSDATA_PREFIX").map(PathBuf::from));
    let programs = folders("PATH").unwrap_or_default();
    for folder in TOOLS.iter().filter_map(|tool| folder_of(tool, &programs)) {
        let beside = folder.parent().unwrap_or(&folder);
        paths.extend(["lib", "lib64", "share/tessdata", "share/poppler"].map(|it| beside.join(it)));
        paths.push(folder);
    }
    paths.retain(|it| it.is_absolute());
    paths
}

fn folder_of(tool: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let found = folders.iter().map(|it| it.join(tool)).find(|it| it.is_file())?;
    let real = found.canonicalize().unwrap_or(found);
    real.parent().map(Path::to_owned)
}
