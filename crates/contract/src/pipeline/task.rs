//! A task is asked for the way its tool is called: by the same caller, with the same scope. What it
//! came to is told in the words of the tool's contract.

use std::sync::Arc;

use fault::Fault;
use serde_json::Map;
use tokio::time::Instant;

use super::{CallRecord, Operation, Pipeline, envelop, fail};
use crate::call::Call;
use crate::envelope::CallFailure;
use crate::table::ToolRow;
use crate::task::{JobPhase, JobQuery, JobReport, TaskPhase, TaskReport};

impl Pipeline {
    /// What became of a call that went on as a job; `call.tool` is the tool that was called. `None`
    /// where its calls never become tasks.
    pub async fn task(&self, call: Call, ask: JobQuery) -> Option<Result<TaskReport, CallFailure>> {
        let (service, tool) = self.catalog.find(call.service.as_deref(), &call.tool)?;
        let follow = tool.follow.as_ref()?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let method = if ask.cancel { "tasks/cancel" } else { "tasks/get" };
        let operation = Operation {
            service,
            name: &tool.spec.name,
            scope: tool.scope,
            input: None,
            timeout: self.timeout,
            limiter: Some(&tool.limiter),
            known: None,
        };
        let mut asked = Map::new();
        let call = Call { args: Map::new(), ..call };
        let ask = |cx, _| follow(cx, ask.into_args());
        let followed = self.execute(&operation, call, started, &mut asked, ask).await;
        let told = followed.and_then(|it| self.told(&operation, tool, it, &request_id));
        self.meter.record(&CallRecord {
            service: &service.name,
            tool: method,
            transport,
            failed: told.as_ref().err().map(Fault::code),
            elapsed: started.elapsed(),
        });
        Some(told.map_err(|fault| fail(&operation, &fault, &request_id, &asked)))
    }

    fn told(
        &self,
        operation: &Operation<'_>,
        tool: &ToolRow,
        followed: JobReport,
        request_id: &str,
    ) -> Result<TaskReport, Fault> {
        let spec = tool.spec.task.ok_or_else(|| Fault::internal("a task without spec"))?;
        let JobReport { created_at, changed_at, age, note, phase } = followed;
        if age > spec.ttl() {
            let message = format!("this task was begun at {created_at} and is no longer kept");
            return Err(Fault::not_found("task_expired", message));
        }
        let phase = match phase {
            JobPhase::Working => TaskPhase::Working,
            JobPhase::Cancelled => TaskPhase::Cancelled,
            JobPhase::Ended(Ok(reply)) => {
                if self.check_replies {
                    tool.validate_reply(&*reply)?;
                }
                TaskPhase::Ended(Ok(reply))
            }
            // Not logged: the job was, when it failed, and this is asked again and again.
            JobPhase::Ended(Err(fault)) => {
                let failure =
                    envelop(operation.service, operation.name, &fault, request_id, &Map::new());
                TaskPhase::Ended(Err(failure))
            }
        };
        Ok(TaskReport { spec, created_at, changed_at, note, phase })
    }
}
