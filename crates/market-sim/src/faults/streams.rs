//! Matches faults to WebSocket connections, subscriptions and frames.

use super::{FaultKind, Faults, InjectedFault};

impl FaultKind {
    /// Strikes a connection or any of its frames.
    pub(crate) const fn strikes_frames(self) -> bool {
        use FaultKind::{WsDrop, WsDuplicate, WsReorder, WsShutdown, WsStall};
        matches!(self, WsDrop | WsStall | WsShutdown | WsDuplicate | WsReorder)
    }

    /// Strikes subscriptions.
    pub(crate) const fn strikes_subscriptions(self) -> bool {
        matches!(self, Self::WsUnanswered | Self::WsRefused)
    }

    /// Strikes only closing frames.
    pub(crate) const fn strikes_closings(self) -> bool {
        matches!(self, Self::WsLateClose | Self::WsMissingClose)
    }
}

impl Faults {
    /// Takes one strike of the first fault of these kinds meant for this stream.
    pub(crate) fn strike_stream(
        &self,
        stream: &str,
        kinds: impl Fn(FaultKind) -> bool,
    ) -> Option<InjectedFault> {
        self.take(|fault| {
            let stream_pattern = fault.path.as_deref().map(|path| path.strip_prefix("/ws/"));
            kinds(fault.kind)
                && stream_pattern.is_none_or(|stream_pattern| stream_pattern == Some(stream))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binance::Endpoint;

    #[test]
    fn requests_and_streams_have_their_own_faults() {
        let faults = Faults::default();
        faults.add(InjectedFault::new(FaultKind::WsDrop, 1)).unwrap();
        faults.add(InjectedFault::new(FaultKind::WsMissingClose, 1).on("/ws/a@kline_1m")).unwrap();
        faults.add(InjectedFault::new(FaultKind::RestLag, 1).delay_ms(5)).unwrap();
        assert_eq!(faults.strike("/api/v3/time"), None);
        let closing = |stream| faults.strike_stream(stream, FaultKind::strikes_closings);
        assert_eq!(closing("b@kline_1m"), None);
        assert_eq!(closing("a@kline_1m").unwrap().kind, FaultKind::WsMissingClose);
        let frame = faults.strike_stream("b@kline_1m", FaultKind::strikes_frames);
        assert_eq!(frame.unwrap().kind, FaultKind::WsDrop);
        assert_eq!(faults.strike(Endpoint::Klines.path()).unwrap().kind, FaultKind::RestLag);
    }
}
