//! The path of each client's configuration file on this machine, and whether the client is installed.

use std::path::{Path, PathBuf};

use crate::commands::install::clients::{ClientRow, FileRow, Reach};
use crate::exit::CommandError;

/// The folders and variables of the user who runs this process.
pub(super) struct UserEnvironment {
    pub(super) home: Option<PathBuf>,
    /// The project folder, for files that belong to a project.
    pub(super) here: PathBuf,
    /// The variables with which clients move their files.
    pub(super) variables: Vec<(String, PathBuf)>,
    /// The folders of `PATH`.
    pub(super) programs: Vec<PathBuf>,
}

/// A configuration file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientFile {
    pub(super) file: PathBuf,
    pub(super) reach: Reach,
}

impl UserEnvironment {
    pub(super) fn of_this_process() -> Result<Self, CommandError> {
        let absolute = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            let value = PathBuf::from(value);
            Some((name.into_string().ok()?, value)).filter(|(_, value)| value.is_absolute())
        };
        let programs = std::env::vars_os().find(|(name, _)| name == "PATH");
        Ok(Self {
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            here: std::env::current_dir()?,
            variables: std::env::vars_os().filter_map(absolute).collect(),
            programs: programs
                .map_or_else(Vec::new, |(_, list)| std::env::split_paths(&list).collect()),
        })
    }

    /// The client's file for this reach, or its default file; `None` if the client has no file.
    pub(super) fn file(
        &self,
        row: &ClientRow,
        reach: Option<Reach>,
    ) -> Result<Option<ClientFile>, CommandError> {
        let Some(default) = row.files.first() else { return Ok(None) };
        let chosen = match reach {
            None => default,
            Some(reach) => row.files.iter().find(|file| file.reach == reach).ok_or_else(|| {
                let (title, word) = (row.title, reach.flag_name());
                CommandError::usage(format!("{title} has no file for --{word}; leave it out"))
            })?,
        };
        self.path(chosen).map(|file| Some(ClientFile { file, reach: chosen.reach }))
    }

    fn path(&self, file: &FileRow) -> Result<PathBuf, CommandError> {
        if let Some((name, below)) = file.variable
            && let Some((_, folder)) = self.variables.iter().find(|(it, _)| it == name)
        {
            return Ok(folder.join(below));
        }
        let path = if cfg!(target_os = "macos") { file.macos } else { file.linux };
        match (file.reach, &self.home) {
            (Reach::Project, _) => Ok(self.here.join(path)),
            (Reach::User, Some(home)) => Ok(home.join(path)),
            (Reach::User, None) => Err(CommandError::usage("there is no home folder; set HOME")),
        }
    }

    /// The program or folder that shows that a client is installed.
    pub(super) fn installed_at(&self, row: &ClientRow) -> Option<PathBuf> {
        let in_folder = |folder: &PathBuf| {
            let mut programs = row.programs.iter().map(|name| folder.join(name));
            programs.find(|it| is_program(it))
        };
        let mut programs = self.programs.iter().filter_map(in_folder);
        let folder = |name: &&str| self.home.as_ref().map(|home| home.join(name));
        let mut folders = row.folders.iter().filter_map(folder).filter(|it| it.exists());
        programs.next().or_else(|| folders.next())
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
