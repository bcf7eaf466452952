//! The key of a network client: an IPv4 address or an IPv6 network.

use std::net::IpAddr;

/// A client's address. An IPv6 client is its first 64 bits, because one subscriber usually holds all
/// addresses behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(Network);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Network {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        // An IPv4 client of a dual-stack socket shows up as ::ffff:a.b.c.d.
        match address.to_canonical() {
            IpAddr::V4(address) => Self(Network::V4(address.octets())),
            IpAddr::V6(address) => {
                let [network @ .., _, _, _, _, _, _, _, _] = address.octets();
                Self(Network::V6(network))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same(one: &str, other: &str, same: bool) {
        let of = |text: &str| ClientAddress::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(of(one) == of(other), same, "{one} {other}");
    }

    #[test]
    fn an_ipv6_client_is_its_64_bit_network() {
        check_same("10.0.0.1", "10.0.0.1", true);
        check_same("10.0.0.1", "10.0.0.2", false);
        check_same("10.0.0.1", "::ffff:10.0.0.1", true);
        check_same("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true);
        check_same("2001:db8:1:2::1", "2001:db8:1:3::1", false);
    }
}
