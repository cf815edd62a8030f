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
