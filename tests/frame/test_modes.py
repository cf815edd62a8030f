# SPDX-License-Identifier: Apache-2.0
"""No answer depends on how it was computed: random pipelines and operations, in all modes.

The profile "long" draws many more. `mode_tally.py` runs until a number of comparisons is done, and
counts what fails.
"""

import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_operations import OPERATIONS
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mode_check import EXCUSED, Subject, check
from mode_comparison import differences
from mode_inputs import KINDS, NULLABLE_KINDS, PATTERNS, table_of, text_of_table
from mode_runs import MODES, SLOW, Modes, assert_schema
from mode_subjects import (
    OPERATION_NAMES,
    ROUNDING,
    SCHEMAS,
    drawn_operation,
    drawn_pipeline,
    subject_of,
    subject_of_steps,
)
from operation_parity import DIFFERENCES, IS_LONG

NUM_PIPELINES, NUM_OPERATIONS = (2000, 4000) if IS_LONG else (30, 48)
QUICK = tuple(mode for mode in MODES[1:] if mode not in SLOW)
# Explaining a failure would run it many more times.
PHASES = (Phase.generate, Phase.shrink)
# A program is compiled for each of the others.
NUM_MODES = len(QUICK) if IS_LONG else 5


@st.composite
def inputs(draw, kinds):
    """Tables of some rows, with holes and ties somewhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pattern = draw(st.sampled_from(PATTERNS))
    sizes = [draw(st.sampled_from(sizes)) for sizes in ((0, 1, 2, 5, 7), (0, 2, 3))]
    return tuple(
        table_of(rng, kind, size, pattern) for kind, size in zip(kinds, sizes, strict=False)
    )


def pick_by(data):
    """Hypothesis' choice of an option: the first one is the simplest."""
    return lambda options: options[data.draw(st.integers(0, len(options) - 1))]


def assert_one_answer(data, subject, kinds, folder, modes):
    tables = data.draw(inputs(kinds))
    for table in tables:
        data.draw(st.just(text_of_table(table)), label="table")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check(subject, Modes(subject.run, folder), tables, modes)
    for failure in done.failures:
        pytest.fail(f"{failure.mode}: {subject.text}: {failure.found}")


@settings(max_examples=NUM_PIPELINES, phases=PHASES)
@given(data=st.data())
def test_a_pipeline_has_one_answer(tmp_path_factory, data):
    pick = pick_by(data)
    rng = np.random.default_rng(pick(range(100)))
    subject, kinds = drawn_pipeline(pick, rng, pick(range(len(SCHEMAS))))
    modes = [MODES[0], *data.draw(st.permutations(QUICK))[:NUM_MODES]]
    if IS_LONG or pick(range(4)) == 0:
        modes.append("jit")
    if IS_LONG:
        modes += SLOW[1:]
    assert_one_answer(data, subject, kinds, tmp_path_factory.getbasetemp(), modes)


@settings(max_examples=NUM_OPERATIONS, phases=PHASES)
@given(data=st.data())
def test_an_operation_has_one_answer(tmp_path_factory, data):
    pick = pick_by(data)
    operation = OPERATIONS[pick(OPERATION_NAMES)]
    subject, kinds = drawn_operation(pick, operation)
    modes = [MODES[0], *data.draw(st.permutations(QUICK))[:NUM_MODES]]
    if IS_LONG and operation.jit:
        modes.append("jit")
    assert_one_answer(data, subject, kinds, tmp_path_factory.getbasetemp(), modes)


# Pipelines and tables that differed in a mode once: each stands for a kind.
FOUND = {
    "a reduction without enough values": (
        ["f['I64h'].std()"],
        [pa.Table.from_pandas(pd.DataFrame({"I64h": [3]}, dtype="Int64")), pa.table({"k": [1]})],
    ),
    "a time of a finer unit in place of another": (
        ["f.assign(z=f['d'].replace(pd.Timedelta(0), pd.Timedelta(1)))"],
        [pa.table({"d": pa.array([0, 3, 3], pa.duration("us"))}), pa.table({"k": [1]})],
    ),
    "a mean of wide integers that nearly cancel": (
        ["f.groupby(['k']).agg(z=('i64', 'mean'))"],
        [pa.table({"k": [5] * 3, "i64": [2**63 - 2, 3, -(2**63)]}), pa.table({"k": [1]})],
    ),
    "a float beyond 64 bits as an integer": (
        ["f.assign(z=f['i64h'].fillna(0).astype('uint8'))"],
        [pa.table({"i64h": [2**63 - 1, None]}), pa.table({"k": [1]})],
    ),
    "a minimum of infinities in nullable floats": (
        ["f.assign(z=f['F64h'].cummin())"],
        [
            pa.Table.from_pandas(pd.DataFrame({"F64h": pd.array([None, np.inf], "Float64")})),
            pa.table({"k": [1]}),
        ],
    ),
    "a missing key of nullable numbers": (
        ["f.assign(z=f['F64h'].map({float('nan'): -2**63, 2: 3}))"],
        [
            pa.Table.from_pandas(pd.DataFrame({"F64h": pd.array([None, 2.0], "Float64")})),
            pa.table({"k": [1]}),
        ],
    ),
    "a comparison of objects without rows": (
        ["f.assign(y=(f['b'] != b''))"],
        [pa.table({"b": pa.array([], pa.binary())}), pa.table({"k": [1]})],
    ),
    "an outer join by periods over batches": (
        ["merge(f, g, on='p', how='outer', suffixes=('', '_g'))"],
        [
            pa.Table.from_pandas(pd.DataFrame({"p": pd.PeriodIndex(["2024-03"], freq="M")})),
            pa.Table.from_pandas(pd.DataFrame({"p": pd.PeriodIndex([None, "2024-01"], freq="M")})),
        ],
    ),
    "a map of nullable integers that finds them in one batch alone": (
        ["f.assign(z=f['v'].map({0: 255}))"],
        [
            pa.Table.from_pandas(pd.DataFrame({"v": pd.array([0, -(2**63)], dtype="Int64")})),
            pa.table({"k": [1]}),
        ],
    ),
    "sums of objects of a group without values in a batch": (
        ["f.groupby('k', as_index=False)['b'].sum()"],
        [
            pa.table({"b": pa.array([b"a", None, None, b"b"], pa.binary()), "k": [1, 1, 2, 1]}),
            pa.table({"k": [1]}),
        ],
    ),
    "a sort of nullable integers that are equal as floats": (
        ["f.sort_values(['v'], kind='stable')"],
        [
            pa.Table.from_pandas(
                pd.DataFrame({"v": [2**63 - 1, 100, 2**63 - 2, None]}, dtype="Int64")
            ),
            pa.table({"k": [1]}),
        ],
    ),
    "groups by bools beside wide integers": (
        ["f.groupby(['bh', 'i64'], as_index=False).size()"],
        [pa.table({"i64": [2**62, 0, 3], "bh": [None, None, True]}), pa.table({"k": [1]})],
    ),
    "no groups by bools": (
        ["f.groupby(['bh', 'i64'], as_index=False).size()"],
        [pa.table({"i64": [100, 0], "bh": pa.array([None] * 2, pa.bool_())}), pa.table({"k": [1]})],
    ),
    "a key that one side misses": (
        ["merge(f, g, on='bh', how='right')"],
        [pa.table({"bh": [None, True]}), pa.table({"bh": [True, False, True], "k": [1, 1, 1]})],
    ),
    "a key that a side without rows does not miss": (
        ["merge(f, g.head(1), on='bh', how='outer')"],
        [pa.table({"bh": pa.array([], pa.bool_())}), pa.table({"bh": [True, None]})],
    ),
    "a key that the other side misses": (
        ["merge(f, g, on='bh', how='left')"],
        [pa.table({"bh": [True, False], "k": [1, 1]}), pa.table({"bh": [None, True, True]})],
    ),
    "a key beside objects of a side without rows": (
        ["f.assign(b=f['k'] < 2)", "merge(f, g, on='b', how='left', suffixes=('', '_g'))"],
        [pa.table({"k": [3, 0]}), pa.table({"b": pa.array([], pa.binary())})],
    ),
    "a key beside objects, with rows on one side": (
        ["f.assign(y=(f['y'] != b''))", "merge(f, g.head(1), on='y', how='left')"],
        [
            pa.table({"y": pa.array([], pa.binary())}),
            pa.table({"y": pa.array([None], pa.binary())}),
        ],
    ),
    "counts of a column that one part lacks": (
        ["concat([f, g], ignore_index=True)", "f['i8'].value_counts()"],
        [pa.table({"i8": pa.array([-128, 0], pa.int8())}), pa.table({"x": [1.5]})],
    ),
    "counts of a column of no rows that one part lacks": (
        ["concat([f, g], ignore_index=True)", "f['i8'].value_counts()"],
        [pa.table({"i8": pa.array([], pa.int8())}), pa.table({"x": pa.array([], pa.int8())})],
    ),
    "a key beside objects that are not there": (
        ["merge(f, g, on='k', how='inner')"],
        [pa.table({"k": [3, 0]}), pa.table({"k": pa.array([], pa.binary()), "x": []})],
    ),
    "groups by a nullable key that a row misses": (
        ["f.groupby('v')['x'].cummax()"],
        [
            pa.Table.from_pandas(pd.DataFrame({"v": pd.array([None], "Int64"), "x": [100]})),
            pa.table({"k": [1]}),
        ],
    ),
    "a number in place of missing strings": (
        ["f.assign(z=f['s'].shift(1))", "f.fillna({'z': 3})"],
        [pa.table({"s": [""]}), pa.table({"k": [1]})],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_has_one_answer(tmp_path, name):
    steps, tables = FOUND[name]
    subject = subject_of_steps(steps)
    modes = ["eager", "plan", "plan of files", "batches of 1", "batches of 3 of files"]
    done = check(subject, Modes(subject.run, tmp_path), tuple(tables), modes)
    assert done.comparisons >= len(modes)
    assert not done.failures


def test_a_minimum_of_dropped_rows_is_excused_inside_jit_alone(tmp_path):
    subject = subject_of_steps(["f[f['k'] < 2]", "f['i64'].min()"])
    tables = pa.table({"k": [3], "i64": [3]}), pa.table({"k": [1]})
    modes = ["eager", "jit", "plan", "batches of 1"]
    done = check(subject, Modes(subject.run, tmp_path), tables, modes)
    assert done.comparisons == len(modes)
    assert not done.failures


def test_a_search_for_numbers_among_no_strings_raises_in_each_mode(tmp_path):
    subject = subject_of(OPERATIONS["searchsorted"])
    runner, tables = Modes(subject.run, tmp_path), (pa.table({"k": pa.array([], pa.string())}),)
    assert not check(subject, runner, tables, ["eager", "from pandas"]).failures
    with pytest.raises(TypeError, match="values for a series of str must be strings"):
        runner("eager", tables)


def test_every_kind_has_a_table():
    rng = np.random.default_rng(3)
    for pattern in PATTERNS:
        kinds = (*KINDS, *NULLABLE_KINDS)
        table = table_of(rng, {kind: kind for kind in kinds}, 40, pattern)
        has_nulls = {name for name in kinds if table[name].null_count}
        assert has_nulls == {name for name in kinds if name.endswith("h")}
    missing = table_of(rng, {"i8h": "i8h", "bh": "bh"}, 5, "all missing")
    assert [column.null_count for column in missing.columns] == [5, 5]


def test_planted_faults_are_found(tmp_path):
    def faulty(f, g):
        # Wrong for batches: each has its own greatest value.
        is_part = hasattr(f, "to_pandas") and len(f) < 4
        return f.assign(z=f["k"] + int(is_part))

    tables = tuple(table_of(np.random.default_rng(1), {"k": "k"}, size) for size in (3, 1))
    subject = Subject("f.assign(z)", faulty, lambda frames: ROUNDING)
    failures = check(subject, Modes(faulty, tmp_path), tables, ["eager", "from pandas"]).failures
    assert [(one.mode, one.dtype) for one in failures] == [
        ("eager", "int64"),
        ("from pandas", "int64"),
    ]
    right = subject_of_steps(["f[f['k'] > 1]", "f['k'].sum()"])
    done = check(right, Modes(right.run, tmp_path), tables, ["eager", *QUICK])
    assert not done.failures
    assert done.comparisons == 1 + len(QUICK)


def test_dtypes_and_schemas_are_compared():
    frame = table_of(np.random.default_rng(1), {"k": "k", "u8": "u8"}, 3).to_pandas()
    assert differences(frame, frame.copy(), ROUNDING) == (2, [])
    _, found = differences(frame.astype({"u8": "int64"}), frame, ROUNDING)
    assert [one.dtype for one in found] == ["uint8"]
    assert_schema(["int64", "uint8"], frame)
    with pytest.raises(AssertionError, match="schema"):
        assert_schema(["int64", "float64"], frame)


def test_every_excuse_is_known():
    for entry in DIFFERENCES:
        assert ("excuse" in entry) == ("steps" in entry), entry
        assert entry.get("excuse", "inside jit") in EXCUSED
        assert all(re.compile(step) for step in entry.get("steps", []))
