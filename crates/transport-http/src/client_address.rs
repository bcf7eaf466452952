//! The address of the client of a request: that of the connection, or behind a trusted proxy the
//! right-most address of `X-Forwarded-For` or `Forwarded` (RFC 7239) that is not a trusted proxy.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::{HeaderMap, HeaderName};

const FORWARDED: HeaderName = http::header::FORWARDED;
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose word about their client is believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<ProxyNetwork>);

/// An address, or a network such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProxyNetwork {
    address: IpAddr,
    prefix: u8,
}

impl FromStr for ProxyNetwork {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| ())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(text) => text.trim().parse().map_err(|_| ())?,
            None => bits,
        };
        // An IPv4 address in its IPv6 form would never match, because peers are compared as IPv4.
        let is_mapped = address.to_canonical() != address;
        if prefix > bits || is_mapped { Err(()) } else { Ok(Self { address, prefix }) }
    }
}

impl ProxyNetwork {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let shift = 32 - u32::from(self.prefix);
                let differing = ours.to_bits() ^ theirs.to_bits();
                differing.checked_shr(shift).unwrap_or_default() == 0
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let shift = 128 - u32::from(self.prefix);
                let differing = ours.to_bits() ^ theirs.to_bits();
                differing.checked_shr(shift).unwrap_or_default() == 0
            }
            _ => false,
        }
    }
}

impl TrustedProxies {
    /// Reads addresses and networks such as `10.0.0.0/8`; the error is the text that is neither.
    pub fn parse(list: &[String]) -> Result<Self, String> {
        let read = |text: &String| text.trim().parse().map_err(|()| text.clone());
        list.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this address is a trusted proxy.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// The client of a request that came from `peer`. Headers of an untrusted peer are ignored.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if self.0.is_empty() || !self.contains(peer) {
            return peer.to_canonical();
        }
        let by_x = self.walk(peer, headers, &X_FORWARDED_FOR, |hop| parse_address(hop.trim()));
        let by_rfc = self.walk(peer, headers, &FORWARDED, forwarded_for);
        match (by_x, by_rfc) {
            (Some(client), None) | (None, Some(client)) => client,
            (Some(one), Some(other)) if one == other => one,
            // A client can send the header that its proxy does not write; the proxy is counted.
            _ => peer.to_canonical(),
        }
    }

    /// The right-most hop that is not a trusted proxy; `None` without the header. Where that hop
    /// cannot be read, the client is the proxy that wrote it down.
    fn walk(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
        name: &HeaderName,
        read: impl Fn(&str) -> Option<IpAddr>,
    ) -> Option<IpAddr> {
        let mut lines = headers.get_all(name).iter().peekable();
        lines.peek()?;
        let lines: Vec<&str> = lines.map(|line| line.to_str().unwrap_or("?")).collect();
        let hops = lines.iter().rev().flat_map(|line| split_list(line).into_iter().rev());
        let mut client = peer.to_canonical();
        for hop in hops.filter(|hop| !hop.trim().is_empty()) {
            let Some(address) = read(hop) else { return Some(client) };
            client = address;
            if !self.contains(address) {
                return Some(client);
            }
        }
        Some(client)
    }
}

/// The elements of a header's list; a comma inside quotes does not separate.
fn split_list(line: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    line.split(|char: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match char {
            '"' if !was_escaped => is_quoted = !is_quoted,
            '\\' if is_quoted && !was_escaped => is_escaped = true,
            _ => {}
        }
        char == ',' && !is_quoted
    })
    .collect()
}

/// The address in the `for` parameter of an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut found = None;
    for pair in element.split(';') {
        let Some((name, value)) = pair.split_once('=') else { continue };
        if name.trim().eq_ignore_ascii_case("for") {
            if found.is_some() {
                return None;
            }
            found = Some(value.trim());
        }
    }
    let value = found?;
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match unquoted {
        Some(node) => parse_address(node),
        // A token cannot have a colon, so it is an IPv4 address without a port.
        None => value.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

/// An address with or without a port; `[2001:db8::1]` without one too.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bracketed =
        || text.strip_prefix('[')?.strip_suffix(']')?.parse::<std::net::Ipv6Addr>().ok();
    let address = text
        .parse::<IpAddr>()
        .ok()
        .or_else(|| bracketed().map(IpAddr::V6))
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests;
