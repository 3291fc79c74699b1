//! Names that the launcher keeps: hydra with its name server, mpiexec for a job of several hosts, PRRTE for all of its jobs.

use super::client::Client;
use super::wire::Line;
use super::{Job, Launcher, Server};
use crate::error::Result;
use crate::os::addresses;

/// Text of any kind as a word of PMI-1: other characters as `%` and two digits.
fn word_of(text: &str) -> String {
    let mut word = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b':' | b',' | b'[' | b']' => {
                word.push(char::from(byte));
            }
            _ => word.push_str(&format!("%{byte:02x}")),
        }
    }
    word
}

/// The text of a word.
fn text_of(word: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// What a name is called there. Longer ones than launchers have room for are told apart by a hash.
fn key_of(service: &str) -> String {
    const ROOM: usize = 250;
    let mut key = format!("oxmpi-{}", word_of(service));
    if key.len() > ROOM {
        // No word has this after a percent sign.
        let end = format!("%-{:016x}", addresses::hash(service));
        key.truncate(ROOM - end.len());
        key.push_str(&end);
    }
    key
}

impl Client {
    fn publish(&mut self, key: &str, port: &str) -> Result<bool> {
        let answer = self.call(&format!("cmd=publish_name service={key} port={port}"))?;
        Ok(has_worked(&answer))
    }

    fn lookup(&mut self, key: &str) -> Result<Option<String>> {
        let answer = self.call(&format!("cmd=lookup_name service={key}"))?;
        let port = Line(&answer).get("port").map(str::to_owned);
        // hydra's name server has an empty one for a name that is not published.
        Ok(port.filter(|port| has_worked(&answer) && !port.is_empty()))
    }

    fn unpublish(&mut self, key: &str) -> Result<bool> {
        let answer = self.call(&format!("cmd=unpublish_name service={key}"))?;
        Ok(has_worked(&answer))
    }
}

/// Some launchers say `info`, some `rc`.
fn has_worked(answer: &str) -> bool {
    let line = Line(answer);
    line.succeeded() && line.get("info").is_none_or(|info| info == "ok")
}

impl Job {
    /// Whether the launcher may know names that the folder of this host does not.
    fn asks_for_names(&self) -> bool {
        match self.how {
            Launcher::Mpiexec => self.local_ranks.len() < self.size as usize,
            Launcher::Pmi1 | Launcher::Pmix => true,
            Launcher::Singleton => false,
        }
    }

    /// Has the launcher keep a name for its other jobs and hosts; whether it does.
    pub fn publish(&self, service: &str, port: &str) -> bool {
        if !self.asks_for_names() {
            return false;
        }
        let (key, port) = (key_of(service), word_of(port));
        let done = self.with_server(|server| match server {
            Server::Pmi1(client) => client.publish(&key, &port),
            Server::Pmix(pmix) => pmix.publish(&key, &port).map(|()| true),
        });
        done.unwrap_or(false)
    }

    /// The port of a name that the launcher keeps.
    pub fn lookup(&self, service: &str) -> Option<String> {
        if !self.asks_for_names() {
            return None;
        }
        let key = key_of(service);
        let found = self.with_server(|server| match server {
            Server::Pmi1(client) => client.lookup(&key),
            Server::Pmix(pmix) => Ok(pmix.lookup(&key)),
        });
        text_of(&found.ok()??)
    }

    /// Takes a name back; whether the launcher had it.
    pub fn unpublish(&self, service: &str) -> bool {
        if !self.asks_for_names() {
            return false;
        }
        let key = key_of(service);
        let done = self.with_server(|server| match server {
            Server::Pmi1(client) => client.unpublish(&key),
            Server::Pmix(pmix) => pmix.unpublish(&key).map(|()| true),
        });
        done.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_word_and_comes_back() {
        for text in ["", "a b=c\nd%", "oxmpi:10.0.0.1,[::1]:99:ab", "größe"] {
            let word = word_of(text);
            assert!(!word.contains([' ', '=', '\n']), "{word}");
            assert_eq!(text_of(&word).as_deref(), Some(text));
        }
        assert_eq!((text_of("%"), text_of("%zz")), (None, None));
        assert_eq!(key_of("a b"), "oxmpi-a%20b");
        let [one, other] = ["x", "y"].map(|last| key_of(&format!("{}{last}", " ".repeat(254))));
        assert_eq!((one.len(), other.len()), (250, 250));
        assert_ne!(one, other);
    }
}
