//! How many ranks there are, and on which processors.

use super::Takes::{None as No, One, Two};
use super::{Choice, choice, list, positive, seconds};
use crate::mpiexec::machine::number_list;
use crate::mpiexec::request::Parsing;
use crate::mpiexec::sessions::Sessions;

pub const WHERE: &[Choice] = &[
    choice(
        &["hosts", "host", "H"],
        One("A[:N],B,.."),
        "hosts and their slots (one each); ranks fill them in this order, and once more if there are more ranks than slots",
        |parsing, given| {
            parsing.request.hosts.extend(list(&given[0]));
            Ok(())
        },
    ),
    choice(
        &["f", "hostfile", "machinefile", "machine"],
        One("FILE"),
        "file of hosts: a line is HOST, HOST:N or HOST slots=N",
        |parsing, given| {
            parsing.request.host_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["ppn", "N", "npernode", "perhost"],
        One("N"),
        "ranks a host, which are its slots then; the number of ranks if -n is not given",
        |parsing, given| {
            parsing.request.ranks_per_host = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["bind-to", "binding"],
        One("WHAT"),
        "core[:N], hwthread[:N], socket, numa, none, user:0,1,.. (an equal share of the cores each; if \
         there are more ranks than cores, neighbours have one in common)",
        |parsing, given| {
            parsing.request.bind_to = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["sessions"],
        One("WHAT"),
        "what has a session of its own, in which its ranks yield to each other: core (where ranks share cores, those of a core, \
         which they then stay on unless -bind-to says otherwise; default), rank (each), one (all ranks of a host together)",
        |parsing, given| {
            parsing.request.sessions = Some(Sessions::parse(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["report-bindings"],
        No,
        "print the cores of each rank",
        |parsing, _| {
            parsing.request.report_bindings = true;
            Ok(())
        },
    ),
    choice(
        &["pernode"],
        No,
        "one rank a host, if -n is not given",
        |parsing, _| {
            parsing.request.ranks_per_host = Some(1);
            Ok(())
        },
    ),
    choice(
        &["npersocket"],
        One("N"),
        "ranks a socket, if -n is not given; each is bound to its socket",
        |parsing, given| per_socket(parsing, positive(&given[0])?),
    ),
    choice(&["persocket"], No, "one rank a socket", |parsing, _| {
        per_socket(parsing, 1)
    }),
    choice(
        &["map-by"],
        One("HOW"),
        "Open MPI's way: slot (fill the slots of a host first), node (one rank to each host in turn), ppr:N:node or ppr:N:socket \
         (ranks each), pe=N (cores each)",
        |parsing, given| map_by(parsing, &given[0]),
    ),
    choice(
        &["cpus-per-proc", "cpus-per-rank"],
        One("N"),
        "bind each rank to so many cores, as -bind-to core:N",
        |parsing, given| {
            parsing.request.cores_per_rank = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["use-hwthread-cpus"],
        No,
        "where cores are counted (-cpus-per-proc, -rankfile), count hardware threads",
        |parsing, _| {
            parsing.request.hardware_threads = true;
            Ok(())
        },
    ),
    choice(
        &["rankfile", "rf"],
        One("FILE"),
        "the cores of each rank: lines rank N=HOST slot=CORES, where CORES are 0-2,4 or SOCKET:0-2; their number is the \
         number of ranks if -n is not given",
        |parsing, given| {
            parsing.request.rank_file = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["cpu-set", "cpu-list"],
        One("LIST"),
        "use only these processors, such as 0-3,6",
        |parsing, given| {
            let list = number_list(&given[0]).filter(|list| !list.is_empty());
            let wrong = || format!("'{}' is no list of processors", given[0]);
            parsing.request.processors = Some(list.ok_or_else(wrong)?);
            Ok(())
        },
    ),
    choice(&["bind-to-core"], No, "as -bind-to core", |parsing, _| {
        parsing.request.bind_to = Some("core".into());
        Ok(())
    }),
    choice(
        &["bind-to-socket"],
        No,
        "as -bind-to socket",
        |parsing, _| {
            parsing.request.bind_to = Some("socket".into());
            Ok(())
        },
    ),
    choice(&["bind-to-none"], No, "as -bind-to none", |parsing, _| {
        parsing.request.bind_to = Some("none".into());
        Ok(())
    }),
    choice(
        &["nooversubscribe"],
        No,
        "refuse more ranks than processors",
        |parsing, _| {
            parsing.request.no_oversubscribe = true;
            Ok(())
        },
    ),
    choice(
        &["rank-by"],
        One("HOW"),
        "how ranks are numbered: slot (host by host), node (across the hosts in turn)",
        |parsing, given| {
            let lower = given[0].to_ascii_lowercase();
            parsing.request.order.rank_by_node = match lower.split(':').next().unwrap_or_default() {
                "node" => true,
                "slot" | "fill" | "core" | "socket" | "package" | "numa" | "hwthread" => false,
                _ => return Err(format!("'{}': known are slot and node", given[0])),
            };
            Ok(())
        },
    ),
    choice(&["bynode", "rr"], No, "as -map-by node", |parsing, _| {
        parsing.request.order.map_by_node = true;
        Ok(())
    }),
    choice(
        &["nolocal"],
        No,
        "no ranks on this host, if others are named",
        |parsing, _| {
            parsing.request.no_local = true;
            Ok(())
        },
    ),
    choice(
        &["launcher", "bootstrap"],
        One("HOW"),
        "what starts mpiexec on other hosts: ssh, rsh, slurm (srun; inside an allocation by itself)",
        |parsing, given| {
            parsing.request.launcher = Some(given[0].to_ascii_lowercase());
            Ok(())
        },
    ),
    choice(
        &["launcher-exec", "bootstrap-exec"],
        One("PROGRAM"),
        "a program that does it: it is called with a host and the words of a command",
        |parsing, given| {
            parsing.request.launcher_path = Some(given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["launcher-fan-out"],
        One("N"),
        "how many hosts one host starts (32)",
        |parsing, given| {
            parsing.request.fan_out = Some(positive(&given[0])?);
            Ok(())
        },
    ),
    choice(
        &["host-timeout"],
        One("SECONDS"),
        "take another host for lost when it has given no sign of life for so long (5; at least 0.5): its ranks are killed, or have failed for \
         the others where a job survives",
        |parsing, given| {
            let limit = seconds(&given[0])?;
            // A keeper may have to wait for a processor.
            if limit < 0.5 {
                return Err(format!("'{}' is less than 0.5 s", given[0]));
            }
            parsing.request.host_timeout = Some(limit);
            Ok(())
        },
    ),
    choice(
        &["mca", "prtemca"],
        Two("NAME VALUE"),
        "plm_ssh_agent: as -launcher-exec; others configure a component of another MPI, and have no effect",
        |parsing, given| {
            if let "plm_ssh_agent" | "plm_rsh_agent" = given[0].as_str() {
                parsing.request.launcher_path = Some(given[1].clone());
            } else {
                let line = format!(
                    "-mca {} has no effect: mpiexec -info lists the variables of this library",
                    given[0]
                );
                parsing.request.without_effect.push(line);
            }
            Ok(())
        },
    ),
    choice(
        &["default-hostfile"],
        One("FILE"),
        "as -hostfile, where none is given",
        |parsing, given| {
            let file = &mut parsing.request.host_file;
            file.get_or_insert_with(|| given[0].clone());
            Ok(())
        },
    ),
    choice(
        &["prot"],
        No,
        "print how ranks reach each other",
        |parsing, _| {
            parsing.request.print_protocols = true;
            Ok(())
        },
    ),
    choice(
        &["oversubscribe"],
        No,
        "more ranks than cores: always allowed; binds nothing then",
        |_, _| Ok(()),
    ),
    choice(&["allow-run-as-root"], No, "never needed", |_, _| Ok(())),
];

fn per_socket(parsing: &mut Parsing, ranks: u32) -> Result<(), String> {
    parsing.request.ranks_per_socket = Some(ranks);
    Ok(())
}

/// Open MPI's `OBJECT[:MODIFIER,..]`, as far as it means something here.
fn map_by(parsing: &mut Parsing, text: &str) -> Result<(), String> {
    let lower = text.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("ppr:") {
        let mut parts = rest.split(':');
        let ranks = positive(parts.next().unwrap_or_default())?;
        match parts.next() {
            Some("node" | "board") => parsing.request.ranks_per_host = Some(ranks),
            Some("socket" | "package") => parsing.request.ranks_per_socket = Some(ranks),
            _ => return Err(format!("'{text}': known are ppr:N:node and ppr:N:socket")),
        }
    }
    match lower.split(':').next() {
        Some("node") => parsing.request.order.map_by_node = true,
        Some("slot") => parsing.request.order.map_by_node = false,
        _ => {}
    }
    for modifier in lower.split([':', ',']) {
        match modifier.split_once('=') {
            Some(("pe", cores)) => parsing.request.cores_per_rank = Some(positive(cores)?),
            Some(("file", _)) => {
                // Letters count in a path.
                let at = lower.find("file=").unwrap_or_default() + "file=".len();
                let path = text[at..].split([':', ',']).next();
                parsing.request.rank_file = path.map(str::to_owned);
            }
            _ if modifier == "hwtcpus" => parsing.request.hardware_threads = true,
            _ if modifier == "nooversubscribe" => parsing.request.no_oversubscribe = true,
            _ => {}
        }
    }
    Ok(())
}
