//! Bounds the memory that requests take at once: the bytes of their bodies, the values that are
//! built from their JSON, and the answers that clients have not read. The JSON of a body of at most
//! 64 KiB is not counted, and neither is a body of at most 4 KiB that comes in one chunk.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fault::{Fault, Kind};
use http::StatusCode;
use limits::{BudgetExceeded, ClientAddress, MemoryBudget, MemoryReservation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::json_scan::{self, DEPTH_MAX, JsonTooLarge};
use crate::refusal::Refusal;

/// The largest body that is read from a client before its credential is verified, and the largest
/// whose JSON is built without counting it first.
pub const SMALL_BODY_BYTES: usize = 64 * 1024;
/// A larger body is scanned and parsed on a blocking thread.
pub const INLINE_PARSE_BYTES: usize = 256 * 1024;
/// The `Retry-After` of a request that found no memory.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The default budget of answers.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
const KIB: usize = 1024;

/// The budgets of all requests together.
#[derive(Debug, Clone)]
pub struct RequestMemory {
    bodies: MemoryBudget,
    /// One permit for each KiB that may be built from JSON.
    json: Arc<Semaphore>,
    json_kib_max: usize,
    /// How long a request waits for its part of the JSON budget.
    wait: Duration,
    answers: MemoryBudget,
}

/// What building one request's JSON may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonCost {
    /// The estimated bytes for one value or key.
    pub value_bytes: usize,
    /// The part of the JSON budget that one request may take: one of this many.
    pub budget_divisor: usize,
}

impl JsonCost {
    /// JSON that is built once, with `serde_json`: an estimate of 160 bytes for a value, its text
    /// and its share of a growing container.
    pub const PLAIN: Self = Self { value_bytes: 160, budget_divisor: 3 };
}

/// The memory that one request holds; dropping it gives the memory back.
#[derive(Debug, Default)]
pub struct HeldMemory {
    pub(crate) body: Option<MemoryReservation>,
    json: Option<OwnedSemaphorePermit>,
}

impl RequestMemory {
    /// Budgets of `body_bytes_max` for bodies, of which one client holds at most half, and of
    /// `json_bytes_max` for JSON. `wait` is how long a request waits for the latter.
    #[must_use]
    pub fn new(body_bytes_max: usize, json_bytes_max: usize, wait: Duration) -> Self {
        let json_kib_max = (json_bytes_max / KIB).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            bodies: MemoryBudget::new(body_bytes_max, body_bytes_max.div_ceil(2)),
            json: Arc::new(Semaphore::new(json_kib_max)),
            json_kib_max,
            wait,
            answers: answer_budget(ANSWER_BYTES_MAX),
        }
    }

    /// The same with another budget for answers than 256 MiB; one client holds at most half.
    #[must_use]
    pub fn with_answers(self, bytes_max: usize) -> Self {
        Self { answers: answer_budget(bytes_max), ..self }
    }

    /// The bytes of answers that clients have not read.
    #[must_use]
    pub fn answer_bytes_held(&self) -> usize {
        self.answers.held()
    }

    pub(crate) fn answer_reservation(&self, client: Option<IpAddr>) -> MemoryReservation {
        self.answers.reservation(client.map(ClientAddress::from))
    }

    /// The bytes of bodies that are held now.
    #[must_use]
    pub fn body_bytes_held(&self) -> usize {
        self.bodies.held()
    }

    pub(crate) fn body_reservation(&self, client: Option<IpAddr>) -> MemoryReservation {
        self.bodies.reservation(client.map(ClientAddress::from))
    }

    /// Counts the values of a large body and reserves memory for building them; fails with 413 or
    /// 400, or with 503 if other requests hold the memory for longer than the wait.
    pub async fn reserve_json(
        &self,
        held: &mut HeldMemory,
        body: &Bytes,
        cost: JsonCost,
    ) -> Result<(), Refusal> {
        if body.len() <= SMALL_BODY_BYTES {
            return Ok(());
        }
        let kib_max = (self.json_kib_max / cost.budget_divisor.max(1)).max(1);
        let values_max = kib_max.saturating_mul(KIB) / cost.value_bytes.max(1);
        let counted = match body.len() <= INLINE_PARSE_BYTES {
            true => json_scan::count_values(body, values_max),
            false => {
                let text = body.clone();
                let count = move || json_scan::count_values(&text, values_max);
                tokio::task::spawn_blocking(count).await.unwrap_or(Err(JsonTooLarge::Values))
            }
        };
        let values = counted.map_err(|too_large| json_too_large(too_large, values_max))?;
        let kib = (values.saturating_mul(cost.value_bytes) / KIB).clamp(1, kib_max);
        let permits = u32::try_from(kib).unwrap_or(u32::MAX);
        let waiting = Arc::clone(&self.json).acquire_many_owned(permits);
        held.json = match tokio::time::timeout(self.wait, waiting).await {
            Ok(Ok(permit)) => Some(permit),
            _ => return Err(out_of_memory("large requests of other clients are being answered")),
        };
        Ok(())
    }
}

impl Default for RequestMemory {
    /// 64 MiB of bodies, 384 MiB of JSON, and a wait of 15 s.
    fn default() -> Self {
        Self::new(64 * 1024 * KIB, 384 * 1024 * KIB, Duration::from_secs(15))
    }
}

fn answer_budget(bytes_max: usize) -> MemoryBudget {
    MemoryBudget::new(bytes_max, bytes_max.div_ceil(2))
}

fn json_too_large(too_large: JsonTooLarge, values_max: usize) -> Refusal {
    match too_large {
        JsonTooLarge::Depth => {
            let message = format!("the JSON of the body is nested deeper than {DEPTH_MAX}");
            Refusal::new(StatusCode::BAD_REQUEST, Fault::invalid("json_too_deep", message))
        }
        JsonTooLarge::Values => {
            let message = format!(
                "the JSON of the body has more than {values_max} values and keys; send fewer in \
                 each request"
            );
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Fault::invalid("json_too_large", message))
        }
    }
}

/// The refusal of a body for which the budget has no room.
pub(crate) fn body_refused(exceeded: BudgetExceeded) -> Refusal {
    out_of_memory(match exceeded {
        BudgetExceeded::Client => "your address already holds its share of the memory for bodies",
        BudgetExceeded::Total => "the memory for request bodies is taken",
    })
}

fn out_of_memory(why: &str) -> Refusal {
    let message = format!("{why}; try again in {} s", RETRY_AFTER.as_secs());
    let fault = Fault::new(Kind::Unavailable, "overloaded", message).retry_after(RETRY_AFTER);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: JsonCost = JsonCost { value_bytes: 1024, budget_divisor: 2 };

    /// Whether JSON of this many zeros is admitted beside what is held already.
    async fn reserve(memory: &RequestMemory, zeros: usize) -> Result<HeldMemory, u16> {
        let mut held = HeldMemory::default();
        // Spaces make the body large without adding values.
        let text = format!("[{}0]{}", "0,".repeat(zeros - 1), " ".repeat(SMALL_BODY_BYTES));
        match memory.reserve_json(&mut held, &Bytes::from(text), COST).await {
            Ok(()) => Ok(held),
            Err(refusal) => Err(refusal.status.as_u16()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn json_takes_its_estimated_memory_and_waits_for_it() {
        let memory = RequestMemory::new(1, 1_000 * KIB, Duration::from_secs(5));
        assert_eq!(reserve(&memory, 500).await.err(), Some(413));
        let first = reserve(&memory, 499).await.unwrap();
        let second = reserve(&memory, 499).await.unwrap();
        assert_eq!(reserve(&memory, 9).await.err(), Some(503));
        drop(first);
        assert!(reserve(&memory, 499).await.is_ok());
        drop(second);
        assert_eq!(memory.json.available_permits(), 1_000);
    }

    #[tokio::test]
    async fn small_json_is_not_counted_and_deep_json_is_refused() {
        let memory = RequestMemory::new(1, KIB, Duration::from_secs(1));
        let mut held = HeldMemory::default();
        let small = Bytes::from("[0,0,0,0]");
        assert!(memory.reserve_json(&mut held, &small, COST).await.is_ok());
        assert!(held.json.is_none());
        let deep = Bytes::from("[".repeat(SMALL_BODY_BYTES + 1));
        let memory = RequestMemory::default();
        let refused = memory.reserve_json(&mut held, &deep, COST).await.unwrap_err();
        assert_eq!(refused.fault.code(), "json_too_deep");
    }
}
