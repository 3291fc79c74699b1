//! What a rank of a large job holds: everything that depends on the size of the job is made here as at MPI_Init, and its bytes are
//! counted.

use crate::comm::{Members, Nodes};
use crate::engine::Engine;
use crate::group::Group;
use crate::launch::map::NodeMap;
use crate::launch::nodes;
use crate::os::counting::bytes_of;
use crate::os::memory::{self, Mapping};
use crate::transport::layout::{initialise, segment_bytes};
use crate::transport::{Route, Transport};
use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::Arc;

const RANKS: u32 = 100_000;
const MOST_BYTES: usize = 4 << 20;

/// A map of so many nodes, as an environment variable would have it.
struct Layout {
    name: &'static str,
    nodes: u32,
    node_of: fn(u32) -> u32,
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        name: "in blocks",
        nodes: 1000,
        node_of: |rank| rank / 100,
    },
    Layout {
        name: "dealt one by one",
        nodes: 1000,
        node_of: |rank| rank % 1000,
    },
    Layout {
        name: "scattered",
        nodes: 1000,
        // 7919 is prime: no cycle, and hardly two of a node in a row.
        node_of: |rank| (rank as u64 * rank as u64 % 7919 % 1000) as u32,
    },
    Layout {
        name: "a host each",
        nodes: RANKS,
        node_of: |rank| rank,
    },
];

/// What a rank has from MPI_Init on.
struct Rank {
    _hosts: Arc<NodeMap>,
    _nodes: Arc<nodes::JobNodes>,
    engine: Engine,
    world: Members,
    world_nodes: Option<Nodes>,
}

fn start(layout: &Layout, mapping: &str, hosts: &str, rank: u32) -> Rank {
    let hosts = Arc::new(NodeMap::parse(mapping, hosts, RANKS).unwrap());
    let here = hosts.ranks_of(hosts.node_of(rank));
    assert_eq!(hosts.node_of(rank), (layout.node_of)(rank));
    let fd = memory::create("test", segment_bytes(here.len()), false).unwrap();
    initialise(fd.as_fd(), here.len()).unwrap();
    let map: &'static Mapping = Mapping::of(fd.as_fd()).unwrap().leak();
    let seat = here.binary_search(&rank).unwrap();
    let endpoint = Transport::join_for_test(fd, map, seat, &here);
    let nodes = Arc::new(nodes::JobNodes::new(&hosts, 1));
    let of = nodes.clone();
    let table = endpoint.table(RANKS, Arc::new(move |process| of.of(process)));
    let table = Arc::new(table.with_net());
    let world = Members::All(RANKS);
    let world_nodes = Nodes::of(&world, |process| table.node_of(process));
    Rank {
        engine: Engine::for_test(Transport::new(table, endpoint)),
        _hosts: hosts,
        _nodes: nodes,
        world,
        world_nodes,
    }
}

#[test]
fn a_rank_of_a_large_job_needs_little_memory() {
    for layout in &LAYOUTS {
        let name = layout.name;
        let node_of: Vec<u32> = (0..RANKS).map(layout.node_of).collect();
        let names: Vec<String> = (0..layout.nodes)
            .map(|node| format!("host{node}"))
            .collect();
        let map = NodeMap::new(&node_of, &names);
        let (mapping, hosts) = (map.mapping(), map.folded_hosts());
        assert_eq!(map.host(layout.nodes - 1).as_ref(), names.last());
        drop((map, names));

        let me = RANKS / 2 + 1;
        let (mut rank, held, most) = bytes_of(|| start(layout, &mapping, &hosts, me));
        println!("{name}: {held} bytes, {most} at most");
        assert!(held < MOST_BYTES, "{name}: {held} bytes");
        assert!(most < 2 * MOST_BYTES, "{name}: {most} bytes meanwhile");

        // All that was made says where everybody is.
        let table = rank.engine.transport().table().clone();
        let world = rank.world_nodes.as_ref().unwrap();
        for process in (0..RANKS).step_by(97) {
            let peer = table.of(process);
            let here = node_of[process as usize] == node_of[me as usize];
            let expected = match here {
                true if process == me => Route::Own,
                true => Route::Shm(peer.seat.unwrap()),
                false => Route::Net(process),
            };
            assert_eq!(
                (peer.route, peer.seat.is_some()),
                (expected, here),
                "{name}"
            );
            let node = world.node_of(process as usize);
            assert!(world.ranks(node).position(process as usize).is_some());
        }

        // A rank meets few: those of an allreduce, a neighbor here and there.
        let met = (0..17).map(|step| (me + (1 << step)) % RANKS);
        let ((), held, _) = bytes_of(|| met.for_each(|process| rank.engine.meet_process(process)));
        assert!(held < 512 << 10, "{name}: {held} bytes of peers");

        // Eight bytes a rank, in a communicator without any order.
        let shuffled = (0..RANKS).map(|rank| (u64::from(rank) * 40_503 % u64::from(RANKS)) as u32);
        let (group, held, _) = bytes_of(|| {
            let group: Group = shuffled.collect();
            assert_eq!(group.rank_of(group.member(77)), Some(77));
            Arc::new(group)
        });
        let bound = RANKS as usize * 8 + 256;
        assert!(held <= bound, "{name}: {held} bytes of a group");
        let members = Members::Of(group);
        let (nodes, held, _) = bytes_of(|| Nodes::of(&members, |process| table.node_of(process)));
        assert!(held <= bound, "{name}: {held} bytes of its nodes");
        let number = node_of.iter().collect::<HashSet<_>>().len();
        assert_eq!(nodes.unwrap().number(), number, "{name}");
        assert_eq!(rank.world.size() as u32, RANKS);
    }
}
