//! Matches faults to HTTP requests.

use super::{FaultKind, Faults, InjectedFault};
use crate::binance::Endpoint;

impl FaultKind {
    /// Strikes only further pages.
    const fn strikes_pages(self) -> bool {
        matches!(self, Self::RepeatedPage | Self::MissingPage)
    }

    fn strikes_requests(self, path: &str) -> bool {
        match self {
            Self::EmptyBlocks
            | Self::EmptyMarketdata
            | Self::ReorderedColumns
            | Self::AddedColumns
            | Self::DroppedColumns
            | Self::ErrorRows
            | Self::RepeatedPage
            | Self::MissingPage => path.starts_with("/iss/"),
            // Only klines can be late.
            Self::RestLag | Self::UnsettledRows => path == Endpoint::Klines.path(),
            Self::WsMute | Self::WsUnanswered | Self::WsRefused => false,
            kind => !kind.strikes_frames() && !kind.strikes_closings(),
        }
    }
}

impl Faults {
    /// Takes one strike of the first fault meant for this path.
    pub(crate) fn strike(&self, path: &str) -> Option<InjectedFault> {
        self.strike_page(path, false)
    }

    /// Like `strike`; `further` says whether the request is for a further page.
    pub(crate) fn strike_page(&self, path: &str, further: bool) -> Option<InjectedFault> {
        self.take(|fault| {
            fault.kind.strikes_requests(path)
                && (further || !fault.kind.strikes_pages())
                && fault.path.as_deref().is_none_or(|pattern| matches(pattern, path))
        })
    }
}

/// Whether a path matches a pattern in which `*` stands for anything.
fn matches(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| path.strip_prefix(start)) else {
        return false;
    };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_injected_fault_affects_its_path_the_configured_number_of_times() {
        let faults = Faults::default();
        faults.add(InjectedFault::new(FaultKind::Html, 2).on("/a")).unwrap();
        faults.add(InjectedFault::new(FaultKind::Stall, 1)).unwrap();
        let kinds = |path| faults.strike(path).map(|fault| fault.kind);
        assert_eq!(kinds("/b"), Some(FaultKind::Stall));
        assert_eq!(kinds("/b"), None);
        assert_eq!(
            (kinds("/a"), kinds("/a"), kinds("/a")),
            (Some(FaultKind::Html), Some(FaultKind::Html), None)
        );
        assert!(faults.list().is_empty());
    }

    #[test]
    fn a_star_in_a_path_matches_any_text() {
        for (pattern, path, expected) in [
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("/iss/*", "/iss/engines.json", true),
            ("/iss/*", "/api", false),
            ("/iss/*/candles.json", "/iss/securities/SBER/candles.json", true),
            ("/iss/*/candles.json", "/iss/candles.json", false),
            ("/iss/*/SBER/*.json", "/iss/x/SBER/candles.json", true),
            ("/iss/*/SBER/*.json", "/iss/x/GAZP/candles.json", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn page_faults_apply_only_to_later_pages_of_iss() {
        let faults = Faults::default();
        faults.add(InjectedFault::new(FaultKind::MissingPage, 1)).unwrap();
        assert_eq!(faults.strike_page("/iss/securities.json", false), None);
        assert_eq!(faults.strike_page("/api/v3/klines", true), None);
        assert!(faults.strike_page("/iss/securities.json", true).is_some());
    }
}
