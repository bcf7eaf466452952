//! The name of a venue in error messages, the cause of a failed connection, and what the user can do.

use std::error::Error;
use std::io;

use fault::Fault;

/// A venue as error messages name it.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamName {
    /// For example `Binance`.
    pub name: &'static str,
    /// The setting that replaces the venue by the simulated exchange; `None` for the simulated exchange
    /// itself.
    pub fallback: Option<&'static str>,
}

impl UpstreamName {
    pub const SIMULATED: Self = Self { name: "the simulated exchange", fallback: None };

    /// Replaces "the exchange" at the start of the message by the venue's name. If the venue could not
    /// be reached, adds the command and the setting that help. Other messages stay as they are.
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

/// Why a connection failed or broke: the innermost error in the chain of causes that has a known reason.
pub fn connection_cause(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    let mut found = None;
    while let Some(error) = next {
        found = known_reason(error).or(found);
        next = error.source();
    }
    found
}

fn known_reason(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let text = error.to_string().to_lowercase();
    if text.contains("dns error") || text.contains("failed to lookup address") {
        return Some("its host name could not be resolved (DNS)");
    }
    if text.contains("no ca certificates") {
        return Some("this machine has no root certificates");
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
    fn a_message_names_the_venue_and_the_fallback() {
        let failed = "the exchange failed with status 503";
        check(BINANCE, "upstream_failed", failed, "Binance failed with status 503");
        let unreachable = "the exchange could not be reached: the connection was refused";
        let expected = "Binance could not be reached: the connection was refused; `stoa doctor` checks \
                    the connection, PROVIDER=sim serves the simulated exchange";
        check(BINANCE, "upstream_unreachable", unreachable, expected);
        let expected = "the simulated exchange could not be reached: the connection was refused";
        check(UpstreamName::SIMULATED, "upstream_unreachable", unreachable, expected);
    }

    #[track_caller]
    fn check_cause(error: impl Into<Box<dyn Error + Send + Sync>>, expected: Option<&str>) {
        let error = error.into();
        assert_eq!(connection_cause(&*error), expected, "{error}");
    }

    #[test]
    fn the_innermost_known_reason_is_returned() {
        let of = |kind: io::ErrorKind| io::Error::from(kind);
        check_cause(of(io::ErrorKind::ConnectionRefused), Some("the connection was refused"));
        check_cause(of(io::ErrorKind::TimedOut), Some("the connection timed out"));
        check_cause(of(io::ErrorKind::ConnectionReset), Some("the connection broke"));
        let dns = "failed to lookup address information: Name or service not known";
        let dns = io::Error::other(dns);
        check_cause(dns, Some("its host name could not be resolved (DNS)"));
        let tls = io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate: Expired");
        check_cause(tls, Some("the TLS handshake failed"));
        let roots = "unexpected error: No CA certificates were loaded from the system";
        check_cause(roots, Some("this machine has no root certificates"));
        check_cause("something else", None);
    }
}
