//! Host lists and host files. Until there is a transport between hosts every host must be this one.
//!
//! Invariant: a host that is not this one is an error before anything is started.

use super::words;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};

/// How many slots the hosts named have together; `None` if none were named, or without a number.
///
/// Errors: another host, or a line that makes no sense.
pub fn slots(hosts: &[String], file: Option<&str>) -> Result<Option<u32>, String> {
    let mut entries: Vec<String> = hosts.to_vec();
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the host file {path}: {error}"))?;
        for (number, line) in words::logical_lines(&text) {
            entries
                .push(entry_of_line(&line).map_err(|error| format!("{path}:{number}: {error}"))?);
        }
    }
    let mut total: Option<u32> = None;
    for entry in &entries {
        let (host, count) = parse(entry)?;
        if !is_here(host) {
            return Err(format!(
                "host '{host}' is not this one ({}): this version starts ranks on one host only",
                name()
            ));
        }
        if let Some(count) = count {
            total = Some(total.unwrap_or(0).saturating_add(count));
        }
    }
    Ok(total)
}

/// `HOST`, `HOST:N`, `HOST slots=N max-slots=M`, and MPICH's `binding=...`, as HOST or HOST:N.
pub fn entry_of_line(line: &str) -> Result<String, String> {
    let mut words = line.split('#').next().unwrap_or("").split_whitespace();
    let host = words.next().unwrap_or_default();
    let mut entry = host.to_owned();
    for word in words {
        match word.split_once('=') {
            Some(("slots", count)) => entry = format!("{host}:{count}"),
            Some(("max-slots" | "max_slots" | "binding" | "user" | "ifhn", _)) => {}
            _ => return Err(format!("'{word}' makes no sense after a host")),
        }
    }
    Ok(entry)
}

fn parse(entry: &str) -> Result<(&str, Option<u32>), String> {
    if entry.parse::<IpAddr>().is_ok() {
        return Ok((entry, None));
    }
    match entry.rsplit_once(':') {
        None => Ok((entry, None)),
        Some((host, count)) => match count.parse() {
            Ok(count) if count > 0 && !host.is_empty() => Ok((host, Some(count))),
            _ => Err(format!("'{entry}' is not a host with a number of slots")),
        },
    }
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
        assert_eq!(entry_of_line("a:4 # c").unwrap(), "a:4");
        assert_eq!(entry_of_line("a slots=2 max-slots=9").unwrap(), "a:2");
        assert_eq!(entry_of_line("a binding=user:0").unwrap(), "a");
        assert!(entry_of_line("a b").is_err());
    }
}
