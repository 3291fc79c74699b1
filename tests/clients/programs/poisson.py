# Poisson's equation on a distributed mesh, solved by conjugate gradients; the energy must not depend on the number of ranks.
from mpi4py import MPI
from netgen.geom2d import unit_square
import netgen.meshing
from ngsolve import *

comm = MPI.COMM_WORLD
if comm.rank == 0:
    mesh = unit_square.GenerateMesh(maxh=0.1).Distribute(comm)
else:
    mesh = netgen.meshing.Mesh.Receive(comm)
mesh = Mesh(mesh)
space = H1(mesh, order=3, dirichlet="left|bottom")
u, v = space.TnT()
a = BilinearForm(grad(u) * grad(v) * dx)
before = Preconditioner(a, "local")
f = LinearForm(32 * (y * (1 - y) + x * (1 - x)) * v * dx)
a.Assemble()
f.Assemble()
solution = GridFunction(space)
inverse = CGSolver(a.mat, before.mat, tol=1e-12, maxiter=2000)
solution.vec.data = inverse * f.vec
energy = Integrate(grad(solution) * grad(solution), mesh)
dofs = space.ndofglobal
if comm.rank == 0:
    print(f"{comm.size} ranks, {dofs} unknowns, energy {energy:.8f}")
