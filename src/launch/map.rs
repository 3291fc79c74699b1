//! The node map: which rank is on which node, and what the hosts are called. Short as text for any number of ranks, because it
//! travels in the environment; and short in memory, where it is kept as it is written.
//!
//! Invariant: every rank has a node; nodes are numbered from 0 in the order of the launcher.

use std::fmt::Write;

/// The nodes of the job, as the launcher told them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMap {
    ranks: u32,
    /// After so many ranks the blocks begin again.
    cycle: u32,
    blocks: Box<[Block]>,
    /// Of each node; empty if the launcher does not say.
    hosts: Hosts,
}

/// Nodes that follow each other, with as many ranks each; the last of a map may have fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// Its first rank.
    begin: u32,
    first_node: u32,
    ranks_each: u32,
}

impl NodeMap {
    /// Of the node of each rank; `hosts` may be empty.
    pub fn new(node_of: &[u32], hosts: &[String]) -> NodeMap {
        let mut blocks: Vec<[u32; 3]> = Vec::new();
        for run in node_of[..period(node_of)].chunk_by(|a, b| a == b) {
            let count = run.len() as u32;
            match blocks.last_mut() {
                Some([first, nodes, ranks]) if *ranks == count && *first + *nodes == run[0] => {
                    *nodes += 1;
                }
                _ => blocks.push([run[0], 1, count]),
            }
        }
        let blocks = blocks.into_iter().map(Some);
        let map = NodeMap::of_blocks(blocks, node_of.len() as u32);
        NodeMap {
            hosts: Hosts::parse(&fold_hosts(hosts)).unwrap_or_default(),
            ..map.unwrap_or_else(|| NodeMap::of_one(0))
        }
    }

    /// All ranks on one node, whose name nobody needs.
    pub fn of_one(ranks: u32) -> NodeMap {
        NodeMap {
            ranks,
            cycle: ranks.max(1),
            blocks: Box::new([Block {
                begin: 0,
                first_node: 0,
                ranks_each: ranks.max(1),
            }]),
            hosts: Hosts::default(),
        }
    }

    /// From what [`NodeMap::mapping`] and [`NodeMap::folded_hosts`] give; `None` if that makes no sense.
    pub fn parse(mapping: &str, hosts: &str, ranks: u32) -> Option<NodeMap> {
        let map = NodeMap::of_mapping(mapping, ranks)?;
        let hosts = Hosts::parse(hosts)?;
        let is_known = |[first, nodes, _]: [u32; 3]| first + (nodes - 1) < hosts.count;
        let known = map.triples().all(is_known);
        known.then_some(NodeMap { hosts, ..map })
    }

    /// From `(vector,(first node,nodes,ranks a node),...)`, the blocks repeated until all ranks have a place, without the names of
    /// hosts. `None` if the text is something else.
    pub fn of_mapping(mapping: &str, ranks: u32) -> Option<NodeMap> {
        let inner = mapping.trim().strip_prefix('(')?.strip_suffix(')')?;
        let blocks = inner.trim().strip_prefix("vector")?;
        let block = |block: &str| {
            let (numbers, _) = block.split_once(')')?;
            let mut numbers = numbers.split(',').map(|number| number.trim().parse().ok());
            let block = [numbers.next()??, numbers.next()??, numbers.next()??];
            numbers.next().is_none().then_some(block)
        };
        NodeMap::of_blocks(blocks.split('(').skip(1).map(block), ranks)
    }

    /// From blocks of (first node, nodes, ranks of each), as many as are needed; `None` if one of those is.
    fn of_blocks(blocks: impl Iterator<Item = Option<[u32; 3]>>, ranks: u32) -> Option<NodeMap> {
        let (mut kept, mut begin) = (Vec::new(), 0);
        for block in blocks {
            let [first_node, nodes, ranks_each] = block?;
            let places = u64::from(nodes) * u64::from(ranks_each);
            let places = places.min((ranks - begin).into()) as u32;
            if places == 0 {
                // A block without ranks places nobody, however many nodes it has.
                continue;
            }
            first_node.checked_add(places.div_ceil(ranks_each) - 1)?;
            kept.push(Block {
                begin,
                first_node,
                ranks_each: ranks_each.min(places),
            });
            begin += places;
            if begin == ranks {
                break;
            }
        }
        (begin > 0).then(|| NodeMap {
            ranks,
            cycle: begin,
            blocks: kept.into(),
            hosts: Hosts::default(),
        })
    }

    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The node of a rank. Panics if there is no such rank.
    pub fn node_of(&self, rank: u32) -> u32 {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let rank = rank % self.cycle;
        let at = self.blocks.partition_point(|block| block.begin <= rank) - 1;
        let block = self.blocks[at];
        block.first_node + (rank - block.begin) / block.ranks_each
    }

    /// The ranks of a node, ascending.
    pub fn ranks_of(&self, node: u32) -> Vec<u32> {
        let ranks = 0..self.ranks;
        ranks.filter(|rank| self.node_of(*rank) == node).collect()
    }

    /// The name of a node's host, if the launcher says it.
    pub fn host(&self, node: u32) -> Option<String> {
        self.hosts.name(node)
    }

    /// As PMI's `PMI_process_mapping`: blocks of (first node, nodes, ranks of each), which are repeated until all ranks have a place.
    pub fn mapping(&self) -> String {
        let mut text = String::from("(vector");
        for [first, nodes, ranks] in self.triples() {
            let _ = write!(text, ",({first},{nodes},{ranks})");
        }
        text + ")"
    }

    /// The names of the hosts, numbers at their ends put together: `host[1-64],login`.
    pub fn folded_hosts(&self) -> String {
        self.hosts.list.to_string()
    }

    /// First node, nodes, ranks of each.
    fn triples(&self) -> impl Iterator<Item = [u32; 3]> {
        let ends = self.blocks[1..].iter().map(|next| next.begin);
        let blocks = self.blocks.iter().zip(ends.chain([self.cycle]));
        blocks.map(|(block, end)| {
            let nodes = (end - block.begin).div_ceil(block.ranks_each);
            [block.first_node, nodes, block.ranks_each]
        })
    }
}

/// After how many ranks the nodes come again in the same order. Ranks of one node only are no cycle.
fn period(nodes: &[u32]) -> usize {
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

/// More names than that are nonsense.
const MOST_HOSTS: usize = 1 << 20;

/// Names as a list in which numbers are folded: they are made when they are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hosts {
    list: Box<str>,
    /// Of each word: where it begins, and how many names come before it.
    words: Box<[(u32, u32)]>,
    count: u32,
}

impl Hosts {
    /// `None` if the list makes no sense.
    fn parse(list: &str) -> Option<Hosts> {
        let mut depth = 0;
        let words = list.split(|letter| {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            letter == ',' && depth == 0
        });
        let (mut kept, mut begins, mut names) = (String::new(), Vec::new(), 0);
        for word in words.map(str::trim).filter(|word| !word.is_empty()) {
            if !kept.is_empty() {
                kept.push(',');
            }
            begins.push((kept.len() as u32, names as u32));
            kept.push_str(word);
            names += count(word)?;
            if names > MOST_HOSTS {
                return None;
            }
        }
        Some(Hosts {
            list: kept.into(),
            words: begins.into(),
            count: names as u32,
        })
    }

    fn name(&self, index: u32) -> Option<String> {
        if index >= self.count {
            return None;
        }
        let at = self.words.partition_point(|(_, before)| *before <= index) - 1;
        let (begin, before) = self.words[at];
        let end = match self.words.get(at + 1) {
            Some((next, _)) => *next as usize - 1,
            None => self.list.len(),
        };
        nth(&self.list[begin as usize..end], (index - before) as usize)
    }
}

/// The names in a list as Slurm writes it: `a,node[01-03,7]-x,b`. `None` if it makes no sense.
pub fn expand_hosts(list: &str) -> Option<Vec<String>> {
    let hosts = Hosts::parse(list)?;
    (0..hosts.count).map(|index| hosts.name(index)).collect()
}

/// How many names a word stands for; `None` if it makes no sense.
fn count(word: &str) -> Option<usize> {
    let Some((before, rest)) = word.split_once('[') else {
        return (!word.contains(']')).then_some(1);
    };
    let (list, after) = rest.split_once(']')?;
    let mut numbers = 0;
    for range in list.split(',') {
        let (first, last, _) = bounds(range)?;
        numbers += last - first + 1;
    }
    let all = numbers.checked_mul(count(after)?)?;
    (all <= MOST_HOSTS && !before.contains(']')).then_some(all)
}

/// One of the names of a word, the numbers of the last brackets going first.
fn nth(word: &str, index: usize) -> Option<String> {
    let Some((before, rest)) = word.split_once('[') else {
        return Some(word.to_owned());
    };
    let (list, after) = rest.split_once(']')?;
    let after_each = count(after)?;
    let after = nth(after, index % after_each)?;
    let mut left = index / after_each;
    for range in list.split(',') {
        let (first, last, width) = bounds(range)?;
        if left <= last - first {
            return Some(format!("{before}{:0width$}{after}", first + left));
        }
        left -= last - first + 1;
    }
    None
}

/// First and last number of a range, and how many digits they have at least.
fn bounds(range: &str) -> Option<(usize, usize, usize)> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let width = first.len();
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last - first < MOST_HOSTS && width <= 20).then_some((first, last, width))
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

    /// The node of each rank.
    fn nodes_of(mapping: &str, ranks: u32) -> Option<Vec<u32>> {
        let map = NodeMap::of_mapping(mapping, ranks)?;
        Some((0..ranks).map(|rank| map.node_of(rank)).collect())
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
        let map = |nodes: &[u32]| NodeMap::new(nodes, &[]).mapping();
        assert_eq!(map(&[0, 0, 0]), "(vector,(0,1,3))");
        assert_eq!(map(&[0, 0, 1, 1]), "(vector,(0,2,2))");
        assert_eq!(map(&[0, 1, 2, 0, 1]), "(vector,(0,3,1))");
        assert_eq!(map(&[1, 0, 0, 2]), "(vector,(1,1,1),(0,1,2),(2,1,1))");
        let many = NodeMap::new(
            &(0..100_000).map(|rank| rank / 100).collect::<Vec<_>>(),
            &[],
        );
        assert_eq!(many.mapping(), "(vector,(0,1000,100))");
    }

    proptest::proptest! {
        #[test]
        fn a_map_survives_being_text(nodes in proptest::collection::vec(0..4u32, 1..30)) {
            let map = NodeMap::new(&nodes, &names("a,b1,b2,b3"));
            for (rank, node) in (0..).zip(&nodes) {
                proptest::prop_assert_eq!(map.node_of(rank), *node);
            }
            for node in 0..4 {
                let ranks = (0..map.ranks()).filter(|rank| nodes[*rank as usize] == node);
                proptest::prop_assert_eq!(map.ranks_of(node), ranks.collect::<Vec<_>>());
                proptest::prop_assert_eq!(map.host(node), Some(names("a,b1,b2,b3")[node as usize].clone()));
            }
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
        fn any_text_is_a_full_map_or_none(text in "\\(?(vector,)?(\\(-?[0-9]{0,10},[0-9]{0,10},[0-9]{0,10}\\),?){0,4}\\)?|.*", size in 1..40u32) {
            if let Some(nodes) = nodes_of(&text, size) {
                proptest::prop_assert_eq!(nodes.len(), size as usize);
            }
        }
    }
}
