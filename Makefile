# Every target calls a script, a function of one or a CMake preset that can also be used alone.
.DEFAULT_GOAL := help
.PHONY: help setup build build-mpich demo check check-all check-long check-drop-in bench bench-async bench-commits bench-hdf5 bench-languages bench-mpiio bench-nodes bench-servers papers docs packages wheels sanitize format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing: Debian packages, Python packages in build/venv
	@scripts/setup.sh

build: setup ## optimised programs in build/release/bin (Open MPI); make check builds the tests too
	@bash -c 'source scripts/stages.sh && build_united release installed'

build-mpich: setup ## the same with MPICH in build/release-mpich/bin
	@bash -c 'source scripts/stages.sh && build_united release-mpich installed'

demo: ## a Sedov blast on 4 ranks in out/demo: written, checked, drawn, its timeline and I/O report
	@scripts/demo.sh

check: ## every test, under Open MPI and MPICH, with sanitizers and a little fuzzing
	@scripts/check.sh

check-all: ## what make check leaves out, in parts (PART="papers docs"); docs/checked.md keeps the outcomes
	@scripts/check_all.sh $(PART)

check-long: ## 200 kills, every test under every sanitizer, longer fuzzing
	@scripts/check_long.sh

check-drop-in: ## programs that nobody here wrote, on the MPI-IO drop-in: mpi4py's tests, HDF5, PnetCDF, netCDF, h5py
	@scripts/check_drop_in.sh

bench: ## FLASH I/O through Stria and its peers, side by side; results in out/bench
	@lab/scripts/bench.sh

bench-async: ## what a commit in the background, a restart and each layout cost, with a goal each; a slow device needs root
	@lab/scripts/bench_async.sh

bench-commits: ## what the changes since a commit have cost (COMMIT=HEAD~10): both in turn, workload by workload
	@lab/scripts/bench_commits.sh "$(COMMIT)"

bench-hdf5: ## an unmodified HDF5 program with and without libstria_hdf5, and packed by hand
	@lab/scripts/bench_hdf5.sh

bench-languages: ## what a call and a checkpoint cost in C, Fortran and Python beside C++ and h5py
	@lab/scripts/bench_languages.sh

bench-mpiio: ## MPI-IO patterns through the native implementations and the drop-in, side by side
	@lab/scripts/bench_mpiio.sh

bench-nodes: ## HDF5, PnetCDF, MPI-IO and the library on four virtual nodes, side by side; needs root
	@lab/scripts/bench_nodes.sh

bench-servers: ## a store of eight servers by every method, and beside plain sockets; figures drawn in out/bench
	@lab/scripts/bench_servers.sh

papers: ## experiments of five papers at small sizes; the page is out/papers/index.html
	@lab/scripts/papers.sh run all --quick

docs: ## the documentation as a site, to open from disk: out/docs/index.html
	@scripts/docs.sh

packages: setup ## Debian packages for Open MPI and MPICH side by side, in out/packages
	@scripts/packages.sh

wheels: setup ## wheels for Python that carry all but MPI, tried with PyPI's MPICH and Open MPI; in out/wheels
	@scripts/wheels.sh

sanitize: setup ## every test under the address and undefined-behaviour sanitizers
	@cmake --preset asan && cmake --build --preset asan && ctest --preset asan -LE 'long|style'

format: setup ## put every source file in form
	@scripts/format.sh

clean: ## remove what was built; results in out stay
	rm -rf build
