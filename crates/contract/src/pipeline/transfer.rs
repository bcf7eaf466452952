//! Uploads and downloads take the steps of a call: an upload's handler reads the form while it
//! arrives, and a download is a call until its first byte.

use std::sync::Arc;
use std::time::Duration;

use fault::Fault;
use serde_json::Map;
use tokio::time::Instant;

use super::{CallOutcome, Operation, Pipeline, fail};
use crate::call::Call;
use crate::download::Download;
use crate::envelope::CallFailure;
use crate::row_ref::{DownloadRef, UploadRef};
use crate::upload::Upload;

/// How long an upload may take from its first byte to its reply. The transport ends uploads that
/// stall.
const UPLOAD_TIMEOUT: Duration = Duration::from_hours(1);

impl Pipeline {
    /// Runs an upload, whose form is `form`.
    pub async fn upload(&self, upload: &UploadRef, call: Call, form: Upload) -> CallOutcome {
        let row = upload.row();
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.meta.request_id);
        let operation = Operation {
            service: upload.service(),
            name: &row.spec.name,
            scope: row.scope,
            input: None,
            timeout: UPLOAD_TIMEOUT,
            limiter: Some(&row.limiter),
            caller: None,
        };
        let form = form.with_spec(&row.spec);
        let mut repeated = Map::new();
        let receive = |cx, _| (row.receiver)(cx, form);
        let result = self.execute(&operation, call, started, &mut repeated, receive).await;
        let result = result.and_then(|reply| match self.validate_replies {
            true => row.spec.output.check(&reply.result()).map(|()| reply).map_err(|fault| {
                Fault::internal(format!("{} broke its own contract: {fault}", row.spec.name))
            }),
            false => Ok(reply),
        });
        self.record(&operation, transport, started, result.as_ref().err());
        result.map_err(|fault| fail(&operation, &fault, &request_id, &repeated))
    }

    /// Starts a download.
    pub async fn download(
        &self,
        download: &DownloadRef,
        call: Call,
    ) -> Result<Download, CallFailure> {
        let row = download.row();
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.meta.request_id);
        let operation = Operation {
            service: download.service(),
            name: &row.spec.name,
            scope: row.scope,
            input: Some(&row.spec.input),
            timeout: self.timeout,
            limiter: None,
            caller: None,
        };
        let mut repeated = Map::new();
        let result = self
            .execute(&operation, call, started, &mut repeated, |cx, args| {
                let opened = (row.open)(cx, args);
                Box::pin(async move { opened.await?.with_first_chunk().await })
            })
            .await;
        self.record(&operation, transport, started, result.as_ref().err());
        result.map_err(|fault| fail(&operation, &fault, &request_id, &repeated))
    }
}
