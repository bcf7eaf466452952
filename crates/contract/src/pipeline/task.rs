//! Reports the state of a task. The request takes the steps of a call of its tool, with the same
//! caller and scope, and the task's result is in the words of the tool's contract.

use std::sync::Arc;

use fault::Fault;
use serde_json::Map;
use tokio::time::Instant;

use super::{Operation, Pipeline, fail};
use crate::call::Call;
use crate::catalog::ToolRef;
use crate::envelope::CallFailure;
use crate::meter::CallRecord;
use crate::table::ToolRow;
use crate::task::{JobPhase, JobQuery, JobReport, TaskPhase, TaskReport};

impl Pipeline {
    /// The state of a call of `tool` that continued as a job; `None` if calls of that tool never
    /// become tasks.
    pub async fn task(
        &self,
        tool: &ToolRef,
        call: Call,
        query: JobQuery,
    ) -> Option<Result<TaskReport, CallFailure>> {
        let row = tool.row();
        let follow = row.follow.as_ref()?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.meta.request_id);
        let method = if query.cancel { "tasks/cancel" } else { "tasks/get" };
        let operation = Operation {
            service: tool.service(),
            name: &row.spec.name,
            scope: row.scope,
            input: None,
            timeout: self.timeout,
            limiter: Some(&row.limiter),
            caller: None,
        };
        let mut repeated = Map::new();
        let call = Call { args: Map::new(), ..call };
        let ask = |cx, _| follow(cx, query.into_args());
        let job = self.execute(&operation, call, started, &mut repeated, ask).await;
        let task = job.and_then(|job| self.task_report(&operation, row, job, &request_id));
        self.meter.record(&CallRecord {
            service: &operation.service.name,
            tool: method,
            transport,
            failed: task.as_ref().err().map(Fault::code),
            elapsed: started.elapsed(),
        });
        Some(task.map_err(|fault| fail(&operation, &fault, &request_id, &repeated)))
    }

    fn task_report(
        &self,
        operation: &Operation<'_>,
        tool: &ToolRow,
        job: JobReport,
        request_id: &str,
    ) -> Result<TaskReport, Fault> {
        let spec =
            tool.spec.task.ok_or_else(|| Fault::internal("a task without a task section"))?;
        let JobReport { created_at, changed_at, age, note, phase } = job;
        if age > spec.ttl() {
            let message = format!("this task was begun at {created_at} and is no longer kept");
            return Err(Fault::not_found("task_expired", message));
        }
        let phase = match phase {
            JobPhase::Working => TaskPhase::Working,
            JobPhase::Cancelled => TaskPhase::Cancelled,
            JobPhase::Ended(Ok(reply)) => {
                if self.validate_replies {
                    tool.validate_reply(&*reply)?;
                }
                TaskPhase::Ended(Ok(reply))
            }
            // Not logged here: the job logged its failure, and clients ask for it repeatedly.
            JobPhase::Ended(Err(fault)) => {
                let (service, name) = (operation.service, operation.name);
                TaskPhase::Ended(Err(service.tool_failure(name, &fault, request_id, &Map::new())))
            }
        };
        Ok(TaskReport { spec, created_at, changed_at, note, phase })
    }
}
