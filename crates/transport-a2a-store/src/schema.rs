//! The tables of A2A tasks, one text for both engines. Texts are only ever added.

use store::Migrations;

/// To be applied before the store is used, beside `jobs::MIGRATIONS`.
pub const MIGRATIONS: Migrations = Migrations { owner: "a2a", sqlite: SCHEMA, postgres: SCHEMA };

const SCHEMA: &[&str] = &[TASKS, NOTIFICATIONS, RUNS];

/// `task` and `config` are the protocol's own JSON.
const TASKS: &str = "
CREATE TABLE a2a_task (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    version BIGINT NOT NULL,
    runner TEXT,
    lease_until BIGINT,
    task TEXT NOT NULL,
    PRIMARY KEY (agent, owner, id)
);
CREATE INDEX a2a_task_newest ON a2a_task (agent, owner, updated_ms, id);
CREATE INDEX a2a_task_old ON a2a_task (agent, updated_ms);
CREATE INDEX a2a_task_leased ON a2a_task (agent, lease_until) WHERE lease_until IS NOT NULL;
CREATE TABLE a2a_webhook (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    id TEXT NOT NULL,
    config TEXT NOT NULL,
    PRIMARY KEY (agent, owner, task, id)
)";

/// Notifications of one task to one webhook are ordered by `version` and `part`. `due_ms` is when the
/// next delivery may start and, while one is under way, when it counts as dead.
const NOTIFICATIONS: &str = "
CREATE TABLE a2a_notice (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    webhook TEXT NOT NULL,
    version BIGINT NOT NULL,
    part BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (agent, owner, task, webhook, version, part)
);
CREATE INDEX a2a_notice_due ON a2a_notice (due_ms)";

/// A run is a job; `job` is its id and `resume` the JSON from which another process can repeat it. A
/// task that ran before this version has no run, so it is lost and its next reader fails it.
const RUNS: &str = "
CREATE TABLE a2a_run (
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    job TEXT NOT NULL,
    resume TEXT,
    PRIMARY KEY (agent, owner, task)
);
DROP INDEX a2a_task_leased;
ALTER TABLE a2a_task DROP COLUMN runner;
ALTER TABLE a2a_task DROP COLUMN lease_until;
CREATE INDEX a2a_task_running ON a2a_task (agent, updated_ms)
    WHERE state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')";
