//! Networks: addresses with the length of a prefix.
//!
//! Source: terraform `internal/lang/funcs/cidr.go`, `internal/ipaddr`; `github.com/apparentlymart/go-cidr`.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{refuse, text, whole};
use crate::value::{Budget, Type, Unevaluated, Value};

/// A network: the bits of its first address, and how many of them it has in common with its other addresses.
#[derive(Clone, Copy)]
struct Network {
    bits: u128,
    prefix: u32,
    /// 32 or 128.
    width: u32,
}

impl Network {
    /// `ADDRESS/LENGTH`. Zeros before the decimal numbers of addresses are accepted, as by the tools.
    ///
    /// What the tools make of an IPv4 address that is written as one of IPv6 is unknown here.
    fn parse(text: &str) -> Result<Self, Unevaluated> {
        match Self::read(text) {
            Some(_) if Self::is_mapped(text) => {
                Err(Unevaluated::limit(format!("the network {text:?}, which is of IPv4 in IPv6")))
            }
            Some(network) => Ok(network),
            None => refuse(format!("{text:?} is not a network as in 10.0.0.0/8")),
        }
    }

    fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let (bits, width) = read_address(address)?;
        let is_number = !length.is_empty() && length.len() < 6 && length.bytes().all(|byte| byte.is_ascii_digit());
        let prefix = length.parse().ok().filter(|prefix| is_number && *prefix <= width)?;
        let network = Self { bits, prefix, width };
        Some(Self { bits: bits & !network.hosts(), ..network })
    }

    fn is_mapped(text: &str) -> bool {
        let address = text.split('/').next().and_then(|address| address.parse::<Ipv6Addr>().ok());
        address.is_some_and(|address| address.to_ipv4_mapped().is_some())
    }

    /// The bits that addresses of the network may differ in.
    fn hosts(self) -> u128 {
        1u128.checked_shl(self.width - self.prefix).map_or(u128::MAX, |size| size - 1)
    }

    fn contains(self, bits: u128) -> bool {
        bits & !self.hosts() == self.bits
    }
}

fn read_address(text: &str) -> Option<(u128, u32)> {
    if !text.contains(':') {
        let numbers = text.split('.').map(|part| {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u8>().ok().filter(|_| is_number).map(u128::from)
        });
        let numbers = numbers.collect::<Option<Vec<_>>>().filter(|numbers| numbers.len() == 4)?;
        return Some((numbers.iter().fold(0, |bits, number| bits << 8 | number), 32));
    }
    Some((u128::from(text.parse::<Ipv6Addr>().ok()?), 128))
}

fn write_address(bits: u128, width: u32) -> String {
    if width == 32 {
        Ipv4Addr::from_bits(u32::try_from(bits & u128::from(u32::MAX)).unwrap_or(0)).to_string()
    } else {
        Ipv6Addr::from_bits(bits).to_string()
    }
}

fn write(network: Network) -> Value {
    Value::text(format!("{}/{}", write_address(network.bits, network.width), network.prefix))
}

/// A whole number as bits, which count from the end where it is negative.
fn number(arguments: &[Value], at: usize) -> Result<(bool, u128), Unevaluated> {
    let whole = match arguments.get(at) {
        Some(Value::Number(number)) => number.truncate().filter(|(_, is_whole)| *is_whole).map(|(whole, _)| whole),
        _ => None,
    };
    let Some(whole) = whole else { return refuse("a whole number is required") };
    let magnitude = u128::try_from(whole.magnitude().clone()).unwrap_or(u128::MAX);
    Ok((whole.sign() == num_bigint::Sign::Minus, magnitude))
}

/// The address of a host by its number, from the end if the number is negative.
pub(super) fn host(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (is_negative, number) = number(arguments, 1)?;
    let network = Network::parse(text(arguments, 0))?;
    let last = network.hosts();
    let fits = if is_negative { number.checked_sub(1).is_none_or(|number| number <= last) } else { number <= last };
    if !fits && last > u128::from(u64::MAX >> 1) {
        return Err(Unevaluated::limit("the number of a host that is larger than its network"));
    }
    if !fits {
        return refuse(format!("a network with a prefix of {} bits has no host with this number", network.prefix));
    }
    let host = if is_negative && number > 0 { last - (number - 1) } else { number };
    Ok(Value::text(write_address(network.bits | host, network.width)))
}

pub(super) fn netmask(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let network = Network::parse(text(arguments, 0))?;
    if network.width == 128 {
        return refuse("an IPv6 network has no netmask");
    }
    Ok(Value::text(write_address(!network.hosts(), 32)))
}

/// A part of a network, by the number of further bits of its prefix and its own number.
pub(super) fn subnet(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (more, (is_negative, number)) = (whole(arguments, 1)?, number(arguments, 2)?);
    let network = Network::parse(text(arguments, 0))?;
    if more < 0 || is_negative && number > 0 {
        return Err(Unevaluated::limit("a negative number in cidrsubnet()"));
    }
    let prefix = u32::try_from(more).ok().and_then(|more| network.prefix.checked_add(more));
    let Some(prefix) = prefix.filter(|prefix| *prefix <= network.width) else {
        return refuse(format!("a prefix of {} bits cannot be extended by {more}", network.prefix));
    };
    let last = 1u128.checked_shl(prefix - network.prefix).map_or(u128::MAX, |size| size - 1);
    if number > last {
        return refuse(format!("{more} more bits do not number that many networks"));
    }
    let shift = network.width - prefix;
    Ok(write(Network { bits: network.bits | number.checked_shl(shift).unwrap_or(0), prefix, ..network }))
}

/// Parts of a network one after the other, by the further bits of their prefixes.
pub(super) fn subnets(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let network = Network::parse(text(arguments, 0))?;
    let mut written = Vec::new();
    // Before the first address the tools find no place to begin.
    let mut next = Some(network.bits).filter(|bits| *bits > 0);
    for at in 1..arguments.len() {
        let more = whole(arguments, at)?;
        let Some(more) = u32::try_from(more).ok().filter(|more| (1..=32).contains(more)) else {
            return refuse("a prefix can be extended by 1 to 32 bits");
        };
        let part = Network { prefix: network.prefix + more, ..network };
        if part.prefix > network.width {
            return refuse(format!("a prefix of {} bits is too long", part.prefix));
        }
        // A part begins where its size divides its address.
        let start = next.and_then(|next| next.checked_add(part.hosts())).map(|end| end & !part.hosts());
        let Some(start) = start.filter(|start| network.contains(*start)) else {
            return refuse("there is not enough space left in the network");
        };
        written.push(write(Network { bits: start, ..part }));
        next = (start | part.hosts()).checked_add(1);
    }
    Ok(Value::list(Type::String, written))
}

/// Whether a network has an address, or all addresses of another network.
///
/// Source: opentofu `internal/lang/funcs/cidr.go`, `CidrContainsFunc`.
pub(super) fn contains(arguments: &[Value], _: &Budget) -> Result<Value, Unevaluated> {
    let (network, contained) = (Network::parse(text(arguments, 0))?, text(arguments, 1));
    let inner = match read_address(contained) {
        Some((bits, width)) => Network { bits, prefix: width, width },
        None => Network::parse(contained)?,
    };
    if inner.width != network.width {
        return refuse("an IPv4 and an IPv6 address cannot be compared");
    }
    let last = inner.bits | inner.hosts();
    Ok((network.contains(inner.bits) && network.contains(last)).into())
}
