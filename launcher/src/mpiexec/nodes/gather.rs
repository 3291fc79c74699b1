//! Waits until all keepers are there, before anything is started.

use super::frames::Frame;
use super::handout::Start;
use super::link::Patience;
use super::starters::Launcher;
use super::tree::{Event, Tree};
use crate::mpiexec::descendants;
use crate::mpiexec::ending::TIMEOUT_CODE;
use crate::mpiexec::front::BY_KERNEL;
use crate::mpiexec::plan::Plan;
use crate::mpiexec::table::signal_name;
use crate::mpiexec::{complain, oversight, show};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::signal::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Children of each keeper, unless -launcher-fan-out says otherwise.
const FAN_OUT: u32 = 32;

/// Starts the keepers of all further hosts. What is wrong has been said when this returns an error, the exit code.
pub fn at_root(plan: &Plan, front: &UnixStream) -> Result<Tree, i32> {
    let refuse = |text: String| {
        complain(&text);
        Err(1)
    };
    let request = &plan.request;
    let launcher = match Launcher::choose(request, &|name| std::env::var(name).ok()) {
        Ok(launcher) => launcher,
        Err(text) => return refuse(text),
    };
    let fan_out = request.fan_out.unwrap_or(FAN_OUT);
    let patience = request.host_timeout.map(Patience::of_seconds);
    let patience = patience.unwrap_or_default();
    let made = Tree::of_root(plan.further_hosts.clone(), launcher, fan_out, patience);
    let made = made.and_then(|mut tree| {
        tree.start_children()?;
        Ok(tree)
    });
    let mut tree = match made {
        Ok(tree) => tree,
        Err(error) => return refuse(format!("cannot wait for keepers of other hosts: {error}")),
    };
    let limit = request.timeout.filter(|limit| *limit > 0.0);
    let limit = limit.map(|limit| Instant::now() + Duration::from_secs_f64(limit.min(1e9)));
    let code = match wait_for_all(&mut tree, front, limit) {
        Ok(()) => return Ok(tree),
        Err((text, code)) => {
            complain(&text);
            code
        }
    };
    tree.abandon();
    descendants::end_all(Duration::from_secs(2));
    Err(code)
}

fn wait_for_all(
    tree: &mut Tree,
    front: &UnixStream,
    limit: Option<Instant>,
) -> Result<(), (String, i32)> {
    let mut ready = 0;
    while ready < tree.keepers() {
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            let hosts = tree.unfinished().join(", ");
            return Err((
                format!("the time limit is over, waiting for keepers on {hosts}"),
                TIMEOUT_CODE,
            ));
        }
        hear_front(tree, front)?;
        tree.turn();
        while let Some(event) = tree.next_event() {
            match event {
                Event::Up(_, Frame::Ready) => ready += 1,
                Event::Up(place, Frame::Lost { why }) => {
                    let host = tree.host(place);
                    return Err((format!("cannot start ranks on host '{host}': {why}"), 1));
                }
                Event::Up(_, Frame::Text(text)) => show(&text),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Waits for news of the tree. Errors: a signal that ends the job, or the end of the front process.
fn hear_front(tree: &Tree, mut front: &UnixStream) -> Result<(), (String, i32)> {
    let rest = tree.due().saturating_duration_since(Instant::now());
    let rest = Timespec {
        tv_sec: rest.as_secs() as i64,
        tv_nsec: i64::from(rest.subsec_nanos()),
    };
    let fd = tree.as_fd();
    let mut ready = [
        PollFd::new(&fd, PollFlags::IN),
        PollFd::new(front, PollFlags::IN),
    ];
    let waited = poll(&mut ready, Some(&rest));
    if waited.is_err() || ready[1].revents().is_empty() {
        return Ok(());
    }
    let mut byte = [0u8];
    let line = front;
    match front.read(&mut byte) {
        Ok(1) => {}
        _ => return Err(("the front process of mpiexec was killed".into(), 128 + 9)),
    }
    if byte[0] == oversight::QUESTION {
        oversight::answer(line);
        return Ok(());
    }
    let signal = i32::from(byte[0] & !BY_KERNEL);
    match signal {
        SIGINT | SIGTERM | SIGHUP | SIGQUIT => {
            let text = format!("got {} before any rank was started", signal_name(signal));
            Err((text, 128 + signal))
        }
        SIGALRM => Err(("the time limit is over".into(), TIMEOUT_CODE)),
        _ => Ok(()),
    }
}

/// At a node keeper: passes on what is for others until this host's start has come.
///
/// Errors: why there will be none.
pub fn at_keeper(tree: &mut Tree, front: &UnixStream) -> Result<Box<Start>, String> {
    loop {
        hear_front(tree, front).map_err(|(text, _)| text)?;
        tree.turn();
        while let Some(event) = tree.next_event() {
            match event {
                Event::Down(Frame::Start(start)) => return Ok(start),
                Event::Down(Frame::End | Frame::Signal { .. }) => {
                    return Err("the job has ended before it began".into());
                }
                Event::Orphaned(why) => return Err(format!("the keeper above is lost: {why}")),
                _ => {}
            }
        }
    }
}
