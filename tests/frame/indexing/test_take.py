# SPDX-License-Identifier: Apache-2.0
"""take."""

import jax
import jax.numpy as jnp
import numpy as np
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "s"]]


def test_a_permutation_and_its_inverse_give_the_rows_back():
    order = np.random.default_rng(0).permutation(37)
    ours = on_device(FRAME)
    assert_same(ours.take(order), FRAME.take(order))
    assert_same(ours.take(order).take(np.argsort(order)), FRAME)


def test_rows_may_come_again_and_be_counted_from_the_end():
    def taken(f):
        return f.take([0, 0, 36, -37, -1]), f.s.take([2]), f.take([]), f[:1].take([0, -1, 0])

    assert_parity(taken, FRAME, ways=["eager"])


def test_places_may_be_an_array_inside_jit():
    places = np.array([5, -1, 5, 0])
    taken = jax.jit(lambda f, at: f.take(at))(on_device(FRAME), jnp.asarray(places))
    assert_same(taken, FRAME.take(places))


def test_wrong_places():
    assert_same_error(lambda f: f.take([37]), FRAME)
    assert_same_error(lambda f: f.take([-38]), FRAME)
    assert_same_error(lambda s: s[:0].take([0]), FRAME["k"])
    assert_same_error(lambda f: f.take(["a"]), FRAME)
