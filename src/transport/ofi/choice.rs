//! Which provider and which interface: of what the library offers, by what the user has said.
//!
//! Invariant: the choice depends on nothing but the arguments here, and comes with its reason.

crate::choice! {
    /// What carries messages between nodes.
    pub enum Fabric {
        No = "no",
        Auto = "auto",
        Tcp = "tcp",
        Net = "net",
        TcpRxm = "tcp;ofi_rxm",
        Verbs = "verbs",
        Cxi = "cxi",
        Efa = "efa",
        Opx = "opx",
        Psm3 = "psm3",
        Psm2 = "psm2",
        Ucx = "ucx",
        Shm = "shm",
        Sm2 = "sm2",
        Sockets = "sockets",
    }
}

/// What was asked for.
pub struct Wish<'a> {
    pub fabric: Fabric,
    /// `OXMPI_LIBFABRIC`: the file of the library.
    pub library: Option<&'a str>,
    /// `OXMPI_INTERFACE`.
    pub interface: Option<&'a str>,
    /// All processes of the job are on this host.
    pub one_host: bool,
}

/// The fastest first. Providers that are not here are never chosen without being asked for: shared memory of theirs is slower than ours,
/// and `sockets` and `udp` are for their developers.
const BY_ITSELF: &[&str] = &[
    "cxi",
    "efa",
    "opx",
    "psm3",
    "psm2",
    "verbs;ofi_rxm",
    "ucx",
    "net",
    "tcp",
    "tcp;ofi_rxm",
];
/// `net` is what 1.16 and 1.17 call the provider that is `tcp` later; both take one layer less than `tcp;ofi_rxm`.
const TCP: &[&str] = &["net", "tcp", "tcp;ofi_rxm"];

/// One interface by one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub provider: String,
    /// The interface's name.
    pub domain: String,
    pub is_loopback: bool,
    /// Internet addresses of version 6, and of a link only, are taken where they are all there is.
    pub is_plain: bool,
}

fn wished(fabric: Fabric) -> Vec<String> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match fabric {
        Fabric::No | Fabric::Auto => names(BY_ITSELF),
        Fabric::Tcp => names(TCP),
        Fabric::Verbs => names(&["verbs;ofi_rxm"]),
        other => vec![other.to_string()],
    }
}

/// The offer to take, and why. `interface`: the only one to be used; `one_host`: all processes are on this host.
///
/// Errors: none serves; the text says what there is.
pub fn choose(
    offers: &[Offer],
    fabric: Fabric,
    interface: Option<&str>,
    one_host: bool,
) -> Result<(usize, String), String> {
    let wished = wished(fabric);
    let rank = |offer: &Offer| {
        let provider = wished.iter().position(|name| *name == offer.provider)?;
        let named = interface.is_none_or(|name| name == offer.domain);
        let wrong_side = interface.is_none() && offer.is_loopback != one_host;
        named.then_some((provider, wrong_side, !offer.is_plain))
    };
    let ranked = offers.iter().enumerate();
    let best = ranked
        .filter_map(|(index, offer)| Some((rank(offer)?, index)))
        .min();
    let Some((_, index)) = best else {
        let mut there: Vec<String> = offers
            .iter()
            .map(|offer| format!("{} on {}", offer.provider, offer.domain))
            .collect();
        there.sort();
        there.dedup();
        let interface = interface.map_or(String::new(), |name| format!(" on interface {name}"));
        return Err(format!(
            "there is no provider {}{interface}; there is {}",
            wished.join(" or "),
            match there.is_empty() {
                true => "none that can serve".to_owned(),
                false => there.join(", "),
            }
        ));
    };
    let why = match (fabric, interface) {
        (Fabric::No | Fabric::Auto, None) => "the fastest that there is".to_owned(),
        (Fabric::No | Fabric::Auto, Some(_)) => {
            "the fastest on the interface of OXMPI_INTERFACE".to_owned()
        }
        (fabric, None) => format!("OXMPI_FABRIC={fabric}"),
        (fabric, Some(name)) => format!("OXMPI_FABRIC={fabric}, OXMPI_INTERFACE={name}"),
    };
    Ok((index, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(names: &[(&str, &str)]) -> Vec<Offer> {
        let offer = |(provider, domain): &(&str, &str)| Offer {
            provider: (*provider).to_owned(),
            domain: domain.trim_end_matches('6').to_owned(),
            is_loopback: domain.starts_with("lo"),
            is_plain: !domain.ends_with('6'),
        };
        names.iter().map(offer).collect()
    }

    #[test]
    fn wishes_and_places_are_obeyed() {
        // As libfabric 1.17 lists them.
        let all = offers(&[
            ("tcp;ofi_rxm", "eth"),
            ("tcp;ofi_rxm", "lo"),
            ("net", "eth6"),
            ("net", "eth"),
            ("net", "lo6"),
            ("net", "lo"),
            ("udp;ofi_rxd", "eth"),
            ("shm", "shm"),
            ("sockets", "eth"),
        ]);
        let chosen = |fabric, interface, one_host| {
            let (index, why) = choose(&all, fabric, interface, one_host).unwrap();
            assert!(!why.is_empty());
            (
                all[index].provider.as_str(),
                all[index].domain.as_str(),
                index,
            )
        };
        assert_eq!(chosen(Fabric::Auto, None, false), ("net", "eth", 3));
        assert_eq!(chosen(Fabric::Auto, None, true), ("net", "lo", 5));
        assert_eq!(chosen(Fabric::Tcp, None, true), ("net", "lo", 5));
        assert_eq!(chosen(Fabric::Tcp, Some("eth"), true), ("net", "eth", 3));
        assert_eq!(chosen(Fabric::TcpRxm, None, true), ("tcp;ofi_rxm", "lo", 1));
        assert_eq!(chosen(Fabric::Shm, None, true).0, "shm");
        assert_eq!(chosen(Fabric::Sockets, None, false).0, "sockets");
        for (fabric, interface) in [
            (Fabric::Cxi, None),
            (Fabric::Verbs, None),
            (Fabric::Auto, Some("ib0")),
        ] {
            let text = choose(&all, fabric, interface, false).unwrap_err();
            assert!(text.contains("net on eth"), "{text}");
        }
    }

    #[test]
    fn a_network_is_better_than_tcp_and_some_are_never_taken() {
        let all = offers(&[("tcp", "eth"), ("efa", "rdmap0"), ("shm", "shm")]);
        assert_eq!(choose(&all, Fabric::Auto, None, false).unwrap().0, 1);
        let none = offers(&[("shm", "shm"), ("udp;ofi_rxd", "eth"), ("sockets", "eth")]);
        assert!(choose(&none, Fabric::Auto, None, true).is_err());
        assert!(
            choose(&[], Fabric::Auto, None, true)
                .unwrap_err()
                .contains("none that can")
        );
    }
}
