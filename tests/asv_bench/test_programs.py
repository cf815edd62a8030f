# SPDX-License-Identifier: Apache-2.0
"""The stored costs of compiled programs, how they are read, and which calls they cover."""

import json
import subprocess
import sys

import jax
import pytest
from compiling import LIBTPU, ROOT
from covering import needs_long_profile
from jaxframes.primitives import local
from pages import with_tables
from programs.cases import CASES, FEW_ROWS, PEERS, QUICK
from programs.executed import cycles_of, row_moves_of
from programs.figures import Program, load, worse_than
from programs.page import CHART, DRAWN, FRAMES, PAGE, chart_of, tables
from programs.pipelines import PIPELINES

FIGURES = load()
CALLS = CASES | PIPELINES | PEERS


def test_every_local_op_is_compiled():
    ops = {name for name in local.__all__ if name.islower()}
    assert {name.split()[0] for name in CASES} == ops - {"segment_reduce"}
    assert set(QUICK) <= set(CASES)
    assert set(DRAWN) <= set(CASES)
    assert set(PIPELINES) == set(FRAMES)


@pytest.mark.parametrize("name", CALLS)
def test_each_call_can_be_traced(name):
    case = CALLS[name]
    # A rank among 10,000 rows is asked for.
    assert jax.tree.leaves(jax.eval_shape(case.call, *case.arguments(2**14)))


# What a call may take in static cycles a row of a v5e. A v6e may take half as much again.
MOST_CYCLES = {
    "inclusive_scan": 0.06, "segmented_scan": 0.12, "bucket_order": 1.0, "histogram": 0.3,
    "segment_sum": 1.0, "top_k": 0.5, "compact": 0.6, "compact of four": 2.0, "radix_sort": 0.9,
    "radix_sort with a value": 1.8, "unique": 3.0, "reduce_by_key": 4.0, "join": 25.0,
    "merge": 4.0, "searchsorted": 5.0, "gather_rows": 3.0, "segment_min": 1.5, "segment_prod": 1.5,
    "segment_var": 1.5, "segment_argmax": 3.0, "segment_shift": 2.0, "factorize": 5.0,
    "frame groupby": 8.0, "frame sort": 2.0, "frame merge": 16.0, "frame filter": 0.6,
}  # fmt: skip


@pytest.mark.parametrize("call", MOST_CYCLES)
@pytest.mark.parametrize(("chip", "factor"), [("v5e", 1.0), ("v6e", 1.5)])
def test_calls_stay_within_their_cycles(call, chip, factor):
    of_call = [
        (used, rows)
        for rows in (CALLS[call].rows, FEW_ROWS)
        if (used := FIGURES.get(Program(call, chip, rows).argument))
    ]
    assert of_call or chip != "v5e"
    # The costs of a start are a part of those of few rows.
    for used, rows in of_call[:1]:
        assert used["cycles"] <= factor * MOST_CYCLES[call] * rows
        assert (used["gathers"], used["scatters"]) == (0, 0)


def test_figures_that_grow_by_more_than_a_tenth_are_worse():
    stored = {"cycles": 100, "sorts": 1, "gathers": 0}
    assert not worse_than(stored, {"case": "sort", "cycles": 110, "sorts": 1, "gathers": 0})
    found = worse_than(stored, {"case": "sort", "cycles": 111, "sorts": 1, "gathers": 1})
    assert [str(worse) for worse in found] == [
        "sort: cycles grew from 100 to 111",
        "sort: gathers grew from 0 to 1",
    ]


def test_the_page_holds_the_stored_figures():
    text = PAGE.read_text()
    assert with_tables(text, tables(FIGURES)) == text
    assert chart_of(FIGURES) == CHART.read_text()


# How programs are read.

PROGRAM = """\
HloModule jit_f

%body (carry: (s32[], f32[64])) -> (s32[], f32[64]) {
  %gathered = f32[64]{0} gather(%table, %rows), offset_dims={}
}

%condition (carry: (s32[], f32[64])) -> pred[] {
  %rounds = s32[]{:T(128)} constant(8)
}

%cheap (x: f32[64]) -> f32[64] {
  %copied = f32[64]{0} copy(%x)
}

%costly (x: f32[64]) -> f32[64] {
  %sorted = (f32[64]{0}, s32[64]{0}) sort(%x, %iota), dimensions={0}
}

ENTRY %main (x: f32[64]) -> f32[64] {
  %rows = s32[64,1]{1,0} bitcast(%ids)
  %few = s32[4,1]{1,0} bitcast(%starts)
  %loop = (s32[], f32[64]) while(%start), condition=%condition, body=%body
  %chosen = f32[64] conditional(%flag, %x, %x), branch_computations={%cheap, %costly}
  %scattered = f32[64]{0} scatter(%zeros, %rows, %updates), to_apply=%add
  ROOT %edges = f32[64]{0} scatter(%zeros, %few, %ends), to_apply=%add
}
"""


def test_rounds_and_the_costliest_branch_count():
    cycles = {"gathered": 10, "copied": 1, "sorted": 100, "scattered": 7, "edges": 3}
    assert cycles_of(PROGRAM, cycles) == 8 * 10 + 100 + 7 + 3


def test_moves_of_all_rows():
    assert row_moves_of(PROGRAM, 64)._asdict() == {"sorts": 1, "gathers": 8, "scatters": 1}
    assert row_moves_of(PROGRAM, 65)._asdict() == {"sorts": 0, "gathers": 0, "scatters": 0}


@pytest.mark.skipif(not LIBTPU.exists(), reason="make tpu-cycles installs the compiler.")
@pytest.mark.parametrize(
    "chip",
    ["v5e", *(pytest.param(chip, marks=needs_long_profile) for chip in
              ("v6e", "v5p"))],
)  # fmt: skip
def test_kernels_compile_ahead_of_time(chip):
    # These contain each kernel.
    calls = ["segmented_scan", "inclusive_scan of a function", "bucket_order", "histogram",
             "segment_sum", "top_k"]  # fmt: skip
    command = ["asv_bench/programs", "tpu", "--show", *calls, "--chips", chip, "--rows", "65536"]
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(found) == len(calls)
    for used in found:
        assert (used["gathers"], used["scatters"]) == (0, 0)
