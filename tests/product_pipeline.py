# SPDX-License-Identifier: Apache-2.0
"""A pipeline whose stages multiply by a number each, and its derivatives by hand."""

import jax.numpy as jnp
import numpy as np

FACTORS = np.array([1.5, -2.0])
INPUTS = np.array([[1.0, 3.0], [0.5, -1.0], [2.0, 2.0], [4.0, -3.0], [0.0, 1.0]])
TARGETS = np.array([[1.0, 0.0], [2.0, -1.0], [-3.0, 5.0], [1.0, 1.0], [0.0, 4.0]])


def multiply(factor, x):
    return x * factor


def loss(factor, y, target):
    del factor
    return jnp.mean((y - target) ** 2)


def of_stages(num_microbatches=5):
    """The stacked factors, and the microbatches, which every stage gets."""
    batch = INPUTS[:num_microbatches], TARGETS[:num_microbatches]
    return FACTORS[:, None], *(np.stack([part] * len(FACTORS)) for part in batch)


def expected(num_microbatches=5):
    """The mean loss, and its derivative by each factor."""
    x, target = INPUTS[:num_microbatches], TARGETS[:num_microbatches]
    error = FACTORS.prod() * x - target
    gradients = [(2 * error * x * other).mean() for other in FACTORS[::-1]]
    return np.square(error).mean(), gradients
