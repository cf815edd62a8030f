# SPDX-License-Identifier: Apache-2.0
"""What the stored figures of compiled programs say about growth, and how they are read."""

import jax
import op_cases
import pytest
from jaxframes import shardings
from pages import with_tables
from pods.cases import CASES
from pods.figures import load
from pods.page import PAGE, found, seconds_at_least, tables
from pods.pipelines import PIPELINES
from pods.plan import FEW_ROWS, MAIN, MANY_ROWS, MORE_ROWS, compilations
from pods.program_costs import collectives_of

FIGURES = load()
CALLS = (*CASES, *PIPELINES)
# The calls of the table that are known for several slices of the same chips.
GROWTH = [
    (name, rows)
    for rows in sorted({compilation.rows for compilation in compilations()})
    for name in CALLS
    if sum(found(FIGURES, name, f"v5e-{chips}", rows) is not None for chips in (8, 64, 256)) > 1
]


def by_chips(name, rows):
    of_chips = {chips: found(FIGURES, name, f"v5e-{chips}", rows) for chips in (8, 64, 256)}
    return {chips: used for chips, used in of_chips.items() if used is not None}


def test_every_primitive_of_a_mesh_is_compiled():
    assert set(CASES) == op_cases.ops_of("global")
    known = {(c.name, c.slice_name) for c in compilations()}
    assert known >= {(name, f"v5e-{chips}") for name in CALLS for chips in (8, 64, 256)}


def test_the_main_calls_are_in_the_table():
    compared = {(name, max(by_chips(name, rows))) for name, rows in GROWTH if rows == FEW_ROWS}
    most_used = {*MAIN, "unique", "join", *PIPELINES}
    assert compared >= {(name, 256) for name in most_used}


@pytest.mark.parametrize(("name", "rows"), GROWTH)
def test_neither_memory_nor_collectives_grow_with_the_chips(name, rows):
    used = by_chips(name, rows)
    fewest = used.pop(min(used))
    for chips, more in used.items():
        assert more["chips"] == chips
        assert more["argument_bytes"] == fewest["argument_bytes"]
        of_all_chips = ALL_CHIPS_BYTES * chips + COUNT_BYTES * chips**2
        assert more["temporary_bytes"] <= 1.2 * fewest["temporary_bytes"] + of_all_chips
        assert sum(more["collectives"].values()) <= sum(fewest["collectives"].values())


# A total or an edge of each chip, which every chip holds.
ALL_CHIPS_BYTES = 64
# The number of rows from each chip to each, which every chip holds during an exchange.
COUNT_BYTES = 4


def test_many_rows_take_little_more_than_their_own_bytes():
    of_calls = {
        (name, chips): found(FIGURES, name, f"v5e-{chips}", MANY_ROWS)
        for name in CALLS
        for chips in (8, 64, 256)
    }
    known = {case: used for case, used in of_calls.items() if used is not None}
    assert {("partition", 64), ("radix_sort", 64), ("radix_sort", 8)} <= set(known)
    for case, used in known.items():
        assert used["temporary_bytes"] <= 4.5 * used["argument_bytes"], case


def test_pipelines_of_frames_take_at_most_twelve_times_their_columns():
    # With fewer rows the program's own bytes, which do not depend on the rows, would dominate.
    of_frames = [
        used
        for name in PIPELINES
        for chips in (8, 64, 256)
        for rows in (MORE_ROWS, MANY_ROWS)
        if (used := found(FIGURES, name, f"v5e-{chips}", rows)) is not None
    ]
    assert "frame groupby" in {used["case"].partition(",")[0] for used in of_frames}
    for used in of_frames:
        assert used["temporary_bytes"] <= 12 * used["argument_bytes"], used["case"]


def test_least_times_of_two_kinds_of_chip():
    used = {"argument_bytes": 819, "output_bytes": 0, "sent_bytes_at_least": 0}
    assert seconds_at_least({"case": "reduce,v5e:2x4,65536", **used}) == 819 / 8.19e11
    assert seconds_at_least({"case": "reduce,v6e:2x4,65536", **used}) == 819 / 1.6e12
    used["sent_bytes_at_least"] = 800
    assert seconds_at_least({"case": "reduce,v6e:2x4,65536", **used}) == 800 / 4e11


def test_no_sort_for_gpu_has_more_than_two_operands():
    known = [used for name in CALLS if (used := found(FIGURES, name, "cuda-8", FEW_ROWS))]
    assert any(used["sorts"] for used in known)
    for used in known:
        assert used["most_operands"] <= 2, used["case"]


def test_the_page_holds_the_stored_figures():
    text = PAGE.read_text()
    assert with_tables(text, tables(FIGURES)) == text


# How collectives are read.

PROGRAM = """\
HloModule jit_f

%add (a: f32[], b: f32[]) -> f32[] {
  ROOT %sum = f32[] add(%a, %b)
}

%body (carry: (s32[], f32[16])) -> (s32[], f32[16]) {
  %reduced = f32[16]{0:T(128)} all-reduce(%value), to_apply=%add
}

%condition (carry: (s32[], f32[16])) -> pred[] {
  %rounds = s32[]{:T(128)} constant(8)
  ROOT %less = pred[] compare(%i, %rounds), direction=LT
}

ENTRY %main (x: f32[1024]) -> f32[1024] {
  %loop = (s32[]{:T(128)}, f32[16]{0:T(128)}) while(%start), condition=%condition, body=%body
  %moved = u32[4,256,2]{1,2,0:T(2,128)} all-to-all(%copy), dimensions={0}
  %joined = (s32[8]{0}, s32[8]{0}) all-reduce(%counts, %ends), to_apply=%add
  %gathered = (f32[8]{0}, f32[32]{0}) all-gather-start(%edge), dimensions={0}
  ROOT %end = f32[32]{0} all-gather-done(%gathered)
}
"""


def test_bytes_of_each_collective_and_round():
    sent = collectives_of(PROGRAM, 4)
    assert sent.counts == {"all-gather": 1, "all-reduce": 1 + 2, "all-to-all": 1}
    in_rounds = 8 * 2 * 3 / 4 * 64
    joined = 2 * 3 / 4 * (32 + 32)
    moved, gathered = 3 / 4 * 8192, 3 / 4 * 128
    assert sent.sent_bytes == in_rounds + joined + moved + gathered


@pytest.mark.parametrize("name", CALLS)
def test_each_call_can_be_traced(name):
    mesh = shardings.make_mesh(4)
    case = (CASES | PIPELINES)[name]
    result = jax.eval_shape(lambda *columns: case.call(mesh, *columns), *case.arguments(mesh, 64))
    assert jax.tree.leaves(result)
    assert case.sent_at_least(4, 64) == 3 / 4 * case.moved * 64 * 4
