//! One folder per job for the child process, removed when the job ends or, after a crash, at the
//! next start.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use jobs::Jobs;

const PREFIX: &str = "job-";

pub(crate) fn job_folder(folder: &Path, job_id: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{job_id}"))
}

/// The folder of one job; dropping it removes the folder.
pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub(crate) fn make(path: &Path) -> Result<Self, Fault> {
        let mut folder = DirBuilder::new();
        folder.recursive(true);
        // Mode 0700: page images are rendered here, and the data folder may be readable by others.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(path).map_err(|error| {
            let message = "there is no room to read the file; try again later";
            Fault::new(Kind::Unavailable, "processing_failed", message).caused_by(error)
        })?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Removes the folders of finished jobs whose process was killed. A job that will run again keeps
/// its folder.
pub(crate) async fn remove_leftover_folders(folder: PathBuf, jobs: Jobs) {
    let Ok(mut entries) = tokio::fs::read_dir(&folder).await else { return };
    while let Ok(Some(entry)) = entries.next_entry().await {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|it| it.strip_prefix(PREFIX)) else { continue };
        let is_finished = match jobs.get(id).await {
            Ok(job) => job.state.is_finished(),
            Err(fault) => fault.code() == "job_not_found",
        };
        if is_finished && let Err(error) = tokio::fs::remove_dir_all(entry.path()).await {
            tracing::warn!("the scratch folder of a finished job was not removed: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clock::Millis;
    use jobs::{NewJob, QueueLimits};
    use store::{Db, StoreConfig};
    use testkit::{FakeClock, TempFolder};

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_scratch_folder_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempFolder::new();
        let made = ScratchFolder::make(&job_folder(folder.path(), "one")).unwrap();
        let mode = std::fs::metadata(&made.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[tokio::test]
    async fn only_folders_of_finished_jobs_are_removed() {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[jobs::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(0)));
        let jobs = Jobs::new(db.clone(), clock, QueueLimits::default());
        let push = async || jobs.push(NewJob::new("x", &()).unwrap()).await.unwrap().job.id;
        let (running, ended) = (push().await, push().await);
        jobs.cancel(&ended).await.unwrap();
        let scratch = folder.path().join("scratch");
        let all = [
            job_folder(&scratch, &running),
            job_folder(&scratch, &ended),
            job_folder(&scratch, "unknown"),
        ];
        for path in all.iter().chain([&scratch.join("other")]) {
            std::fs::create_dir_all(path.join("inner")).unwrap();
        }
        remove_leftover_folders(scratch.clone(), jobs).await;
        assert_eq!(all.map(|it| it.exists()), [true, false, false]);
        assert!(scratch.join("other").exists());
        let made = ScratchFolder::make(&scratch.join("job-made")).unwrap();
        drop(made);
        assert!(!scratch.join("job-made").exists());
        db.close().await;
    }
}
