# A ring of cells over all ranks; prints the spikes, which must not depend on the number of ranks.
from neuron import h

h.nrnmpi_init()
pc = h.ParallelContext()
rank, ranks = int(pc.id()), int(pc.nhost())
CELLS = 8
cells, stimuli, connections = {}, [], []
for gid in range(rank, CELLS, ranks):
    soma = h.Section(name=f"soma{gid}")
    soma.L = soma.diam = 20
    soma.insert("hh")
    synapse = h.ExpSyn(soma(0.5))
    synapse.tau = 2
    cells[gid] = soma, synapse
    pc.set_gid2node(gid, rank)
    pc.cell(gid, h.NetCon(soma(0.5)._ref_v, None, sec=soma))
for gid, (soma, synapse) in cells.items():
    connection = pc.gid_connect((gid - 1) % CELLS, synapse)
    connection.weight[0], connection.delay = 0.05, 2
    connections.append(connection)
if 0 in cells:
    stimulus = h.NetStim()
    stimulus.number, stimulus.start = 1, 1
    first = h.NetCon(stimulus, cells[0][1])
    first.weight[0], first.delay = 0.05, 1
times, gids = h.Vector(), h.Vector()
for gid in cells:
    pc.spike_record(gid, times, gids)
h.load_file("stdrun.hoc")
pc.set_maxstep(10)
h.finitialize(-65)
pc.psolve(60)
spikes = pc.py_allgather(list(zip(times.to_python(), map(int, gids.to_python()))))
total = pc.allreduce(len(gids), 1)
if rank == 0:
    text = " ".join(f"{gid}:{time:.3f}" for time, gid in sorted(sum(spikes, [])))
    print(f"{ranks} ranks, {int(total)} spikes: {text}")
pc.barrier()
h.quit()
