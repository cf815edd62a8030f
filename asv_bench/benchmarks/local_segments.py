# SPDX-License-Identifier: Apache-2.0
"""One device's segments, whose rows lie in no order: order statistics, scans, shifts, softmax."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

from .implementations import prepared_for
from .measuring import axis, use_devices, waiting_call
from .segment_implementations import NUM_SEGMENTS

IMPLEMENTATIONS = axis("jaxframes", "pandas", "polars")


class UnsortedSegments:
    """How long do the ops take that sort 1000 segments first?"""

    params = (
        axis(
            "segment_quantile",
            "segment_nunique",
            "segment_rank",
            "segment_shift",
            "segmented_scan of unsorted ids",
        ),
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        IMPLEMENTATIONS,
    )
    param_names = ("operation", "rows", "distribution", "implementation")

    def setup(self, operation, rows, distribution, implementation):
        self.run = prepared_for(operation, implementation, rows, "float64", distribution)

    def time_operation(self, operation, rows, distribution, implementation):
        self.run()


def softmax(x, segment_ids):
    """What code for graphs writes."""
    maxima = jax.ops.segment_max(x, segment_ids, NUM_SEGMENTS)
    terms = jnp.exp(x - maxima[segment_ids])
    return terms / jax.ops.segment_sum(terms, segment_ids, NUM_SEGMENTS)[segment_ids]


def logsumexp(x, segment_ids):
    maxima = jax.ops.segment_max(x, segment_ids, NUM_SEGMENTS)
    terms = jnp.exp(x - maxima[segment_ids])
    return maxima + jnp.log(jax.ops.segment_sum(terms, segment_ids, NUM_SEGMENTS))


def normalize(x, segment_ids):
    counts = jax.ops.segment_sum(jnp.ones_like(x), segment_ids, NUM_SEGMENTS)
    centred = x - (jax.ops.segment_sum(x, segment_ids, NUM_SEGMENTS) / counts)[segment_ids]
    variances = jax.ops.segment_sum(centred**2, segment_ids, NUM_SEGMENTS) / counts
    return centred * jax.lax.rsqrt(variances + 1e-5)[segment_ids]


def own(op):
    return lambda x, segment_ids: op(x, segment_ids, NUM_SEGMENTS)


NORMALIZED = {
    "jaxframes": {
        "softmax": own(local.segment_softmax),
        "logsumexp": own(local.segment_logsumexp),
        "normalize": own(local.segment_normalize),
    },
    "jnp": {"softmax": softmax, "logsumexp": logsumexp, "normalize": normalize},
}


class NormalizedSegments:
    """How long do softmax, logarithms of sums and normalisation of 1000 segments take?"""

    params = (axis(*NORMALIZED["jnp"]), axis(2**16, 1_000_000), axis(*NORMALIZED))
    param_names = ("operation", "rows", "implementation")

    def setup(self, operation, rows, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        x = rng.standard_normal(rows).astype(np.float32)
        segment_ids = rng.integers(0, NUM_SEGMENTS, rows).astype(np.int32)
        call = NORMALIZED[implementation][operation]
        self.run = waiting_call(call, *jax.device_put((x, segment_ids)))
        self.run()

    def time_operation(self, operation, rows, implementation):
        self.run()
