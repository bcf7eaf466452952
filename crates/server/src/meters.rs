//! The pipeline's and the workers' meters, on Prometheus.

use std::sync::Arc;
use std::time::Duration;

use contract::{CallRecord, Meter};
use jobs::{JobMeter, JobState};
use telemetry::Metrics;

pub(crate) struct Meters(pub(crate) Arc<Metrics>);

impl Meter for Meters {
    fn record(&self, record: &CallRecord<'_>) {
        let CallRecord { service, tool, transport, failed, elapsed } = record;
        let outcome = if failed.is_some() { "error" } else { "ok" };
        self.0.tool(service, tool, transport).record(outcome, *elapsed);
        if let Some(code) = failed {
            self.0.error(service, code);
            if *code == "rate_limited" {
                self.0.rate_limited();
            }
        }
    }

    fn stream_opened(&self, _service: &str, stream: &str, transport: &str) -> Box<dyn Send + Sync> {
        Box::new(self.0.stream(stream, transport))
    }

    fn stream_cut_off(&self, service: &str, code: &'static str) {
        self.0.error(service, code);
    }

    fn call_queued(&self, _service: &str, tool: &str) -> Box<dyn Send + Sync> {
        Box::new(self.0.queue_depth(&format!("tool:{tool}")).increment())
    }
}

/// Records runs of jobs like calls of tools; service and transport distinguish them.
impl JobMeter for Meters {
    fn started(&self, _kind: &str, _waited: Duration) {}

    fn ended(&self, kind: &str, state: Option<JobState>, ran: Duration) {
        let outcome = if state == Some(JobState::Completed) { "ok" } else { "error" };
        self.0.tool("jobs", kind, "worker").record(outcome, ran);
    }
}
