//! Finds the configuration file: the one that the user names, else `stoa.toml` in the data folder, else
//! in the user's configuration folder. A file of the current folder is read only if the user names it: a
//! program that an editor starts in a cloned project would send the user's keys where that project says.

use std::path::{Path, PathBuf};

const NAME: &str = "stoa.toml";

/// The configuration file in use, and a file of the current folder that is not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    /// The file that was read.
    pub(crate) used: Option<PathBuf>,
    /// `stoa.toml` of the current folder, if it exists and was not read.
    pub(crate) ignored: Option<PathBuf>,
    /// Where a user can put a file so that it is read without being named.
    pub(crate) default_path: Option<PathBuf>,
}

/// The folders in which a configuration file is searched.
pub(super) struct Folders {
    /// The data folder, if a flag, a variable or the user's home says where it is.
    pub(super) data: Option<PathBuf>,
    /// The user's folder for configuration.
    pub(super) config: Option<PathBuf>,
}

impl ConfigFile {
    pub(super) fn find(named: Option<&Path>, folders: &Folders, current: &Path) -> Self {
        let candidates: Vec<PathBuf> = [&folders.data, &folders.config]
            .into_iter()
            .flatten()
            .map(|it| it.join(NAME))
            .collect();
        let found = || candidates.iter().find(|path| exists(path)).cloned();
        let used = named.map(|path| absolute(path, current)).or_else(found);
        let here = current.join(NAME);
        let is_used = used.as_ref().is_some_and(|used| is_same(used, &here));
        let ignored = (!is_used && exists(&here)).then_some(here);
        Self { used, ignored, default_path: candidates.into_iter().next_back() }
    }

    /// What to do about a file that is not read; `None` if there is none.
    pub(crate) fn advice(&self) -> Option<String> {
        let ignored = self.ignored.as_ref()?.display();
        let or_move = self
            .default_path
            .as_ref()
            .map_or_else(String::new, |path| format!(", or move it to {}", path.display()));
        Some(format!("{ignored} is not read; name it with --config {ignored}{or_move}"))
    }
}

/// Also true of a file that cannot be read, so that reading it reports the error.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn absolute(path: &Path, current: &Path) -> PathBuf {
    current.join(path)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use testkit::TempFolder;

    use super::*;

    /// Folders `data`, `config` and `here`, with a file in those that are listed.
    fn check(files: &[&str], named: Option<&str>, used: Option<&str>, ignored: bool) {
        let root = TempFolder::new();
        let folder = |name: &str| root.path().join(name);
        for name in ["data", "config", "here"] {
            std::fs::create_dir(folder(name)).unwrap();
        }
        for name in files {
            std::fs::write(folder(name).join(NAME), "").unwrap();
        }
        let folders = Folders { data: Some(folder("data")), config: Some(folder("config")) };
        let named = named.map(Path::new);
        let found = ConfigFile::find(named, &folders, &folder("here"));
        assert_eq!(found.used, used.map(|used| root.path().join(used)), "{files:?} {named:?}");
        let here = folder("here").join(NAME);
        assert_eq!(found.ignored, ignored.then_some(here), "{files:?} {named:?}");
        let advice = found.advice().unwrap_or_default();
        assert_eq!(advice.contains("--config") && advice.contains("config/stoa.toml"), ignored);
    }

    #[test]
    fn a_file_of_the_current_folder_is_read_only_by_name() {
        check(&[], None, None, false);
        check(&["here"], None, None, true);
        check(&["here"], Some("stoa.toml"), Some("here/stoa.toml"), false);
        check(&["here", "config"], None, Some("config/stoa.toml"), true);
        check(&["data", "config"], None, Some("data/stoa.toml"), false);
        check(&["data", "here"], None, Some("data/stoa.toml"), true);
        check(&["data", "here"], Some("../x.toml"), Some("here/../x.toml"), true);
    }

    #[test]
    fn the_current_folder_may_be_the_data_folder() {
        let folder = TempFolder::new();
        std::fs::write(folder.path().join(NAME), "").unwrap();
        let folders = Folders { data: Some(folder.path().to_owned()), config: None };
        let found = ConfigFile::find(None, &folders, folder.path());
        assert_eq!((found.used, found.ignored), (Some(folder.path().join(NAME)), None));
        let nowhere = ConfigFile::find(None, &Folders { data: None, config: None }, folder.path());
        assert!(nowhere.used.is_none() && nowhere.advice().unwrap().contains("--config"));
    }
}
