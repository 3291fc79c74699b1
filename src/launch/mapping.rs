//! The node of each rank under a launcher that speaks PMI-1: from its PMI_process_mapping, else by exchanging node identities.

use super::client::Client;
use super::map::NodeMap;
use crate::error::Result;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The node map, without the names of hosts. Collective over the job, because ranks may have to exchange who they are.
pub fn node_map(client: &mut Client, rank: u32, size: u32) -> Result<NodeMap> {
    if size == 1 {
        return Ok(NodeMap::of_one(1));
    }
    let told = client.get("PMI_process_mapping")?;
    if let Some(nodes) = told.and_then(|mapping| nodes_of(&mapping, size as usize)) {
        return Ok(NodeMap::new(nodes, Vec::new()));
    }
    client.put(&format!("oxnode-{rank}"), &node_identity())?;
    client.barrier()?;
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut nodes = Vec::with_capacity(size as usize);
    for other in 0..size {
        let identity = client.get(&format!("oxnode-{other}"))?;
        // One that says nothing is alone.
        let identity = identity.unwrap_or_else(|| other.to_string());
        let next = known.len() as u32;
        nodes.push(*known.entry(identity).or_insert(next));
    }
    Ok(NodeMap::new(nodes, Vec::new()))
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

/// A word that two processes share if and only if they can share memory: the boot of the kernel, and the namespaces.
/// A host name proves nothing.
fn node_identity() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let inode = |name: &str| fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |ns| ns.ino());
    format!("{}-{}-{}", boot.trim(), inode("pid"), inode("mnt"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
