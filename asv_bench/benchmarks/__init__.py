# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of jaxframes, in the form that asv reads.

A class asks one question; its parameters are the axes of the answer. `setup` makes the data,
compiles and runs once; `time_*` is one call that waits for its result. The alternatives to a
primitive are values of the parameter `implementation`.

Run them from `asv_bench`:

    asv run --quick -E existing:python         each call once, on the jaxframes that is installed
    asv run -b SkewedKeys HEAD^!               one question, in full
    asv continuous main HEAD                   what a branch changes
    JAXFRAMES_BENCH=smoke asv run --quick ...  the first value of each axis alone

`python asv_bench/table.py` asks the most important of these questions side by side in one run,
and `python asv_bench/run_workload.py` runs whole workloads beside pandas, Polars and DuckDB.
"""

import os

# A first call is that of a script that never ran: its programs are not there yet.
os.environ.setdefault("JAXFRAMES_CACHE", "off")
