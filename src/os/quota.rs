//! How much processor time and memory the system and the control groups of this process leave it.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// How many cores' worth of time the container may use, from cgroup v2 or v1; `None` without a limit.
pub fn cpu_quota() -> Option<f64> {
    let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
    least(Path::new("/sys/fs/cgroup"), &own)
}

/// How much memory the system and this process's control groups have left, bytes. Pages of files that the kernel would give up count
/// as left.
pub fn memory_left() -> Option<u64> {
    let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let meminfo = read_to_string("/proc/meminfo").unwrap_or_default();
    let of_system = field(&meminfo, "MemAvailable:").map(|kilobytes| kilobytes << 10);
    let of_groups = least_memory(Path::new("/sys/fs/cgroup"), &own);
    [of_system, of_groups].into_iter().flatten().min()
}

/// The number behind a name in a list of names and numbers.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn least_memory(root: &Path, own: &str) -> Option<u64> {
    let mut least: Option<u64> = None;
    for group in groups(root, own, "memory") {
        let text = |name: &str| read_to_string(group.folder.join(name)).ok();
        let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
        let (limit, used, files) = match group.is_second {
            true => (
                [number("memory.max"), number("memory.high")]
                    .into_iter()
                    .flatten()
                    .min(),
                number("memory.current"),
                "inactive_file ",
            ),
            false => (
                number("memory.limit_in_bytes"),
                number("memory.usage_in_bytes"),
                "total_inactive_file ",
            ),
        };
        let (Some(limit), Some(used)) = (limit, used) else {
            continue;
        };
        let given_up = text("memory.stat").and_then(|stat| field(&stat, files));
        let left = limit.saturating_sub(used.saturating_sub(given_up.unwrap_or(0)));
        least = Some(least.map_or(left, |least| least.min(left)));
    }
    least
}

/// A control group.
struct Group {
    folder: PathBuf,
    /// Of version 2.
    is_second: bool,
}

/// The control groups that a controller has for this process, with those around them. A container that sees the host's names of its
/// groups but only its own part of their tree has what holds for it at the tree's root.
fn groups(root: &Path, own: &str, controller: &str) -> Vec<Group> {
    let first_root = root.join(controller);
    let mut found = vec![
        Group {
            folder: root.to_owned(),
            is_second: true,
        },
        Group {
            folder: first_root.clone(),
            is_second: false,
        },
    ];
    for line in own.lines() {
        // Number of the hierarchy, its controllers, the group.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (root, is_second) = match controllers {
            "" => (root, true),
            _ if controllers.split(',').any(|one| one == controller) => (&*first_root, false),
            _ => continue,
        };
        let group = Path::new(group.trim_start_matches('/'));
        let all = group.ancestors().filter(|group| *group != Path::new(""));
        found.extend(all.map(|group| Group {
            folder: root.join(group),
            is_second,
        }));
    }
    found
}

/// The least quota of processor time.
fn least(root: &Path, own: &str) -> Option<f64> {
    let quotas = groups(root, own, "cpu").into_iter().filter_map(|group| {
        let text = |name: &str| read_to_string(group.folder.join(name)).ok();
        if group.is_second {
            return quota_of(&text("cpu.max")?);
        }
        let (quota, period) = (text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?);
        quota_of(&format!("{} {}", quota.trim(), period.trim()))
    });
    quotas.reduce(f64::min)
}

fn quota_of(line: &str) -> Option<f64> {
    let (quota, period) = line.trim().split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_read() {
        assert_eq!(quota_of("max 100000\n"), None);
        assert_eq!(quota_of("150000 100000\n"), Some(1.5));
        assert_eq!(quota_of("-1 100000"), None);
        assert_eq!(quota_of(""), None);
    }

    /// A tree of groups in a folder.
    #[test]
    fn the_least_quota_on_the_way_to_the_root_counts() {
        let root = std::env::temp_dir().join(format!("oxmpi-quota-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("user/job/cpu.max", "200000 100000\n");
        write("user/cpu.max", "max 100000\n");
        write("other/cpu.max", "10000 100000\n");
        assert_eq!(least(&root, "0::/user/job/step\n"), Some(2.0));
        assert_eq!(least(&root, "0::/user\n"), None);
        assert_eq!(least(&root, ""), None);
        write("user/cpu.max", "150000 100000\n");
        assert_eq!(least(&root, "0::/user/job\n"), Some(1.5));
        // A container with its part of the tree only.
        write("cpu.max", "400000 100000\n");
        assert_eq!(least(&root, "0::/docker/0123\n"), Some(4.0));
        write("cpu/slice/cpu.cfs_quota_us", "50000\n");
        write("cpu/slice/cpu.cfs_period_us", "100000\n");
        let first = "7:memory:/slice\n3:cpu,cpuacct:/slice\n";
        assert_eq!(least(&root, first), Some(0.5));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_group_with_the_least_memory_left_counts() {
        let root = std::env::temp_dir().join(format!("oxmpi-memory-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("job/step/memory.max", "max\n");
        write("job/step/memory.current", "700\n");
        assert_eq!(least_memory(&root, "0::/job/step\n"), None);
        write("job/memory.max", "1000\n");
        write("job/memory.current", "800\n");
        assert_eq!(least_memory(&root, "0::/job/step\n"), Some(200));
        write("job/memory.stat", "anon 1\ninactive_file 300\n");
        assert_eq!(least_memory(&root, "0::/job/step\n"), Some(500));
        write("memory/slice/memory.limit_in_bytes", "5000\n");
        write("memory/slice/memory.usage_in_bytes", "6000\n");
        assert_eq!(least_memory(&root, "3:cpu,memory:/slice\n"), Some(0));
        std::fs::remove_dir_all(&root).unwrap();
        assert!(memory_left().is_some_and(|left| left > 0));
    }
}
