//! The request, resolved: each rank with its program, folder, variables, processors and output files.
//!
//! Invariant: whatever can be wrong before a process is started is found here.

use super::binding::{self, Binding, Claim, Situation};
use super::environment::{self, Variables};
use super::hosts::Listed;
use super::machine::Machine;
use super::request::{MOST_RANKS, OutputFolder, Program, Request};
use super::sessions::{self, Sessions};
use super::survival;
use super::{allocation, hosts, own_hosts, rankfile};
use oxmpi::launch::map::NodeMap;
use oxmpi::launch::sets;
use oxmpi::os::addresses;
use oxmpi::os::schedule;
use oxmpi::process::survival::Survive;
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What is common to the ranks of one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// As the user wrote it, for messages.
    pub shown: String,
    pub executable: PathBuf,
    pub arguments: Vec<OsString>,
    pub folder: Option<PathBuf>,
    pub variables: Variables,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankPlan {
    /// In MPI_COMM_WORLD.
    pub number: usize,
    /// Its index among the ranks of its host.
    pub seat: usize,
    /// Place of its host's keeper in the tree; 0 is mpiexec itself.
    pub place: u32,
    /// Index into `Plan::programs`; the rank's MPI_APPNUM.
    pub program: usize,
    /// Empty: not bound.
    pub processors: Vec<usize>,
    /// Which of its host's sessions of several ranks it is in; `None`: it has one of its own.
    pub session: Option<u32>,
    pub output_file: Option<PathBuf>,
    pub error_file: Option<PathBuf>,
    /// Files that forwarded output and error output are written to as well.
    pub copies: [Option<PathBuf>; 2],
    /// Words to put before the program; the first one is a path.
    pub tool: Vec<OsString>,
}

#[derive(Debug)]
pub struct Plan {
    pub programs: Vec<ProgramPlan>,
    /// Those that this process knows: all at the root, else those of this host.
    pub ranks: Vec<RankPlan>,
    /// Ranks of the job.
    pub size: usize,
    /// The name of this host.
    pub host: String,
    pub place: u32,
    pub nodes: NodeMap,
    /// The hosts of the places 1, 2, ..; none if all ranks are on this host.
    pub further_hosts: Vec<String>,
    pub request: Request,
    /// For the ranks: one in a line.
    pub process_sets: String,
    /// What tells the job from all others.
    pub job: u64,
    /// What the ranks find in their key-value store.
    pub preput: Vec<(String, String)>,
    /// Whether another job has spawned it.
    pub spawned: bool,
    /// The socket to a process that is the only rank and was started by somebody else, and its id.
    pub singleton: Option<(OwnedFd, i32)>,
    /// The processors of this host, if more ranks than these share them and each is bound to one by default.
    pub crowd: Option<Vec<usize>>,
    /// Held as long as the job lives.
    pub(super) claim: Option<Claim>,
}

/// Why nothing was started, and the exit code for it.
#[derive(Debug)]
pub struct Refusal {
    pub text: String,
    pub code: i32,
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Refusal { text, code: 1 }
    }
}

/// Resolves a request.
pub fn make(mut request: Request) -> Result<Plan, Refusal> {
    let of_job = hosts_of(&request)?;
    let hosts = own_hosts::of_all(&request, of_job.clone())?;
    if hosts.iter().any(|host| !host.here) {
        return make_for_several(request, hosts, of_job);
    }
    if request.no_local {
        return Err("-nolocal: there is no other host".to_owned().into());
    }
    let slots = hosts::slots_of(&hosts);
    let machine = Machine::of(&usable_processors()).only_wanted(&request)?;
    let by_file = match &request.rank_file {
        Some(path) => Some(rankfile::read(path, &machine, request.hardware_threads)?),
        None => None,
    };
    let sockets = machine.groups(|it| it.socket).len() as u32;
    let listed = by_file.as_ref().map(|placements| placements.len() as u32);
    let counts = rank_counts(&request, sockets, listed.or(slots));
    let total = counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    if total > u64::from(MOST_RANKS) {
        return Err(format!("{total} ranks are more than one host can have").into());
    }
    if let Some(listed) = listed.filter(|listed| u64::from(*listed) > total) {
        let rank = listed - 1;
        return Err(format!("-rankfile: there is no rank {rank} among {total}").into());
    }
    check_room(&request, total as usize, &machine)?;
    // How many processes the machine has room for.
    let universe = slots.unwrap_or(machine.processors.len() as u32);
    request.universe.settle(universe.max(total as u32));
    let process_sets = process_sets(&request, total as u32)?;
    let (bound, claim) = match by_file {
        Some(placements) => (Some(placements), None),
        None => bind(&request, total as usize, &machine)?,
    };
    let programs = std::mem::take(&mut request.programs);
    let mut plan = Plan {
        claim,
        ..Plan::new(request, total as usize, process_sets)
    };
    plan.add_programs(programs, &counts)?;
    plan.set_processors(bound, &machine);
    Ok(plan)
}

/// The hosts that options, or else a batch system, name. One host of a batch system needs no name.
fn hosts_of(request: &Request) -> Result<Vec<Listed>, String> {
    if !request.hosts.is_empty() || request.host_file.is_some() {
        return hosts::listed(&request.hosts, request.host_file.as_deref());
    }
    let given = allocation::find(&|name| std::env::var(name).ok())?;
    if given.len() < 2 {
        return Ok(Vec::new());
    }
    let entries = given
        .iter()
        .map(|(name, slots)| (name.as_str(), Some(*slots)));
    let hosts = hosts::merged(entries);
    match hosts.iter().all(|host| host.here) {
        true => Ok(Vec::new()),
        false => Ok(hosts),
    }
}

/// As [`make`], over several hosts. What is on other machines is resolved there, see [`super::nodes::handout`].
fn make_for_several(
    mut request: Request,
    mut hosts: Vec<Listed>,
    of_job: Vec<Listed>,
) -> Result<Plan, Refusal> {
    for (given, option) in [
        (request.rank_file.is_some(), "-rankfile"),
        (request.ranks_per_socket.is_some(), "-npersocket"),
    ] {
        if given {
            return Err(format!("{option} is for jobs on one host").into());
        }
    }
    if request.no_local && !own_hosts::are_in(&request) {
        hosts.retain(|host| !host.here);
    }
    if let Some(ranks) = request.ranks_per_host {
        for host in &mut hosts {
            (host.slots, host.bare) = (Some(ranks), 0);
        }
    }
    let room = hosts.iter().map(|host| u64::from(host.room())).sum::<u64>();
    let room = u32::try_from(room).unwrap_or(u32::MAX);
    let alone = request.programs.len() == 1;
    let of_program = |it: &Program| it.ranks.unwrap_or(if alone { room } else { 1 });
    let counts: Vec<u32> = request.programs.iter().map(of_program).collect();
    let total = counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    if total > u64::from(MOST_RANKS) {
        return Err(format!("{total} ranks are more than mpiexec can start").into());
    }
    request.universe.settle(room.max(total as u32));
    let total = total as usize;
    let placed = own_hosts::place(&request, &hosts, &of_job, &counts)?;
    let (nodes, hosts) = used(&placed, hosts);
    let mut further_hosts = Vec::new();
    let mut host = hosts::name();
    let mut places = Vec::with_capacity(hosts.len());
    for it in &hosts {
        if it.here {
            host.clone_from(&it.name);
            places.push(0);
        } else {
            further_hosts.push(it.name.clone());
            places.push(further_hosts.len() as u32);
        }
    }
    let process_sets = process_sets(&request, total as u32)?;
    let names: Vec<String> = hosts.into_iter().map(|host| host.name).collect();
    let programs = std::mem::take(&mut request.programs);
    let mut plan = Plan {
        host,
        nodes: NodeMap::new(&nodes, &names),
        further_hosts,
        ..Plan::new(request, total, process_sets)
    };
    plan.add_programs(programs, &counts)?;
    let mut seats = vec![0; places.len()];
    for (number, rank) in plan.ranks.iter_mut().enumerate() {
        let node = plan.nodes.node_of(number as u32) as usize;
        rank.place = places[node];
        rank.seat = seats[node];
        seats[node] += 1;
    }
    plan.bind_here()?;
    Ok(plan)
}

/// The node of each rank, and the hosts that are nodes: those that have ranks.
fn used(placed: &[usize], hosts: Vec<Listed>) -> (Vec<u32>, Vec<Listed>) {
    let mut numbers: Vec<Option<u32>> = vec![None; hosts.len()];
    placed.iter().for_each(|host| numbers[*host] = Some(0));
    for (number, node) in (0..).zip(numbers.iter_mut().flatten()) {
        *node = number;
    }
    let nodes = placed.iter().filter_map(|host| numbers[*host]).collect();
    let hosts = hosts.into_iter().zip(&numbers);
    let hosts = hosts.filter_map(|(host, number)| number.map(|_| host));
    (nodes, hosts.collect())
}

impl Plan {
    /// Of `size` ranks on this host; programs, and with them the ranks, are added.
    pub(super) fn new(request: Request, size: usize, process_sets: String) -> Plan {
        Plan {
            programs: Vec::new(),
            ranks: Vec::with_capacity(size),
            size,
            host: hosts::name(),
            place: 0,
            nodes: NodeMap::of_one(size as u32),
            further_hosts: Vec::new(),
            request,
            process_sets,
            job: addresses::random() as u64,
            preput: Vec::new(),
            spawned: false,
            singleton: None,
            crowd: None,
            claim: None,
        }
    }

    /// The last rank of each session of several ranks.
    pub fn last_ranks(&self) -> HashMap<u32, usize> {
        let ranks = self.ranks.iter().enumerate();
        ranks
            .filter_map(|(number, rank)| Some((rank.session?, number)))
            .collect()
    }

    /// How many leaders of sessions there are at one moment, at most.
    pub fn most_leaders(&self) -> usize {
        let last = self.last_ranks();
        let (mut running, mut most) = (HashSet::new(), 0);
        for (number, rank) in self.ranks.iter().enumerate() {
            if let Some(session) = rank.session {
                running.insert(session);
                most = most.max(running.len());
                if last.get(&session) == Some(&number) {
                    running.remove(&session);
                }
            }
        }
        most
    }

    /// The ranks of this host.
    pub fn here(&self) -> impl Iterator<Item = &RankPlan> {
        self.ranks.iter().filter(|rank| rank.place == self.place)
    }

    /// The host of a rank, by its index in `ranks`.
    pub fn host_of(&self, index: usize) -> String {
        let number = self.ranks[index].number as u32;
        let host = self.nodes.host(self.nodes.node_of(number));
        host.unwrap_or_else(|| self.host.clone())
    }

    /// Whether there are ranks on other hosts.
    pub fn is_spread(&self) -> bool {
        self.nodes.host(0).is_some()
    }

    /// Binds the ranks of this host.
    pub(super) fn bind_here(&mut self) -> Result<(), String> {
        let machine = Machine::of(&usable_processors()).only_wanted(&self.request)?;
        let count = self.here().count();
        check_room(&self.request, count, &machine)?;
        let (bound, claim) = bind(&self.request, count, &machine)?;
        self.claim = claim;
        self.set_processors(bound, &machine);
        Ok(())
    }

    /// Gives the ranks of this host their processors, in their order, and their sessions.
    fn set_processors(&mut self, bound: Binding, machine: &Machine) {
        let mut bound = bound.map(Vec::into_iter);
        let otherwise = self.request.processors.clone().unwrap_or_default();
        let place = self.place;
        let here = self.ranks.iter_mut().filter(|rank| rank.place == place);
        for rank in here {
            let bound = bound.as_mut().and_then(Iterator::next);
            let bound = bound.filter(|processors| !processors.is_empty());
            rank.processors = bound.unwrap_or_else(|| otherwise.clone());
        }
        let all: Vec<usize> = machine.processors.iter().map(|it| it.number).collect();
        let is_default = self.claim.is_some();
        let usable = |rank: &RankPlan| match rank.processors.is_empty() {
            true => all.clone(),
            false => rank.processors.clone(),
        };
        let usable: Vec<Vec<usize>> = self.here().map(usable).collect();
        let usable: Vec<&[usize]> = usable.iter().map(Vec::as_slice).collect();
        self.crowd = (is_default && usable.len() > all.len()).then(|| all.clone());
        let sessions = sessions::arrange(self.request.sessions.unwrap_or_default(), &usable);
        let here = self.ranks.iter_mut().filter(|rank| rank.place == place);
        for (rank, session) in here.zip(sessions) {
            rank.session = session;
        }
    }

    /// Resolves the programs, with so many ranks each.
    fn add_programs(&mut self, programs: Vec<Program>, counts: &[u32]) -> Result<(), Refusal> {
        let total = self.size;
        let plan = self;
        for (index, (program, count)) in programs.into_iter().zip(counts).enumerate() {
            let resolved = resolve(&plan.request, program)?;
            for _ in 0..*count {
                let rank = plan.ranks.len();
                let host = plan.nodes.host(plan.nodes.node_of(rank as u32));
                let host = host.as_deref().unwrap_or(&plan.host);
                let file = |pattern: &Option<String>| {
                    let path = expand(pattern.as_deref()?, rank, total, host);
                    let folder = resolved.folder.clone().unwrap_or_default();
                    Some(folder.join(path))
                };
                let mut files = [
                    file(&plan.request.output_file),
                    file(&plan.request.error_file),
                ];
                let mut copies = [None, None];
                if let Some(folder) = &plan.request.output_folder {
                    let both = in_folder(folder, rank, total)?;
                    match folder.copy {
                        true => copies = both,
                        false => files = both,
                    }
                }
                if plan.request.merge_error {
                    files[1] = files[0].clone();
                    copies[1] = None;
                }
                let [output_file, error_file] = files;
                plan.ranks.push(RankPlan {
                    number: rank,
                    seat: rank,
                    place: 0,
                    program: index,
                    processors: Vec::new(),
                    session: None,
                    output_file,
                    error_file,
                    copies,
                    tool: tool(&plan.request, rank)?,
                });
            }
            plan.programs.push(resolved);
        }
        let programs = plan.programs.iter();
        let programs: Vec<survival::Program<'_>> = programs
            .map(|program| (program.executable.as_path(), &program.variables))
            .collect();
        let survive = survival::settle(plan.request.survive, &programs);
        plan.request.survive = Some(survive);
        // Otherwise the ranks' environment stays what it is.
        if survive != Survive::Auto {
            let (name, value) = (survival::variable(), survive.to_string());
            for program in &mut plan.programs {
                let variables = &mut program.variables;
                variables.insert(name.clone().into(), value.clone().into());
            }
        }
        Ok(())
    }
}

/// Errors: more ranks than processors, where that is refused.
fn check_room(request: &Request, ranks: usize, machine: &Machine) -> Result<(), String> {
    let processors = machine.processors.len();
    match request.no_oversubscribe && ranks > processors {
        true => Err(format!(
            "-nooversubscribe: {ranks} ranks are more than the {processors} processors that may be used"
        )),
        false => Ok(()),
    }
}

impl Machine {
    /// Without the processors that -cpu-set leaves out.
    fn only_wanted(self, request: &Request) -> Result<Machine, String> {
        let Some(wanted) = &request.processors else {
            return Ok(self);
        };
        let has = |number: &usize| self.processors.iter().any(|it| it.number == *number);
        match wanted.iter().find(|number| !has(number)) {
            Some(other) => Err(format!("-cpu-set: processor {other} may not be used here")),
            None => Ok(self.only(wanted)),
        }
    }
}

/// The processors of the ranks, as options or the default say, and the claim to be bound by default.
fn bind(
    request: &Request,
    total: usize,
    machine: &Machine,
) -> Result<(Binding, Option<Claim>), String> {
    let threads = std::env::var("OMP_NUM_THREADS").ok();
    let situation = Situation {
        quota: schedule::cpu_quota(),
        threads: threads.and_then(|threads| threads.split(',').next()?.trim().parse().ok()),
        crowd: request.sessions.unwrap_or_default() == Sessions::Core,
    };
    let each = request
        .cores_per_rank
        .map(|cores| match request.hardware_threads {
            true => format!("hwthread:{cores}"),
            false => format!("core:{cores}"),
        });
    let by_socket = request.ranks_per_socket.map(|_| "socket".to_owned());
    let wish = match request.bind_to.as_deref() {
        // How many is said apart.
        Some("core" | "hwthread") => each.or_else(|| request.bind_to.clone()),
        Some(wish) => Some(wish.to_owned()),
        None => each.or(by_socket),
    };
    let bound = binding::bind(wish.as_deref(), total, machine, &situation)
        .map_err(|error| format!("-bind-to {error}"))?;
    if wish.is_some() || bound.is_none() {
        return Ok((bound, None));
    }
    let claim = binding::claim();
    Ok((bound.filter(|_| claim.is_some()), claim))
}

/// The files for output and error output of a rank in the folder of -output-filename, which is made.
fn in_folder(
    folder: &OutputFolder,
    rank: usize,
    total: usize,
) -> Result<[Option<PathBuf>; 2], String> {
    let mut path = PathBuf::from(&folder.path);
    if folder.job {
        path.push("1");
    }
    let width = total.to_string().len();
    path.push(format!("rank.{rank:0width$}"));
    std::fs::create_dir_all(&path)
        .map_err(|error| format!("-output-filename: cannot make {}: {error}", path.display()))?;
    // Ranks may run in another folder.
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(["stdout", "stderr"].map(|name| Some(path.join(name))))
}

/// The tools that start a rank, the last one said outermost.
fn tool(request: &Request, rank: usize) -> Result<Vec<OsString>, Refusal> {
    let mut words = Vec::new();
    for tool in request.tools.iter().rev() {
        let before = tool.before(rank);
        if let Some((name, rest)) = before.split_first() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            words.push(find_program(OsStr::new(name), None, &path)?.into_os_string());
            words.extend(rest.iter().map(OsString::from));
        }
    }
    Ok(words)
}

/// How many ranks each program gets: what -n says; else, if there is one program, -ppn or what is said a socket, else the
/// lines of the rank file or the slots of the hosts; else one.
fn rank_counts(request: &Request, sockets: u32, listed: Option<u32>) -> Vec<u32> {
    let alone = request.programs.len() == 1;
    let of_sockets = request
        .ranks_per_socket
        .map(|ranks| ranks.saturating_mul(sockets));
    let otherwise = request.ranks_per_host.or(of_sockets).or(listed);
    let otherwise = otherwise.filter(|_| alone);
    let counts = request.programs.iter();
    counts
        .map(|program| program.ranks.or(otherwise).unwrap_or(1))
        .collect()
}

/// The process sets, each good and named once.
fn process_sets(request: &Request, total: u32) -> Result<String, String> {
    let mut names: Vec<String> = Vec::new();
    for text in &request.process_sets {
        let set = sets::parse(text, total).map_err(|error| format!("-pset {error}"))?;
        if names.iter().any(|name| sets::is_same(name, &set.name)) {
            return Err(format!("-pset {text}: there is a set of this name already"));
        }
        names.push(set.name);
    }
    Ok(request.process_sets.join("\n"))
}

/// The processors this process may run on.
pub fn usable_processors() -> Vec<usize> {
    let mask = schedule::affinity();
    (0..mask.len() * 64)
        .filter(|bit| mask[bit / 64] >> (bit % 64) & 1 == 1)
        .collect()
}

fn resolve(request: &Request, program: Program) -> Result<ProgramPlan, Refusal> {
    let variables = environment::of_program(request, &program, std::env::vars_os());
    let folder = program.folder.or_else(|| request.folder.clone());
    let folder = folder.map(PathBuf::from);
    if let Some(folder) = &folder
        && !folder.is_dir()
    {
        return Err(format!("-wdir {}: no such folder", folder.display()).into());
    }
    let mut words = program.command.into_iter();
    let name = words.next().unwrap_or_default();
    let mut path = OsString::from(request.path.as_deref().unwrap_or_default());
    if let Some(more) = std::env::var_os("PATH") {
        path.push(":");
        path.push(more);
    }
    let executable = find_program(&name, folder.as_deref(), &path)?;
    Ok(ProgramPlan {
        shown: name.to_string_lossy().into_owned(),
        executable,
        arguments: words.collect(),
        folder,
        variables,
    })
}

/// Finds a program as a shell does: with a slash it is a path, relative to the ranks' folder; else PATH is searched,
/// and at last the folder itself, as MPICH's launcher does.
pub fn find_program(name: &OsStr, folder: Option<&Path>, path: &OsStr) -> Result<PathBuf, Refusal> {
    let here = std::env::current_dir().unwrap_or_default();
    let base = folder.map_or_else(|| here.clone(), |folder| here.join(folder));
    let shown = name.to_string_lossy();
    let mut found_but = None;
    let mut candidates = Vec::new();
    if shown.contains('/') {
        candidates.push(base.join(name));
    } else {
        let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
        candidates.extend(folders.map(|folder| base.join(folder).join(name)));
        candidates.push(base.join(name));
    }
    for candidate in candidates {
        if !candidate.exists() {
            continue;
        }
        if candidate.is_file() && access(&candidate, Access::EXEC_OK).is_ok() {
            return Ok(candidate);
        }
        found_but = Some(candidate);
    }
    Err(match found_but {
        Some(path) => Refusal {
            text: format!("cannot run '{shown}': {} is not executable", path.display()),
            code: 126,
        },
        None => Refusal {
            text: format!("cannot run '{shown}': no such program"),
            code: 127,
        },
    })
}

/// Fills in a pattern of -outfile-pattern, -errfile-pattern and -prepend-pattern.
pub fn expand(pattern: &str, rank: usize, ranks: usize, host: &str) -> String {
    let mut text = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next() {
                Some('r') => text += &rank.to_string(),
                Some('n') => text += &ranks.to_string(),
                Some('h') => text += host,
                Some('p') => text += &std::process::id().to_string(),
                Some('g') => text += "0",
                Some('%') | None => text.push('%'),
                Some(other) => text.extend(['%', other]),
            },
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_filled_in() {
        assert_eq!(
            expand("o.%r-of-%n@%h 100%%%x%", 3, 8, "vm"),
            "o.3-of-8@vm 100%%x%"
        );
    }

    #[test]
    fn programs_are_found_as_in_a_shell() {
        let path = OsStr::new("/usr/bin:/bin");
        assert!(find_program(OsStr::new("sh"), None, path).is_ok());
        assert!(find_program(OsStr::new("/bin/sh"), None, OsStr::new("")).is_ok());
        let folder = Some(Path::new("/bin"));
        assert!(find_program(OsStr::new("./sh"), folder, OsStr::new("")).is_ok());
        let missing = find_program(OsStr::new("no-such-program"), None, path).unwrap_err();
        assert_eq!(missing.code, 127);
        let folder = find_program(OsStr::new("/etc"), None, path).unwrap_err();
        assert_eq!(folder.code, 126);
    }

    #[test]
    fn the_number_of_ranks_has_an_order_of_sources() {
        let mut request = Request {
            programs: vec![Program::default()],
            ..Request::default()
        };
        assert_eq!(rank_counts(&request, 2, None), [1]);
        assert_eq!(rank_counts(&request, 2, Some(4)), [4]);
        request.ranks_per_socket = Some(3);
        assert_eq!(rank_counts(&request, 2, Some(4)), [6]);
        request.ranks_per_host = Some(2);
        assert_eq!(rank_counts(&request, 2, Some(4)), [2]);
        request.programs[0].ranks = Some(3);
        assert_eq!(rank_counts(&request, 2, Some(4)), [3]);
        request.programs.push(Program::default());
        assert_eq!(rank_counts(&request, 2, Some(4)), [3, 1]);
    }
}
