//! Hosts that a program has to itself, as the info keys `host`, `hosts` and `hostfile` of MPI_Comm_spawn say. Programs without them go where the
//! job's hosts are.

use super::hosts::{self, Listed};
use super::layout::{self, Order};
use super::request::{Program, Request};

impl Program {
    fn has_own_hosts(&self) -> bool {
        !self.hosts.is_empty() || self.host_file.is_some()
    }
}

/// Whether a program of the request has its own.
pub fn are_in(request: &Request) -> bool {
    request.programs.iter().any(Program::has_own_hosts)
}

/// The hosts of a program that has its own.
fn of(program: &Program) -> Result<Vec<Listed>, String> {
    hosts::listed(&program.hosts, program.host_file.as_deref())
}

/// The hosts of all programs, each once, if any has its own; `of_job`: those of the others, none if that is this host alone.
pub fn of_all(request: &Request, of_job: Vec<Listed>) -> Result<Vec<Listed>, String> {
    if !are_in(request) {
        return Ok(of_job);
    }
    let mut all: Vec<Listed> = Vec::new();
    for program in &request.programs {
        let own = match program.has_own_hosts() {
            true => of(program)?,
            false => or_here(of_job.clone()),
        };
        for host in own {
            if position(&all, &host).is_none() {
                all.push(host);
            }
        }
    }
    Ok(all)
}

fn or_here(hosts: Vec<Listed>) -> Vec<Listed> {
    match hosts.is_empty() {
        false => hosts,
        true => vec![Listed {
            name: hosts::name(),
            slots: None,
            bare: 1,
            here: true,
        }],
    }
}

fn position(all: &[Listed], host: &Listed) -> Option<usize> {
    all.iter()
        .position(|it| it.here && host.here || it.name.eq_ignore_ascii_case(&host.name))
}

/// The host (an index in `all`) of each rank; so many ranks of each program.
pub fn place(
    request: &Request,
    all: &[Listed],
    of_job: &[Listed],
    counts: &[u32],
) -> Result<Vec<usize>, String> {
    let order: Order = request.order;
    let total = counts.iter().map(|count| *count as usize).sum();
    if !are_in(request) {
        return Ok(layout::place(all, total, order));
    }
    let mut placed = Vec::with_capacity(total);
    for (program, count) in request.programs.iter().zip(counts) {
        let own = match program.has_own_hosts() {
            true => of(program)?,
            false => or_here(of_job.to_vec()),
        };
        let ranks = layout::place(&own, *count as usize, order);
        placed.extend(
            ranks
                .into_iter()
                .filter_map(|host| position(all, &own[host])),
        );
    }
    Ok(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(ranks: u32, hosts: &[&str]) -> Program {
        Program {
            ranks: Some(ranks),
            hosts: hosts.iter().map(|it| (*it).to_owned()).collect(),
            ..Program::default()
        }
    }

    fn placed(job: &[&str], programs: Vec<Program>) -> Vec<String> {
        let counts: Vec<u32> = programs.iter().filter_map(|it| it.ranks).collect();
        let request = Request {
            hosts: job.iter().map(|it| (*it).to_owned()).collect(),
            programs,
            ..Request::default()
        };
        let of_job = hosts::listed(&request.hosts, None).unwrap();
        let all = of_all(&request, of_job.clone()).unwrap();
        let placed = place(&request, &all, &of_job, &counts).unwrap();
        placed
            .into_iter()
            .map(|host| all[host].name.clone())
            .collect()
    }

    #[test]
    fn each_program_goes_to_its_own_hosts() {
        let job = &["one:2", "two:2"];
        let spread = placed(job, vec![program(3, &[])]);
        assert_eq!(spread, ["one", "one", "two"]);
        let own = placed(job, vec![program(3, &["two"])]);
        assert_eq!(own, ["two", "two", "two"]);
        let mixed = vec![
            program(2, &["three:1", "two:1"]),
            program(1, &[]),
            program(1, &["two"]),
        ];
        assert_eq!(placed(job, mixed), ["three", "two", "one", "two"]);
        let here = hosts::name();
        let alone = placed(&[], vec![program(1, &["two"]), program(1, &[])]);
        assert_eq!(alone, ["two", here.as_str()]);
    }
}
