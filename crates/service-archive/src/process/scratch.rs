//! The folders in which files are read, one for each job, gone with it: at once where the process
//! lives on, and at the next start where it did not.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use fault::{Fault, Kind};
use jobs::Jobs;

const PREFIX: &str = "job-";

pub(crate) fn of_job(folder: &Path, job_id: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{job_id}"))
}

/// The folder of one job.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn make(path: &Path) -> Result<Self, Fault> {
        let mut folder = DirBuilder::new();
        folder.recursive(true);
        // Pages are drawn here, and the folder of all data may be one that others can enter.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
        folder.create(path).map_err(|error| {
            let message = "there is no room to read the file; try again later";
            Fault::new(Kind::Unavailable, "processing_failed", message).caused_by(error)
        })?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Removes what jobs left behind whose process was killed. A job that is to run again, here or in
/// another process, keeps its own.
pub(crate) async fn sweep(folder: PathBuf, jobs: Jobs) {
    let Ok(mut entries) = tokio::fs::read_dir(&folder).await else { return };
    while let Ok(Some(entry)) = entries.next_entry().await {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|it| it.strip_prefix(PREFIX)) else { continue };
        let over = match jobs.get(id).await {
            Ok(job) => job.state.is_finished(),
            Err(fault) => fault.code() == "job_not_found",
        };
        if over && let Err(error) = tokio::fs::remove_dir_all(entry.path()).await {
            tracing::warn!("a folder of a job that is over stays: {error}");
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
    fn nobody_else_can_look_into_a_folder() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempFolder::new();
        let made = Scratch::make(&of_job(folder.path(), "one")).unwrap();
        let mode = std::fs::metadata(&made.0).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[tokio::test]
    async fn only_what_no_job_will_use_again_is_removed() {
        let folder = TempFolder::new();
        let db = Db::open(&StoreConfig::sqlite(folder.path())).await.unwrap();
        db.migrate(&[jobs::MIGRATIONS]).await.unwrap();
        let clock = Arc::new(FakeClock::new(Millis(0)));
        let jobs = Jobs::new(db.clone(), clock, QueueLimits::default());
        let push = async || jobs.push(NewJob::new("x", &()).unwrap()).await.unwrap().job.id;
        let (live, over) = (push().await, push().await);
        jobs.cancel(&over).await.unwrap();
        let scratch = folder.path().join("scratch");
        let all = [of_job(&scratch, &live), of_job(&scratch, &over), of_job(&scratch, "unknown")];
        for path in all.iter().chain([&scratch.join("other")]) {
            std::fs::create_dir_all(path.join("inner")).unwrap();
        }
        sweep(scratch.clone(), jobs).await;
        assert_eq!(all.map(|it| it.exists()), [true, false, false]);
        assert!(scratch.join("other").exists());
        // No folder, nothing to do.
        let made = Scratch::make(&scratch.join("job-made")).unwrap();
        drop(made);
        assert!(!scratch.join("job-made").exists());
        db.close().await;
    }
}
