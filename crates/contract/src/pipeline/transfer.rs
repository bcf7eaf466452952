//! Files take the same way as calls: an upload's form is read by its handler while it comes, and a
//! download is a call until its first byte.

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

/// How long an upload may take from its first byte to its answer. That it goes on at all is for the
/// transport to see to.
const UPLOAD_TIMEOUT: Duration = Duration::from_hours(1);

impl Pipeline {
    /// Carries an upload through; `call.tool` is its name, and `call.service` the service's. `None`
    /// when there is no such upload.
    pub async fn upload(&self, call: Call, upload: Upload) -> Option<CallOutcome> {
        let service = call.service.clone()?;
        let (service, row) = self.catalog.upload(&service, &call.tool)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let operation = Operation {
            service,
            name: &row.spec.name,
            scope: row.scope,
            input: None,
            timeout: UPLOAD_TIMEOUT,
            limiter: Some(&row.limiter),
            known: None,
        };
        let upload = upload.under(&row.spec);
        let mut asked = Map::new();
        let receive = |cx, _| (row.receiver)(cx, upload);
        let result = self.execute(&operation, call, started, &mut asked, receive).await;
        let result = result.and_then(|reply| match self.check_replies {
            true => row.spec.output.check(&reply.result()).map(|()| reply).map_err(|fault| {
                Fault::internal(format!("{} broke its own contract: {fault}", row.spec.name))
            }),
            false => Ok(reply),
        });
        self.record(&operation, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&operation, &fault, &request_id, &asked)))
    }

    /// Begins a download; `call.tool` is its name, and `call.service` the service's. `None` when
    /// there is no such download.
    pub async fn download(&self, call: Call) -> Option<Result<Download, CallFailure>> {
        let service = call.service.clone()?;
        let (service, row) = self.catalog.download(&service, &call.tool)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let operation = Operation {
            service,
            name: &row.spec.name,
            scope: row.scope,
            input: Some(&row.spec.input),
            timeout: self.timeout,
            limiter: None,
            known: None,
        };
        let mut asked = Map::new();
        let result = self
            .execute(&operation, call, started, &mut asked, |cx, args| {
                let opened = (row.open)(cx, args);
                Box::pin(async move { opened.await?.begun().await })
            })
            .await;
        self.record(&operation, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&operation, &fault, &request_id, &asked)))
    }
}
