# make            build and stage into target/stage, a prefix that works in place
# make demo       install what is missing (as root, by apt), build, run a program on 4 ranks
# make check      all tests in at most ten minutes; see the other check targets below
# make install    PREFIX=/usr/local DESTDIR=
# make PROFILE=dev ...  the same, not optimized

PROFILE ?= release
PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo
CC ?= gcc
CXX ?= g++

version := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
built := target/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
stage := target/stage
programs := oxmpicc mpiexec mpichversion

.PHONY: all stage demo check check-rust check-c check-long check-reference check-miri check-loom \
	check-valgrind bench lint support install clean

all: stage

stage:
	$(CARGO) build --workspace --profile $(PROFILE)
	$(MAKE) --no-print-directory copy TO=$(stage)

install: all
	$(MAKE) --no-print-directory copy TO=$(DESTDIR)$(PREFIX)

# `install` makes a new file, so that programs running on the old one are not hurt.
.PHONY: copy
copy:
	mkdir -p $(TO)/bin $(TO)/lib/pkgconfig $(TO)/include $(TO)/share/doc/oxmpi
	for program in $(programs); do \
	  if [ -e $(built)/$$program ]; then install -m 755 $(built)/$$program $(TO)/bin/; fi; done
	for name in mpicc mpicxx mpic++ mpiCC; do ln -sf oxmpicc $(TO)/bin/$$name; done
	if [ -e $(TO)/bin/mpiexec ]; then \
	  for name in mpirun mpiexec.hydra; do ln -sf mpiexec $(TO)/bin/$$name; done; fi
	install -m 644 $(built)/libmpi.so $(TO)/lib/libmpi.so.12
	for name in libmpi.so libmpich.so libmpich.so.12; do ln -sf libmpi.so.12 $(TO)/lib/$$name; done
	install -m 644 include/mpi.h include/mpi.symbols $(TO)/include/
	sed 's/@VERSION@/$(version)/' capi/oxmpi.pc.in > $(TO)/lib/pkgconfig/oxmpi.pc
	ln -sf oxmpi.pc $(TO)/lib/pkgconfig/mpich.pc
	install -m 644 docs/*.md $(TO)/share/doc/oxmpi/

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	git diff --exit-code include

# docs/support.md from the entries
support:
	OXMPI_WRITE_SUPPORT=1 $(CARGO) build -p oxmpi-capi

clean:
	$(CARGO) clean

# all libraries, all benchmarks, about 20 minutes; a part: make bench BENCH="--quick --only latency"
bench: all
	python3 benches/run.py $(BENCH)
