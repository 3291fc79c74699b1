//! How much processor time the control groups of this process leave it.

use std::fs::read_to_string;
use std::path::Path;

/// How many cores' worth of time the container may use, from cgroup v2 or v1; `None` without a limit.
pub fn cpu_quota() -> Option<f64> {
    let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
    least(Path::new("/sys/fs/cgroup"), &own)
}

/// The least quota of this process's groups and of those around them. A container that sees the host's names of its groups but
/// only its own part of their tree has what holds for it at the tree's root.
fn least(root: &Path, own: &str) -> Option<f64> {
    let mut least: Option<f64> = None;
    let mut note = |quota: Option<f64>| {
        least = match (least, quota) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    };
    let file = |folder: &Path, name: &str| read_to_string(folder.join(name)).ok();
    let second = |folder: &Path| quota_of(&file(folder, "cpu.max")?);
    let first = |folder: &Path| {
        let (quota, period) = (
            file(folder, "cpu.cfs_quota_us")?,
            file(folder, "cpu.cfs_period_us")?,
        );
        quota_of(&format!("{} {}", quota.trim(), period.trim()))
    };
    note(second(root));
    note(first(&root.join("cpu")));
    for line in own.lines() {
        // Number of the hierarchy, its controllers, the group.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            continue;
        };
        let group = Path::new(group.trim_start_matches('/'));
        let groups = group.ancestors().filter(|group| *group != Path::new(""));
        match controllers {
            "" => groups.for_each(|group| note(second(&root.join(group)))),
            _ if controllers.split(',').any(|one| one == "cpu") => {
                groups.for_each(|group| note(first(&root.join("cpu").join(group))));
            }
            _ => {}
        }
    }
    least
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
}
