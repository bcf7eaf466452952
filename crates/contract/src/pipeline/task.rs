//! A task is asked for the way its tool is called: by the same caller, with the same scope. What it
//! came to is told in the words of the tool's contract.

use std::sync::Arc;

use fault::Fault;
use serde_json::Map;
use tokio::time::Instant;

use super::{Asks, CallRecord, Pipeline, envelop, fail};
use crate::call::Call;
use crate::envelope::Failure;
use crate::table::ToolRow;
use crate::task::{Followed, Stage, Task, TaskAsk, TaskStage};

impl Pipeline {
    /// What became of a call that went on as a job; `call.tool` is the tool that was called. `None`
    /// where its calls never become tasks.
    pub async fn task(&self, call: Call, ask: TaskAsk) -> Option<Result<Task, Failure>> {
        let (service, tool) = self.catalog.find(call.service.as_deref(), &call.tool)?;
        let follow = tool.follow.as_ref()?;
        let (started, transport) = (Instant::now(), call.transport);
        let request_id = Arc::clone(&call.request_id);
        let method = if ask.stop { "tasks/cancel" } else { "tasks/get" };
        let asks = Asks {
            service,
            name: &tool.spec.name,
            scope: tool.scope,
            input: None,
            patience: self.patience,
            turns: Some(&tool.turns),
            known: None,
        };
        let mut asked = Map::new();
        let call = Call { args: Map::new(), ..call };
        let ask = |cx, _| follow(cx, ask.into_args());
        let followed = self.admitted(&asks, call, started, &mut asked, ask).await;
        let told = followed.and_then(|it| self.told(&asks, tool, it, &request_id));
        self.meter.record(&CallRecord {
            service: &service.name,
            tool: method,
            transport,
            failed: told.as_ref().err().map(Fault::code),
            elapsed: started.elapsed(),
        });
        Some(told.map_err(|fault| fail(&asks, &fault, &request_id, &asked)))
    }

    fn told(
        &self,
        asks: &Asks<'_>,
        tool: &ToolRow,
        followed: Followed,
        request_id: &str,
    ) -> Result<Task, Fault> {
        let rules = tool.spec.task.ok_or_else(|| Fault::internal("a task without rules"))?;
        let Followed { created_at, changed_at, age, note, stage } = followed;
        if age > rules.ttl() {
            let message = format!("this task was begun at {created_at} and is no longer kept");
            return Err(Fault::not_found("task_expired", message));
        }
        let stage = match stage {
            Stage::Working => TaskStage::Working,
            Stage::Cancelled => TaskStage::Cancelled,
            Stage::Ended(Ok(reply)) => {
                if self.check_replies {
                    tool.fits(&*reply)?;
                }
                TaskStage::Ended(Ok(reply))
            }
            // Not logged: the job was, when it failed, and this is asked again and again.
            Stage::Ended(Err(fault)) => {
                let failure = envelop(asks.service, asks.name, &fault, request_id, &Map::new());
                TaskStage::Ended(Err(failure))
            }
        };
        Ok(Task { rules, created_at, changed_at, note, stage })
    }
}
