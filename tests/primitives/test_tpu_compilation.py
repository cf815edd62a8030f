# SPDX-License-Identifier: Apache-2.0
"""A sort and a pipeline compile ahead of time for slices of TPU v5e, in memory that does not grow.

The TPU compiler comes with the extra `tpu-aot`.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None,
    reason="the TPU compiler is not installed: pip install 'jaxframes[tpu-aot]'",
)

FOLDER = Path(__file__).parent
TOPOLOGIES = {8: "v5e:2x4", 64: "v5e:8x8", 256: "v5e:16x16"}


def used_by(script, num_chips):
    """What a script prints about a program compiled for this many chips."""
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "TPU_ACCELERATOR_TYPE": "v5litepod-8",
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_SKIP_MDS_QUERY": "1",
        # The workers of pytest may compile at the same time.
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    }
    process = subprocess.run(
        [sys.executable, str(FOLDER / script), TOPOLOGIES[num_chips]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    used = json.loads(process.stdout.splitlines()[-1])
    assert used["chips"] == num_chips
    return used


@pytest.mark.parametrize("num_chips", TOPOLOGIES)
def test_sort_compiles_for_tpu(num_chips):
    used = used_by("compile_for_tpu.py", num_chips)
    # Two hops keep two matrices of blocks, with room for half a row for each shard in each block;
    # the bound is the same for every slice.
    assert used["temporary_bytes"] <= 6 * used["argument_bytes"]
    names = [name for _, name in used["collectives"]]
    assert "all-to-all" in names
    for shape, name in used["collectives"]:
        if name == "all-gather":
            sizes = [int(size) for size in shape[:-1].partition("[")[2].split(",") if size]
            assert all(size < 2**16 for size in sizes), shape


def test_pipeline_compiles_for_tpu():
    used = used_by("compile_pipeline_for_tpu.py", 8)
    few, many = used["4"], used["64"]
    assert few["collectives"] == many["collectives"] == ["collective-permute"]
    assert many["temporary_bytes"] <= 1.05 * few["temporary_bytes"]
