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
    if let Some(nodes) = told.and_then(|mapping| NodeMap::of_mapping(&mapping, size)) {
        return Ok(nodes);
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
    Ok(NodeMap::new(&nodes, &[]))
}

/// A word that two processes share if and only if they can share memory: the boot of the kernel, and the namespaces.
/// A host name proves nothing.
fn node_identity() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let inode = |name: &str| fs::metadata(format!("/proc/self/ns/{name}")).map_or(0, |ns| ns.ino());
    format!("{}-{}-{}", boot.trim(), inode("pid"), inode("mnt"))
}
