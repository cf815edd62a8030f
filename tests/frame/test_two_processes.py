# SPDX-License-Identifier: Apache-2.0
"""A frame over two processes of two CPU devices each."""

import pandas as pd
from frame_examples import mixed_frame
from two_processes import run_both

SCRIPT = """
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
    run_both(SCRIPT.format(folder=str(tmp_path)))
    files = sorted((tmp_path / "out").iterdir())
    written = pd.concat([pd.read_parquet(file) for file in files])
    expected = frame[frame["i"] > -500].sort_values(["s", "i"])
    pd.testing.assert_frame_equal(written, expected)
    assert len(files) > 1
