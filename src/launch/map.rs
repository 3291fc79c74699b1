//! The node map: which rank is on which node, and what the hosts are called. Short as text for any number of ranks, because it
//! travels in the environment.
//!
//! Invariant: every rank has a node; nodes are numbered from 0 in the order of the launcher.

use std::fmt::Write;

/// The nodes of the job, as the launcher told them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    node_of: Vec<u32>,
    /// Of each node; empty if the launcher does not say.
    hosts: Vec<String>,
}

impl NodeMap {
    /// Of the node of each rank; `hosts` may be empty.
    pub fn new(node_of: Vec<u32>, hosts: Vec<String>) -> NodeMap {
        NodeMap { node_of, hosts }
    }

    /// All ranks on one node, whose name nobody needs.
    pub fn of_one(ranks: u32) -> NodeMap {
        NodeMap::new(vec![0; ranks as usize], Vec::new())
    }

    /// From what [`NodeMap::mapping`] and [`NodeMap::folded_hosts`] give; `None` if that makes no sense.
    pub fn parse(mapping: &str, hosts: &str, ranks: u32) -> Option<NodeMap> {
        let node_of = nodes_of(mapping, ranks as usize)?;
        let hosts = expand_hosts(hosts)?;
        let known = node_of.iter().all(|node| (*node as usize) < hosts.len());
        known.then_some(NodeMap { node_of, hosts })
    }

    pub fn ranks(&self) -> u32 {
        self.node_of.len() as u32
    }

    /// The node of a rank. Panics if there is no such rank.
    pub fn node_of(&self, rank: u32) -> u32 {
        self.node_of[rank as usize]
    }

    /// The ranks of a node, ascending.
    pub fn ranks_of(&self, node: u32) -> Vec<u32> {
        let ranks = self.node_of.iter().zip(0u32..);
        ranks
            .filter_map(|(of, rank)| (*of == node).then_some(rank))
            .collect()
    }

    /// The name of a node's host, if the launcher says it.
    pub fn host(&self, node: u32) -> Option<&str> {
        self.hosts.get(node as usize).map(String::as_str)
    }

    /// As PMI's `PMI_process_mapping`: blocks of (first node, nodes, ranks of each), which are repeated until all ranks have a place.
    pub fn mapping(&self) -> String {
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        for run in self.node_of[..self.period()].chunk_by(|a, b| a == b) {
            let count = run.len() as u32;
            match blocks.last_mut() {
                Some([first, nodes, ranks]) if *ranks == count && *first + *nodes == run[0] => {
                    *nodes += 1;
                }
                _ => blocks.push([run[0], 1, count]),
            }
        }
        let mut text = String::from("(vector");
        for [first, nodes, ranks] in blocks {
            let _ = write!(text, ",({first},{nodes},{ranks})");
        }
        text + ")"
    }

    /// The names of the hosts, numbers at their ends put together: `host[1-64],login`.
    pub fn folded_hosts(&self) -> String {
        fold_hosts(&self.hosts)
    }

    /// After how many ranks the nodes come again in the same order. Ranks of one node only are no cycle.
    fn period(&self) -> usize {
        let nodes = &self.node_of;
        let count = nodes.len();
        if nodes.windows(2).all(|pair| pair[0] == pair[1]) {
            return count;
        }
        // Knuth, Morris and Pratt: the longest beginning that is an end as well.
        let mut border = vec![0; count];
        for at in 1..count {
            let mut length: usize = border[at - 1];
            while length > 0 && nodes[at] != nodes[length] {
                length = border[length - 1];
            }
            border[at] = length + usize::from(nodes[at] == nodes[length]);
        }
        count - border[count - 1]
    }
}

/// The node of each rank by `(vector,(first node,nodes,ranks a node),...)`, the blocks repeated until all ranks have a
/// place. `None` if the text is something else.
pub(super) fn nodes_of(mapping: &str, size: usize) -> Option<Vec<u32>> {
    let inner = mapping.trim().strip_prefix('(')?.strip_suffix(')')?;
    let blocks = inner.trim().strip_prefix("vector")?;
    let mut cycle = Vec::new();
    for block in blocks.split('(').skip(1) {
        let (numbers, _) = block.split_once(')')?;
        let numbers: Vec<u32> = numbers
            .split(',')
            .map(|number| number.trim().parse().ok())
            .collect::<Option<_>>()?;
        let [first, nodes, ranks] = numbers[..] else {
            return None;
        };
        // A block without ranks places nobody, however many nodes it has.
        for node in 0..if ranks == 0 { 0 } else { nodes } {
            for _ in 0..ranks {
                if cycle.len() == size {
                    return Some(cycle);
                }
                cycle.push(first.checked_add(node)?);
            }
        }
    }
    if cycle.is_empty() {
        return None;
    }
    Some((0..size).map(|rank| cycle[rank % cycle.len()]).collect())
}

/// More names than that are nonsense.
const MOST_HOSTS: usize = 1 << 20;

/// The names in a list as Slurm writes it: `a,node[01-03,7]-x,b`. `None` if it makes no sense.
pub fn expand_hosts(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0;
    let words = list.split(|letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth == 0
    });
    for word in words.map(str::trim).filter(|word| !word.is_empty()) {
        expand(word, &mut names)?;
    }
    Some(names)
}

fn expand(word: &str, names: &mut Vec<String>) -> Option<()> {
    let Some((before, rest)) = word.split_once('[') else {
        names.push(word.to_owned());
        return (names.len() <= MOST_HOSTS && !word.contains(']')).then_some(());
    };
    let (ranges, after) = rest.split_once(']')?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first >= MOST_HOSTS || width > 20 {
            return None;
        }
        for number in first..=last {
            expand(&format!("{before}{number:0width$}{after}"), names)?;
        }
    }
    Some(())
}

/// The reverse of [`expand_hosts`], for numbers that follow each other at the ends of names.
pub fn fold_hosts(names: &[String]) -> String {
    let parts = |name: &str| -> Option<(String, usize, usize)> {
        let head = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = &name[head.len()..];
        let number = digits.parse().ok().filter(|_| digits.len() < 10)?;
        Some((head.to_owned(), digits.len(), number))
    };
    let follows = |a: &String, b: &String| match (parts(a), parts(b)) {
        (Some((a, width, number)), Some((b, next_width, next))) => {
            a == b && width == next_width && next == number + 1
        }
        _ => false,
    };
    let folded = names.chunk_by(follows).map(|run| match run {
        [first, .., last] => {
            let (head, width, from) = parts(first).unwrap_or_default();
            let (_, _, to) = parts(last).unwrap_or_default();
            format!("{head}[{from:0width$}-{to:0width$}]")
        }
        _ => run.concat(),
    });
    folded.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        expand_hosts(list).unwrap()
    }

    #[test]
    fn lists_of_hosts_are_expanded_and_folded() {
        assert_eq!(
            names("a,n[08-10,3]-x"),
            ["a", "n08-x", "n09-x", "n10-x", "n3-x"]
        );
        assert_eq!(names("r[1-2]n[1-2]"), ["r1n1", "r1n2", "r2n1", "r2n2"]);
        assert!(names("").is_empty());
        for wrong in ["a[", "a[2-1]", "a[x]", "a]", "a[1-99999999]"] {
            assert_eq!(expand_hosts(wrong), None, "{wrong}");
        }
        for list in ["host[1-9],host[10-64],login", "n[08-11]", "a,a1,a3"] {
            assert_eq!(fold_hosts(&names(list)), list);
        }
    }

    #[test]
    fn maps_are_short() {
        let map = |nodes: &[u32]| NodeMap::new(nodes.to_vec(), Vec::new()).mapping();
        assert_eq!(map(&[0, 0, 0]), "(vector,(0,1,3))");
        assert_eq!(map(&[0, 0, 1, 1]), "(vector,(0,2,2))");
        assert_eq!(map(&[0, 1, 2, 0, 1]), "(vector,(0,3,1))");
        assert_eq!(map(&[1, 0, 0, 2]), "(vector,(1,1,1),(0,1,2),(2,1,1))");
        let many = NodeMap::new((0..100_000).map(|rank| rank / 100).collect(), Vec::new());
        assert_eq!(many.mapping(), "(vector,(0,1000,100))");
    }

    proptest::proptest! {
        #[test]
        fn a_map_survives_being_text(nodes in proptest::collection::vec(0..4u32, 1..30)) {
            let map = NodeMap::new(nodes, names("a,b1,b2,b3"));
            let again = NodeMap::parse(&map.mapping(), &map.folded_hosts(), map.ranks());
            proptest::prop_assert_eq!(again, Some(map));
        }
    }

    #[test]
    fn vectors_are_unrolled() {
        assert_eq!(nodes_of("(vector,(0,1,4))", 3), Some(vec![0, 0, 0]));
        assert_eq!(nodes_of("(vector,(0,2,2))", 4), Some(vec![0, 0, 1, 1]));
        assert_eq!(
            nodes_of("(vector,(0,2,1),(5,1,2))", 6),
            Some(vec![0, 1, 5, 5, 0, 1])
        );
        assert_eq!(nodes_of(" (vector, (0, 1, 1)) ", 2), Some(vec![0, 0]));
    }

    #[test]
    fn what_is_no_vector_is_not_believed() {
        for text in [
            "",
            "(",
            "(vector,1,0)",
            "(vector,(0,1))",
            "(vector,(0,1,x))",
            "(vector,(0,1,-1))",
            "(vector,(0,0,4))",
            "(vector,(0,4294967295,0))",
            "(matrix,(0,1,4))",
            "(vector,(4294967295,2,1))",
        ] {
            assert_eq!(nodes_of(text, 4), None, "{text}");
        }
        // A vector may not make us allocate more than there are ranks.
        assert_eq!(
            nodes_of("(vector,(0,4294967295,4294967295))", 2),
            Some(vec![0, 0])
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_full_map_or_none(text in "\\(?(vector,)?(\\(-?[0-9]{0,10},[0-9]{0,10},[0-9]{0,10}\\),?){0,4}\\)?|.*", size in 1..40usize) {
            if let Some(nodes) = nodes_of(&text, size) {
                proptest::prop_assert_eq!(nodes.len(), size);
            }
        }
    }
}
