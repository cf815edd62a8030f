# SPDX-License-Identifier: Apache-2.0
"""Images of digits made by a script, a small CNN that reads them, and its training step."""

from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from jaxframes.primitives import staging

# Seven rows of five pixels each.
GLYPHS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
IMAGE_SHAPE = (8, 8, 1)
NOISE = 0.3
OPTIMIZER = optax.adam(5e-3)

Batch: TypeAlias = dict[str, Any]
State: TypeAlias = dict[str, Any]


def batch_of_step(step: int, num_images: int = 64) -> Batch:
    """Images and labels, the same for each run: glyphs at random places, with noise."""
    rng = np.random.default_rng(step)
    pixels = np.array([[list(row) for row in glyph.split()] for glyph in GLYPHS], np.float32)
    labels = rng.integers(0, len(GLYPHS), num_images, dtype=np.int32)
    images = rng.normal(0, NOISE, (num_images, *IMAGE_SHAPE)).astype(np.float32)
    height, width = pixels.shape[1:]
    tops = rng.integers(0, IMAGE_SHAPE[0] - height + 1, num_images)
    lefts = rng.integers(0, IMAGE_SHAPE[1] - width + 1, num_images)
    for image, label, top, left in zip(images, labels, tops, lefts, strict=True):
        image[top : top + height, left : left + width, 0] += pixels[label]
    return {"image": images, "label": labels}


class CNN(nn.Module):
    """Two convolutions and a dense layer, which compute in `dtype`. Parameters are float32."""

    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """The logits of the ten digits, as float32."""
        h = images
        for features, stride in ((8, 1), (16, 2)):
            h = nn.relu(nn.Conv(features, (3, 3), strides=stride, dtype=self.dtype)(h))
        h = h.reshape(h.shape[0], -1)
        return nn.Dense(len(GLYPHS), dtype=self.dtype)(h).astype(jnp.float32)


def mean_loss(params: Any, batch: Batch, dtype: Any = jnp.float32) -> tuple[jax.Array, jax.Array]:
    """Mean cross entropy and accuracy of a batch."""
    logits: Any = CNN(dtype).apply({"params": params}, batch["image"])
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"])
    is_right = logits.argmax(axis=-1) == batch["label"]
    return losses.mean(), is_right.astype(jnp.float32).mean()


def new_state() -> State:
    """Parameters, state of the optimizer, and the number of steps taken."""
    params = CNN().init(jax.random.key(0), jnp.zeros((1, *IMAGE_SHAPE)))["params"]
    return {"params": params, "optimizer": OPTIMIZER.init(params), "step": jnp.int32(0)}


def train_step(state: State, batch: Batch, microbatches: int) -> tuple[State, dict[str, jax.Array]]:
    """The state after one batch, and the metrics of the step."""
    gradient_of = jax.value_and_grad(mean_loss, has_aux=True)
    (loss, accuracy), gradients = staging.accumulate(
        gradient_of, state["params"], batch, microbatches
    )
    updates, optimizer = OPTIMIZER.update(gradients, state["optimizer"])
    params = optax.apply_updates(state["params"], updates)
    state = {"params": params, "optimizer": optimizer, "step": state["step"] + 1}
    norm = optax.tree.norm(gradients)
    return state, {"step": state["step"], "loss": loss, "accuracy": accuracy, "gradient": norm}
