# SPDX-License-Identifier: Apache-2.0
# Each target does all its own set-up, in .venv, from nothing but Python >= 3.11, gcc and make.
#
#   make demo          the flights of 2013, sorted on one device and on a mesh
#   make install       the environment of all the others
#   make test          tests on both backends and doctests    PYTEST_ARGS="-k radix_sort" passes on
#   make test-all      the same with every combination of parameters, optimised
#   make pandas-tests  pandas' own tests with the frame       FOLDERS="reshape/merge" VARIANTS=0
#   make sanitize      the C++ kernels under ASan, UBSan and TSan, and the fuzzer for a minute
#   make fuzz          a fuzzer calls the kernels for a minute under ASan and UBSan; needs clang
#   make test-versions tests on the lowest versions of the dependencies and on the newest
#   make compilers     the tests of the C++ kernels by clang, and for aarch64 in an emulator
#   make lint          style, types, import floors
#   make docs          the documentation, into docs/_build/html
#   make docs-look     screenshots of ten of its pages, on a desktop and on a phone; needs Chromium
#   make dist          the source distribution and a wheel, into dist/, each installed and called
#   make cuda-kernels  the CUDA kernels for one card, to see that they compile
#   make cuda-wheel    the wheel of the CUDA kernels, into dist/; its compiler comes from PyPI
#   make bench         one table next to jnp, NumPy, pandas and Polars, and a chart
#   make bench-calls   15 common calls next to pandas, Polars and DuckDB: first call and warm
#   make bench-dbbench groupby, joins and sorts of db-benchmark, likewise
#   make bench-queries 200 questions of programs, their first three calls beside pandas
#   make bench-tpch    the 22 queries of TPC-H, likewise
#   make bench-disk    plans on 4 GiB within 2 GiB of memory, next to DuckDB and Polars
#   make pods          what programs use on slices of TPU of 8 to 256 chips, compiled on this machine
#   make gpu-programs  bytes and kernels of every local op on GPUs that are not here
#   make tpu-cycles    static cycles of every local op on TPUs that are not here
#   make bench-smoke   the table and the workloads on small inputs, and each asv benchmark once
#
# PYTHON chooses the interpreter: make test PYTHON=python3.12

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?=
# make pods PODS_ARGS="--only radix_sort --slices v5e-256" compiles these again.
PODS_ARGS ?=
# make tpu-cycles TPU_ARGS="--show radix_sort --chips v5e --rows 65536" compiles one call.
TPU_ARGS ?=
# XLA compiles on one core, so two workers halve the time of the tests on two.
PYTEST_WORKERS ?= 2
# make test MOST_PROCESSOR_SECONDS=1500 fails if the first pass takes a quarter more than that.
MOST_PROCESSOR_SECONDS ?=

# What compiles fastest, in the shell: it depends on the version of jaxlib in the environment.
QUICK_COMPILATION = $$($(BIN)/python tests/quick_compilation.py)
NATIVE_XLA_FLAGS = $(QUICK_COMPILATION)
# Both passes, the pages, and the next run, take what is compiled already from here.
COMPILED := build/compiled
COMPILED_MOST_MEGABYTES := 1000

# The second pass, without the C++ kernels, runs the tests of what chooses between a kernel and XLA:
# the local ops, the eager reductions and sums, and, over a mesh and in frames, a sort, a reduction
# and a join. All else is the same with other local ops. XLA_TESTS=tests runs everything.
XLA_TESTS ?= $(filter-out %_errors.py %_lowering.py,$(wildcard tests/primitives/local/test_*.py)) \
	$(addprefix tests/primitives/test_,reduce.py segment_sums.py) \
	$(addprefix tests/primitives/collective/test_,radix_sort.py reduce_by_key.py) \
	tests/frame/sorting/test_sort_values.py tests/frame/combining/test_merge.py \
	$(addprefix tests/frame/groupby/test_,keys.py one_pass_sums.py)

# On other versions of the dependencies: the primitives, what frames read and write, and frames that
# sort, group and join. VERSIONS_TESTS=tests runs all. The newest JAX may need a newer Python.
VERSIONS_TESTS ?= tests/primitives/local tests/primitives/contract tests/primitives/kernels \
	tests/primitives/test_selfcheck.py tests/primitives/test_transformed.py tests/shardings \
	tests/test_public_api.py $(addprefix tests/frame/,io sorting combining groupby table)
NEWEST_PYTHON ?= $(PYTHON)

# Seconds of `make fuzz`, and, if they are fewer, executions.
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1

VENV := .venv
BIN := $(VENV)/bin
# The stamps lie inside the environment: whoever removes it, removes them.
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check
# asv keeps what it knows of the machine in the home folder; this one is thrown away.
ASV := HOME=$(CURDIR)/build/asv $(CURDIR)/$(BIN)/python -m asv
# The tests of a file share what they compile. Each worker starts with one half of the files, in
# order; whoever is done takes half of what another one has left, so that all end together.
PYTEST := $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal

KERNEL_SOURCES := $(wildcard primitives/kernels/*/*.h primitives/kernels/*/*.cc) \
	primitives/kernels/CMakeLists.txt

WORKLOADS := calls dbbench queries tpch

.PHONY: help install demo test test-all test-versions pandas-tests sanitize compilers fuzz lint docs docs-look dist bench $(WORKLOADS:%=bench-%) \
  bench-disk pods tpu-cycles gpu-programs cuda-kernels cuda-wheel \
  bench-smoke clean

help:
	@sed -n 's/^#   make/make/p' Makefile

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'jaxframes needs Python >= 3.11. Choose one: make PYTHON=python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	touch $@

# An editable install: Python sources are read where they are, the kernels are built again when
# their sources change, with the tools in the environment once those are there.
$(STAMPS)/jaxframes: $(STAMPS)/venv pyproject.toml $(KERNEL_SOURCES)
	$(PIP) install --quiet --editable . $$( \
	  $(BIN)/python -c 'import scikit_build_core, cmake, ninja' 2> /dev/null && \
	  echo --no-build-isolation)
	touch $@

# The requirements of an extra; jaxframes itself is there already.
EXTRAS := demo test lint docs bench dist
$(EXTRAS:%=$(STAMPS)/%) $(STAMPS)/look: $(STAMPS)/%: $(STAMPS)/jaxframes
	$(PIP) install --quiet 'jaxframes[$*]'
	touch $@

# Type checkers do not follow an editable install to the folders behind it, but they follow links.
# -S keeps the editable install itself out.
OUTSIDE = PYTHONPATH=build/links:$$($(BIN)/python -c \
  'import sysconfig; print(sysconfig.get_path("purelib"))')
PACKAGES := primitives frame shardings
LINKS := $(addprefix build/links/jaxframes/,__init__.py py.typed $(PACKAGES))
build/links/jaxframes/%:
	mkdir -p $(@D)
	ln -sfn ../../../$(if $(filter $*,$(PACKAGES)),,package/jaxframes/)$* $@

# The requirements of all extras, which one call resolves at once.
install: $(STAMPS)/jaxframes $(LINKS)
	$(PIP) install --quiet "jaxframes[$$(echo $(EXTRAS) | tr ' ' ,)]"
	touch $(EXTRAS:%=$(STAMPS)/%)

demo: $(STAMPS)/demo
	$(BIN)/python docs/demo/flights.py

test docs: export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/$(COMPILED)
test docs: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0
test docs: export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES = -1
test: $(STAMPS)/test
	mkdir -p $(COMPILED)
	[ $$(du -sm $(COMPILED) | cut -f1) -le $(COMPILED_MOST_MEGABYTES) ] || rm -r $(COMPILED)
	XLA_FLAGS="$(NATIVE_XLA_FLAGS)" $(PYTEST) $(PYTEST_ARGS) \
	  $(MOST_PROCESSOR_SECONDS:%=--most-processor-seconds=%)
	JAXFRAMES_KERNELS=xla XLA_FLAGS="$(QUICK_COMPILATION)" \
	  $(PYTEST) --ignore=tests/test_packaging.py $(PYTEST_ARGS) $(XLA_TESTS)

test-all: export JAXFRAMES_TESTS = all
test-all: NATIVE_XLA_FLAGS =
test-all: test

# Outcomes, not verdicts: tests/pandas_suite/README.md. No folders: those that the script names.
VARIANTS ?= 3
pandas-tests: $(STAMPS)/test
	JAX_COMPILATION_CACHE_DIR=$(CURDIR)/$(COMPILED) JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 \
	  JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1 XLA_FLAGS="$(QUICK_COMPILATION)" \
	  $(BIN)/python tests/pandas_suite/run.py --variants $(VARIANTS) --out build/pandas $(FOLDERS)

sanitize: $(STAMPS)/test
	PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/primitives/kernels/run_sanitizers.sh
	PATH="$(CURDIR)/$(BIN):$$PATH" \
	  bash tests/primitives/kernels/run_fuzzer.sh build/fuzz 300 20000 -seed=1 || [ $$? = 69 ]

compilers: $(STAMPS)/test
	PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/primitives/kernels/run_compilers.sh build/compilers

fuzz: $(STAMPS)/test
	PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/primitives/kernels/run_fuzzer.sh build/fuzz \
	  $(FUZZ_SECONDS) $(FUZZ_RUNS)

test-versions:
	failed=; for versions in lowest:$(PYTHON) newest:$(NEWEST_PYTHON); do \
	  bash tests/versions/run_versions.sh build/versions $${versions%%:*} $${versions#*:} \
	    -n $(PYTEST_WORKERS) --dist worksteal $(PYTEST_ARGS) $(VERSIONS_TESTS) || failed=1; done; \
	test -z "$$failed"

lint: $(STAMPS)/lint $(LINKS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@! grep -rnE 'jax\._src|jaxlib\._' --include='*.py' primitives frame shardings || { \
	  echo 'Only public JAX APIs.' >&2; exit 1; }
	$(OUTSIDE) $(BIN)/python -S -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	$(BIN)/pyright --pythonpath $(BIN)/python
	@$(OUTSIDE) $(BIN)/pyright --pythonpath $(BIN)/python --ignoreexternal \
	  --verifytypes jaxframes > build/types.txt || { cat build/types.txt; exit 1; }

PAGES := docs/_build/html
docs: $(STAMPS)/docs $(STAMPS)/test
	XLA_FLAGS="$(QUICK_COMPILATION)" \
	  $(BIN)/python -m sphinx -W --keep-going -n -j $(PYTEST_WORKERS) docs $(PAGES)
	JAXFRAMES_PAGES=$(PAGES) $(BIN)/python -m pytest \
	  tests/test_reference_complete.py tests/test_built_pages.py

# Of pages that are built: `make docs docs-look` builds them first.
docs-look: $(STAMPS)/look
	$(BIN)/python docs/look.py $(PAGES) build/look

dist: $(STAMPS)/dist
	PATH="$(CURDIR)/$(BIN):$$PATH" bash tests/dist/make_dist.sh dist build/dist

# The compiler has an environment of its own. Programs for CUDA compile without a GPU.
CUDA := build/cuda
$(CUDA)/venv/stamp: cuda/requirements.txt | $(STAMPS)/venv
	$(PYTHON) -m venv $(CUDA)/venv
	$(CUDA)/venv/bin/python -m pip --disable-pip-version-check install --quiet \
	  --requirement cuda/requirements.txt
	touch $@

cuda-wheel: $(CUDA)/venv/stamp
	$(CUDA)/venv/bin/python cuda/build_wheel.py --build $(CUDA)/objects --output dist

# For one card, and no wheel: to see that the kernels compile, and for `make gpu-programs`.
cuda-kernels: $(CUDA)/venv/stamp
	$(CUDA)/venv/bin/python cuda/build_wheel.py --build $(CUDA)/objects-90 --architectures 90 --library

bench: $(STAMPS)/bench
	$(BIN)/python asv_bench/table.py $(BENCH_ARGS)

$(WORKLOADS:%=bench-%): bench-%: $(STAMPS)/bench
	$(BIN)/python asv_bench/run_workload.py $* $(BENCH_ARGS)

bench-disk: $(STAMPS)/bench
	$(BIN)/python asv_bench/larger_than_memory.py $(BENCH_ARGS)

# The compiler lies outside the environment, where JAX would look for a TPU with it. It is the one
# that this JAX asks for. Two processes compile for hours; a run that was stopped goes on.
LIBTPU := build/libtpu
$(LIBTPU)/libtpu/libtpu.so: $(STAMPS)/jaxframes
	$(PIP) install --quiet --no-deps --upgrade --target $(LIBTPU) "$$($(BIN)/python -c 'from \
	  importlib.metadata import requires; print(next(r.partition(";")[0] for r in requires("jax") \
	  if r.startswith("libtpu")))')"
	touch $@

pods: $(STAMPS)/test $(LIBTPU)/libtpu/libtpu.so
	$(BIN)/python asv_bench/pods $(PODS_ARGS)

# XLA's compiler for GPU likewise: that of the installed jaxlib. With the CUDA kernels, if they are
# built.
GPU_PLUGIN := build/gpu_plugin
$(GPU_PLUGIN)/stamp: $(STAMPS)/jaxframes
	$(PIP) install --quiet --no-deps --upgrade --target $(GPU_PLUGIN) $$($(BIN)/python -c 'from \
	  importlib.metadata import version; v = version("jaxlib"); \
	  print(f"jax-cuda13-plugin=={v} jax-cuda13-pjrt=={v}")')
	touch $@

gpu-programs: $(STAMPS)/test $(GPU_PLUGIN)/stamp
	$(BIN)/python asv_bench/programs gpu $(GPU_ARGS)

tpu-cycles: $(STAMPS)/test $(LIBTPU)/libtpu/libtpu.so
	$(BIN)/python asv_bench/programs tpu $(TPU_ARGS)

# The calls of asv are not timed here: each is forked from a process that has imported everything.
bench-smoke: $(STAMPS)/bench
	mkdir -p build/asv
	$(BIN)/python asv_bench/table.py --quick
	for workload in $(WORKLOADS); do \
	  $(BIN)/python asv_bench/run_workload.py $$workload --quick --cache $(COMPILED); done
	flags="$(QUICK_COMPILATION)" && cd asv_bench && $(ASV) machine --yes > /dev/null && \
	  JAXFRAMES_BENCH=smoke XLA_FLAGS="$$flags" $(ASV) run --quick --show-stderr \
	  --launch-method forkserver --environment existing:$(CURDIR)/$(BIN)/python

clean:
	rm -rf $(VENV) build docs/_build
