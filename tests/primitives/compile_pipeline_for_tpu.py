# SPDX-License-Identifier: Apache-2.0
"""Compiles a pipeline of 8 stages for a TPU v5e topology on any machine, and prints what it uses.

Run by `test_tpu_compilation`, in a process of its own: the TPU compiler reads the environment.
"""

import json
import os
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec
from jaxframes.primitives import collective

WIDTH = 256
ROWS = 64


def used_by(mesh: jax.sharding.Mesh, num_microbatches: int) -> dict[str, object]:
    def of_shard(params, xs, ts):
        result = collective.pipeline_1f1b(
            lambda w, x: jnp.tanh(x @ w), lambda w, y, t: ((y - t) ** 2).mean(), axis_name="stage"
        )(params, xs, ts)
        return result.loss[None], result.gradients

    by_stage, replicated = PartitionSpec("stage"), PartitionSpec()
    run = jax.shard_map(
        of_shard, mesh=mesh, in_specs=(by_stage, replicated, replicated), out_specs=by_stage
    )

    def array(shape, spec):
        return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, spec))

    params = array((mesh.size, WIDTH, WIDTH), by_stage)
    batch = array((num_microbatches, ROWS, WIDTH), replicated)
    compiled = jax.jit(run).lower(params, batch, batch).compile()
    messages = "all-to-all|all-gather|all-reduce|reduce-scatter|collective-permute"
    return {
        "temporary_bytes": compiled.memory_analysis().temp_size_in_bytes,
        "collectives": sorted(set(re.findall(rf" ({messages})(?:-start)?\(", compiled.as_text()))),
    }


def main(topology: str) -> None:
    devices = topologies.get_topology_desc(topology, "tpu").devices
    mesh = jax.sharding.Mesh(np.array(devices), ("stage",))
    print(json.dumps({"chips": mesh.size, **{str(m): used_by(mesh, m) for m in (4, 64)}}))


if __name__ == "__main__":
    os.environ.setdefault("JAXFRAMES_KERNELS", "xla")
    main(sys.argv[1])
