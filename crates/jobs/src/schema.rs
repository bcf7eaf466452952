//! The table, one text for both engines.

use store::Migrations;

/// `fence` counts the holds of a job and never decreases; `attempt` decreases when a stopping worker
/// hands a job back. The partial indexes leave out finished jobs, which are the most.
const JOB: &str = "
CREATE TABLE job (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    unique_key TEXT,
    owner TEXT,
    priority BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    max_attempts BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    run_at BIGINT NOT NULL,
    lease_until BIGINT,
    worker TEXT,
    cancel_asked BOOLEAN NOT NULL,
    progress_done BIGINT NOT NULL,
    progress_total BIGINT,
    progress_note TEXT,
    result TEXT,
    error_code TEXT,
    error_message TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
);
CREATE INDEX job_ready ON job (kind, priority DESC, run_at, id) WHERE state = 'queued';
CREATE INDEX job_lease ON job (lease_until) WHERE state = 'running';
CREATE INDEX job_finished ON job (kind, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX job_state ON job (kind, state, id);
CREATE INDEX job_owner ON job (owner, id);
CREATE UNIQUE INDEX job_live_key ON job (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('queued', 'running');
";

/// The jobs of one owner lie together, in the order in which they are taken, so that a worker finds
/// the next owner and that owner's next job without reading the queue.
const READY_BY_OWNER: &str = "
DROP INDEX job_ready;
CREATE INDEX job_ready ON job (kind, (COALESCE(owner, '')), priority DESC, run_at, id)
    WHERE state = 'queued';
";

/// To be applied before the queue is used.
pub const MIGRATIONS: Migrations =
    Migrations { owner: "jobs", sqlite: &[JOB, READY_BY_OWNER], postgres: &[JOB, READY_BY_OWNER] };
