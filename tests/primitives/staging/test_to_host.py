# SPDX-License-Identifier: Apache-2.0
"""`to_host`: one transfer, exact numbers, and errors."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from jaxframes import shardings
from jaxframes.primitives.staging import to_host


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


@pytest.fixture
def transfers(monkeypatch):
    """What was read from the device, one entry for each transfer."""
    read = []
    get = jax.device_get
    monkeypatch.setattr(jax, "device_get", lambda array: read.append(array) or get(array))
    return read


NUMBERS = {
    "bool": np.True_, "int8": np.int8(-5), "uint8": np.uint8(250), "int16": np.int16(-300),
    "int32": np.int32(-(2**31)), "int64": np.int64(2**62 + 1), "uint64": np.uint64(2**64 - 1),
    "float16": np.float16(0.1), "bfloat16": jnp.bfloat16(1.5), "float32": np.float32(0.1),
    "float64": np.float64(0.1), "complex64": np.complex64(1 - 2j), "complex128": 0.1 + 3j,
    "minus zero": np.float32(-0.0), "infinity": np.float64(-np.inf),
}  # fmt: skip


def test_numbers_of_all_dtypes_in_one_transfer(transfers):
    tree = {name: jnp.asarray(number) for name, number in NUMBERS.items()}
    host = to_host(tree)
    assert len(transfers) == 1
    assert isinstance(transfers[0], jax.Array)
    assert host == {name: np.asarray(number).item() for name, number in NUMBERS.items()}
    assert {type(number) for number in host.values()} == {bool, int, float, complex}
    assert np.signbit(host["minus zero"])
    assert np.isnan(to_host(jnp.float32(jnp.nan)))


def test_numbers_on_the_host_need_no_transfer(transfers):
    tree = (3, 0.5, np.float32(2), np.array(7), None, True)
    assert to_host(tree) == (3, 0.5, 2.0, 7, None, True)
    assert to_host({}) == {}
    assert transfers == []


def test_scalars_of_a_mesh_and_of_no_place_in_one_transfer(transfers):
    mesh = shardings.make_mesh(4)
    mean = jax.shard_map(
        lambda x: jax.lax.pmean(x.mean(), "rows"),
        mesh=mesh,
        in_specs=PartitionSpec("rows"),
        out_specs=PartitionSpec(),
    )
    metrics = {"mean": jax.jit(mean)(jnp.arange(8.0)), "count": jnp.int32(8), "rate": 0.25}
    assert to_host(metrics) == {"mean": 3.5, "count": 8, "rate": 0.25}
    assert len(transfers) == 1


def test_each_place_takes_a_transfer(transfers):
    metrics = [jax.device_put(jnp.float32(i), jax.devices()[i % 2]) for i in range(4)]
    assert to_host(metrics) == [0.0, 1.0, 2.0, 3.0]
    assert len(transfers) == 2


# Errors


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (
            jnp.zeros((3,)),
            "to_host: leaves must be scalars, got float64[3] at tree['metrics'][0]. "
            "Reduce it first, for example with jnp.mean.",
        ),
        (
            np.zeros((1, 2)),
            "to_host: leaves must be scalars, got float64[1,2] at tree['metrics'][0]. "
            "Reduce it first, for example with jnp.mean.",
        ),
    ],
)
def test_scalars_only(leaf, message):
    with raises(ValueError, message):
        to_host({"metrics": [leaf]})


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (
            "name",
            "to_host: leaves must be numbers, got str at tree['metrics'][0]. "
            "Keep other metadata apart from the metrics.",
        ),
        (
            jax.random.key(0),
            "to_host: tree['metrics'][0] must be an array of numbers, got key<fry>[]. "
            "Pass jax.random.key_data of it.",
        ),
    ],
)
def test_numbers_only(leaf, message):
    with raises(TypeError, message):
        to_host({"metrics": [leaf]})


def test_outside_jit():
    message = (
        "to_host: leaves must be concrete, got the traced float64[] at tree['loss']. "
        "Call it outside jit, on what the program returns."
    )
    with raises(TypeError, message):
        jax.jit(lambda x: to_host({"loss": x}))(np.float64(1.0))
