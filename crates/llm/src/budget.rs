//! The budget of one task: tokens, calls and time, shared by all its model calls.

use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;

use fault::{Fault, Kind};
use tokio::time::Instant;

use crate::TokenUsage;

/// Clones share one budget.
#[derive(Debug, Clone)]
pub struct Budget {
    tokens_max: u64,
    calls_max: u32,
    deadline: Instant,
    spent: Arc<Mutex<SpentTokens>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct SpentTokens {
    calls: u32,
    tokens: u64,
    /// Reserved for calls under way, so that two concurrent calls cannot spend the same tokens.
    held: u64,
}

impl Budget {
    pub fn new(tokens_max: u64, calls_max: u32, deadline: Instant) -> Self {
        Self { tokens_max, calls_max, deadline, spent: Arc::default() }
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn tokens_spent(&self) -> u64 {
        self.spent().tokens
    }

    pub fn calls_made(&self) -> u32 {
        self.spent().calls
    }

    fn spent(&self) -> MutexGuard<'_, SpentTokens> {
        self.spent.lock()
    }

    /// Reserves the most that one call can need. The output limit is lowered to what is left.
    pub(crate) fn reserve(&self, input: u64, output_max: u32) -> Result<TokenReservation, Fault> {
        let refuse = |what: &str| {
            let message = format!("the {what} this task may spend on the model are used up");
            Err(Fault::new(Kind::RateLimited, "llm_budget_spent", message))
        };
        if Instant::now() >= self.deadline {
            return Err(Fault::new(
                Kind::Timeout,
                "llm_timeout",
                "the time this task may spend on the model is used up",
            ));
        }
        let mut spent = self.spent();
        if spent.calls >= self.calls_max {
            return refuse("calls");
        }
        let left = self.tokens_max.saturating_sub(spent.tokens.saturating_add(spent.held));
        let room = left.saturating_sub(input);
        if room == 0 {
            return refuse("tokens");
        }
        let output = u32::try_from(room).unwrap_or(u32::MAX).min(output_max);
        let held = input.saturating_add(u64::from(output));
        spent.calls += 1;
        spent.held = spent.held.saturating_add(held);
        drop(spent);
        Ok(TokenReservation { budget: self.clone(), held, input, output, seen: 0, began: false })
    }
}

/// Tokens reserved for one call. Dropping the reservation spends or returns them.
#[derive(Debug)]
pub(crate) struct TokenReservation {
    budget: Budget,
    held: u64,
    input: u64,
    pub(crate) output: u32,
    /// Our estimate of the output so far, which is charged if the call is abandoned.
    seen: u64,
    began: bool,
}

impl TokenReservation {
    /// Charges the input, because the model has begun to answer, and `seen` tokens of output.
    pub(crate) fn charge_started(&mut self, seen: u64) {
        self.began = true;
        self.seen = seen;
    }

    pub(crate) fn settle(mut self, usage: TokenUsage) {
        self.began = true;
        self.input = usage.input_tokens;
        self.seen = usage.output_tokens;
    }
}

impl Drop for TokenReservation {
    fn drop(&mut self) {
        let mut spent = self.budget.spent();
        spent.held = spent.held.saturating_sub(self.held);
        if self.began {
            let used = self.input.saturating_add(self.seen);
            spent.tokens = spent.tokens.saturating_add(used);
        }
    }
}

/// A token is about four bytes of English; other scripts have more bytes and more tokens.
pub(crate) fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn budget(tokens_max: u64, calls_max: u32) -> Budget {
        Budget::new(tokens_max, calls_max, Instant::now() + Duration::from_mins(10))
    }

    #[test]
    fn concurrent_calls_cannot_spend_the_same_tokens() {
        let budget = budget(100, 9);
        let first = budget.reserve(10, 50).unwrap();
        let second = budget.clone().reserve(10, 50).unwrap();
        assert_eq!((first.output, second.output), (50, 30));
        assert_eq!(budget.reserve(1, 1).unwrap_err().code(), "llm_budget_spent");
        first.settle(TokenUsage { input_tokens: 12, output_tokens: 8, estimated: false });
        drop(second);
        assert_eq!((budget.tokens_spent(), budget.calls_made()), (20, 2));
        assert_eq!(budget.reserve(10, 500).unwrap().output, 70);
    }

    #[test]
    fn an_abandoned_call_is_charged_for_received_tokens() {
        let budget = budget(100, 9);
        let mut reservation = budget.reserve(10, 50).unwrap();
        reservation.charge_started(3);
        drop(reservation);
        assert_eq!(budget.tokens_spent(), 13);
    }

    #[test]
    fn the_budget_limits_calls_and_time() {
        let few = budget(100, 1);
        drop(few.reserve(1, 1).unwrap());
        assert_eq!(few.reserve(1, 1).unwrap_err().code(), "llm_budget_spent");
        let late = Budget::new(100, 1, Instant::now());
        assert_eq!(late.reserve(1, 1).unwrap_err().code(), "llm_timeout");
    }
}
