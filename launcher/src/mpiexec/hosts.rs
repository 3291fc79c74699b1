//! Host lists and host files, in the forms of MPICH's and Open MPI's launchers.

use super::words;
use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};

/// A host of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    /// The sum of the numbers said; `None` if there was none.
    pub slots: Option<u32>,
    /// How often it was named without a number.
    pub bare: u32,
    /// It is the one that mpiexec runs on.
    pub here: bool,
}

/// The hosts named, each once, in the order in which they come first.
///
/// Errors: a file that cannot be read, or a line that makes no sense.
pub fn listed(hosts: &[String], file: Option<&str>) -> Result<Vec<Listed>, String> {
    let text = read(file)?;
    let mut entries = Vec::new();
    for entry in hosts {
        entries.push(parse(entry)?);
    }
    let lines = words::logical_lines(&text);
    for (number, line) in &lines {
        let path = file.unwrap_or_default();
        entries.extend(parse_line(line).map_err(|error| format!("{path}:{number}: {error}"))?);
    }
    Ok(merged(entries))
}

impl Listed {
    /// Ranks that it takes in one round: a name without a number is one.
    pub fn room(&self) -> u32 {
        self.slots.unwrap_or(0).saturating_add(self.bare)
    }
}

/// Entries of the same host put together.
pub fn merged<'a>(entries: impl IntoIterator<Item = (&'a str, Option<u32>)>) -> Vec<Listed> {
    let mut found: Vec<Listed> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (name, slots) in entries {
        let key = name.to_ascii_lowercase();
        let index = *known.entry(key).or_insert_with(|| {
            let here = is_here(name);
            let same = found.iter().position(|it| here && it.here);
            same.unwrap_or_else(|| {
                found.push(Listed {
                    name: name.to_owned(),
                    slots: None,
                    bare: 0,
                    here,
                });
                found.len() - 1
            })
        });
        let host = &mut found[index];
        match slots {
            Some(count) => host.slots = Some(host.slots.unwrap_or(0).saturating_add(count)),
            None => host.bare += 1,
        }
    }
    found
}

fn read(file: Option<&str>) -> Result<String, String> {
    let text = file.map(|path| {
        std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the host file {path}: {error}"))
    });
    Ok(text.transpose()?.unwrap_or_default())
}

/// How many slots the hosts named have together; `None` if none were named, or without a number.
///
/// Errors: another host, where that is not possible, or a line that makes no sense.
pub fn slots(hosts: &[String], file: Option<&str>) -> Result<Option<u32>, String> {
    let listed = listed(hosts, file)?;
    if let Some(other) = listed.iter().find(|it| !it.here) {
        let own = name();
        return Err(format!("host '{}' is not this one ({own})", other.name));
    }
    Ok(slots_of(&listed))
}

/// The slots of all; `None` if there are none with a number.
pub fn slots_of(listed: &[Listed]) -> Option<u32> {
    let counts = listed.iter().filter_map(|it| it.slots);
    counts.reduce(u32::saturating_add)
}

/// `HOST`, `HOST:N`, `HOST slots=N max-slots=M`, and MPICH's `binding=...`: the host and its slots; none in an empty line.
pub fn parse_line(line: &str) -> Result<Option<(&str, Option<u32>)>, String> {
    let mut words = line.split('#').next().unwrap_or("").split_whitespace();
    let Some(first) = words.next() else {
        return Ok(None);
    };
    let (host, mut slots) = parse(first)?;
    for word in words {
        match word.split_once('=') {
            Some(("slots", count)) => {
                let count = positive(count);
                slots = Some(count.ok_or_else(|| format!("'{word}' is not a number of slots"))?);
            }
            Some(("max-slots" | "max_slots" | "binding" | "user" | "ifhn", _)) => {}
            _ => return Err(format!("'{word}' makes no sense after a host")),
        }
    }
    Ok(Some((host, slots)))
}

/// `HOST` or `HOST:N`; an address of IPv6 has no number.
pub fn parse(entry: &str) -> Result<(&str, Option<u32>), String> {
    if entry.parse::<IpAddr>().is_ok() {
        return Ok((entry, None));
    }
    let (host, count) = match entry.rsplit_once(':') {
        None => (entry, None),
        Some((host, count)) => (host, Some(positive(count))),
    };
    match count {
        _ if host.is_empty() => Err(format!("'{entry}' names no host")),
        Some(None) => Err(format!("'{entry}' is not a host with a number of slots")),
        count => Ok((host, count.flatten())),
    }
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// The name of this host.
pub fn name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

fn is_here(host: &str) -> bool {
    let own = name();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if host.eq_ignore_ascii_case("localhost")
        || host.eq_ignore_ascii_case("localhost.localdomain")
        || host.eq_ignore_ascii_case(&own)
        || (!host.contains('.') && host.eq_ignore_ascii_case(&short(&own)))
        || (!own.contains('.')
            && host.parse::<IpAddr>().is_err()
            && short(host).eq_ignore_ascii_case(&own))
    {
        return true;
    }
    // An address is this host's if and only if a socket can be bound to it.
    let addresses = match host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => (host, 0u16)
            .to_socket_addrs()
            .map(|found| found.map(|address| address.ip()).collect())
            .unwrap_or_default(),
    };
    addresses
        .iter()
        .any(|address| UdpSocket::bind((*address, 0)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn this_host_has_many_names() {
        let own = name();
        let hosts = strings(&["localhost", "127.0.0.1:2", "::1", &own, "localhost:3"]);
        assert_eq!(slots(&hosts, None), Ok(Some(5)));
        assert_eq!(slots(&strings(&["localhost"]), None), Ok(None));
        assert_eq!(slots(&[], None), Ok(None));
    }

    #[test]
    fn other_hosts_and_nonsense_are_errors() {
        assert!(
            slots(&strings(&["192.0.2.1"]), None)
                .unwrap_err()
                .contains("192.0.2.1")
        );
        assert!(slots(&strings(&["localhost:x"]), None).is_err());
        assert!(slots(&strings(&["localhost:0"]), None).is_err());
        assert!(slots(&[], Some("/nonexistent/hosts")).is_err());
    }

    #[test]
    fn lines_of_both_habits_are_read() {
        assert_eq!(parse_line("a:4 # c"), Ok(Some(("a", Some(4)))));
        assert_eq!(
            parse_line("a slots=2 max-slots=9"),
            Ok(Some(("a", Some(2))))
        );
        assert_eq!(parse_line("a binding=user:0"), Ok(Some(("a", None))));
        assert_eq!(parse_line("  # c"), Ok(None));
        for wrong in ["a b", "a slots=0", "a slots=x", ":2"] {
            assert!(parse_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_of_ipv6_may_have_slots() {
        assert_eq!(parse_line("::1 slots=2"), Ok(Some(("::1", Some(2)))));
        assert_eq!(parse("::1"), Ok(("::1", None)));
    }
}
