# SPDX-License-Identifier: Apache-2.0
"""from_dummies."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import from_dummies, get_dummies


def decoded(data, *args, **options):
    return functions_for(data).from_dummies(data, *args, **options)


def dummies(num_rows=20, seed=0):
    rng = np.random.default_rng(seed)
    words = pd.DataFrame(
        {"k": rng.choice(["b", "a", "é"], num_rows), "kind": rng.choice(["x_y", "z"], num_rows)},
        index=pd.Index(rng.permutation(num_rows), name="row"),
    )
    return pd.get_dummies(words)


def test_labels_with_and_without_a_separator():
    frame = dummies()
    assert_parity(lambda f: decoded(f, sep="_"), frame, ways=["eager", "mesh"])
    assert_parity(lambda f: decoded(f, "_"), frame, ways=["mesh"], num_devices=4)
    one = frame[["k_b", "k_a", "k_é"]]
    assert_parity(decoded, one, ways=["eager"])
    assert_parity(decoded, one.set_axis([3, 1, 2], axis=1), ways=["eager"])
    assert_parity(lambda f: decoded(f, sep="_"), frame[:1], ways=["eager"])
    assert_parity(lambda f: decoded(f, sep="_"), frame[:0], ways=["eager"])


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64", "bool"])
def test_each_dtype(dtype):
    assert_parity(lambda f: decoded(f, sep="_"), dummies().astype(dtype), ways=["eager"])


def test_rows_without_a_flag():
    frame = dummies().drop(columns=["k_a", "kind_z"])
    for default in ("none", {"k": "other", "kind": "z"}, {"kind": "z", "k": "a"}):
        assert_parity(
            lambda f, d=default: decoded(f, sep="_", default_category=d), frame, ways=["eager"]
        )
    assert_same_error(lambda f: decoded(f, sep="_"), frame)


def test_inside_jit():
    frame = dummies()
    assert_parity(lambda f: decoded(f, "_"), frame, ways=["jit"])
    some = frame.drop(columns=["k_a", "kind_z"])
    assert_parity(lambda f: decoded(f, "_", "none"), some, ways=["jit"])
    unchecked = jax.jit(lambda f: from_dummies(f, "_"))(on_device(some)).to_pandas()
    expected = from_dummies(on_device(some), "_", "none").to_pandas()
    pd.testing.assert_frame_equal(unchecked, expected.where(expected != "none"))


def test_is_the_inverse_of_get_dummies():
    words = pd.DataFrame({"k": ["b", "a", "b"], "s": ["1", "", "2"]})
    got = from_dummies(get_dummies(on_device(words)), sep="_").to_pandas()
    pd.testing.assert_frame_equal(got, words)


def test_wrong_uses_are_pandas_errors():
    frame = dummies()
    assert "row: 3" in assert_same_error(
        lambda f: decoded(f), pd.DataFrame({"a": [1, 1], "b": [0, 1]}, index=[2, 3])
    )
    assert "'a'" in assert_same_error(decoded, pd.DataFrame({"b": [0, 1], "a": [np.nan, 1]}))
    assert_same_error(decoded, pd.DataFrame({"a": [2, 1]}))
    assert_same_error(decoded, pd.DataFrame({"a": ["x", "y"]}))
    assert_same_error(lambda f: decoded(f.k_a), frame)
    assert_same_error(lambda f: decoded(f, sep="-"), frame)
    assert_same_error(lambda f: decoded(f, sep=1), frame)
    assert_same_error(lambda f: decoded(f, "_", {"k": "a"}), frame)
    assert_same_error(lambda f: decoded(f, "_", ["a"]), frame)
