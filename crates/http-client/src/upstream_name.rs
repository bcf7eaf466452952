//! What error messages call a venue, why it could not be reached, and what its user can do then.

use std::error::Error;
use std::io;

use fault::Fault;

/// A venue as error messages name it.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamName {
    /// `Binance`.
    pub name: &'static str,
    /// The setting that serves the simulated exchange in its place; `None` if that is in use.
    pub fallback: Option<&'static str>,
}

impl UpstreamName {
    pub const SIMULATED: Self = Self { name: "the simulated exchange", fallback: None };

    /// The fault with the venue's name for "the exchange", and with the way out if the venue could
    /// not be reached. A fault that has the name already stays as it is.
    pub(crate) fn reword(self, fault: Fault) -> Fault {
        let Some(rest) = fault.message().strip_prefix("the exchange") else { return fault };
        let mut message = format!("{}{rest}", self.name);
        let unreachable = matches!(fault.code(), "upstream_unreachable" | "upstream_timeout");
        if let Some(fallback) = self.fallback.filter(|_| unreachable) {
            message.push_str(&format!(
                "; `stoa doctor` checks the connection, {fallback} serves the simulated exchange"
            ));
        }
        fault.reworded(message)
    }
}

/// Why no connection was made or kept, as far as the chain of causes tells it.
pub fn connection_cause(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    let mut found = None;
    // The innermost cause that says something is the best.
    while let Some(error) = next {
        found = cause_of(error).or(found);
        next = error.source();
    }
    found
}

fn cause_of(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let text = error.to_string().to_lowercase();
    if text.contains("dns error") || text.contains("failed to lookup address") {
        return Some("its host name could not be resolved (DNS)");
    }
    if ["certificate", "tls", "handshake"].iter().any(|word| text.contains(word)) {
        return Some("the TLS handshake failed");
    }
    match error.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionRefused => Some("the connection was refused"),
        io::ErrorKind::TimedOut => Some("the connection timed out"),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            Some("there is no route to it")
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some("the connection broke"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fault::Kind;

    use super::*;

    const BINANCE: UpstreamName = UpstreamName { name: "Binance", fallback: Some("PROVIDER=sim") };

    #[track_caller]
    fn check(name: UpstreamName, code: &'static str, message: &str, expected: &str) {
        let fault = name.reword(Fault::new(Kind::Unavailable, code, message).caused_by("why"));
        assert_eq!(fault.message(), expected);
        assert!(fault.source().is_some(), "the cause is kept");
        assert_eq!(name.reword(fault).message(), expected, "reworded twice");
    }

    #[test]
    fn a_venue_is_named_and_the_way_out_is_told() {
        let failed = "the exchange failed with status 503";
        check(BINANCE, "upstream_failed", failed, "Binance failed with status 503");
        let unreachable = "the exchange could not be reached: the connection was refused";
        let told = "Binance could not be reached: the connection was refused; `stoa doctor` checks \
                    the connection, PROVIDER=sim serves the simulated exchange";
        check(BINANCE, "upstream_unreachable", unreachable, told);
        let told = "the simulated exchange could not be reached: the connection was refused";
        check(UpstreamName::SIMULATED, "upstream_unreachable", unreachable, told);
    }

    #[track_caller]
    fn check_cause(error: impl Into<Box<dyn Error + Send + Sync>>, expected: Option<&str>) {
        let error = error.into();
        assert_eq!(connection_cause(&*error), expected, "{error}");
    }

    #[test]
    fn the_innermost_cause_is_named() {
        let of = |kind: io::ErrorKind| io::Error::from(kind);
        check_cause(of(io::ErrorKind::ConnectionRefused), Some("the connection was refused"));
        check_cause(of(io::ErrorKind::TimedOut), Some("the connection timed out"));
        check_cause(of(io::ErrorKind::ConnectionReset), Some("the connection broke"));
        let dns = "failed to lookup address information: Name or service not known";
        let dns = io::Error::other(dns);
        check_cause(dns, Some("its host name could not be resolved (DNS)"));
        let tls = io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate: Expired");
        check_cause(tls, Some("the TLS handshake failed"));
        check_cause("something else", None);
    }
}
