# SPDX-License-Identifier: Apache-2.0
"""Compiles a sort for a TPU v5e topology on any machine, and prints what the program uses.

Run by `test_tpu_compilation`, in a process of its own: the TPU compiler reads the environment.
"""

import json
import os
import re
import sys

import jax
import numpy as np
from jax.experimental import topologies
from jaxframes import primitives, shardings

ROWS_PER_CHIP = 2**16


def main(topology: str) -> None:
    devices = topologies.get_topology_desc(topology, "tpu").devices
    mesh = jax.sharding.Mesh(np.array(devices), ("rows",))
    by_row = shardings.row_sharded(mesh)
    num_rows = len(devices) * ROWS_PER_CHIP
    keys = jax.ShapeDtypeStruct((num_rows,), "int32", sharding=by_row)
    values = jax.ShapeDtypeStruct((num_rows,), "float32", sharding=by_row)
    sort = jax.jit(lambda keys, values: primitives.radix_sort(keys, mesh, values=values))
    compiled = sort.lower(keys, values).compile()
    memory = compiled.memory_analysis()
    used = {
        "chips": len(devices),
        "argument_bytes": memory.argument_size_in_bytes,
        "temporary_bytes": memory.temp_size_in_bytes,
        "collectives": sorted(
            re.findall(
                r"= \(?(\w+\[[\d,]*\])\S* .*?\b(all-to-all|all-gather|all-reduce)",
                compiled.as_text(),
            )
        ),
    }
    print(json.dumps(used))


if __name__ == "__main__":
    os.environ.setdefault("JAXFRAMES_KERNELS", "xla")
    main(sys.argv[1])
