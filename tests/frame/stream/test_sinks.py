# SPDX-License-Identifier: Apache-2.0
"""Files of a stream appear when they are complete; faults name the file and leave nothing."""

import errno
import os
import signal
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col, from_pandas, read_parquet, scan_csv, scan_parquet
from jaxframes.frame.stream import _parts, _sinks

FRAME = pd.DataFrame(
    {"x": np.arange(200) % 7, "y": np.arange(200) / 4, "s": np.arange(200).astype(str)}
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=50)
    return path


@pytest.fixture
def interruptible():
    """A process that a shell starts in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_the_table_that_is_encoded():
    schema, steps = pa.schema([("x", pa.int64())]), []
    is_given, may_end = threading.Event(), threading.Event()

    class Writer:
        def __init__(self):
            self.schema = schema

        def write_table(self, table):
            is_given.wait()
            # A signal, which ends the wait of the main thread at once.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            may_end.wait()
            steps.append("written")

    def write():
        with _sinks._Encoder(Writer()) as encoder:
            encoder.write(schema.empty_table())
            # Ends the encoding some time after the interrupt.
            threading.Timer(0.5, may_end.set).start()
            is_given.set()

    with pytest.raises(KeyboardInterrupt):
        write()
    assert steps == ["written"]


def test_to_parquet_writes_the_rows_and_their_labels(file, tmp_path):
    plan, target = scan_parquet(file), tmp_path / "out.parquet"
    plan.assign(z=plan.y * 2).to_parquet(target, batch_rows=60)
    expected = FRAME.assign(z=FRAME.y * 2)
    assert_same(read_parquet(target), expected)
    pd.testing.assert_frame_equal(pd.read_parquet(target), expected)
    assert pq.ParquetFile(target).num_row_groups == 4
    plan[plan.x == 3].to_parquet(target, batch_rows=60)
    pd.testing.assert_frame_equal(pd.read_parquet(target), FRAME[FRAME.x == 3])
    plan[plan.x == 3].to_parquet(target, batch_rows=60, index=False, compression="zstd")
    assert_same(read_parquet(target), FRAME[FRAME.x == 3].reset_index(drop=True))
    plan[plan.x > 99].to_parquet(target, batch_rows=60)
    assert_same(read_parquet(target).reset_index(drop=True), FRAME[:0])
    plan.groupby("x").sum(numeric_only=True).to_parquet(target, batch_rows=60)
    pd.testing.assert_frame_equal(
        pd.read_parquet(target), FRAME.groupby("x").sum(numeric_only=True)
    )
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "rows.parquet"]


def test_to_csv_writes_one_header(file, tmp_path):
    plan, target = scan_parquet(file), tmp_path / "out.csv"
    plan[plan.x > 2].to_csv(target, batch_rows=60, index=False)
    assert target.read_text() == from_pandas(FRAME)[FRAME.x > 2].to_csv(index=False)


def broken(tmp_path, name):
    """Two files, the second one at fault."""
    pieces = [FRAME[:100], FRAME[100:]]
    paths = [tmp_path / f"part{number}.parquet" for number in range(2)]
    for path, piece in zip(paths, pieces, strict=True):
        piece.reset_index(drop=True).to_parquet(path)
    plan = scan_parquet([str(path) for path in paths])
    second, contents = paths[1], paths[1].read_bytes()
    match name:
        case "truncated":
            second.write_bytes(contents[:300])
        case "corrupted":
            middle = len(contents) // 8
            second.write_bytes(contents[:middle] + b"\xff" * 400 + contents[middle + 400 :])
        case "vanished":
            second.unlink()
        case "drift":
            piece = pieces[1].astype({"x": "float64"})
            piece.to_parquet(second)
        case "lacks a column":
            pieces[1][["y", "s"]].to_parquet(second)
    return plan


@pytest.mark.parametrize("fault", ["truncated", "corrupted", "vanished", "drift", "lacks a column"])
def test_faults_name_the_file_and_leave_nothing(fault, tmp_path):
    plan = broken(tmp_path, fault)
    target = tmp_path / "out.parquet"
    target.write_bytes(b"old")
    with pytest.raises((OSError, TypeError), match=r"^(stream|scan_parquet): .*part1\.parquet"):
        plan.to_parquet(target, batch_rows=40)
    assert target.read_bytes() == b"old"
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    with pytest.raises((OSError, TypeError), match=r"part1\.parquet"):
        plan.collect(batch_rows=40)
    with pytest.raises((OSError, TypeError), match=r"part1\.parquet"):
        plan.to_parquet(tmp_path / "parts", batch_rows=40, max_rows_per_file=30)
    with pytest.raises((OSError, TypeError), match=r"part1\.parquet"):
        plan.to_csv(tmp_path / "out.csv", batch_rows=40)
    assert sorted(os.listdir(tmp_path)) in (
        ["out.parquet", "part0.parquet"], ["out.parquet", "part0.parquet", "part1.parquet"]
    )  # fmt: skip


def test_files_with_other_categories_raise(tmp_path):
    for number, letters in enumerate(["ab", "ac"]):
        frame = pd.DataFrame({"c": pd.Categorical(list(letters) * 20)})
        frame.to_parquet(tmp_path / f"{number}.parquet")
    plan = scan_parquet(tmp_path / "*.parquet")
    with pytest.raises(TypeError, match=r"column 'c'.*\['a', 'b'\] and \['a', 'c'\]"):
        plan.collect(batch_rows=30)
    alike = scan_parquet([tmp_path / "0.parquet"] * 2)
    expected = pd.DataFrame({"c": pd.Categorical(list("ab") * 40)})
    assert_same(alike.collect(batch_rows=30), expected)


def test_a_file_that_changes_between_batches(tmp_path):
    plan = broken(tmp_path, "nothing")
    stream = plan.batches(10, batch_rows=10)
    next(stream)
    FRAME.to_parquet(tmp_path / "part1.parquet")
    with pytest.raises(RuntimeError, match=r"part1\.parquet.*has changed"):
        list(stream)


@pytest.mark.parametrize("fault", ["changed", "vanished"])
def test_a_file_at_fault_while_a_folder_is_written(fault, tmp_path, monkeypatch):
    plan, folder = broken(tmp_path, "nothing"), tmp_path / "out"
    plan.to_parquet(folder, batch_rows=10, partition_cols=["x"])
    before = sorted(path for path in folder.rglob("*.parquet"))
    second, write = tmp_path / "part1.parquet", _parts.Parts.write

    def late(self, table):
        if fault == "changed":
            FRAME.to_parquet(second)
        else:
            second.unlink(missing_ok=True)
        write(self, table)

    monkeypatch.setattr(_parts.Parts, "write", late)
    with pytest.raises((OSError, RuntimeError), match=rf"part1\.parquet' has (been )?{fault}"):
        plan.to_parquet(folder, batch_rows=10, partition_cols=["x"])
    assert sorted(path for path in folder.rglob("*.parquet")) == before
    assert sorted(read_parquet(folder).y.tolist()) == FRAME.y.tolist()


def test_a_full_disk_names_the_target(file, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    target = tmp_path / "out.parquet"
    with pytest.raises(OSError, match=r"No space left.*out\.parquet"):
        scan_parquet(file).to_parquet(target, batch_rows=60)
    assert os.listdir(tmp_path) == ["rows.parquet"]


def test_a_csv_with_a_bad_line_names_the_file(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("x,y\n" + "1,2\n" * 400_000 + "1,2,3\n")
    with pytest.raises(OSError, match=r"bad\.csv"):
        scan_csv(path).y.sum().collect(batch_rows=200_000)


def test_a_folder_is_no_target(file, tmp_path):
    with pytest.raises(IsADirectoryError, match="Give the name of a file"):
        scan_parquet(file).to_parquet(tmp_path, batch_rows=60)


def test_batches_have_the_types_of_all_rows(tmp_path):
    path = tmp_path / "missing.parquet"
    pq.write_table(pa.table({"x": [1] * 100 + [None] * 100}), path)
    scan_parquet(path).fillna(0.5).to_parquet(tmp_path / "out.parquet", batch_rows=100)
    assert pd.read_parquet(tmp_path / "out.parquet").x.tolist() == [1.0] * 100 + [0.5] * 100


def test_other_libraries_read_plans_as_arrow(monkeypatch):
    monkeypatch.setattr("jaxframes.frame.stream._streams.ARROW_ROWS", 3)
    frame = JaxFrame({"a": np.arange(10), "s": list("abcdefghij")})
    plans = (
        frame.lazy(),
        frame.lazy().filter(col("a") > 3).reset_index(drop=True),
        frame.lazy().filter(col("a") > 30),
        frame.lazy().groupby("s").sum(),
        frame.lazy().sort_values("a", ascending=False),
    )
    for plan in plans:
        found = pa.RecordBatchReader.from_stream(plan).read_all()
        pd.testing.assert_frame_equal(found.to_pandas(), plan.collect().to_pandas())


def test_objects_of_strings_in_one_batch_and_numbers_in_another(tmp_path):
    frame = pd.DataFrame({"s": ["a", "b"] * 6, "x": range(12)})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=4)
    plan = scan_parquet(tmp_path / "rows.parquet").assign(o=col("s").where(col("x") < 4, 5))
    message = r"objects of column 'o' must be of one type, got int64 and .*string.*astype\('str'\)"
    with pytest.raises(NotImplementedError, match=message):
        plan.to_parquet(tmp_path / "out.parquet", batch_rows=4)
    assert_same(plan.collect(batch_rows=4), frame.assign(o=frame.s.where(frame.x < 4, 5)))
