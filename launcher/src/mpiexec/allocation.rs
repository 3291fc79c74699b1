//! The hosts that a batch system has given to the job: Slurm, PBS and its kin, LSF. Flux says them by no variable; under `flux run` the
//! programs join its job by PMI-1, without mpiexec.

use oxmpi::launch::map::expand_hosts;

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Names with slots; empty without an allocation.
///
/// Errors: variables or files that make no sense.
pub fn find(get: Lookup<'_>) -> Result<Vec<(String, u32)>, String> {
    let get = |name: &str| get(name).filter(|value| !value.is_empty());
    if get("SLURM_JOB_ID").is_some()
        && let Some(list) = get("SLURM_JOB_NODELIST").or_else(|| get("SLURM_NODELIST"))
    {
        let names = expand_hosts(&list);
        let names =
            names.ok_or_else(|| format!("SLURM_JOB_NODELIST={list} is no list of hosts"))?;
        let tasks = get("SLURM_TASKS_PER_NODE").unwrap_or_default();
        let counts = counts(&tasks)
            .ok_or_else(|| format!("SLURM_TASKS_PER_NODE={tasks} is no list of numbers"))?;
        let counts = counts.into_iter().chain(std::iter::repeat(1));
        return Ok(names.into_iter().zip(counts).collect());
    }
    if let Some(path) = get("PBS_NODEFILE") {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("PBS_NODEFILE: cannot read {path}: {error}"))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok(lines.map(|line| (line.to_owned(), 1)).collect());
    }
    if let Some(list) = get("LSB_MCPU_HOSTS") {
        let words: Vec<&str> = list.split_whitespace().collect();
        let pairs = words.chunks(2).map(|pair| match pair {
            [name, count] => Some(((*name).to_owned(), count.parse().ok().filter(|it| *it > 0)?)),
            _ => None,
        });
        let pairs: Option<Vec<_>> = pairs.collect();
        return pairs
            .ok_or_else(|| format!("LSB_MCPU_HOSTS={list} is no list of hosts and numbers"));
    }
    Ok(Vec::new())
}

/// Slurm's `2(x3),1`.
fn counts(text: &str) -> Option<Vec<u32>> {
    let mut counts = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (count, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1),
        };
        let count: u32 = count.parse().ok().filter(|count| *count > 0)?;
        if times > 1 << 20 {
            return None;
        }
        counts.extend(std::iter::repeat_n(count, times));
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Result<Vec<(String, u32)>, String> {
        find(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn pair(name: &str, slots: u32) -> (String, u32) {
        (name.to_owned(), slots)
    }

    #[test]
    fn allocations_are_read() {
        assert_eq!(found(&[]), Ok(Vec::new()));
        let slurm = |tasks| {
            [
                ("SLURM_JOB_ID", "1"),
                ("SLURM_JOB_NODELIST", "n[1-3]"),
                ("SLURM_TASKS_PER_NODE", tasks),
            ]
        };
        let three = |counts: [u32; 3]| {
            Ok((1..)
                .zip(counts)
                .map(|(n, count)| pair(&format!("n{n}"), count))
                .collect())
        };
        assert_eq!(found(&slurm("2(x2),1")), three([2, 2, 1]));
        assert_eq!(found(&slurm("")), three([1, 1, 1]));
        assert!(found(&slurm("2(x")).is_err());
        let lsf = |list| found(&[("LSB_MCPU_HOSTS", list)]);
        assert_eq!(lsf("a 2 b 1"), Ok(vec![pair("a", 2), pair("b", 1)]));
        assert!(lsf("a 2 b").is_err());
        assert!(found(&[("PBS_NODEFILE", "/nonexistent")]).is_err());
    }
}
