//! Checks whether a caller may read, change or delete a file or a job.

use archive_accounts::Visibility;
use archive_documents::FileRecord;
use contract::Caller;
use fault::{Fault, Kind};
use jobs::Job;

use crate::{Archive, INTEGRITY, PROCESS, integrity, processing};

impl Archive {
    /// What the caller may see; a fault if the session has ended.
    pub(crate) async fn visibility(&self, caller: &Caller) -> Result<Visibility, Fault> {
        let owner = self.accounts.owner(&caller.subject).await?;
        self.accounts.visibility(&owner).await
    }

    pub(crate) async fn file_to_read(
        &self,
        visibility: &Visibility,
        id: &str,
    ) -> Result<FileRecord, Fault> {
        let file = self.documents.find(id).await?;
        if sees(visibility, &file) { Ok(file) } else { Err(not_yours("file", id)) }
    }

    pub(crate) async fn file_to_write(
        &self,
        visibility: &Visibility,
        id: &str,
    ) -> Result<FileRecord, Fault> {
        let file = self.file_to_read(visibility, id).await?;
        if visibility.may_write(&file.owner, file.case_id.as_deref()) {
            return Ok(file);
        }
        let message = format!("the file {id} is shared with you for reading only");
        Err(Fault::new(Kind::Forbidden, "file_read_only", message))
    }

    pub(crate) async fn file_to_delete(
        &self,
        visibility: &Visibility,
        id: &str,
    ) -> Result<FileRecord, Fault> {
        let file = self.file_to_read(visibility, id).await?;
        if visibility.may_delete(&file.owner, file.case_id.as_deref()) {
            return Ok(file);
        }
        let message = format!("only its owner and the owner of its case may delete the file {id}");
        Err(Fault::new(Kind::Forbidden, "file_not_yours", message))
    }

    /// A job of the caller, or a job that processes a file the caller may see.
    pub(crate) async fn job_to_read(
        &self,
        visibility: &Visibility,
        id: &str,
    ) -> Result<Job, Fault> {
        let job = self.jobs.get(id).await?;
        self.check_job_access(visibility, &job, Visibility::sees).await?;
        Ok(job)
    }

    pub(crate) async fn job_to_cancel(
        &self,
        visibility: &Visibility,
        id: &str,
    ) -> Result<Job, Fault> {
        let job = self.jobs.get(id).await?;
        self.check_job_access(visibility, &job, Visibility::may_write).await?;
        Ok(job)
    }

    /// The number of queued jobs of an owner, counted up to one page.
    pub(crate) async fn waiting_jobs(&self, kind: &str, owner: &str) -> Result<usize, Fault> {
        let filter = jobs::JobFilter {
            kinds: vec![kind.to_owned()],
            states: vec![jobs::JobState::Queued],
            owner: Some(owner.to_owned()),
            key: None,
        };
        let page = jobs::JobPageRequest { before: None, limit: jobs::JobPageRequest::LIMIT_MAX };
        Ok(self.jobs.list(&filter, &page).await?.jobs.len())
    }

    async fn check_job_access(
        &self,
        visibility: &Visibility,
        job: &Job,
        may: impl Fn(&Visibility, &str, Option<&str>) -> bool,
    ) -> Result<(), Fault> {
        // The queue is shared with other services; their jobs do not exist here.
        if job.kind != PROCESS && job.kind != INTEGRITY {
            let message = format!("there is no job {:?}", job.id);
            return Err(Fault::not_found("job_not_found", message));
        }
        if job.owner.as_deref() == Some(visibility.owner.as_str()) {
            return Ok(());
        }
        if job.kind == PROCESS {
            let payload: processing::ProcessPayload = job.payload_as()?;
            let file = self.documents.find(&payload.file_id).await;
            if file.is_ok_and(|it| may(visibility, &it.owner, it.case_id.as_deref())) {
                return Ok(());
            }
        }
        Err(not_yours("job", &job.id))
    }
}

pub(crate) fn sees(visibility: &Visibility, file: &FileRecord) -> bool {
    visibility.sees(&file.owner, file.case_id.as_deref())
}

/// The file a job belongs to.
pub(crate) fn file_of(job: &Job) -> Result<String, Fault> {
    if job.kind == PROCESS {
        return Ok(job.payload_as::<processing::ProcessPayload>()?.file_id);
    }
    Ok(job.payload_as::<integrity::TestPayload>()?.file_id)
}

fn not_yours(what: &str, id: &str) -> Fault {
    let message = format!("the {what} {id} belongs to another user");
    Fault::new(Kind::Forbidden, "not_yours", message)
}
