# SPDX-License-Identifier: Apache-2.0
"""Loss and gradients over the stages of a pipeline."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from jaxframes import shardings
from jaxframes.primitives import collective

from .measuring import axis, compiled, temporary_bytes, use_devices

NUM_STAGES = 4
ROWS = 64
WIDTH = 256
PIPELINES = {
    "1f1b": collective.pipeline_1f1b,
    "1f1b_kept": functools.partial(collective.pipeline_1f1b, remat=False),
    "gpipe": collective.pipeline_gpipe,
}


def layer(w, x):
    """A stage."""
    return jnp.tanh(x @ w)


def loss(w, y, t):
    """The loss of one microbatch."""
    return ((y - t) ** 2).mean()


def without_pipeline(params, xs, ts):
    """Loss and gradients of all stages on one device, by accumulation over the microbatches."""

    def of_batch(params, x, t):
        return loss(None, functools.reduce(lambda x, w: layer(w, x), params, x), t)

    def add(total, batch):
        return jax.tree.map(jnp.add, total, jax.value_and_grad(of_batch)(params, *batch)), None

    zero = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
    return jax.lax.scan(add, zero, (xs, ts))[0]


@functools.lru_cache(maxsize=1)
def step_and_arguments(microbatches, schedule):
    """The compiled step and its arguments, after one run."""
    use_devices(NUM_STAGES)
    rng = np.random.default_rng(0)
    xs, ts = rng.standard_normal((2, microbatches, ROWS, WIDTH)).astype(np.float32)
    weights = rng.standard_normal((NUM_STAGES, WIDTH, WIDTH)).astype(np.float32) / WIDTH**0.5
    if schedule == "one_device":
        arguments = (list(weights), xs, ts)
        run = compiled(without_pipeline, *arguments)
    else:

        def of_shard(params, xs, ts):
            made = PIPELINES[schedule](layer, loss, axis_name="stage")(params, xs, ts)
            return made.loss[None], made.gradients

        by_stage, replicated = PartitionSpec("stage"), PartitionSpec()
        mapped = jax.shard_map(
            of_shard,
            mesh=shardings.make_mesh(NUM_STAGES, "stage"),
            in_specs=(by_stage, replicated, replicated),
            out_specs=by_stage,
        )
        arguments = (weights, xs, ts)
        run = compiled(mapped, *arguments)
    jax.block_until_ready(run(*arguments))
    return run, arguments


class Pipeline:
    """What does each schedule cost in time and memory as a batch is cut into more microbatches?

    The CPU devices share the cores, so the total work decides the time, not the bubble.
    """

    params = (axis(4, 64), axis("1f1b", "1f1b_kept", "gpipe", "one_device"))
    param_names = ("microbatches", "schedule")

    def setup(self, microbatches, schedule):
        self.run, self.args = step_and_arguments(microbatches, schedule)

    def time_step(self, microbatches, schedule):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, microbatches, schedule):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
