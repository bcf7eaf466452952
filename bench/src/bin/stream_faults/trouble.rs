//! What goes wrong, at random but repeatably.

use market_sim::{Endpoint, FaultKind, InjectedFault as Trouble};

/// The same sequence for the same start.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = (self.0 >> 33) % u64::from(sides.max(1));
        u32::try_from(drawn).unwrap_or_default()
    }

    pub(crate) fn trouble(&mut self) -> Trouble {
        let klines = Endpoint::Klines.path();
        match self.roll(24) {
            0..=13 => Trouble::new(FaultKind::WsDrop, 1 + self.roll(8)),
            14 => Trouble::new(FaultKind::WsShutdown, 1),
            15 => Trouble::new(FaultKind::WsStall, 1),
            16 => Trouble::new(FaultKind::WsMissingClose, 1 + self.roll(3)),
            17 => Trouble::new(FaultKind::WsLateClose, 1).delay_ms(self.roll(200_000).into()),
            18 => Trouble::new(FaultKind::WsDuplicate, 1 + self.roll(20)),
            19 => Trouble::new(FaultKind::WsReorder, 1 + self.roll(20)),
            20 => {
                let times = 1 + self.roll(5);
                Trouble::new(FaultKind::RestLag, times).delay_ms(self.roll(200_000).into())
            }
            21 => Trouble::new(FaultKind::Status500, 1 + self.roll(3)).on(klines),
            22 => Trouble::new(FaultKind::ShuffledRows, 1).on(klines),
            _ => Trouble::new(FaultKind::Truncated, 1).on(klines),
        }
    }
}
