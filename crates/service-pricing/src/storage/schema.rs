//! The tables. Amounts are millionths of the currency's unit, times are UTC milliseconds.

use store::Migrations;

pub const MIGRATIONS: Migrations = Migrations {
    owner: "pricing",
    sqlite: &[SQLITE, SWITCH, SIMULATED, PROBE, SCHEDULE, PUSH, STORE_PROBE],
    postgres: &[POSTGRES, SWITCH, SIMULATED, PROBE, SCHEDULE, PUSH, STORE_PROBE],
};

/// The statements that are the same on both engines.
macro_rules! tables {
    ($serial:literal, $clustered:literal) => {
        concat!(
            "
CREATE TABLE pricing_product (
    sku TEXT PRIMARY KEY,
    name TEXT,
    category TEXT,
    currency TEXT,
    price BIGINT,
    cost BIGINT,
    min_price BIGINT,
    max_price BIGINT,
    map_price BIGINT,
    sources TEXT NOT NULL,
    extra TEXT NOT NULL,
    price_changed_ms BIGINT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE TABLE pricing_tick (
    sku TEXT NOT NULL,
    market TEXT NOT NULL,
    ts_ms BIGINT NOT NULL,
    digest BIGINT NOT NULL,
    our_price BIGINT NOT NULL,
    competitor TEXT,
    competitor_price BIGINT,
    demand_index DOUBLE PRECISION,
    units DOUBLE PRECISION,
    in_stock BOOLEAN,
    source TEXT NOT NULL,
    ingested_ms BIGINT NOT NULL,
    PRIMARY KEY (sku, market, ts_ms, digest)
)",
            $clustered,
            ";
CREATE TABLE pricing_proposal (
    id TEXT PRIMARY KEY,
    sku TEXT NOT NULL,
    status TEXT NOT NULL,
    current_price BIGINT NOT NULL,
    proposed_price BIGINT NOT NULL,
    by_subject TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    ended_ms BIGINT,
    body TEXT NOT NULL
);
CREATE INDEX pricing_proposal_of_sku ON pricing_proposal (sku, id);
CREATE INDEX pricing_proposal_by_status ON pricing_proposal (status, id);
CREATE TABLE pricing_audit (
    seq ",
            $serial,
            ",
    at_ms BIGINT NOT NULL,
    action TEXT NOT NULL,
    sku TEXT NOT NULL,
    proposal_id TEXT,
    by_subject TEXT NOT NULL,
    from_price BIGINT,
    to_price BIGINT,
    note TEXT
);
CREATE INDEX pricing_audit_of_sku ON pricing_audit (sku, seq);
CREATE TABLE pricing_policy (
    applies_to TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    by_subject TEXT NOT NULL
);
CREATE TABLE pricing_switch (
    name TEXT PRIMARY KEY,
    is_on BOOLEAN NOT NULL,
    reason TEXT,
    since_ms BIGINT NOT NULL,
    by_subject TEXT NOT NULL
);
CREATE TABLE pricing_source (
    name TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    checked_ms BIGINT NOT NULL,
    note TEXT
);
CREATE TABLE pricing_file (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    taken_ms BIGINT NOT NULL
)"
        )
    };
}

// The key orders the ticks of a product by time, so that the rows of a window are adjacent.
const SQLITE: &str = tables!("INTEGER PRIMARY KEY AUTOINCREMENT", " WITHOUT ROWID");
const POSTGRES: &str = tables!("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "");
// A partial index of simulated ticks, for their removal.
const SIMULATED: &str = "
ALTER TABLE pricing_tick ADD COLUMN origin BIGINT NOT NULL DEFAULT 0;
UPDATE pricing_tick SET origin = 1 WHERE source = 'mock';
CREATE INDEX pricing_tick_simulated ON pricing_tick (sku, market, ts_ms, digest) WHERE origin > 0;
ALTER TABLE pricing_audit ADD COLUMN simulated BOOLEAN NOT NULL DEFAULT FALSE";
// What a health check wrote before the store had a table for it.
const PROBE: &str = "
CREATE TABLE pricing_probe (service TEXT PRIMARY KEY, checked_ms BIGINT NOT NULL)";
const STORE_PROBE: &str = "DROP TABLE pricing_probe";
const SCHEDULE: &str = "
CREATE TABLE pricing_schedule (
    id TEXT PRIMARY KEY,
    recurrence TEXT NOT NULL,
    sku TEXT,
    market TEXT NOT NULL,
    connector TEXT NOT NULL,
    depth BIGINT NOT NULL,
    paused BOOLEAN NOT NULL,
    next_ms BIGINT NOT NULL,
    last_ms BIGINT,
    last_job TEXT,
    by_subject TEXT NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX pricing_schedule_due ON pricing_schedule (next_ms)";
// A price is simulated if the proposal that set it used simulated ticks. A proposal stores whether
// the price before it was simulated, for its revert.
const PUSH: &str = "
CREATE TABLE pricing_push (
    target TEXT NOT NULL,
    sku TEXT NOT NULL,
    id TEXT NOT NULL,
    price BIGINT NOT NULL,
    proposal_id TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    reason TEXT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (target, sku)
);
CREATE UNIQUE INDEX pricing_push_id ON pricing_push (id);
CREATE INDEX pricing_push_state ON pricing_push (state, id);
CREATE INDEX pricing_push_sku ON pricing_push (sku);
ALTER TABLE pricing_proposal ADD COLUMN from_simulated BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE pricing_product ADD COLUMN price_simulated BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE pricing_product SET price_simulated = TRUE WHERE sku IN (
    SELECT sku FROM pricing_audit WHERE action = 'applied' AND simulated = TRUE AND seq IN (
        SELECT MAX(seq) FROM pricing_audit WHERE action IN ('applied', 'reverted') GROUP BY sku))";
// The row of the switch is inserted here, so that a change of a price can lock it.
const SWITCH: &str = "INSERT INTO pricing_switch (name, is_on, reason, since_ms, by_subject)
    VALUES ('all', FALSE, NULL, 0, '')";
