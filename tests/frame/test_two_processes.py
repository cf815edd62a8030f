# SPDX-License-Identifier: Apache-2.0
"""A frame over two processes of two CPU devices each."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import FAMILIES
from operation_parity import IS_LONG
from two_processes import TIMEOUT_SECONDS, run_both

READING = """
import pandas as pd
from jaxframes.frame import JaxFrame, read_parquet

sharding = shardings.row_sharded(mesh)
frame = read_parquet({folder!r} + "/in.parquet", sharding=sharding)
expected = pd.read_parquet({folder!r} + "/in.parquet")
pd.testing.assert_frame_equal(frame.to_pandas(), expected)
shards = frame._table.columns[0].data.addressable_shards
assert [shard.data.shape[0] * 4 for shard in shards] == [frame._table.capacity] * 2

kept = frame[frame["i"] > -500].sort_values(["s", "i"])
wanted = expected[expected["i"] > -500].sort_values(["s", "i"])
pd.testing.assert_frame_equal(kept.to_pandas(), wanted)

kept.to_parquet({folder!r} + "/out")
print("done", process_id)
"""


def test_each_process_reads_and_writes_its_own_rows(tmp_path):
    frame = mixed_frame(60)[["k", "i", "x", "s", "t"]].set_index("k")
    frame.to_parquet(tmp_path / "in.parquet", row_group_size=7)
    run_both(READING.format(folder=str(tmp_path)))
    files = sorted((tmp_path / "out").iterdir())
    written = pd.concat([pd.read_parquet(file) for file in files])
    expected = frame[frame["i"] > -500].sort_values(["s", "i"])
    pd.testing.assert_frame_equal(written, expected)
    assert len(files) > 1


OWN_ROWS = """
import pandas as pd
from jaxframes.frame import JaxFrame, read_csv
from jaxframes.frame.table import _to_host

sharding = shardings.row_sharded(mesh)


def whole_of(pieces, **settings):
    return pd.concat(pieces, **settings)


def check(pieces, expected):
    frame = JaxFrame.from_process_local(pieces[process_id], sharding=sharding)
    pd.testing.assert_frame_equal(frame.to_pandas(), expected)
    own = frame.process_rows()
    assert own.sharding is None
    half = min(len(expected), frame._table.capacity // 2)
    start, stop = ((0, half), (half, len(expected)))[process_id]
    pd.testing.assert_frame_equal(own.to_pandas(), expected.iloc[start:stop])
    return frame


def said(function):
    try:
        function()
    except (ValueError, NotImplementedError) as error:
        return str(error)


rng = np.random.default_rng(0)
rows = pd.DataFrame(
    {
        "i": rng.integers(0, 9, 100),
        "x": rng.random(100),
        "s": rng.choice(["b", "a", "c"], 100),
        "t": pd.date_range("2020", periods=100, freq="h"),
        "b": rng.random(100) < 0.5,
    }
)
rows.loc[::7, "s"] = None
rows["c"] = pd.Categorical.from_codes(rng.integers(0, 3, 100), ["z", "y", "x"])

# Ranges that follow each other; ranges from 0; other labels; strings of one process only.
check([rows[:70], rows[70:]], rows)
check([rows[:70].reset_index(drop=True), rows[70:].reset_index(drop=True)], rows)
check([rows[50:], rows[:50]], whole_of([rows[50:], rows[:50]]))
labelled = rows.assign(s=["first"] * 30 + ["second"] * 70).set_index("s")
check([labelled[:30], labelled[30:]], labelled)
# One process without rows, and both.
check([rows[:0], rows], rows)
check([rows, rows[:0]], rows)
check([rows[["i", "x"]][:0]] * 2, rows[["i", "x"]][:0])
# Categories of their own.
own_categories = [
    pd.DataFrame({"c": pd.Categorical(["q", "p"], ["q", "p"])}),
    pd.DataFrame({"c": pd.Categorical(["p", "r", None], ["r", "p"])}),
]
union = pd.DataFrame({"c": pd.Categorical(["q", "p", "p", "r", None], ["q", "p", "r"])})
check(own_categories, union)

# What the processes must agree on.
differing = "from_process_local: all processes must pass arrays of the same shapes and dtypes, got "
local = lambda pieces: JaxFrame.from_process_local(pieces[process_id], sharding=sharding)
for pieces, expected in (
    ([{"x": [1]}, {"x": [1.0]}], "column 'x': 'int64' in process 0 and 'float64' in process 1."),
    ([{"x": [1]}, {"y": [1]}], "column 'x': 'int64' in process 0 and none in process 1; "
     "column 'y': none in process 0 and 'int64' in process 1."),
):
    assert said(lambda: local(pieces)) == differing + expected, said(lambda: local(pieces))
objects = {"o": pd.Series([(1, 2), "a"], dtype=object)}
assert said(lambda: local([objects] * 2)) == (
    "from_process_local: several processes cannot share columns of objects. "
    "Leave them out, or convert them to strings."
), said(lambda: local([objects] * 2))

# Looking at a large frame moves 60 rows.
frame = JaxFrame.from_process_local({"x": np.arange(5000)}, sharding=sharding)
moved = []
copied = _to_host.host_array
for module in list(sys.modules.values()):
    if getattr(module, "host_array", None) is copied:
        module.host_array = lambda array: moved.append(np.size(array)) or copied(array)
assert len(frame) == 10000
text = repr(frame)
assert text.endswith("[10000 rows x 1 columns]"), text
assert moved and max(moved) <= 60, moved
moved.clear()
assert frame.head().to_pandas()["x"].tolist() == [0, 1, 2, 3, 4]
# The least capacity of a frame.
assert moved and max(moved) <= 64, moved

# Files of comma-separated values: each process reads and writes its own lines.
lines = rows[["i", "x", "s", "t"]].assign(late=[None] * 60 + [1.5] * 40, d=[*range(99), "last"])
path = {folder!r} + "/in.csv"
if process_id == 0:
    lines.to_csv(path, index=False)
jax.experimental.multihost_utils.sync_global_devices("written")
read = read_csv(path, sharding=sharding)
expected = read_csv(path).to_pandas()
pd.testing.assert_frame_equal(read.to_pandas(), expected)
assert expected["d"].iloc[-1] == "last" and expected["late"].isna().sum() == 60
read.to_csv({folder!r} + "/out", index=False)
"""


def test_frames_of_the_rows_of_each_process(tmp_path):
    run_both(
        "import sys\nimport jax.experimental.multihost_utils\n"
        + OWN_ROWS.replace("{folder!r}", repr(str(tmp_path)))
    )
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"part-0000{i}.csv" for i in range(len(files))]
    assert len(files) > 2
    strings = {"d": str}
    written = pd.concat([pd.read_csv(file, dtype=strings) for file in files], ignore_index=True)
    pd.testing.assert_frame_equal(written, pd.read_csv(tmp_path / "in.csv", dtype=strings))


COMPARING = """
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

from frame_operations import OPERATIONS
from frame_parity import on_device
from operation_parity import Compared, uneven_inputs

sharding = shardings.row_sharded(mesh)
for name in {names}:
    print(name, flush=True)
    compared = Compared(
        OPERATIONS[name], lambda inputs: [on_device(frame, sharding) for frame in inputs]
    )
    for inputs in uneven_inputs(OPERATIONS[name]):
        compared.check(inputs)
"""
# A few that move rows in different ways; the profile "long" compares all.
CHOSEN = {"few": ["mask", "sort_keys", "group_sum", "cumsum"]}
ALL = {name: [operation.name for operation in family] for name, family in FAMILIES.items()}


@pytest.mark.parametrize("family", ALL if IS_LONG else CHOSEN)
def test_each_process_has_the_answers_of_pandas(family):
    names = (ALL if IS_LONG else CHOSEN)[family]
    run_both(COMPARING.format(names=names), 1800 if IS_LONG else TIMEOUT_SECONDS)


MANY_ROWS = """
import pandas as pd
from jaxframes.frame import JaxFrame

NUM_ROWS, NUM_KEYS = {num_rows}, {num_rows} // 7
sharding = shardings.row_sharded(mesh)


def rows_of(start, stop):
    row = np.arange(start, stop)
    return pd.DataFrame({{"k": row * 2654435761 % NUM_KEYS, "x": row % 1000 * 0.5, "row": row}})


def own_half(make, num_rows):
    half = num_rows // 2
    return make(*((0, half), (half, num_rows))[process_id])


def num_bytes(frame):
    columns = [column.data for column in frame._table.columns]
    own = sum(shard.data.nbytes for data in columns for shard in data.addressable_shards)
    return own, sum(data.nbytes for data in columns)


def check(frame, expected):
    own, whole = num_bytes(frame)
    assert own * 2 == whole, (own, whole)
    half = min(len(expected), frame._table.capacity // 2)
    start, stop = ((0, half), (half, len(expected)))[process_id]
    pd.testing.assert_frame_equal(
        frame.process_rows().reset_index(drop=True).to_pandas(),
        expected.iloc[start:stop].reset_index(drop=True),
    )


frame = JaxFrame.from_process_local(own_half(rows_of, NUM_ROWS), sharding=sharding)
expected = rows_of(0, NUM_ROWS)
check(frame, expected)
sums_of = lambda rows: rows.groupby("k", as_index=False)["x"].sum()
check(sums_of(frame), sums_of(expected))
check(frame.sort_values("k", kind="stable"), expected.sort_values("k", kind="stable"))
quarters = lambda start, stop: pd.DataFrame({{"k": np.arange(start, stop)}}).assign(
    y=lambda rows: rows["k"] / 4
)
names = JaxFrame.from_process_local(own_half(quarters, NUM_KEYS), sharding=sharding)
check(frame.merge(names, on="k", how="left"), expected.assign(y=expected["k"] / 4))
print("done", process_id)
"""


def test_many_rows_over_two_processes():
    # Each has half of the rows and of every result, and together they have pandas' answer.
    num_rows = 20_000_000 if IS_LONG else 50_000
    run_both(MANY_ROWS.format(num_rows=num_rows), timeout_seconds=20 * TIMEOUT_SECONDS)
