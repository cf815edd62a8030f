# SPDX-License-Identifier: Apache-2.0
"""The CNN of the how-to guides: one loss on each mesh, in microbatches, resumed and in 16 bits."""

import digits
import jax
import jax.numpy as jnp
import mixed_precision
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from jaxframes import shardings
from jaxframes.primitives import staging

pytestmark = pytest.mark.usefixtures("x64_off", "promotion_of_optax")

step = staging.compiled_step(digits.train_step, static="microbatches")
mixed_step = staging.compiled_step(mixed_precision.train_step, static="dtype")


@pytest.fixture
def promotion_of_optax():
    """Optax raises a float to an integer power, and flax adds vectors to matrices."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def batch_on(mesh, number):
    batch = digits.batch_of_step(number)
    return shardings.place(batch, mesh, shardings.batch_specs(batch, "rows"))


def train(num_devices, steps, microbatches=1, state=None):
    mesh = shardings.make_mesh(num_devices)
    state = shardings.place(state or digits.new_state(), mesh, P())
    losses = []
    for number in range(int(state["step"]), steps):
        state, metrics = step(state, batch_on(mesh, number), microbatches)
        losses.append(staging.to_host(metrics)["loss"])
    return state, np.array(losses)


def test_digits_are_the_same_each_time_and_readable():
    batch = digits.batch_of_step(3)
    again = digits.batch_of_step(3)
    jax.tree.map(np.testing.assert_array_equal, batch, again)
    assert set(batch["label"]) == set(range(10))
    # Each image has the pixels of its glyph, but for the noise.
    num_pixels = np.array([glyph.count("1") for glyph in digits.GLYPHS])[batch["label"]]
    image_sums = batch["image"].sum((1, 2, 3))
    assert np.abs(image_sums - num_pixels).max() < 5 * digits.NOISE * 8


def test_losses_of_one_and_four_devices_and_of_microbatches():
    _, on_one = train(1, 3)
    _, on_four = train(4, 3)
    _, in_microbatches = train(4, 3, microbatches=4)
    np.testing.assert_allclose(on_four, on_one, rtol=0, atol=1e-5)
    np.testing.assert_allclose(in_microbatches, on_four, rtol=0, atol=1e-5)


def test_a_restored_state_goes_on_bitwise(tmp_path):
    whole, losses = train(4, 3)
    halfway, _ = train(4, 2)
    shardings.save(tmp_path, halfway, 2)
    on_mesh = shardings.place(digits.new_state(), shardings.make_mesh(4), P())
    resumed, last = train(4, 3, state=shardings.restore(tmp_path, on_mesh))
    np.testing.assert_array_equal(last, losses[2:])
    jax.tree.map(np.testing.assert_array_equal, resumed, whole)


def test_sixteen_bits_follow_float32_and_overflow_changes_the_scale_alone():
    state, (_, expected) = digits.new_state(), train(1, 3)
    state |= {"scale": mixed_precision.LossScale(jnp.float32(2.0**40), jnp.int32(7))}
    overflowed, metrics = mixed_step(state, digits.batch_of_step(0), "float16")
    assert not metrics["is_finite"]
    scale = overflowed.pop("scale")
    assert (float(scale.factor), int(scale.num_steps)) == (2.0**39, 0)
    jax.tree.map(np.testing.assert_array_equal, overflowed, digits.new_state())

    state = overflowed | {"scale": mixed_precision.LossScale(jnp.float32(2.0**10), jnp.int32(18))}
    losses = []
    for number in range(3):
        state, metrics = mixed_step(state, digits.batch_of_step(number), "float16")
        losses.append(float(metrics["loss"]))
    np.testing.assert_allclose(losses, expected, rtol=0.01)
    # The second of these steps was the twentieth without an overflow.
    assert (float(state["scale"].factor), int(state["scale"].num_steps)) == (2.0**11, 1)
