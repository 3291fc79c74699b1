//! mpiexec: starts the ranks of a job on this host, watches over them, and leaves nothing behind. It answers to mpirun
//! and mpiexec.hydra too, and as mpichversion says who we are. See docs/launch.md.

mod activity;
mod allocation;
pub mod arguments;
mod balance;
pub mod binding;
mod command;
mod debugger;
mod descendants;
mod descriptors;
mod doctor;
mod elf;
mod ending;
pub mod environment;
mod events;
mod exit_policy;
mod foreign;
mod front;
mod gdb;
pub mod hosts;
mod input;
mod layout;
mod leader;
mod left_open;
mod lines;
pub mod machine;
#[cfg(test)]
pub mod manual;
mod missing;
mod mpir;
mod mpir_table;
mod nodes;
mod options;
mod output;
mod oversight;
mod own_hosts;
mod plan;
mod process_times;
#[cfg(test)]
mod properties;
mod rank;
mod rank_list;
pub mod rankfile;
pub mod request;
mod server;
mod sessions;
mod signals;
mod singleton;
mod sink;
pub mod sites;
mod spawned;
mod stacks;
mod start;
mod state;
mod supervisor;
mod survival;
mod table;
mod timeline;
mod tools;
mod top;
mod variables;
mod verdict;
mod version;
pub mod words;

use plan::{Plan, Refusal};
use request::{Answer, Request};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// The program, with the arguments of this process. Ends the process unless the job is done.
pub fn main() {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    if Path::new(&name)
        .file_name()
        .is_some_and(|name| name == "mpichversion")
    {
        let words = arguments
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        match version::mpichversion(&words.collect::<Vec<_>>()) {
            Ok(text) => print(&text),
            Err(text) => refuse("mpichversion", &text, 1),
        }
    }
    if let Some((first, rest)) = arguments.split_first()
        && first == doctor::PART
    {
        match doctor::part(rest) {
            Ok(()) => return,
            Err(text) => refuse("mpiexec", &text, 1),
        }
    }
    if arguments
        .first()
        .is_some_and(|first| first == nodes::starters::PART)
    {
        std::process::exit(nodes::keeper::run());
    }
    if arguments.first().is_some_and(|first| first == sites::PART) {
        std::process::exit(sites::answer());
    }
    if let Some((first, rest)) = arguments.split_first()
        && first == spawned::PART
    {
        std::process::exit(spawned::run(rest.first()));
    }
    if let Some((first, rest)) = arguments.split_first()
        && first == singleton::PART
    {
        std::process::exit(singleton::run(rest));
    }
    if let Some((first, rest)) = arguments.split_first()
        && first == gdb::PART
    {
        std::process::exit(gdb::keep(rest));
    }
    match arguments::parse(&arguments, &|path| std::fs::read_to_string(path)) {
        Ok(Answer::Help) => print(&version::help()),
        Ok(Answer::Version) => print(&version::short()),
        Ok(Answer::Doctor) => std::process::exit(doctor::run()),
        Ok(Answer::Top(words)) => match top::run(&words) {
            Ok(code) => std::process::exit(code),
            Err(text) => refuse("mpiexec", &text, 1),
        },
        Ok(Answer::Info) => print(&(version::info() + &variables::list())),
        Ok(Answer::Run(request)) if request.gdb => match gdb::run(&arguments) {
            Ok(code) => std::process::exit(code),
            Err(text) => refuse("mpiexec", &text, 1),
        },
        Ok(Answer::Run(request)) => std::process::exit(run(*request)),
        Err(text) => refuse("mpiexec", &text, 1),
    }
}

/// A text on standard error, where that is still read. `eprint` would panic, and leave a job to itself.
fn show(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Which limit of the system an error may come from, in words to put behind it.
fn limit_behind(error: &std::io::Error) -> &'static str {
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::MFILE) => " (ulimit -n limits them)",
        Some(rustix::io::Errno::AGAIN) => " (ulimit -u limits processes and threads)",
        Some(rustix::io::Errno::NOMEM) => " (ulimit -v may limit it)",
        _ => "",
    }
}

/// A line of mpiexec's own there.
fn complain(text: &str) {
    show(&format!("mpiexec: {text}\n"));
}

fn print(text: &str) -> ! {
    let written = std::io::stdout().write_all(text.as_bytes());
    std::process::exit(i32::from(written.is_err()))
}

fn refuse(name: &str, text: &str, code: i32) -> ! {
    eprintln!("{name}: {text}");
    std::process::exit(code)
}

fn run(mut request: Request) -> i32 {
    if let Err(text) = environment::apply(&mut request, &|name| std::env::var(name).ok()) {
        refuse("mpiexec", &text, 1);
    }
    let plan = match plan::make(request) {
        Ok(plan) => plan,
        Err(Refusal { text, code }) => refuse("mpiexec", &text, code),
    };
    if plan.ranks.len() > 1 {
        for program in &plan.programs {
            if let Some(complaint) = foreign::linked(&program.executable) {
                refuse("mpiexec", &format!("{} {complaint}", program.shown), 1);
            }
        }
    }
    announce(&plan);
    if let Err(text) = report_pid(plan.request.report_pid.as_deref()) {
        refuse("mpiexec", &text, 1);
    }
    if plan.request.do_not_launch {
        return 0;
    }
    front::run(plan.request.timeout, |line| supervisor::run(&plan, line))
        .unwrap_or_else(|text| refuse("mpiexec", &text, 1))
}

/// Says what is asked for before the start.
fn announce(plan: &Plan) {
    let inherited = std::env::vars_os().map(|(name, _)| name);
    let given = plan
        .programs
        .iter()
        .flat_map(|program| program.variables.keys().cloned());
    let names = inherited.chain(given);
    let unknown = variables::unknown(names.filter_map(|name| name.into_string().ok()));
    let request = &plan.request;
    if !unknown.ours.is_empty() {
        eprintln!(
            "mpiexec: unknown variables have no effect: {}",
            unknown.ours.join(", ")
        );
    }
    if request.verbose && !unknown.of_mpich.is_empty() {
        eprintln!(
            "mpiexec: variables of MPICH that have no effect here: {}",
            unknown.of_mpich.join(", ")
        );
    }
    if request.verbose {
        for line in &request.without_effect {
            eprintln!("mpiexec: {line}");
        }
    }
    if request.print_protocols {
        for (host, ranks) in ranks_by_host(plan) {
            println!("ranks {} on {host}: shared memory", ranges(&ranks));
        }
    }
    if request.print_rank_map {
        for (host, ranks) in ranks_by_host(plan) {
            let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
            println!("({host}:{})", ranks.join(","));
        }
    }
    if request.verbose || request.report_bindings {
        eprint!("{}", bindings(plan));
    }
}

fn ranks_by_host(plan: &Plan) -> Vec<(String, Vec<u32>)> {
    let mut hosts: Vec<(String, Vec<u32>)> = Vec::new();
    for rank in 0..plan.size as u32 {
        let node = plan.nodes.node_of(rank) as usize;
        if node >= hosts.len() {
            hosts.resize_with(node + 1, || (String::new(), Vec::new()));
        }
        hosts[node].0 = plan.host_of(rank as usize);
        hosts[node].1.push(rank);
    }
    hosts
}

/// Numbers such as `0-3,8`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// Which processors the ranks of this host are bound to, a line each.
fn bindings(plan: &Plan) -> String {
    let lines = plan.here().map(|rank| {
        let program = &plan.programs[rank.program];
        let numbers: Vec<String> = rank.processors.iter().map(usize::to_string).collect();
        let bound = match numbers.is_empty() {
            true => "not bound".to_owned(),
            false => format!("on processors {}", numbers.join(",")),
        };
        let program = program.executable.display();
        format!("mpiexec: rank {}: {program} {bound}\n", rank.number)
    });
    lines.collect()
}

/// Writes the process id of mpiexec where -report-pid wants it.
fn report_pid(file: Option<&str>) -> Result<(), String> {
    let pid = std::process::id();
    match file {
        None => {}
        Some("-") => println!("{pid}"),
        Some("+") => eprintln!("{pid}"),
        Some(path) => std::fs::write(path, format!("{pid}\n"))
            .map_err(|error| format!("-report-pid: cannot write {path}: {error}"))?,
    }
    Ok(())
}
