//! A node keeper: mpiexec on a further host, started by a keeper above.

use super::card::Card;
use super::frames::Frame;
use super::tree::Tree;
use super::{gather, handout};
use crate::mpiexec::plan::Plan;
use crate::mpiexec::{descendants, front, hosts, show, supervisor};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Runs it; the exit code. The card comes on standard input.
pub fn run() -> i32 {
    let host = hosts::name();
    let fail = |text: String| {
        show(&format!("mpiexec on {host}: {text}\n"));
        1
    };
    let card = match Card::read(&mut std::io::stdin().lock()) {
        Ok(card) => card,
        Err(error) => {
            return fail(format!(
                "standard input brings no card of an mpiexec of this version: {error}"
            ));
        }
    };
    front::run(None, |line| keep(card, line).unwrap_or_else(fail)).unwrap_or_else(fail)
}

fn keep(card: Card, line: UnixStream) -> Result<i32, String> {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    front::step_aside(supervisor::NAME);
    if !front::is_ready(&line) {
        return Err("the front process was killed".into());
    }
    let place = own_place(&card)?;
    let stream = card.connect().map_err(|error| error.to_string())?;
    let tree = Tree::of_keeper(card, place, stream);
    let mut tree = tree.map_err(|error| format!("cannot use the connection: {error}"))?;
    let begun = tree.start_children();
    let begun = begun.map_err(|error| format!("cannot wait for keepers of other hosts: {error}"));
    let start = match begun.and_then(|()| gather::at_keeper(&mut tree, &line)) {
        Ok(start) => start,
        Err(text) => {
            tree.report(&Frame::Lost { why: text.clone() });
            tree.abandon();
            tree.finish();
            descendants::end_all(Duration::from_secs(2));
            return Err(text);
        }
    };
    let folder = start.folder.clone();
    let prepared = std::env::set_current_dir(&folder)
        .map_err(|error| format!("cannot go to the folder {folder}: {error}"))
        .and_then(|()| handout::of_start(*start, place))
        .and_then(|plan| Ok((supervisor::prepare(&plan)?, plan)));
    match prepared {
        Ok((prepared, plan)) => {
            report_bindings(&mut tree, &plan);
            Ok(supervisor::supervise(&plan, &prepared, line, Some(tree)))
        }
        Err(why) => {
            tree.report(&Frame::Failed {
                rank: None,
                why: why.clone(),
            });
            // The root ends the job now, and this connection.
            let _ = gather::at_keeper(&mut tree, &line);
            tree.abandon();
            tree.report(&Frame::Done);
            tree.finish();
            descendants::end_all(Duration::from_secs(2));
            Err(why)
        }
    }
}

/// Which of the parent's children this is. srun gives all the same card.
fn own_place(card: &Card) -> Result<u32, String> {
    if let Some(place) = card.place {
        return Ok(place);
    }
    let name = std::env::var("SLURMD_NODENAME").unwrap_or_else(|_| hosts::name());
    let first = u64::from(card.parent) * u64::from(card.fan_out) + 1;
    let children = first..first + u64::from(card.fan_out);
    let mut below = card.below.iter();
    let found = below.find(|(place, host)| *host == name && children.contains(&u64::from(*place)));
    let found = found.map(|(place, _)| *place);
    found.ok_or_else(|| format!("this host, {name}, is none of those that were to be started"))
}

/// As at the root for its own ranks.
fn report_bindings(tree: &mut Tree, plan: &Plan) {
    if plan.request.verbose || plan.request.report_bindings {
        tree.report(&Frame::Text(crate::mpiexec::bindings(plan)));
    }
}
