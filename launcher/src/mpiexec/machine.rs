//! The processors this process may use, by memory node, socket and core, from /sys.
//!
//! Invariant: `processors` is sorted so that what is close is adjacent, and never empty.

use std::fs;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Processor {
    pub node: u32,
    pub socket: u32,
    pub core: u32,
    pub number: usize,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub processors: Vec<Processor>,
}

impl Machine {
    /// The processors in a set; what /sys does not tell counts as one socket of single cores.
    pub fn of(usable: &[usize]) -> Machine {
        let nodes = memory_nodes();
        let read = |processor: usize, what: &str| -> Option<u32> {
            let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/{what}");
            fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        let mut processors: Vec<Processor> = usable
            .iter()
            .map(|&number| Processor {
                node: nodes
                    .iter()
                    .find(|(_, members)| members.contains(&number))
                    .map_or(0, |(node, _)| *node),
                socket: read(number, "physical_package_id").unwrap_or(0),
                core: read(number, "core_id").unwrap_or(number as u32),
                number,
            })
            .collect();
        processors.sort_unstable();
        Machine { processors }
    }

    /// The part that consists of these processors.
    pub fn only(&self, members: &[usize]) -> Machine {
        let mut processors = self.processors.clone();
        processors.retain(|it| members.contains(&it.number));
        Machine { processors }
    }

    /// The processors in groups that agree in `key`, in order.
    pub fn groups<K: PartialEq>(&self, key: impl Fn(&Processor) -> K) -> Vec<Vec<usize>> {
        self.processors
            .chunk_by(|a, b| key(a) == key(b))
            .map(|group| group.iter().map(|processor| processor.number).collect())
            .collect()
    }
}

fn memory_nodes() -> Vec<(u32, Vec<usize>)> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/node") else {
        return Vec::new();
    };
    let mut nodes: Vec<(u32, Vec<usize>)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let node = name.strip_prefix("node")?.parse().ok()?;
            let list = fs::read_to_string(entry.path().join("cpulist")).ok()?;
            Some((node, number_list(list.trim()).unwrap_or_default()))
        })
        .collect();
    nodes.sort_unstable();
    nodes
}

/// Reads `0,2-4` as the kernel and users write sets of processors, of at most a million numbers.
pub fn number_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last > 1 << 16 || numbers.len() > 1 << 20 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(number_list("0,2-4"), Some(vec![0, 2, 3, 4]));
        assert_eq!(number_list(""), Some(vec![]));
        assert_eq!(number_list("4-2"), None);
        assert_eq!(number_list("x"), None);
        assert_eq!(number_list(&["0-65536"; 1000].join(",")), None);
    }

    #[test]
    fn every_usable_processor_has_one_place() {
        let machine = Machine::of(&[0, 1, 900]);
        let mut numbers: Vec<usize> = machine.processors.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 900]);
        let groups = machine.groups(|it| (it.node, it.socket));
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 3);
    }
}
