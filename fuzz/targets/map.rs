//! Where ranks are, as launchers say it: the nodes of ranks and the names of hosts. Whatever comes, a map that is taken for one has a place for
//! each rank, and is the same when it was written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oxmpi::launch::map::NodeMap;

fuzz_target!(|input: (u16, &str, &str)| {
    let (ranks, mapping, hosts) = input;
    let ranks = u32::from(ranks).max(1);
    let some = [0, 1, ranks / 2, ranks - 1].map(|rank| rank.min(ranks - 1));
    if let Some(map) = NodeMap::of_mapping(mapping, ranks) {
        let again = NodeMap::of_mapping(&map.mapping(), ranks);
        let again = again.expect("a mapping that was written");
        for rank in some {
            assert_eq!(map.node_of(rank), again.node_of(rank));
        }
    }
    if let Some(map) = NodeMap::parse(mapping, hosts, ranks) {
        let again = NodeMap::parse(&map.mapping(), &map.folded_hosts(), ranks);
        let again = again.expect("a map that was written");
        for rank in some {
            let name = map.host(map.node_of(rank));
            assert!(name.is_some());
            assert_eq!(name, again.host(again.node_of(rank)));
        }
    }
});
