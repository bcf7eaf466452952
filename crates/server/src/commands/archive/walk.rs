//! The files at some paths: those of folders too, without hidden ones. Links to folders are not
//! followed, so a circle of links has no effect.

use std::path::{Path, PathBuf};

use crate::exit::CommandError;

/// The most files of one command.
const FILES_MAX: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    /// In the order of their names.
    pub(super) files: Vec<PathBuf>,
    /// Paths that could not be read, each with the reason.
    pub(super) skipped: Vec<(String, String)>,
}

pub(super) fn files(paths: &[PathBuf]) -> Result<FoundFiles, CommandError> {
    let mut found = FoundFiles::default();
    for path in paths {
        let metadata = std::fs::metadata(path)
            .map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))?;
        match metadata.is_dir() {
            true => walk(path, &mut found)?,
            false => found.files.push(path.clone()),
        }
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut FoundFiles) -> Result<(), CommandError> {
    // The last one is the next, so that files come in the order of their names.
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let is_folder = path.as_path() == folder
            || std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder {
            if std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                let reason = "a link to a folder; name the folder itself".to_owned();
                found.skipped.push((path.display().to_string(), reason));
                continue;
            }
            found.files.push(path);
            if found.files.len() > FILES_MAX {
                let message = format!("there are more than {FILES_MAX} files; add fewer at once");
                return Err(CommandError::usage(message));
            }
            continue;
        }
        match entries(&path) {
            Ok(inside) => open.extend(inside.into_iter().rev()),
            Err(error) => found.skipped.push((path.display().to_string(), error.to_string())),
        }
    }
    Ok(())
}

/// What is in a folder, by name, without hidden files.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            inside.push(entry.path());
        }
    }
    inside.sort();
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_are_walked_by_name_and_links_to_folders_are_not() {
        let folder = testkit::TempFolder::new();
        let root = folder.path().to_owned();
        std::fs::create_dir_all(root.join("b/c")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        for name in ["a.txt", "b/2.txt", "b/c/1.txt", "d.txt", ".git/x", ".hidden"] {
            std::fs::write(root.join(name), "x").unwrap();
        }
        symlink(&root, root.join("b/circle")).unwrap();
        symlink(root.join("a.txt"), root.join("e.txt")).unwrap();
        let found = files(&[root.clone(), root.join(".hidden")]).unwrap();
        let names: Vec<String> = found
            .files
            .iter()
            .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["a.txt", "b/2.txt", "b/c/1.txt", "d.txt", "e.txt", ".hidden"]);
        assert_eq!(found.skipped.len(), 1, "{found:?}");
        assert!(files(&[root.join("none")]).is_err());
    }
}
