# SPDX-License-Identifier: Apache-2.0
"""Damaged files and Arrow data end in an error that names them, and never in a crash."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from covering import RUNS_ALL
from jaxframes.frame import (
    JaxFrame,
    from_arrow,
    read_parquet,
    scan_arrow,
    scan_parquet,
)
from jaxframes.frame.io._files import _footer
from jaxframes.frame.io._files._footer import column_chunks

SCRIPT = Path(__file__).with_name("malformed_cases.py")
# Kinds of a case, in the order of SCRIPT.
KINDS = ("parquet", "filtered", "planned", "stream", "file")
NUM_CASES = 10_000 if RUNS_ALL else 300


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcome of each case, and the positions of its damage; crashes begin with "signal"."""
    folder = tmp_path_factory.mktemp("damaged")
    found, first = {}, 0
    while first < NUM_CASES:
        ended = subprocess.run(
            [sys.executable, str(SCRIPT), str(folder), str(first), str(NUM_CASES)],
            env=os.environ | {"XLA_FLAGS": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        for case, positions, outcome in re.findall(r"^(\d+) ([\d ]+) \| (.*)$", ended.stdout, re.M):
            found[int(case)] = ([int(position) for position in positions.split()], outcome)
        if ended.returncode == 0:
            break
        started = re.findall(r"^(\d+) \w+$", ended.stdout, re.M)
        assert started, ended.stderr
        found[int(started[-1])] = ([], f"signal {-ended.returncode}: {ended.stderr[-1000:]}")
        first = int(started[-1]) + 1
    pages = ast.literal_eval((folder / "pages").read_text())
    return found, max(end for _, end in pages)


def test_damaged_files_end_in_errors_that_name_them(outcomes):
    found, _ = outcomes
    assert sorted(found) == list(range(NUM_CASES))
    strange = {
        case: outcome
        for case, (_, outcome) in found.items()
        if outcome not in ("error", "same", "different")
    }
    assert strange == {}
    assert sum(outcome == "error" for _, outcome in found.values()) > NUM_CASES // 2


def test_damaged_pages_never_give_other_rows(outcomes):
    found, end_of_pages = outcomes
    wrong = [
        case
        for case, (positions, outcome) in found.items()
        if KINDS[case % len(KINDS)] in ("parquet", "filtered", "planned")
        and outcome == "different"
        and all(position < end_of_pages for position in positions)
    ]
    assert wrong == []


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.parquet"
    JaxFrame({"x": np.arange(100), "s": ["a", "b"] * 50}).to_parquet(path)
    return str(path)


def test_a_footer_gives_the_sizes_that_arrow_gives(path):
    table = pa.table({"x": range(1000), "s": ["a", None] * 500, "l": [[1, 2], []] * 500})
    pq.write_table(table, path, row_group_size=300, use_dictionary=["s"])
    file = pq.ParquetFile(path)
    chunks = column_chunks(file.metadata)
    assert [len(group) for group in chunks] == [3, 3, 3, 3]
    for number, group in enumerate(chunks):
        for position, sizes in enumerate(group):
            chunk = file.metadata.row_group(number).column(position)
            assert sizes == (chunk.num_values, chunk.total_uncompressed_size)


def test_a_sound_footer_is_read_once(path, monkeypatch):
    metadata = pq.ParquetFile(path).metadata
    _footer.check_footer(metadata)
    monkeypatch.setattr(_footer, "column_chunks", None)
    _footer.check_footer(metadata)
    pq.write_table(pa.table({"x": range(9)}), path)
    with pytest.raises(TypeError):
        _footer.check_footer(pq.ParquetFile(path).metadata)


def test_the_file_is_named(path, tmp_path):
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[:-1])
    kind = "it is truncated, corrupted, or of a kind that Arrow does not read."
    with pytest.raises(OSError, match=rf"read_parquet: cannot read '{re.escape(path)}': {kind}"):
        read_parquet(path)
    with pytest.raises(OSError, match=rf"scan_parquet: cannot read '{re.escape(path)}': {kind}"):
        scan_parquet(path).collect()


def test_a_column_that_frames_do_not_hold_is_named_with_its_file(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"x": [1], "t": pd.arrays.IntervalArray.from_breaks([0, 1])}).to_parquet(path)
    rule = "JaxFrame: column 't' must be of a dtype that the device holds"
    for caller, make in (
        ("read_parquet", read_parquet),
        ("scan_parquet", lambda path: scan_parquet(path).collect()),
    ):
        with pytest.raises(NotImplementedError) as raised:
            make(str(path))
        assert str(raised.value).startswith(f"{caller}: cannot read {str(path)!r}. {rule}")
        assert str(raised.value).count(str(path)) == 1


@pytest.mark.usefixtures("x64_off")
def test_columns_of_64_bits_are_named_with_their_file(tmp_path):
    path = str(tmp_path / "rows.parquet")
    pq.write_table(pa.table({"x": [1]}), path)
    rule = "JaxFrame: values of 64 bits need JAX's x64 mode, got int64 in 'x'"
    with pytest.raises(TypeError, match=rf"^read_parquet: cannot read '{re.escape(path)}'. {rule}"):
        read_parquet(path)


def test_a_flipped_bit_of_a_page_is_found(path):
    data = bytearray(Path(path).read_bytes())
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    data[chunk.data_page_offset + chunk.total_compressed_size // 2 % 100 + 40] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(OSError, match="read_parquet: cannot read"):
        read_parquet(path)


def test_a_filter_of_an_unknown_column_blames_the_filter(path):
    with pytest.raises(pa.ArrowInvalid, match="No match for FieldRef"):
        read_parquet(path, filters=[("z", ">", 1)])


def with_offsets(offsets):
    data = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcdef")]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, data)


@pytest.mark.parametrize(
    "column",
    [
        with_offsets([0, 1, 2**30, 3]),
        with_offsets([0, 4, 1, 6]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 9]), pa.array(["a", "b"]), safe=False),
        pa.DictionaryArray.from_arrays(pa.array([0, -1, 1]), pa.array(["a", "b"]), safe=False),
        pa.DictionaryArray.from_arrays(pa.array([0, 0]), with_offsets([0, 9, 2]), safe=False),
    ],
)
def test_arrow_data_with_wrong_positions_raises(column):
    table = pa.table({"x": column})
    for make, caller in (
        (JaxFrame, "JaxFrame"),
        (from_arrow, "from_arrow"),
        (lambda table: scan_arrow(table).collect(), "scan_arrow"),
    ):
        with pytest.raises(
            ValueError, match=f"{caller}: column 'x' of the Arrow data is malformed"
        ):
            make(table)


def test_two_columns_of_one_name_raise():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])
    with pytest.raises(ValueError, match="JaxFrame: the names of columns must differ, got 'x'"):
        JaxFrame(table)


def test_sound_slices_are_read():
    column = pa.array(["a", "bb", None, "ccc", "", "d"])
    table = pa.table({"x": column, "c": column.dictionary_encode()}).slice(1, 4)
    frame = JaxFrame(table)
    expected = ["bb", None, "ccc", ""]
    for name in ("x", "c"):
        found = frame[name].to_pandas().astype(object)
        assert found.where(found.notna(), None).tolist() == expected


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"\xff",
        b"[]",
        b'{"index_columns": []}',
        b'{"index_columns": ["z"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "name": null, "start": "0", "stop": 2, "step": 1}], '
        b'"columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 2, '
        b'"step": 99999999999999999999}], "columns": [], "column_indexes": []}',
    ],
)
def test_malformed_metadata_of_pandas_raise(metadata):
    table = pa.table({"x": [1, 2]}).replace_schema_metadata({b"pandas": metadata})
    with pytest.raises(ValueError, match="pandas' metadata of the Arrow schema are malformed"):
        JaxFrame(table)


def test_sound_metadata_of_pandas_are_read():
    for index in (None, pd.Index([5, 7], name="k"), pd.RangeIndex(3, 7, 2)):
        frame = pd.DataFrame({"x": [1, 2]}, index=index)
        pd.testing.assert_frame_equal(JaxFrame(pa.Table.from_pandas(frame)).to_pandas(), frame)
