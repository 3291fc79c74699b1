//! The server's side of PMI-1, for programs of MPICH's family: a key-value store, a barrier, names. It does no input
//! or output: lines go in, effects come out. Programs of oxmpi say nothing here but an abort.
//!
//! Invariant: a rank is in the barrier at most once, and leaves it when every rank is in.

use oxmpi::launch::exit_status;
use oxmpi::launch::wire::{KEY_MAXIMUM, KVSNAME_MAXIMUM, Line, VALUE_MAXIMUM};
use std::collections::HashMap;

/// What a line leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send this line (without its end) to a rank.
    Reply(usize, String),
    /// The rank has begun to use MPI.
    Joined(usize),
    /// From now on an exit of this rank is orderly.
    Finalized(usize),
    /// The rank wants the job to end with this exit status.
    Abort(usize, i32),
    /// The rank wants processes, and waits for `cmd=spawn_result`.
    Spawn(usize, SpawnRequest),
    /// A job that was spawned is connected to this one, or not any more; the secret part of the port that it has connected to.
    Connection { cookie: String, connected: bool },
}

/// Programs to start as a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SpawnRequest {
    pub commands: Vec<Wanted>,
    pub preput: Vec<(String, String)>,
}

/// A program of a spawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub program: String,
    pub arguments: Vec<String>,
    pub processes: u32,
    pub info: Vec<(String, String)>,
}

/// The lines of a request so far.
#[derive(Debug, Default)]
struct Partial {
    whole: SpawnRequest,
    /// Of the command that is being told, without `mcmd=spawn`.
    lines: HashMap<String, String>,
}

impl Partial {
    fn line(&mut self, text: &str) {
        if let Some((key, value)) = text.split_once('=') {
            self.lines.insert(key.trim().to_owned(), value.to_owned());
        }
    }

    /// A command is complete; the request, if that was the last one.
    fn end(&mut self) -> Option<SpawnRequest> {
        let lines = std::mem::take(&mut self.lines);
        let number = |key: &str| lines.get(key).and_then(|it| it.trim().parse::<u32>().ok());
        let pairs = |list: &str| -> Vec<(String, String)> {
            let of = |key: String| lines.get(&key).cloned();
            let count = number(&format!("{list}_num")).unwrap_or(0);
            let pair = |at| {
                Some((
                    of(format!("{list}_key_{at}"))?,
                    of(format!("{list}_val_{at}"))?,
                ))
            };
            (0..count).map_while(pair).collect()
        };
        let arguments = 1..=number("argcnt").unwrap_or(0);
        let arguments = arguments.map_while(|at| lines.get(&format!("arg{at}")).cloned());
        self.whole.commands.push(Wanted {
            program: lines.get("execname").cloned().unwrap_or_default(),
            arguments: arguments.collect(),
            processes: number("nprocs").unwrap_or(1),
            info: pairs("info"),
        });
        self.whole.preput.extend(pairs("preput"));
        let wanted = number("totspawns").unwrap_or(1) as usize;
        (self.whole.commands.len() >= wanted).then(|| std::mem::take(&mut self.whole))
    }
}

pub struct Server {
    name: String,
    universe_size: i64,
    /// Of each rank.
    appnums: Vec<usize>,
    store: HashMap<String, String>,
    published: HashMap<String, String>,
    in_barrier: Vec<bool>,
    /// Of ranks in the middle of a request of several lines.
    spawning: HashMap<usize, Partial>,
    /// Ranks that are inside of one command of it.
    in_command: Vec<bool>,
}

impl Server {
    /// `mapping`: PMI_process_mapping.
    pub fn new(
        appnums: Vec<usize>,
        universe_size: Option<u32>,
        mapping: String,
        preput: &[(String, String)],
    ) -> Server {
        let ranks = appnums.len();
        let mut store = HashMap::from([("PMI_process_mapping".into(), mapping)]);
        store.extend(preput.iter().cloned());
        Server {
            name: format!("kvs_{}", std::process::id()),
            universe_size: universe_size.map_or(-1, i64::from),
            store,
            published: HashMap::new(),
            in_barrier: vec![false; ranks],
            spawning: HashMap::new(),
            in_command: vec![false; ranks],
            appnums,
        }
    }

    /// Ranks that wait in the barrier for others.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        (0..self.in_barrier.len()).filter(|rank| self.in_barrier[*rank])
    }

    /// Takes one line from a rank.
    pub fn line(&mut self, rank: usize, text: &str) -> Vec<Effect> {
        let line = Line(text);
        let reply = |text: String| vec![Effect::Reply(rank, text)];
        if self.in_command[rank] {
            let partial = self.spawning.entry(rank).or_default();
            if text.trim() != "endcmd" {
                partial.line(text);
                return Vec::new();
            }
            self.in_command[rank] = false;
            let Some(whole) = partial.end() else {
                return Vec::new();
            };
            self.spawning.remove(&rank);
            return vec![Effect::Spawn(rank, whole)];
        }
        match line.command() {
            "init" => {
                let version = (line.number("pmi_version"), line.number("pmi_subversion"));
                let known = matches!(version, (None | Some(1), _));
                let answer = match known {
                    true => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                    false => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1",
                };
                vec![Effect::Joined(rank), Effect::Reply(rank, answer.into())]
            }
            "initack" | "fullinit" => reply("cmd=initack rc=0".into()),
            "get_maxes" => reply(format!(
                "cmd=maxes kvsname_max={KVSNAME_MAXIMUM} keylen_max={KEY_MAXIMUM} vallen_max={VALUE_MAXIMUM} rc=0"
            )),
            "get_appnum" => reply(format!("cmd=appnum appnum={} rc=0", self.appnums[rank])),
            "get_my_kvsname" => reply(format!("cmd=my_kvsname kvsname={} rc=0", self.name)),
            "get_universe_size" => reply(format!(
                "cmd=universe_size size={} rc=0",
                self.universe_size
            )),
            "get_ranks2hosts" => reply("cmd=put_ranks2hosts 0 0".into()),
            "put" => reply(self.put(&line)),
            "get" => reply(self.get(&line)),
            "barrier_in" => self.barrier(rank),
            "publish_name" => reply(self.publish(&line)),
            "lookup_name" => reply(
                match line
                    .get("service")
                    .and_then(|name| self.published.get(name))
                {
                    Some(port) => format!("cmd=lookup_result port={port} info=ok rc=0 msg=success"),
                    None => "cmd=lookup_result info=error rc=1 msg=service_not_found".into(),
                },
            ),
            "unpublish_name" => reply(
                match line
                    .get("service")
                    .and_then(|name| self.published.remove(name))
                {
                    Some(_) => "cmd=unpublish_result info=ok rc=0 msg=success".into(),
                    None => "cmd=unpublish_result info=error rc=1 msg=service_not_found".into(),
                },
            ),
            "finalize" => vec![
                Effect::Finalized(rank),
                Effect::Reply(rank, "cmd=finalize_ack rc=0".into()),
            ],
            "abort" => {
                let code = line.number("exitcode").unwrap_or(1);
                vec![Effect::Abort(rank, exit_status(code as i32))]
            }
            "spawn" => {
                self.in_command[rank] = text.starts_with("mcmd");
                match self.in_command[rank] {
                    true => Vec::new(),
                    false => reply("cmd=spawn_result rc=-1 msg=unknown_form errcodes=-1".into()),
                }
            }
            "oxmpi_connection" => vec![Effect::Connection {
                cookie: line.get("cookie").unwrap_or_default().to_owned(),
                connected: line.get("state") == Some("connected"),
            }],
            // Whoever asked waits for an answer, whatever it asked.
            other => {
                let word: String = other
                    .chars()
                    .filter(char::is_ascii_graphic)
                    .take(64)
                    .collect();
                reply(format!("cmd={word} rc=-1 msg=unknown_command"))
            }
        }
    }

    fn put(&mut self, line: &Line<'_>) -> String {
        let (Some(key), Some(value)) = (line.get("key"), line.rest("value")) else {
            return "cmd=put_result rc=-1 msg=incomplete".into();
        };
        if key.len() > KEY_MAXIMUM || value.len() > VALUE_MAXIMUM {
            return "cmd=put_result rc=-1 msg=too_long".into();
        }
        self.store.insert(key.to_owned(), value.to_owned());
        "cmd=put_result rc=0 msg=success".into()
    }

    fn get(&self, line: &Line<'_>) -> String {
        let key = line.get("key").unwrap_or_default();
        match self.store.get(key) {
            Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
            None => format!("cmd=get_result rc=-1 msg=key_{key}_not_found value=unknown"),
        }
    }

    fn publish(&mut self, line: &Line<'_>) -> String {
        let (Some(service), Some(port)) = (line.get("service"), line.get("port")) else {
            return "cmd=publish_result info=error rc=1 msg=incomplete".into();
        };
        if self.published.contains_key(service) {
            return "cmd=publish_result info=error rc=1 msg=duplicate_service".into();
        }
        self.published.insert(service.to_owned(), port.to_owned());
        "cmd=publish_result info=ok rc=0 msg=success".into()
    }

    fn barrier(&mut self, rank: usize) -> Vec<Effect> {
        self.in_barrier[rank] = true;
        if !self.in_barrier.iter().all(|inside| *inside) {
            return Vec::new();
        }
        self.in_barrier.fill(false);
        (0..self.in_barrier.len())
            .map(|rank| Effect::Reply(rank, "cmd=barrier_out rc=0".into()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &mut Server, rank: usize, line: &str) -> String {
        match server.line(rank, line).pop() {
            Some(Effect::Reply(_, text)) => text,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_job_meets_in_store_and_barrier() {
        let mut server = Server::new(vec![0, 1], None, "(vector,(0,1,2))".into(), &[]);
        let hello = server.line(0, "cmd=init pmi_version=1 pmi_subversion=1");
        assert_eq!(hello[0], Effect::Joined(0));
        assert!(ask(&mut server, 1, "cmd=get_appnum").contains("appnum=1"));
        let kvs = ask(&mut server, 0, "cmd=get_my_kvsname");
        let kvs = Line(&kvs).get("kvsname").unwrap().to_owned();
        let put = format!("cmd=put kvsname={kvs} key=card value=a b");
        assert!(Line(&ask(&mut server, 0, &put)).succeeded());
        assert!(server.line(0, "cmd=barrier_in").is_empty());
        assert_eq!(server.waiting().collect::<Vec<_>>(), [0]);
        assert_eq!(server.line(1, "cmd=barrier_in").len(), 2);
        let got = ask(&mut server, 1, &format!("cmd=get kvsname={kvs} key=card"));
        assert_eq!(Line(&got).rest("value"), Some("a b"));
        let mapping = ask(&mut server, 1, "cmd=get key=PMI_process_mapping");
        assert_eq!(Line(&mapping).get("value"), Some("(vector,(0,1,2))"));
        assert!(!Line(&ask(&mut server, 1, "cmd=get key=none")).succeeded());
        assert_eq!(server.line(1, "cmd=finalize")[0], Effect::Finalized(1));
        assert_eq!(
            server.line(1, "cmd=abort exitcode=7"),
            [Effect::Abort(1, 7)]
        );
    }

    #[test]
    fn names_are_published_once() {
        let mut server = Server::new(vec![0], Some(4), String::new(), &[]);
        assert!(ask(&mut server, 0, "cmd=get_universe_size").contains("size=4"));
        let publish = "cmd=publish_name service=s port=tag#0$x";
        assert!(Line(&ask(&mut server, 0, publish)).succeeded());
        assert!(!Line(&ask(&mut server, 0, publish)).succeeded());
        let found = ask(&mut server, 0, "cmd=lookup_name service=s");
        assert_eq!(Line(&found).get("port"), Some("tag#0$x"));
        assert!(Line(&ask(&mut server, 0, "cmd=unpublish_name service=s")).succeeded());
        assert!(!Line(&ask(&mut server, 0, "cmd=lookup_name service=s")).succeeded());
    }

    #[test]
    fn a_spawn_of_several_commands_is_one_request() {
        let preput = [("k".to_owned(), "v w".to_owned())];
        let mut server = Server::new(vec![0], None, String::new(), &preput);
        assert!(ask(&mut server, 0, "cmd=get key=k").ends_with("value=v w"));
        for line in [
            "mcmd=spawn",
            "nprocs=2",
            "execname=a b",
            "totspawns=2",
            "spawnssofar=1",
            "arg1=x=y z",
            "argcnt=1",
            "preput_num=1",
            "preput_key_0=port",
            "preput_val_0=p:1",
            "info_num=0",
            "endcmd",
            "mcmd=spawn",
            "nprocs=1",
            "execname=c",
            "totspawns=2",
            "argcnt=0",
            "info_num=1",
            "info_key_0=wdir",
            "info_val_0=/tmp",
        ] {
            assert!(server.line(0, line).is_empty(), "{line}");
        }
        let pair = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let request = SpawnRequest {
            commands: vec![
                Wanted {
                    program: "a b".into(),
                    arguments: vec!["x=y z".into()],
                    processes: 2,
                    info: Vec::new(),
                },
                Wanted {
                    program: "c".into(),
                    arguments: Vec::new(),
                    processes: 1,
                    info: pair("wdir", "/tmp"),
                },
            ],
            preput: pair("port", "p:1"),
        };
        assert_eq!(server.line(0, "endcmd"), [Effect::Spawn(0, request)]);
    }

    #[test]
    fn nonsense_is_answered() {
        let mut server = Server::new(vec![0], None, String::new(), &[]);
        for line in ["", "cmd=", "cmd=\u{1}x", "cmd=put", "cmd=get"] {
            assert!(!Line(&ask(&mut server, 0, line)).succeeded(), "{line}");
        }
        let long = format!("cmd=put key=k value={}", "x".repeat(VALUE_MAXIMUM + 1));
        assert!(!Line(&ask(&mut server, 0, &long)).succeeded());
    }
}
