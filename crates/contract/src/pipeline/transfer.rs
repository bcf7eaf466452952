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
use crate::upload::Upload;

/// How long an upload may take from its first byte to its reply. The transport ends uploads that
/// stall.
const UPLOAD_TIMEOUT: Duration = Duration::from_hours(1);

impl Pipeline {
    /// Runs an upload; `None` if the service has no upload of that name.
    pub async fn upload(
        &self,
        service: &str,
        name: &str,
        call: Call,
        upload: Upload,
    ) -> Option<CallOutcome> {
        let (service, row) = self.catalog.upload(service, name)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.meta.request_id);
        let operation = Operation {
            service,
            name: &row.spec.name,
            scope: row.scope,
            input: None,
            timeout: UPLOAD_TIMEOUT,
            limiter: Some(&row.limiter),
            caller: None,
        };
        let upload = upload.with_spec(&row.spec);
        let mut repeated = Map::new();
        let receive = |cx, _| (row.receiver)(cx, upload);
        let result = self.execute(&operation, call, started, &mut repeated, receive).await;
        let result = result.and_then(|reply| match self.validate_replies {
            true => row.spec.output.check(&reply.result()).map(|()| reply).map_err(|fault| {
                Fault::internal(format!("{} broke its own contract: {fault}", row.spec.name))
            }),
            false => Ok(reply),
        });
        self.record(&operation, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&operation, &fault, &request_id, &repeated)))
    }

    /// Starts a download; `None` if the service has no download of that name.
    pub async fn download(
        &self,
        service: &str,
        name: &str,
        call: Call,
    ) -> Option<Result<Download, CallFailure>> {
        let (service, row) = self.catalog.download(service, name)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.meta.request_id);
        let operation = Operation {
            service,
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
        Some(result.map_err(|fault| fail(&operation, &fault, &request_id, &repeated)))
    }
}
