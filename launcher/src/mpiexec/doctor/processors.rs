//! The processors that ranks may use, how they are shared with other programs, and the clock.

use super::Finding;
use super::view::View;
use crate::mpiexec::leader;
use crate::mpiexec::machine::Machine;
use crate::mpiexec::plan::usable_processors;
use oxmpi::os::schedule;

pub fn findings(view: &View) -> Vec<Finding> {
    let usable = usable_processors();
    let mut found = cores(
        schedule::online_cores(),
        usable.len(),
        schedule::cpu_quota(),
    );
    found.push(shape(&Machine::of(&usable)));
    found.extend(load(view, usable.len()));
    found.push(governor(view));
    found.push(autogroup(view));
    found.push(sessions(leader::try_sibling()));
    found.push(clock(view));
    found
}

fn cores(online: usize, usable: usize, quota: Option<f64>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.push(match usable < online {
        false => Finding::ok("cores", format!("all {online} cores of the machine may be used")),
        true => Finding::note(
            "cores",
            format!("{usable} of {online} cores may be used (affinity mask, or cpuset of a container or batch system)"),
            "start mpiexec where more are allowed; more ranks than cores work, but slower",
        ),
    });
    found.push(match quota {
        None => Finding::ok("CPU quota", "none"),
        Some(cores) if cores >= usable as f64 => {
            Finding::ok("CPU quota", format!("{cores} cores: no less than may be used"))
        }
        Some(cores) => Finding::note(
            "CPU quota",
            format!("the control group grants the time of {cores} cores: more ranks take turns, and none is bound to cores"),
            "run at most so many ranks, or raise the quota (docker run --cpus, cpu.max)",
        ),
    });
    found
}

fn shape(machine: &Machine) -> Finding {
    let sockets = machine.groups(|it| it.socket).len();
    let nodes = machine.groups(|it| it.node).len();
    let cores = machine.groups(|it| (it.node, it.socket, it.core)).len();
    let threads = machine.processors.len();
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    Finding::ok(
        "topology",
        format!(
            "{}, {}, {}, {}",
            plural(sockets, "socket"),
            plural(nodes, "memory node"),
            plural(cores, "core"),
            plural(threads, "hardware thread"),
        ),
    )
}

/// Programs that want the cores at this moment, this one aside.
fn load(view: &View, usable: usize) -> Option<Finding> {
    let text = view.file("/proc/loadavg")?;
    let running = text.split_whitespace().nth(3)?.split('/').next()?;
    let others = running.parse::<usize>().ok()?.saturating_sub(1);
    Some(match others {
        0 => Finding::ok("other programs", "none computes now"),
        _ if others < usable => Finding::ok(
            "other programs",
            format!("{others} threads compute now, on {usable} cores"),
        ),
        _ => Finding::note(
            "other programs",
            format!("{others} threads compute now, on {usable} cores: ranks wait for their turn"),
            "measure on an idle machine; use fewer ranks than cores",
        ),
    })
}

fn governor(view: &View) -> Finding {
    const WHAT: &str = "CPU governor";
    match view
        .file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        .as_deref()
    {
        None => Finding::ok(WHAT, "not visible (usual in virtual machines)"),
        Some("powersave" | "conservative" | "ondemand") => Finding::note(
            WHAT,
            "cores are slowed down while they are idle: first messages after a pause take longer",
            "for measurements: cpupower frequency-set -g performance",
        ),
        Some(name) => Finding::ok(WHAT, name),
    }
}

fn autogroup(view: &View) -> Finding {
    const WHAT: &str = "autogroup";
    match view
        .file("/proc/sys/kernel/sched_autogroup_enabled")
        .as_deref()
    {
        Some("1") => Finding::ok(WHAT, "on: Linux shares busy cores among sessions first"),
        Some(_) => Finding::ok(WHAT, "off"),
        None => Finding::ok(WHAT, "not known to this kernel"),
    }
}

/// `tried`: whether a process in a session can start one that is a child of mpiexec.
fn sessions(tried: std::io::Result<()>) -> Finding {
    const WHAT: &str = "sessions";
    match tried {
        Ok(()) => Finding::ok(
            WHAT,
            "where ranks share cores, those of a core have one in common (-sessions core); else each rank has one",
        ),
        Err(error) => Finding::note(
            WHAT,
            format!(
                "clone with CLONE_PARENT fails ({error}): each rank has one, so that ranks that share cores cannot yield to each other"
            ),
            "in a container: a seccomp profile that allows clone with this flag; or switch autogroup off (sysctl \
             kernel.sched_autogroup_enabled=0)",
        ),
    }
}

fn clock(view: &View) -> Finding {
    const WHAT: &str = "clock";
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    match view.file(path).as_deref() {
        Some(name @ ("tsc" | "arch_sys_counter" | "kvm-clock" | "hyperv_clocksource_tsc_page")) => {
            Finding::ok(WHAT, format!("{name}: MPI_Wtime needs no system call"))
        }
        Some(name) => Finding::note(
            WHAT,
            format!("{name}: each MPI_Wtime is a slow system call"),
            "boot with tsc=reliable if the processor's counter can be trusted",
        ),
        None => Finding::ok(WHAT, "its source is not visible"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn fewer_cores_and_quotas_are_notes_with_their_numbers() {
        let all = cores(8, 8, None);
        assert!(all.iter().all(|it| it.state == State::Ok), "{all:?}");
        let some = cores(8, 2, Some(1.5));
        assert_eq!(some[0].state, State::Note);
        assert!(some[0].found.starts_with("2 of 8 cores"), "{some:?}");
        assert_eq!(some[1].state, State::Note);
        assert!(some[1].found.contains("1.5 cores"), "{some:?}");
        assert_eq!(cores(8, 2, Some(2.0))[1].state, State::Ok);
    }

    #[test]
    fn a_refused_clone_is_a_note() {
        let refused = sessions(Err(std::io::Error::from_raw_os_error(1)));
        assert_eq!(refused.state, State::Note);
        assert!(
            refused.found.contains("Operation not permitted"),
            "{refused:?}"
        );
        assert_eq!(sessions(Ok(())).state, State::Ok);
    }

    #[test]
    fn files_of_the_kernel_decide() {
        let slow = View::of_test(
            &[
                (
                    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    "hpet\n",
                ),
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                    "powersave\n",
                ),
                ("/proc/sys/kernel/sched_autogroup_enabled", "1\n"),
                ("/proc/loadavg", "0.5 0.5 0.5 4/300 1\n"),
            ],
            &[],
        );
        assert_eq!(clock(&slow).state, State::Note);
        assert!(clock(&slow).found.contains("hpet"));
        assert_eq!(governor(&slow).state, State::Note);
        assert!(autogroup(&slow).found.starts_with("on"));
        assert_eq!(load(&slow, 2).unwrap().state, State::Note);
        assert_eq!(load(&slow, 4).unwrap().state, State::Ok);
        let fast = View::of_test(
            &[
                (
                    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    "tsc\n",
                ),
                (
                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                    "performance\n",
                ),
            ],
            &[],
        );
        for finding in [clock(&fast), governor(&fast), autogroup(&fast)] {
            assert_eq!(finding.state, State::Ok, "{finding:?}");
        }
        assert_eq!(load(&fast, 2), None);
    }
}
