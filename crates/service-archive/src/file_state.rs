//! The status of a file as its job has it, for files whose record is out of date.

use archive_documents::{FileRecord, FileStatus};
use jobs::JobState;

use crate::Archive;

impl Archive {
    /// Corrects the status of a file whose process died during the last attempt: the record says
    /// `processing`, and the job in the queue says how the attempt ended.
    pub(crate) async fn refresh_status(&self, file: &mut FileRecord) {
        let Some(id) = file.job_id.as_ref().filter(|_| file.status == FileStatus::Processing)
        else {
            return;
        };
        let gone = "its job is no longer known; process it again".to_owned();
        let error = match self.jobs.get(id).await {
            Ok(job) if job.state == JobState::Failed => {
                job.error.map_or_else(|| "its job failed".to_owned(), |it| it.message)
            }
            Ok(job) if job.state == JobState::Cancelled => {
                let read = file.page_count.is_some();
                file.status = if read { FileStatus::Processed } else { FileStatus::Uploaded };
                return;
            }
            Err(fault) if fault.code() == "job_not_found" => gone,
            _ => return,
        };
        file.status = FileStatus::Failed;
        file.error = Some(error);
    }
}
