//! Files take the same way as calls: an upload's form is read by its handler while it comes, and a
//! download is a call until its first byte.

use std::sync::Arc;
use std::time::Duration;

use fault::Fault;
use serde_json::Map;
use tokio::time::Instant;

use super::{Asks, Outcome, Pipeline, fail};
use crate::call::Call;
use crate::download::Download;
use crate::envelope::Failure;
use crate::upload::Upload;

/// How long an upload may take from its first byte to its answer. That it goes on at all is for the
/// transport to see to.
const UPLOAD_PATIENCE: Duration = Duration::from_hours(1);

impl Pipeline {
    /// Carries an upload through; `call.tool` is its name, and `call.service` the service's. `None`
    /// when there is no such upload.
    pub async fn upload(&self, call: Call, upload: Upload) -> Option<Outcome> {
        let service = call.service.clone()?;
        let (service, row) = self.catalog.upload(&service, &call.tool)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let asks = Asks {
            service,
            name: &row.spec.name,
            scope: row.scope,
            input: None,
            patience: UPLOAD_PATIENCE,
            turns: Some(&row.turns),
            known: None,
        };
        let upload = upload.under(&row.spec);
        let mut asked = Map::new();
        let receive = |cx, _| (row.receiver)(cx, upload);
        let result = self.admitted(&asks, call, started, &mut asked, receive).await;
        let result = result.and_then(|reply| match self.check_replies {
            true => row.spec.output.check(&reply.result()).map(|()| reply).map_err(|fault| {
                Fault::internal(format!("{} broke its own contract: {fault}", row.spec.name))
            }),
            false => Ok(reply),
        });
        self.record(&asks, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&asks, &fault, &request_id, &asked)))
    }

    /// Begins a download; `call.tool` is its name, and `call.service` the service's. `None` when
    /// there is no such download.
    pub async fn download(&self, call: Call) -> Option<Result<Download, Failure>> {
        let service = call.service.clone()?;
        let (service, row) = self.catalog.download(&service, &call.tool)?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let asks = Asks {
            service,
            name: &row.spec.name,
            scope: row.scope,
            input: Some(&row.spec.input),
            patience: self.patience,
            turns: None,
            known: None,
        };
        let mut asked = Map::new();
        let result = self
            .admitted(&asks, call, started, &mut asked, |cx, args| {
                let opened = (row.open)(cx, args);
                Box::pin(async move { opened.await?.begun().await })
            })
            .await;
        self.record(&asks, transport, started, result.as_ref().err());
        Some(result.map_err(|fault| fail(&asks, &fault, &request_id, &asked)))
    }
}
