# SPDX-License-Identifier: Apache-2.0
"""Random operations on frames of random lengths in one process, and what the process holds.

    python many_calls.py NUM_CALLS NUM_DEVICES

prints as JSON, for each tenth of the calls, the number of memory maps, the resident bytes, and the
number of compiled programs that are kept; and how many of these may be kept.
"""

import json
import os
import pathlib
import sys
import warnings

import jax
import numpy as np
from frame_operations import OPERATIONS
from frame_strategies import special_frame
from jaxframes.frame import JaxFrame
from jaxframes.primitives.tiers import _recent
from jaxframes.shardings import make_mesh, row_sharded

MOST_ROWS = 20_000
SEED = 20
# Wrong for some frames in pandas too, or not for those on a mesh.
REFUSALS = (ValueError, TypeError, KeyError, IndexError, NotImplementedError, ArithmeticError)


def held() -> dict[str, int]:
    """What the process holds now."""
    maps = pathlib.Path("/proc/self/maps").read_text().count("\n")
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    num_bytes = pages * os.sysconf("SC_PAGE_SIZE")
    return {"maps": maps, "resident": num_bytes, "programs": len(_recent.compiled_entries)}


def call_operations(num_calls: int, num_devices: int) -> dict[str, object]:
    """Calls operations, and tells what the process holds after each tenth of them."""
    rng = np.random.default_rng(SEED)
    operations = list(OPERATIONS.values())
    sharding = row_sharded(make_mesh(num_devices)) if num_devices > 1 else None
    after, num_answers = [], 0
    for number in range(1, num_calls + 1):
        operation = operations[rng.integers(len(operations))]
        size = int(np.exp(rng.uniform(0, np.log(MOST_ROWS))))
        sides = [
            JaxFrame(special_frame(operation.columns, size, number + side), sharding=sharding)
            for side in range(operation.num_frames)
        ]
        try:
            jax.block_until_ready(operation.run(*sides))
            num_answers += 1
        except REFUSALS:
            pass
        if number % (num_calls // 10) == 0:
            after.append(held())
    return {"after": after, "most": _recent.most_compiled(), "answers": num_answers}


if __name__ == "__main__":
    num_calls, num_devices = map(int, sys.argv[1:])
    jax.config.update("jax_num_cpu_devices", num_devices)
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    print(json.dumps(call_operations(num_calls, num_devices)))
