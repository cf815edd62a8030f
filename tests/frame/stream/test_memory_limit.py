# SPDX-License-Identifier: Apache-2.0
"""A stream's resident memory, above that of an idle process, stays under its limit."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jaxframes.frame import scan_parquet
from jaxframes.frame.stream._limits import as_bytes, rows_of_batches

LIMIT = "288MiB"
NUM_ROWS = 2_500_000

QUERIES = {
    "groups with a hot key": "plan.groupby('hot').x.sum().to_frame()",
    "sort": "plan.sort_values('x')",
    "distinct": "plan[['k']].drop_duplicates()",
    "join of files with a hot key": (
        "plan[['hot', 'x']].merge(scan_parquet(sys.argv[1].replace('rows', 'right')), "
        "left_on='hot', right_on='k').groupby('w').x.sum().to_frame()"
    ),
    # A batch has 43,690 rows.
    "join with a right side of four batches": (
        "plan[['k', 'x']].merge(scan_parquet(sys.argv[1].replace('rows', 'right'))"
        "[lambda f: f.k < 174_000], on='k', how='left')"
    ),
}

SCRIPT = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
from jaxframes.frame import JaxFrame, scan_parquet

def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

JaxFrame({"x": [1.0, 2.0]}).x.sum()
idle = memory("VmRSS")
plan = scan_parquet(sys.argv[1])
QUERY.to_parquet(sys.argv[2], memory_limit=sys.argv[3])
print(json.dumps(memory("VmHWM") - idle))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of 60 MB in one row group, larger than any batch."""
    rng = np.random.default_rng(31)
    k = rng.integers(0, NUM_ROWS // 2, NUM_ROWS)
    table = pa.table(
        {"k": k, "hot": np.where(rng.random(NUM_ROWS) < 0.5, 7, k), "x": rng.normal(size=NUM_ROWS)}
    )
    path = tmp_path_factory.mktemp("memory") / "rows.parquet"
    pq.write_table(table, path, compression="none", row_group_size=NUM_ROWS)
    keys = rng.permutation(NUM_ROWS // 2)
    right = pa.table({"k": keys, "w": keys % 97})
    pq.write_table(right, path.with_name("right.parquet"), compression="none")
    return path


@pytest.mark.parametrize("name", QUERIES)
def test_the_peak_stays_under_the_limit(name, path, tmp_path):
    script = SCRIPT.replace("QUERY", QUERIES[name])
    command = [sys.executable, "-c", script, path, tmp_path / "out.parquet", LIMIT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) < as_bytes(LIMIT)


def test_the_rows_of_a_batch_follow_from_the_limit(path):
    scan = scan_parquet(path)._plan
    # Three columns of 8 bytes.
    assert rows_of_batches([scan], None, "1GiB") == (2**30 - 224 * 2**20) // (64 * 24)
    assert rows_of_batches([scan] * 2, None, "1GiB") == (2**30 - 224 * 2**20) // (96 * 24)
    assert rows_of_batches([scan], None, "1MiB") == 1024
