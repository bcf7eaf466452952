//! Random but repeatable faults.

use market_sim::{Endpoint, FaultKind, InjectedFault};
use testkit::TestRng;

/// A number below `limit`.
pub(crate) fn below(rng: &mut TestRng, limit: u32) -> u32 {
    u32::try_from(rng.below(limit.into())).unwrap_or_default()
}

pub(crate) fn random_fault(rng: &mut TestRng) -> InjectedFault {
    let klines = Endpoint::Klines.path();
    match rng.below(24) {
        0..=13 => InjectedFault::new(FaultKind::WsDrop, 1 + below(rng, 8)),
        14 => InjectedFault::new(FaultKind::WsShutdown, 1),
        15 => InjectedFault::new(FaultKind::WsStall, 1),
        16 => InjectedFault::new(FaultKind::WsMissingClose, 1 + below(rng, 3)),
        17 => InjectedFault::new(FaultKind::WsLateClose, 1).delay_ms(rng.below(200_000)),
        18 => InjectedFault::new(FaultKind::WsDuplicate, 1 + below(rng, 20)),
        19 => InjectedFault::new(FaultKind::WsReorder, 1 + below(rng, 20)),
        20 => {
            let times = 1 + below(rng, 5);
            InjectedFault::new(FaultKind::RestLag, times).delay_ms(rng.below(200_000))
        }
        21 => InjectedFault::new(FaultKind::Status500, 1 + below(rng, 3)).on(klines),
        22 => InjectedFault::new(FaultKind::ShuffledRows, 1).on(klines),
        _ => InjectedFault::new(FaultKind::Truncated, 1).on(klines),
    }
}
